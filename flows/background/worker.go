// Package background is all work that no request waits for. Two kinds of it are independent of each other.
//
// Payments wait in two lanes in Redis, each at the time when it is due: those that are open, and those that were recorded and
// are verified. Queue.Wake has a payment advanced at once, here or on another gateway.
//
// Events of the club system arrive at Intake, which stores them. A job reads the registrations again that they concern, and
// passes them to Relay, which delivers them to subscribers. Jobs are asynq's; a lost one is found by the next sweep.
//
// Worker.Run starts and stops all of it, the Hub for the visitors' event streams included. The Worker also notices that Redis
// lost writes, by its heartbeat, and then rebuilds the payments from the card processor. Start reading there.
package background

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
)

const (
	// pollQueue is how long an event of the club system waits for an idle worker at most.
	pollQueue = 250 * time.Millisecond
	// eventWorkers and openWorkers are not bounded by the processor: both wait for other systems.
	eventWorkers, openWorkers = 10, 40
	// fillEvery is how long a payment that is due waits for an idle worker at most.
	fillEvery = time.Second
	// openLease is how long a payment is delayed by a gateway that dies with it. It is below what an advance takes at most: a
	// second one at the same time is harmless.
	openLease = 30 * time.Second
	// drainTimeout is above the 30 s that a POST in progress takes at most.
	drainTimeout = 35 * time.Second
	// sweepEvery, within a fifth either way, is how often events and registrations without a job are found, and losses of Redis.
	sweepEvery = 15 * time.Second
	// verifiers verify recorded payments, at most ten a second together, because no buyer waits for that. There are
	// several, so that one slow club system does not hold up the payments of another.
	verifiers, verifyPause = 4, 400 * time.Millisecond
	// verifyLease is the pause after a reading that failed, or whose gateway died.
	verifyLease = 5 * time.Minute
)

// Worker runs the background work of one gateway.
type Worker struct {
	cfg       WorkerConfig
	server    *asynq.Server
	heartbeat heartbeat
	mayFill   atomic.Bool // the latest sweep found this machine's clock and the owner of Redis right
}

// WorkerConfig is what a worker needs; every field is required unless noted.
type WorkerConfig struct {
	Store    *store.Store
	Queue    *Queue
	Payments *payment.Machine
	Changes  *Hub
	Events   *Intake
	Traces   trace.TracerProvider // of jobs, sweeps and rebuilds
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Log      *slog.Logger
	// ClocksAgree reports whether a clock shows the time of the other gateways; nil: not checked.
	ClocksAgree func(ctx context.Context, now func() time.Time) (bool, error)
}

// NewWorker returns a worker. It does nothing until Run is called.
func NewWorker(cfg WorkerConfig) *Worker {
	w := &Worker{cfg: cfg, heartbeat: heartbeat{gateway: uuid.NewString(), wake: make(chan struct{}, 1)}, server: cfg.Queue.NewServer(cfg.Log, asynq.Config{
		Concurrency: eventWorkers, TaskCheckInterval: pollQueue, ShutdownTimeout: drainTimeout, LogLevel: asynq.WarnLevel,
	})}
	w.heartbeat.lastSweep.Store(&time.Time{})
	cfg.Payments.OweRebuild() // Redis may have lost something before the start
	return w
}

// Run works until the context ends, and then finishes what is in progress.
func (w *Worker) Run(ctx context.Context) error {
	mux := NewMux(w.cfg.Traces)
	if err := w.cfg.Events.Start(mux, w.cfg.Traces); err != nil {
		return err
	}
	if err := w.server.Start(mux); err != nil {
		return fmt.Errorf("background work cannot start: %w", err)
	}
	var loops, feeding, draining sync.WaitGroup
	loops.Go(func() { w.cfg.Changes.Run(ctx) })
	loops.Go(func() { w.runRebuilds(ctx) })
	loops.Go(func() { w.renewReceipts(ctx) })
	var closeLanes []func()
	for _, l := range w.lanes() {
		closeLanes = append(closeLanes, w.open(ctx, l))
		feeding.Go(func() { w.feed(ctx, l) })
	}
	for {
		w.tick(ctx)
		select {
		case <-ctx.Done():
			feeding.Wait()
			for _, closeLane := range closeLanes {
				draining.Go(closeLane)
			}
			loops.Wait() // before the rest: event streams keep the gateway's server from stopping
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

// sweep takes payments that are due, so that it is known whether their lists can be read.
func (w *Worker) sweep(ctx context.Context) error {
	var failed error
	for _, l := range w.lanes() {
		failed = errors.Join(failed, w.fill(ctx, l))
	}
	if failed != nil && !errors.Is(failed, context.Canceled) {
		w.cfg.Log.WarnContext(ctx, "open payments not swept", "error", failed)
	}
	return failed
}
