package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// unclaimed makes a card payment in doubt that was never sent: its sale could not be read for a day after the capture.
func (w *world) unclaimed(g *gateway) *flows.Payment {
	w.Helper()
	p := w.Authorised(g)
	w.InjectFault(captureCall, nil, func() {
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
		w.Clock.Advance(time.Minute)
	})
	p = w.Advance(g, p)
	w.Clock.Advance(25 * time.Hour)
	p = w.Advance(g, p)
	w.Fault()
	if p.State != flows.InDoubt || p.Claim != 0 {
		w.Fatalf("%s (%s) after claim %d", p.State, p.Reason, p.Claim)
	}
	return p
}

// TestRecordedBeforeItsFirstClaim: staff enter a payment by hand that no gateway sent, on the person's account, and an operator confirms
// that. Redis then loses it. The processor's journal has the decision, so that no gateway sends the payment, and operators see it there.
func TestRecordedBeforeItsFirstClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.unclaimed(g)
	w.confirmRecorded(g, p)
	w.Wipe()
	w.rebuild(g)
	p = w.Advance(g, p)
	if n := w.Posted(); p.State != flows.Recorded || n != 0 {
		t.Errorf("%s (%s) after %d requests: %v", p.State, p.Reason, n, w.Held(p).Metadata)
	}
	if journal := w.shown(g, p).Journal; len(journal) != 2 || journal[0].Key != "fd_done_0" || journal[1].Key != "fd_op_1" {
		t.Errorf("the journal is %+v", journal)
	}
}

// TestNoClaimToRelease: an operator decides about a payment that no gateway sent. No release is written, because there is no claim; the
// decision is.
func TestNoClaimToRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.unclaimed(g)
	w.Clock.Advance(16 * time.Minute)
	writes := 0
	var count func()
	count = func() { writes++; w.InjectFault(metadataCall, count, nil) }
	w.InjectFault(metadataCall, count, nil)
	w.mustDecide(g, p, protocol.GiveBack)
	if writes != 2 || w.Held(p).Metadata["fd_released_by"] == "" || w.Held(p).Metadata["fd_op_1"] == "" {
		t.Errorf("%d entries were written: %v", writes, w.Held(p).Metadata)
	}
	w.Inject(callFault{})
	if p = w.Advance(g, p); p.State != flows.Refunded || w.Held(p).State != cards.Refunded {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}
