package flows_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/jobs"
	"frontdesk/flows/tracing"
	"frontdesk/flows/worker"
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
func (o *eventHarness) run() chan<- time.Time {
	w, g, sweeps := o.w, o.g, make(chan time.Time)
	after := func(d time.Duration) <-chan time.Time {
		if d < time.Second { // between two verifications
			return time.After(d)
		}
		return sweeps
	}
	background := worker.New(worker.Config{
		Store: g.store, Queue: g.queue, Payments: g.Machine, Changes: jobs.NewHub(g.store), Events: o.Intake, Traces: tracing.IDOnlyProvider(),
		Now: w.clock.Now, After: after, Log: g.log, ClocksAgree: o.clocks,
	})
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- background.Run(ctx) }()
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

// TestNoIdleWorker checks that a payment that no worker of the process took is not in progress there,
// however many callers ask at once.
func TestNoIdleWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.started(g)
	left, leave := context.WithCancel(t.Context())
	leave() // the shared queue is not what this is about
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 1000 {
				_ = g.queue.AdvanceSoon(left, p)
			}
		})
	}
	callers.Wait()
	if n := g.queue.InProgress(); n != 0 {
		t.Errorf("%d payments are in progress without a worker", n)
	}
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
	if keys := w.redis.Keys(t.Context(), "asynq:*").Val(); len(keys) != 0 {
		t.Errorf("something was queued: %v", keys)
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
	if err := g.store.ScheduleNext(t.Context(), &flows.Payment{ID: never, State: flows.Priced, UpdatedAt: w.clock.Now()}, w.clock.Now()); err != nil {
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
	o.clocks = func(context.Context, func() time.Time) (bool, error) { return right.Load(), nil }
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

// TestEventBeforeJobs: the sweeps have handed out thousands of payments, and the processor is slow. An event is processed, and
// its registration read, before most of them.
func TestEventBeforeJobs(t *testing.T) {
	t.Parallel()
	const handedOut, atOnce = 1000, 40
	w := newWorld(t)
	g := w.gateway()
	o := w.eventHarness(g)
	r, p := w.registered(g), w.started(g)
	w.payAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
	for range handedOut {
		if err := g.queue.EnqueueAdvance(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	o.send("contact.updated", "contactId", string(r.Contact.IRI))
	turn, taken := make(chan struct{}), 0
	defer close(turn)
	w.setFaultInjector(&faultInjector{call: getCall, fail: 1e6, before: func() { <-turn }})
	o.open()
	respond := func(what string, until func() bool) {
		frontdesktest.Eventually(t, what, func() bool {
			for range atOnce {
				select {
				case turn <- struct{}{}:
					taken++
				default:
				}
			}
			return until()
		})
	}
	respond("the event was processed", func() bool {
		waiting, err := g.store.ClubEventsWaiting(t.Context())
		return err == nil && waiting == 0
	})
	o.allowRefresh(3 * time.Second)
	respond("the cart is settled", func() bool {
		read, _, err := g.store.Registration(t.Context(), r.ID)
		return err == nil && settled(read)
	})
	if taken > 5*atOnce {
		t.Errorf("the event waited for %d other jobs", taken)
	}
}
