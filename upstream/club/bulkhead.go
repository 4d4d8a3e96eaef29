package club

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
)

// bulkheadKey selects a bulkhead.
type bulkheadKey struct {
	clientToken string
	lane        Lane
}

// bulkhead limits the calls of a lane: parallel calls, and all calls while the breaker is open. The
// budget of retries is shared by the lanes of an organisation, because its system is one.
type bulkhead struct {
	permits failsafebulkhead.Bulkhead[any]
	maxWait time.Duration
	breaker circuitbreaker.CircuitBreaker[any]
	opened  atomic.Int64 // how often the breaker has opened
	budget  *budget
	reserve int // retries that it leaves to others
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

// lane returns the lane of the calls in a context.
func (c *Client) lane(ctx context.Context) Lane {
	lane, _ := ctx.Value(laneContextKey{}).(Lane)
	if c.money {
		lane = Payers
	}
	return lane
}

// bulkhead returns the bulkhead for the calls of an organisation in the context's lane.
func (c *Client) bulkhead(ctx context.Context, clientToken string) *bulkhead {
	lane := c.lane(ctx)
	key := bulkheadKey{clientToken, lane}
	b, ok := c.bulkheads.Load(key)
	if !ok {
		shared, _ := c.budgets.LoadOrStore(clientToken, &budget{tenths: budgetBurst * 10})
		b, _ = c.bulkheads.LoadOrStore(key, newBulkhead(c.cfg.Limits, lane, shared.(*budget)))
	}
	return b.(*bulkhead)
}

func newBulkhead(limits Limits, lane Lane, shared *budget) *bulkhead {
	concurrency, reserve := limits.MaxConcurrency, 0
	if lane == Newcomers || lane == Browsers {
		reserve = budgetBurst / 2
	}
	if lane == Browsers {
		concurrency = max(1, concurrency/2)
	}
	bulkhead := &bulkhead{
		permits: failsafebulkhead.New[any](uint(concurrency)), // #nosec G115 -- a constant of the program
		maxWait: limits.QueueTimeout, budget: shared, reserve: reserve,
	}
	bulkhead.breaker = circuitbreaker.NewBuilder[any]().
		WithFailureRateThreshold(breakerRate, uint(limits.BreakerCalls), breakerWindow). // #nosec G115 -- as above
		WithDelay(limits.BreakerPause).WithSuccessThreshold(breakerTrials).
		OnOpen(func(circuitbreaker.StateChangedEvent) { bulkhead.opened.Add(1) }).Build()
	return bulkhead
}

// acquire takes a permit; each success must be followed by one release. It returns how often the
// breaker had opened.
func (b *bulkhead) acquire(ctx context.Context) (opened int64, err error) {
	if ctx.Err() != nil { // the caller has left
		return 0, ctx.Err()
	}
	err = b.permits.AcquirePermitWithMaxWait(ctx, b.maxWait)
	if errors.Is(err, failsafebulkhead.ErrFull) {
		return 0, ErrBusy
	}
	if err != nil {
		return 0, err
	}
	if opened = b.opened.Load(); !b.breaker.TryAcquirePermit() {
		b.permits.ReleasePermit()
		return 0, ErrUnavailable
	}
	return opened, nil
}

// release returns the permit and reports to the breaker how the call in ctx ended. A refusal or a
// rejection is a normal response, and a 429 shows that the club system is up. A caller that
// left says nothing about it; after a pause, where each call is a trial, that is not enough. Nor
// does a call that began before the breaker last opened say anything about the club system now.
func (b *bulkhead) release(ctx context.Context, opened int64, failure *Error) {
	b.permits.ReleasePermit()
	if opened != b.opened.Load() {
		return
	}
	failed := failure != nil && failure.transient && failure.Status != http.StatusTooManyRequests
	switch {
	case failed && errors.Is(ctx.Err(), context.Canceled) && b.breaker.IsClosed():
	case failed:
		b.breaker.RecordFailure()
	default:
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

// budgetBurst is how many retries an organisation may save up: about the calls of one visitor.
const budgetBurst = 10

// earn counts a call.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tenths = min(b.tenths+1, budgetBurst*10)
}

// spend takes one retry, if more than reserve are left.
func (b *budget) spend(reserve int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenths < (reserve+1)*10 {
		return false
	}
	b.tenths -= 10
	return true
}
