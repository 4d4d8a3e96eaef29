package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// TestEventAboutAnUnreadableRecord: a gateway gets an event about a payment that ended, and whose record only another gateway has the key
// for. The processor sends the event again, until a gateway that can read the record has it.
func TestEventAboutAnUnreadableRecord(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		with   func(w *testWorld, g *testGateway) *flows.Payment
		event  func(*testWorld, *flows.Payment) cards.Event
		listed flows.PaymentState
	}{
		"a dispute": {func(w *testWorld, g *testGateway) *flows.Payment { return w.recordedBy(g, flows.ByCard) },
			(*testWorld).dispute, flows.Contradicted},
		"a refund that fails": {(*testWorld).refunded, (*testWorld).bankReturns, flows.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, without := world.Gateway(), world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
			payment := end.with(world, gateway)
			world.Clock.Advance(time.Minute)
			event := end.event(world, payment)
			if err := without.HandleEvent(t.Context(), event); flows.CodeOf(err) != flows.StorageUnavailable {
				t.Errorf("the processor is answered with %v", err)
			}
			world.Handle(gateway, event)
			if got := world.Stored(gateway, payment.ID); got.Listing() != end.listed {
				t.Errorf("%s (%s)", got.Listing(), got.Reason)
			}
		})
	}
}
