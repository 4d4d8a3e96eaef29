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
	bring func(*testWorld, *testGateway) *flows.Payment
	end   flows.PaymentState
	money cards.State
}{
	flows.Intent: {func(w *testWorld, g *testGateway) *flows.Payment { return w.Started(g) }, flows.Recorded, cards.Captured},
	flows.Authorised: {func(w *testWorld, g *testGateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Authorised, withHistory(flows.Authorised))
	}, flows.Recorded, cards.Captured},
	flows.Capturing: {func(w *testWorld, g *testGateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Capturing, withHistory(flows.Authorised, flows.Capturing))
	}, flows.Recorded, cards.Captured},
	flows.Captured: {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		return w.Put(g, p.ID, flows.Captured, withHistory(flows.Captured))
	}, flows.Recorded, cards.Captured},
	flows.Cancelling: {func(w *testWorld, g *testGateway) *flows.Payment {
		return w.Put(g, w.Authorised(g).ID, flows.Cancelling, withHistory(flows.Cancelling))
	}, flows.Cancelled, cards.Cancelled},
	flows.InDoubt: {func(w *testWorld, g *testGateway) *flows.Payment { return w.Doubtful(g, "drop_after") }, flows.InDoubt, cards.Captured},
	flows.RefundDue: {func(w *testWorld, g *testGateway) *flows.Payment {
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
	world := newWorld(t)
	gateway := world.Gateway()
	wrong := world.lost()
	paid := missingStates[flows.Captured].bring(world, gateway)
	for range 6 {
		if paid = world.Advance(wrong, paid); paid.State != flows.Captured {
			t.Fatalf("%s (%s) at once", paid.State, paid.Reason)
		}
		world.Clock.Advance(4 * time.Minute)
	}
	if shown := world.shown(wrong, paid); shown.Problem == "" || !strings.Contains(strings.Join(shown.Advice, " "), "key of the account") {
		t.Errorf("shown: %q, %q", shown.Problem, shown.Advice)
	}
	world.Clock.Advance(10 * time.Minute)
	if paid = world.Advance(wrong, paid); paid.State != flows.Blocked {
		t.Fatalf("after half an hour it is %s (%s)", paid.State, paid.Reason)
	}
	offered := strings.Join(world.shown(wrong, paid).Commands, "; ")
	if strings.Contains(offered, "--cancel") || !strings.Contains(offered, "--refund --override") {
		t.Errorf("offered: %s", offered)
	}
	for _, resolution := range []payment.Resolution{payment.Cancel, payment.Refund} {
		_, err := wrong.ConfirmNotRecorded(t.Context(), paid.ID, resolution, ada)
		world.expectRefusal(wrong, paid, err, flows.NotDecidable, "")
	}
	if paid = world.Advance(wrong, paid); paid.State != flows.Blocked ||
		strings.Count(world.Journal.String(), "payment missing at the processor") != 1 {
		t.Errorf("read again it is %s (%s)", paid.State, paid.Reason)
	}
	paid = world.advanceFor(gateway, paid, 5*time.Minute)
	if paid.State != flows.Recorded || len(world.Lines(paid)) != 1 || !paid.MissingSince.IsZero() {
		t.Errorf("with the right key: %s (%s), missing since %s, the ledger holds %+v", paid.State, paid.Reason, paid.MissingSince,
			world.Lines(paid))
	}
}

// TestMissingIsPolledAgain: the buyer's first card was declined, one reading missed the payment, and the second card is
// authorised. A reading that finds it again says what the buyer did since, not what was stored.
func TestMissingIsPolledAgain(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Advance(gateway, world.Started(gateway))
	world.Confirm(payment, declinedCard)
	payment = world.Advance(world.lost(), world.Advance(gateway, payment))
	if payment.DeclineCode == "" || payment.MissingSince.IsZero() {
		t.Fatalf("%s (%s), declined %q, missing since %s", payment.State, payment.Reason, payment.DeclineCode, payment.MissingSince)
	}
	world.Confirm(payment, goodCard)
	if payment = gateway.Glance(t.Context(), payment); payment.State != flows.Authorised || payment.View().State == "declined" {
		t.Errorf("%s (%s), and the buyer sees %s", payment.State, payment.Reason, payment.View().State)
	}
}

// TestMissingForGood: the account at the processor is gone. An operator ends the payment once the buyer has the money back.
func TestMissingForGood(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Doubtful(gateway, "error_before")
	world.resetProcessor()
	world.Advance(gateway, paid)
	world.Clock.Advance(31 * time.Minute)
	if paid = world.Advance(gateway, paid); paid.State != flows.Blocked {
		t.Fatalf("%s (%s)", paid.State, paid.Reason)
	}
	override := ada
	override.Override = true
	_, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Cancel, override)
	world.expectRefusal(gateway, paid, err, flows.NotDecidable, "--refund --override")
	_, err = gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, override)
	if err != nil || world.Stored(gateway, paid.ID).State != flows.Refunded {
		t.Errorf("%v, %s", err, world.Stored(gateway, paid.ID).State)
	}
}

// unavailable lists scenarios in which the processor does not have the payment for an hour.
var unavailable = func() map[string]scenario {
	all := map[string]scenario{}
	for state, test := range missingStates {
		all["missing at the processor while "+string(state)] = scenario{func(world *testWorld, gateway *testGateway) *flows.Payment {
			record := test.bring(world, gateway)
			wrong := world.lost()
			for range 3 {
				record = world.Advance(wrong, record)
				world.Clock.Advance(20 * time.Minute)
			}
			if state == flows.Intent {
				world.Confirm(record, goodCard)
			}
			return world.advanceFor(gateway, record, 5*time.Minute)
		}, test.end, map[bool]int{true: 1}[test.end == flows.Recorded || test.end == flows.InDoubt], test.money}
	}
	return all
}()

func init() { maps.Copy(scenarios, unavailable) }

// TestMissingIsNotDeclined: the buyer's first card was declined, and the second one is authorised. A gateway for which the
// processor does not have the payment cannot know that, and does not ask the buyer to pay again.
func TestMissingIsNotDeclined(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	wrong := world.lost()
	payment := world.Advance(gateway, world.Started(gateway))
	world.Confirm(payment, declinedCard)
	if payment = world.Advance(gateway, payment); !payment.Declined() {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	world.Confirm(payment, goodCard)
	for range 2 {
		if view := wrong.Glance(t.Context(), payment).View(); view.State == "declined" || view.Retry != "never" {
			t.Errorf("while the processor does not have it, the buyer sees %s, retry %s", view.State, view.Retry)
		}
		var err error
		if payment, err = gateway.Store.Payment(t.Context(), payment.ID); err != nil || payment.MissingSince.IsZero() {
			t.Fatalf("%s (%s), missing since %s: %v", payment.State, payment.Reason, payment.MissingSince, err)
		}
	}
	if payment = world.Advance(gateway, payment); payment.State != flows.Recorded || !payment.MissingSince.IsZero() {
		t.Errorf("with the right key: %s (%s), missing since %s", payment.State, payment.Reason, payment.MissingSince)
	}
}
