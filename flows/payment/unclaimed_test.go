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
func (w *testWorld) unclaimed(gateway *testGateway) *flows.Payment {
	w.Helper()
	payment := w.Authorised(gateway)
	w.InjectFault(captureCall, nil, func() {
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
		w.Clock.Advance(time.Minute)
	})
	payment = w.Advance(gateway, payment)
	w.Clock.Advance(25 * time.Hour)
	payment = w.Advance(gateway, payment)
	w.Fault()
	if payment.State != flows.InDoubt || payment.Claim != 0 {
		w.Fatalf("%s (%s) after claim %d", payment.State, payment.Reason, payment.Claim)
	}
	return payment
}

// TestRecordedBeforeItsFirstClaim: staff enter a payment by hand that no gateway sent, on the person's account, and an operator confirms
// that. Redis then loses it. The processor's journal has the decision, so that no gateway sends the payment, and operators see it there.
func TestRecordedBeforeItsFirstClaim(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.unclaimed(gateway)
	world.confirmRecorded(gateway, payment)
	world.Wipe()
	world.rebuild(gateway)
	payment = world.Advance(gateway, payment)
	if n := world.Posted(); payment.State != flows.Recorded || n != 0 {
		t.Errorf("%s (%s) after %d requests: %v", payment.State, payment.Reason, n, world.Held(payment).Metadata)
	}
	if journal := world.shown(gateway, payment).Journal; len(journal) != 2 || journal[0].Key != "fd_done_0" || journal[1].Key != "fd_op_1" {
		t.Errorf("the journal is %+v", journal)
	}
}

// TestNoClaimToRelease: an operator decides about a payment that no gateway sent. No release is written, because there is no claim; the
// decision is.
func TestNoClaimToRelease(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.unclaimed(gateway)
	world.Clock.Advance(16 * time.Minute)
	writes := 0
	var count func()
	count = func() { writes++; world.InjectFault(metadataCall, count, nil) }
	world.InjectFault(metadataCall, count, nil)
	world.mustDecide(gateway, payment, protocol.GiveBack)
	if writes != 2 || world.Held(payment).Metadata["fd_released_by"] == "" || world.Held(payment).Metadata["fd_op_1"] == "" {
		t.Errorf("%d entries were written: %v", writes, world.Held(payment).Metadata)
	}
	world.Inject(callFault{})
	if payment = world.Advance(gateway, payment); payment.State != flows.Refunded || world.Held(payment).State != cards.Refunded {
		t.Errorf("%s (%s)", payment.State, payment.Reason)
	}
}
