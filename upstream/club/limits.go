package club

import "time"

// Limits bound what the client spends on the club system. A zero field has the
// default that its comment names.
type Limits struct {
	// Read is the time for a read, all its attempts included. Zero: 8 s, about as
	// long as a visitor watches a page that does nothing.
	Read time.Duration
	// Attempt is the time for one attempt of a read. Zero: 5 s; an answer that
	// took longer is rather lost than slow, and there is time left for another try.
	Attempt time.Duration
	// Write is the time for a write. Zero: 15 s; a write is not repeated once it
	// was sent, so it is given longer than a read.
	Write time.Duration
	// Payment is the time for CreatePayment, from dialling to the last byte of the
	// answer. Zero: 30 s, as its unknown outcome is the dearest of all.
	Payment time.Duration
	// Attempts is how often a call is tried at most. Zero: 3; what fails three
	// times in a row within seconds will fail a fourth time.
	Attempts int
	// Concurrency is how many calls of a lane are under way at once. Zero: 64,
	// several times what a chain of clubs needs and harmless to its system.
	Concurrency int
	// Queue is how long a call waits for a place. Zero: 1 s; a longer queue eats
	// the time that the call itself needs.
	Queue time.Duration
	// BreakerCalls is how many attempts within 10 s it takes, half of them failed,
	// for calls to be held back. Zero: 20, so that a single visitor's bad luck
	// holds nobody back.
	BreakerCalls int
	// BreakerPause is how long calls are held back. Zero: 5 s, long enough for a
	// restart behind a load balancer, short enough to be forgiven.
	BreakerPause time.Duration
	// Body is the longest answer that is read, in bytes. Zero: 4 MiB, a hundred
	// times a page of thirty offers with their schedules.
	Body int64
}

func (l *Limits) setDefaults() {
	setDefault(&l.Read, 8*time.Second)
	setDefault(&l.Attempt, 5*time.Second)
	setDefault(&l.Write, 15*time.Second)
	setDefault(&l.Payment, 30*time.Second)
	setDefault(&l.Attempts, 3)
	setDefault(&l.Concurrency, 64)
	setDefault(&l.Queue, time.Second)
	setDefault(&l.BreakerCalls, 20)
	setDefault(&l.BreakerPause, 5*time.Second)
	setDefault(&l.Body, 4<<20)
}
