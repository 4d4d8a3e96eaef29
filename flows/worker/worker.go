// Package worker does the background work of one gateway: jobs of the queue, payments
// dispatched in this process, sweeps over what is due, and the heartbeat that notices
// when Redis has lost something and has it rebuilt from the card processor.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/clubevent"
	"frontdesk/flows/jobs"
	"frontdesk/flows/payment"
	"frontdesk/flows/tracing"
)

const (
	// pollQueue: how long a job may lie before an idle worker sees it. Buyers do not wait
	// for it but when every hand is busy, and then the workers are not idle.
	pollQueue = 250 * time.Millisecond
	// concurrency: jobs wait for other systems, not for the processor of this machine.
	concurrency = 20
	// drainTimeout: a POST that was begun when the gateway was told to stop takes 30 s at most.
	drainTimeout = 35 * time.Second
	// sweepEvery, within a fifth either way: how often payments are looked for that nobody told of.
	sweepEvery = 15 * time.Second
	// sweepLimit: how many payments one sweep enqueues at most.
	sweepLimit = 500
)

// Worker runs the background work of one gateway.
type Worker struct {
	cfg       Config
	server    *asynq.Server
	heartbeat heartbeat
}

// Store is what a worker needs of Redis.
type Store interface {
	// DuePayments returns payments that want a look, at most limit, and puts each
	// of them off by pause, so that several gateways share the work.
	DuePayments(ctx context.Context, now time.Time, pause time.Duration, limit int) ([]flows.PaymentID, error)
	// ScheduleNext puts the payment's next look at an instant; the zero instant means never again.
	ScheduleNext(ctx context.Context, id flows.PaymentID, at time.Time) error
	// RenewReceipts seals with the current key every receipt that an older one sealed.
	RenewReceipts(ctx context.Context) error
	// Heartbeat leaves a gateway's n-th sign of life and returns the one before it, 0 for
	// none: another than the gateway left itself says that Redis forgot something.
	Heartbeat(ctx context.Context, gateway string, n int64) (int64, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// Config is what a worker needs; every field is required unless said.
type Config struct {
	Store    Store
	Queue    *jobs.Queue
	Payments *payment.Machine
	Changes  *jobs.Hub
	Events   *clubevent.Intake    // nil: the club system's events are not worked on by this worker
	Traces   trace.TracerProvider // keeps the spans of jobs, sweeps and rebuilds; nil: none are kept
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Log      *slog.Logger
}

// New makes a worker that does not run yet.
func New(cfg Config) *Worker {
	if cfg.Traces == nil {
		cfg.Traces = tracing.IDOnlyProvider()
	}
	return &Worker{cfg: cfg, heartbeat: newHeartbeat(), server: cfg.Queue.NewServer(asynq.Config{
		Concurrency: concurrency, TaskCheckInterval: pollQueue, ShutdownTimeout: drainTimeout,
		Logger: jobs.AsynqLogger{Log: cfg.Log}, LogLevel: asynq.WarnLevel,
	})}
}

// Run works until the context ends, and then finishes what was begun.
func (w *Worker) Run(ctx context.Context) error {
	mux := asynq.NewServeMux()
	mux.Use(jobs.TraceJobs(w.cfg.Traces))
	mux.HandleFunc(jobs.AdvanceJob, func(ctx context.Context, job *asynq.Task) error {
		w.advance(ctx, flows.PaymentID(job.Payload()))
		return nil
	})
	if w.cfg.Events != nil {
		if err := w.cfg.Events.Start(mux, w.cfg.Traces); err != nil {
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
				w.cfg.Events.Stop(&changes)
			}
			w.server.Shutdown()
			working.Wait()
			changes.Wait()
			return nil
		case <-w.cfg.After(flows.Jitter(sweepEvery)):
		}
	}
}

// renewReceipts makes receipts of consents independent of older keys: a gateway
// starts with every change of the keys, and receipts are kept longer than any key
// should be. When it fails, the next start does it.
func (w *Worker) renewReceipts(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "renew receipts", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Store.RenewReceipts(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "receipts of consents not sealed with the current key", "error", err)
	}
}

// advance never fails the job: the sweeper repeats what has to be repeated.
func (w *Worker) advance(ctx context.Context, id flows.PaymentID) {
	_, err := w.cfg.Payments.Advance(ctx, id)
	if err != nil && flows.CodeOf(err) == flows.NotFound {
		// A start that was not completed, or a payment that Redis lost.
		if err = w.cfg.Payments.RebuildOnDemand(ctx); err == nil {
			_, err = w.cfg.Payments.Advance(ctx, id)
		}
	}
	switch {
	case flows.CodeOf(err) == flows.NotFound && err != nil:
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
