package club

import (
	"cmp"
	"time"
)

// Limits limit time, size and concurrency of the calls. A zero field has the default that
// its comment names.
type Limits struct {
	// ReadTimeout is the time for a read with all its attempts. Zero: 8 s, about as long as
	// a visitor waits at a page that does nothing.
	ReadTimeout time.Duration
	// AttemptTimeout is the time for one attempt of a read. Zero: 5 s; a slower response is
	// probably lost, and there is time left for another attempt.
	AttemptTimeout time.Duration
	// WriteTimeout is the time for a write. Zero: 15 s, longer than a read because a write
	// is not retried once it was sent.
	WriteTimeout time.Duration
	// PaymentTimeout is the time for a request that settles a sale, from dialling to the
	// last byte of the response. Zero: 30 s, because its unknown outcome costs most.
	PaymentTimeout time.Duration
	// MaxAttempts bounds the attempts of a call. Zero: 3; what fails three times within
	// seconds will fail a fourth time.
	MaxAttempts int
	// MaxConcurrency bounds the parallel calls of a bulkhead. Zero: 96, several times what a
	// chain of clubs needs and harmless to its system. It is 96 calls a second if each takes
	// a second.
	MaxConcurrency int
	// QueueTimeout is how long a call waits for a permit. Zero: 1 s; a longer wait uses up
	// the time that the call itself needs.
	QueueTimeout time.Duration
	// BreakerCalls is how many attempts within 10 s, half of them failed, open the breaker.
	// Zero: 20, so that one visitor's failures do not stop all others.
	BreakerCalls int
	// BreakerPause is how long the breaker stays open. Zero: 5 s, enough for a restart
	// behind a load balancer.
	BreakerPause time.Duration
	// MaxBody is the longest response that is read, in bytes. Zero: 4 MiB, a hundred times a
	// page of thirty offers with their schedules.
	MaxBody int64
}

func (l Limits) withDefaults() Limits {
	return Limits{
		ReadTimeout:    cmp.Or(l.ReadTimeout, 8*time.Second),
		AttemptTimeout: cmp.Or(l.AttemptTimeout, 5*time.Second),
		WriteTimeout:   cmp.Or(l.WriteTimeout, 15*time.Second),
		PaymentTimeout: cmp.Or(l.PaymentTimeout, 30*time.Second),
		MaxAttempts:    cmp.Or(l.MaxAttempts, 3),
		MaxConcurrency: cmp.Or(l.MaxConcurrency, 96),
		QueueTimeout:   cmp.Or(l.QueueTimeout, time.Second),
		BreakerCalls:   cmp.Or(l.BreakerCalls, 20),
		BreakerPause:   cmp.Or(l.BreakerPause, 5*time.Second),
		MaxBody:        cmp.Or(l.MaxBody, 4<<20),
	}
}
