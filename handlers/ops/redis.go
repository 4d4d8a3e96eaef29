package ops

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisBuckets, in seconds: a step takes a millisecond, with fsync on every write a
// few, and none more than the second after which it is given up.
var redisBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

// InstrumentRedis counts the calls of a client of Redis, those of the queue included, and
// how long they take. It is called before the first of them.
func (m *Metrics) InstrumentRedis(client redis.UniversalClient, now func() time.Time) {
	if m != nil {
		client.AddHook(redisCalls{m, now})
	}
}

// redisCalls implements redis.Hook. A pipeline is one call.
type redisCalls struct {
	m   *Metrics
	now func() time.Time
}

// DialHook implements redis.Hook.
func (r redisCalls) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

// ProcessHook implements redis.Hook.
func (r redisCalls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, call redis.Cmder) error {
		begun := r.now()
		err := next(ctx, call)
		r.count(err, r.now().Sub(begun))
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (r redisCalls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, calls []redis.Cmder) error {
		begun := r.now()
		err := next(ctx, calls)
		r.count(err, r.now().Sub(begun))
		return err
	}
}

// count tells what Redis refuses, such as a script that it does not have yet, from
// what it did not answer.
func (r redisCalls) count(err error, took time.Duration) {
	outcome := "failed"
	var refused redis.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		outcome = "answered"
	case errors.As(err, &refused):
		outcome = "refused"
	}
	r.m.redisCalls.WithLabelValues(outcome).Inc()
	r.m.redisTimes.Observe(took.Seconds())
}
