package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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
	killBuyers    = 24                    // at once: every operation happens within a fraction of a second, on two cores
	operationTime = 3 * time.Second       // that a kill waits for its operation, which is otherwise tried again in the next round
	maxPause      = 60 * time.Millisecond // before a kill at any moment: about as long as from the card to the record
	killsLong     = 2000                  // of the long form, of all kinds together
)

// Kill ends gateways with kill -9 in the middle of their work and starts them again,
// while buyers continue at the others: at any moment, all of them at once, and before,
// after and at the response to each operation that moves money.
func Kill() campaign.Campaign {
	kinds := kindsOfKills()
	long := campaign.Options{MinFaults: KillsOfEachKind(killsLong/len(kinds) + 1)}
	return campaign.Campaign{
		Name: "kill",
		Description: "Gateways are killed with kill -9, at random and at chosen moments, and restarted. " +
			"Meanwhile buyers continue at the others, strangers request one registration in five, staff settle open sales, " +
			"and something in front of the club system answers one call in twenty.",
		Faults:    slices.Concat(kinds, []string{strangerAsked, deskSettled}, oddKinds()),
		Mutations: []string{"take-over", "unsettled-unseen"},
		Long:      long,
		Drive:     onHarness(3, durableRedis, kill),
	}
}

func kindsOfKills() []string {
	kinds := []string{killedOne, killedAll}
	for _, operation := range frontdesktest.Operations {
		for _, phase := range frontdesktest.KillPhases {
			kinds = append(kinds, killed(operation, phase))
		}
	}
	return kinds
}

// KillsOfEachKind requires every kind of kill, and every kind of odd response, that many times. Rounds are repeated until then.
func KillsOfEachKind(times int) map[string]int {
	least := map[string]int{}
	for _, kind := range append(kindsOfKills(), oddKinds()...) {
		least[kind] = times
	}
	return least
}

func killed(operation frontdesktest.Operation, phase frontdesktest.Phase) string {
	return fmt.Sprintf("killed %s the %s", phase, operation.Name)
}

func kill(run *run) {
	run.injectUnderLoad(killBuyers, 1, run.killInEveryWay)
	run.settleAndCheck()
}

func (r *run) killInEveryWay(ctx context.Context, round int) {
	defer r.answerOddly()()
	for _, operation := range frontdesktest.Operations {
		for _, phase := range frontdesktest.KillPhases {
			if victim := r.BreakAt(ctx, operation, phase, operationTime, (*harness.Gateway).Kill); victim != nil {
				r.record.AddFault(killed(operation, phase))
				victim.Start()
			}
		}
	}
	r.killOne(ctx)
	r.killAll(ctx)
	r.options.Logf("kill: round %d is over", round+1)
}

func (r *run) killOne(ctx context.Context) {
	r.waitUpTo(ctx, maxPause)
	r.restart(r.RandomGateway(r.random))
	r.record.AddFault(killedOne)
}

func (r *run) killAll(ctx context.Context) {
	r.waitUpTo(ctx, maxPause)
	var all sync.WaitGroup
	for _, victim := range r.Gateways {
		all.Go(func() { r.restart(victim) })
	}
	all.Wait()
	r.record.AddFault(killedAll)
}

func (r *run) restart(victim *harness.Gateway) {
	victim.Kill()
	victim.Start()
}
