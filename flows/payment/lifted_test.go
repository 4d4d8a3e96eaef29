package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
)

// blockedAsMissing has every gateway use another account's key until the payment is blocked.
func (w *testWorld) blockedAsMissing(g *testGateway, payment *flows.Payment) *flows.Payment {
	w.Helper()
	wrong := w.lost()
	w.Advance(wrong, payment)
	w.Clock.Advance(31 * time.Minute)
	if payment = w.Advance(wrong, payment); payment.State != flows.Blocked {
		w.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// TestLiftedBlockRefundsNothing: while a captured payment is blocked, staff settle its sale by hand, as the operators' page
// tells them to. Then the key is right again. The payment may be the one that staff recorded, so no gateway refunds it:
// an operator says whether it is.
func TestLiftedBlockRefundsNothing(t *testing.T) {
	t.Parallel()
	override := ada
	override.Override = true
	for end, decide := range map[flows.PaymentState]func(*testGateway, flows.PaymentID) (payment.ResolutionResult, error){
		flows.Recorded: func(g *testGateway, id flows.PaymentID) (payment.ResolutionResult, error) {
			return g.ConfirmRecorded(t.Context(), id, ada)
		},
		flows.Refunded: func(g *testGateway, id flows.PaymentID) (payment.ResolutionResult, error) {
			return g.ConfirmNotRecorded(t.Context(), id, payment.Refund, override)
		},
	} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.blockedAsMissing(gateway, missingStates[flows.Captured].bring(world, gateway))
			world.PayAtDesk(paid)
			paid = world.advanceFor(gateway, paid, 16*time.Minute)
			if held := world.Held(paid); paid.State != flows.InDoubt || held.State != cards.Captured || held.Refunding != 0 {
				t.Fatalf("%s (%s), and %s at the processor", paid.State, paid.Reason, held.State)
			}
			must(t, func() (payment.ResolutionResult, error) { return decide(gateway, paid.ID) })
			if paid = world.Advance(gateway, paid); paid.State != end || world.Posted() != 1 {
				t.Errorf("%s (%s) after %d requests", paid.State, paid.Reason, world.Posted())
			}
		})
	}
}
