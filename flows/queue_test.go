package flows_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// worker runs a gateway's background work until the test ends. Each value sent to the returned channel starts
// the next sweep.
func (w *world) worker(g *gateway) chan<- time.Time {
	w.Helper()
	return w.eventHarness(g).run()
}

// run runs the background work of the harness's gateway, as worker does.
func (o *eventHarness) run() chan<- time.Time { return o.w.runBackground(o.cfg) }

// backgroundOf is what the background work of a gateway needs.
func (w *world) backgroundOf(g *gateway, subscribers ...background.Subscriber) background.Config {
	w.Helper()
	return background.Config{
		Store:         g.store,
		Queue:         g.queue,
		Payments:      g.Machine,
		Registrations: g.registrations,
		Keys:          newKeyring(w, "one"),
		ClientToken:   "demo",
		Subscribers:   subscribers,
		Client:        background.EgressPolicy{Loopback: true}.NewClient(),
		Traces:        tracing.IDOnlyProvider(),
		Now:           w.clock.Now,
		Log:           g.log,
	}
}

// runBackground runs background work until the test ends. Each value sent to the returned channel starts the next sweep.
func (w *world) runBackground(cfg background.Config) chan<- time.Time {
	w.Helper()
	sweeps := make(chan time.Time)
	cfg.After = func(d time.Duration) <-chan time.Time {
		if d <= time.Second { // between two verifications, or until the lanes are looked at again
			return time.After(min(d, 20*time.Millisecond))
		}
		return sweeps
	}
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- background.New(cfg).Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the worker ended with %v", err)
		}
	})
	return sweeps
}

func (w *world) awaitState(g *gateway, id flows.PaymentID, state flows.PaymentState) {
	w.Helper()
	frontdesktest.Eventually(w, string(state), func() bool { return w.stored(g, id).State == state })
}

// handle delivers an event of the card processor to a gateway.
func (w *world) handle(g *gateway, about cards.Event) {
	w.Helper()
	if err := g.HandleEvent(w.Context(), about); err != nil {
		w.Fatal(err)
	}
}

// event is the processor's event about a payment.
func event(p *flows.Payment) cards.Event {
	generation := map[string]string{"fd_registration": p.Registration, "fd_generation": "1", "fd_environment": "test", "fd_sale": string(p.Sale)}
	return cards.Event{ID: uuid.NewString(), Type: "payment_intent.amount_capturable_updated", PaymentID: p.ProcessorID, Metadata: generation}
}

// woken lists the payments that were woken and that no gateway has taken yet.
func (w *world) woken() []string {
	w.Helper()
	return must(w, w.redis.ZRangeArgs(w.Context(), redis.ZRangeArgs{Key: "fd:payments:open", Start: "-inf", Stop: "(0", ByScore: true}).Result)
}

// takeDue has a gateway advance the payments that are due.
func (w *world) takeDue(g *gateway) {
	w.Helper()
	due := must(w, func() ([]flows.PaymentID, error) {
		return g.store.Due(w.Context(), flows.OpenLane, w.clock.Now(), 30*time.Second, 40)
	})
	for _, id := range due {
		w.advance(g, w.stored(g, id))
	}
}

// TestNoIdleWorker: a payment is woken in a process without an idle worker. It is not in progress there, and another gateway
// takes it before all others.
func TestNoIdleWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, other := w.gateway(), w.gateway()
	w.started(g)
	p := w.authorised(g)
	w.clock.Advance(time.Minute) // both are due
	w.handle(g, event(p))
	if n := g.queue.InProgress(); n != 0 || fmt.Sprint(w.woken()) != fmt.Sprintf("[%s]", p.ID) {
		t.Errorf("%d payments are in progress without a worker, and %v are woken", n, w.woken())
	}
	first := must(t, func() ([]flows.PaymentID, error) {
		return other.store.Due(t.Context(), flows.OpenLane, w.clock.Now(), time.Second, 1)
	})
	if fmt.Sprint(first) != fmt.Sprintf("[%s]", p.ID) {
		t.Errorf("%v is taken first", first)
	}
}

// TestGatewayDiesWithPayments: a gateway that has taken payments ends. Another one takes them after the lease.
func TestGatewayDiesWithPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.handle(g, event(p))
	taken := must(t, func() ([]flows.PaymentID, error) { // and nothing follows
		return g.store.Due(t.Context(), flows.OpenLane, w.clock.Now(), 30*time.Second, 40)
	})
	other := w.gateway()
	sweeps := w.worker(other)
	sweeps <- w.clock.Now()
	sweeps <- w.clock.Now() // the previous sweep is over
	if now := w.stored(other, p.ID); len(taken) != 1 || now.State != flows.Intent {
		t.Fatalf("%v were taken, and within the lease the payment is %s", taken, now.State)
	}
	w.clock.Advance(30 * time.Second)
	w.awaitState(other, p.ID, flows.Recorded)
	w.expectSound(w.stored(other, p.ID))
}

func TestEventFinishesPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	w.worker(g)
	p := w.authorised(g)
	ev := event(p)
	for range 3 { // deliveries are repeated
		w.handle(g, ev)
	}
	w.awaitState(g, p.ID, flows.Recorded)
	w.expectSound(w.stored(g, p.ID))
}

// TestEventsThatAreNotOurs are accepted and have no effect.
func TestEventsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
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
	if n := strings.Count(w.log.String(), "event of another payment ignored"); n != len(foreigners) {
		t.Errorf("the log names %d events of other payments instead of %d:\n%s", n, len(foreigners), w.log)
	}
	if woken := w.woken(); len(woken) != 0 {
		t.Errorf("%v are woken", woken)
	}
}

// TestSweep finds what no event reported: a payment whose webhook was lost, and a start that was never
// completed.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	never := flows.NewPaymentID(uuid.NewString(), 1)
	if err := g.store.Schedule(t.Context(), &flows.Payment{ID: never, State: flows.Priced, UpdatedAt: w.clock.Now()}, w.clock.Now()); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	sweeps := w.worker(g) // sweeps at start
	w.awaitState(g, p.ID, flows.Recorded)
	open := func() []string { return w.redis.ZRange(t.Context(), "fd:payments:open", 0, -1).Val() }
	frontdesktest.Eventually(t, "nothing is open", func() bool { return len(open()) == 0 })

	second := w.authorised(g)
	w.clock.Advance(time.Minute)
	sweeps <- w.clock.Now()
	w.awaitState(g, second.ID, flows.Recorded)
	w.expectSound(w.stored(g, second.ID))
}

// TestClockIsWrong: a gateway whose clock jumped ahead neither sweeps nor postpones what is due. Once the clock is
// right, it does.
func TestClockIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	due := func() float64 { return w.redis.ZScore(t.Context(), "fd:payments:open", string(p.ID)).Val() }
	before := due()
	w.clock.Advance(time.Minute)
	var right atomic.Bool
	o := w.eventHarness(g)
	o.cfg.ClocksAgree = func(context.Context, func() time.Time) (bool, error) { return right.Load(), nil }
	sweeps := o.run()
	sweeps <- w.clock.Now() // the first sweep, at the start, is over
	if due() != before || !strings.Contains(w.log.String(), "the clock differs") {
		t.Errorf("the next poll was at %f, and is at %f", before, due())
	}
	right.Store(true)
	sweeps <- w.clock.Now()
	w.awaitState(g, p.ID, flows.Recorded)
}

// TestVisitorComesBack: reading the registration is enough to finish a payment whose webhook was lost.
func TestVisitorComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	w.worker(g)
	p := w.authorised(g)
	get := func() flows.View {
		return must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), p.Registration, holderToken) })
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
	g := w.gateway()
	p := w.authorised(g)
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
	cut := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)})
	wire.Cut()
	ev := event(p)
	if err := cut.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	// Only the list cannot be written.
	open := must(t, w.redis.ZRangeWithScores(t.Context(), "fd:payments:open", 0, -1).Result)
	w.redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	if err := g.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the processor got %v", err)
	}
	w.forgetKeys("fd:payments:open")
	w.redis.ZAdd(t.Context(), "fd:payments:open", open...)
	w.worker(g)
	w.handle(g, ev)
	w.awaitState(g, p.ID, flows.Recorded)
}

// TestEventOfADuplicate: the processor reports a second payment of a sale while a gateway advances the first.
// The gateway does not mistake the event for one about the first, and cancels the second payment.
func TestEventOfADuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.worker(g)
	var twin *flows.Payment
	w.injectFault(captureCall, func() {
		twin = w.duplicate(p)
		w.confirm(twin, goodCard)
		ev := event(twin)
		ev.Metadata = w.held(twin).Metadata
		if err := g.HandleEvent(t.Context(), ev); err != nil {
			t.Error(err)
		}
	}, nil)
	w.handle(g, event(p))
	w.awaitState(g, p.ID, flows.Recorded)
	frontdesktest.Eventually(w, "the second payment is cancelled", func() bool { return w.held(twin).State == cards.Cancelled })
}

// TestEventDuringTheLastStep: the bank returns a refund while a gateway is still processing that refund. The
// event is not lost, although the step makes the payment final.
func TestEventDuringTheLastStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.worker(g)
	w.fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: times(1)})
	w.injectFault(refundCall, nil, func() {
		w.settleRefund(p, false)
		if err := g.HandleEvent(t.Context(), event(p)); err != nil {
			t.Error(err)
		}
	})
	w.handle(g, event(p))
	w.awaitState(g, p.ID, flows.Blocked)
}

// TestEventBeforePayments: the processor is slow, and all workers wait for it while more payments are due. An event is processed,
// and its registration read, nevertheless.
func TestEventBeforePayments(t *testing.T) {
	t.Parallel()
	const workers = 40
	w := newWorld(t)
	g := w.gateway()
	o := w.eventHarness(g)
	r := w.registered(g)
	for range workers + 5 {
		w.started(g)
	}
	w.payAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
	o.send("contact.updated", "contactId", string(r.Contact.IRI))
	turn := make(chan struct{})
	defer close(turn)
	w.setFaultInjector(&faultInjector{call: getCall, fail: 1e6, before: func() { <-turn }})
	w.clock.Advance(time.Minute)
	o.open()
	frontdesktest.Eventually(t, "all workers wait", func() bool { return g.queue.InProgress() == workers })
	o.idle()
	o.allowRefresh(3 * time.Second)
	o.awaitCart(r.ID, "the cart is settled", settled)
	if n := g.queue.InProgress(); n != workers {
		t.Errorf("meanwhile %d payments were in progress", n)
	}
}
