package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
)

// TestWake: a payment that was woken comes before what is only due, and stays due whatever is scheduled meanwhile, until a gateway
// takes it.
func TestWake(t *testing.T) {
	onEach(t, func(redis *fixture) {
		now := time.UnixMilli(time.Now().UnixMilli())
		payment := func(id flows.PaymentID, state flows.PaymentState) *flows.Payment {
			return &flows.Payment{ID: id, State: state, UpdatedAt: now}
		}
		schedule := func(p *flows.Payment, at time.Time) {
			redis.Helper()
			if err := redis.Schedule(redis.Context(), p, at); err != nil {
				redis.Fatal(err)
			}
		}
		wake := func(id flows.PaymentID, at time.Time) {
			redis.Helper()
			if err := redis.Wake(redis.Context(), id, at); err != nil {
				redis.Fatal(err)
			}
		}
		due := func(limit int, want string) {
			redis.Helper()
			if ids, err := redis.Due(redis.Context(), flows.OpenLane, now, time.Minute, limit); err != nil || fmt.Sprint(ids) != want {
				redis.Errorf("due are %v (%v), want %s", ids, err, want)
			}
		}
		waiting := func(want flows.Waiting) {
			redis.Helper()
			w, err := redis.Waiting(redis.Context(), flows.OpenLane, now)
			if err != nil || w.Due != want.Due || w.Later != want.Later || !w.Oldest.Equal(want.Oldest) || !w.Next.Equal(want.Next) {
				redis.Errorf("waiting are %+v (%v), want %+v", w, err, want)
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
		waiting(flows.Waiting{Due: 1, Later: 2, Oldest: now.Add(-time.Minute), Next: now.Add(time.Minute)})
		schedule(payment("later-1", flows.Authorised), now.Add(time.Hour))
		schedule(payment("unlisted-1", flows.Refunded), time.Time{})
		due(3, "[overdue-1]")
		waiting(flows.Waiting{Later: 2, Next: now.Add(time.Minute)})
		wake("overdue-1", now.Add(-time.Second)) // while a gateway works on it
		waiting(flows.Waiting{Due: 1, Later: 1, Oldest: now.Add(-time.Second), Next: now.Add(time.Hour)})
		due(3, "[overdue-1]")
	})
}

// TestDueHasItsTurn: more payments are woken than a gateway can advance, on and on. One that is only due is taken nevertheless.
func TestDueHasItsTurn(t *testing.T) {
	onEach(t, func(redis *fixture) {
		now := time.UnixMilli(time.Now().UnixMilli())
		if err := redis.Schedule(redis.Context(), &flows.Payment{ID: "due-1", State: flows.Captured, UpdatedAt: now}, now); err != nil {
			redis.Fatal(err)
		}
		taken := map[flows.PaymentID]bool{}
		for woken := range 8 { // two are woken for each that is taken
			for _, n := range []int{2*woken + 1, 2*woken + 2} {
				if err := redis.Wake(redis.Context(), flows.NewPaymentID("woken", n), now); err != nil {
					redis.Fatal(err)
				}
			}
			ids, err := redis.Due(redis.Context(), flows.OpenLane, now, time.Hour, 1)
			if err != nil || len(ids) != 1 {
				redis.Fatalf("due are %v (%v)", ids, err)
			}
			taken[ids[0]] = true
		}
		if len(taken) != 8 || !taken["due-1"] {
			redis.Errorf("taken are %v", taken)
		}
	})
}

// TestBuyerPassesABacklog: after an outage, many payments have been due for minutes, most of which no buyer looks at. One that is woken
// then, because its buyer has just paid, waits for none of them.
func TestBuyerPassesABacklog(t *testing.T) {
	onEach(t, func(redis *fixture) {
		now := time.UnixMilli(time.Now().UnixMilli())
		for n := range 100 {
			idle := &flows.Payment{ID: flows.NewPaymentID("idle", n+1), State: flows.Intent, UpdatedAt: now}
			if err := redis.Schedule(redis.Context(), idle, now.Add(-10*time.Minute)); err != nil {
				redis.Fatal(err)
			}
		}
		for n := range 3 {
			if err := redis.Wake(redis.Context(), flows.NewPaymentID("paid", n+1), now.Add(time.Duration(n))); err != nil {
				redis.Fatal(err)
			}
			ids, err := redis.Due(redis.Context(), flows.OpenLane, now, time.Minute, 1)
			if want := flows.NewPaymentID("paid", n+1); err != nil || !slices.Contains(ids, want) {
				redis.Errorf("%v is taken before %s (%v)", ids, want, err)
			}
		}
	})
}
