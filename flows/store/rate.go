package store

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
)

// Rate allows so many requests at once. They are there again one by one, at an even
// pace, and all of them after Within.
type Rate struct {
	Requests int
	Period   time.Duration
}

// RateStatus is how a request stands that was counted.
type RateStatus struct {
	Allowed    bool
	Remaining  int           // how many more could follow at once
	RetryAfter time.Duration // until the next one is allowed; zero when this one was
	ResetAfter time.Duration // until all are there again
}

// TakeRequest counts a request of somebody under the name of a limit, over all
// gateways and by the clock of Redis. One whose answer is lost is not counted again.
func (s *Store) TakeRequest(ctx context.Context, name, who string, rate Rate) (RateStatus, error) {
	result, err := redis_rate.NewLimiter(s.redis).Allow(ctx, s.rateKey(name, who), redis_rate.Limit{Rate: rate.Requests, Burst: rate.Requests, Period: rate.Period})
	if err != nil {
		return RateStatus{}, unavailable(err)
	}
	return RateStatus{Allowed: result.Allowed > 0, Remaining: result.Remaining, RetryAfter: max(0, result.RetryAfter), ResetAfter: result.ResetAfter}, nil
}
