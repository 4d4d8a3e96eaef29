package background_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

func (w *world) awaitKnown(p *flows.Payment) {
	w.Helper()
	frontdesktest.Eventually(w, "the payment is back", func() bool { return w.Knows(p) })
}

func (w *world) awaitLists(n int) {
	w.Helper()
	frontdesktest.Eventually(w, fmt.Sprintf("list %d", n), func() bool { return w.Listed() == n })
}

// TestRebuildAtStart: a gateway that starts rebuilds lost payments, even if Redis says that another gateway
// has just run the comparison.
func TestRebuildAtStart(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	first, second := world.Gateway(), world.Gateway()
	world.worker(first)
	world.awaitLists(1)
	p := world.Authorised(second)
	world.ForgetKeys("fd:{*", "fd:payments:open")
	world.worker(second)
	world.awaitKnown(p)
	world.awaitState(second, p.ID, flows.Recorded) // it is woken when it is rebuilt
	world.ExpectSound(world.Stored(second, p.ID))
}

// TestRebuildWhenRedisForgot: a gateway rebuilds after a sweep finds its last heartbeat missing or older than
// expected.
func TestRebuildWhenRedisForgot(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*world){
		"everything": func(w *world) { w.Wipe() },
		"a while": func(w *world) {
			w.ForgetKeys("fd:{*", "fd:payments:open")
			heartbeat := w.Redis.Keys(w.Context(), "fd:heartbeat:*").Val()[0]
			w.Redis.Decr(w.Context(), heartbeat)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newWorld(t)
			gateway := env.Gateway()
			sweeps := env.worker(gateway)
			for range 3 {
				sweeps <- env.Clock.Now()
			}
			p := env.Authorised(gateway)
			forget(env)
			sweeps <- env.Clock.Now()
			env.awaitKnown(p)
			env.awaitState(gateway, p.ID, flows.Recorded) // it is woken when it is rebuilt
			env.ExpectSound(env.Stored(gateway, p.ID))
		})
	}
}

// TestLostResponseIsNoLoss: a heartbeat arrived and its response did not. Nothing is rebuilt, because Redis has lost nothing.
func TestLostResponseIsNoLoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	sweeps := world.worker(world.Gateway())
	world.quiet(sweeps)
	world.Redis.Incr(t.Context(), world.Redis.Keys(t.Context(), "fd:heartbeat:*").Val()[0])
	lists := world.Listed()
	for range 4 { // a comparison that the first one owes would have begun at the third
		sweeps <- world.Clock.Now()
	}
	if world.Listed() != lists {
		t.Error("the payments were compared with the processor's")
	}
}

// TestRebuildAfterAFailedSweep: Redis may come back from an outage with less data.
func TestRebuildAfterAFailedSweep(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	sweeps := world.worker(g)
	world.quiet(sweeps)
	payment := world.Authorised(g)
	world.ForgetKeys("fd:{*", "fd:payments:open")
	world.Redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	lists := world.Listed()
	sweeps <- world.Clock.Now()
	sweeps <- world.Clock.Now() // the previous sweep is over
	if world.Listed() != lists {
		t.Error("something was rebuilt into a Redis that does not work")
	}
	world.ForgetKeys("fd:payments:open")
	sweeps <- world.Clock.Now()
	world.awaitKnown(payment)
}

// quiet sweeps until nothing is due.
func (w *world) quiet(sweeps chan<- time.Time) {
	w.Helper()
	for before := -1; before != w.Listed() || before < 1; { // at start
		before = w.Listed()
		sweeps <- w.Clock.Now()
		sweeps <- w.Clock.Now()
	}
}

// TestRebuildNowAndThen: the periodic comparison finds a loss that no gateway noticed. One of several gateways
// runs it.
func TestRebuildNowAndThen(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateways := []*gateway{world.Gateway(), world.Gateway()}
	sweeps := []chan<- time.Time{world.worker(gateways[0]), world.worker(gateways[1])}
	for range 5 {
		for _, sweep := range sweeps {
			sweep <- world.Clock.Now()
		}
	}
	world.awaitLists(2) // one per start, which also counts as the periodic one
	payment := world.Authorised(gateways[0])
	world.ForgetKeys("fd:{*", "fd:payments:open")
	for _, sweep := range sweeps {
		sweep <- world.Clock.Now()
		sweep <- world.Clock.Now()
	}
	if world.Knows(payment) || world.Listed() != 2 {
		t.Errorf("no comparison was due, and the processor was asked %d times", world.Listed())
	}
	world.ForgetKeys("fd:once:*") // the periods are over
	sweeps[1] <- world.Clock.Now()
	world.awaitKnown(payment)
}

// TestListFails: the comparison is retried after a minute.
func TestListFails(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	payment := world.Authorised(g)
	world.Wipe()
	world.FailCalls(listCall, 1)
	sweeps := world.worker(g)
	world.awaitLists(1)
	frontdesktest.Eventually(t, "the failure is logged", func() bool { return strings.Contains(world.Journal.String(), "redis not compared") })
	sweeps <- world.Clock.Now()
	sweeps <- world.Clock.Now()
	if world.Listed() != 1 {
		t.Error("a processor that fails is asked again at once")
	}
	world.Clock.Advance(time.Minute)
	sweeps <- world.Clock.Now()
	world.awaitKnown(payment)
}

// TestListIsSlow: payments advance while the processor is slow to list.
func TestListIsSlow(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.Clock.Advance(time.Minute)
	answer := make(chan struct{})
	world.InjectFault(listCall, func() { <-answer }, nil)
	sweeps := world.worker(gateway)
	world.awaitLists(1)
	world.awaitState(gateway, payment.ID, flows.Recorded)
	sweeps <- world.Clock.Now()
	sweeps <- world.Clock.Now()
	close(answer)
	world.ExpectSound(world.Stored(gateway, payment.ID))
}

// TestEventOfALostPayment: the processor's event restores the payment. An event without our
// signature has no effect.
func TestEventOfALostPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	sweeps := world.worker(gateway)
	world.quiet(sweeps)
	lists := world.Listed()
	payment := world.Authorised(gateway)
	ev := event(payment)
	world.ForgetKeys("fd:{*", "fd:payments:open")
	if err := gateway.HandleEvent(t.Context(), ev); err != nil || world.Knows(payment) {
		t.Errorf("an unsigned event: %v", err)
	}
	ev.ID, ev.Metadata = uuid.NewString(), world.Held(payment).Metadata
	world.Handle(gateway, ev)
	world.awaitKnown(payment)
	world.awaitState(gateway, payment.ID, flows.Recorded)
	world.ExpectSound(world.Stored(gateway, payment.ID))
	if n := world.Listed(); n != lists+1 {
		t.Errorf("%d lists for one event", n-lists)
	}
}
