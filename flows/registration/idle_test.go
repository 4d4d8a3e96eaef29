package registration_test

import (
	"testing"
	"time"

	"frontdesk/flows"
)

// sweepUntil lets time pass, and advances a payment whenever the sweep, each 15 seconds, finds it due.
func (w *world) sweepUntil(g *gateway, p *flows.Payment, end time.Time) *flows.Payment {
	w.Helper()
	for w.Clock.Now().Before(end) && !p.State.Final() {
		w.Clock.Advance(15 * time.Second)
		if due := w.Redis.ZScore(w.Context(), "fd:payments:open", string(p.ID)).Val(); due <= float64(w.Clock.Now().UnixMilli()) {
			p = w.Advance(g, p)
		}
	}
	return p
}

// TestLostWebhook: a payment whose webhook is lost is completed within a minute if the buyer pays in the first minutes,
// and within three if they pay later.
func TestLostWebhook(t *testing.T) {
	t.Parallel()
	for idle, limit := range map[time.Duration]time.Duration{0: time.Minute, 4 * time.Minute: time.Minute,
		8 * time.Minute: 3 * time.Minute, 27 * time.Minute: 3 * time.Minute} {
		t.Run(idle.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway()
			p := w.Started(g)
			p = w.sweepUntil(g, p, w.Clock.Now().Add(idle))
			w.Confirm(p, goodCard)
			paid := w.Clock.Now()
			p = w.sweepUntil(g, p, paid.Add(10*time.Minute))
			if lasted := w.Clock.Now().Sub(paid); p.State != flows.Recorded || lasted > limit {
				t.Errorf("%s after %s", p.State, lasted)
			}
		})
	}
}

// TestOpenPagesReadSeldom: however many requests the open pages of an idle payment make, it is read once within a
// pause, which grows to half a minute. The first request after a change reads at once.
func TestOpenPagesReadSeldom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, other := w.Gateway(), w.Gateway()
	p := w.Started(g)
	look := func() {
		for _, from := range []*gateway{g, other, g, other} {
			must(t, func() (flows.View, error) { return from.Registrations.Get(t.Context(), p.Registration, holderToken) })
		}
	}
	longest := func() (pause time.Duration) {
		for _, key := range w.Redis.Keys(t.Context(), "fd:once:*").Val() {
			pause = max(pause, w.Redis.PTTL(t.Context(), key).Val())
		}
		return pause
	}
	for _, step := range []struct{ idle, most time.Duration }{{0, 2 * time.Second}, {20 * time.Minute, 30 * time.Second}} {
		idle, most := step.idle, step.most
		w.Clock.Advance(idle)
		w.ForgetKeys("fd:once:*") // the pauses are over
		before := w.Reads.Load()
		look()
		if n, pause := w.Reads.Load()-before, longest(); idle > 0 && n != 1 || n < 1 || pause > most || pause < most/2 {
			t.Errorf("idle for %s: %d reads, and a pause of %s", idle, n, pause)
		}
	}
	w.Confirm(p, declinedCard)
	if p = w.Advance(g, p); !p.Declined() { // as after a webhook: a change
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.Confirm(p, goodCard)
	view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), p.Registration, holderToken) })
	if view.Payment.State == flows.Intent {
		t.Error("the payment of a buyer just back from their bank is not read at once")
	}
}
