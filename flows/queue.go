package flows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
)

// The figures of the background work.
const (
	// pollQueue: how long a job may lie before an idle worker sees it. Buyers do not wait
	// for it but when every hand is busy, and then the workers are not idle.
	pollQueue = 250 * time.Millisecond
	// concurrency: jobs wait for other systems, not for the processor of this machine.
	concurrency = 20
	// jobTimeout: a whole payment from authorised to recorded, with every call at its limit.
	jobTimeout = 2 * time.Minute
	// drainTimeout: a POST that was begun when the gateway was told to stop takes 30 s at most.
	drainTimeout = 35 * time.Second
	// sweepEvery, within a fifth either way: how often payments are looked for that nobody told of.
	sweepEvery = 15 * time.Second
	// sweepLimit: how many payments one sweep enqueues at most.
	sweepLimit = 500
)

// advanceJob says "look at this payment", never "record it": running it twice,
// late or on several gateways at once is harmless.
const advanceJob = "payment:advance"

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
func (q *Queue) EnqueueAdvance(ctx context.Context, id PaymentID) error {
	// No retry by the queue: a payment that could not be moved is found again by the sweeper.
	_, err := q.client.EnqueueContext(ctx, newJob(ctx, advanceJob, []byte(id)), asynq.MaxRetry(0), asynq.Timeout(jobTimeout))
	if err != nil {
		return &Error{Code: StorageUnavailable, Err: err}
	}
	return nil
}

// NewServer returns a server of the queue library that runs jobs; it does not run yet.
func (q *Queue) NewServer(cfg asynq.Config) *asynq.Server {
	return asynq.NewServerFromRedisClient(q.redis, cfg)
}

// NewInspector returns what shows and changes how the queues stand.
func (q *Queue) NewInspector() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(q.redis) }

// Worker runs the background work of one gateway.
type Worker struct {
	cfg       WorkerConfig
	server    *asynq.Server
	heartbeat heartbeat
}

// WorkerStore is what a worker needs of Redis.
type WorkerStore interface {
	// DuePayments returns payments that want a look, at most limit, and puts each
	// of them off by pause, so that several gateways share the work.
	DuePayments(ctx context.Context, now time.Time, pause time.Duration, limit int) ([]PaymentID, error)
	// ScheduleNext puts the payment's next look at an instant; the zero instant means never again.
	ScheduleNext(ctx context.Context, id PaymentID, at time.Time) error
	// RenewReceipts seals with the current key every receipt that an older one sealed.
	RenewReceipts(ctx context.Context) error
	// Heartbeat leaves a gateway's n-th sign of life and returns the one before it, 0 for
	// none: another than the gateway left itself says that Redis forgot something.
	Heartbeat(ctx context.Context, gateway string, n int64) (int64, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// WorkerConfig is what a worker needs; every field is required unless said.
type WorkerConfig struct {
	Store    WorkerStore
	Queue    *Queue
	Payments *Machine
	Changes  *Hub
	Events   *ClubEvents          // nil: the club system's events are not worked on by this worker
	Traces   trace.TracerProvider // keeps the spans of jobs, sweeps and rebuilds; nil: none are kept
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Log      *slog.Logger
}

// NewWorker makes a worker that does not run yet.
func NewWorker(cfg WorkerConfig) *Worker {
	if cfg.Traces == nil {
		cfg.Traces = IDOnlyProvider()
	}
	return &Worker{cfg: cfg, heartbeat: newHeartbeat(), server: cfg.Queue.NewServer(asynq.Config{
		Concurrency: concurrency, TaskCheckInterval: pollQueue, ShutdownTimeout: drainTimeout,
		Logger: asynqLogger{cfg.Log}, LogLevel: asynq.WarnLevel,
	})}
}

// Run works until the context ends, and then finishes what was begun.
func (w *Worker) Run(ctx context.Context) error {
	mux := asynq.NewServeMux()
	mux.Use(traceJobs(w.cfg.Traces))
	mux.HandleFunc(advanceJob, func(ctx context.Context, job *asynq.Task) error {
		w.advance(ctx, PaymentID(job.Payload()))
		return nil
	})
	if w.cfg.Events != nil {
		if err := w.cfg.Events.start(mux, w.cfg.Traces); err != nil {
			return err
		}
	}
	if err := w.server.Start(mux); err != nil {
		return fmt.Errorf("background work cannot start: %w", err)
	}
	var changes sync.WaitGroup
	changes.Go(func() { w.cfg.Changes.Run(ctx) })
	rebuilds, working := w.startRebuilds(ctx), w.startDispatch(ctx)
	changes.Go(func() { w.renewReceipts(ctx) })
	for {
		w.tick(ctx)
		select {
		case <-ctx.Done():
			changes.Wait() // first: whoever follows a registration keeps the gateway's server from stopping
			rebuilds.Wait()
			if w.cfg.Events != nil {
				w.cfg.Events.stop(&changes)
			}
			w.server.Shutdown()
			working.Wait()
			changes.Wait()
			return nil
		case <-w.cfg.After(jitter(sweepEvery)):
		}
	}
}

// renewReceipts makes receipts of consents independent of older keys: a gateway
// starts with every change of the keys, and receipts are kept longer than any key
// should be. When it fails, the next start does it.
func (w *Worker) renewReceipts(ctx context.Context) {
	ctx, span := StartTrace(ctx, w.cfg.Traces, "", "renew receipts", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Store.RenewReceipts(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "receipts of consents not sealed with the current key", "error", err)
	}
}

// advance never fails the job: the sweeper repeats what has to be repeated.
func (w *Worker) advance(ctx context.Context, id PaymentID) {
	_, err := w.cfg.Payments.Advance(ctx, id)
	if err != nil && CodeOf(err) == NotFound {
		// A start that was not completed, or a payment that Redis lost.
		if err = w.cfg.Payments.RebuildOnDemand(ctx); err == nil {
			_, err = w.cfg.Payments.Advance(ctx, id)
		}
	}
	switch {
	case CodeOf(err) == NotFound && err != nil:
		err = w.cfg.Store.ScheduleNext(ctx, id, time.Time{}) // the processor knows nothing of it either
	case err != nil:
		w.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", id, "error", err)
		return
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "payment not dropped from the open ones", "payment", id, "error", err)
	}
}

// sweep enqueues the payments whose look is due.
func (w *Worker) sweep(ctx context.Context) error {
	due, err := w.cfg.Store.DuePayments(ctx, w.cfg.Now(), 2*sweepEvery, sweepLimit)
	for _, id := range due {
		if err = w.cfg.Queue.EnqueueAdvance(ctx, id); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		w.cfg.Log.WarnContext(ctx, "open payments not swept", "error", err)
	}
	return err
}

// asynqLogger passes the queue library's warnings on, marked as such.
type asynqLogger struct{ Log *slog.Logger }

func (q asynqLogger) Debug(args ...any) { q.Log.Debug("queue: " + fmt.Sprint(args...)) }
func (q asynqLogger) Info(args ...any)  { q.Log.Debug("queue: " + fmt.Sprint(args...)) }
func (q asynqLogger) Warn(args ...any)  { q.Log.Warn("queue: " + fmt.Sprint(args...)) }
func (q asynqLogger) Error(args ...any) { q.Log.Error("queue: " + fmt.Sprint(args...)) }
func (q asynqLogger) Fatal(args ...any) { q.Log.Error("queue: " + fmt.Sprint(args...)) }
