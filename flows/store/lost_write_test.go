package store_test

import (
	"testing"
	"time"

	"frontdesk/flows"
)

// TestSequenceAfterLostWrites: a visitor saw a state that Redis then lost. The next change has a higher sequence, although fewer
// writes led to it.
func TestSequenceAfterLostWrites(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration := redis.registered()
		lose := redis.losing(registration)
		paid := *registration
		payment := redis.next(&paid)
		if err := redis.StartPayment(redis.Context(), &paid, payment); err != nil {
			redis.Fatal(err)
		}
		redis.commit(to(payment, flows.Intent))
		seen := redis.sequence(registration)
		lose()
		if err := redis.SaveRegistration(redis.Context(), registration); err != nil || redis.sequence(registration) <= seen {
			redis.Errorf("without its payment it is at %d, and was at %d (%v)", redis.sequence(registration), seen, err)
		}

		registration, payment = redis.started()
		intent := *redis.commit(to(payment, flows.Intent))
		lose = redis.losing(registration)
		redis.commit(to(redis.commit(to(redis.commit(to(&intent, flows.Authorised)), flows.Capturing)), flows.Captured))
		seen = redis.sequence(registration)
		lose()
		if redis.commit(to(&intent, flows.Cancelling)); redis.sequence(registration) <= seen {
			redis.Errorf("the payment is at %d, and was at %d", redis.sequence(registration), seen)
		}
	})
}

// TestSequenceOfAnotherVersion: during an upgrade, a gateway of version 0.9 begins the next payment, and counts its versions from 1.
func TestSequenceOfAnotherVersion(t *testing.T) {
	onEach(t, func(redis *fixture) {
		registration, payment := redis.started()
		redis.commit(to(payment, flows.Cancelled))
		before := redis.sequence(registration)
		next := redis.next(registration)
		next.CreatedAt = time.Now().Add(time.Second)
		if err := redis.StartPayment(redis.Context(), registration, next); err != nil {
			redis.Fatal(err)
		}
		redis.redis.HSet(redis.Context(), paymentKey(next), "version", 1)
		begun := redis.sequence(registration)
		redis.redis.HSet(redis.Context(), paymentKey(next), "version", 2)
		if moved := redis.sequence(registration); begun <= before || moved <= begun {
			redis.Errorf("the sequences are %d, %d, %d", before, begun, moved)
		}
	})
}

// sequence reads the sequence of a registration.
func (redis *fixture) sequence(registration *flows.Registration) int64 {
	redis.Helper()
	got, payment, err := redis.Registration(redis.Context(), registration.ID)
	if err != nil {
		redis.Fatal(err)
	}
	return flows.View{Registration: got, Payment: payment}.Sequence()
}

// losing returns a function that makes Redis lose all writes to a registration and its payments from now on.
func (redis *fixture) losing(registration *flows.Registration) (lose func()) {
	redis.Helper()
	records, held := "fd:{"+registration.ID+"}:*", map[string]map[string]string{}
	for _, key := range redis.redis.Keys(redis.Context(), records).Val() {
		held[key] = redis.redis.HGetAll(redis.Context(), key).Val()
	}
	return func() {
		redis.redis.Del(redis.Context(), redis.redis.Keys(redis.Context(), records).Val()...)
		for key, fields := range held {
			redis.redis.HSet(redis.Context(), key, fields)
		}
	}
}
