package club

import (
	"context"
	"math/rand/v2"
	"time"
)

// initialBackoff is the average pause before the second attempt; it doubles for each
// further one. A failed server leaves its pool within some tenths of a second.
const initialBackoff = 150 * time.Millisecond

// retry runs the attempts of a call until one succeeds or fails permanently, or until
// attempts, budget or time are used up. It returns the last failure.
func (c *Client) retry(ctx context.Context, bulkhead *bulkhead, request *request, attempt func(context.Context) *Error) *Error {
	limits, start := &c.cfg.Limits, c.cfg.Now()
	total, each := limits.WriteTimeout, limits.WriteTimeout
	if request.isRead() {
		total, each = limits.ReadTimeout, limits.AttemptTimeout
	}
	bulkhead.budget.earn()
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	for n := 1; ; n++ {
		if !bulkhead.breaker.IsOpen() { // otherwise the call would be lost
			if held := c.await(ctx, request.op, request.scope.ClientToken); held != nil {
				return held
			}
		}
		attemptCtx, end := context.WithTimeout(ctx, each)
		failure := attempt(attemptCtx)
		end()
		if failure == nil || n == limits.MaxAttempts || !request.retryable(failure) || ctx.Err() != nil {
			return failure
		}
		pause := backoff(n+1, failure.RetryAfter)
		if c.cfg.Now().Sub(start)+pause >= total || !bulkhead.budget.spend(bulkhead.reserve) {
			return failure
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return failure
		}
	}
}

// retryable reports whether another attempt may succeed and is harmless.
func (r *request) retryable(failure *Error) bool {
	return failure.transient && (r.isRead() || failure.Outcome == NotSent || failure.Outcome == Refused)
}

// backoff is the pause before the n-th attempt: a doubling one, or at least what the club
// system asked for. Jitter keeps many gateways from returning at the same time.
func backoff(n int, asked time.Duration) time.Duration {
	pause := initialBackoff << (n - 2)
	return max(asked, pause/2) + rand.N(pause) // #nosec G404 -- it hides nothing
}
