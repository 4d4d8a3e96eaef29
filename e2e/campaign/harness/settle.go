package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

const openPayments = "fd:payments:open" // see the package flows/store, as for other keys

// settleTime is how long one payment may take to end once the faults are over. It is far below the ten
// minutes of the invariants, because no lease has to expire first. settleEach is added for each
// journey: thousands of buyers take turns coming back.
const (
	settleTime = 3 * time.Minute
	settleEach = 100 * time.Millisecond
)

// Settle ends all faults: it restarts every gateway, expires the leases of dead processes, and has all
// buyers come back until they see an end. Journeys that have not ended by then are judged as they are.
// The tests of the payment machine cover the duration of a lease, which is too long for a campaign.
func (h *Harness) Settle(ctx context.Context, journeys []*Journey) {
	ctx, cancel := context.WithTimeout(ctx, settleTime+time.Duration(len(journeys))*settleEach)
	defer cancel()
	for _, g := range h.Gateways {
		g.Kill()
	}
	for err := h.expireLeases(ctx); err != nil; err = h.expireLeases(ctx) {
		if !redis.IsReadOnlyError(err) || !frontdesktest.Sleep(ctx, 100*time.Millisecond) { // of a primary that has just become a replica
			h.Fatal(err)
		}
	}
	for _, g := range h.Gateways {
		g.Start()
	}
	var back errgroup.Group
	back.SetLimit(32)
	for _, j := range journeys {
		if j.Done || j.Registration() == "" {
			continue
		}
		back.Go(func() error { j.Watch(ctx, settleTime); return nil })
	}
	back.Wait()
	// Some payments are advanced only by the sweeper: their buyers saw an end before Redis forgot it, or their
	// registration is gone. Those that are not settled in time are judged as they are.
	for h.unsettled() && frontdesktest.Sleep(ctx, 500*time.Millisecond) {
	}
}

// expireLeases ends all leases, and makes every open payment due for the sweeper. Every owner must be dead.
func (h *Harness) expireLeases(ctx context.Context) error {
	client := h.Storage.Client()
	defer client.Close()
	pipe := client.Pipeline()
	for key := range h.paymentStates() {
		pipe.HSet(ctx, key, "lease", 0)
	}
	for _, id := range client.ZRange(ctx, openPayments, 0, -1).Val() {
		pipe.ZAddXX(ctx, openPayments, redis.Z{Score: 0, Member: id})
	}
	_, err := pipe.Exec(ctx)
	return err
}

// unsettled reports whether a gateway must still advance a payment, such as one that waits for a buyer who has
// already paid.
func (h *Harness) unsettled() bool {
	states := h.paymentStates()
	return slices.ContainsFunc(h.Upstreams.Cards.Payments(), func(p sandbox.Payment) bool {
		switch states[paymentKey(p)] {
		case "recorded", "in_doubt", "refunded", "cancelled", "blocked":
			return false
		case "": // lost, until the next rebuild
			return p.Captured > p.Refunded && p.Metadata["fd_environment"] == "test"
		case "intent", "priced":
			return p.State == cards.Authorised || p.State == cards.Captured
		default:
			return true
		}
	})
}

// paymentStates returns the states in Redis of the processor's payments, by key. What Redis does not know is missing.
func (h *Harness) paymentStates() map[string]string {
	ctx, client := h.Context(), h.Storage.Client()
	defer client.Close()
	pipe := client.Pipeline()
	replies := map[string]*redis.SliceCmd{}
	for _, p := range h.Upstreams.Cards.Payments() {
		replies[paymentKey(p)] = pipe.HMGet(ctx, paymentKey(p), "state")
	}
	_, err := pipe.Exec(ctx)
	frontdesktest.Must(h, err)
	states := map[string]string{}
	for key, reply := range replies {
		if state, known := reply.Val()[0].(string); known {
			states[key] = state
		}
	}
	return states
}

// paymentKey is where Redis has the record of a processor's payment.
func paymentKey(p sandbox.Payment) string {
	return fmt.Sprintf("fd:{%s}:payment:%s", p.Metadata["fd_registration"], p.Metadata["fd_generation"])
}
