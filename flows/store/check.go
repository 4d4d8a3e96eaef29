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

const (
	// minVersion is the oldest Redis that the scripts are tested on.
	minVersion = 7
	// fullAt is the share of the memory limit from which the check warns: at the limit Redis refuses every
	// write, payments included, because it may not evict anything.
	fullAt = 0.9
	// maxSkew: leases use the clock of Redis, sweeps those of the gateways. The difference must stay well
	// below the 30 s of grace after a lease ends.
	maxSkew = 5 * time.Second
	// keepProbe outlives the check that wrote it, in case the check ends early.
	keepProbe = time.Minute
)

// CheckOptions is what a check cannot find out from Redis.
type CheckOptions struct {
	// AssumeDurable: the operator guarantees that every write is synced. It counts only where Redis
	// does not show its configuration.
	AssumeDurable bool
	// Replicas is how many must acknowledge each write, see Config.
	Replicas int
}

// CheckRedis checks whether real payments may use a Redis: it must keep what it has acknowledged,
// and be writable. In a cluster each primary is checked, and the worst counts. The first check is
// whether Redis answers; where it does not, it is the only one.
func CheckRedis(ctx context.Context, connection redis.UniversalClient, options CheckOptions, now func() time.Time) []flows.Check {
	if err := connection.Ping(ctx).Err(); err != nil {
		return []flows.Check{refusal(err, check("", flows.Failed, "does not answer: "+err.Error(),
			"check that it runs, and that FRONTDESK_REDIS_URL leads to it with the right password; its log says why it stopped: with "+
				"appendfsync always, it stops when its disk is full"))}
	}
	var checks []flows.Check
	var mu sync.Mutex
	err := forEachPrimary(ctx, connection, func(ctx context.Context, node *redis.Client) error {
		found, err := checkPrimary(ctx, node, options, now)
		mu.Lock()
		defer mu.Unlock()
		checks = addChecks(checks, found...)
		return err
	})
	if err != nil {
		return []flows.Check{check("", flows.Failed, "does not answer: "+err.Error(), "check that every primary of the cluster can be reached")}
	}
	return addChecks(checks, writable(ctx, connection))
}

// check returns a check of Redis; fix is empty where nothing is wrong.
func check(aspect string, verdict flows.Verdict, found, fix string) flows.Check {
	return flows.Check{
		Part:    "redis",
		Aspect:  aspect,
		Verdict: verdict,
		Found:   found,
		Fix:     fix,
	}
}

// refusal returns the check for a Redis that cannot write to its disk: it then refuses everything,
// PING included. Any other error gets the other check.
func refusal(err error, other flows.Check) flows.Check {
	if !redis.HasErrorPrefix(err, "MISCONF") {
		return other
	}
	return check("writes", flows.Failed, "refused, because its disk is full or cannot be written to: "+err.Error(),
		"make room on its disk; everything then continues, and no payment is lost meanwhile")
}

func checkPrimary(ctx context.Context, node *redis.Client, options CheckOptions, now func() time.Time) ([]flows.Check, error) {
	before := now()
	theirs, err := node.Time(ctx).Result()
	if err != nil {
		return nil, err
	}
	after := now()
	text, err := node.Info(ctx).Result()
	if _, refused := errors.AsType[redis.Error](err); refused {
		return []flows.Check{check("", flows.Unsafe, "does not report its state (INFO is refused)",
			"allow INFO to the user of FRONTDESK_REDIS_URL")}, nil
	}
	if err != nil {
		return nil, err
	}
	info := ParseInfo(text)
	found := []flows.Check{info.version(), info.role(), info.eviction(), info.persistence(ctx, node, options), info.memory()}
	if options.Replicas > 0 {
		found = append(found, copies(ctx, node, options.Replicas))
	}
	return append(found, clock(before, theirs, after)), nil
}

// severity orders verdicts.
var severity = []flows.Verdict{flows.OK, flows.Degraded, flows.Unsafe, flows.Failed}

// addChecks adds what was found, and keeps only the worst check of each aspect.
func addChecks(checks []flows.Check, found ...flows.Check) []flows.Check {
	for _, check := range found {
		at := slices.IndexFunc(checks, func(o flows.Check) bool { return o.Name() == check.Name() })
		switch {
		case at < 0:
			checks = append(checks, check)
		case slices.Index(severity, check.Verdict) > slices.Index(severity, checks[at].Verdict):
			checks[at] = check
		}
	}
	return checks
}

// Information holds the fields of INFO.
type Information map[string]string

// ParseInfo reads the reply of INFO.
func ParseInfo(text string) Information {
	info := Information{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

func (i Information) version() flows.Check {
	d := check("", flows.OK, "version "+i["redis_version"]+", "+i["redis_mode"], "")
	major, _, _ := strings.Cut(i["redis_version"], ".")
	if n, err := strconv.Atoi(major); err != nil || n < minVersion {
		d.Verdict, d.Fix = flows.Degraded, "use Redis 7.0 or newer: nothing older is tested"
	}
	return d
}

func (i Information) role() flows.Check {
	if i["role"] != "master" {
		return check("role", flows.Failed, "a replica", "name the primary, or the Sentinels that know it (redis+sentinel://)")
	}
	d := check("role", flows.OK, "primary, "+i["connected_slaves"]+" replicas", "")
	if i["connected_slaves"] != "0" {
		d.Found += "; a failover may lose the latest writes, and payments are then rebuilt from the card processor"
	}
	return d
}

func (i Information) eviction() flows.Check {
	d := check("eviction", flows.OK, "maxmemory-policy "+i["maxmemory_policy"], "")
	if i["maxmemory_policy"] != "noeviction" {
		d.Verdict, d.Fix = flows.Unsafe, "CONFIG SET maxmemory-policy noeviction, and in redis.conf: it may evict payments when memory is short"
	}
	return d
}

// persistence requires every write to be on the disk before it is acknowledged; where replicas acknowledge
// writes, within a second. Only the configuration, which providers hide, says how the file is synced.
func (i Information) persistence(ctx context.Context, node *redis.Client, options CheckOptions) flows.Check {
	configured, err := node.ConfigGet(ctx, "appendfsync").Result()
	synced := configured["appendfsync"]
	ok := func(found string) flows.Check { return check("persistence", flows.OK, found, "") }
	unsafe := func(found string) flows.Check {
		return check("persistence", flows.Unsafe, found,
			"CONFIG SET appendonly yes and appendfsync always, and in redis.conf: acknowledged writes may be lost at a restart")
	}
	switch {
	case i["aof_enabled"] != "1":
		return unsafe("appendonly no")
	case i["aof_last_write_status"] != "ok":
		return check("persistence", flows.Failed, "its latest write to the append-only file failed", "look at its disk and its log")
	case synced == "always":
		return ok("appendonly yes, appendfsync always")
	case synced == "everysec" && options.Replicas > 0:
		return ok("appendonly yes, appendfsync everysec, and replicas acknowledge each write")
	case synced != "":
		return unsafe("appendonly yes, appendfsync " + synced)
	case options.AssumeDurable:
		return ok("appendonly yes; whether every write is synced is not checked (FRONTDESK_REDIS_ASSUME_DURABLE)")
	}
	found := "appendonly yes; how it is synced is not known"
	if err != nil {
		found += " (CONFIG is refused)"
	}
	return check("persistence", flows.Unsafe, found,
		"allow CONFIG GET; or, if the provider guarantees appendfsync always, set FRONTDESK_REDIS_ASSUME_DURABLE=true")
}

func (i Information) memory() flows.Check {
	used, _ := strconv.ParseFloat(i["used_memory"], 64)
	limit, _ := strconv.ParseFloat(i["maxmemory"], 64)
	if limit <= 0 {
		return check("memory", flows.OK, fmt.Sprintf("%.0f MB used, no limit", used/1e6), "")
	}
	d := check("memory", flows.OK, fmt.Sprintf("%.0f of %.0f MB used", used/1e6, limit/1e6), "")
	if used >= fullAt*limit {
		d.Verdict, d.Fix = flows.Degraded, "give it more memory: at the limit it refuses every write, payments included"
	}
	return d
}

// clock compares the clocks. theirs was read between before and after.
func clock(before, theirs, after time.Time) flows.Check {
	skew := max(before.Sub(theirs), theirs.Sub(after))
	if skew > maxSkew {
		return check("clock", flows.Unsafe, fmt.Sprintf("%s from ours", skew.Round(time.Millisecond)),
			"synchronise the clocks (NTP): leases, which say which gateway may continue a payment, depend on time")
	}
	return check("clock", flows.OK, fmt.Sprintf("within %s of ours", maxSkew), "")
}

// ClocksAgree reports whether a clock shows the time of Redis, and so that of the other gateways.
func (s *Store) ClocksAgree(ctx context.Context, now func() time.Time) (bool, error) {
	before := now()
	theirs, err := s.redis.Time(ctx).Result()
	return err == nil && clock(before, theirs, now()).Safe(), err
}

func copies(ctx context.Context, node *redis.Client, replicas int) flows.Check {
	err := repeat(ctx, func() error { return acknowledged(ctx, node, replicas) }) // as often as a write would
	switch {
	case errors.Is(err, errUnacknowledged):
		return check("writes", flows.Failed, fmt.Sprintf("refused: fewer than %d of its replicas acknowledge them", replicas),
			"start the replica, or find out why it lags behind; FRONTDESK_REDIS_WAIT requires it to acknowledge every write")
	case err != nil:
		return check("writes", flows.Failed, "acknowledgements cannot be read: "+err.Error(), "allow WAIT to the user of FRONTDESK_REDIS_URL")
	}
	return check("writes", flows.OK, fmt.Sprintf("each is acknowledged by %d of its replicas", replicas), "")
}

// writable writes a value and reads it back, as every step of a payment does.
func writable(ctx context.Context, connection redis.UniversalClient) flows.Check {
	wrote := uuid.NewString()
	key := probeKey(wrote)
	defer connection.Del(ctx, key) // else it expires
	err := connection.Set(ctx, key, wrote, keepProbe).Err()
	var read string
	if err == nil {
		read, err = connection.Get(ctx, key).Result()
	}
	switch {
	case err != nil:
		return refusal(err, check("writes", flows.Failed, "refused: "+err.Error(),
			"look at its memory, disk, role and the rights of the user of FRONTDESK_REDIS_URL"))
	case read != wrote:
		return check("writes", flows.Failed, "a value was read back differently than it was written",
			"check that FRONTDESK_REDIS_URL leads to one Redis, without a cache in between")
	}
	return check("writes", flows.OK, "written and read back", "")
}
