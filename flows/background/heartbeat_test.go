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
	w := newWorld(t)
	first, second := w.Gateway(), w.Gateway()
	w.worker(first)
	w.awaitLists(1)
	p := w.Authorised(second)
	w.ForgetKeys("fd:{*", "fd:payments:open")
	w.worker(second)
	w.awaitKnown(p)
	w.awaitState(second, p.ID, flows.Recorded) // it is woken when it is rebuilt
	w.ExpectSound(w.Stored(second, p.ID))
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
			w := newWorld(t)
			g := w.Gateway()
			sweeps := w.worker(g)
			for range 3 {
				sweeps <- w.Clock.Now()
			}
			p := w.Authorised(g)
			forget(w)
			sweeps <- w.Clock.Now()
			w.awaitKnown(p)
			w.awaitState(g, p.ID, flows.Recorded) // it is woken when it is rebuilt
			w.ExpectSound(w.Stored(g, p.ID))
		})
	}
}

// TestRebuildAfterAFailedSweep: Redis may come back from an outage with less data.
func TestRebuildAfterAFailedSweep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	sweeps := w.worker(g)
	w.quiet(sweeps)
	p := w.Authorised(g)
	w.ForgetKeys("fd:{*", "fd:payments:open")
	w.Redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	lists := w.Listed()
	sweeps <- w.Clock.Now()
	sweeps <- w.Clock.Now() // the previous sweep is over
	if w.Listed() != lists {
		t.Error("something was rebuilt into a Redis that does not work")
	}
	w.ForgetKeys("fd:payments:open")
	sweeps <- w.Clock.Now()
	w.awaitKnown(p)
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
	w := newWorld(t)
	gateways := []*gateway{w.Gateway(), w.Gateway()}
	sweeps := []chan<- time.Time{w.worker(gateways[0]), w.worker(gateways[1])}
	for range 5 {
		for _, sweep := range sweeps {
			sweep <- w.Clock.Now()
		}
	}
	w.awaitLists(2) // one per start, which also counts as the periodic one
	p := w.Authorised(gateways[0])
	w.ForgetKeys("fd:{*", "fd:payments:open")
	for _, sweep := range sweeps {
		sweep <- w.Clock.Now()
		sweep <- w.Clock.Now()
	}
	if w.Knows(p) || w.Listed() != 2 {
		t.Errorf("no comparison was due, and the processor was asked %d times", w.Listed())
	}
	w.ForgetKeys("fd:once:*") // the periods are over
	sweeps[1] <- w.Clock.Now()
	w.awaitKnown(p)
}

// TestListFails: the comparison is retried after a minute.
func TestListFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.Wipe()
	w.FailCalls(listCall, 1)
	sweeps := w.worker(g)
	w.awaitLists(1)
	frontdesktest.Eventually(t, "the failure is logged", func() bool { return strings.Contains(w.Journal.String(), "redis not compared") })
	sweeps <- w.Clock.Now()
	sweeps <- w.Clock.Now()
	if w.Listed() != 1 {
		t.Error("a processor that fails is asked again at once")
	}
	w.Clock.Advance(time.Minute)
	sweeps <- w.Clock.Now()
	w.awaitKnown(p)
}

// TestListIsSlow: payments advance while the processor is slow to list.
func TestListIsSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	w.Clock.Advance(time.Minute)
	answer := make(chan struct{})
	w.InjectFault(listCall, func() { <-answer }, nil)
	sweeps := w.worker(g)
	w.awaitLists(1)
	w.awaitState(g, p.ID, flows.Recorded)
	sweeps <- w.Clock.Now()
	sweeps <- w.Clock.Now()
	close(answer)
	w.ExpectSound(w.Stored(g, p.ID))
}

// TestEventOfALostPayment: the processor's event restores the payment. An event without our
// signature has no effect.
func TestEventOfALostPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	sweeps := w.worker(g)
	w.quiet(sweeps)
	lists := w.Listed()
	p := w.Authorised(g)
	ev := event(p)
	w.ForgetKeys("fd:{*", "fd:payments:open")
	if err := g.HandleEvent(t.Context(), ev); err != nil || w.Knows(p) {
		t.Errorf("an unsigned event: %v", err)
	}
	ev.ID, ev.Metadata = uuid.NewString(), w.Held(p).Metadata
	w.Handle(g, ev)
	w.awaitKnown(p)
	w.awaitState(g, p.ID, flows.Recorded)
	w.ExpectSound(w.Stored(g, p.ID))
	if n := w.Listed(); n != lists+1 {
		t.Errorf("%d lists for one event", n-lists)
	}
}
