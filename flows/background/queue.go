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
	"frontdesk/flows/keyring"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
)

// The kinds of jobs.
const (
	eventsJob       = "club:events"          // process the events that wait
	dueRefreshesJob = "registration:due"     // enqueue the registrations whose refresh is due
	refreshJob      = "registration:refresh" // refresh one registration
	termsJob        = "sale:terms"           // report to the club system that its terms of sale were accepted
	deliverJob      = "webhook:deliver"      // deliver one event to one subscriber
	mailJob         = "mail:send"            // send one mail
)

// eventsQueue is for the club system's events and for refreshes. Each subscriber has a queue of its own for its deliveries,
// and so have mails.
const eventsQueue = "events"

// jobTimeout bounds a job of the events queue: a refresh with every call at its limit.
const jobTimeout = 2 * time.Minute

// Queue hands work to the gateways that share a Redis, at least once. Payments are in the lanes; asynq keeps the jobs under
// asynq:*.
type Queue struct {
	cfg          QueueConfig
	client       *asynq.Client
	inspector    *asynq.Inspector // reads and changes the state of the queues
	open, verify *lane
}

// QueueConfig is what a queue needs; every field is required unless noted.
type QueueConfig struct {
	Redis redis.UniversalClient
	Store *store.Store
	Keys  *keyring.Keyring // seal mails
	Mails bool             // gateways send them; false: none is queued
	Now   func() time.Time
}

// NewQueue returns a queue. What it is given is done by the gateways whose Worker runs.
func NewQueue(cfg QueueConfig) *Queue {
	return &Queue{
		cfg:       cfg,
		client:    asynq.NewClientFromRedisClient(cfg.Redis),
		inspector: asynq.NewInspectorFromRedisClient(cfg.Redis),
		open:      newLane(flows.OpenLane, openLease, cfg.Store, cfg.Now),
		verify:    newLane(flows.VerifyLane, verifyLease, cfg.Store, cfg.Now),
	}
}

// Wake requests one Advance of a payment and does not wait for it: in this process if a worker is idle, because a
// buyer may wait, else on the first gateway that has one. p is the payment if it was just read, else nil. If the process
// dies, the payment is due again at the time that it was scheduled for. It fails with StorageUnavailable.
func (q *Queue) Wake(ctx context.Context, id flows.PaymentID, p *flows.Payment) error {
	if q.open.start(request{id, p, tracing.Traceparent(ctx)}) {
		return nil
	}
	if err := q.cfg.Store.Wake(ctx, id, q.cfg.Now()); err != nil {
		return flows.StorageFailed(err)
	}
	q.open.signal()
	return nil
}

// InProgress counts the payments that this process advances in the background.
func (q *Queue) InProgress() int { return q.open.inProgress() }

// enqueueEvents requests that the waiting events are processed.
func (q *Queue) enqueueEvents(ctx context.Context) error { return q.enqueueJob(ctx, eventsJob, "") }

// enqueueDueRefreshes requests the refreshes that are due after a delay. All requests
// within the delay give one job, which runs at most a second late.
func (q *Queue) enqueueDueRefreshes(ctx context.Context, in time.Duration) error {
	err := q.enqueueJob(ctx, dueRefreshesJob, "", asynq.ProcessIn(in+time.Second), asynq.Unique(in+time.Second))
	if errors.Is(err, asynq.ErrDuplicateTask) {
		return nil
	}
	return err
}

// RefreshDue has the registrations refreshed whose refresh is due now. It does not wait for that.
func (q *Queue) RefreshDue(ctx context.Context) error { return q.enqueueDueRefreshes(ctx, 0) }

// enqueueRefresh requests the refresh of a registration, which DueRefreshes put off to taken.
func (q *Queue) enqueueRefresh(ctx context.Context, id string, taken time.Time) error {
	return q.enqueueJob(ctx, refreshJob, fmt.Sprintf("%s %d", id, taken.UnixMilli()))
}

// enqueueTerms requests the report that the buyer of a payment has accepted the terms of sale. A repetition does nothing: the job is known
// by the payment, for longer than payments are announced.
func (q *Queue) enqueueTerms(ctx context.Context, id flows.PaymentID) error {
	err := q.enqueueJob(ctx, termsJob, string(id), asynq.TaskID("terms-"+string(id)), asynq.Retention(keepPublished),
		asynq.MaxRetry(len(retryPauses)))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// enqueueJob adds a job to the events queue, in the trace of the context. Unless the options say so, asynq does not retry it: the sweep
// finds what is left.
func (q *Queue) enqueueJob(ctx context.Context, kind, payload string, options ...asynq.Option) error {
	job := asynq.NewTaskWithHeaders(kind, []byte(payload), map[string]string{tracing.TraceHeader: tracing.Traceparent(ctx)})
	usual := []asynq.Option{asynq.Queue(eventsQueue), asynq.MaxRetry(0), asynq.Timeout(jobTimeout)}
	return q.enqueue(ctx, job, append(usual, options...)...)
}

// enqueue adds a job. It fails with StorageUnavailable.
func (q *Queue) enqueue(ctx context.Context, job *asynq.Task, options ...asynq.Option) error {
	if _, err := q.client.EnqueueContext(ctx, job, options...); err != nil {
		return &flows.Error{Code: flows.StorageUnavailable, Err: err}
	}
	return nil
}

// serveJobs runs jobs, each by its kind and in the trace of the request for it; a job without one begins its own. When the
// context ends, it takes no more jobs and returns once those in progress are finished, or after the ShutdownTimeout. settings
// has the queues, the number of workers, and the pauses.
func (cfg Config) serveJobs(ctx context.Context, settings asynq.Config, jobs map[string]asynq.HandlerFunc) error {
	settings.Logger = asynqLogger{cfg.Log}
	server, mux := asynq.NewServerFromRedisClient(pausingClient{cfg.Queue.cfg.Redis}, settings), asynq.NewServeMux()
	mux.Use(func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			ctx, span := tracing.StartTrace(ctx, cfg.Traces, job.Headers()[tracing.TraceHeader], "job "+job.Type(), trace.SpanKindConsumer)
			defer span.End()
			err := next.ProcessTask(ctx, job)
			if err != nil {
				span.SetStatus(status.Error, "") // the error's text goes to the log, which redacts
			}
			return err
		})
	})
	for kind, do := range jobs {
		mux.Handle(kind, do)
	}
	if err := server.Start(mux); err != nil {
		return fmt.Errorf("background work cannot start: %w", err)
	}
	<-ctx.Done()
	server.Shutdown()
	return nil
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
	NextMs    int64  `json:"nextMs"`    // until the first of those scheduled or retried becomes pending; 0 without one
}

// NextWork returns in how long something is to be done: zero if that is now or something is in progress. waits is false if nothing is to be
// done. It fails with StorageUnavailable.
func (q *Queue) NextWork(ctx context.Context) (in time.Duration, waits bool, err error) {
	states, err := q.Queues(ctx)
	for _, state := range states {
		if state.Pending+state.Active > 0 {
			return 0, true, err
		}
		if next := time.Duration(state.NextMs) * time.Millisecond; state.Scheduled+state.Retry > 0 && (!waits || next < in) {
			in, waits = next, true
		}
	}
	return in, waits, err
}

// Queues returns the states of the lanes, and then of all queues. What is active in a lane is what this gateway works on.
func (q *Queue) Queues(ctx context.Context) ([]QueueState, error) {
	states := []QueueState{}
	for _, lane := range []*lane{q.open, q.verify} {
		now := q.cfg.Now()
		waiting, err := q.cfg.Store.Waiting(ctx, lane.name, now)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		state := QueueState{Name: string(lane.name), Pending: waiting.Due, Active: lane.inProgress(), Scheduled: waiting.Later}
		if waiting.Due > 0 {
			state.LatencyMs = max(0, now.Sub(waiting.Oldest).Milliseconds())
		}
		if waiting.Later > 0 {
			state.NextMs = max(0, waiting.Next.Sub(now).Milliseconds())
		}
		states = append(states, state)
	}
	names, err := q.inspector.Queues()
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	slices.Sort(names)
	if !slices.Contains(names, eventsQueue) {
		states = append(states, QueueState{Name: eventsQueue}) // its first job creates it
	}
	for _, name := range names {
		info, err := q.inspector.GetQueueInfo(name)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		next, err := q.nextJob(info)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		states = append(states, QueueState{
			Name:      name,
			Paused:    info.Paused,
			Pending:   info.Pending,
			Active:    info.Active,
			Scheduled: info.Scheduled,
			Retry:     info.Retry,
			Archived:  info.Archived,
			Completed: info.Completed,
			Processed: info.Processed,
			Failed:    info.Failed,
			LatencyMs: info.Latency.Milliseconds(),
			NextMs:    next.Milliseconds(),
		})
	}
	return states, nil
}

// nextJob returns in how long the first of a queue's jobs that are scheduled or retried becomes pending, by the machine's clock as asynq
// does; zero without one.
func (q *Queue) nextJob(queue *asynq.QueueInfo) (next time.Duration, err error) {
	if queue.Scheduled+queue.Retry == 0 {
		return 0, nil
	}
	scheduled, err := q.inspector.ListScheduledTasks(queue.Queue, asynq.PageSize(1)) // the first one
	if err != nil {
		return 0, err
	}
	retried, err := q.inspector.ListRetryTasks(queue.Queue, asynq.PageSize(1))
	for i, job := range append(scheduled, retried...) {
		if in := max(0, time.Until(job.NextProcessAt)); i == 0 || in < next {
			next = in
		}
	}
	return next, err
}
