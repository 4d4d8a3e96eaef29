package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
)

// TestGoneSaleIsDecidedOnce: an operator confirms a payment whose sale is gone. The debt of its contact can never be read, and
// the alarm does not return because of that.
func TestGoneSaleIsDecidedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.recordedBy(g, flows.ByCard)
	w.RemoveSale(p.Sale)
	w.expectFindingAfter(31*time.Minute, g, p, flows.RecordedUnsettled)
	w.confirmRecorded(g, p)
	for range 9 {
		w.expectFindingAfter(45*time.Minute, g, p, "")
	}
	if due := w.Redis.ZCard(t.Context(), unverifiedKey).Val(); due != 0 {
		t.Errorf("%d payments are still to be verified", due)
	}
}
