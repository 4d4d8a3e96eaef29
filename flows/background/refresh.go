package background

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"
)

const (
	// refreshBurst and refreshInterval are the budget of all gateways that share a Redis,
	// and so of their organisation. A refresh makes eight calls at most, and usually four, so that a burst
	// of events asks less of the club system than the signup of one visitor a second.
	refreshBurst    = 20
	refreshInterval = time.Second
	// refreshRetry is when a refresh that failed, or whose gateway died, is repeated.
	refreshRetry = time.Minute
)

// Start registers the jobs of events with the worker's mux, and starts the deliveries to
// subscribers.
func (i *Intake) Start(mux *asynq.ServeMux, traces trace.TracerProvider) error {
	mux.HandleFunc(EventsJob, func(ctx context.Context, _ *asynq.Task) error { return i.ProcessPending(ctx) })
	mux.HandleFunc(DueRefreshesJob, func(ctx context.Context, _ *asynq.Task) error { return i.enqueueDue(ctx) })
	mux.HandleFunc(RefreshJob, func(ctx context.Context, job *asynq.Task) error {
		id, at, _ := strings.Cut(string(job.Payload()), " ")
		taken, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return err
		}
		return i.refresh(ctx, id, time.UnixMilli(taken))
	})
	return i.cfg.Relay.Start(traces)
}

// Stop ends the deliveries to subscribers. It waits for those in progress.
func (i *Intake) Stop() { i.cfg.Relay.Stop() }

// Sweep enqueues the events whose job was lost, and the refreshes that are due.
func (i *Intake) Sweep(ctx context.Context) error {
	waiting, err := i.cfg.Store.ClubEventsWaiting(ctx)
	if err == nil && waiting > 0 {
		err = i.cfg.Queue.EnqueueEvents(ctx)
	}
	return errors.Join(err, i.enqueueDue(ctx))
}

func (i *Intake) enqueueDue(ctx context.Context) error {
	now := i.cfg.Now()
	taken := now.Add(refreshRetry)
	due, err := i.cfg.Store.DueRefreshes(ctx, now, taken, refreshBurst, refreshInterval)
	for _, id := range due {
		if err := i.cfg.Queue.EnqueueRefresh(ctx, id, taken); err != nil {
			return err
		}
	}
	return err
}

// refresh refreshes a registration and sets its next refresh. One that failed stays
// postponed to taken.
func (i *Intake) refresh(ctx context.Context, id string, taken time.Time) error {
	next, err := i.cfg.Registrations.Refresh(ctx, id)
	if err != nil {
		i.cfg.Log.WarnContext(ctx, "registration not refreshed", "error", err)
		return nil
	}
	return i.cfg.Store.FinishRefresh(ctx, id, taken, next)
}
