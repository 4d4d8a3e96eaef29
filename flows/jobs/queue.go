// Package jobs says what is to be done in the background: the client of the queue that
// gateways share, the dispatcher that advances a payment in this process at once, and the
// hub that tells event streams of changed registrations. Package worker does the work.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"frontdesk/flows"
)

const (
	// JobTimeout covers a whole payment from authorised to recorded, with every call at its limit.
	JobTimeout = 2 * time.Minute
)

// AdvanceJob says "look at this payment", never "record it": running it twice,
// late or on several gateways at once is harmless.
const AdvanceJob = "payment:advance"

// Queue hands background work to the gateways that share a Redis, at least
// once. Its names are those of the library: asynq keeps them under asynq:*.
type Queue struct {
	client     *asynq.Client
	redis      redis.UniversalClient
	dispatcher *dispatcher // of this gateway's worker; nobody's, while none runs
}

// NewQueue makes a queue.
func NewQueue(redis redis.UniversalClient) *Queue {
	return &Queue{client: asynq.NewClientFromRedisClient(redis), redis: redis, dispatcher: newDispatcher()}
}

// EnqueueAdvance asks for one Advance of a payment, on any gateway, soon. It goes
// on under the trace of whoever asks.
func (q *Queue) EnqueueAdvance(ctx context.Context, id flows.PaymentID) error {
	// No retry by the queue: a payment that could not be moved is found again by the sweeper.
	_, err := q.client.EnqueueContext(ctx, newJob(ctx, AdvanceJob, []byte(id)), asynq.MaxRetry(0), asynq.Timeout(JobTimeout))
	if err != nil {
		return &flows.Error{Code: flows.StorageUnavailable, Err: err}
	}
	return nil
}

// NewServer returns a server of the queue library that runs jobs; it does not run yet.
func (q *Queue) NewServer(cfg asynq.Config) *asynq.Server {
	return asynq.NewServerFromRedisClient(q.redis, cfg)
}

// NewInspector returns what shows and changes how the queues stand.
func (q *Queue) NewInspector() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(q.redis) }

// AsynqLogger passes the queue library's warnings on, marked as such.
type AsynqLogger struct{ Log *slog.Logger }

// Debug logs at debug level.
func (q AsynqLogger) Debug(args ...any) { q.Log.Debug("queue: " + fmt.Sprint(args...)) }

// Info logs at debug level: nothing of it concerns an operator.
func (q AsynqLogger) Info(args ...any) { q.Log.Debug("queue: " + fmt.Sprint(args...)) }

// Warn logs a warning.
func (q AsynqLogger) Warn(args ...any) { q.Log.Warn("queue: " + fmt.Sprint(args...)) }

func (q AsynqLogger) Error(args ...any) { q.Log.Error("queue: " + fmt.Sprint(args...)) }

// Fatal logs an error; the process goes on.
func (q AsynqLogger) Fatal(args ...any) { q.Log.Error("queue: " + fmt.Sprint(args...)) }

// The jobs of events: they say "work on what waits", never what to do.
const (
	EventsJob       = "club:events"       // work on the events that wait
	DueRefreshesJob = "registration:due"  // look at the registrations that are due
	RefreshJob      = "registration:look" // look at one registration
)

// EnqueueEvents asks for work on the events that wait. No retry by the queue: the
// sweep comes to what is left.
func (q *Queue) EnqueueEvents(ctx context.Context) error {
	return q.Enqueue(ctx, newJob(ctx, EventsJob, nil), asynq.MaxRetry(0), asynq.Timeout(JobTimeout))
}

// EnqueueDueRefreshes asks for the looks that will be due in a moment, once for all who
// ask for it: the queue runs a job within a second of its time at the latest.
func (q *Queue) EnqueueDueRefreshes(ctx context.Context, in time.Duration) error {
	err := q.Enqueue(ctx, newJob(ctx, DueRefreshesJob, nil), asynq.MaxRetry(0), asynq.Timeout(JobTimeout),
		asynq.ProcessIn(in+time.Second), asynq.Unique(in+time.Second))
	if errors.Is(err, asynq.ErrDuplicateTask) {
		return nil
	}
	return err
}

// EnqueueRefresh asks for a look at a registration that was put off to taken.
func (q *Queue) EnqueueRefresh(ctx context.Context, id string, taken time.Time) error {
	return q.Enqueue(ctx, newJob(ctx, RefreshJob, fmt.Appendf(nil, "%s %d", id, taken.UnixMilli())), asynq.MaxRetry(0), asynq.Timeout(JobTimeout))
}

// Enqueue adds a job. StorageUnavailable when Redis does not take it.
func (q *Queue) Enqueue(ctx context.Context, job *asynq.Task, options ...asynq.Option) error {
	if _, err := q.client.EnqueueContext(ctx, job, options...); err != nil {
		return &flows.Error{Code: flows.StorageUnavailable, Err: err}
	}
	return nil
}
