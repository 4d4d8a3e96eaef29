package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/rig"
)

// The kinds of kills beside those in the moment of a deed.
const (
	killedOne = "killed at any moment"
	killedAll = "all killed at once"
)

const (
	// killBuyers is how many buyers are there at once: enough for every moment to come by
	// within a fraction of a second, on two cores.
	killBuyers = 24
	// momentTime is how long a moment is waited for; one that does not come is tried again later.
	momentTime = 3 * time.Second
	// maxPause is the longest time between two kills at any moment: about as long as a payment takes
	// from the card to the record.
	maxPause = 60 * time.Millisecond
	// killsLong are those of the run for the record, over all kinds.
	killsLong = 1000
)

// Kill ends gateways with kill -9 in the middle of their work and starts them again,
// while buyers go on at the others: at any moment, all of them at once, and before,
// after and at the answer to each request on which the money hangs.
func Kill() campaign.Campaign {
	kinds := []string{killedOne, killedAll}
	for _, deed := range rig.Operations {
		for _, phase := range rig.Phases {
			kinds = append(kinds, killed(deed, phase))
		}
	}
	long := campaign.Options{MinFaults: map[string]int{}}
	for _, kind := range kinds {
		long.MinFaults[kind] = killsLong/len(kinds) + 1
	}
	return campaign.Campaign{
		Name: "kill", Description: "Gateways are killed with kill -9 at any moment and at chosen ones, and started again, while buyers go on at the others.",
		Faults: kinds, Mutations: []string{"take-over"}, Long: long, Run: runKill,
	}
}

func killed(deed rig.Operation, phase rig.Phase) string {
	return fmt.Sprintf("killed %s the %s", phase, deed)
}

func runKill(ctx context.Context, o campaign.Options) (*campaign.Report, error) {
	r, _, end, err := newDurableHarness(ctx, o, rig.Config{})
	if err != nil {
		return nil, err
	}
	defer end()
	record := campaign.NewRecorder("kill", o)
	buyers := startLoad(ctx, r, o, killBuyers)
	k := &killer{rig: r, record: record, random: rand.New(rand.NewPCG(o.Seed, 2)), o: o}
	err = k.run(ctx)
	journeys := buyers.stopAndWait()
	if err != nil && !ended(err) {
		return nil, err
	}
	err = settleAndCheck(ctx, r, journeys, record, o.Seed, false)
	return record.Report(), err
}

// killer kills until every kind has happened often enough.
type killer struct {
	rig    *rig.Harness
	record *campaign.Recorder
	random *rand.Rand
	o      campaign.Options
}

// run goes round the kinds until each has happened as often as it has to, and at least
// once, or until the time is over. One round finds a mistake or none does.
func (k *killer) run(ctx context.Context) error {
	ctx, cancel := k.o.Context(ctx)
	defer cancel()
	for round := 0; ctx.Err() == nil && (round == 0 || !k.o.StopAtViolation && (k.o.Duration > 0 || !k.record.EnoughFaults(k.o))); round++ {
		for _, deed := range rig.Operations {
			for _, phase := range rig.Phases {
				if err := k.killAtOperation(ctx, deed, phase); err != nil {
					return err
				}
			}
		}
		if err := k.killOne(ctx); err != nil {
			return err
		}
		if err := k.killAll(ctx); err != nil {
			return err
		}
		k.o.Logf("kill: round %d is over", round+1)
	}
	return ctx.Err()
}

// killAtOperation kills whoever comes to a deed first.
func (k *killer) killAtOperation(ctx context.Context, deed rig.Operation, phase rig.Phase) error {
	victim := k.rig.BreakAt(ctx, deed, phase, momentTime, (*rig.Gateway).Kill)
	if victim == nil {
		return ctx.Err()
	}
	k.record.AddFault(killed(deed, phase))
	return victim.Start(ctx)
}

func (k *killer) killOne(ctx context.Context) error {
	wait(ctx, time.Duration(k.random.Int64N(int64(maxPause))))
	victim := k.rig.Gateways[k.random.IntN(len(k.rig.Gateways))]
	victim.Kill()
	k.record.AddFault(killedOne)
	return victim.Start(ctx)
}

func (k *killer) killAll(ctx context.Context) error {
	wait(ctx, time.Duration(k.random.Int64N(int64(maxPause))))
	var all sync.WaitGroup
	errs := make([]error, len(k.rig.Gateways))
	for i, victim := range k.rig.Gateways {
		all.Go(func() {
			victim.Kill()
			errs[i] = victim.Start(ctx)
		})
	}
	all.Wait()
	k.record.AddFault(killedAll)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
