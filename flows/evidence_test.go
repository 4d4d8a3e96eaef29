package flows_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// simulatorsRule recognises a paid sale of the simulator.
func simulatorsRule() *flows.Rule {
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "building", After: "settled"}}}
}

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
	g := w.gateway()
	p := w.advance(g, w.authorised(g))
	seen := p.Snapshot
	if seen == nil || !seen.At.Equal(w.clock.Now()) {
		t.Fatalf("the snapshot is %+v", seen)
	}
	if known(t, "the state", seen.SaleState) != "building" || known(t, "the total", seen.Total) != p.Amount || !known(t, "the check", seen.Valid) ||
		known(t, "the status", seen.ContactStatus) != "temp" || known(t, "the debt", seen.Debt) != 0 {
		t.Errorf("the snapshot is %+v", seen)
	}
	if p.Contact != "" || p.Payer != nil {
		t.Errorf("of a payment that ended, %s is kept", p.Contact)
	}
}

// TestSnapshotIsOptional: apart from the sale, no read of the snapshot keeps a payment from being captured
// and recorded, however it fails.
func TestSnapshotIsOptional(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]clubsim.Fault{
		"refused": {Kind: "error_before", Status: 403}, "down": {Kind: "error_before", Status: 503}, "silent": {Kind: "hang"}, "garbage": {Kind: "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := w.authorised(g)
			status, debt := fault, fault
			status.Match = clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}
			debt.Match = clubsim.FaultMatch{Method: "GET", Path: "/stats/accounts/contacts/*"}
			w.fault(status, debt)
			end := w.advance(g, p)
			if end.State != flows.Recorded || end.Snapshot == nil || end.Snapshot.ContactStatus != nil || end.Snapshot.Debt != nil {
				t.Errorf("%s (%s) with snapshot %+v", end.State, end.Reason, end.Snapshot)
			}
			for _, f := range w.sim.Faults() {
				if f.Hits == 0 {
					t.Errorf("%s did not happen", f.Match.Path)
				}
			}
		})
	}
}

// TestEvidenceOnSchedule polls a doubt every ten seconds for more than a day.
func TestEvidenceOnSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.doubtful(g, "error_before")
	since := w.clock.Now()
	for w.clock.Now().Sub(since) < 26*time.Hour {
		step := 10 * time.Second
		if w.clock.Now().Sub(since) > 20*time.Minute {
			step = 10 * time.Minute
		}
		w.clock.Advance(step)
		p = w.advance(g, p)
	}
	want := []time.Duration{30 * time.Second, 2 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
	if len(p.Readings) != len(want) || p.State != flows.InDoubt || !p.DoubtSince.Equal(since) || !p.UpdatedAt.Equal(since) {
		t.Fatalf("%s since %s with %d readings", p.State, p.DoubtSince, len(p.Readings))
	}
	for i, reading := range p.Readings {
		if late := reading.At.Sub(since.Add(want[i])); late < 0 || late >= 10*time.Minute || late >= 10*time.Second && want[i] < 20*time.Minute {
			t.Errorf("reading %d is %s after it was due", i+1, late)
		}
		if known(t, "the state", reading.SaleState) != "building" || known(t, "the status", reading.ContactStatus) != "temp" {
			t.Errorf("reading %d: %+v", i+1, reading)
		}
	}
	if len(p.History) != 7 || p.History[0].State != flows.Priced || p.History[6].State != flows.InDoubt {
		t.Errorf("the history is %+v", p.History)
	}
}

// TestEvidenceThatCannotBeRead: a failed reading is noted and retried. Once it succeeds it is too late for the
// rule to decide, because staff may have settled the sale meanwhile. Operators see what the rule says.
func TestEvidenceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway(gatewayOptions{rule: simulatorsRule()})
	p := w.doubtful(g, "drop_after")
	w.fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
	w.clock.Advance(31 * time.Second)
	for range 3 {
		p = w.advance(g, p)
		w.clock.Advance(2 * time.Minute)
	}
	if len(p.Readings) != 1 || p.Readings[0].Failures != 3 || p.Readings[0].SaleState != nil {
		t.Fatalf("the readings are %+v", p.Readings)
	}
	w.fault()
	p = w.advance(g, p)
	if p.State != flows.InDoubt || len(p.Readings) != 2 || p.Readings[0].Failures != 3 {
		t.Errorf("%s (%s) with readings %+v", p.State, p.Reason, p.Readings)
	}
	if advice := strings.Join(w.shown(g, p).Advice, " "); !strings.Contains(advice, "too long after the attempt") {
		t.Errorf("operators are advised: %s", advice)
	}
	w.expectSound(p)
}

// TestGatewaysWereDown: of the readings that were missed, one is taken.
func TestGatewaysWereDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.doubtful(g, "error_before")
	w.clock.Advance(2 * time.Hour)
	w.advance(g, p)
	if p = w.advance(g, p); len(p.Readings) != 1 {
		t.Errorf("%d readings at once", len(p.Readings))
	}
	w.clock.Advance(4*time.Hour + time.Second)
	if p = w.advance(g, p); len(p.Readings) != 2 {
		t.Errorf("%d readings after six hours", len(p.Readings))
	}
}

// TestRule: a rule concludes that a payment was recorded, or concludes nothing.
func TestRule(t *testing.T) {
	t.Parallel()
	tells := simulatorsRule()
	for name, test := range map[string]struct {
		kind  string
		rule  *flows.Rule
		bring func(*world, *gateway, *flows.Payment)
		end   flows.PaymentState
	}{
		"recorded":           {"drop_after", tells, nil, flows.Recorded},
		"not recorded":       {"error_before", tells, nil, flows.InDoubt},
		"no rule":            {"drop_after", nil, nil, flows.InDoubt},
		"a rule of nothing":  {"drop_after", &flows.Rule{}, nil, flows.InDoubt},
		"half of two":        {"drop_after", &flows.Rule{Conditions: append([]flows.Condition{{Signal: flows.SignalDebt, Before: "nothing", After: "the amount"}}, tells.Conditions...)}, nil, flows.InDoubt},
		"another before":     {"drop_after", &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "open", After: "settled"}}}, nil, flows.InDoubt},
		"a refund was begun": {"drop_after", tells, refundBegan, flows.Blocked},
		"money went back":    {"drop_after", tells, func(w *world, _ *gateway, p *flows.Payment) { w.refundAtProcessor(p, 1) }, flows.InDoubt},
		"the snapshot is lost": {"drop_after", tells, func(w *world, g *gateway, p *flows.Payment) {
			w.put(g, p.ID, flows.InDoubt, func(next *flows.Payment) { next.Snapshot = nil })
		}, flows.InDoubt},
		"the sale tells no more": {"drop_after", tells, func(w *world, _ *gateway, _ *flows.Payment) { w.mute = true }, flows.InDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway(gatewayOptions{rule: test.rule})
			p := w.doubtful(g, test.kind)
			if test.bring != nil {
				test.bring(w, g, p)
			}
			for _, pause := range []time.Duration{31 * time.Second, 31 * time.Minute, 31 * time.Minute} {
				w.clock.Advance(pause)
				p = w.advance(g, p)
			}
			if p.State != test.end || p.State == flows.Recorded && !strings.Contains(p.Reason, "sale_state went from building to settled") {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			if journalled := w.held(p).Metadata["fd_done_1"] != ""; journalled != (test.end == flows.Recorded) {
				t.Errorf("journalled: %t", journalled)
			}
		})
	}
}
