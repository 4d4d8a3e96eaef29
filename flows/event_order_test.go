package flows_test

import (
	"net/http"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// TestEventBeforeJobs: the sweeps have handed out thousands of payments, and the processor is slow. An event is processed, and
// its registration read, before most of them.
func TestEventBeforeJobs(t *testing.T) {
	t.Parallel()
	const handedOut, atOnce = 1000, 40
	w := newWorld(t)
	g := w.gateway()
	o := w.eventHarness(g)
	r, p := w.registered(g), w.started(g)
	w.payAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
	for range handedOut {
		if err := g.queue.EnqueueAdvance(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	o.send("contact.updated", "contactId", string(r.Contact.IRI))
	turn, taken := make(chan struct{}), 0
	defer close(turn)
	w.setFaultInjector(&faultInjector{method: http.MethodGet, pattern: "/sandbox/payments/*", fail: 1e6, before: func() { <-turn }})
	o.open()
	respond := func(what string, until func() bool) {
		frontdesktest.Eventually(t, what, func() bool {
			for range atOnce {
				select {
				case turn <- struct{}{}:
					taken++
				default:
				}
			}
			return until()
		})
	}
	respond("the event was processed", func() bool {
		waiting, err := g.store.ClubEventsWaiting(t.Context())
		return err == nil && waiting == 0
	})
	o.allowRefresh(3 * time.Second)
	respond("the cart is settled", func() bool {
		read, _, err := g.store.Registration(t.Context(), r.ID)
		return err == nil && settled(read)
	})
	if taken > 5*atOnce {
		t.Errorf("the event waited for %d other jobs", taken)
	}
}
