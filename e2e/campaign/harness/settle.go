package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// See the package flows/store, as for other keys.
const (
	openPayments       = "fd:payments:open"
	unverifiedPayments = "fd:{" + openPayments + "}:unverified"
	brakes             = "fd:brakes"
)

// settleTime is how long one payment may take to end once the faults are over. It is far below the ten
// minutes of the invariants, because no lease has to expire first. settleEach is added for each
// journey: thousands of buyers take turns coming back.
const (
	settleTime = 3 * time.Minute
	settleEach = 100 * time.Millisecond
)

// Settle ends all faults: it restarts every gateway, expires the leases of dead processes, has all buyers come
// back until they see an end, and has the sales of recorded payments read. Journeys that have not ended by then are
// judged as they are. The tests of the payment machine cover the duration of a lease, and of the pauses of a brake and
// of the verification, which are too long for a campaign.
func (h *Harness) Settle(ctx context.Context, journeys []*Journey) {
	ctx, cancel := context.WithTimeout(ctx, settleTime+time.Duration(len(journeys))*settleEach)
	defer cancel()
	for _, g := range h.Gateways {
		g.Kill()
	}
	frontdesktest.Must(h.t, h.Upstreams.Sim.SetFaults(nil))
	for err := h.expireLeases(ctx); err != nil; err = h.expireLeases(ctx) {
		if !redis.IsReadOnlyError(err) || !frontdesktest.Sleep(ctx, 100*time.Millisecond) { // of a primary that has just become a replica
			h.t.Fatal(err)
		}
	}
	for _, g := range h.Gateways {
		g.Start()
	}
	settled, stop := context.WithCancel(ctx)
	var pauses sync.WaitGroup
	pauses.Go(func() { h.skipPauses(settled) })
	defer pauses.Wait()
	defer stop()
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
	for key := range h.records() {
		pipe.HSet(ctx, key, "lease", 0)
	}
	for _, id := range client.ZRange(ctx, openPayments, 0, -1).Val() {
		pipe.ZAddXX(ctx, openPayments, redis.Z{Score: 0, Member: id})
	}
	_, err := pipe.Exec(ctx)
	return err
}

// skipPauses makes every recorded payment due that is not verified yet, and has a brake that holds let the next payment
// probe, again and again until the context ends.
func (h *Harness) skipPauses(ctx context.Context) {
	client := h.Storage.Client()
	defer client.Close()
	for frontdesktest.Sleep(ctx, 500*time.Millisecond) {
		now := float64(time.Now().UnixMilli())
		for _, id := range client.ZRange(ctx, unverifiedPayments, 0, -1).Val() { // due now, behind those that are due longer
			client.ZAddArgs(ctx, unverifiedPayments, redis.ZAddArgs{XX: true, LT: true, Members: []redis.Z{{Score: now, Member: id}}})
		}
		for field := range client.HGetAll(ctx, brakes).Val() {
			if strings.HasSuffix(field, " until") {
				client.HSet(ctx, brakes, field, 0)
			}
		}
	}
}

// unsettled reports whether a gateway must still advance a payment, such as one whose buyer has
// already paid, or must still list one for operators.
func (h *Harness) unsettled() bool {
	records := h.records()
	return slices.ContainsFunc(h.Upstreams.Cards.Payments(), func(payment sandbox.Payment) bool {
		switch r := records[paymentKey(payment)]; r.State {
		case flows.Recorded, flows.InDoubt, flows.Blocked:
			return r.Unlisted()
		case flows.Refunded, flows.Cancelled:
			return false
		case "": // lost, until the next rebuild
			return payment.Captured > payment.Refunded && payment.Metadata["fd_environment"] == "test"
		case flows.Intent, flows.Priced:
			return payment.State == cards.Authorised || payment.State == cards.Captured
		default:
			return true
		}
	})
}

// records returns what Redis has of the processor's payments, by key. What it does not know is missing.
func (h *Harness) records() map[string]campaign.Record {
	ctx, client := h.t.Context(), h.Storage.Client()
	defer client.Close()
	listings, stored := map[flows.PaymentID]flows.PaymentState{}, store.New(store.Config{Redis: client})
	for _, listing := range append([]flows.PaymentState{flows.InDoubt, flows.Blocked}, flows.Findings...) {
		ids, err := stored.PaymentsIn(ctx, listing, time.Time{}, time.Time{}, -1)
		frontdesktest.Must(h.t, err)
		for _, id := range ids {
			listings[id] = listing
		}
	}
	pipe := client.Pipeline()
	replies, records := map[string]*redis.SliceCmd{}, map[string]campaign.Record{}
	payments := h.Upstreams.Cards.Payments()
	for _, p := range payments {
		replies[paymentKey(p)] = pipe.HMGet(ctx, paymentKey(p), "state")
	}
	_, err := pipe.Exec(ctx)
	frontdesktest.Must(h.t, err)
	for _, payment := range payments {
		state, known := replies[paymentKey(payment)].Val()[0].(string)
		if !known {
			continue
		}
		registration, generation := payment.Metadata["fd_registration"], payment.Metadata["fd_generation"]
		sale, _ := h.Upstreams.Sim.Sale(payment.Metadata["fd_sale"])
		r := campaign.Record{ID: registration + "-" + generation, State: flows.PaymentState(state), Open: sale.State == building}
		r.Listing = listings[flows.PaymentID(r.ID)]
		records[paymentKey(payment)] = r
	}
	return records
}

// paymentKey is where Redis has the record of a processor's payment.
func paymentKey(payment sandbox.Payment) string {
	return fmt.Sprintf("fd:{%s}:payment:%s", payment.Metadata["fd_registration"], payment.Metadata["fd_generation"])
}
