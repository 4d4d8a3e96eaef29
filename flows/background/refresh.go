package background

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/flows"
)

const (
	// eventWorkers wait for the club system, most of the time.
	eventWorkers = 10
	// pollQueue is how long an event of the club system waits for an idle worker at most.
	pollQueue = 250 * time.Millisecond
	// refreshBurst and refreshInterval are the budget of all gateways that share a Redis,
	// and so of their organisation. A refresh makes eight calls at most, and usually four, so that a burst
	// of events asks less of the club system than the signup of one visitor a second.
	refreshBurst    = 20
	refreshInterval = time.Second
	// refreshRetry is when a refresh that failed, or whose gateway died, is repeated.
	refreshRetry = time.Minute
)

// run processes events, and refreshes registrations, until the context ends.
func (i *Intake) run(ctx context.Context) error {
	settings := asynq.Config{
		Queues:            map[string]int{eventsQueue: 1},
		Concurrency:       eventWorkers,
		TaskCheckInterval: pollQueue,
		ShutdownTimeout:   drainTimeout,
		RetryDelayFunc:    pauseAfterFailure,
		LogLevel:          asynq.WarnLevel,
	}
	return i.cfg.serveJobs(ctx, settings, map[string]asynq.HandlerFunc{
		eventsJob:       func(ctx context.Context, _ *asynq.Task) error { return i.ProcessPending(ctx) },
		dueRefreshesJob: func(ctx context.Context, _ *asynq.Task) error { return i.enqueueDue(ctx) },
		refreshJob:      i.refresh,
		termsJob: func(ctx context.Context, job *asynq.Task) error {
			return i.cfg.Registrations.ReportTerms(ctx, flows.PaymentID(job.Payload()))
		},
	})
}

// sweep enqueues the events whose job was lost, and the refreshes that are due.
func (i *Intake) sweep(ctx context.Context) error {
	waiting, err := i.cfg.Store.ClubEventsWaiting(ctx)
	if err == nil && waiting > 0 {
		err = i.cfg.Queue.enqueueEvents(ctx)
	}
	return errors.Join(err, i.enqueueDue(ctx))
}

func (i *Intake) enqueueDue(ctx context.Context) error {
	now := i.cfg.Now()
	taken := now.Add(refreshRetry)
	due, err := i.cfg.Store.DueRefreshes(ctx, now, taken, refreshBurst, refreshInterval)
	for _, id := range due {
		if err := i.cfg.Queue.enqueueRefresh(ctx, id, taken); err != nil {
			return err
		}
	}
	return err
}

// refresh refreshes the registration of a job, and sets its next refresh. One that failed stays postponed.
func (i *Intake) refresh(ctx context.Context, job *asynq.Task) error {
	id, at, _ := strings.Cut(string(job.Payload()), " ")
	taken, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return err
	}
	next, err := i.cfg.Registrations.Refresh(ctx, id)
	if err != nil {
		i.cfg.Log.WarnContext(ctx, "registration not refreshed", "error", err)
		return nil
	}
	return i.cfg.Store.FinishRefresh(ctx, id, time.UnixMilli(taken), next)
}
