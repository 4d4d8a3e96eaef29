package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

func TestStartPayment(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		if registration.Version != payment.Version {
			redis.Errorf("registration version %d, payment version %d", registration.Version, payment.Version)
		}
		gotR, gotP, err := redis.Registration(redis.Context(), registration.ID)
		if err != nil || !reflect.DeepEqual(gotR, registration) || !reflect.DeepEqual(gotP, payment) {
			redis.Errorf("read %+v and %+v (%v)", gotR, gotP, err)
		}
		redis.lives(registrationKey(registration), 0)
		redis.lives(paymentKey(payment), 0)
		if _, err := redis.Payment(redis.Context(), "unknown-1"); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("what is not there: %v", err)
		}
	})
}

// TestStartPaymentIsBothOrNeither starts a payment of a registration that has changed, and a payment that
// already exists.
func TestStartPaymentIsBothOrNeither(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		stale := *registration
		stale.Version--
		for what, start := range map[string]struct {
			r *flows.Registration
			p *flows.Payment
		}{"registration changed": {&stale, redis.next(&stale)}, "payment exists": {registration, payment}} {
			before := redis.everything()
			forgetOpen(before) // the sweeper drops a start that was not completed
			if err := redis.StartPayment(redis.Context(), start.r, start.p); !errors.Is(err, flows.ErrConflict) {
				redis.Errorf("%s: %v", what, err)
			}
			after := redis.everything()
			forgetOpen(after)
			if !reflect.DeepEqual(before, after) {
				redis.Errorf("%s: %q became %q", what, before, after)
			}
		}
	})
}

// forgetOpen removes the lists of open payments from everything.
func forgetOpen(all map[string]string) {
	delete(all, "fd:payments:open")
	delete(all, "fd:{fd:payments:open}:states")
}

func TestCommit(t *testing.T) {
	onEach(t, func(redis *fixture) {
		_, payment := redis.started()
		for what, move := range map[string]flows.StateChange{
			"another state":   {From: flows.Captured, Version: payment.Version, Next: payment, Operation: "a"},
			"an old version":  {From: payment.State, Version: payment.Version - 1, Next: payment, Operation: "b"},
			"a later version": {From: payment.State, Version: payment.Version + 1, Next: payment, Operation: "c"},
		} {
			redis.unchanged(what, func() {
				if err := redis.Commit(redis.Context(), move); !errors.Is(err, flows.ErrConflict) || errors.Is(err, flows.ErrOwned) {
					redis.Errorf("%s: %v", what, err)
				}
			})
		}
		moved := redis.commit(to(payment, flows.Intent))
		got, err := redis.Payment(redis.Context(), payment.ID)
		if err != nil || moved.Version <= payment.Version || !reflect.DeepEqual(got, moved) {
			redis.Errorf("committed %+v, read %+v (%v)", moved, got, err)
		}
		redis.lives(paymentKey(payment), 0)
		missing := to(payment, flows.Intent)
		missing.Next.ID = flows.NewPaymentID(payment.Registration, 9)
		redis.unchanged("a payment that is not there", func() {
			if err := redis.Commit(redis.Context(), missing); !errors.Is(err, flows.ErrConflict) {
				redis.Errorf("a payment that is not there: %v", err)
			}
		})
	})
}

// TestRepeatedOperation: a repeated change gets its first response, whatever has happened since, and changes
// nothing more.
func TestRepeatedOperation(t *testing.T) {
	onEach(t, func(redis *fixture) {
		_, p := redis.started()
		first := to(p, flows.Intent)
		intent := *redis.commit(first)
		repeat := func() {
			first.Next.Version = 0
			if err := redis.Commit(redis.Context(), first); err != nil || first.Next.Version != intent.Version {
				redis.Errorf("the repetition got version %d: %v", first.Next.Version, err)
			}
		}
		redis.unchanged("a repetition", repeat)
		second := to(&intent, flows.Authorised)
		redis.commit(second)
		redis.unchanged("a late repetition", repeat)
		other := to(&intent, flows.Cancelling)
		redis.unchanged("another operation", func() {
			if err := redis.Commit(redis.Context(), other); !errors.Is(err, flows.ErrConflict) {
				redis.Errorf("another operation: %v", err)
			}
		})
	})
}

// TestLease: while a payment is leased, and for a grace period after that, no other
// gateway can take it over. Its owner can continue.
func TestLease(t *testing.T) {
	onEach(t, func(redis *fixture) {
		_, payment := redis.started()
		claim := to(payment, flows.Sending)
		claim.Lease = time.Minute
		sending := redis.commit(claim)
		takeOver := to(sending, flows.InDoubt)
		takeOver.LeaseExpiredFor = time.Millisecond
		owned := func(what string) {
			redis.unchanged(what, func() {
				if err := redis.Commit(redis.Context(), takeOver); !errors.Is(err, flows.ErrOwned) || !errors.Is(err, flows.ErrConflict) {
					redis.Errorf("%s: %v", what, err)
				}
			})
		}
		owned("under the lease")
		// The lease has ended by the clock of Redis, but the grace period has not.
		redis.redis.HSet(redis.Context(), paymentKey(payment), "lease", time.Now().UnixMilli())
		takeOver.LeaseExpiredFor = time.Minute
		owned("within the grace")
		takeOver.LeaseExpiredFor = time.Millisecond
		frontdesktest.Eventually(redis, "taken over", func() bool { return redis.Commit(redis.Context(), takeOver) == nil })

		_, payment = redis.started()
		claim = to(payment, flows.Sending)
		claim.Lease = time.Minute
		sending = redis.commit(claim)
		redis.commit(to(sending, flows.Recorded))
		if lease := redis.redis.HGet(redis.Context(), paymentKey(payment), "lease").Val(); lease != "0" {
			redis.Errorf("the lease is %s after its owner continued", lease)
		}
	})
}

// TestEnd: a final payment and its registration expire after a while. The next payment makes the registration
// permanent again.
func TestEnd(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		end := to(payment, flows.Cancelled)
		end.Keep = 30 * 24 * time.Hour
		redis.commit(end)
		redis.lives(paymentKey(payment), 30*24*time.Hour)
		redis.lives(registrationKey(registration), 48*time.Hour)
		second := redis.next(registration)
		if err := redis.StartPayment(redis.Context(), registration, second); err != nil {
			redis.Fatal(err)
		}
		redis.lives(registrationKey(registration), 0)
		redis.lives(paymentKey(second), 0)
		redis.lives(paymentKey(payment), 30*24*time.Hour)
		_, latest, err := redis.Registration(redis.Context(), registration.ID)
		if err != nil || latest.ID != second.ID {
			redis.Errorf("the latest payment is %+v (%v)", latest, err)
		}
	})
}

// TestDuePayments shares a list of due payments between concurrent callers.
func TestDuePayments(t *testing.T) {
	onEach(t, func(redis *fixture) {
		now := time.Now()
		const payments, limit = 200, 7
		for i := range payments {
			p := &flows.Payment{ID: flows.PaymentID(fmt.Sprintf("r-%d", i+1)), State: flows.Intent, UpdatedAt: now}
			if err := redis.Schedule(redis.Context(), p, now.Add(-time.Duration(i)*time.Millisecond)); err != nil {
				redis.Fatal(err)
			}
		}
		err := redis.Schedule(redis.Context(), &flows.Payment{ID: "later-1", State: flows.Intent, UpdatedAt: now}, now.Add(time.Second))
		if err != nil {
			redis.Fatal(err)
		}
		var mu sync.Mutex
		taken := map[flows.PaymentID]int{}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range payments { // each call takes at least one, or none are left
					due, err := redis.Due(redis.Context(), flows.OpenLane, now, 30*time.Second, limit)
					if err != nil || len(due) == 0 {
						if err != nil {
							redis.Errorf("due payments: %v", err)
						}
						return
					}
					mu.Lock()
					for _, id := range due {
						taken[id]++
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		for id, n := range taken {
			if n != 1 {
				redis.Errorf("%s was given to %d callers", id, n)
			}
		}
		if len(taken) != payments || taken["later-1"] != 0 {
			redis.Errorf("%d of %d payments were given out", len(taken), payments)
		}
		if again, _ := redis.Due(redis.Context(), flows.OpenLane, now.Add(30*time.Second), time.Second, 1000); len(again) != payments+1 {
			redis.Errorf("after the pause %d payments are due", len(again))
		}
		if err := redis.Unschedule(redis.Context(), "later-1"); err != nil {
			redis.Fatal(err)
		}
		if last, _ := redis.Due(redis.Context(), flows.OpenLane, now.Add(time.Hour), time.Second, 1000); len(last) != payments {
			redis.Errorf("after one was dropped %d payments are due", len(last))
		}
	})
}

// TestStartIsNotSweptAtOnce: a sweeper that runs after the list entry but before the payment is written would
// find no payment, and drop the entry for good.
func TestStartIsNotSweptAtOnce(t *testing.T) {
	onEach(t, func(redis *fixture) {
		_, p := redis.started()
		if due, err := redis.Due(redis.Context(), flows.OpenLane, p.CreatedAt.Add(5*time.Second), time.Second, 10); err != nil || len(due) != 0 {
			redis.Errorf("while it may be in progress: %v (%v)", due, err)
		}
		if due, err := redis.Due(redis.Context(), flows.OpenLane, p.CreatedAt.Add(time.Minute), time.Second, 10); err != nil || len(due) != 1 {
			redis.Errorf("a minute later: %v (%v)", due, err)
		}
	})
}

func TestOnce(t *testing.T) {
	onEach(t, func(redis *fixture) {
		name := "event:" + uuid.NewString()
		expect := func(what string, wantSeen, wantFirst bool) {
			redis.Helper()
			_, seen, err := redis.PaymentUnlessSeen(redis.Context(), flows.NewPaymentID(uuid.NewString(), 1), name)
			if seen != wantSeen || !seen && !errors.Is(err, flows.ErrNotFound) || seen && err != nil {
				redis.Errorf("%s: seen %t (%v)", what, seen, err)
			}
			first, err := redis.Once(redis.Context(), name, time.Hour)
			if err != nil || first != wantFirst {
				redis.Errorf("%s: first %t (%v)", what, first, err)
			}
		}
		expect("before", false, true)
		expect("after", true, false)
		for _, key := range redis.redis.Keys(redis.Context(), "fd:once:*").Val() {
			redis.expire(key)
		}
		expect("when the period is over", false, true)
	})
}
