package payment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// twoDoubts makes two payments of one sale, both in doubt: Redis forgot the one by card, and the buyer then chose
// to pay later. The club system holds neither.
func (w *testWorld) twoDoubts(gateway *testGateway) (card, later *flows.Payment) {
	w.Helper()
	registration := w.Registered(gateway)
	old := w.dump(registration.ID)
	card = must(w, func() (*flows.Payment, error) { return gateway.Pay(w.Context(), registration.ID) })
	w.Confirm(card, goodCard)
	w.DoubtAgain(gateway, card, "error_before")
	w.restore(registration.ID, old)
	how := w.settlementCases()[flows.Deferred]
	w.Fault(clubsim.Fault{Match: how.request(), Kind: "error_before", Status: 503, Times: new(1)})
	later = must(w, func() (*flows.Payment, error) {
		return gateway.PayWith(w.Context(), registration.ID, holderToken, how.start)
	})
	w.rebuild(gateway)
	doubts := must(w, func() (payment.Page, error) {
		return gateway.List(w.Context(), payment.ListOptions{State: flows.InDoubt})
	})
	if len(doubts.Items) != 2 {
		w.Fatalf("in doubt: %+v", doubts.Items)
	}
	for _, each := range doubts.Items {
		if each.ID != later.ID {
			card = w.Stored(gateway, each.ID)
		}
	}
	w.Clock.Advance(20 * time.Minute)
	return card, later
}

// TestTwoDoubtsOfOneSale: only one of them can be sent again. Operators who send both would have the sale settled twice.
func TestTwoDoubtsOfOneSale(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	card, later := world.twoDoubts(gateway)
	sendAgain := func() {
		t.Helper()
		_, err := gateway.ConfirmNotRecorded(world.Context(), card.ID, payment.SendAgain, ada)
		world.expectRefusal(gateway, card, err, flows.NotDecidable, string(later.ID))
	}
	sendAgain()
	shown := must(world, func() (payment.Detail, error) { return gateway.Show(world.Context(), card.ID) })
	if slices.ContainsFunc(shown.Commands, func(c string) bool { return strings.Contains(c, "--send-again") }) {
		t.Errorf("sending again is offered: %q", shown.Commands)
	}
	if !strings.Contains(strings.Join(shown.Advice, " "), string(later.ID)) {
		t.Errorf("the other payment is not named: %q", shown.Advice)
	}
	world.mustDecide(gateway, later, payment.SendAgain)
	sendAgain()
	if end := world.Settle(gateway, later); end.State != flows.Recorded {
		t.Errorf("the later one is %s (%s)", end.State, end.Reason)
	}
	sendAgain()
	certain := flows.Decision{Operator: ada.Operator, Reason: ada.Reason, Override: true} // the sale is settled, by the other one
	must(world, func() (payment.ResolutionResult, error) {
		return gateway.ConfirmNotRecorded(world.Context(), card.ID, payment.Refund, certain)
	})
	if end := world.Settle(gateway, card); end.State != flows.Refunded || world.Posted() != 1 {
		t.Errorf("the card payment is %s (%s), sent %d times", end.State, end.Reason, world.Posted())
	}
	world.expectSettled(world.Stored(gateway, later.ID))
}

// TestDoubtWhoseRivalEnded: the payment by card is sent again once the other one is cancelled.
func TestDoubtWhoseRivalEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	card, later := w.twoDoubts(g)
	w.mustDecide(g, later, payment.Cancel)
	w.mustDecide(g, card, payment.SendAgain)
	if end := w.Settle(g, card); end.State != flows.Recorded || len(w.Lines(end)) != 1 {
		t.Errorf("the card payment is %s (%s)", end.State, end.Reason)
	}
}

// TestDoubtOfAnUnreadableRegistration: an operator still sees a payment in doubt whose registration cannot be read, and
// is not offered to send it again.
func TestDoubtOfAnUnreadableRegistration(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Doubtful(gateway, "error_before")
	world.Clock.Advance(20 * time.Minute)
	if err := world.Redis.HSet(world.Context(), "fd:{"+paid.Registration+"}:registration", "body", "garbage").Err(); err != nil {
		t.Fatal(err)
	}
	shown := must(world, func() (payment.Detail, error) { return gateway.Show(world.Context(), paid.ID) })
	if commands := strings.Join(shown.Commands, " "); strings.Contains(commands, "--send-again") || !strings.Contains(commands, "--refund") {
		t.Errorf("offered are %q", shown.Commands)
	}
	_, err := gateway.ConfirmNotRecorded(world.Context(), paid.ID, payment.SendAgain, ada)
	world.expectRefusal(gateway, paid, err, flows.StorageUnavailable, "")
}
