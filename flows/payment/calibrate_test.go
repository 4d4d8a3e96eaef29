package payment_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// seedPayments makes finished payments: recorded ones, and unpaid ones that were cancelled.
func (w *world) seedPayments(g *gateway, recorded, left int) (unpaid []*flows.Payment) {
	w.Helper()
	for range recorded {
		if p := w.Advance(g, w.Authorised(g)); p.State != flows.Recorded {
			w.Fatalf("%s (%s)", p.State, p.Reason)
		}
	}
	for range left {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"}, Kind: "error_before", Status: 400, Times: new(1)})
		if p = w.Advance(g, p); p.State != flows.Cancelled {
			w.Fatalf("%s (%s)", p.State, p.Reason)
		}
		w.Fault()
		unpaid = append(unpaid, p)
	}
	return unpaid
}

func (w *world) calibrated(g *gateway) payment.Calibration {
	w.Helper()
	return must(w, func() (payment.Calibration, error) { return g.Calibrate(w.Context(), "ada") })
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.seedPayments(g, 20, 5)
	c := w.calibrated(g)
	if c.Rule == nil || c.Recorded != 20 || c.Unpaid != 5 || len(c.Findings) != 5 ||
		!strings.Contains(c.Verdict, "sale_state went from building to settled") {
		t.Fatalf("calibrated: %+v", c)
	}
	for _, finding := range c.Findings {
		if tells := finding.Signal == flows.SignalSaleState || finding.Signal == flows.SignalContactStatus; finding.Discriminates != tells {
			t.Errorf("%+v", finding)
		}
	}
	for _, condition := range c.Rule.Conditions {
		if condition.Signal == flows.SignalContactStatus {
			t.Error("the rule asks for the contact although the sale tells")
		}
	}
	// Another gateway, configured without a rule, uses the new one from now on.
	other := w.Gateway()
	p := w.Doubtful(other, "drop_after")
	w.Clock.Advance(31 * time.Second)
	if p = w.Advance(other, p); p.State != flows.Recorded {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
	// Payments that a rule decided are not used for calibration.
	if again := w.calibrated(g); again.Recorded != 20 {
		t.Errorf("%d recorded payments", again.Recorded)
	}
	if entries := w.Redis.XLen(t.Context(), "fd:audit").Val(); entries != 2 {
		t.Errorf("%d entries in the audit stream", entries)
	}
	if value := w.Redis.Get(t.Context(), "fd:rule:test").Val(); value == "" || strings.Contains(value, "sale_state") {
		t.Errorf("the rule is kept as %q", value)
	}
}

func TestCalibrateWithoutStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Mute = true
	g := w.Gateway()
	w.seedPayments(g, 20, 5)
	c := w.calibrated(g)
	if c.Rule == nil {
		t.Fatalf("calibrated: %+v", c)
	}
	for _, condition := range c.Rule.Conditions {
		if condition.Signal == flows.SignalSaleState {
			t.Errorf("the rule depends on a signal that the club system does not send: %+v", c.Rule)
		}
	}
	for _, finding := range c.Findings {
		if finding.Signal == flows.SignalSaleState && !strings.Contains(finding.Text, "not known") {
			t.Errorf("%+v", finding)
		}
	}
}

func TestCalibrateOnTooFew(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ recorded, left int }{"nothing": {0, 0}, "few recorded": {19, 5}, "few unpaid": {20, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway(gatewayOptions{Rule: simulatorsRule()})
			w.seedPayments(g, test.recorded, test.left)
			c := w.calibrated(g)
			if c.Rule != nil || c.Recorded != test.recorded || c.Unpaid != test.left || !strings.Contains(c.Verdict, "Too few") {
				t.Errorf("calibrated: %+v", c)
			}
			if _, err := g.Store.Rule(t.Context(), "test"); !errors.Is(err, flows.ErrNotFound) {
				t.Errorf("a rule was stored: %v", err)
			}
			p := w.Doubtful(g, "drop_after")
			w.Clock.Advance(31 * time.Second)
			if p = w.Advance(g, p); p.State != flows.Recorded {
				t.Errorf("with the rule that was there: %s (%s)", p.State, p.Reason)
			}
		})
	}
}

// TestCalibrateInseparable: an unpaid payment looks recorded because its sale was later paid at the desk. No
// rule is left, not even the built-in one.
func TestCalibrateInseparable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway(gatewayOptions{Rule: simulatorsRule()})
	unpaid := w.seedPayments(g, 20, 5)
	w.PayAtDesk(unpaid[2])
	c := w.calibrated(g)
	if c.Rule != nil || !strings.Contains(c.Verdict, "Nothing separates") {
		t.Fatalf("calibrated: %+v", c)
	}
	named := false
	for _, finding := range c.Findings {
		named = named || strings.Contains(finding.Text, string(unpaid[2].ID))
	}
	if !named {
		t.Errorf("the payment that speaks against a rule is not named: %+v", c.Findings)
	}
	p := w.Doubtful(g, "drop_after")
	w.Clock.Advance(31 * time.Second)
	if p = w.Advance(g, p); p.State != flows.InDoubt {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}

// TestCalibrateSkipsUncertainOutcomes: payments with an uncertain outcome are not samples.
func TestCalibrateSkipsUncertainOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	again := w.seedPayments(g, 0, 1)[0] // the buyer then pays after all
	paid := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), again.Registration) })
	w.Confirm(paid, goodCard)
	w.Advance(g, paid)
	atDesk := w.Authorised(g)
	w.PayAtDesk(atDesk)
	w.Advance(g, atDesk)
	byPerson := w.Doubtful(g, "drop_after")
	w.confirmRecorded(g, byPerson)
	w.Advance(g, byPerson)
	if c := w.calibrated(g); c.Recorded != 1 || c.Unpaid != 0 || c.Failed != 0 {
		t.Errorf("calibrated: %+v", c)
	}
	w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
	if c := w.calibrated(g); c.Recorded != 0 || c.Failed != 1 {
		t.Errorf("calibrated while the club system is down: %+v", c)
	}
	if _, err := g.Calibrate(t.Context(), ""); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("calibrated without an operator: %v", err)
	}
}
