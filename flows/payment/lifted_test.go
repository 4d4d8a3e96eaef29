package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
)

// blockedAsMissing has every gateway use another account's key until the payment is blocked.
func (w *world) blockedAsMissing(g *gateway, p *flows.Payment) *flows.Payment {
	w.Helper()
	wrong := w.lost()
	w.Advance(wrong, p)
	w.Clock.Advance(31 * time.Minute)
	if p = w.Advance(wrong, p); p.State != flows.Blocked {
		w.Fatalf("%s (%s)", p.State, p.Reason)
	}
	return p
}

// TestLiftedBlockRefundsNothing: while a captured payment is blocked, staff settle its sale by hand, as the operators' page
// tells them to. Then the key is right again. The payment may be the one that staff recorded, so no gateway refunds it:
// an operator says whether it is.
func TestLiftedBlockRefundsNothing(t *testing.T) {
	t.Parallel()
	override := ada
	override.Override = true
	for end, decide := range map[flows.PaymentState]func(*gateway, flows.PaymentID) (payment.ResolutionResult, error){
		flows.Recorded: func(g *gateway, id flows.PaymentID) (payment.ResolutionResult, error) {
			return g.ConfirmRecorded(t.Context(), id, ada)
		},
		flows.Refunded: func(g *gateway, id flows.PaymentID) (payment.ResolutionResult, error) {
			return g.ConfirmNotRecorded(t.Context(), id, payment.Refund, override)
		},
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.blockedAsMissing(g, missingStates[flows.Captured].bring(w, g))
			w.PayAtDesk(p)
			p = w.advanceFor(g, p, 16*time.Minute)
			if held := w.Held(p); p.State != flows.InDoubt || held.State != cards.Captured || held.Refunding != 0 {
				t.Fatalf("%s (%s), and %s at the processor", p.State, p.Reason, held.State)
			}
			must(t, func() (payment.ResolutionResult, error) { return decide(g, p.ID) })
			if p = w.Advance(g, p); p.State != end || w.Posted() != 1 {
				t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.Posted())
			}
		})
	}
}
