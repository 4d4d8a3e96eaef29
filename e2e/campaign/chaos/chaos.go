// Package chaos holds the campaigns with real processes. Each runs a harness under the load of many
// buyers, injects one kind of fault, and then compares all ledgers. A campaign is in the file of its name.
//
// Start reading at All, then at kill.go. Mutations and reports are in e2e/campaign.
package chaos

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
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
	scope   *frontdesktest.Scope
	options campaign.Options
	record  *campaign.Recorder
	random  *rand.Rand // of the goroutine that injects faults
	mayLose bool       // Redis may lose writes that it acknowledged; a gateway that reads it then sees an earlier state

	mu       sync.Mutex
	journeys []*harness.Journey
}

// onHarness makes a campaign's Drive: it calls drive with a run on a Redis and gateways of its own.
func onHarness(replicas int, redis redisSetup, drive func(*run)) func(context.Context, campaign.Options, *campaign.Recorder) error {
	return func(ctx context.Context, options campaign.Options, record *campaign.Recorder) error {
		scope := frontdesktest.NewScope(ctx)
		defer scope.End()
		return scope.Run(func() {
			h := harness.New(scope, harness.Config{Gateway: options.Gateway, Replicas: replicas, Storage: redis.start(scope)})
			drive(&run{
				Harness: h,
				scope:   scope,
				options: options,
				record:  record,
				random:  rand.New(rand.NewPCG(options.Seed, 2)), // the journeys have stream 1
				mayLose: redis.mayLose,
			})
		})
	}
}

// injectUnderLoad injects rounds of faults while atOnce buyers register and pay. It ends early when the
// test has failed or the time is over. After minRounds rounds it ends at once if a mutation is to be found,
// otherwise, without a duration, when enough faults have happened.
func (r *run) injectUnderLoad(atOnce, minRounds int, inject func(ctx context.Context, round int)) {
	load, stop := context.WithCancel(r.scope.Context())
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
	ctx, cancel := r.options.Context(r.scope.Context())
	defer cancel()
	for round := 0; ctx.Err() == nil && !r.scope.Failed(); round++ {
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
	// This response describes a payment that is not at the processor yet. After a rollback of Redis, a paid payment gets it too,
	// because a plain read shows what Redis has. A buyer who repeats the request, as it says, finds the existing payment.
	const staleResponse = "processing, retry same_key"
	r.Settle(r.scope.Context(), r.journeys)
	unfinished, stale, forgotten := 0, 0, 0
	for _, violation := range r.Check(r.journeys) {
		violation.Seed = r.options.Seed
		switch {
		case r.mayLose && violation.Invariant == campaign.RetryWhileCharged && strings.HasSuffix(violation.Detail, staleResponse):
			stale++
		case r.mayLose && violation.Invariant == campaign.SecondContact:
			forgotten++
		default:
			r.record.AddViolations(violation)
		}
	}
	for _, journey := range r.journeys {
		r.record.AddFaults(strangerAsked, journey.Strangers)
		if journey.SettledAtDesk {
			r.record.AddFault(deskSettled)
		}
		switch {
		case journey.Registration() == "":
			unfinished++
		case journey.Forgotten:
			r.record.AddJourney("forgotten by the gateway")
		case journey.State == "":
			r.record.AddJourney("never paid")
		default:
			r.record.AddJourney(journey.State)
		}
	}
	r.record.AddBuyers("repeated the request with the same key, because Redis had forgotten their payment's progress", stale)
	r.record.AddBuyers("became a contact again, because Redis had forgotten what their first request had made", forgotten)
	r.record.AddBuyers("could not start a registration", unfinished)
}

// The "faults" of other people. One registration in five meets each.
const (
	strangerAsked = "a stranger asked for a registration"
	deskSettled   = "staff settled the sale"
)

// oddFaults are responses of something in front of the club system. One call in twenty gets one. First, three payments of each
// round get an empty 200: one payment would do, but a kill may hide it.
var oddFaults = []clubsim.Fault{
	{Match: clubsim.FaultMatch{Method: http.MethodPost, Path: "/sales/*/payments"}, Kind: "empty_success", Times: new(3)},
	{Kind: "foreign_page", Probability: new(0.01)},
	{Kind: "foreign_json", Probability: new(0.01)},
	{Kind: "empty_success", Probability: new(0.01)},
	{Kind: "too_many", Probability: new(0.01)},
	{Kind: "too_many", Limit: "rate", Probability: new(0.01)},
}

// odd names a fault of oddFaults for the report.
func odd(f clubsim.Fault) string {
	return "club: " + strings.Join(strings.Fields(f.Kind+" "+f.Limit+" "+f.Match.Path), " ")
}

// oddKinds are the kinds of faults that answerOddly counts.
func oddKinds() (kinds []string) {
	for _, f := range oddFaults {
		kinds = append(kinds, odd(f))
	}
	return kinds
}

// answerOddly lets something in front of the club system respond, until the returned function is called. That function counts
// the responses.
func (r *run) answerOddly() (end func()) {
	frontdesktest.Must(r.scope, r.Upstreams.Sim.SetFaults(oddFaults))
	return func() {
		for _, f := range r.Upstreams.Sim.Faults() {
			r.record.AddFaults(odd(f), f.Hits)
		}
		frontdesktest.Must(r.scope, r.Upstreams.Sim.SetFaults(nil))
	}
}

func (r *run) waitUpTo(ctx context.Context, limit time.Duration) {
	frontdesktest.Sleep(ctx, time.Duration(r.random.Int64N(int64(limit))))
}
