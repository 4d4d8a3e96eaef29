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
	w := newWorld(t)
	g, other := w.Gateway(), w.Gateway()
	w.Started(g)
	p := w.Authorised(g)
	w.Clock.Advance(time.Minute) // both are due
	w.Handle(g, event(p))
	if n := g.Queue.InProgress(); n != 0 || fmt.Sprint(w.Woken()) != fmt.Sprintf("[%s]", p.ID) {
		t.Errorf("%d payments are in progress without a worker, and %v are woken", n, w.Woken())
	}
	first := must(t, func() ([]flows.PaymentID, error) {
		return other.Store.Due(t.Context(), flows.OpenLane, w.Clock.Now(), time.Second, 1)
	})
	if fmt.Sprint(first) != fmt.Sprintf("[%s]", p.ID) {
		t.Errorf("%v is taken first", first)
	}
}

// TestGatewayDiesWithPayments: a gateway that has taken payments ends. Another one takes them after the lease.
func TestGatewayDiesWithPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.Handle(g, event(p))
	taken := must(t, func() ([]flows.PaymentID, error) { // and nothing follows
		return g.Store.Due(t.Context(), flows.OpenLane, w.Clock.Now(), 30*time.Second, 40)
	})
	other := w.Gateway()
	sweeps := w.worker(other)
	sweeps <- w.Clock.Now()
	sweeps <- w.Clock.Now() // the previous sweep is over
	if now := w.Stored(other, p.ID); len(taken) != 1 || now.State != flows.Intent {
		t.Fatalf("%v were taken, and within the lease the payment is %s", taken, now.State)
	}
	w.Clock.Advance(30 * time.Second)
	w.awaitState(other, p.ID, flows.Recorded)
	w.ExpectSound(w.Stored(other, p.ID))
}

func TestEventFinishesPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.worker(g)
	p := w.Authorised(g)
	ev := event(p)
	for range 3 { // deliveries are repeated
		w.Handle(g, ev)
	}
	w.awaitState(g, p.ID, flows.Recorded)
	w.ExpectSound(w.Stored(g, p.ID))
}

// TestEventsThatAreNotOurs are accepted and have no effect.
func TestEventsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	foreigners := map[string]func(map[string]string){
		"no metadata":          func(m map[string]string) { clear(m) },
		"another environment":  func(m map[string]string) { m["fd_environment"] = "live" },
		"another organisation": func(m map[string]string) { m["fd_sale"] = "/other/sales/1" },
		"no sale":              func(m map[string]string) { delete(m, "fd_sale") },
		"no generation":        func(m map[string]string) { m["fd_generation"] = "first" },
	}
	for name, change := range foreigners {
		foreign := event(p)
		change(foreign.Metadata)
		if err := g.HandleEvent(t.Context(), foreign); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A type that says nothing new comes without a payment, often about one of ours: the log must not call it another's.
	if err := g.HandleEvent(t.Context(), cards.Event{ID: "evt_1", Type: "charge.captured"}); err != nil {
		t.Errorf("without a payment: %v", err)
	}
	if n := strings.Count(w.Journal.String(), "event of another payment ignored"); n != len(foreigners) {
		t.Errorf("the log names %d events of other payments instead of %d:\n%s", n, len(foreigners), w.Journal)
	}
	if woken := w.Woken(); len(woken) != 0 {
		t.Errorf("%v are woken", woken)
	}
}

// TestSweep finds what no event reported: a payment whose webhook was lost, and a start that was never
// completed.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	never := flows.NewPaymentID(uuid.NewString(), 1)
	incomplete := &flows.Payment{ID: never, State: flows.Priced, UpdatedAt: w.Clock.Now()}
	if err := g.Store.Schedule(t.Context(), incomplete, w.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(time.Minute)
	sweeps := w.worker(g) // sweeps at start
	w.awaitState(g, p.ID, flows.Recorded)
	open := func() []string { return w.Redis.ZRange(t.Context(), "fd:payments:open", 0, -1).Val() }
	frontdesktest.Eventually(t, "nothing is open", func() bool { return len(open()) == 0 })

	second := w.Authorised(g)
	w.Clock.Advance(time.Minute)
	sweeps <- w.Clock.Now()
	w.awaitState(g, second.ID, flows.Recorded)
	w.ExpectSound(w.Stored(g, second.ID))
}

// TestClockIsWrong: a gateway whose clock jumped ahead neither sweeps nor postpones what is due. Once the clock is
// right, it does.
func TestClockIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	due := func() float64 { return w.Redis.ZScore(t.Context(), "fd:payments:open", string(p.ID)).Val() }
	before := due()
	w.Clock.Advance(time.Minute)
	var right atomic.Bool
	o := w.eventHarness(g)
	o.cfg.ClocksAgree = func(context.Context, func() time.Time) (bool, error) { return right.Load(), nil }
	sweeps := w.RunBackground(o.cfg)
	sweeps <- w.Clock.Now() // the first sweep, at the start, is over
	if due() != before || !strings.Contains(w.Journal.String(), "the clock differs") {
		t.Errorf("the next poll was at %f, and is at %f", before, due())
	}
	right.Store(true)
	sweeps <- w.Clock.Now()
	w.awaitState(g, p.ID, flows.Recorded)
}

// TestVisitorComesBack: reading the registration is enough to finish a payment whose webhook was lost.
func TestVisitorComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	w.worker(g)
	p := w.Authorised(g)
	get := func() flows.View {
		return must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), p.Registration, holderToken) })
	}
	if view := get(); view.Payment.State != flows.Authorised || view.Phase != flows.Paying {
		t.Errorf("the visitor sees %s of a payment that is %s", view.Phase, view.Payment.State)
	}
	w.awaitState(g, p.ID, flows.Recorded)
	if view := get(); view.Phase != flows.Completed || view.Contact.Status != "customer" || len(view.Actions) != 0 {
		t.Errorf("the visitor sees %+v of %+v", view, view.Contact)
	}
}

// TestQueueIsGone: an event that cannot be queued is not lost. The gateway asks the processor to send it
// again.
func TestQueueIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
	cut := w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)})
	wire.Cut()
	ev := event(p)
	if err := cut.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	// Only the list cannot be written.
	open := must(t, w.Redis.ZRangeWithScores(t.Context(), "fd:payments:open", 0, -1).Result)
	w.Redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	if err := g.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	w.ForgetKeys("fd:payments:open")
	w.Redis.ZAdd(t.Context(), "fd:payments:open", open...)
	w.worker(g)
	w.Handle(g, ev)
	w.awaitState(g, p.ID, flows.Recorded)
}

// TestEventOfADuplicate: the processor reports a second payment of a sale while a gateway advances the first.
// The gateway does not mistake the event for one about the first, and cancels the second payment.
func TestEventOfADuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.worker(g)
	var twin *flows.Payment
	w.InjectFault(flowstest.CaptureCall, func() {
		twin = w.Duplicate(p)
		w.Confirm(twin, goodCard)
		ev := event(twin)
		ev.Metadata = w.Held(twin).Metadata
		if err := g.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}, nil)
	w.Handle(g, event(p))
	w.awaitState(g, p.ID, flows.Recorded)
	frontdesktest.Eventually(w, "the second payment is cancelled", func() bool { return w.Held(twin).State == cards.Cancelled })
}

// TestEventDuringTheLastStep: the bank returns a refund while a gateway is still processing that refund. The
// event is not lost, although the step makes the payment final.
func TestEventDuringTheLastStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.worker(g)
	w.Fault(clubsim.Fault{Match: flowstest.Recording, Kind: "error_before", Status: 422, Times: new(1)})
	w.InjectFault(flowstest.RefundCall, nil, func() {
		w.SettleRefund(p, false)
		if err := g.HandleEvent(t.Context(), event(p)); err != nil {
			t.Error(err)
		}
	})
	w.Handle(g, event(p))
	w.awaitState(g, p.ID, flows.Blocked)
}

// TestEventBeforePayments: the processor is slow, and all workers wait for it while more payments are due. An event is processed,
// and its registration read, nevertheless.
func TestEventBeforePayments(t *testing.T) {
	t.Parallel()
	const workers = 40
	w := newWorld(t)
	g := w.Gateway()
	o := w.eventHarness(g)
	r := w.Registered(g)
	for range workers + 5 {
		w.Started(g)
	}
	w.PayAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
	o.send("contact.updated", "contactId", string(r.Contact.IRI))
	turn := make(chan struct{})
	defer close(turn)
	w.Inject(flowstest.CallFault{Call: flowstest.GetCall, Fail: 1e6, Before: func() { <-turn }})
	w.Clock.Advance(time.Minute)
	o.open()
	frontdesktest.Eventually(t, "all workers wait", func() bool { return g.Queue.InProgress() == workers })
	o.idle()
	o.allowRefresh(3 * time.Second)
	o.awaitCart(r.ID, "the cart is settled", settled)
	if n := g.Queue.InProgress(); n != workers {
		t.Errorf("meanwhile %d payments were in progress", n)
	}
}
