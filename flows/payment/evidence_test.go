package payment_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// known returns a value that must be known.
func known[T any](t testing.TB, what string, value *T) (v T) {
	t.Helper()
	if value == nil {
		t.Errorf("%s is not known", what)
		return v
	}
	return *value
}

func TestSnapshotBeforeCapture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	payment := w.Advance(g, w.Authorised(g))
	seen := payment.Snapshot
	if seen == nil || !seen.At.Equal(w.Clock.Now()) {
		t.Fatalf("the snapshot is %+v", seen)
	}
	if known(t, "the state", seen.SaleState) != "building" ||
		known(t, "the total", seen.Total) != payment.Amount ||
		!known(t, "the check", seen.Valid) ||
		known(t, "the status", seen.ContactStatus) != "temp" ||
		known(t, "the debt", seen.Debt) != 0 {
		t.Errorf("the snapshot is %+v", seen)
	}
	if payment.Contact != "" || payment.Payer != nil {
		t.Errorf("of a payment that ended, %s is kept", payment.Contact)
	}
}

// statusRule recognises a paid sale by what its contact becomes.
func statusRule() *flows.Rule {
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalContactStatus, Before: "temp", After: "customer"}}}
}

// TestStatusBeforeCapture: staff sell the buyer something else, which makes a customer of the buyer, and then the payment fails to be
// recorded. A rule about the status must not take that for the payment's effect, so the status is read before the capture. Without
// such a rule, it is not.
func TestStatusBeforeCapture(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options gatewayOptions
		reads   int
	}{
		"a rule about the status":                               {gatewayOptions{Rule: statusRule()}, 1},
		"a rule about the sale":                                 {gatewayOptions{Rule: simulatorsRule()}, 0},
		"a rule that Redis does not give, whatever it is about": {gatewayOptions{RefusedKeys: []string{"fd:rule:"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(test.options)
			payment := world.Authorised(gateway)
			world.sellOnCredit(payment)
			before := world.Calls("/contacts/*")
			payment = world.DoubtAgain(gateway, payment, "error_before")
			if reads := world.Calls("/contacts/*") - before; reads != test.reads {
				t.Errorf("the contact was read %d times before the capture, want %d", reads, test.reads)
			}
			world.Clock.Advance(31 * time.Second)
			if payment = world.Advance(gateway, payment); payment.State != flows.InDoubt || len(payment.Readings) != 1 {
				t.Errorf("%s (%s) after %d readings", payment.State, payment.Reason, len(payment.Readings))
			}
		})
	}
}

// TestForeignCheckIsNoEvidence: a payment is in doubt, and something in front of the club system refuses the check of its sale, which only
// fails for a settled sale. That does not show that the payment is recorded.
func TestForeignCheckIsNoEvidence(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.Mute = true // only the check shows what became of a sale
	rule := &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalCheck, Before: "valid", After: "invalid"}}}
	gateway := world.Gateway(gatewayOptions{Rule: rule})
	payment := world.Doubtful(gateway, "error_before")
	world.Fault(clubsim.Fault{
		Match:  clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"},
		Kind:   "foreign_json",
		Status: 422,
		Body:   json.RawMessage(`{"error": "request blocked"}`),
	})
	world.Clock.Advance(31 * time.Second)
	payment = world.Advance(gateway, payment)
	world.ExpectSound(payment)
	if payment.State != flows.InDoubt || len(payment.Readings) != 1 {
		t.Errorf("%s (%s) after %d readings", payment.State, payment.Reason, len(payment.Readings))
	}
}

// TestSnapshotIsOptional: apart from the sale, no read of the snapshot keeps a payment from being captured
// and recorded, however it fails.
func TestSnapshotIsOptional(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]clubsim.Fault{
		"refused": {Kind: "error_before", Status: 403},
		"down":    {Kind: "error_before", Status: 503},
		"silent":  {Kind: "hang"},
		"garbage": {Kind: "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{Rule: statusRule()})
			p := world.Authorised(gateway)
			status, debt := fault, fault
			status.Match = clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}
			debt.Match = clubsim.FaultMatch{Method: "GET", Path: "/stats/accounts/contacts/*"}
			world.Fault(status, debt)
			end := world.Advance(gateway, p)
			if end.State != flows.Recorded || end.Snapshot == nil || end.Snapshot.ContactStatus != nil || end.Snapshot.Debt != nil {
				t.Errorf("%s (%s) with snapshot %+v", end.State, end.Reason, end.Snapshot)
			}
			for _, f := range world.Sim.Faults() {
				if f.Hits == 0 {
					t.Errorf("%s did not happen", f.Match.Path)
				}
			}
		})
	}
}

// TestRule: a rule concludes that a payment was recorded, or concludes nothing. A reading that fails is noted and retried; once it
// succeeds it is too late for the rule to decide, because staff may have settled the sale meanwhile. Operators see what the rule says.
func TestRule(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind       string
		unreadable bool // at first
		end        flows.PaymentState
		readings   int
	}{
		"recorded":     {"drop_after", false, flows.Recorded, 1},
		"not recorded": {"error_before", false, flows.InDoubt, 2},
		"too late":     {"drop_after", true, flows.InDoubt, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{Rule: simulatorsRule()})
			payment := world.Doubtful(gateway, test.kind)
			if test.unreadable {
				world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
			}
			world.Clock.Advance(31 * time.Second)
			payment = world.Advance(gateway, payment)
			world.Fault()
			world.Clock.Advance(2 * time.Minute)
			payment = world.Advance(gateway, payment)
			if payment.State != test.end || payment.State == flows.Recorded &&
				!strings.Contains(payment.Reason, "sale_state went from building to settled") {
				t.Errorf("%s (%s)", payment.State, payment.Reason)
			}
			if journalled := world.Held(payment).Metadata["fd_done_1"] != ""; journalled != (test.end == flows.Recorded) {
				t.Errorf("journalled: %t", journalled)
			}
			if len(payment.Readings) != test.readings || (payment.Readings[0].Failures > 0) != test.unreadable {
				t.Fatalf("the readings are %+v", payment.Readings)
			}
			last := payment.Readings[test.readings-1]
			if settled := known(t, "the state", last.SaleState) == "settled"; settled != (test.kind == "drop_after") {
				t.Errorf("the last reading is %+v", last)
			}
			late := strings.Contains(strings.Join(world.shown(gateway, payment).Advice, " "), "too long after the attempt")
			if late != test.unreadable {
				t.Errorf("operators are advised: %s", world.shown(gateway, payment).Advice)
			}
			world.ExpectSound(payment)
		})
	}
}
