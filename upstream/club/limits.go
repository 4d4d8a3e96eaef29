package club

import (
	"cmp"
	"time"
)

// Limits limit time, size and concurrency of the calls. A zero field has the default that
// its comment names.
type Limits struct {
	// Read is the time for a read with all its attempts. Zero: 8 s, about as long as a
	// visitor waits at a page that does nothing.
	Read time.Duration
	// Attempt is the time for one attempt of a read. Zero: 5 s; a slower response is
	// probably lost, and there is time left for another attempt.
	Attempt time.Duration
	// Write is the time for a write. Zero: 15 s, longer than a read because a write is not
	// retried once it was sent.
	Write time.Duration
	// Payment is the time for a request that settles a sale, from dialling to the last byte of the
	// response. Zero: 30 s, because its unknown outcome costs most.
	Payment time.Duration
	// Attempts is the maximum number of attempts of a call. Zero: 3; what fails three times
	// within seconds will fail a fourth time.
	Attempts int
	// Concurrency is the number of parallel calls of a bulkhead. Zero: 64, several times
	// what a chain of clubs needs and harmless to its system.
	Concurrency int
	// Queue is how long a call waits for a permit. Zero: 1 s; a longer wait uses up the
	// time that the call itself needs.
	Queue time.Duration
	// BreakerCalls is how many attempts within 10 s, half of them failed, open the breaker.
	// Zero: 20, so that one visitor's failures do not stop all others.
	BreakerCalls int
	// BreakerPause is how long the breaker stays open. Zero: 5 s, enough for a restart
	// behind a load balancer.
	BreakerPause time.Duration
	// Body is the longest response that is read, in bytes. Zero: 4 MiB, a hundred times a
	// page of thirty offers with their schedules.
	Body int64
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Read:         cmp.Or(l.Read, 8*time.Second),
		Attempt:      cmp.Or(l.Attempt, 5*time.Second),
		Write:        cmp.Or(l.Write, 15*time.Second),
		Payment:      cmp.Or(l.Payment, 30*time.Second),
		Attempts:     cmp.Or(l.Attempts, 3),
		Concurrency:  cmp.Or(l.Concurrency, 64),
		Queue:        cmp.Or(l.Queue, time.Second),
		BreakerCalls: cmp.Or(l.BreakerCalls, 20),
		BreakerPause: cmp.Or(l.BreakerPause, 5*time.Second),
		Body:         cmp.Or(l.Body, 4<<20),
	}
}
