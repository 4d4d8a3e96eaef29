package store_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

// lost is a registration and its payment that are unknown to Redis.
func (b *fixture) lost(state flows.PaymentState) (*flows.Registration, *flows.Payment) {
	b.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	registration := &flows.Registration{
		ID:         uuid.NewString(),
		State:      flows.Open,
		ClubID:     "11",
		Generation: 1,
		CreatedAt:  now,
		ExpiresAt:  now.Add(20 * time.Hour),
		Rebuilt:    true,
	}
	payment := &flows.Payment{
		ID:           flows.NewPaymentID(registration.ID, 1),
		Schema:       flows.PaymentSchema,
		State:        state,
		Registration: registration.ID,
		Generation:   1,
		UpdatedAt:    now,
	}
	return registration, payment
}

func TestRebuild(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, paid := redis.lost(flows.InDoubt)
		if err := redis.Rebuild(redis.Context(), registration, paid, 0); err != nil {
			redis.Fatal(err)
		}
		got, payment, err := redis.Registration(redis.Context(), registration.ID)
		if err != nil || got.Version == 0 || payment.Version != paid.Version || payment.State != flows.InDoubt || !got.Rebuilt {
			redis.Fatalf("read %+v with %+v (%v)", got, payment, err)
		}
		for _, key := range []string{registrationKey(registration), paymentKey(paid)} {
			if ttl := redis.redis.TTL(redis.Context(), key).Val(); ttl != -1 {
				redis.Errorf("%s ends in %s while its payment lives", key, ttl)
			}
		}
		if open := redis.redis.ZScore(redis.Context(), "fd:payments:open", string(paid.ID)).Val(); int64(open) != paid.UpdatedAt.UnixMilli() {
			redis.Errorf("the next look is at %f", open)
		}
		other := *paid
		other.State = flows.Captured
		redis.unchanged("a payment that is there", func() {
			if err := redis.Rebuild(redis.Context(), got, &other, 0); !errors.Is(err, flows.ErrConflict) {
				redis.Error(err)
			}
		})
		if err := redis.Commit(redis.Context(), to(payment, flows.Recorded)); err != nil {
			redis.Errorf("what came back does not move: %v", err)
		}
	})
}

// TestRebuildFinal: a final payment that is rebuilt expires like any other.
func TestRebuildFinal(t *testing.T) {
	onEach(t, func(redis *fixture) {
		r, p := redis.lost(flows.Recorded)
		if err := redis.Rebuild(redis.Context(), r, p, 720*time.Hour); err != nil {
			redis.Fatal(err)
		}
		redis.lives(paymentKey(p), 720*time.Hour)
		redis.lives(registrationKey(r), 48*time.Hour)
		if n := redis.redis.ZCard(redis.Context(), "fd:payments:open").Val(); n != 0 {
			redis.Errorf("%d payments are open", n)
		}
	})
}

// TestRebuildBehind: Redis has an earlier state of the registration.
func TestRebuildBehind(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, first := redis.started()
		next := *first
		next.ID, next.Generation, next.State = flows.NewPaymentID(registration.ID, 2), 2, flows.Captured
		stale := *registration
		stale.Version--
		if err := redis.Rebuild(redis.Context(), &stale, &next, 0); !errors.Is(err, flows.ErrConflict) {
			redis.Errorf("a registration that was changed: %v", err)
		}
		registration.Generation = 2
		if err := redis.Rebuild(redis.Context(), registration, &next, 0); err != nil {
			redis.Fatal(err)
		}
		got, p, err := redis.Registration(redis.Context(), registration.ID)
		if err != nil || p.ID != next.ID || got.Version <= registration.Version {
			redis.Errorf("%+v with %+v (%v)", got, p, err)
		}
		// When the earlier payment ends, the registration stays with the later one.
		move := to(first, flows.Cancelled)
		move.Keep = time.Hour
		if err := redis.Commit(redis.Context(), move); err != nil {
			redis.Fatal(err)
		}
		if ttl := redis.redis.TTL(redis.Context(), registrationKey(registration)).Val(); ttl != -1 {
			redis.Errorf("the registration ends in %s", ttl)
		}
		duplicate := next
		duplicate.ID = flows.NewPaymentID(registration.ID, 1<<20)
		if err := redis.Rebuild(redis.Context(), nil, &duplicate, 0); err != nil {
			redis.Fatal(err)
		}
		if after, p, _ := redis.Registration(redis.Context(), registration.ID); after.Version != got.Version || p.ID != next.ID {
			redis.Errorf("another payment made it %+v with %s", after, p.ID)
		}
	})
}

// TestRebuildWithoutRegistration: only a duplicate is stored without its registration.
func TestRebuildWithoutRegistration(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.lost(flows.Captured)
		if err := redis.Rebuild(redis.Context(), nil, payment, 0); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("under its number: %v", err)
		}
		if _, err := redis.Payment(redis.Context(), payment.ID); !errors.Is(err, flows.ErrNotFound) {
			redis.Errorf("it was stored: %v", err)
		}
		duplicate := *payment
		duplicate.ID = flows.NewPaymentID(registration.ID, 1<<20)
		if err := redis.Rebuild(redis.Context(), nil, &duplicate, 0); err != nil {
			redis.Errorf("under an id of its own: %v", err)
		}
	})
}

func TestOneRebuilds(t *testing.T) {
	onEach(t, func(redis *fixture) {
		r, p := redis.lost(flows.Captured)
		var won atomic.Int32
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				mine, its := *r, *p
				switch err := redis.Rebuild(redis.Context(), &mine, &its, 0); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, flows.ErrConflict):
					redis.Errorf("a lost race: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			redis.Errorf("%d of 16 brought it back", won.Load())
		}
	})
}

// TestRebuildAnswerLost: the script is sent again and finds its work done.
func TestRebuildAnswerLost(t *testing.T) {
	onEach(t, func(redis *fixture) {
		for message := 1; ; message++ {
			behind, wire := redis.behind(message)
			r, p := redis.lost(flows.Captured)
			err := behind.Rebuild(redis.Context(), r, p, 0)
			if !wire.Triggered() {
				return
			}
			if errors.Is(err, flows.ErrConflict) {
				redis.Errorf("message %d: %v", message, err)
			}
		}
	})
}

func TestHeartbeat(t *testing.T) {
	onEach(t, func(redis *fixture) {
		var before []int64
		beat := func(gateway string, n int64) {
			got, err := redis.Heartbeat(redis.Context(), gateway, n)
			if err != nil {
				redis.Fatal(err)
			}
			before = append(before, got)
		}
		beat("one", 1)
		beat("two", 1)
		beat("one", 2)
		redis.lives("fd:heartbeat:one", time.Hour)
		redis.redis.Del(redis.Context(), "fd:heartbeat:one")
		beat("one", 3)
		if want := []int64{0, 0, 1, 0}; !reflect.DeepEqual(before, want) {
			redis.Errorf("found %v, want %v", before, want)
		}
	})
}

func TestEnsureScheduled(t *testing.T) {
	onEach(t, func(store *fixture) {
		_, payment := store.started()
		score := func() int64 {
			return int64(store.redis.ZScore(store.Context(), "fd:payments:open", string(payment.ID)).Val())
		}
		planned, now := score(), time.Now()
		tomorrow := redis.Z{Score: float64(now.Add(24 * time.Hour).UnixMilli()), Member: string(payment.ID)}
		for _, step := range []struct {
			do   func()
			want int64
		}{{func() {}, planned}, {func() { store.redis.Del(store.Context(), "fd:payments:open") }, now.UnixMilli()},
			// a clock was ahead
			{func() { store.redis.ZAdd(store.Context(), "fd:payments:open", tomorrow) }, now.Add(10 * time.Minute).UnixMilli()}} {
			step.do()
			if err := store.EnsureScheduled(store.Context(), payment, now); err != nil || score() != step.want {
				store.Errorf("the next look is at %d, want %d (%v)", score(), step.want, err)
			}
		}
	})
}

// TestDamagedFields: a field that contradicts its sealed record causes an error that names the key, and
// changes nothing.
func TestDamagedFields(t *testing.T) {
	onEach(t, func(redis *fixture) {
		ofRegistration := func(r *flows.Registration, _ *flows.Payment) string { return registrationKey(r) }
		ofPayment := func(_ *flows.Registration, p *flows.Payment) string { return paymentKey(p) }
		for name, test := range map[string]struct {
			key          func(*flows.Registration, *flows.Payment) string
			field, value string
		}{
			"generation of a registration":        {ofRegistration, "generation", "7"},
			"generation of letters":               {ofRegistration, "generation", "x"},
			"version of a registration":           {ofRegistration, "version", "x"},
			"state of a payment":                  {ofPayment, "state", "recorded"},
			"version of a payment, out of bounds": {ofPayment, "version", "99999999999999999999"},
		} {
			registration, payment := redis.started()
			key := test.key(registration, payment)
			redis.redis.HSet(redis.Context(), key, test.field, test.value)
			redis.unchanged(name, func() {
				_, _, err := redis.Registration(redis.Context(), registration.ID)
				redis.expectDamaged(name, key, err)
				if key == paymentKey(payment) {
					_, err := redis.Payment(redis.Context(), payment.ID)
					redis.expectDamaged(name, key, err)
				}
			})
			redis.redis.HDel(redis.Context(), key, test.field)
			if _, _, err := redis.Registration(redis.Context(), registration.ID); !errors.Is(err, flows.ErrDamaged) {
				redis.Errorf("without the %s: %v", name, err)
			}
		}
	})
}

func (b *fixture) expectDamaged(what, key string, err error) {
	b.Helper()
	if !errors.Is(err, flows.ErrDamaged) || !strings.Contains(err.Error(), key) {
		b.Errorf("%s: %v", what, err)
	}
}
