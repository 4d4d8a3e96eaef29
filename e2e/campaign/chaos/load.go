// Package chaos holds the campaigns with real processes: each runs a rig (e2e/campaign/rig),
// lets a crowd of buyers loose on it, breaks one thing on purpose all the while, and then
// holds the accounts against each other. One file is one campaign, with what it breaks
// in its first comment: kill.go, redis.go, wire.go, webhook.go, race.go, key.go.
//
// How a build with a mistake is tried, what must be true of every journey, and how a
// report is made stands in e2e/campaign. Start reading at All, then at kill.go.
package chaos

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
)

// All are the campaigns of this package.
func All() []campaign.Campaign {
	return []campaign.Campaign{Kill(), Redis(), Wire(), Webhook(), Race(), Idempotency()}
}

// binary gives the path of the gateway that the options ask for, and what removes it.
func binary(ctx context.Context, o campaign.Options) (path string, remove func(), err error) {
	if o.Gateway != "" {
		return o.Gateway, func() {}, nil
	}
	builds, err := campaign.NewBuilds()
	if err != nil {
		return "", nil, err
	}
	path, err = builds.Gateway(ctx, "")
	return path, func() { builds.Close() }, err
}

// load is buyers who come one after the other, several at a time.
type load struct {
	rig  *rig.Harness
	seed uint64

	mu       sync.Mutex
	journeys []*rig.Journey
	stop     context.CancelFunc
	group    sync.WaitGroup
}

const (
	// patience is how long a buyer stays after they have paid; who was not told by then
	// comes back when the trouble is over.
	patience = 3 * time.Second
	// pauseBetweenBuyers keeps a buyer who gets nowhere from asking without end.
	pauseBetweenBuyers = 20 * time.Millisecond
)

// startLoad lets buyers in until they are told to leave, or so many have come (0: any number).
func startLoad(ctx context.Context, r *rig.Harness, o campaign.Options, atOnce int) *load {
	c := &load{rig: r, seed: o.Seed}
	ctx, c.stop = context.WithCancel(ctx)
	for range atOnce {
		c.group.Go(func() {
			for ctx.Err() == nil {
				j := c.next(o.Count)
				if j == nil {
					return
				}
				j.Run(ctx, patience)
				wait(ctx, pauseBetweenBuyers)
			}
		})
	}
	return c
}

// next is the next buyer; nil when enough have come.
func (c *load) next(most int) *rig.Journey {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most > 0 && len(c.journeys) >= most {
		return nil
	}
	j := c.rig.NewJourney(c.seed + uint64(len(c.journeys)))
	c.journeys = append(c.journeys, j)
	return j
}

// stopAndWait ends the crowd, and gives everybody's journey.
func (c *load) stopAndWait() []*rig.Journey {
	c.stop()
	c.group.Wait()
	return c.journeys
}

// settleAndCheck settles a rig, judges all journeys, and reports them. Where Redis may lose what
// it acknowledged, what is only read may be as old as what it remembers.
func settleAndCheck(ctx context.Context, r *rig.Harness, journeys []*rig.Journey, to *campaign.Recorder, seed uint64, mayLose bool) error {
	if err := r.Settle(ctx, journeys); err != nil {
		return err
	}
	found, err := r.Check(ctx, journeys)
	if err != nil {
		return err
	}
	unfinished, stale := 0, 0
	for _, v := range found {
		v.Seed = seed
		switch {
		case mayLose && v.Invariant == campaign.RetryWhileCharged && strings.HasSuffix(v.Detail, staleResponse):
			stale++
		default:
			to.AddViolations(v)
		}
	}
	for _, j := range journeys {
		switch {
		case j.Registration == "":
			unfinished++
		case j.Forgotten:
			to.AddJourney("forgotten by the gateway")
		case j.State == "":
			to.AddJourney("never paid")
		default:
			to.AddJourney(j.State)
		}
	}
	if stale > 0 {
		to.AddNote("%d buyers were told to ask again with the same key, by a Redis that had forgotten their payment's progress.", stale)
	}
	if unfinished > 0 {
		to.AddNote("%d buyers never got as far as a registration.", unfinished)
	}
	return nil
}

// staleResponse is what a payment that is not at the processor yet is answered with. A
// Redis that went back in time answers it for one that is paid: a plain read is as
// old as Redis. Who does as they are told finds the payment that there is.
const staleResponse = "processing, retry same_key"

// wait waits, or less when the context ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// env is what a campaign with a rig needs, and takes down in the end.
type env struct {
	gateway string // path of the binary
	dir     string // for files
	remove  func()
}

func newEnv(ctx context.Context, o campaign.Options) (*env, error) {
	gateway, remove, err := binary(ctx, o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "frontdesk-rig")
	return &env{gateway, dir, remove}, err
}

func (s *env) close() error {
	s.remove()
	return os.RemoveAll(s.dir)
}

// ended tells a context that is over from a failure.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// newDurableHarness makes a rig over a Redis that acknowledges nothing that it can forget:
// what goes wrong is something else. end takes it down.
func newDurableHarness(ctx context.Context, o campaign.Options, cfg rig.Config) (r *rig.Harness, storage *rig.Redis, end func(), err error) {
	s, err := newEnv(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	if storage, err = rig.NewRedis(ctx, s.dir, rig.FsyncAlways); err == nil {
		cfg.Gateway, cfg.Storage = s.gateway, storage
		r, err = rig.New(ctx, cfg)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.close())
	}
	return r, storage, func() { r.Close(); _ = s.close() }, nil
}
