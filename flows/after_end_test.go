package flows_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// TestGoneSaleIsDecidedOnce: an operator confirms a payment whose sale is gone. The debt of its contact can never be read, and
// the alarm does not return because of that.
func TestGoneSaleIsDecidedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.recordedBy(g, flows.ByCard)
	w.removeSale(p.Sale)
	w.expectFindingAfter(31*time.Minute, g, p, flows.RecordedUnsettled)
	w.confirmRecorded(g, p)
	for range 9 {
		w.expectFindingAfter(45*time.Minute, g, p, "")
	}
	if due := w.redis.ZCard(t.Context(), unverifiedKey).Val(); due != 0 {
		t.Errorf("%d payments are still to be verified", due)
	}
}

// TestDebtIsNotReadForever: the contact's account cannot be read any more, as after an anonymisation. The payment is verified
// without it.
func TestDebtIsNotReadForever(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.recordedBy(g, flows.ByCard)
	w.fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/stats/accounts/contacts/*"}, Kind: "error_before", Status: 404})
	for range 30 {
		w.clock.Advance(time.Hour)
		w.verify(g, p)
	}
	w.expectFinding(g, p, "")
	if due := w.redis.ZCard(t.Context(), unverifiedKey).Val(); due != 0 {
		t.Errorf("%d payments are still to be verified", due)
	}
}
