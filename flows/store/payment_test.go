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
	onEach(t, func(b *fixture) {
		r, p := b.started()
		if r.Version != 2 || p.Version != 1 {
			b.Errorf("registration version %d, payment version %d", r.Version, p.Version)
		}
		gotR, gotP, err := b.Registration(b.Context(), r.ID)
		if err != nil || !reflect.DeepEqual(gotR, r) || !reflect.DeepEqual(gotP, p) {
			b.Errorf("read %+v and %+v (%v)", gotR, gotP, err)
		}
		b.lives(registrationKey(r), 0)
		b.lives(paymentKey(p), 0)
		if _, err := b.Payment(b.Context(), "unknown-1"); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("what is not there: %v", err)
		}
	})
}

// TestStartPaymentIsBothOrNeither starts a payment of a registration that has changed, and a payment that
// already exists.
func TestStartPaymentIsBothOrNeither(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		stale := *r
		stale.Version--
		for what, start := range map[string]struct {
			r *flows.Registration
			p *flows.Payment
		}{"registration changed": {&stale, b.next(&stale)}, "payment exists": {r, p}} {
			before := b.everything()
			forgetOpen(before) // the sweeper drops a start that was not completed
			if err := b.StartPayment(b.Context(), start.r, start.p); !errors.Is(err, flows.ErrConflict) {
				b.Errorf("%s: %v", what, err)
			}
			after := b.everything()
			forgetOpen(after)
			if !reflect.DeepEqual(before, after) {
				b.Errorf("%s: %q became %q", what, before, after)
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
	onEach(t, func(b *fixture) {
		_, p := b.started()
		for what, move := range map[string]flows.StateChange{
			"another state":   {From: flows.Captured, Version: p.Version, Next: p, Operation: "a"},
			"an old version":  {From: p.State, Version: p.Version - 1, Next: p, Operation: "b"},
			"a later version": {From: p.State, Version: p.Version + 1, Next: p, Operation: "c"},
		} {
			b.unchanged(what, func() {
				if err := b.Commit(b.Context(), move); !errors.Is(err, flows.ErrConflict) || errors.Is(err, flows.ErrOwned) {
					b.Errorf("%s: %v", what, err)
				}
			})
		}
		moved := b.commit(to(p, flows.Intent))
		got, err := b.Payment(b.Context(), p.ID)
		if err != nil || moved.Version != 2 || !reflect.DeepEqual(got, moved) {
			b.Errorf("committed %+v, read %+v (%v)", moved, got, err)
		}
		b.lives(paymentKey(p), 0)
		missing := to(p, flows.Intent)
		missing.Next.ID = flows.NewPaymentID(p.Registration, 9)
		b.unchanged("a payment that is not there", func() {
			if err := b.Commit(b.Context(), missing); !errors.Is(err, flows.ErrConflict) {
				b.Errorf("a payment that is not there: %v", err)
			}
		})
	})
}

// TestRepeatedOperation: a repeated change gets its first response, whatever has happened since, and changes
// nothing more.
func TestRepeatedOperation(t *testing.T) {
	onEach(t, func(b *fixture) {
		_, p := b.started()
		first := to(p, flows.Intent)
		intent := b.commit(first)
		repeat := func() {
			first.Next.Version = 0
			if err := b.Commit(b.Context(), first); err != nil || first.Next.Version != 2 {
				b.Errorf("the repetition got version %d: %v", first.Next.Version, err)
			}
		}
		b.unchanged("a repetition", repeat)
		intent.Version = 2
		second := to(intent, flows.Authorised)
		b.commit(second)
		b.unchanged("a late repetition", repeat)
		other := to(intent, flows.Cancelling)
		b.unchanged("another operation", func() {
			if err := b.Commit(b.Context(), other); !errors.Is(err, flows.ErrConflict) {
				b.Errorf("another operation: %v", err)
			}
		})
	})
}

// TestLease: while a payment is leased, and for a grace period after that, no other
// gateway can take it over. Its owner can continue.
func TestLease(t *testing.T) {
	onEach(t, func(b *fixture) {
		_, p := b.started()
		claim := to(p, flows.Sending)
		claim.Lease = time.Minute
		sending := b.commit(claim)
		takeOver := to(sending, flows.InDoubt)
		takeOver.LeaseExpiredFor = time.Millisecond
		owned := func(what string) {
			b.unchanged(what, func() {
				if err := b.Commit(b.Context(), takeOver); !errors.Is(err, flows.ErrOwned) || !errors.Is(err, flows.ErrConflict) {
					b.Errorf("%s: %v", what, err)
				}
			})
		}
		owned("under the lease")
		// The lease has ended by the clock of Redis, but the grace period has not.
		b.redis.HSet(b.Context(), paymentKey(p), "lease", time.Now().UnixMilli())
		takeOver.LeaseExpiredFor = time.Minute
		owned("within the grace")
		takeOver.LeaseExpiredFor = time.Millisecond
		frontdesktest.Eventually(b, "taken over", func() bool { return b.Commit(b.Context(), takeOver) == nil })

		_, p = b.started()
		claim = to(p, flows.Sending)
		claim.Lease = time.Minute
		sending = b.commit(claim)
		b.commit(to(sending, flows.Recorded))
		if lease := b.redis.HGet(b.Context(), paymentKey(p), "lease").Val(); lease != "0" {
			b.Errorf("the lease is %s after its owner continued", lease)
		}
	})
}

// TestEnd: a final payment and its registration expire after a while. The next payment makes the registration
// permanent again.
func TestEnd(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.started()
		end := to(p, flows.Cancelled)
		end.Keep = 30 * 24 * time.Hour
		b.commit(end)
		b.lives(paymentKey(p), 30*24*time.Hour)
		b.lives(registrationKey(r), 48*time.Hour)
		second := b.next(r)
		if err := b.StartPayment(b.Context(), r, second); err != nil {
			b.Fatal(err)
		}
		b.lives(registrationKey(r), 0)
		b.lives(paymentKey(second), 0)
		b.lives(paymentKey(p), 30*24*time.Hour)
		_, latest, err := b.Registration(b.Context(), r.ID)
		if err != nil || latest.ID != second.ID {
			b.Errorf("the latest payment is %+v (%v)", latest, err)
		}
	})
}

// TestDuePayments shares a list of due payments between concurrent callers.
func TestDuePayments(t *testing.T) {
	onEach(t, func(b *fixture) {
		now := time.Now()
		const payments, limit = 200, 7
		for i := range payments {
			p := &flows.Payment{ID: flows.PaymentID(fmt.Sprintf("r-%d", i+1)), State: flows.Intent, UpdatedAt: now}
			if err := b.Schedule(b.Context(), p, now.Add(-time.Duration(i)*time.Millisecond)); err != nil {
				b.Fatal(err)
			}
		}
		if err := b.Schedule(b.Context(), &flows.Payment{ID: "later-1", State: flows.Intent, UpdatedAt: now}, now.Add(time.Second)); err != nil {
			b.Fatal(err)
		}
		var mu sync.Mutex
		taken := map[flows.PaymentID]int{}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range payments { // each call takes at least one, or none are left
					due, err := b.Due(b.Context(), flows.OpenLane, now, 30*time.Second, limit)
					if err != nil || len(due) == 0 {
						if err != nil {
							b.Errorf("due payments: %v", err)
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
				b.Errorf("%s was given to %d callers", id, n)
			}
		}
		if len(taken) != payments || taken["later-1"] != 0 {
			b.Errorf("%d of %d payments were given out", len(taken), payments)
		}
		if again, _ := b.Due(b.Context(), flows.OpenLane, now.Add(30*time.Second), time.Second, 1000); len(again) != payments+1 {
			b.Errorf("after the pause %d payments are due", len(again))
		}
		if err := b.Unschedule(b.Context(), "later-1"); err != nil {
			b.Fatal(err)
		}
		if last, _ := b.Due(b.Context(), flows.OpenLane, now.Add(time.Hour), time.Second, 1000); len(last) != payments {
			b.Errorf("after one was dropped %d payments are due", len(last))
		}
	})
}

// TestStartIsNotSweptAtOnce: a sweeper that runs after the list entry but before the payment is written would
// find no payment, and drop the entry for good.
func TestStartIsNotSweptAtOnce(t *testing.T) {
	onEach(t, func(b *fixture) {
		_, p := b.started()
		if due, err := b.Due(b.Context(), flows.OpenLane, p.CreatedAt.Add(5*time.Second), time.Second, 10); err != nil || len(due) != 0 {
			b.Errorf("while it may be in progress: %v (%v)", due, err)
		}
		if due, err := b.Due(b.Context(), flows.OpenLane, p.CreatedAt.Add(time.Minute), time.Second, 10); err != nil || len(due) != 1 {
			b.Errorf("a minute later: %v (%v)", due, err)
		}
	})
}

func TestOnce(t *testing.T) {
	onEach(t, func(b *fixture) {
		name := "event:" + uuid.NewString()
		expect := func(what string, wantSeen, wantFirst bool) {
			b.Helper()
			_, seen, err := b.PaymentUnlessSeen(b.Context(), flows.NewPaymentID(uuid.NewString(), 1), name)
			if seen != wantSeen || !seen && !errors.Is(err, flows.ErrNotFound) || seen && err != nil {
				b.Errorf("%s: seen %t (%v)", what, seen, err)
			}
			first, err := b.Once(b.Context(), name, time.Hour)
			if err != nil || first != wantFirst {
				b.Errorf("%s: first %t (%v)", what, first, err)
			}
		}
		expect("before", false, true)
		expect("after", true, false)
		for _, key := range b.redis.Keys(b.Context(), "fd:once:*").Val() {
			b.expire(key)
		}
		expect("when the period is over", false, true)
	})
}
