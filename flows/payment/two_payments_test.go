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
func (w *world) twoDoubts(g *gateway) (card, later *flows.Payment) {
	w.Helper()
	r := w.Registered(g)
	old := w.dump(r.ID)
	card = must(w, func() (*flows.Payment, error) { return g.Pay(w.Context(), r.ID) })
	w.Confirm(card, goodCard)
	w.DoubtAgain(g, card, "error_before")
	w.restore(r.ID, old)
	how := w.settlementCases()[flows.Deferred]
	w.Fault(clubsim.Fault{Match: how.request(), Kind: "error_before", Status: 503, Times: new(1)})
	later = must(w, func() (*flows.Payment, error) { return g.PayWith(w.Context(), r.ID, holderToken, how.start) })
	w.rebuild(g)
	doubts := must(w, func() (payment.Page, error) { return g.List(w.Context(), payment.ListOptions{State: flows.InDoubt}) })
	if len(doubts.Items) != 2 {
		w.Fatalf("in doubt: %+v", doubts.Items)
	}
	for _, each := range doubts.Items {
		if each.ID != later.ID {
			card = w.Stored(g, each.ID)
		}
	}
	w.Clock.Advance(20 * time.Minute)
	return card, later
}

// TestTwoDoubtsOfOneSale: only one of them can be sent again. Operators who send both would have the sale settled twice.
func TestTwoDoubtsOfOneSale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	card, later := w.twoDoubts(g)
	sendAgain := func() {
		t.Helper()
		_, err := g.ConfirmNotRecorded(w.Context(), card.ID, payment.SendAgain, ada)
		w.expectRefusal(g, card, err, flows.NotDecidable, string(later.ID))
	}
	sendAgain()
	shown := must(w, func() (payment.Detail, error) { return g.Show(w.Context(), card.ID) })
	if slices.ContainsFunc(shown.Commands, func(c string) bool { return strings.Contains(c, "--send-again") }) {
		t.Errorf("sending again is offered: %q", shown.Commands)
	}
	if !strings.Contains(strings.Join(shown.Advice, " "), string(later.ID)) {
		t.Errorf("the other payment is not named: %q", shown.Advice)
	}
	w.mustDecide(g, later, payment.SendAgain)
	sendAgain()
	if end := w.Settle(g, later); end.State != flows.Recorded {
		t.Errorf("the later one is %s (%s)", end.State, end.Reason)
	}
	sendAgain()
	certain := flows.Decision{Operator: ada.Operator, Reason: ada.Reason, Override: true} // the sale is settled, by the other one
	must(w, func() (payment.ResolutionResult, error) {
		return g.ConfirmNotRecorded(w.Context(), card.ID, payment.Refund, certain)
	})
	if end := w.Settle(g, card); end.State != flows.Refunded || w.Posted() != 1 {
		t.Errorf("the card payment is %s (%s), sent %d times", end.State, end.Reason, w.Posted())
	}
	w.expectSettled(w.Stored(g, later.ID))
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
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	w.Clock.Advance(20 * time.Minute)
	if err := w.Redis.HSet(w.Context(), "fd:{"+p.Registration+"}:registration", "body", "garbage").Err(); err != nil {
		t.Fatal(err)
	}
	shown := must(w, func() (payment.Detail, error) { return g.Show(w.Context(), p.ID) })
	if commands := strings.Join(shown.Commands, " "); strings.Contains(commands, "--send-again") || !strings.Contains(commands, "--refund") {
		t.Errorf("offered are %q", shown.Commands)
	}
	_, err := g.ConfirmNotRecorded(w.Context(), p.ID, payment.SendAgain, ada)
	w.expectRefusal(g, p, err, flows.StorageUnavailable, "")
}
