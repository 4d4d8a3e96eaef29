package flows_test

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
	w.advance(wrong, p)
	w.clock.Advance(31 * time.Minute)
	if p = w.advance(wrong, p); p.State != flows.Blocked {
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
			g := w.gateway()
			p := w.blockedAsMissing(g, missingStates[flows.Captured].bring(w, g))
			w.payAtDesk(p)
			p = w.advanceFor(g, p, 16*time.Minute)
			if held := w.held(p); p.State != flows.InDoubt || held.State != cards.Captured || held.Refunding != 0 {
				t.Fatalf("%s (%s), and %s at the processor", p.State, p.Reason, held.State)
			}
			must(t, func() (payment.ResolutionResult, error) { return decide(g, p.ID) })
			if p = w.advance(g, p); p.State != end || w.posted() != 1 {
				t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.posted())
			}
		})
	}
}

// TestRecordedByHandAndLost: staff record a blocked payment by hand, and then Redis loses everything. The rebuilt payment is not
// refunded, because nobody knows any more who settled its sale. An operator decides.
func TestRecordedByHandAndLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.blockedAsMissing(g, missingStates[flows.Captured].bring(w, g))
	w.payAtDesk(p)
	w.wipe()
	w.rebuild(g)
	if p = w.advance(g, p); p.State != flows.InDoubt || w.held(p).State != cards.Captured || len(w.lines(p)) != 1 {
		t.Fatalf("%s (%s), %s at the processor, the ledger holds %+v", p.State, p.Reason, w.held(p).State, w.lines(p))
	}
	w.clock.Advance(16 * time.Minute)
	must(t, func() (payment.ResolutionResult, error) { return g.ConfirmRecorded(t.Context(), p.ID, ada) })
	if p = w.stored(g, p.ID); p.State != flows.Recorded || w.posted() != 1 {
		t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.posted())
	}
}

// TestLiftedBlockCapturesNothingOld: a block that lifts itself a day later prolongs no authorisation.
func TestLiftedBlockCapturesNothingOld(t *testing.T) {
	t.Parallel()
	for _, state := range []flows.PaymentState{flows.Authorised, flows.Capturing} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := w.blockedAsMissing(g, missingStates[state].bring(w, g))
			w.clock.Advance(24 * time.Hour)
			p = w.advanceFor(g, p, 5*time.Minute)
			if held := w.held(p); p.State != flows.Cancelled || held.State != cards.Cancelled {
				t.Errorf("%s (%s), and %s at the processor", p.State, p.Reason, held.State)
			}
		})
	}
}

// TestLiftedBlockAndRefund: while a refund is blocked because the processor does not have the payment, staff settle its
// sale by hand, as the operators' page tells them to. Then the key is right again: the money goes back only if an
// operator says so.
func TestLiftedBlockAndRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.blockedAsMissing(g, missingStates[flows.RefundDue].bring(w, g))
	w.payAtDesk(p)
	p = w.advanceFor(g, p, 16*time.Minute)
	if held := w.held(p); held.State != cards.Captured || held.Refunding != 0 || p.State != flows.Blocked {
		t.Errorf("%s (%s), and %s at the processor", p.State, p.Reason, held.State)
	}
}

// TestOverriddenRefund: an operator ends a missing payment as refunded, and the processor holds its money after all.
// Then it can be refunded.
func TestOverriddenRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.blockedAsMissing(g, missingStates[flows.Captured].bring(w, g))
	override := ada
	override.Override = true
	must(t, func() (payment.ResolutionResult, error) {
		return w.lost().ConfirmNotRecorded(t.Context(), p.ID, payment.Refund, override)
	})
	w.rebuild(g)
	if p = w.advance(g, p); p.State != flows.Blocked {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	p = w.advanceFor(g, p, 16*time.Minute)
	must(t, func() (payment.ResolutionResult, error) {
		return g.ConfirmNotRecorded(t.Context(), p.ID, payment.Refund, ada)
	})
	if p = w.advance(g, p); p.State != flows.Refunded {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}
