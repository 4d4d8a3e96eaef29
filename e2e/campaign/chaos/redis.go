package chaos

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
)

// What is done to Redis.
const (
	redisKilledAlways   = "Redis killed, appendfsync always"
	redisKilledEverySec = "Redis killed, appendfsync everysec"
	redisFailedOver     = "primary killed, replica promoted by a Sentinel"
	redisFlushed        = "Redis wiped by FLUSHALL"
	redisEmptied        = "Redis restarted empty"
	redisRolledBack     = "Redis restarted from an older copy of its files"
)

const (
	// redisBuyers is how many buyers each of the three Redis has at once; the three
	// share the machine.
	redisBuyers = 10
	// redisReplicas: two gateways are enough to disagree.
	redisReplicas = 2
	// maxRedisPause is the longest time between two blows: the buyers get about one journey done.
	maxRedisPause = 400 * time.Millisecond
	// maxCopyAge is the longest age of the copy that is rolled back to.
	maxCopyAge = 800 * time.Millisecond
)

// Redis takes from the gateways what they share: it is killed, failed over, wiped, and
// rolled back to an older state, while buyers go on.
func Redis() campaign.Campaign {
	return campaign.Campaign{
		Name:        "redis",
		Description: "Redis is killed and restarted, failed over by a Sentinel, wiped, and restarted from older files, while buyers go on.",
		Faults: []string{redisKilledAlways, redisKilledEverySec, redisFailedOver, redisFlushed,
			redisEmptied, redisRolledBack},
		Mutations: []string{"redis-alone"},
		Long: campaign.Options{MinFaults: map[string]int{redisKilledAlways: 150, redisKilledEverySec: 150, redisFailedOver: 100,
			redisFlushed: 30, redisEmptied: 30, redisRolledBack: 40}},
		Run: runRedis,
	}
}

// redisFault is one fault of a Redis.
type redisFault struct {
	kind string
	do   func(context.Context, *rig.Harness) error
}

func runRedis(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	s, err := newEnv(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	record := campaign.NewRecorder("redis", o)
	// The three live side by side: most of a failover is waiting.
	group, ctx := errgroup.WithContext(ctx)
	for i, set := range []func(context.Context, *env, *rand.Rand) (rig.Storage, []redisFault, error){durableRedis, lossyRedis, sentinelRedis} {
		o := o
		o.Seed += uint64(i) << 32
		group.Go(func() error {
			random := rand.New(rand.NewPCG(o.Seed, 3))
			storage, blows, err := set(ctx, s, random)
			if err != nil {
				return err
			}
			b := &redisRun{o: o, record: record, random: random, faults: blows, mayLose: i > 0}
			return b.run(ctx, s.gateway, storage)
		})
	}
	err = group.Wait()
	return record.Report(), err
}

// durableRedis is a Redis that loses nothing that it acknowledged.
func durableRedis(ctx context.Context, s *env, random *rand.Rand) (rig.Storage, []redisFault, error) {
	r, err := rig.NewRedis(ctx, s.dir, rig.FsyncAlways)
	return r, []redisFault{{redisKilledAlways, func(ctx context.Context, _ *rig.Harness) error { return restart(ctx, r, random, nil) }}}, err
}

// lossyRedis is a Redis that loses the last second, everything, or what came after a copy.
func lossyRedis(ctx context.Context, s *env, random *rand.Rand) (rig.Storage, []redisFault, error) {
	r, err := rig.NewRedis(ctx, s.dir, rig.FsyncEverySec)
	return r, []redisFault{
		{redisKilledEverySec, func(ctx context.Context, _ *rig.Harness) error { return restart(ctx, r, random, nil) }},
		{redisFlushed, func(ctx context.Context, _ *rig.Harness) error {
			client := r.Client()
			defer client.Close()
			return client.FlushAll(ctx).Err()
		}},
		{redisKilledEverySec, func(ctx context.Context, _ *rig.Harness) error { return restart(ctx, r, random, nil) }},
		{redisEmptied, func(ctx context.Context, _ *rig.Harness) error { return restart(ctx, r, random, r.Empty) }},
		{redisKilledEverySec, func(ctx context.Context, _ *rig.Harness) error { return restart(ctx, r, random, nil) }},
		{redisRolledBack, func(ctx context.Context, town *rig.Harness) error { return rollBack(ctx, town, r, random) }},
	}, err
}

// sentinelRedis is a primary that loses, with its process, what the replica has not got yet.
func sentinelRedis(ctx context.Context, s *env, _ *rand.Rand) (rig.Storage, []redisFault, error) {
	w, err := rig.NewSentinelRedis(ctx, s.dir)
	return w, []redisFault{{redisFailedOver, func(ctx context.Context, _ *rig.Harness) error { return w.FailOver(ctx) }}}, err
}

// rollBack copies the files while somebody's money is about to be taken, and a moment
// later, when that payment is most likely recorded, goes back to them.
func rollBack(ctx context.Context, town *rig.Harness, r *rig.Redis, random *rand.Rand) error {
	var err error
	copied := town.BreakAt(ctx, rig.Capture, rig.DuringRequest, momentTime, func(*rig.Gateway) { err = r.Copy() })
	if copied == nil {
		err = r.Copy()
	}
	if err != nil {
		return err
	}
	wait(ctx, time.Duration(random.Int64N(int64(maxCopyAge))))
	return restart(ctx, r, random, r.Restore)
}

// restart kills a Redis, does something to its files, and starts it a moment later.
func restart(ctx context.Context, r *rig.Redis, random *rand.Rand, files func() error) error {
	r.Kill()
	if files != nil {
		if err := files(); err != nil {
			return err
		}
	}
	const down = 100 * time.Millisecond // long enough for calls to meet nobody
	wait(ctx, time.Duration(random.Int64N(int64(down))))
	return r.Start(context.WithoutCancel(ctx))
}

// redisRun deals blows to one Redis.
type redisRun struct {
	o       campaign.Options
	record  *campaign.Recorder
	random  *rand.Rand
	faults  []redisFault
	mayLose bool
}

// run deals blows until each has happened often enough, and then judges.
func (b *redisRun) run(ctx context.Context, gateway string, storage rig.Storage) error {
	r, err := rig.New(ctx, rig.Config{Gateway: gateway, Replicas: redisReplicas, Storage: storage})
	if err != nil {
		return err
	}
	defer r.Close()
	buyers := startLoad(ctx, r, b.o, redisBuyers)
	err = b.injectFaults(ctx, r)
	journeys := buyers.stopAndWait()
	if err != nil && !ended(err) {
		return err
	}
	return settleAndCheck(ctx, r, journeys, b.record, b.o.Seed, b.mayLose)
}

func (b *redisRun) injectFaults(ctx context.Context, r *rig.Harness) error {
	ctx, cancel := b.o.Context(ctx)
	defer cancel()
	for round := 0; ctx.Err() == nil && (round < 2 || !b.o.StopAtViolation && (b.o.Duration > 0 || !b.enough(round))); round++ {
		for _, one := range b.faults {
			wait(ctx, time.Duration(b.random.Int64N(int64(maxRedisPause))))
			if err := one.do(ctx, r); err != nil {
				return err
			}
			b.record.AddFault(one.kind)
		}
		b.o.Logf("redis: round %d of %s is over", round+1, b.faults[0].kind)
	}
	return ctx.Err()
}

// enough tells whether this Redis has had as many blows of each kind as it has to. It
// counts rounds, as the recorder is shared.
func (b *redisRun) enough(rounds int) bool {
	times := map[string]int{}
	for _, one := range b.faults {
		times[one.kind]++
	}
	for kind, n := range times {
		if rounds*n < b.o.MinFaults[kind] {
			return false
		}
	}
	return true
}
