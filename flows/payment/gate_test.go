package payment_test

import (
	"sync"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// TestWriteGate advances the clock between the decision to record and the first byte of the POST, as for a
// process that was asleep. After more than ten seconds nothing may be sent, and the claim is released for a
// later one.
func TestWriteGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jump    func(w *world) // makes the clock jump
		open    bool           // the POST may be sent
		claimed bool           // the claim was won before the jump
	}{
		"asleep before the claim": {func(w *world) {
			w.Journal.Listen(func(_ flows.PaymentID, m move) {
				if m.To == flows.Sending && w.Journal.Counts(m) == 1 {
					w.Clock.Advance(11 * time.Second)
				}
			})
		}, false, false},
		"asleep after the claim": {func(w *world) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(11 * time.Second) })
		}, false, true},
		"asleep for a day": {func(w *world) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(24 * time.Hour) })
		}, false, true},
		"asleep while the token is fetched": {func(w *world) {
			w.shortTokens()
			w.InjectFault(metadataCall, nil, func() {
				w.Clock.Advance(9 * time.Second)
				w.InjectFault("POST /sim/oauth/v2/token", nil, func() { w.Clock.Advance(2 * time.Second) })
			})
		}, false, true},
		"slow, but not too slow": {func(w *world) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(9 * time.Second) })
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			test.jump(w)
			p = w.Advance(g, p)
			if test.open {
				if p.State != flows.Recorded || w.Posted() != 1 {
					t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.Posted())
				}
				return
			}
			if p.State != flows.Captured || w.Posted() != 0 {
				t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.Posted())
			}
			journal := w.Held(p).Metadata
			if claimed := journal["fd_post_1"] != ""; claimed != test.claimed || journal["fd_release_1"] != p.AttemptID {
				t.Errorf("the claim is not given up: %v", journal)
			}
			w.ExpectSound(w.Settle(g, p))
			if end := w.Stored(g, p.ID); end.State != flows.Recorded || end.Claim != 2 || w.Posted() != 1 {
				t.Errorf("%s (%s) under claim %d after %d calls", end.State, end.Reason, end.Claim, w.Posted())
			}
		})
	}
}

// shortTokens gives the club system's access tokens a lifetime of a few seconds.
func (w *world) shortTokens() {
	w.Helper()
	if err := w.Sim.Configure(func(s *clubsim.Settings) { s.TokenLifetime = 8 }); err != nil {
		w.Fatal(err)
	}
	w.Clock.Advance(2 * time.Hour) // the cached token has the longer lifetime
}

// TestTamperedClaim: another attempt wins the claim between the gateway's read and its own claim. Nothing is sent, and the claim is
// not given up by a gateway that did not win it.
func TestTamperedClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.InjectFault(metadataCall, func() {
		other := *w.Stored(g, p.ID)
		other.AttemptID = "another"
		w.claim(&other)
	}, nil)
	if p = w.Advance(g, p); p.State != flows.InDoubt || w.Posted() != 0 {
		t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.Posted())
	}
	if journal := w.Held(p).Metadata; journal["fd_post_1"] != "another" || journal["fd_release_1"] != "" {
		t.Errorf("the journal is %v", journal)
	}
}

// TestReleaseIsOwed: a release that cannot be written with its outcome is written before the next claim and
// before a refund.
func TestReleaseIsOwed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status, times int
		end           flows.PaymentState
	}{"then recorded": {401, 2, flows.Recorded}, "then refunded": {422, 1, flows.Refunded}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: test.status, Times: new(test.times)})
			w.InjectFault("POST /sim/demo/sales/*/payments", nil, func() { w.FailCalls(metadataCall, 1) })
			p = w.Advance(g, p)
			if test.end == flows.Recorded && !p.ReleasePending {
				t.Errorf("no release is owed in %s (%s)", p.State, p.Reason)
			}
			end := w.Settle(g, p)
			w.ExpectSound(end)
			if journal := w.Held(p).Metadata; end.State != test.end || journal["fd_release_1"] != journal["fd_post_1"] {
				t.Errorf("%s (%s) with the journal %v", end.State, end.Reason, journal)
			}
		})
	}
}

// TestConcurrentAdvance has the visitor, the webhooks and the sweepers of two gateways advance a payment at
// once.
func TestConcurrentAdvance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateways := []*gateway{w.Gateway(), w.Gateway()}
	r := w.Registered(gateways[0])
	const callers = 12
	all := func(look func(*gateway)) {
		var group sync.WaitGroup
		for range callers {
			for _, g := range gateways {
				group.Go(func() { look(g) })
			}
		}
		group.Wait()
	}
	all(func(g *gateway) {
		if _, err := g.Pay(t.Context(), r.ID); err != nil {
			t.Errorf("asking for the payment: %v", err)
		}
	})
	if held := w.HeldAll(); len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	p := w.Stored(gateways[0], flows.NewPaymentID(r.ID, 1))
	w.Confirm(p, goodCard)
	all(func(g *gateway) {
		if _, err := g.Advance(t.Context(), p.ID); err != nil {
			t.Errorf("advance: %v", err)
		}
	})
	end := w.Stored(gateways[0], p.ID)
	if end.State != flows.Recorded || w.Posted() != 1 {
		t.Errorf("%s (%s) after %d calls", end.State, end.Reason, w.Posted())
	}
	w.ExpectSound(end)
	for _, m := range w.Journal.MovesOf(p.ID) {
		if n := w.Journal.Counts(m); n != 1 {
			t.Errorf("%s → %s happened %d times", m.From, m.To, n)
		}
	}
}

// TestLateRefundClaim: a refund's claim is long on its way. Redis falls back meanwhile, and a gateway that cannot claim gives the number
// up, and sends under the next one. The claim arrives, and the money does not go back, because the payment may be recorded.
func TestLateRefundClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Doubtful(g, "error_before")
	w.Clock.Advance(time.Hour)
	w.mustDecide(g, p, payment.Refund)
	w.InjectFault(metadataCall, func() { w.note(p, "fd_release_2", "another", "fd_post_3", "the next") }, nil)
	p = w.Advance(g, p)
	if held := w.Held(p); p.State != flows.Blocked || held.Refunded != 0 || held.Metadata["fd_post_2"] != p.AttemptID {
		t.Errorf("%s (%s), %+v", p.State, p.Reason, held)
	}
}
