package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	t                frontdesktest.TB
}

const (
	primaryName  = "frontdesk"            // as the Sentinel calls it
	silence      = 400 * time.Millisecond // after which a primary is down: short, because a campaign waits for each failover
	failoverTime = 500 * time.Millisecond // the Sentinel's timeout: its next failover begins after twice as long at the earliest
	promotion    = 20 * time.Second       // that a failover may take
	retryAfter   = 10 * time.Second       // until a replica that does not follow and its Sentinel are set up again: each may be out of date
)

// NewSentinelRedis starts all three, until the test ends.
func NewSentinelRedis(t frontdesktest.TB) *SentinelRedis {
	t.Helper()
	w := &SentinelRedis{
		t:       t,
		port:    frontdesktest.FreePort(t),
		dir:     t.TempDir(),
		primary: frontdesktest.NewRedisServer(t, frontdesktest.FsyncAlways),
		replica: frontdesktest.NewRedisServer(t, frontdesktest.FsyncAlways),
	}
	t.Cleanup(func() { w.sentinel.Kill() })
	frontdesktest.Must(t, w.startSentinel())
	w.awaitReplication()
	return w
}

// startSentinel starts a Sentinel that knows only the primary. It polls several times a second instead of
// every ten seconds, because a campaign waits for it. Its ping stays slow enough for the replica not to
// count as silent during a failover.
func (w *SentinelRedis) startSentinel() (err error) {
	file := filepath.Join(w.dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d 1\n"+
		"sentinel down-after-milliseconds %s %d\nsentinel failover-timeout %s %d\n",
		w.port, w.dir, primaryName, w.primary.Port, primaryName, silence.Milliseconds(), primaryName, failoverTime.Milliseconds())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	ctx := w.t.Context()
	if w.sentinel, err = frontdesktest.Launch(ctx, `\+monitor`, nil, "redis-server", file, "--sentinel"); err != nil {
		return err
	}
	client := w.client()
	defer client.Close()
	return client.Process(ctx, redis.NewStatusCmd(ctx, "sentinel", "debug",
		"info-period", 100, "ping-period", 250, "ask-period", 100, "publish-period", 200,
		"min-link-reconnect-period", 500, "slave-reconf-timeout", 1000, "election-timeout", 1000, "tilt-trigger", 10_000, "tilt-period", 1000))
}

// awaitReplication makes the replica follow the primary, and waits until it does and the Sentinel knows of it.
func (w *SentinelRedis) awaitReplication() {
	replica, primary, sentinel := w.replica.Client(), w.primary.Client(), w.client()
	defer replica.Close()
	defer primary.Close()
	defer sentinel.Close()
	ctx := w.t.Context()
	var asked time.Time
	isReady := func() bool {
		if time.Since(asked) > retryAfter {
			if !asked.IsZero() {
				w.sentinel.Kill()
				if w.startSentinel() != nil {
					return false
				}
			}
			replica.ReplicaOf(ctx, "127.0.0.1", fmt.Sprint(w.primary.Port))
			asked = time.Now()
		}
		known, err := sentinel.Replicas(ctx, primaryName).Result()
		usable := slices.ContainsFunc(known, func(one map[string]string) bool {
			return one["port"] == fmt.Sprint(w.replica.Port) && one["flags"] == "slave" && one["master-link-status"] == "ok" &&
				one["master-port"] == fmt.Sprint(w.primary.Port)
		})
		return err == nil && usable && strings.Contains(primary.Info(ctx, "replication").Val(), "state=online")
	}
	const what = "the replica follows the primary and the Sentinel sees it"
	frontdesktest.Must(w.t, frontdesktest.Within(ctx, what, frontdesktest.Patience, isReady))
}

// FailOver kills the primary, waits for the promotion, and restarts the old primary as a replica. Without
// a promotion the primary is started as it was, and killed again.
func (w *SentinelRedis) FailOver() {
	const maxFailovers = 3 // on a machine that is too busy, a Sentinel can miss an election
	var err error
	for range maxFailovers {
		w.primary.Kill()
		err = frontdesktest.Within(w.t.Context(), "the replica is promoted", promotion, w.promoted)
		var as []string
		if err == nil {
			as = []string{"--replicaof", "127.0.0.1", fmt.Sprint(w.replica.Port)}
		}
		w.primary.Start(as...)
		failedOver := err == nil || w.promoted()
		if failedOver {
			w.primary, w.replica = w.replica, w.primary
		}
		w.awaitReplication()
		if failedOver {
			return
		}
	}
	w.t.Fatalf("%v\n%s", err, w.sentinel.Output())
}

// promoted reports whether the Sentinel calls the replica the primary.
func (w *SentinelRedis) promoted() bool {
	sentinel := w.client()
	defer sentinel.Close()
	now, err := sentinel.GetMasterAddrByName(w.t.Context(), primaryName).Result()
	return err == nil && len(now) == 2 && now[1] == fmt.Sprint(w.replica.Port)
}

func (w *SentinelRedis) client() *redis.SentinelClient {
	return redis.NewSentinelClient(&redis.Options{
		Addr:        fmt.Sprintf("127.0.0.1:%d", w.port),
		DialTimeout: time.Second,
		ReadTimeout: time.Second,
	})
}

// Client opens a client that follows the primary: on a busy machine the Sentinel may fail over unasked.
func (w *SentinelRedis) Client() redis.UniversalClient {
	return redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:    primaryName,
		SentinelAddrs: []string{fmt.Sprintf("127.0.0.1:%d", w.port)},
	})
}

// URL returns the address for gateways.
func (w *SentinelRedis) URL() string {
	return fmt.Sprintf("redis+sentinel://127.0.0.1:%d/%s", w.port, primaryName)
}
