// Package worker does the background work of one gateway: the queue's jobs, payments
// dispatched in this process, sweeps over payments and registrations, and the heartbeat
// that detects lost writes of Redis and triggers a rebuild from the card processor.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/clubevent"
	"frontdesk/flows/jobs"
	"frontdesk/flows/payment"
	"frontdesk/flows/tracing"
)

const (
	// pollQueue is how long a job waits for an idle worker at most. Buyers wait for it only
	// when every worker is busy, and then the workers do not poll.
	pollQueue = 250 * time.Millisecond
	// concurrency is not bounded by the processor: jobs wait for other systems.
	concurrency = 40
	// drainTimeout is above the 30 s that a POST in progress takes at most.
	drainTimeout = 35 * time.Second
	// sweepEvery, within a fifth either way, is how often payments without an event are found.
	sweepEvery = 15 * time.Second
	// verifiers verify recorded payments, at most ten a second together, because no buyer waits for that. There are
	// several, so that one slow club system does not hold up the payments of another.
	verifiers, verifyPause = 4, 400 * time.Millisecond
	// sweepLimit is the number of payments that one sweep enqueues at most.
	sweepLimit = 500
)

// Worker runs the background work of one gateway.
type Worker struct {
	cfg       Config
	server    *asynq.Server
	heartbeat heartbeat
}

// Store is what a worker needs from Redis.
type Store interface {
	// DuePayments returns at most limit payments whose next poll is due, and postpones
	// each by pause, so that several gateways share the work.
	DuePayments(ctx context.Context, now time.Time, pause time.Duration, limit int) ([]flows.PaymentID, error)
	// DropOpen removes a payment from the open ones and from those to verify.
	DropOpen(ctx context.Context, id flows.PaymentID) error
	// RenewReceipts seals with the current key every receipt that an older one sealed.
	RenewReceipts(ctx context.Context) error
	// NoteSealKeys notes that the current seal key is in use, so that it is missed when it is removed too early.
	NoteSealKeys(ctx context.Context, now time.Time) error
	// Heartbeat stores a gateway's n-th heartbeat and returns the previous one, 0 for
	// none. If the gateway left another one, Redis lost writes.
	Heartbeat(ctx context.Context, gateway string, n int64) (int64, error)
	// Once reports whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
}

// Config is what a worker needs; every field is required unless noted.
type Config struct {
	Store    Store
	Queue    *jobs.Queue
	Payments *payment.Machine
	Changes  *jobs.Hub
	Events   *clubevent.Intake
	Traces   trace.TracerProvider // of jobs, sweeps and rebuilds
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Log      *slog.Logger
	// ClocksAgree reports whether a clock shows the time of the other gateways; nil: not checked.
	ClocksAgree func(ctx context.Context, now func() time.Time) (bool, error)
}

// New returns a worker. It does nothing until Run is called.
func New(cfg Config) *Worker {
	w := &Worker{cfg: cfg, heartbeat: heartbeat{gateway: uuid.NewString(), wake: make(chan struct{}, 1)}, server: cfg.Queue.NewServer(cfg.Log, asynq.Config{
		Concurrency: concurrency, TaskCheckInterval: pollQueue, ShutdownTimeout: drainTimeout, LogLevel: asynq.WarnLevel,
	})}
	w.heartbeat.lastSweep.Store(&time.Time{})
	cfg.Payments.OweRebuild() // Redis may have lost something before the start
	return w
}

// Run works until the context ends, and then finishes what is in progress.
func (w *Worker) Run(ctx context.Context) error {
	mux := jobs.NewMux(w.cfg.Traces)
	mux.HandleFunc(jobs.AdvanceJob, func(ctx context.Context, job *asynq.Task) error {
		w.advance(ctx, flows.PaymentID(job.Payload()))
		return nil
	})
	if err := w.cfg.Events.Start(mux, w.cfg.Traces); err != nil {
		return err
	}
	if err := w.server.Start(mux); err != nil {
		return fmt.Errorf("background work cannot start: %w", err)
	}
	var loops, draining sync.WaitGroup
	loops.Go(func() { w.cfg.Changes.Run(ctx) })
	loops.Go(func() { w.runRebuilds(ctx) })
	loops.Go(func() { w.renewReceipts(ctx) })
	draining.Go(func() { w.dispatch(ctx) })
	for range verifiers {
		draining.Go(func() { w.verify(ctx) })
	}
	for {
		w.tick(ctx)
		select {
		case <-ctx.Done():
			loops.Wait() // first: event streams keep the gateway's server from stopping
			draining.Go(w.cfg.Events.Stop)
			w.server.Shutdown()
			draining.Wait()
			return nil
		case <-w.cfg.After(flows.Jitter(sweepEvery)):
		}
	}
}

// renewReceipts makes receipts of consents independent of older keys, because receipts
// are kept longer than any key should be. A change of keys needs a start, and a start
// that fails to renew leaves it to the next one.
func (w *Worker) renewReceipts(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "renew receipts", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Store.RenewReceipts(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "receipts of consents not sealed with the current key", "error", err)
	}
}

// advance never fails the job, because the sweep repeats it.
func (w *Worker) advance(ctx context.Context, id flows.PaymentID) {
	_, err := w.cfg.Payments.Advance(ctx, id)
	if flows.CodeOf(err) == flows.NotFound { // its start was not completed, or Redis lost it
		if err = w.cfg.Payments.RebuildOnDemand(ctx); err == nil {
			_, err = w.cfg.Payments.Advance(ctx, id)
		}
	}
	failed := "payment not advanced"
	if flows.CodeOf(err) == flows.NotFound { // nor did the processor create it within payment.WholeWindow
		err, failed = w.cfg.Store.DropOpen(ctx, id), "payment not dropped from the open ones"
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, failed, "payment", id, "error", err)
	}
}

// verify verifies recorded payments, one at a time, until the context ends.
func (w *Worker) verify(ctx context.Context) {
	for {
		id, ok := w.cfg.Payments.NextUnverified(ctx)
		if !ok {
			return
		}
		w.verifyOne(context.WithoutCancel(ctx), id)
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.After(verifyPause):
		}
	}
}

func (w *Worker) verifyOne(ctx context.Context, id flows.PaymentID) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "verify", trace.SpanKindInternal)
	defer span.End()
	err := w.cfg.Payments.Verify(ctx, id)
	if flows.CodeOf(err) == flows.NotFound { // it expired, or Redis lost it: then a comparison lists it again
		err = w.cfg.Store.DropOpen(ctx, id)
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "recorded payment not verified", "payment", id, "error", err)
	}
}

// sweep enqueues the payments whose next poll is due, and takes some that must be verified.
func (w *Worker) sweep(ctx context.Context) error {
	due, err := w.cfg.Store.DuePayments(ctx, w.cfg.Now(), 2*sweepEvery, sweepLimit)
	for _, id := range due {
		if err = w.cfg.Queue.EnqueueAdvance(ctx, id); err != nil {
			break
		}
	}
	err = cmp.Or(err, w.cfg.Payments.TakeUnverified(ctx))
	if err != nil && !errors.Is(err, context.Canceled) {
		w.cfg.Log.WarnContext(ctx, "open payments not swept", "error", err)
	}
	return err
}
