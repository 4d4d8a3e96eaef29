package background_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// worker runs a gateway's background work until the test ends. Each value sent to the returned channel starts
// the next sweep.
func (w *world) worker(g *gateway) chan<- time.Time {
	w.Helper()
	return w.RunBackground(w.Background(g))
}

func (w *world) awaitState(g *gateway, id flows.PaymentID, state flows.PaymentState) {
	w.Helper()
	frontdesktest.Eventually(w, string(state), func() bool { return w.Stored(g, id).State == state })
}

// TestNoIdleWorker: a payment is woken in a process without an idle worker. It is not in progress there, and another gateway
// takes it before all others.
func TestNoIdleWorker(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g, other := world.Gateway(), world.Gateway()
	world.Started(g)
	payment := world.Authorised(g)
	world.Clock.Advance(time.Minute) // both are due
	world.Handle(g, event(payment))
	if n := g.Queue.InProgress(); n != 0 || fmt.Sprint(world.Woken()) != fmt.Sprintf("[%s]", payment.ID) {
		t.Errorf("%d payments are in progress without a worker, and %v are woken", n, world.Woken())
	}
	first := must(t, func() ([]flows.PaymentID, error) {
		return other.Store.Due(t.Context(), flows.OpenLane, world.Clock.Now(), time.Second, 1)
	})
	if fmt.Sprint(first) != fmt.Sprintf("[%s]", payment.ID) {
		t.Errorf("%v is taken first", first)
	}
}

// TestNextWork: a queue says when something is to be done: the next payment or the next job, and what is due is now.
func TestNextWork(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	next := func() (in time.Duration, waits bool) {
		t.Helper()
		in, waits, err := g.Queue.NextWork(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return in, waits
	}
	if in, waits := next(); waits {
		t.Errorf("without payments, something waits for %s", in)
	}
	world.Authorised(g)
	in, waits := next()
	if !waits || in <= time.Second || in > time.Hour {
		t.Errorf("a payment that has begun waits (%t) for %s", waits, in)
	}
	if err := g.Queue.RefreshDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if job, waits := next(); !waits || job > time.Second {
		t.Errorf("a job that is due within a second waits (%t) for %s", waits, job)
	}
	world.Clock.Advance(in)
	if in, waits := next(); !waits || in != 0 {
		t.Errorf("a payment that is due waits (%t) for %s", waits, in)
	}
}

// TestGatewayDiesWithPayments: a gateway that has taken payments ends. Another one takes them after the lease.
func TestGatewayDiesWithPayments(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	payment := world.Authorised(g)
	world.Handle(g, event(payment))
	taken := must(t, func() ([]flows.PaymentID, error) { // and nothing follows
		return g.Store.Due(t.Context(), flows.OpenLane, world.Clock.Now(), 30*time.Second, 40)
	})
	other := world.Gateway()
	sweeps := world.worker(other)
	sweeps <- world.Clock.Now()
	sweeps <- world.Clock.Now() // the previous sweep is over
	if now := world.Stored(other, payment.ID); len(taken) != 1 || now.State != flows.Intent {
		t.Fatalf("%v were taken, and within the lease the payment is %s", taken, now.State)
	}
	world.Clock.Advance(30 * time.Second)
	world.awaitState(other, payment.ID, flows.Recorded)
	world.ExpectSound(world.Stored(other, payment.ID))
}

func TestEventFinishesPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.worker(gateway)
	payment := world.Authorised(gateway)
	ev := event(payment)
	for range 3 { // deliveries are repeated
		world.Handle(gateway, ev)
	}
	world.awaitState(gateway, payment.ID, flows.Recorded)
	world.ExpectSound(world.Stored(gateway, payment.ID))
}

// TestEventsThatAreNotOurs are accepted and have no effect.
func TestEventsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	foreigners := map[string]func(map[string]string){
		"no metadata":          func(m map[string]string) { clear(m) },
		"another environment":  func(m map[string]string) { m["fd_environment"] = "live" },
		"another organisation": func(m map[string]string) { m["fd_sale"] = "/other/sales/1" },
		"no sale":              func(m map[string]string) { delete(m, "fd_sale") },
		"no generation":        func(m map[string]string) { m["fd_generation"] = "first" },
	}
	for name, change := range foreigners {
		foreign := event(payment)
		change(foreign.Metadata)
		if err := gateway.HandleEvent(t.Context(), foreign); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A type that says nothing new comes without a payment, often about one of ours: the log must not call it another's.
	if err := gateway.HandleEvent(t.Context(), cards.Event{ID: "evt_1", Type: "charge.captured"}); err != nil {
		t.Errorf("without a payment: %v", err)
	}
	if n := strings.Count(world.Journal.String(), "event of another payment ignored"); n != len(foreigners) {
		t.Errorf("the log names %d events of other payments instead of %d:\n%s", n, len(foreigners), world.Journal)
	}
	if woken := world.Woken(); len(woken) != 0 {
		t.Errorf("%v are woken", woken)
	}
}

// TestSweep finds what no event reported: a payment whose webhook was lost, and a start that was never
// completed.
func TestSweep(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	never := flows.NewPaymentID(uuid.NewString(), 1)
	incomplete := &flows.Payment{ID: never, State: flows.Priced, UpdatedAt: world.Clock.Now()}
	if err := gateway.Store.Schedule(t.Context(), incomplete, world.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	world.Clock.Advance(time.Minute)
	sweeps := world.worker(gateway) // sweeps at start
	world.awaitState(gateway, payment.ID, flows.Recorded)
	open := func() []string { return world.Redis.ZRange(t.Context(), "fd:payments:open", 0, -1).Val() }
	frontdesktest.Eventually(t, "nothing is open", func() bool { return len(open()) == 0 })

	second := world.Authorised(gateway)
	world.Clock.Advance(time.Minute)
	sweeps <- world.Clock.Now()
	world.awaitState(gateway, second.ID, flows.Recorded)
	world.ExpectSound(world.Stored(gateway, second.ID))
}

// TestClockIsWrong: a gateway whose clock jumped ahead neither sweeps nor postpones what is due. Once the clock is
// right, it does.
func TestClockIsWrong(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	due := func() float64 { return world.Redis.ZScore(t.Context(), "fd:payments:open", string(payment.ID)).Val() }
	before := due()
	world.Clock.Advance(time.Minute)
	var right atomic.Bool
	o := world.eventHarness(gateway)
	o.cfg.ClocksAgree = func(context.Context, func() time.Time) (bool, error) { return right.Load(), nil }
	sweeps := world.RunBackground(o.cfg)
	sweeps <- world.Clock.Now() // the first sweep, at the start, is over
	if due() != before || !strings.Contains(world.Journal.String(), "the clock differs") {
		t.Errorf("the next poll was at %f, and is at %f", before, due())
	}
	right.Store(true)
	sweeps <- world.Clock.Now()
	world.awaitState(gateway, payment.ID, flows.Recorded)
}

// TestVisitorComesBack: reading the registration is enough to finish a payment whose webhook was lost.
func TestVisitorComesBack(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	world.worker(gateway)
	payment := world.Authorised(gateway)
	get := func() flows.View {
		return must(t, func() (flows.View, error) {
			return gateway.Registrations.Get(t.Context(), payment.Registration, holderToken)
		})
	}
	if view := get(); view.Payment.State != flows.Authorised || view.Phase != flows.Paying {
		t.Errorf("the visitor sees %s of a payment that is %s", view.Phase, view.Payment.State)
	}
	world.awaitState(gateway, payment.ID, flows.Recorded)
	world.Clock.Advance(5 * time.Second) // the status is read for those who still look then
	if view := get(); view.Phase != flows.Completed || view.Contact.Status != "customer" || len(view.Actions) != 0 {
		t.Errorf("the visitor sees %+v of %+v", view, view.Contact)
	}
}

// TestQueueIsGone: an event that cannot be queued is not lost. The gateway asks the processor to send it
// again.
func TestQueueIsGone(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
	cut := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)})
	wire.Cut()
	ev := event(payment)
	if err := cut.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	// Only the list cannot be written.
	open := must(t, world.Redis.ZRangeWithScores(t.Context(), "fd:payments:open", 0, -1).Result)
	world.Redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	if err := gateway.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	world.ForgetKeys("fd:payments:open")
	world.Redis.ZAdd(t.Context(), "fd:payments:open", open...)
	world.worker(gateway)
	world.Handle(gateway, ev)
	world.awaitState(gateway, payment.ID, flows.Recorded)
}

// TestEventOfADuplicate: the processor reports a second payment of a sale while a gateway advances the first.
// The gateway does not mistake the event for one about the first, and cancels the second payment.
func TestEventOfADuplicate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.worker(gateway)
	var twin *flows.Payment
	world.InjectFault(flowstest.CaptureCall, func() {
		twin = world.Duplicate(payment)
		world.Confirm(twin, goodCard)
		ev := event(twin)
		ev.Metadata = world.Held(twin).Metadata
		if err := gateway.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}, nil)
	world.Handle(gateway, event(payment))
	world.awaitState(gateway, payment.ID, flows.Recorded)
	frontdesktest.Eventually(world, "the second payment is cancelled", func() bool { return world.Held(twin).State == cards.Cancelled })
}

// TestEventDuringTheLastStep: the bank returns a refund while a gateway is still processing that refund. The
// event is not lost, although the step makes the payment final.
func TestEventDuringTheLastStep(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.worker(gateway)
	world.Fault(clubsim.Fault{Match: flowstest.Recording, Kind: "error_before", Status: 422, Times: new(1)})
	world.InjectFault(flowstest.RefundCall, nil, func() {
		world.SettleRefund(payment, false)
		if err := gateway.HandleEvent(t.Context(), event(payment)); err != nil {
			t.Error(err)
		}
	})
	world.Handle(gateway, event(payment))
	world.awaitState(gateway, payment.ID, flows.Blocked)
}

// TestEventBeforePayments: the processor is slow, and all workers wait for it while more payments are due. An event is processed,
// and its registration read, nevertheless.
func TestEventBeforePayments(t *testing.T) {
	t.Parallel()
	const workers = 80
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	registration := world.Registered(gateway)
	for range workers + 5 {
		world.Started(gateway)
	}
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	harness.send("contact.updated", "contactId", string(registration.Contact.IRI))
	turn := make(chan struct{})
	defer close(turn)
	world.Inject(flowstest.CallFault{Call: flowstest.GetCall, Fail: 1e6, Before: func() { <-turn }})
	world.Clock.Advance(time.Minute)
	harness.open()
	frontdesktest.Eventually(t, "all workers wait", func() bool { return gateway.Queue.InProgress() == workers })
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	harness.awaitCart(registration.ID, "the cart is settled", settled)
	if n := gateway.Queue.InProgress(); n != workers {
		t.Errorf("meanwhile %d payments were in progress", n)
	}
}
