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
		jump    func(w *testWorld) // makes the clock jump
		open    bool               // the POST may be sent
		claimed bool               // the claim was won before the jump
	}{
		"asleep before the claim": {func(w *testWorld) {
			w.Journal.Listen(func(_ flows.PaymentID, m move) {
				if m.To == flows.Sending && w.Journal.Counts(m) == 1 {
					w.Clock.Advance(11 * time.Second)
				}
			})
		}, false, false},
		"asleep after the claim": {func(w *testWorld) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(11 * time.Second) })
		}, false, true},
		"asleep for a day": {func(w *testWorld) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(24 * time.Hour) })
		}, false, true},
		"asleep while the token is fetched": {func(w *testWorld) {
			w.shortTokens()
			w.InjectFault(metadataCall, nil, func() {
				w.Clock.Advance(9 * time.Second)
				w.InjectFault("POST /sim/oauth/v2/token", nil, func() { w.Clock.Advance(2 * time.Second) })
			})
		}, false, true},
		"slow, but not too slow": {func(w *testWorld) {
			w.InjectFault(metadataCall, nil, func() { w.Clock.Advance(9 * time.Second) })
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			test.jump(world)
			payment = world.Advance(gateway, payment)
			if test.open {
				if payment.State != flows.Recorded || world.Posted() != 1 {
					t.Errorf("%s (%s) after %d calls", payment.State, payment.Reason, world.Posted())
				}
				return
			}
			if payment.State != flows.Captured || world.Posted() != 0 {
				t.Errorf("%s (%s) after %d calls", payment.State, payment.Reason, world.Posted())
			}
			journal := world.Held(payment).Metadata
			if claimed := journal["fd_post_1"] != ""; claimed != test.claimed || journal["fd_release_1"] != payment.AttemptID {
				t.Errorf("the claim is not given up: %v", journal)
			}
			world.ExpectSound(world.Settle(gateway, payment))
			if end := world.Stored(gateway, payment.ID); end.State != flows.Recorded || end.Claim != 2 || world.Posted() != 1 {
				t.Errorf("%s (%s) under claim %d after %d calls", end.State, end.Reason, end.Claim, world.Posted())
			}
		})
	}
}

// shortTokens gives the club system's access tokens a lifetime of a few seconds.
func (w *testWorld) shortTokens() {
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
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.InjectFault(metadataCall, func() {
		other := *world.Stored(gateway, payment.ID)
		other.AttemptID = "another"
		world.claim(&other)
	}, nil)
	if payment = world.Advance(gateway, payment); payment.State != flows.InDoubt || world.Posted() != 0 {
		t.Errorf("%s (%s) after %d calls", payment.State, payment.Reason, world.Posted())
	}
	if journal := world.Held(payment).Metadata; journal["fd_post_1"] != "another" || journal["fd_release_1"] != "" {
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
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: test.status, Times: new(test.times)})
			world.InjectFault("POST /sim/demo/sales/*/payments", nil, func() { world.FailCalls(metadataCall, 1) })
			payment = world.Advance(gateway, payment)
			if test.end == flows.Recorded && !payment.ReleasePending {
				t.Errorf("no release is owed in %s (%s)", payment.State, payment.Reason)
			}
			end := world.Settle(gateway, payment)
			world.ExpectSound(end)
			if journal := world.Held(payment).Metadata; end.State != test.end || journal["fd_release_1"] != journal["fd_post_1"] {
				t.Errorf("%s (%s) with the journal %v", end.State, end.Reason, journal)
			}
		})
	}
}

// TestConcurrentAdvance has the visitor, the webhooks and the sweepers of two gateways advance a payment at
// once.
func TestConcurrentAdvance(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateways := []*testGateway{world.Gateway(), world.Gateway()}
	registration := world.Registered(gateways[0])
	const callers = 12
	all := func(look func(*testGateway)) {
		var group sync.WaitGroup
		for range callers {
			for _, g := range gateways {
				group.Go(func() { look(g) })
			}
		}
		group.Wait()
	}
	all(func(g *testGateway) {
		if _, err := g.Pay(t.Context(), registration.ID); err != nil {
			t.Errorf("asking for the payment: %v", err)
		}
	})
	if held := world.HeldAll(); len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	payment := world.Stored(gateways[0], flows.NewPaymentID(registration.ID, 1))
	world.Confirm(payment, goodCard)
	all(func(g *testGateway) {
		if _, err := g.Advance(t.Context(), payment.ID); err != nil {
			t.Errorf("advance: %v", err)
		}
	})
	end := world.Stored(gateways[0], payment.ID)
	if end.State != flows.Recorded || world.Posted() != 1 {
		t.Errorf("%s (%s) after %d calls", end.State, end.Reason, world.Posted())
	}
	world.ExpectSound(end)
	for _, m := range world.Journal.MovesOf(payment.ID) {
		if n := world.Journal.Counts(m); n != 1 {
			t.Errorf("%s → %s happened %d times", m.From, m.To, n)
		}
	}
}

// TestLateRefundClaim: a refund's claim is long on its way. Redis falls back meanwhile, and a gateway that cannot claim gives the number
// up, and sends under the next one. The claim arrives, and the money does not go back, because the payment may be recorded.
func TestLateRefundClaim(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	paid := world.Doubtful(g, "error_before")
	world.Clock.Advance(time.Hour)
	world.mustDecide(g, paid, payment.Refund)
	world.InjectFault(metadataCall, func() { world.note(paid, "fd_release_2", "another", "fd_post_3", "the next") }, nil)
	paid = world.Advance(g, paid)
	if held := world.Held(paid); paid.State != flows.Blocked || held.Refunded != 0 || held.Metadata["fd_post_2"] != paid.AttemptID {
		t.Errorf("%s (%s), %+v", paid.State, paid.Reason, held)
	}
}
