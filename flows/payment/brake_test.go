package payment_test

import (
	"sync"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// outages are the ways in which the recording route fails without saying whether it recorded.
var outages = map[string]clubsim.Fault{
	"bad gateway":       {Match: recording, Kind: "error_before", Status: 502},
	"too many requests": {Match: recording, Kind: "error_before", Status: 429},
	"a firewall's page": {Match: recording, Kind: "foreign_page"},
	"no response":       {Match: recording, Kind: "drop_after"},
}

// buyers has some buyers authorise their payments, one after the other.
func (w *testWorld) buyers(g *testGateway, number int) (payments []*flows.Payment) {
	w.Helper()
	for range number {
		p := w.Authorised(g)
		payments = append(payments, w.Advance(g, p))
	}
	return payments
}

// advanceAll advances payments, and returns them as stored afterwards.
func (w *testWorld) advanceAll(g *testGateway, payments []*flows.Payment) (stored []*flows.Payment) {
	w.Helper()
	for _, p := range payments {
		stored = append(stored, w.Advance(g, p))
	}
	return stored
}

// taken counts the payments of which the processor holds money.
func (w *testWorld) taken() (n int) {
	for _, p := range w.HeldAll() {
		if p.Captured > 0 {
			n++
		}
	}
	return n
}

// in counts the payments in a state.
func in(state flows.PaymentState, payments []*flows.Payment) (n int) {
	for _, p := range payments {
		if p.State == state {
			n++
		}
	}
	return n
}

// engaged has three buyers run into an outage, and a fourth one as the first probe.
func (w *testWorld) engaged(g *testGateway) {
	w.Helper()
	w.Fault(outages["bad gateway"])
	if doubts := in(flows.InDoubt, w.buyers(g, 4)); doubts != 4 {
		w.Fatalf("%d doubts", doubts)
	}
}

// TestBrake has twenty buyers pay while the club system records no payment. Three and a probe are charged; the
// others wait, unharmed, and are recorded once the club system records again.
func TestBrake(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			world.Fault(outage)
			payments := world.buyers(gateway, 20)
			if doubts, taken := in(flows.InDoubt, payments), world.taken(); doubts != 4 || taken != 4 || world.Posted() != 4 {
				t.Fatalf("%d doubts, money of %d payments is taken, and %d requests were sent", doubts, taken, world.Posted())
			}
			waiting := payments[4:]
			for _, p := range world.advanceAll(gateway, waiting) {
				world.expectView(p, "processing", "never")
				if p.View().Message != flows.MessagePaymentOnHold || world.Held(p).State != cards.Authorised {
					t.Errorf("%s (%s): the buyer sees %+v", p.State, p.Reason, p.View())
				}
			}
			world.Clock.Advance(61 * time.Second)
			waiting = world.advanceAll(gateway, waiting)
			if world.taken() != 5 || in(flows.Authorised, waiting) != 15 {
				t.Fatalf("after the first pause, money of %d payments is taken and %d wait", world.taken(), in(flows.Authorised, waiting))
			}
			world.Fault()
			world.Clock.Advance(2 * time.Minute)
			waiting = world.advanceAll(gateway, waiting)
			if recorded := in(flows.Recorded, waiting); recorded != 15 {
				t.Errorf("%d of 15 are recorded: %v", recorded, waiting)
			}
			for _, p := range waiting {
				world.ExpectSound(p)
			}
			if brakes := must(world, func() ([]string, error) { return world.Redis.HKeys(t.Context(), "fd:brakes").Result() }); len(brakes) != 2 {
				t.Errorf("the released brake keeps %v", brakes)
			}
		})
	}
}

// TestBrakeAmidAcceptances has an outage begin after so many payments were recorded that it takes one more to engage the brake. A
// minute later, it takes no more than usual.
func TestBrakeAmidAcceptances(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	outage := func(wanted int) {
		t.Helper()
		world.Fault(outages["bad gateway"])
		if payments := world.buyers(gateway, 20); in(flows.InDoubt, payments) != wanted || in(flows.Authorised, payments) != 20-wanted {
			t.Fatalf("%d of 20 payments are in doubt, and %d wait", in(flows.InDoubt, payments), in(flows.Authorised, payments))
		}
	}
	recorded := func(buyers int) {
		t.Helper()
		world.Fault()
		world.Clock.Advance(20 * time.Minute) // a brake that holds lets a payment probe
		for range buyers {
			if payment := world.buyers(gateway, 1); in(flows.Recorded, payment) != 1 {
				t.Fatalf("%v", payment)
			}
		}
	}
	many := (protocol.MaxUnknown + 1) * protocol.AcceptedPerUnknown
	recorded(many)
	outage(protocol.MaxUnknown + 2)
	recorded(1)
	recorded(many)
	world.Clock.Advance(time.Minute)
	outage(protocol.MaxUnknown + 1)
}

// TestBrakeOfALongOutage: while an outage lasts, few payments probe. The others are cancelled after an hour, and their
// buyers learn why.
func TestBrakeOfALongOutage(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	world.engaged(g)
	waiting := world.buyers(g, 20)
	for range 125 {
		world.Clock.Advance(30 * time.Second)
		waiting = world.advanceAll(g, waiting)
	}
	doubts, cancelled := in(flows.InDoubt, waiting), in(flows.Cancelled, waiting)
	if doubts > 7 || doubts+cancelled != 20 || world.taken() != 4+doubts {
		t.Fatalf("%d doubts, %d cancelled, and money of %d payments is taken", doubts, cancelled, world.taken())
	}
	for _, payment := range waiting {
		world.ExpectSound(payment)
		if payment.State != flows.Cancelled {
			continue
		}
		world.expectView(payment, "cancelled", "new")
		if payment.View().Message != flows.MessagePaymentNotConfirmed || world.Held(payment).State != cards.Cancelled {
			t.Errorf("the buyer of a cancelled payment sees %+v", payment.View())
		}
	}
}

// TestOneProbeAtATime has all gateways advance all waiting payments at once: one of them probes. If its gateway
// dies before it sends, another one probes when the lease is over.
func TestOneProbeAtATime(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateways := []*testGateway{world.Gateway(), world.Gateway()}
	world.engaged(gateways[0])
	waiting := world.buyers(gateways[0], 6)
	all := func() {
		var group sync.WaitGroup
		for _, g := range gateways {
			for _, p := range waiting {
				group.Go(func() { _, _ = g.Advance(t.Context(), p.ID) })
			}
		}
		group.Wait()
	}
	world.Clock.Advance(61 * time.Second)
	all()
	if world.taken() != 5 {
		t.Fatalf("money of %d payments is taken", world.taken())
	}
	world.Fault()
	world.Clock.Advance(2 * time.Minute)
	world.FailCalls(captureCall, 100)
	all() // the probe is stuck before its capture
	world.Inject(callFault{})
	probe := must(world, func() (string, error) { return world.Redis.HGet(t.Context(), "fd:brakes", "demo probe").Result() })
	for _, p := range waiting {
		if string(p.ID) != probe && world.taken() == 5 {
			world.Advance(gateways[1], p)
		}
	}
	if world.taken() != 5 {
		t.Fatal("another payment probes as well")
	}
	world.Clock.Advance(121 * time.Second)
	for _, p := range waiting {
		if string(p.ID) != probe {
			world.Advance(gateways[1], p)
		}
	}
	for _, p := range world.advanceAll(gateways[0], waiting) {
		if p.State != flows.Recorded && p.State != flows.InDoubt {
			t.Errorf("%s (%s)", p.State, p.Reason)
		}
		world.ExpectSound(p)
	}
}

// TestBrakeHoldsCapturedPayments: a payment whose money was taken before the brake is not sent into the outage with
// all others. It probes in its turn, and is sent after half an hour at the latest.
func TestBrakeHoldsCapturedPayments(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401})
	var captured []*flows.Payment
	for range 5 {
		captured = append(captured, world.buyers(gateway, 1)...)
		world.ForgetKeys("fd:brakes") // as if others were recorded in between
	}
	if in(flows.Captured, captured) != 5 {
		t.Fatalf("%v", captured)
	}
	world.engaged(gateway)
	sent := world.Posted()
	world.Clock.Advance(16 * time.Second) // the pause before their next claim
	captured = world.advanceAll(gateway, captured)
	if world.Posted() != sent || in(flows.Captured, captured) != 5 {
		t.Fatalf("%d requests were sent into the outage", world.Posted()-sent)
	}
	world.Clock.Advance(45 * time.Second)
	if captured = world.advanceAll(gateway, captured); world.Posted() != sent+1 || in(flows.InDoubt, captured) != 1 {
		t.Fatalf("%d requests instead of a probe", world.Posted()-sent)
	}
	world.Clock.Advance(29 * time.Minute)
	if captured = world.advanceAll(gateway, captured); in(flows.InDoubt, captured) != 5 {
		t.Errorf("after half an hour %d are in doubt", in(flows.InDoubt, captured))
	}
	for _, p := range captured {
		world.ExpectSound(p)
	}
}

// TestBrakeIsLost: the brake of a Redis that lost everything is released. At most three more payments are in doubt.
func TestBrakeIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.engaged(g)
	w.Redis.Del(t.Context(), "fd:brakes")
	if doubts := in(flows.InDoubt, w.buyers(g, 6)); doubts != 4 {
		t.Errorf("%d more doubts", doubts)
	}
}

// TestStuckProbe: the processor does not capture the probe. Its lease ends, and another payment probes and releases the brake.
func TestStuckProbe(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.engaged(gateway)
	world.Fault()
	waiting := world.buyers(gateway, 4)
	world.Clock.Advance(61 * time.Second)
	world.FailCalls(captureCall.Of(waiting[0]), 1000)
	for range 40 {
		waiting = world.advanceAll(gateway, waiting)
		world.Clock.Advance(15 * time.Second)
	}
	if recorded := in(flows.Recorded, waiting); recorded != 3 {
		t.Errorf("%d of the 3 others are recorded", recorded)
	}
}
