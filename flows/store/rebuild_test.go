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
	r := &flows.Registration{
		ID:         uuid.NewString(),
		State:      flows.Open,
		ClubID:     "11",
		Generation: 1,
		CreatedAt:  now,
		ExpiresAt:  now.Add(20 * time.Hour),
		Rebuilt:    true,
	}
	p := &flows.Payment{
		ID:           flows.NewPaymentID(r.ID, 1),
		Schema:       flows.PaymentSchema,
		State:        state,
		Registration: r.ID,
		Generation:   1,
		UpdatedAt:    now,
	}
	return r, p
}

func TestRebuild(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.lost(flows.InDoubt)
		if err := b.Rebuild(b.Context(), r, p, 0); err != nil {
			b.Fatal(err)
		}
		got, payment, err := b.Registration(b.Context(), r.ID)
		sequel := payment.Version == p.Version && time.Since(time.Unix(p.Version, 0)).Abs() < time.Hour // no lost version was so high
		if err != nil || got.Version != 1 || !sequel || payment.State != flows.InDoubt || !got.Rebuilt {
			b.Fatalf("read %+v with %+v (%v)", got, payment, err)
		}
		for _, key := range []string{registrationKey(r), paymentKey(p)} {
			if ttl := b.redis.TTL(b.Context(), key).Val(); ttl != -1 {
				b.Errorf("%s ends in %s while its payment lives", key, ttl)
			}
		}
		if open := b.redis.ZScore(b.Context(), "fd:payments:open", string(p.ID)).Val(); int64(open) != p.UpdatedAt.UnixMilli() {
			b.Errorf("the next look is at %f", open)
		}
		other := *p
		other.State = flows.Captured
		b.unchanged("a payment that is there", func() {
			if err := b.Rebuild(b.Context(), got, &other, 0); !errors.Is(err, flows.ErrConflict) {
				b.Error(err)
			}
		})
		if err := b.Commit(b.Context(), to(payment, flows.Recorded)); err != nil {
			b.Errorf("what came back does not move: %v", err)
		}
	})
}

// TestRebuildFinal: a final payment that is rebuilt expires like any other.
func TestRebuildFinal(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.lost(flows.Recorded)
		if err := b.Rebuild(b.Context(), r, p, 720*time.Hour); err != nil {
			b.Fatal(err)
		}
		b.lives(paymentKey(p), 720*time.Hour)
		b.lives(registrationKey(r), 48*time.Hour)
		if n := b.redis.ZCard(b.Context(), "fd:payments:open").Val(); n != 0 {
			b.Errorf("%d payments are open", n)
		}
	})
}

// TestRebuildBehind: Redis has an earlier state of the registration.
func TestRebuildBehind(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, first := b.started()
		next := *first
		next.ID, next.Generation, next.State = flows.NewPaymentID(r.ID, 2), 2, flows.Captured
		stale := *r
		stale.Version--
		if err := b.Rebuild(b.Context(), &stale, &next, 0); !errors.Is(err, flows.ErrConflict) {
			b.Errorf("a registration that was changed: %v", err)
		}
		r.Generation = 2
		if err := b.Rebuild(b.Context(), r, &next, 0); err != nil {
			b.Fatal(err)
		}
		got, p, err := b.Registration(b.Context(), r.ID)
		if err != nil || p.ID != next.ID || got.Version != r.Version+1 {
			b.Errorf("%+v with %+v (%v)", got, p, err)
		}
		// When the earlier payment ends, the registration stays with the later one.
		move := to(first, flows.Cancelled)
		move.Keep = time.Hour
		if err := b.Commit(b.Context(), move); err != nil {
			b.Fatal(err)
		}
		if ttl := b.redis.TTL(b.Context(), registrationKey(r)).Val(); ttl != -1 {
			b.Errorf("the registration ends in %s", ttl)
		}
		duplicate := next
		duplicate.ID = flows.NewPaymentID(r.ID, 1<<20)
		if err := b.Rebuild(b.Context(), nil, &duplicate, 0); err != nil {
			b.Fatal(err)
		}
		if after, p, _ := b.Registration(b.Context(), r.ID); after.Version != got.Version || p.ID != next.ID {
			b.Errorf("another payment made it %+v with %s", after, p.ID)
		}
	})
}

// TestRebuildWithoutRegistration: only a duplicate is stored without its registration.
func TestRebuildWithoutRegistration(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.lost(flows.Captured)
		if err := b.Rebuild(b.Context(), nil, p, 0); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("under its number: %v", err)
		}
		if _, err := b.Payment(b.Context(), p.ID); !errors.Is(err, flows.ErrNotFound) {
			b.Errorf("it was stored: %v", err)
		}
		duplicate := *p
		duplicate.ID = flows.NewPaymentID(r.ID, 1<<20)
		if err := b.Rebuild(b.Context(), nil, &duplicate, 0); err != nil {
			b.Errorf("under an id of its own: %v", err)
		}
	})
}

func TestOneRebuilds(t *testing.T) {
	onEach(t, func(b *fixture) {
		r, p := b.lost(flows.Captured)
		var won atomic.Int32
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				mine, its := *r, *p
				switch err := b.Rebuild(b.Context(), &mine, &its, 0); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, flows.ErrConflict):
					b.Errorf("a lost race: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			b.Errorf("%d of 16 brought it back", won.Load())
		}
	})
}

// TestRebuildAnswerLost: the script is sent again and finds its work done.
func TestRebuildAnswerLost(t *testing.T) {
	onEach(t, func(b *fixture) {
		for message := 1; ; message++ {
			behind, wire := b.behind(message)
			r, p := b.lost(flows.Captured)
			err := behind.Rebuild(b.Context(), r, p, 0)
			if !wire.Triggered() {
				return
			}
			if errors.Is(err, flows.ErrConflict) {
				b.Errorf("message %d: %v", message, err)
			}
		}
	})
}

func TestHeartbeat(t *testing.T) {
	onEach(t, func(b *fixture) {
		var before []int64
		beat := func(gateway string, n int64) {
			got, err := b.Heartbeat(b.Context(), gateway, n)
			if err != nil {
				b.Fatal(err)
			}
			before = append(before, got)
		}
		beat("one", 1)
		beat("two", 1)
		beat("one", 2)
		b.lives("fd:heartbeat:one", time.Hour)
		b.redis.Del(b.Context(), "fd:heartbeat:one")
		beat("one", 3)
		if want := []int64{0, 0, 1, 0}; !reflect.DeepEqual(before, want) {
			b.Errorf("found %v, want %v", before, want)
		}
	})
}

func TestEnsureScheduled(t *testing.T) {
	onEach(t, func(b *fixture) {
		_, p := b.started()
		score := func() int64 {
			return int64(b.redis.ZScore(b.Context(), "fd:payments:open", string(p.ID)).Val())
		}
		planned, now := score(), time.Now()
		tomorrow := redis.Z{Score: float64(now.Add(24 * time.Hour).UnixMilli()), Member: string(p.ID)}
		for _, step := range []struct {
			do   func()
			want int64
		}{{func() {}, planned}, {func() { b.redis.Del(b.Context(), "fd:payments:open") }, now.UnixMilli()},
			{func() { b.redis.ZAdd(b.Context(), "fd:payments:open", tomorrow) }, now.Add(10 * time.Minute).UnixMilli()}} { // a clock was ahead
			step.do()
			if err := b.EnsureScheduled(b.Context(), p, now); err != nil || score() != step.want {
				b.Errorf("the next look is at %d, want %d (%v)", score(), step.want, err)
			}
		}
	})
}

// TestDamagedFields: a field that contradicts its sealed record causes an error that names the key, and
// changes nothing.
func TestDamagedFields(t *testing.T) {
	onEach(t, func(b *fixture) {
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
			r, p := b.started()
			key := test.key(r, p)
			b.redis.HSet(b.Context(), key, test.field, test.value)
			b.unchanged(name, func() {
				_, _, err := b.Registration(b.Context(), r.ID)
				b.expectDamaged(name, key, err)
				if key == paymentKey(p) {
					_, err := b.Payment(b.Context(), p.ID)
					b.expectDamaged(name, key, err)
				}
			})
			b.redis.HDel(b.Context(), key, test.field)
			if _, _, err := b.Registration(b.Context(), r.ID); !errors.Is(err, flows.ErrDamaged) {
				b.Errorf("without the %s: %v", name, err)
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
