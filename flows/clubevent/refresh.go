package clubevent

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/jobs"
)

const (
	// refreshBurst and refreshInterval are the budget of all gateways that share a Redis, and
	// thereby of the organisation that they serve: 20 looks at once, one a second
	// after that. A look makes six calls at most, so that a storm of events asks the
	// club system for less than the signup of one visitor a second does.
	refreshBurst    = 20
	refreshInterval = time.Second
	// refreshRetry: a look that failed, or whose gateway died, is repeated after this.
	refreshRetry = time.Minute
)

// refreshRate is the budget of the looks.
func refreshRate() flows.RateLimit {
	return flows.RateLimit{Burst: refreshBurst, Interval: refreshInterval}
}

// Start begins the work on events that the queue hands out, beside that of a worker,
// and the deliveries to subscribers; both end with the worker.
func (e *Intake) Start(mux *asynq.ServeMux, kept trace.TracerProvider) error {
	mux.HandleFunc(jobs.EventsJob, func(ctx context.Context, _ *asynq.Task) error { return e.ProcessPending(ctx) })
	mux.HandleFunc(jobs.DueRefreshesJob, func(ctx context.Context, _ *asynq.Task) error { return e.enqueueDue(ctx) })
	mux.HandleFunc(jobs.RefreshJob, func(ctx context.Context, job *asynq.Task) error {
		id, at, _ := strings.Cut(string(job.Payload()), " ")
		taken, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return err
		}
		return e.refresh(ctx, id, time.UnixMilli(taken))
	})
	return e.cfg.Relay.Start(kept)
}

// Stop ends the deliveries to subscribers, within wait.
func (e *Intake) Stop(wait *sync.WaitGroup) { wait.Go(e.cfg.Relay.Stop) }

// Sweep comes to the events whose work was lost, and to the looks that are due.
func (e *Intake) Sweep(ctx context.Context) error {
	waiting, err := e.cfg.Store.ClubEventsWaiting(ctx)
	if err == nil && waiting > 0 {
		err = e.cfg.Queue.EnqueueEvents(ctx)
	}
	return errors.Join(err, e.enqueueDue(ctx))
}

func (e *Intake) enqueueDue(ctx context.Context) error {
	now := e.cfg.Now()
	taken := now.Add(refreshRetry)
	due, err := e.cfg.Store.DueRefreshes(ctx, now, taken, refreshRate())
	for _, id := range due {
		if err := e.cfg.Queue.EnqueueRefresh(ctx, id, taken); err != nil {
			return err
		}
	}
	return err
}

// refresh looks at a registration, and says when the next look is due. One that
// failed stays where it was put off to.
func (e *Intake) refresh(ctx context.Context, id string, taken time.Time) error {
	next, err := e.cfg.Registrations.Refresh(ctx, id)
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "registration not refreshed", "error", err)
		return nil
	}
	return e.cfg.Store.FinishRefresh(ctx, id, taken, next)
}
