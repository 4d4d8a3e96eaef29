package payment_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
)

// missingStates are the states that read the processor, and how a payment gets there. Each ends as the scenario says
// once the processor has the payment again.
var missingStates = map[flows.PaymentState]struct {
	bring func(*world, *gateway) *flows.Payment
	end   flows.PaymentState
	money cards.State
}{
	flows.Intent: {func(w *world, g *gateway) *flows.Payment { return w.Started(g) }, flows.Recorded, cards.Captured},
	flows.Authorised: {func(w *world, g *gateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Authorised, withHistory(flows.Authorised))
	}, flows.Recorded, cards.Captured},
	flows.Capturing: {func(w *world, g *gateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Capturing, withHistory(flows.Authorised, flows.Capturing))
	}, flows.Recorded, cards.Captured},
	flows.Captured: {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		return w.Put(g, p.ID, flows.Captured, withHistory(flows.Captured))
	}, flows.Recorded, cards.Captured},
	flows.Cancelling: {func(w *world, g *gateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Cancelling, withHistory(flows.Cancelling))
	}, flows.Cancelled, cards.Cancelled},
	flows.InDoubt: {func(w *world, g *gateway) *flows.Payment { return w.Doubtful(g, "drop_after") }, flows.InDoubt, cards.Captured},
	flows.RefundDue: {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		return w.Put(g, p.ID, flows.RefundDue, withHistory(flows.Captured, flows.RefundDue))
	}, flows.Refunded, cards.Refunded},
}

// withHistory appends transitions to a history.
func withHistory(states ...flows.PaymentState) func(*flows.Payment) {
	return func(p *flows.Payment) {
		for _, state := range states {
			p.History = append(slices.Clip(p.History), flows.Transition{State: state, At: p.UpdatedAt})
		}
	}
}

// TestMissingAtTheProcessor: every gateway has a key for which the processor has none of the payments. For half an hour
// that is an error and nothing more; then the payment is blocked, and no operator can give up its money. Once a gateway
// has the right key, the payment continues without an operator.
func TestMissingAtTheProcessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	wrong := w.lost()
	p := missingStates[flows.Captured].bring(w, g)
	for range 6 {
		if p = w.Advance(wrong, p); p.State != flows.Captured {
			t.Fatalf("%s (%s) at once", p.State, p.Reason)
		}
		w.Clock.Advance(4 * time.Minute)
	}
	if shown := w.shown(wrong, p); shown.Problem == "" || !strings.Contains(strings.Join(shown.Advice, " "), "key of the account") {
		t.Errorf("shown: %q, %q", shown.Problem, shown.Advice)
	}
	w.Clock.Advance(10 * time.Minute)
	if p = w.Advance(wrong, p); p.State != flows.Blocked {
		t.Fatalf("after half an hour it is %s (%s)", p.State, p.Reason)
	}
	offered := strings.Join(w.shown(wrong, p).Commands, "; ")
	if strings.Contains(offered, "--cancel") || !strings.Contains(offered, "--refund --override") {
		t.Errorf("offered: %s", offered)
	}
	for _, resolution := range []payment.Resolution{payment.Cancel, payment.Refund} {
		_, err := wrong.ConfirmNotRecorded(t.Context(), p.ID, resolution, ada)
		w.expectRefusal(wrong, p, err, flows.NotDecidable, "")
	}
	if p = w.Advance(wrong, p); p.State != flows.Blocked || strings.Count(w.Journal.String(), "payment missing at the processor") != 1 {
		t.Errorf("read again it is %s (%s)", p.State, p.Reason)
	}
	p = w.advanceFor(g, p, 5*time.Minute)
	if p.State != flows.Recorded || len(w.Lines(p)) != 1 || !p.MissingSince.IsZero() {
		t.Errorf("with the right key: %s (%s), missing since %s, the ledger holds %+v", p.State, p.Reason, p.MissingSince, w.Lines(p))
	}
}

// TestMissingIsPolledAgain: the buyer's first card was declined, one reading missed the payment, and the second card is
// authorised. A reading that finds it again says what the buyer did since, not what was stored.
func TestMissingIsPolledAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Advance(g, w.Started(g))
	w.Confirm(p, declinedCard)
	p = w.Advance(w.lost(), w.Advance(g, p))
	if p.DeclineCode == "" || p.MissingSince.IsZero() {
		t.Fatalf("%s (%s), declined %q, missing since %s", p.State, p.Reason, p.DeclineCode, p.MissingSince)
	}
	w.Confirm(p, goodCard)
	if p = g.Glance(t.Context(), p); p.State != flows.Authorised || p.View().State == "declined" {
		t.Errorf("%s (%s), and the buyer sees %s", p.State, p.Reason, p.View().State)
	}
}

// TestMissingForGood: the account at the processor is gone. An operator ends the payment once the buyer has the money back.
func TestMissingForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	w.resetProcessor()
	w.Advance(g, p)
	w.Clock.Advance(31 * time.Minute)
	if p = w.Advance(g, p); p.State != flows.Blocked {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	override := ada
	override.Override = true
	_, err := g.ConfirmNotRecorded(t.Context(), p.ID, payment.Cancel, override)
	w.expectRefusal(g, p, err, flows.NotDecidable, "--refund --override")
	if _, err := g.ConfirmNotRecorded(t.Context(), p.ID, payment.Refund, override); err != nil || w.Stored(g, p.ID).State != flows.Refunded {
		t.Errorf("%v, %s", err, w.Stored(g, p.ID).State)
	}
}

// unavailable lists scenarios in which the processor does not have the payment for an hour.
var unavailable = func() map[string]scenario {
	all := map[string]scenario{}
	for state, test := range missingStates {
		all["missing at the processor while "+string(state)] = scenario{func(w *world, g *gateway) *flows.Payment {
			p := test.bring(w, g)
			wrong := w.lost()
			for range 3 {
				p = w.Advance(wrong, p)
				w.Clock.Advance(20 * time.Minute)
			}
			if state == flows.Intent {
				w.Confirm(p, goodCard)
			}
			return w.advanceFor(g, p, 5*time.Minute)
		}, test.end, map[bool]int{true: 1}[test.end == flows.Recorded || test.end == flows.InDoubt], test.money}
	}
	return all
}()

func init() { maps.Copy(scenarios, unavailable) }

// TestMissingIsNotDeclined: the buyer's first card was declined, and the second one is authorised. A gateway for which the
// processor does not have the payment cannot know that, and does not ask the buyer to pay again.
func TestMissingIsNotDeclined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	wrong := w.lost()
	p := w.Advance(g, w.Started(g))
	w.Confirm(p, declinedCard)
	if p = w.Advance(g, p); !p.Declined() {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.Confirm(p, goodCard)
	for range 2 {
		if view := wrong.Glance(t.Context(), p).View(); view.State == "declined" || view.Retry != "never" {
			t.Errorf("while the processor does not have it, the buyer sees %s, retry %s", view.State, view.Retry)
		}
		var err error
		if p, err = g.Store.Payment(t.Context(), p.ID); err != nil || p.MissingSince.IsZero() {
			t.Fatalf("%s (%s), missing since %s: %v", p.State, p.Reason, p.MissingSince, err)
		}
	}
	if p = w.Advance(g, p); p.State != flows.Recorded || !p.MissingSince.IsZero() {
		t.Errorf("with the right key: %s (%s), missing since %s", p.State, p.Reason, p.MissingSince)
	}
}
