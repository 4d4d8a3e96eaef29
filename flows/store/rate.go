package store

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
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

const (
	// maxUnasked mails of a kind go to one receiver within unaskedWithin. Without a limit, a stranger could have the club flood a mailbox.
	// No person causes more.
	maxUnasked    = 10
	unaskedWithin = 24 * time.Hour
)

// takeMail counts a mail, once.
//
// KEYS  1 mails of a receiver
// ARGV  1 id of the mail  2 how many may be counted  3 for how long, ms
// Returns 1 when it is counted, now or before, else 0.
var takeMail = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3])
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// TakeMail counts a mail of an organisation to a receiver, and reports whether it may be sent. A repetition with the same id is the same
// mail.
func (s *Store) TakeMail(ctx context.Context, kind UnaskedMail, organisation, receiver, id string) (allowed bool, err error) {
	key := "rate:" + s.rateKey(string(kind), organisation+" "+receiver)
	return s.run(ctx, takeMail, []string{key}, id, maxUnasked, unaskedWithin.Milliseconds()).Bool()
}
