package club

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

// bulkheadKey tells whose calls share a lane: those of one organisation, payments
// apart. One organisation's outage or rush is thus not another's, and neither is
// ever a payment's.
type bulkheadKey struct {
	clientToken string
	money       bool
}

// bulkhead bounds how much a group of calls asks of the club system: how many at
// once, how many repetitions, and whether at all.
type bulkhead struct {
	permits failsafebulkhead.Bulkhead[any]
	maxWait time.Duration
	breaker circuitbreaker.CircuitBreaker[any]
	budget  budget
}

const (
	// breakerRate and breakerWindow: half of the attempts of ten seconds. Below half
	// a repetition gets through more often than not, and within ten seconds even a
	// quiet gateway sees enough calls to judge by.
	breakerRate   = 0.5
	breakerWindow = 10 * time.Second
	// breakerTrials is how many calls are let through after a pause, and have to
	// succeed: two, since the first may meet the one healthy server.
	breakerTrials = 2
)

// bulkhead returns the lane for the calls of an organisation.
func (c *Client) bulkhead(clientToken string) *bulkhead {
	key := bulkheadKey{clientToken, c.money}
	if l, ok := c.bulkheads.Load(key); ok {
		return l.(*bulkhead)
	}
	l, _ := c.bulkheads.LoadOrStore(key, newBulkhead(c.cfg.Limits))
	return l.(*bulkhead)
}

func newBulkhead(limits Limits) *bulkhead {
	return &bulkhead{
		permits: failsafebulkhead.New[any](uint(limits.Concurrency)), // #nosec G115 -- a constant of the program
		maxWait: limits.Queue,
		breaker: circuitbreaker.NewBuilder[any]().
			WithFailureRateThreshold(breakerRate, uint(limits.BreakerCalls), breakerWindow). // #nosec G115 -- as above
			WithDelay(limits.BreakerPause).WithSuccessThreshold(breakerTrials).Build(),
		budget: budget{tenths: budgetBurst * 10},
	}
}

// acquire takes a place in the lane; each success is followed by one leave.
func (l *bulkhead) acquire(ctx context.Context) error {
	var err error
	if !l.permits.TryAcquirePermit() { // the wait for a place has a timer, which is rarely needed
		err = l.permits.AcquirePermitWithMaxWait(ctx, l.maxWait)
	}
	if errors.Is(err, failsafebulkhead.ErrFull) {
		return ErrBusy
	}
	if err != nil {
		return err
	}
	if !l.breaker.TryAcquirePermit() {
		l.permits.ReleasePermit()
		return ErrUnavailable
	}
	return nil
}

// release gives the place back and tells the breaker how the call went. A refusal
// or a rejection is an answer like any other, 429 says that the club system
// lives, and a caller who left says nothing about it.
func (l *bulkhead) release(e *Error) {
	l.permits.ReleasePermit()
	if e != nil && e.transient && e.Status != http.StatusTooManyRequests && !errors.Is(e, context.Canceled) {
		l.breaker.RecordFailure()
	} else {
		l.breaker.RecordSuccess()
	}
}

// budget keeps repetitions to a tenth of the calls, so that a club system in
// trouble gets a tenth more work from here, and not three times as much. It
// starts full, since a gateway that was just started has no calls to count.
//
// The budget of failsafe-go would not do: it weighs what is in flight, so that a
// gateway with one call at a time may repeat each of them.
type budget struct {
	mu     sync.Mutex
	tenths int
}

// budgetBurst is how many repetitions a lane may have in hand: what one visitor's
// journey makes in calls.
const budgetBurst = 10

// earn counts a call.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tenths = min(b.tenths+1, budgetBurst*10)
}

// spend takes one repetition, if there is one left.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenths < 10 {
		return false
	}
	b.tenths -= 10
	return true
}
