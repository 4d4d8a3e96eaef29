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

// bulkheadKey selects a bulkhead: one per organisation, and a separate one for its
// payments. One organisation's outage or rush never affects another organisation or a
// payment.
type bulkheadKey struct {
	clientToken string
	money       bool
}

// bulkhead limits a group of calls: parallel calls, retries, and all calls while the breaker
// is open.
type bulkhead struct {
	permits failsafebulkhead.Bulkhead[any]
	maxWait time.Duration
	breaker circuitbreaker.CircuitBreaker[any]
	budget  budget
}

const (
	// breakerRate and breakerWindow: half of the attempts of ten seconds. Below half, a
	// retry succeeds more often than not; ten seconds give even a quiet gateway enough
	// calls to judge by.
	breakerRate   = 0.5
	breakerWindow = 10 * time.Second
	// breakerTrials is how many calls are let through after a pause and must succeed: two,
	// because the first may meet the one healthy server.
	breakerTrials = 2
)

// bulkhead returns the bulkhead for the calls of an organisation.
func (c *Client) bulkhead(clientToken string) *bulkhead {
	key := bulkheadKey{clientToken, c.money}
	b, ok := c.bulkheads.Load(key)
	if !ok {
		b, _ = c.bulkheads.LoadOrStore(key, newBulkhead(c.cfg.Limits))
	}
	return b.(*bulkhead)
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

// acquire takes a permit; each success must be followed by one release.
func (b *bulkhead) acquire(ctx context.Context) error {
	err := b.permits.AcquirePermitWithMaxWait(ctx, b.maxWait)
	if errors.Is(err, failsafebulkhead.ErrFull) {
		return ErrBusy
	}
	if err != nil {
		return err
	}
	if !b.breaker.TryAcquirePermit() {
		b.permits.ReleasePermit()
		return ErrUnavailable
	}
	return nil
}

// release returns the permit and tells the breaker how the call ended. A refusal or a
// rejection is a normal response, a 429 shows that the club system is up, and a caller that
// left says nothing about it.
func (b *bulkhead) release(e *Error) {
	b.permits.ReleasePermit()
	if e != nil && e.transient && e.Status != http.StatusTooManyRequests && !errors.Is(e, context.Canceled) {
		b.breaker.RecordFailure()
	} else {
		b.breaker.RecordSuccess()
	}
}

// budget limits retries to a tenth of the calls, so that a club system in trouble gets a
// tenth more work and not three times as much. It starts full, because a new gateway has no
// calls to count.
//
// The budget of failsafe-go counts the calls in flight, so a gateway with one call at a
// time could retry each of them.
type budget struct {
	mu     sync.Mutex
	tenths int
}

// budgetBurst is how many retries a bulkhead may save up: about the calls of one visitor.
const budgetBurst = 10

// earn counts a call.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tenths = min(b.tenths+1, budgetBurst*10)
}

// spend takes one retry, if there is one left.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenths < 10 {
		return false
	}
	b.tenths -= 10
	return true
}
