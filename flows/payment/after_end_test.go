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
	world := newWorld(t)
	gateway := world.Gateway()
	p := world.recordedBy(gateway, flows.ByCard)
	world.RemoveSale(p.Sale)
	world.expectFindingAfter(31*time.Minute, gateway, p, flows.RecordedUnsettled)
	world.confirmRecorded(gateway, p)
	for range 9 {
		world.expectFindingAfter(45*time.Minute, gateway, p, "")
	}
	if due := world.Redis.ZCard(t.Context(), unverifiedKey).Val(); due != 0 {
		t.Errorf("%d payments are still to be verified", due)
	}
}
