package payment_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// foreignKinds are the successes of something in front of the club system that are recognised by their body.
var foreignKinds = []string{"foreign_page", "foreign_json"}

// TestForeignSuccessRecordsNothing: the success of something in front of the club system leaves a payment in doubt,
// whatever its method, and is followed by no second request.
func TestForeignSuccessRecordsNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range foreignKinds {
		t.Run("card "+kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			w.Fault(clubsim.Fault{Match: recording, Kind: kind, Times: new(1)})
			p = w.Advance(g, p)
			if p.State != flows.InDoubt || len(w.Sim.Ledger()) != 0 || w.Sim.Faults()[0].Hits != 1 {
				t.Errorf("%s (%s), ledger %+v", p.State, p.Reason, w.Sim.Ledger())
			}
			w.expectView(p, "in_doubt", "never")
			if !strings.Contains(p.Reason, ", status 200") {
				t.Errorf("operators read %q, and not what came back", p.Reason)
			}
			w.Clock.Advance(25 * time.Hour)
			if p = w.Settle(g, p); p.State != flows.InDoubt || len(w.Sim.Ledger()) != 0 {
				t.Errorf("a day later: %s (%s), ledger %+v", p.State, p.Reason, w.Sim.Ledger())
			}
		})
		for _, method := range withoutProcessor {
			t.Run(string(method)+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				how := w.settlementCases()[method]
				w.Fault(clubsim.Fault{Match: how.request(), Kind: kind, Times: new(1)})
				p := must(t, func() (*flows.Payment, error) { return w.settles(w.Gateway(), method) })
				if p.State != flows.InDoubt || w.sent(how) != 1 {
					t.Errorf("%s (%s) after %d requests", p.State, p.Reason, w.sent(how))
				}
			})
		}
	}
}

// TestForeignCheckIsNoValidity: the success of something else makes no cart valid, neither to pay nor to capture.
func TestForeignCheckIsNoValidity(t *testing.T) {
	t.Parallel()
	for _, kind := range append(foreignKinds, "empty_success") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			w.Clock.Advance(2 * time.Minute) // the last reading of the sale has expired
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"}, Kind: kind})
			if p = w.Advance(g, p); p.State != flows.Cancelled {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			r := w.Registered(g)
			if _, err := g.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ClubSystemFailed {
				t.Errorf("a payment is requested: %v", err)
			}
			if held := w.HeldAll(); len(held) != 1 || held[0].Captured != 0 {
				t.Errorf("the processor holds %+v", held)
			}
		})
	}
}

// TestQuota: a payment that a quota of the API gateway refuses is recorded once after the quota's reset. It is not in doubt, and
// the reason names the quota.
func TestQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.Fault(clubsim.Fault{Match: recording, Kind: "too_many", Limit: "quota", DelayMs: 90_000})
	p = w.Advance(g, p)
	wait := p.NotBefore.Sub(w.Clock.Now()).Round(time.Second)
	if p.State != flows.Captured || !strings.Contains(p.Reason, "quota") || wait != 90*time.Second {
		t.Fatalf("%s (%s), to wait %s", p.State, p.Reason, wait)
	}
	w.expectView(p, "processing", "never")
	w.Clock.Advance(80 * time.Second)
	if p = w.Advance(g, p); p.State != flows.Captured || w.Sim.Faults()[0].Hits != 1 {
		t.Errorf("before the reset: %s (%s), %d requests", p.State, p.Reason, w.Sim.Faults()[0].Hits)
	}
	w.Fault()
	w.Clock.Advance(11 * time.Second)
	p = w.Settle(g, p)
	w.ExpectSound(p)
	if p.State != flows.Recorded || p.Claim != 2 || len(w.Sim.Ledger()) != 1 {
		t.Errorf("%s (%s), claim %d, ledger %+v", p.State, p.Reason, p.Claim, w.Sim.Ledger())
	}
}

// TestSpikeArrest: a limit that ends at once delays the recording by as much, within the same claim.
func TestSpikeArrest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.Fault(clubsim.Fault{Match: recording, Kind: "too_many", Limit: "spike_arrest", DelayMs: 100, Times: new(1)})
	p = w.Advance(g, p)
	w.ExpectSound(p)
	if p.State != flows.Recorded || p.Claim != 1 || len(w.Sim.Ledger()) != 1 {
		t.Errorf("%s (%s), claim %d, ledger %+v", p.State, p.Reason, p.Claim, w.Sim.Ledger())
	}
}

// TestRaisedQuota: a quota of calls is used up for the day, and the provider raises it after three hours. The payment, by card or at
// the desk, is recorded once another one is.
func TestRaisedQuota(t *testing.T) {
	t.Parallel()
	for _, method := range []flows.Method{flows.ByCard, flows.InPerson} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			w.Fault(clubsim.Fault{Match: recording, Kind: "too_many", Limit: "quota", DelayMs: int((24 * time.Hour).Milliseconds())})
			var p *flows.Payment
			if method == flows.ByCard {
				p = w.buyers(g, 1)[0]
			} else {
				p = must(t, func() (*flows.Payment, error) { return w.settles(g, method) })
			}
			for range 18 {
				w.Clock.Advance(10 * time.Minute)
				p = w.Advance(g, p)
			}
			if p.Claim != 1 || p.State.Final() {
				t.Errorf("while the quota lasts: %s (%s), %d claims", p.State, p.Reason, p.Claim)
			}
			w.Fault()
			w.buyers(g, 1)
			w.Clock.Advance(11 * time.Minute)
			if p = w.Advance(g, p); p.State != flows.Recorded || p.Claim != 2 {
				t.Errorf("%s (%s), %d claims", p.State, p.Reason, p.Claim)
			}
			if method == flows.ByCard {
				w.ExpectSound(p)
			} else {
				w.expectSettled(p)
			}
		})
	}
}
