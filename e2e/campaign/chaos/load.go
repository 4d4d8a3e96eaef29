// Package chaos holds the campaigns with real processes. Each runs a harness under the load of many
// buyers, injects one kind of fault, and then compares all ledgers. One file is one campaign.
//
// Start reading at All, then at kill.go. Mutations and reports are in e2e/campaign.
package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
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
	// patience is how long a buyer stays after paying. A buyer without a final state by then
	// comes back when the faults are over.
	patience = 3 * time.Second
	// pauseBetweenBuyers keeps buyers who get nowhere from asking without end.
	pauseBetweenBuyers = 20 * time.Millisecond
)

// run is one run of a campaign on a harness.
type run struct {
	*harness.Harness
	options campaign.Options
	record  *campaign.Recorder
	random  *rand.Rand // of the goroutine that injects faults
	dir     string

	mu       sync.Mutex
	journeys []*harness.Journey
	stop     context.CancelFunc
	buyers   sync.WaitGroup
}

// newRun starts a harness. storage starts its Redis, whose files are below dir.
func newRun(ctx context.Context, o campaign.Options, record *campaign.Recorder, replicas int, storage func(ctx context.Context, dir string) (harness.Storage, error)) (*run, error) {
	dir, err := os.MkdirTemp("", "frontdesk-campaign")
	if err != nil {
		return nil, err
	}
	r := &run{options: o, record: record, random: rand.New(rand.NewPCG(o.Seed, 2)), dir: dir, stop: func() {}}
	s, err := storage(ctx, dir)
	if err == nil {
		r.Harness, err = harness.New(ctx, harness.Config{Gateway: o.Gateway, Replicas: replicas, Storage: s})
	}
	if err != nil {
		if s != nil {
			s.Kill()
		}
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

// newDurableRun starts a harness on a Redis that keeps everything it acknowledged.
func newDurableRun(ctx context.Context, o campaign.Options, record *campaign.Recorder, replicas int) (*run, *frontdesktest.RedisServer, error) {
	var redis *frontdesktest.RedisServer
	r, err := newRun(ctx, o, record, replicas, func(ctx context.Context, dir string) (_ harness.Storage, err error) {
		redis, err = frontdesktest.NewRedisServer(ctx, dir, frontdesktest.FsyncAlways)
		return redis, err
	})
	return r, redis, err
}

func (r *run) close() {
	r.Close()
	os.RemoveAll(r.dir)
}

// startLoad runs atOnce buyers at a time, until stopLoad or until as many came as the options ask for
// (0: any number).
func (r *run) startLoad(ctx context.Context, atOnce int) {
	ctx, r.stop = context.WithCancel(ctx)
	for range atOnce {
		r.buyers.Go(func() {
			for ctx.Err() == nil {
				j := r.nextJourney()
				if j == nil {
					return
				}
				j.Run(ctx, patience)
				harness.Sleep(ctx, pauseBetweenBuyers)
			}
		})
	}
}

// stopLoad stops the buyers.
func (r *run) stopLoad() {
	r.stop()
	r.buyers.Wait()
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

// settleAndCheck brings all journeys to their ends, and reports their outcomes. Where Redis may lose
// what it acknowledged, a plain read may be as old as the state of Redis.
func (r *run) settleAndCheck(ctx context.Context, mayLose bool) error {
	if err := r.Settle(ctx, r.journeys); err != nil {
		return err
	}
	found, err := r.Check(ctx, r.journeys)
	if err != nil {
		return err
	}
	unfinished, stale := 0, 0
	for _, v := range found {
		v.Seed = r.options.Seed
		if mayLose && v.Invariant == campaign.RetryWhileCharged && strings.HasSuffix(v.Detail, staleResponse) {
			stale++
		} else {
			r.record.AddViolations(v)
		}
	}
	for _, j := range r.journeys {
		if n := j.Strangers(); n > 0 {
			r.record.AddFaults(map[string]int{strangerAsked: n})
		}
		if j.SettledAtDesk() {
			r.record.AddFaults(map[string]int{deskSettled: 1})
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
	if stale > 0 {
		r.record.AddNote("Buyers who had to repeat the request with the same key, because Redis had forgotten their payment's progress: %d.", stale)
	}
	if unfinished > 0 {
		r.record.AddNote("Buyers who could not start a registration: %d.", unfinished)
	}
	return nil
}

// strangerAsked is the "fault" that a stranger asks for a registration; one in five meets it.
const strangerAsked = "a stranger asked for a registration"

// deskSettled is the "fault" that the club's staff settle the sale that a buyer pays; one in five meets
// it.
const deskSettled = "staff settled the sale"

// staleResponse describes a payment that is not at the processor yet. A Redis that was rolled back
// gives it even for a paid payment, because a plain read is as old as Redis. A buyer who follows it
// finds the existing payment.
const staleResponse = "processing, retry same_key"

func (r *run) waitUpTo(ctx context.Context, limit time.Duration) {
	harness.Sleep(ctx, time.Duration(r.random.Int64N(int64(limit))))
}

func unlessEnded(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
