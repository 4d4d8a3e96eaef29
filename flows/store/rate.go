package store

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
)

// Rate allows a burst of requests, refilled at an even pace within the period.
type Rate struct {
	Requests int
	Period   time.Duration
}

// RateStatus is the result of counting a request.
type RateStatus struct {
	Allowed    bool
	Remaining  int           // further requests allowed now
	RetryAfter time.Duration // zero when this request is allowed
	ResetAfter time.Duration // until the whole burst is available again
}

// TakeRequest counts a request of a client against a named limit, across all gateways and by the
// clock of Redis. It is not retried, so that no request counts twice.
func (s *Store) TakeRequest(ctx context.Context, name, client string, rate Rate) (RateStatus, error) {
	limit := redis_rate.Limit{Rate: rate.Requests, Burst: rate.Requests, Period: rate.Period}
	result, err := redis_rate.NewLimiter(s.redis).Allow(ctx, s.rateKey(name, client), limit)
	if err != nil {
		return RateStatus{}, unavailable(err)
	}
	return RateStatus{
		Allowed:    result.Allowed > 0,
		Remaining:  result.Remaining,
		RetryAfter: max(0, result.RetryAfter),
		ResetAfter: result.ResetAfter,
	}, nil
}

// UnaskedMail is a kind of mail that an organisation sends to a mailbox because its address was entered, and that no payment caused.
type UnaskedMail string

// The kinds. Each is counted by itself, so that a flood of one leaves the others.
const (
	Acknowledgement    UnaskedMail = "acknowledgements"
	UnpaidConfirmation UnaskedMail = "unpaid"
)

// unasked limits the mails of a kind to one receiver. Without a limit, a stranger could have the club flood a mailbox. No person causes
// more than ten a day.
var unasked = Rate{Requests: 10, Period: 24 * time.Hour}

// TakeMail counts a mail of an organisation to a receiver, and reports whether it may be sent.
func (s *Store) TakeMail(ctx context.Context, kind UnaskedMail, organisation, receiver string) (allowed bool, err error) {
	taken, err := s.TakeRequest(ctx, string(kind), organisation+" "+receiver, unasked)
	return taken.Allowed, err
}
