package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
)

// SentinelRedis is a primary and a replica that a Sentinel watches: when the primary is
// silent, the replica takes its place.
type SentinelRedis struct {
	primary, replica *frontdesktest.RedisServer
	port             int // of the Sentinel
	dir              string
	sentinel         *frontdesktest.Process
}

const (
	// primaryName is what the Sentinel calls the primary.
	primaryName = "frontdesk"
	// silence after which a primary is down: far less than in production, because a campaign waits for
	// each failover.
	silence = 400 * time.Millisecond
	// failoverTime is the Sentinel's timeout: its next failover begins after twice as long at the
	// earliest.
	failoverTime = 500 * time.Millisecond
	// promotion is how long a failover may take.
	promotion = 20 * time.Second
	// retryAfter is when a replica that does not follow is reconfigured, and the Sentinel restarted: each
	// may hold outdated state of the other.
	retryAfter = 10 * time.Second
)

// NewSentinelRedis starts all three, below dir.
func NewSentinelRedis(ctx context.Context, dir string) (*SentinelRedis, error) {
	w := &SentinelRedis{}
	var err error
	if w.primary, err = frontdesktest.NewRedisServer(ctx, dir, frontdesktest.FsyncAlways); err != nil {
		return w, err
	}
	if w.replica, err = frontdesktest.NewRedisServer(ctx, dir, frontdesktest.FsyncAlways); err != nil {
		return w, err
	}
	if w.port, err = frontdesktest.FindPort(); err != nil {
		return w, err
	}
	w.dir = dir
	if err := w.startSentinel(ctx); err != nil {
		return w, err
	}
	return w, w.awaitReplication(ctx)
}

// startSentinel starts a Sentinel that knows only the primary.
func (w *SentinelRedis) startSentinel(ctx context.Context) (err error) {
	file := filepath.Join(w.dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d 1\nsentinel down-after-milliseconds %s %d\nsentinel failover-timeout %s %d\n",
		w.port, w.dir, primaryName, w.primary.Port, primaryName, silence.Milliseconds(), primaryName, failoverTime.Milliseconds())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if w.sentinel, err = frontdesktest.Launch(ctx, `\+monitor`, nil, "redis-server", file, "--sentinel"); err != nil {
		return err
	}
	return w.speedUp(ctx)
}

// speedUp makes the Sentinel poll several times a second instead of every ten seconds, because a campaign
// waits for it. Its ping stays slow enough for the replica not to count as silent during a failover.
func (w *SentinelRedis) speedUp(ctx context.Context) error {
	sentinel := w.client()
	defer sentinel.Close()
	periods := redis.NewStatusCmd(ctx, "sentinel", "debug", "info-period", 100, "ping-period", 250, "ask-period", 100, "publish-period", 200,
		"min-link-reconnect-period", 500, "slave-reconf-timeout", 1000, "election-timeout", 1000, "tilt-trigger", 10_000, "tilt-period", 1000)
	return sentinel.Process(ctx, periods)
}

// awaitReplication makes the replica follow the primary, and waits until it does and the
// Sentinel knows of it.
func (w *SentinelRedis) awaitReplication(ctx context.Context) error {
	replica, primary, sentinel := w.replica.Client(), w.primary.Client(), w.client()
	defer replica.Close()
	defer primary.Close()
	defer sentinel.Close()
	var asked time.Time
	return frontdesktest.Within(ctx, "the replica follows the primary and the Sentinel sees it", frontdesktest.Patience, func() bool {
		if time.Since(asked) > retryAfter {
			if !asked.IsZero() {
				w.sentinel.Kill()
				if w.startSentinel(ctx) != nil {
					return false
				}
			}
			replica.ReplicaOf(ctx, "127.0.0.1", fmt.Sprint(w.primary.Port))
			asked = time.Now()
		}
		known, err := sentinel.Replicas(ctx, primaryName).Result()
		usable := false
		for _, one := range known {
			usable = usable || one["port"] == fmt.Sprint(w.replica.Port) && one["flags"] == "slave" && one["master-link-status"] == "ok" &&
				one["master-port"] == fmt.Sprint(w.primary.Port)
		}
		return err == nil && usable && strings.Contains(primary.Info(ctx, "replication").Val(), "state=online")
	})
}

// maxFailovers: on a machine that is too busy, a Sentinel can miss an election.
const maxFailovers = 3

// FailOver kills the primary, waits for the promotion, and restarts the old primary as a replica. Without
// a promotion the primary is started as it was, and killed again.
func (w *SentinelRedis) FailOver(ctx context.Context) (err error) {
	for range maxFailovers {
		w.primary.Kill()
		err = frontdesktest.Within(ctx, "the replica is promoted", promotion, func() bool { return w.promoted(ctx) })
		var as []string
		if err == nil {
			as = []string{"--replicaof", "127.0.0.1", fmt.Sprint(w.replica.Port)}
		}
		if failed := w.primary.Start(ctx, as...); failed != nil {
			return failed
		}
		if err == nil || w.promoted(ctx) {
			w.primary, w.replica = w.replica, w.primary
			return w.awaitReplication(ctx)
		}
		if failed := w.awaitReplication(ctx); failed != nil {
			return failed
		}
	}
	return fmt.Errorf("%w\n%s", err, w.sentinel.Output())
}

// promoted reports whether the Sentinel calls the replica the primary.
func (w *SentinelRedis) promoted(ctx context.Context) bool {
	sentinel := w.client()
	defer sentinel.Close()
	now, err := sentinel.GetMasterAddrByName(ctx, primaryName).Result()
	return err == nil && len(now) == 2 && now[1] == fmt.Sprint(w.replica.Port)
}

func (w *SentinelRedis) client() *redis.SentinelClient {
	return redis.NewSentinelClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", w.port), DialTimeout: time.Second, ReadTimeout: time.Second})
}

// Client opens a client that follows the primary: on a busy machine the Sentinel may fail over unasked.
func (w *SentinelRedis) Client() redis.UniversalClient {
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: primaryName, SentinelAddrs: []string{fmt.Sprintf("127.0.0.1:%d", w.port)}})
}

// URL returns the address for gateways.
func (w *SentinelRedis) URL() string {
	return fmt.Sprintf("redis+sentinel://127.0.0.1:%d/%s", w.port, primaryName)
}

// Kill ends all three.
func (w *SentinelRedis) Kill() {
	w.sentinel.Kill()
	w.primary.Kill()
	w.replica.Kill()
}
