package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// The figures of an examination.
const (
	// minVersion is the oldest Redis that the scripts are tested on.
	minVersion = 7
	// fullAt is where an operator should hear of it: at the limit Redis refuses
	// every write, payments included, since it may not evict anything.
	fullAt = 0.9
	// maxSkew: leases rest on the clock of Redis, and sweeps on the gateways'; what
	// they may be apart is well inside the 30 s that a lease is waited for beyond its end.
	maxSkew = 5 * time.Second
	// keepProbe outlives the examination that wrote it, in case it dies in between.
	keepProbe = time.Minute
)

// CheckOptions is what holds of a Redis beside what it tells.
type CheckOptions struct {
	// AssumeDurable is the operator's word that a Redis that does not tell syncs every write; what it
	// does tell counts against that word.
	AssumeDurable bool
	// Replicas is how many of them acknowledge each write, see Config. Zero: nobody asks them.
	Replicas int
}

// CheckRedis finds out whether Redis is one on which real payments may rest: one
// that forgets nothing it has acknowledged, and can be written to. Each primary
// of a cluster is asked, and the worst counts. The first diagnosis says whether Redis answers at all, and
// where it does not it is the only one.
func CheckRedis(ctx context.Context, connection redis.UniversalClient, given CheckOptions, now func() time.Time) []flows.Check {
	if err := connection.Ping(ctx).Err(); err != nil {
		return []flows.Check{refusal(err, flows.Check{Part: "redis", Verdict: flows.Failed, Found: "does not answer: " + err.Error(),
			Fix: "see that it runs and that FRONTDESK_REDIS_URL leads to it, with the right password; its log says why it ended: one that syncs every write does when its disk is full"})}
	}
	e := &redisCheck{options: given, now: now}
	if err := e.askEach(ctx, connection); err != nil {
		return []flows.Check{{Part: "redis", Verdict: flows.Failed, Found: "does not answer: " + err.Error(),
			Fix: "see that every primary of the cluster can be reached"}}
	}
	e.found(writable(ctx, connection))
	return e.checks
}

// refusal is what Redis says when it cannot write to its disk: to everything, PING included.
// What else went wrong is what otherwise says.
func refusal(err error, otherwise flows.Check) flows.Check {
	if !redis.HasErrorPrefix(err, "MISCONF") {
		return otherwise
	}
	return flows.Check{Part: "redis", Aspect: "writes", Verdict: flows.Failed, Found: "refused, since its disk is full or cannot be written to: " + err.Error(),
		Fix: "make room on its disk; everything goes on by itself then, and no payment is lost meanwhile"}
}

// redisCheck collects what was found, the worst of each aspect.
type redisCheck struct {
	options CheckOptions
	now     func() time.Time

	mu     sync.Mutex
	checks []flows.Check
}

// askEach asks each primary there is.
func (e *redisCheck) askEach(ctx context.Context, connection redis.UniversalClient) error {
	if cluster, ok := connection.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return e.ask(ctx, node) })
	}
	node, err := primaryOf(ctx, connection, "")
	if err != nil {
		return err
	}
	return e.ask(ctx, node)
}

// ask asks one primary.
func (e *redisCheck) ask(ctx context.Context, node *redis.Client) error {
	before := e.now()
	theirs, err := node.Time(ctx).Result()
	if err != nil {
		return err
	}
	after := e.now()
	text, err := node.Info(ctx).Result()
	var refused redis.Error
	if errors.As(err, &refused) {
		e.found(flows.Check{Part: "redis", Verdict: flows.Unsafe, Found: "does not tell what it is (INFO is refused)",
			Fix: "allow INFO to the user of FRONTDESK_REDIS_URL"})
		return nil
	}
	if err != nil {
		return err
	}
	info := parseInfo(text)
	e.found(info.version())
	e.found(info.role())
	e.found(info.eviction())
	e.found(e.persistence(ctx, node, info))
	e.found(info.memory())
	if e.options.Replicas > 0 {
		e.found(copies(ctx, node, e.options.Replicas))
	}
	e.found(clock(before, theirs, after))
	return nil
}

// severity orders verdicts.
var severity = []flows.Verdict{flows.OK, flows.Degraded, flows.Unsafe, flows.Failed}

// found keeps a diagnosis, unless a worse one of the same aspect is there.
func (e *redisCheck) found(d flows.Check) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.checks, func(o flows.Check) bool { return o.Name() == d.Name() })
	switch {
	case at < 0:
		e.checks = append(e.checks, d)
	case slices.Index(severity, d.Verdict) > slices.Index(severity, e.checks[at].Verdict):
		e.checks[at] = d
	}
}

// information is what INFO says.
type information map[string]string

func parseInfo(text string) information {
	info := information{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

func (i information) version() flows.Check {
	version := i["redis_version"]
	d := flows.Check{Part: "redis", Verdict: flows.OK, Found: "version " + version + ", " + i["redis_mode"]}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < minVersion {
		d.Verdict, d.Fix = flows.Degraded, "use Redis 7.0 or newer: nothing older is tested"
	}
	return d
}

func (i information) role() flows.Check {
	d := flows.Check{Part: "redis", Aspect: "role", Verdict: flows.OK, Found: "primary, " + i["connected_slaves"] + " replicas"}
	switch {
	case i["role"] != "master":
		d.Verdict, d.Found, d.Fix = flows.Failed, "a replica", "name the primary, or the Sentinels who know it (redis+sentinel://)"
	case i["connected_slaves"] != "0":
		d.Found += "; a failover may lose the latest writes, and payments are then rebuilt from the card processor"
	}
	return d
}

func (i information) eviction() flows.Check {
	policy := i["maxmemory_policy"]
	d := flows.Check{Part: "redis", Aspect: "eviction", Verdict: flows.OK, Found: "maxmemory-policy " + policy}
	if policy != "noeviction" {
		d.Verdict, d.Fix = flows.Unsafe, "CONFIG SET maxmemory-policy noeviction, and in redis.conf: it may drop payments when memory is short"
	}
	return d
}

// persistence wants every write on the disk before it is acknowledged. Whether
// there is a file at all is in INFO, how it is synced only in the configuration,
// which providers hide.
func (e *redisCheck) persistence(ctx context.Context, node *redis.Client, info information) flows.Check {
	d := flows.Check{Part: "redis", Aspect: "persistence", Verdict: flows.Unsafe,
		Fix: "CONFIG SET appendonly yes and appendfsync always, and in redis.conf: what it acknowledged may be gone after a restart"}
	configured, err := node.ConfigGet(ctx, "appendfsync").Result()
	synced := configured["appendfsync"]
	switch {
	case info["aof_enabled"] != "1":
		d.Found = "appendonly no"
	case info["aof_last_write_status"] != "ok":
		d.Verdict, d.Found, d.Fix = flows.Failed, "its latest write to the append-only file failed", "look at its disk and its log"
	case synced == "always":
		d.Verdict, d.Found, d.Fix = flows.OK, "appendonly yes, appendfsync always", ""
	case synced == "everysec" && e.options.Replicas > 0:
		d.Verdict, d.Found, d.Fix = flows.OK, "appendonly yes, appendfsync everysec, and replicas acknowledge each write", ""
	case synced != "":
		d.Found = "appendonly yes, appendfsync " + synced
	case e.options.AssumeDurable:
		d.Verdict, d.Found, d.Fix = flows.OK, "appendonly yes; that every write is synced is the operator's word", ""
	default:
		d.Found = "appendonly yes, and it does not tell how that is synced (CONFIG is refused)"
		d.Fix = "allow CONFIG GET; or have the provider confirm appendfsync always, and vouch for it with FRONTDESK_REDIS_ASSUME_DURABLE=true"
		if err == nil {
			d.Found = "appendonly yes, and it does not tell how that is synced"
		}
	}
	return d
}

func (i information) memory() flows.Check {
	used, _ := strconv.ParseFloat(i["used_memory"], 64)
	limit, _ := strconv.ParseFloat(i["maxmemory"], 64)
	d := flows.Check{Part: "redis", Aspect: "memory", Verdict: flows.OK, Found: fmt.Sprintf("%.0f MB used, no limit", used/1e6)}
	if limit > 0 {
		d.Found = fmt.Sprintf("%.0f of %.0f MB used", used/1e6, limit/1e6)
	}
	if limit > 0 && used >= fullAt*limit {
		d.Verdict, d.Fix = flows.Degraded, "give it more memory: at the limit it refuses every write, payments included"
	}
	return d
}

// clock compares the clocks. theirs was read some time between before and after.
func clock(before, theirs, after time.Time) flows.Check {
	d := flows.Check{Part: "redis", Aspect: "clock", Verdict: flows.OK, Found: fmt.Sprintf("within %s of ours", maxSkew)}
	skew := max(before.Sub(theirs), theirs.Sub(after))
	if skew > maxSkew {
		d.Verdict, d.Found = flows.Unsafe, fmt.Sprintf("%s from ours", skew.Round(time.Millisecond))
		d.Fix = "synchronise the clocks (NTP): the gateways agree by time who may go on with a payment"
	}
	return d
}

// writable writes and reads back, as every step of a payment does.
func writable(ctx context.Context, connection redis.UniversalClient) flows.Check {
	d := flows.Check{Part: "redis", Aspect: "writes", Verdict: flows.OK, Found: "written and read back"}
	wrote := uuid.NewString()
	key := probeKey(wrote)
	err := connection.Set(ctx, key, wrote, keepProbe).Err()
	var read string
	if err == nil {
		read, err = connection.Get(ctx, key).Result()
	}
	switch {
	case err != nil:
		d.Verdict, d.Found, d.Fix = flows.Failed, "refused: "+err.Error(), "look at its memory, disk, role and the rights of the user of FRONTDESK_REDIS_URL"
		d = refusal(err, d)
	case read != wrote:
		d.Verdict, d.Found, d.Fix = flows.Failed, "another value was read than was written", "see that FRONTDESK_REDIS_URL leads to one Redis, without a cache in between"
	}
	connection.Del(ctx, key) // it expires by itself
	return d
}
