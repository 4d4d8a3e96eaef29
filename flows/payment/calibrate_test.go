package payment_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// seedPayments makes finished payments: recorded ones, and unpaid ones that were cancelled.
func (w *testWorld) seedPayments(gateway *testGateway, recorded, left int) (unpaid []*flows.Payment) {
	w.Helper()
	for range recorded {
		if p := w.Advance(gateway, w.Authorised(gateway)); p.State != flows.Recorded {
			w.Fatalf("%s (%s)", p.State, p.Reason)
		}
	}
	for range left {
		payment := w.Authorised(gateway)
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"}, Kind: "error_before", Status: 400, Times: new(1)})
		if payment = w.Advance(gateway, payment); payment.State != flows.Cancelled {
			w.Fatalf("%s (%s)", payment.State, payment.Reason)
		}
		w.Fault()
		unpaid = append(unpaid, payment)
	}
	return unpaid
}

func (w *testWorld) calibrated(g *testGateway) payment.Calibration {
	w.Helper()
	return must(w, func() (payment.Calibration, error) { return g.Calibrate(w.Context(), "ada") })
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.seedPayments(gateway, 20, 5)
	calibration := world.calibrated(gateway)
	if calibration.Rule == nil || calibration.Recorded != 20 || calibration.Unpaid != 5 || len(calibration.Findings) != 6 ||
		!strings.Contains(calibration.Verdict, "sale_state went from building to settled") {
		t.Fatalf("calibrated: %+v", calibration)
	}
	for _, finding := range calibration.Findings {
		tells := []flows.Signal{flows.SignalSaleState, flows.SignalInvoice, flows.SignalContactStatus}
		if finding.Discriminates != slices.Contains(tells, finding.Signal) {
			t.Errorf("%+v", finding)
		}
	}
	for _, condition := range calibration.Rule.Conditions {
		if condition.Signal == flows.SignalContactStatus {
			t.Error("the rule asks for the contact although the sale tells")
		}
	}
	// Another gateway, configured without a rule, uses the new one from now on.
	other := world.Gateway()
	p := world.Doubtful(other, "drop_after")
	world.Clock.Advance(31 * time.Second)
	if p = world.Advance(other, p); p.State != flows.Recorded {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
	// Payments that a rule decided are not used for calibration.
	if again := world.calibrated(gateway); again.Recorded != 20 {
		t.Errorf("%d recorded payments", again.Recorded)
	}
	if entries := world.Redis.XLen(t.Context(), "fd:audit").Val(); entries != 2 {
		t.Errorf("%d entries in the audit stream", entries)
	}
	if value := world.Redis.Get(t.Context(), "fd:rule:test").Val(); value == "" || strings.Contains(value, "sale_state") {
		t.Errorf("the rule is kept as %q", value)
	}
}

func TestCalibrateWithoutStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Mute = true
	g := w.Gateway()
	w.seedPayments(g, 20, 5)
	calibration := w.calibrated(g)
	if calibration.Rule == nil {
		t.Fatalf("calibrated: %+v", calibration)
	}
	for _, condition := range calibration.Rule.Conditions {
		if condition.Signal == flows.SignalSaleState {
			t.Errorf("the rule depends on a signal that the club system does not send: %+v", calibration.Rule)
		}
	}
	for _, finding := range calibration.Findings {
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
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{Rule: simulatorsRule()})
			world.seedPayments(gateway, test.recorded, test.left)
			c := world.calibrated(gateway)
			if c.Rule != nil || c.Recorded != test.recorded || c.Unpaid != test.left || !strings.Contains(c.Verdict, "Too few") {
				t.Errorf("calibrated: %+v", c)
			}
			if _, err := gateway.Store.Rule(t.Context(), "test"); !errors.Is(err, flows.ErrNotFound) {
				t.Errorf("a rule was stored: %v", err)
			}
			p := world.Doubtful(gateway, "drop_after")
			world.Clock.Advance(31 * time.Second)
			if p = world.Advance(gateway, p); p.State != flows.Recorded {
				t.Errorf("with the rule that was there: %s (%s)", p.State, p.Reason)
			}
		})
	}
}

// TestCalibrateInseparable: an unpaid payment looks recorded because its sale was later paid at the desk. No
// rule is left, not even the built-in one.
func TestCalibrateInseparable(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{Rule: simulatorsRule()})
	unpaid := world.seedPayments(gateway, 20, 5)
	world.PayAtDesk(unpaid[2])
	calibration := world.calibrated(gateway)
	if calibration.Rule != nil || !strings.Contains(calibration.Verdict, "Nothing separates") {
		t.Fatalf("calibrated: %+v", calibration)
	}
	named := false
	for _, finding := range calibration.Findings {
		named = named || strings.Contains(finding.Text, string(unpaid[2].ID))
	}
	if !named {
		t.Errorf("the payment that speaks against a rule is not named: %+v", calibration.Findings)
	}
	p := world.Doubtful(gateway, "drop_after")
	world.Clock.Advance(31 * time.Second)
	if p = world.Advance(gateway, p); p.State != flows.InDoubt {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}

// TestCalibrateSkipsUncertainOutcomes: payments with an uncertain outcome are not samples.
func TestCalibrateSkipsUncertainOutcomes(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	again := world.seedPayments(gateway, 0, 1)[0] // the buyer then pays after all
	paid := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), again.Registration) })
	world.Confirm(paid, goodCard)
	world.Advance(gateway, paid)
	atDesk := world.Authorised(gateway)
	world.PayAtDesk(atDesk)
	world.Advance(gateway, atDesk)
	byPerson := world.Doubtful(gateway, "drop_after")
	world.confirmRecorded(gateway, byPerson)
	world.Advance(gateway, byPerson)
	if c := world.calibrated(gateway); c.Recorded != 1 || c.Unpaid != 0 || c.Failed != 0 {
		t.Errorf("calibrated: %+v", c)
	}
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
	if c := world.calibrated(gateway); c.Recorded != 0 || c.Failed != 1 {
		t.Errorf("calibrated while the club system is down: %+v", c)
	}
	if _, err := gateway.Calibrate(t.Context(), ""); flows.CodeOf(err) != flows.InvalidRequest {
		t.Errorf("calibrated without an operator: %v", err)
	}
}
