package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/campaign/harness"
	"frontdesk/e2e/frontdesktest"
)

// The kinds of kills besides those at an operation.
const (
	killedOne = "killed at any moment"
	killedAll = "all killed at once"
)

const (
	// killBuyers is how many buyers there are at once: enough for every operation to happen within a
	// fraction of a second, on two cores.
	killBuyers = 24
	// operationTime is how long a kill waits for its operation. An operation that does not happen is
	// tried again in the next round.
	operationTime = 3 * time.Second
	// maxPause is the longest time before a kill at any moment: about as long as a payment takes from
	// the card to the record.
	maxPause = 60 * time.Millisecond
	// killsLong are those of the long form, of all kinds.
	killsLong = 2000
)

// Kill ends gateways with kill -9 in the middle of their work and starts them again,
// while buyers continue at the others: at any moment, all of them at once, and before,
// after and at the response to each operation that moves money.
func Kill() campaign.Campaign {
	kinds := []string{killedOne, killedAll}
	for _, operation := range frontdesktest.Operations {
		for _, phase := range frontdesktest.KillPhases {
			kinds = append(kinds, killed(operation, phase))
		}
	}
	long := campaign.Options{MinFaults: map[string]int{}}
	for _, kind := range kinds {
		long.MinFaults[kind] = killsLong/len(kinds) + 1
	}
	return campaign.Campaign{
		Name: "kill", Description: "Gateways are killed with kill -9, at random and at chosen moments, and restarted. Meanwhile buyers continue at the others, strangers request one registration in five, and staff settle open sales.",
		Faults: append(kinds, strangerAsked, deskSettled), Mutations: []string{"take-over"}, Long: long, Drive: onHarness(3, durableRedis, kill),
	}
}

func killed(operation frontdesktest.Operation, phase frontdesktest.Phase) string {
	return fmt.Sprintf("killed %s the %s", phase, operation.Name)
}

func kill(ctx context.Context, r *run) error {
	if err := r.injectUnderLoad(ctx, killBuyers, 1, r.enoughFaults, r.killInEveryWay); err != nil {
		return err
	}
	return r.settleAndCheck(ctx)
}

// killInEveryWay is one round of all kinds.
func (r *run) killInEveryWay(ctx context.Context, round int) error {
	for _, operation := range frontdesktest.Operations {
		for _, phase := range frontdesktest.KillPhases {
			if err := r.killAt(ctx, operation, phase); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(r.killOne(ctx), r.killAll(ctx)); err != nil {
		return err
	}
	r.options.Logf("kill: round %d is over", round+1)
	return nil
}

func (r *run) killAt(ctx context.Context, operation frontdesktest.Operation, phase frontdesktest.Phase) error {
	victim := r.BreakAt(ctx, operation, phase, operationTime, (*harness.Gateway).Kill)
	if victim == nil {
		return ctx.Err()
	}
	r.record.AddFault(killed(operation, phase))
	return victim.Start(ctx)
}

func (r *run) killOne(ctx context.Context) error {
	r.waitUpTo(ctx, maxPause)
	victim := r.RandomGateway(r.random)
	victim.Kill()
	r.record.AddFault(killedOne)
	return victim.Start(ctx)
}

func (r *run) killAll(ctx context.Context) error {
	r.waitUpTo(ctx, maxPause)
	var all errgroup.Group
	for _, victim := range r.Gateways {
		all.Go(func() error {
			victim.Kill()
			return victim.Start(ctx)
		})
	}
	r.record.AddFault(killedAll)
	return all.Wait()
}
