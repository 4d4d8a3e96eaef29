// Package chaos holds the campaigns with real processes. Each runs a harness under the load of many
// buyers, injects one kind of fault, and then compares all ledgers. A campaign is in the file of its name.
//
// Start reading at All, then at kill.go. Mutations and reports are in e2e/campaign.
package chaos

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

// All are the campaigns of this package.
func All() []campaign.Campaign {
	return []campaign.Campaign{Kill(), Redis(), Webhook(), Race(), Idempotency(), Overload()}
}

const (
	patience           = 3 * time.Second       // of buyers who have paid; they come back when the faults are over
	pauseBetweenBuyers = 20 * time.Millisecond // keeps buyers who get nowhere from asking without end
)

type run struct {
	*harness.Harness
	options campaign.Options
	record  *campaign.Recorder
	random  *rand.Rand // of the goroutine that injects faults
	mayLose bool       // Redis may lose what it acknowledged, and a plain read may be as old as its state

	mu       sync.Mutex
	journeys []*harness.Journey
}

// onHarness makes a campaign's Drive: it calls drive with a run on a Redis and gateways of its own.
func onHarness(replicas int, redis redisSetup, drive func(*run)) func(context.Context, campaign.Options, *campaign.Recorder) error {
	return func(ctx context.Context, o campaign.Options, record *campaign.Recorder) error {
		scope := frontdesktest.NewScope(ctx)
		defer scope.End()
		return scope.Run(func() {
			h := harness.New(scope, harness.Config{Gateway: o.Gateway, Replicas: replicas, Storage: redis.start(scope)})
			drive(&run{Harness: h, options: o, record: record, random: rand.New(rand.NewPCG(o.Seed, 2)), mayLose: redis.mayLose}) // the journeys have stream 1
		})
	}
}

// injectUnderLoad injects rounds of faults while atOnce buyers register and pay. It ends early when the
// test has failed or the time is over. After minRounds rounds it ends at once if a mutation is to be found,
// otherwise, without a duration, when enough faults have happened.
func (r *run) injectUnderLoad(atOnce, minRounds int, inject func(ctx context.Context, round int)) {
	load, stop := context.WithCancel(r.Context())
	var buyers sync.WaitGroup
	defer buyers.Wait()
	defer stop()
	for range atOnce {
		buyers.Go(func() {
			for load.Err() == nil {
				j := r.nextJourney()
				if j == nil {
					return
				}
				j.Run(load, patience)
				frontdesktest.Sleep(load, pauseBetweenBuyers)
			}
		})
	}
	ctx, cancel := r.options.Context(r.Context())
	defer cancel()
	for round := 0; ctx.Err() == nil && !r.Failed(); round++ {
		if round >= minRounds && (r.options.StopAtViolation || r.options.Duration == 0 && r.record.EnoughFaults(r.options)) {
			return
		}
		inject(ctx, round)
	}
}

// nextJourney returns the next buyer's journey; nil when enough have come.
func (r *run) nextJourney() *harness.Journey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.Count > 0 && len(r.journeys) >= r.options.Count {
		return nil
	}
	j := r.NewJourney(r.options.Seed + uint64(len(r.journeys)))
	r.journeys = append(r.journeys, j)
	return j
}

// settleAndCheck brings all journeys to their ends, and reports their outcomes.
func (r *run) settleAndCheck() {
	// This response describes a payment that is not at the processor yet. A Redis that was rolled back gives it even
	// for a paid payment, because a plain read is as old as Redis. A buyer who follows it finds the existing payment.
	const staleResponse = "processing, retry same_key"
	r.Settle(r.Context(), r.journeys)
	unfinished, stale := 0, 0
	for _, v := range r.Check(r.journeys) {
		v.Seed = r.options.Seed
		if r.mayLose && v.Invariant == campaign.RetryWhileCharged && strings.HasSuffix(v.Detail, staleResponse) {
			stale++
		} else {
			r.record.AddViolations(v)
		}
	}
	for _, j := range r.journeys {
		r.record.AddFaults(strangerAsked, j.Strangers)
		if j.SettledAtDesk {
			r.record.AddFault(deskSettled)
		}
		switch {
		case j.Registration() == "":
			unfinished++
		case j.Forgotten:
			r.record.AddJourney("forgotten by the gateway")
		case j.State == "":
			r.record.AddJourney("never paid")
		default:
			r.record.AddJourney(j.State)
		}
	}
	r.record.AddBuyers("repeated the request with the same key, because Redis had forgotten their payment's progress", stale)
	r.record.AddBuyers("could not start a registration", unfinished)
}

// The "faults" of other people. One registration in five meets each.
const (
	strangerAsked = "a stranger asked for a registration"
	deskSettled   = "staff settled the sale"
)

func (r *run) waitUpTo(ctx context.Context, limit time.Duration) {
	frontdesktest.Sleep(ctx, time.Duration(r.random.Int64N(int64(limit))))
}
