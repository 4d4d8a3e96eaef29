package store_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestWake: a payment that was woken comes before what has been due for less than a minute, and stays due whatever is scheduled
// meanwhile, until a gateway takes it.
func TestWake(t *testing.T) {
	onEach(t, func(b *fixture) {
		now := time.UnixMilli(time.Now().UnixMilli())
		payment := func(id flows.PaymentID, state flows.PaymentState) *flows.Payment {
			return &flows.Payment{ID: id, State: state, UpdatedAt: now}
		}
		schedule := func(p *flows.Payment, at time.Time) {
			b.Helper()
			if err := b.Schedule(b.Context(), p, at); err != nil {
				b.Fatal(err)
			}
		}
		wake := func(id flows.PaymentID, at time.Time) {
			b.Helper()
			if err := b.Wake(b.Context(), id, at); err != nil {
				b.Fatal(err)
			}
		}
		due := func(limit int, want string) {
			b.Helper()
			if ids, err := b.Due(b.Context(), flows.OpenLane, now, time.Minute, limit); err != nil || fmt.Sprint(ids) != want {
				b.Errorf("due are %v (%v), want %s", ids, err, want)
			}
		}
		waiting := func(want flows.Waiting) {
			b.Helper()
			w, err := b.Waiting(b.Context(), flows.OpenLane, now)
			if err != nil || w.Due != want.Due || w.Later != want.Later || !w.Oldest.Equal(want.Oldest) {
				b.Errorf("waiting are %+v (%v), want %+v", w, err, want)
			}
		}
		waiting(flows.Waiting{})
		schedule(payment("overdue-1", flows.Intent), now.Add(-time.Minute))
		schedule(payment("later-1", flows.Intent), now.Add(time.Hour))
		wake("later-1", now.Add(-2*time.Second))
		wake("unlisted-1", now.Add(-time.Second))
		wake("later-1", now) // it keeps its place
		waiting(flows.Waiting{Due: 3, Oldest: now.Add(-time.Minute)})
		schedule(payment("later-1", flows.Authorised), now.Add(time.Hour))
		schedule(payment("unlisted-1", flows.Refunded), time.Time{})
		due(2, "[later-1 unlisted-1]")
		waiting(flows.Waiting{Due: 1, Later: 2, Oldest: now.Add(-time.Minute)})
		schedule(payment("later-1", flows.Authorised), now.Add(time.Hour))
		schedule(payment("unlisted-1", flows.Refunded), time.Time{})
		due(3, "[overdue-1]")
		waiting(flows.Waiting{Later: 2})
		wake("overdue-1", now.Add(-time.Second)) // while a gateway works on it
		waiting(flows.Waiting{Due: 1, Later: 1, Oldest: now.Add(-time.Second)})
		due(3, "[overdue-1]")
	})
}

// TestDueHasItsTurn: more payments are woken than the gateways can advance, on and on. One that is only due is taken nevertheless, before
// those that are woken more than a minute later.
func TestDueHasItsTurn(t *testing.T) {
	onEach(t, func(b *fixture) {
		start := time.UnixMilli(time.Now().UnixMilli())
		if err := b.Schedule(b.Context(), &flows.Payment{ID: "due-1", State: flows.Captured, UpdatedAt: start}, start); err != nil {
			b.Fatal(err)
		}
		for taken, woken := 0, 0; taken < 200; taken++ { // one each second, of two
			now := start.Add(time.Duration(taken) * time.Second)
			for range 2 {
				woken++
				if err := b.Wake(b.Context(), flows.NewPaymentID("woken", woken), now); err != nil {
					b.Fatal(err)
				}
			}
			ids, err := b.Due(b.Context(), flows.OpenLane, now, time.Hour, 1)
			if err != nil || len(ids) != 1 {
				b.Fatalf("due are %v (%v)", ids, err)
			}
			if ids[0] != "due-1" {
				continue
			}
			if first := 2 * 61; taken != first {
				b.Errorf("%d that were woken come before it, and not the %d of its first minute", taken, first)
			}
			return
		}
		b.Error("it is never taken")
	})
}
