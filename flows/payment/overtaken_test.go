package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// TestNewerDeclineStays: a gateway has read that the buyer tries again, or an earlier decline, and another one stores the decline that
// followed. The buyer is shown that one, and it counts once.
func TestNewerDeclineStays(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"the buyer tries again": true, "an earlier decline": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			late, g := w.Gateway(), w.Gateway()
			p := w.Started(g)
			w.Confirm(p, declinedCard)
			if again {
				p = w.Advance(g, p)
				w.Confirm(p, bankAsks)
			}
			w.InjectFault(getCall, nil, func() { // while the first gateway waits for what it has read
				if again {
					w.answerChallenge(p, false)
				} else {
					w.Confirm(p, declinedCard)
				}
				w.Advance(g, p)
			})
			w.Advance(late, p)
			p = w.Advance(g, p)
			if p.State != flows.Intent || !p.Declined() || p.Declines != 2 {
				t.Errorf("%s (%s), declined: %t, %d counted", p.State, p.Reason, p.Declined(), p.Declines)
			}
		})
	}
}

// TestLateLookKeepsTheLists: a gateway has read a payment that ended before the processor's next event about it was handled.
// Operators see what that event brought, however late the first gateway continues.
func TestLateLookKeepsTheLists(t *testing.T) {
	t.Parallel()
	t.Run("a dispute", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		late, g := w.Gateway(), w.Gateway()
		p := w.recordedBy(g, flows.ByCard)
		w.expectFindingAfter(time.Minute, g, p, "")
		early := w.byHand(p, 100)
		w.SettleRefund(p, false)
		w.InjectFault(getCall, nil, func() { w.Handle(g, w.dispute(p)) })
		w.Handle(late, early)
		w.expectFinding(g, p, flows.Contradicted)
		w.Clock.Advance(2 * time.Hour)
		w.verify(g, p)
		w.expectFinding(g, p, flows.Contradicted)
	})
	t.Run("a refund that failed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		late, g := w.Gateway(), w.Gateway()
		p := w.refunded(g)
		w.Clock.Advance(time.Minute)
		w.InjectFault(getCall, nil, func() { w.Handle(g, w.bankReturns(p)) })
		w.Handle(late, w.EventOf(p, "charge.refunded"))
		listed := must(w, func() (payment.Page, error) { return g.List(t.Context(), payment.ListOptions{}) })
		if len(listed.Items) != 1 || listed.Items[0].State != flows.Blocked || len(w.open()) != 1 {
			t.Errorf("operators are shown %+v, and %v is followed", listed.Items, w.open())
		}
		w.expectRefundedAgain(g, p.ID)
	})
}
