package flows_test

import (
	"sync"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// TestWriteGate lets time jump between the wish to record and the first byte of
// the POST, as it does for a process that was asleep: after more than ten
// seconds nothing may be sent, and the claim is given up for a later one.
func TestWriteGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jump    func(w *world) // puts a jump in the way
		open    bool           // the POST may leave
		claimed bool           // the claim was won before
	}{
		"asleep before the claim": {func(w *world) {
			w.log.listen(func(_ flows.PaymentID, m move) {
				if m.to == flows.Sending && w.log.counts(m) == 1 {
					w.clock.Advance(11 * time.Second)
				}
			})
		}, false, false},
		"asleep after the claim": {func(w *world) {
			w.meddle("POST", "/sandbox/payments/*/metadata", nil, func() { w.clock.Advance(11 * time.Second) })
		}, false, true},
		"asleep for a day": {func(w *world) {
			w.meddle("POST", "/sandbox/payments/*/metadata", nil, func() { w.clock.Advance(24 * time.Hour) })
		}, false, true},
		"asleep while the token is fetched": {func(w *world) {
			w.shortTokens()
			w.meddle("POST", "/sandbox/payments/*/metadata", nil, func() {
				w.clock.Advance(9 * time.Second)
				w.meddle("POST", "/sim/oauth/v2/token", nil, func() { w.clock.Advance(2 * time.Second) })
			})
		}, false, true},
		"slow, but not too slow": {func(w *world) {
			w.meddle("POST", "/sandbox/payments/*/metadata", nil, func() { w.clock.Advance(9 * time.Second) })
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
			if claimed := journal["fd_post_1"] != ""; claimed != test.claimed || journal["fd_release_1"] != p.PostID {
				t.Errorf("the claim is not given up: %v", journal)
			}
			w.expectSound(w.settle(g, p))
			if end := w.stored(g, p.ID); end.State != flows.Recorded || end.Claim != 2 || w.posted() != 1 {
				t.Errorf("%s (%s) under claim %d after %d calls", end.State, end.Reason, end.Claim, w.posted())
			}
		})
	}
}

// shortTokens makes the club system's access tokens live for a few seconds.
func (w *world) shortTokens() {
	w.Helper()
	if err := w.sim.Configure(func(s *clubsim.Settings) { s.TokenLifetime = 8 }); err != nil {
		w.Fatal(err)
	}
	w.clock.Advance(2 * time.Hour) // the token in hand is of the other kind
}

// TestEverybodyLooks has the visitor, the webhooks and the sweepers of two
// gateways look at a payment at once.
func TestEverybodyLooks(t *testing.T) {
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
	if held := w.sandbox.Payments(); len(held) != 1 {
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
