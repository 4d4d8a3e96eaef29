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
		with   func(w *world, g *gateway) *flows.Payment
		event  func(*world, *flows.Payment) cards.Event
		listed flows.PaymentState
	}{
		"a dispute": {func(w *world, g *gateway) *flows.Payment { return w.recordedBy(g, flows.ByCard) },
			(*world).dispute, flows.Contradicted},
		"a refund that fails": {(*world).refunded, (*world).bankReturns, flows.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g, without := w.Gateway(), w.Gateway(gatewayOptions{Keys: newKeyring(t, "two")})
			payment := end.with(w, g)
			w.Clock.Advance(time.Minute)
			event := end.event(w, payment)
			if err := without.HandleEvent(t.Context(), event); flows.CodeOf(err) != flows.StorageUnavailable {
				t.Errorf("the processor is answered with %v", err)
			}
			w.Handle(g, event)
			if got := w.Stored(g, payment.ID); got.Listing() != end.listed {
				t.Errorf("%s (%s)", got.Listing(), got.Reason)
			}
		})
	}
}
