package registration_test

import (
	"testing"
	"time"

	"frontdesk/flows"
)

// sweepUntil lets time pass, and advances a payment whenever the sweep, each 15 seconds, finds it due.
func (w *world) sweepUntil(g *gateway, payment *flows.Payment, end time.Time) *flows.Payment {
	w.Helper()
	for w.Clock.Now().Before(end) && !payment.State.Final() {
		w.Clock.Advance(15 * time.Second)
		if due := w.Redis.ZScore(w.Context(), "fd:payments:open", string(payment.ID)).Val(); due <= float64(w.Clock.Now().UnixMilli()) {
			payment = w.Advance(g, payment)
		}
	}
	return payment
}

// TestLostWebhook: a payment whose webhook is lost is completed within a minute if the buyer pays in the first minutes,
// and within three if they pay later.
func TestLostWebhook(t *testing.T) {
	t.Parallel()
	for idle, limit := range map[time.Duration]time.Duration{0: time.Minute, 4 * time.Minute: time.Minute,
		8 * time.Minute: 3 * time.Minute, 27 * time.Minute: 3 * time.Minute} {
		t.Run(idle.String(), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			g := world.Gateway()
			payment := world.Started(g)
			payment = world.sweepUntil(g, payment, world.Clock.Now().Add(idle))
			world.Confirm(payment, goodCard)
			paid := world.Clock.Now()
			payment = world.sweepUntil(g, payment, paid.Add(10*time.Minute))
			if lasted := world.Clock.Now().Sub(paid); payment.State != flows.Recorded || lasted > limit {
				t.Errorf("%s after %s", payment.State, lasted)
			}
		})
	}
}

// TestOpenPagesReadSeldom: however many requests the open pages of an idle payment make, it is read once within a
// pause, which grows to half a minute. The first request after a change reads at once.
func TestOpenPagesReadSeldom(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	instance, other := world.Gateway(), world.Gateway()
	payment := world.Started(instance)
	look := func() {
		for _, from := range []*gateway{instance, other, instance, other} {
			must(t, func() (flows.View, error) {
				return from.Registrations.Get(t.Context(), payment.Registration, holderToken)
			})
		}
	}
	longest := func() (pause time.Duration) {
		for _, key := range world.Redis.Keys(t.Context(), "fd:once:*").Val() {
			pause = max(pause, world.Redis.PTTL(t.Context(), key).Val())
		}
		return pause
	}
	for _, step := range []struct{ idle, most time.Duration }{{0, 2 * time.Second}, {20 * time.Minute, 30 * time.Second}} {
		idle, most := step.idle, step.most
		world.Clock.Advance(idle)
		world.ForgetKeys("fd:once:*") // the pauses are over
		before := world.Reads.Load()
		look()
		if n, pause := world.Reads.Load()-before, longest(); idle > 0 && n != 1 || n < 1 || pause > most || pause < most/2 {
			t.Errorf("idle for %s: %d reads, and a pause of %s", idle, n, pause)
		}
	}
	world.Confirm(payment, declinedCard)
	payment = world.Advance(instance, payment)
	if !payment.Declined() { // as after a webhook: a change
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	world.Confirm(payment, goodCard)
	view := must(t, func() (flows.View, error) {
		return instance.Registrations.Get(t.Context(), payment.Registration, holderToken)
	})
	if view.Payment.State == flows.Intent {
		t.Error("the payment of a buyer just back from their bank is not read at once")
	}
}
