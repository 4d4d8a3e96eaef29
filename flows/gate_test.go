package flows_test

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
			w.log.listen(func(_ flows.PaymentID, m move) {
				if m.to == flows.Sending && w.log.counts(m) == 1 {
					w.clock.Advance(11 * time.Second)
				}
			})
		}, false, false},
		"asleep after the claim": {func(w *world) {
			w.injectFault(metadataCall, nil, func() { w.clock.Advance(11 * time.Second) })
		}, false, true},
		"asleep for a day": {func(w *world) {
			w.injectFault(metadataCall, nil, func() { w.clock.Advance(24 * time.Hour) })
		}, false, true},
		"asleep while the token is fetched": {func(w *world) {
			w.shortTokens()
			w.injectFault(metadataCall, nil, func() {
				w.clock.Advance(9 * time.Second)
				w.injectFault(call{"POST", "/sim/oauth/v2/token"}, nil, func() { w.clock.Advance(2 * time.Second) })
			})
		}, false, true},
		"slow, but not too slow": {func(w *world) {
			w.injectFault(metadataCall, nil, func() { w.clock.Advance(9 * time.Second) })
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			p := w.authorised(g)
			test.jump(w)
			p = w.advance(g, p)
			if test.open {
				if p.State != flows.Recorded || w.posted() != 1 {
					t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.posted())
				}
				return
			}
			if p.State != flows.Captured || w.posted() != 0 {
				t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.posted())
			}
			journal := w.held(p).Metadata
			if claimed := journal["fd_post_1"] != ""; claimed != test.claimed || journal["fd_release_1"] != p.AttemptID {
				t.Errorf("the claim is not given up: %v", journal)
			}
			w.expectSound(w.settle(g, p))
			if end := w.stored(g, p.ID); end.State != flows.Recorded || end.Claim != 2 || w.posted() != 1 {
				t.Errorf("%s (%s) under claim %d after %d calls", end.State, end.Reason, end.Claim, w.posted())
			}
		})
	}
}

// shortTokens gives the club system's access tokens a lifetime of a few seconds.
func (w *world) shortTokens() {
	w.Helper()
	if err := w.sim.Configure(func(s *clubsim.Settings) { s.TokenLifetime = 8 }); err != nil {
		w.Fatal(err)
	}
	w.clock.Advance(2 * time.Hour) // the cached token has the longer lifetime
}

// TestTamperedClaim: another attempt wins the claim between the gateway's read and its own claim. Nothing is sent, and the claim is
// not given up by a gateway that did not win it.
func TestTamperedClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.injectFault(metadataCall, func() {
		other := *w.stored(g, p.ID)
		other.AttemptID = "another"
		w.claim(&other)
	}, nil)
	if p = w.advance(g, p); p.State != flows.InDoubt || w.posted() != 0 {
		t.Errorf("%s (%s) after %d calls", p.State, p.Reason, w.posted())
	}
	if journal := w.held(p).Metadata; journal["fd_post_1"] != "another" || journal["fd_release_1"] != "" {
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
			g := w.gateway()
			p := w.authorised(g)
			w.fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: test.status, Times: times(test.times)})
			w.injectFault(call{"POST", "/sim/demo/sales/*/payments"}, nil, func() { w.fail(metadataCall, 1) })
			p = w.advance(g, p)
			if test.end == flows.Recorded && !p.ReleasePending {
				t.Errorf("no release is owed in %s (%s)", p.State, p.Reason)
			}
			end := w.settle(g, p)
			w.expectSound(end)
			if journal := w.held(p).Metadata; end.State != test.end || journal["fd_release_1"] != journal["fd_post_1"] {
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
	gateways := []*gateway{w.gateway(), w.gateway()}
	r := w.registered(gateways[0])
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
		if _, err := g.pay(t.Context(), r.ID); err != nil {
			t.Errorf("asking for the payment: %v", err)
		}
	})
	if held := w.heldAll(); len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	p := w.stored(gateways[0], flows.NewPaymentID(r.ID, 1))
	w.confirm(p, goodCard)
	all(func(g *gateway) {
		if _, err := g.Advance(t.Context(), p.ID); err != nil {
			t.Errorf("advance: %v", err)
		}
	})
	end := w.stored(gateways[0], p.ID)
	if end.State != flows.Recorded || w.posted() != 1 {
		t.Errorf("%s (%s) after %d calls", end.State, end.Reason, w.posted())
	}
	w.expectSound(end)
	for _, m := range w.log.movesOf(p.ID) {
		if n := w.log.counts(m); n != 1 {
			t.Errorf("%s → %s happened %d times", m.from, m.to, n)
		}
	}
}

// TestLateRefundClaim: a refund's claim is long on its way. Redis falls back meanwhile, and a gateway that cannot claim gives the number
// up, and sends under the next one. The claim arrives, and the money does not go back, because the payment may be recorded.
func TestLateRefundClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.doubtful(g, "error_before")
	w.clock.Advance(time.Hour)
	w.mustDecide(g, p, payment.Refund)
	w.injectFault(metadataCall, func() { w.note(p, "fd_release_2", "another", "fd_post_3", "the next") }, nil)
	p = w.advance(g, p)
	if held := w.held(p); p.State != flows.Blocked || held.Refunded != 0 || held.Metadata["fd_post_2"] != p.AttemptID {
		t.Errorf("%s (%s), %+v", p.State, p.Reason, held)
	}
}
