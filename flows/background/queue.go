package background

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	status "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
)

// The kinds of jobs. A job says "work on this if needed": to run it twice, late or on
// several gateways at once is harmless.
const (
	EventsJob       = "club:events"          // process the events that wait
	DueRefreshesJob = "registration:due"     // enqueue the registrations whose refresh is due
	RefreshJob      = "registration:refresh" // refresh one registration
)

// JobTimeout covers a whole payment from authorised to recorded, with every call at its limit.
const JobTimeout = 2 * time.Minute

// Queue hands work to the gateways that share a Redis, at least once. Payments are in the lanes; asynq keeps the other jobs under
// asynq:*.
type Queue struct {
	client       *asynq.Client
	redis        redis.UniversalClient
	store        *store.Store
	now          func() time.Time
	open, verify *Workers
}

// NewQueue returns a queue.
func NewQueue(redis redis.UniversalClient, store *store.Store, now func() time.Time) *Queue {
	client := asynq.NewClientFromRedisClient(redis)
	return &Queue{client: client, redis: redis, store: store, now: now, open: newWorkers(), verify: newWorkers()}
}

// Workers returns this process's workers on a lane.
func (q *Queue) Workers(lane flows.Lane) *Workers {
	if lane == flows.VerifyLane {
		return q.verify
	}
	return q.open
}

// EnqueueEvents requests that the waiting events are processed.
func (q *Queue) EnqueueEvents(ctx context.Context) error { return q.enqueue(ctx, EventsJob, "") }

// EnqueueDueRefreshes requests the refreshes that are due after a delay. All requests
// within the delay give one job, which runs at most a second late.
func (q *Queue) EnqueueDueRefreshes(ctx context.Context, in time.Duration) error {
	err := q.enqueue(ctx, DueRefreshesJob, "", asynq.ProcessIn(in+time.Second), asynq.Unique(in+time.Second))
	if errors.Is(err, asynq.ErrDuplicateTask) {
		return nil
	}
	return err
}

// EnqueueRefresh requests the refresh of a registration, which DueRefreshes put off to taken.
func (q *Queue) EnqueueRefresh(ctx context.Context, id string, taken time.Time) error {
	return q.enqueue(ctx, RefreshJob, fmt.Sprintf("%s %d", id, taken.UnixMilli()))
}

// enqueue adds a job in the trace of the context. The queue does not retry it: the sweep
// finds what is left.
func (q *Queue) enqueue(ctx context.Context, kind, payload string, options ...asynq.Option) error {
	job := asynq.NewTaskWithHeaders(kind, []byte(payload), map[string]string{tracing.TraceHeader: tracing.Traceparent(ctx)})
	return q.Enqueue(ctx, job, append(options, asynq.Queue(eventsQueue), asynq.MaxRetry(0), asynq.Timeout(JobTimeout))...)
}

// Enqueue adds a job. It fails with StorageUnavailable.
func (q *Queue) Enqueue(ctx context.Context, job *asynq.Task, options ...asynq.Option) error {
	if _, err := q.client.EnqueueContext(ctx, job, options...); err != nil {
		return &flows.Error{Code: flows.StorageUnavailable, Err: err}
	}
	return nil
}

// NewServer returns a server that runs jobs once it is started: those of the gateways' own queue, unless cfg names
// others. It logs to log.
func (q *Queue) NewServer(log *slog.Logger, cfg asynq.Config) *asynq.Server {
	cfg.Logger = asynqLogger{log}
	if cfg.Queues == nil {
		cfg.Queues = map[string]int{eventsQueue: 1}
	}
	return asynq.NewServerFromRedisClient(pausingClient{q.redis}, cfg)
}

// errorPause is about the pause of a server whose queue is empty. A Redis that fails gets no more calls than one
// without jobs, and one that returns is noticed within a second.
const errorPause = 250 * time.Millisecond

// pausingClient is a server's client. A server requests its next job as soon as the previous call has failed: without
// a pause it uses a core, and a Redis that refuses gets tens of thousands of calls a second.
type pausingClient struct{ redis.UniversalClient }

// EvalSha is how a server requests a job.
func (c pausingClient) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return pauseAfterError(ctx, c.UniversalClient.EvalSha(ctx, sha, keys, args...))
}

// Eval is how a server requests a job while Redis does not have its script.
func (c pausingClient) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return pauseAfterError(ctx, c.UniversalClient.Eval(ctx, script, keys, args...))
}

func pauseAfterError(ctx context.Context, reply *redis.Cmd) *redis.Cmd {
	if err := reply.Err(); err != nil && !errors.Is(err, redis.Nil) && !redis.HasErrorPrefix(err, "NOSCRIPT") {
		select {
		case <-ctx.Done():
		case <-time.After(errorPause):
		}
	}
	return reply
}

// asynqLogger passes the queue library's lines on, marked as such. None of its
// information concerns an operator, and its fatal errors do not end the process.
type asynqLogger struct{ log *slog.Logger }

func (l asynqLogger) Debug(args ...any) { l.log.Debug("queue: " + fmt.Sprint(args...)) }
func (l asynqLogger) Info(args ...any)  { l.log.Debug("queue: " + fmt.Sprint(args...)) }
func (l asynqLogger) Warn(args ...any)  { l.log.Warn("queue: warning", "error", fmt.Sprint(args...)) }
func (l asynqLogger) Error(args ...any) { l.log.Warn("queue: failed", "error", fmt.Sprint(args...)) }
func (l asynqLogger) Fatal(args ...any) { l.log.Error("queue: " + fmt.Sprint(args...)) }

// NewMux returns a mux whose jobs continue the trace of the request for them. A job
// without one begins its own.
func NewMux(traces trace.TracerProvider) *asynq.ServeMux {
	mux := asynq.NewServeMux()
	mux.Use(func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			ctx, span := tracing.StartTrace(ctx, traces, job.Headers()[tracing.TraceHeader], "job "+job.Type(), trace.SpanKindConsumer)
			defer span.End()
			err := next.ProcessTask(ctx, job)
			if err != nil {
				span.SetStatus(status.Error, "") // the error's text goes to the log, which redacts
			}
			return err
		})
	})
	return mux
}

// NewInspector returns the client that reads and changes the state of the queues.
func (q *Queue) NewInspector() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(q.redis) }

// QueueState is the state of one queue of background work.
type QueueState struct {
	Name      string `json:"name"`
	Paused    bool   `json:"paused"`
	Pending   int    `json:"pending"`
	Active    int    `json:"active"`
	Scheduled int    `json:"scheduled"`
	Retry     int    `json:"retry"`
	Archived  int    `json:"archived"`
	Completed int    `json:"completed"` // kept for a while
	Processed int    `json:"processed"` // today
	Failed    int    `json:"failed"`    // today
	LatencyMs int64  `json:"latencyMs"` // of the oldest pending job
}

// eventsQueue is for the club system's events and for refreshes.
const eventsQueue = "events"

// Queues returns the states of the lanes, and then of all queues. What is active in a lane is what this gateway works on.
func (q *Queue) Queues(ctx context.Context) ([]QueueState, error) {
	states := []QueueState{}
	for _, lane := range []flows.Lane{flows.OpenLane, flows.VerifyLane} {
		now := q.now()
		waiting, err := q.store.Waiting(ctx, lane, now)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		state := QueueState{Name: string(lane), Pending: waiting.Due, Active: q.Workers(lane).InProgress(), Scheduled: waiting.Later}
		if waiting.Due > 0 {
			state.LatencyMs = max(0, now.Sub(waiting.Oldest).Milliseconds())
		}
		states = append(states, state)
	}
	inspector := q.NewInspector()
	names, err := inspector.Queues()
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	slices.Sort(names)
	if !slices.Contains(names, eventsQueue) {
		states = append(states, QueueState{Name: eventsQueue}) // its first job creates it
	}
	for _, name := range names {
		info, err := inspector.GetQueueInfo(name)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		states = append(states, QueueState{Name: name, Paused: info.Paused, Pending: info.Pending, Active: info.Active, Scheduled: info.Scheduled,
			Retry: info.Retry, Archived: info.Archived, Completed: info.Completed, Processed: info.Processed, Failed: info.Failed,
			LatencyMs: info.Latency.Milliseconds()})
	}
	return states, nil
}
