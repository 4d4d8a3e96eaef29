// Package simulation plays journeys of buyers in virtual time, hundreds a second, in one process: the
// gateway's own code against the club system's simulator and the card processor's double. Calls fail in every way,
// gateways die and sleep, and Redis forgets.
//
// A journey's seed decides everything in it, because exactly one task runs at a time (scheduler.go):
//
//	go run ./e2e/campaign/run simulation --only SEED
//
// Unlike e2e/model, which explores every order of an abstraction, this runs the code along random
// paths. Other campaigns cover the HTTP edge, processes and networks. Start reading at journey.run,
// then task, then faults.go.
package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
)

// Campaign is the simulation.
func Campaign() campaign.Campaign {
	return campaign.Campaign{
		Name: "simulation",
		Description: "The gateway's own code runs single journeys in virtual time, with three replicas for each. " +
			"Every call to the club system, the card processor and Redis fails in every way, processes die and sleep, " +
			"Redis loses writes, often while a gateway is about to write at the processor and another one overtakes it. " +
			"Webhooks and buyers are unpredictable. " +
			"One in ten pays by direct debit and enters another account while a code is checked. " +
			"One in seven pays later, at the desk or nothing. Staff settle one sale in four themselves, " +
			"and strangers request one registration in five. " +
			"Buyers add items that hang at the club system, and repeat starts that failed. " +
			"One refund in four is refused, pending or returned by the bank, and one capture in eight is decided later. " +
			"The processor refuses what meets a write in progress. In one journey of five or more, " +
			"something in front of the club system answers instead of it. In one of eight, others have engaged the brake. " +
			"One buyer in eleven is too young for the offer, which the club system refuses only at the payment. " +
			"Staff refund some recorded payments in the processor's pages. " +
			"Operators decide doubts by the club system's books.",
		Faults:    faultKinds(),
		InProcess: true,
		Drive:     play,
		Mutations: []string{"take-over", "overwritable-claim", "no-compare-and-set", "key-per-attempt", "no-write-gate", "cart-unchecked",
			"no-rebuild", "no-response-no-effect", "any-record-matches", "rebuilt-for-all", "state-unlisted", "stored-decline",
			"paid-twice-unseen", "refund-believed", "no-brake", "brake-forgiving", "capture-whenever", "believe-any-2xx", "unsettled-unseen",
			"unmarked-write", "start-forgotten", "pending-code-free", "difference-unread", "block-undecidable", "restriction-doubted",
			"refund-forgotten", "restriction-forgotten"},
		Long: campaign.Options{Count: 500_000, Duration: 4 * time.Hour, MinFaults: map[string]int{oddAnswers: 100_000}},
	}
}

const (
	progressEvery = 5000 // journeys: often enough to see that the run makes progress
	renewEvery    = 1000 // journeys, because miniredis remembers the name of every key that it has ever had
)

// play plays journeys in as many environments as there are cores.
func play(ctx context.Context, options campaign.Options, recorder *campaign.Recorder) error {
	ctx, cancel := options.Context(ctx)
	defer cancel()
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error {
			for {
				if enough, err := workInOneEnv(ctx, options, recorder, &next); enough || err != nil {
					return err
				}
			}
		})
	}
	return workers.Wait()
}

// workInOneEnv plays at most renewEvery journeys, and reports whether there are enough.
func workInOneEnv(ctx context.Context, options campaign.Options, recorder *campaign.Recorder, next *atomic.Int64) (enough bool, err error) {
	env, err := newEnv()
	if err != nil {
		return true, err
	}
	defer env.close()
	for range renewEvery {
		n := int(next.Add(1))
		enough := options.Count > 0 && n > options.Count && recorder.EnoughFaults(options) || options.OnlySeed != 0 && n > 1
		if ctx.Err() != nil || enough || options.StopAtViolation && recorder.ViolationCount() > 0 {
			return true, nil
		}
		seed := seedOf(options, n)
		journey, err := env.play(seed)
		if err != nil {
			return true, fmt.Errorf("simulation: the journey of seed %d: %w", seed, err)
		}
		for kind, n := range journey.faults {
			recorder.AddFaults(kind, n)
		}
		recorder.AddViolations(journey.violations...)
		recorder.AddJourney(journey.state)
		if options.OnlySeed != 0 {
			for _, line := range journey.trace {
				options.Logf("%s", line)
			}
		}
		if n%progressEvery == 0 {
			options.Logf("simulation: %d journeys, %d violations", n, recorder.ViolationCount())
		}
	}
	return false, nil
}

// play repeats the journey of a seed until nothing in it depends on being the first here.
func (s *env) play(seed uint64) (*journey, error) {
	const maxTries = 50 // a journey uses fewer scripts, and each try loads at least one
	for range maxTries {
		s.learning.Store(false)
		f := newJourney(s, seed)
		if err := f.run(); err != nil || !s.learning.Load() {
			return f, err
		}
	}
	return nil, fmt.Errorf("it still sends Redis something new after %d tries", maxTries)
}

// seedOf is the seed of the n-th journey of a run, never zero.
func seedOf(options campaign.Options, n int) uint64 {
	if options.OnlySeed != 0 {
		return options.OnlySeed
	}
	return rand.New(rand.NewPCG(options.Seed, uint64(n))).Uint64()>>1 | 1
}
