package chaos

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

// The faults of Redis.
const (
	redisKilledAlways   = "Redis killed, appendfsync always"
	redisKilledEverySec = "Redis killed, appendfsync everysec"
	redisFailedOver     = "primary killed, replica promoted by a Sentinel"
	redisFlushed        = "Redis wiped by FLUSHALL"
	redisEmptied        = "Redis restarted empty"
	redisRolledBack     = "Redis restarted from an older copy of its files"
)

const (
	redisBuyers   = 10                     // of each of the three Redis at once, which share the machine
	redisReplicas = 2                      // gateways: enough to disagree
	maxRedisPause = 400 * time.Millisecond // between two faults: the buyers finish about one journey
	maxCopyAge    = 800 * time.Millisecond // of the copy that Redis is rolled back to
)

// Redis breaks the state that the gateways share: Redis is killed, failed over, wiped, and rolled back
// to an older state, while buyers continue.
func Redis() campaign.Campaign {
	return campaign.Campaign{
		Name: "redis",
		Description: "Redis is killed and restarted, failed over by a Sentinel, wiped, and restarted from older files, while buyers continue. " +
			"Something in front of the club system answers one call in twenty.",
		Faults:    []string{redisKilledAlways, redisKilledEverySec, redisFailedOver, redisFlushed, redisEmptied, redisRolledBack},
		Mutations: []string{"redis-alone"},
		Long: campaign.Options{MinFaults: map[string]int{
			redisKilledAlways:   150,
			redisKilledEverySec: 150,
			redisFailedOver:     100,
			redisFlushed:        30,
			redisEmptied:        30,
			redisRolledBack:     40,
		}},
		Drive: breakRedis,
	}
}

type redisFault struct {
	kind   string
	inject func(context.Context)
}

// redisSetup is a kind of Redis with its faults, in the order in which they are injected.
type redisSetup struct {
	start   func(frontdesktest.TB) harness.Storage
	faults  func(*run) []redisFault
	mayLose bool // acknowledged writes
}

var (
	durableRedis = redisSetup{
		start: func(t frontdesktest.TB) harness.Storage {
			return frontdesktest.NewRedisServer(t, frontdesktest.FsyncAlways)
		},
		faults: func(r *run) []redisFault { return []redisFault{{redisKilledAlways, r.restartRedis(nil)}} },
	}
	lossyRedis = redisSetup{
		start: func(t frontdesktest.TB) harness.Storage {
			return frontdesktest.NewRedisServer(t, frontdesktest.FsyncEverySec)
		},
		faults: func(r *run) []redisFault {
			server := r.redisServer()
			killed := redisFault{redisKilledEverySec, r.restartRedis(nil)}
			return []redisFault{
				killed,
				{redisFlushed, r.flushRedis},
				killed,
				{redisEmptied, r.restartRedis(server.Empty)},
				killed,
				{redisRolledBack, r.rollBackRedis},
			}
		},
		mayLose: true,
	}
	// sentinelRedis loses, with the primary's process, what the replica has not received yet.
	sentinelRedis = redisSetup{
		start:   func(t frontdesktest.TB) harness.Storage { return harness.NewSentinelRedis(t) },
		faults:  func(r *run) []redisFault { return []redisFault{{redisFailedOver, r.failRedisOver}} },
		mayLose: true,
	}
)

// breakRedis runs the three kinds at the same time, because most of a failover is waiting.
func breakRedis(ctx context.Context, options campaign.Options, record *campaign.Recorder) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, setup := range []redisSetup{durableRedis, lossyRedis, sentinelRedis} {
		own := options
		own.Seed += uint64(i) << 32
		group.Go(func() error { return onHarness(redisReplicas, setup, setup.breakIt)(ctx, own, record) })
	}
	return group.Wait()
}

func (s redisSetup) breakIt(run *run) {
	faults := s.faults(run)
	// The three share the recorder; each waits only for its own faults.
	least := map[string]int{}
	for _, fault := range faults {
		least[fault.kind] = run.options.MinFaults[fault.kind]
	}
	run.options.MinFaults = least
	run.injectUnderLoad(redisBuyers, 3, func(ctx context.Context, round int) {
		defer run.answerOddly()()
		for _, fault := range faults {
			run.waitUpTo(ctx, maxRedisPause)
			if ctx.Err() != nil {
				return
			}
			fault.inject(ctx)
			run.record.AddFault(fault.kind)
		}
		run.options.Logf("redis: round %d of %s is over", round+1, faults[0].kind)
	})
	run.settleAndCheck()
}

func (r *run) redisServer() *frontdesktest.RedisServer { return r.Storage.(*frontdesktest.RedisServer) }

// restartRedis kills the server, changes its files, and starts it a moment later.
func (r *run) restartRedis(change func() error) func(context.Context) {
	return func(ctx context.Context) {
		server := r.redisServer()
		server.Kill()
		if change != nil {
			frontdesktest.Must(r.scope, change())
		}
		const down = 100 * time.Millisecond // long enough for calls to find no server
		r.waitUpTo(ctx, down)
		server.Start()
	}
}

func (r *run) failRedisOver(context.Context) { r.Storage.(*harness.SentinelRedis).FailOver() }

func (r *run) flushRedis(context.Context) { frontdesktest.FlushRedis(r.scope, r.Storage.URL()) }

// rollBackRedis copies the files while a payment is about to be captured. It restores the copy a moment
// later, when that payment is most likely recorded.
func (r *run) rollBackRedis(ctx context.Context) {
	server := r.redisServer()
	var err error
	copied := func(*harness.Gateway) { err = server.Copy() }
	if r.BreakAt(ctx, frontdesktest.Capture, frontdesktest.DuringRequest, operationTime, copied) == nil {
		err = server.Copy()
	}
	frontdesktest.Must(r.scope, err)
	r.waitUpTo(ctx, maxCopyAge)
	r.restartRedis(server.Restore)(ctx)
}
