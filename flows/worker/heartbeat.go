package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows/payment"
	"frontdesk/flows/tracing"
)

// The figures of the watch over Redis.
const (
	// wholeEvery: everything that the processor holds of us is compared once an hour.
	wholeEvery = time.Hour
	// recentEvery: money that was just taken is visible within ten minutes, even if
	// the gateway whose turn it is dies over it.
	recentEvery = 4 * time.Minute
	// rebuildTimeout bounds one comparison: at the processor's page sizes the list of
	// fifty thousand payments takes about half of it.
	rebuildTimeout = 5 * time.Minute
	// rebuildPause: after a comparison that failed, until the next one.
	rebuildPause = time.Minute
)

// heartbeat notices that Redis lost something.
type heartbeat struct {
	gateway     string        // names this run of the gateway in Redis
	count       int64         // signs of life so far
	rebuildOwed *atomic.Bool  // everything has to be compared, whoever's turn it is
	lastSweep   *atomic.Int64 // when the latest tick was whole, in Unix nanoseconds; 0: none was yet
	wake        chan struct{} // tells the rebuilds that Redis is there
}

// newHeartbeat begins with a comparison: nobody knows what happened before the start.
func newHeartbeat() heartbeat {
	owed := &atomic.Bool{}
	owed.Store(true)
	return heartbeat{gateway: uuid.NewString(), rebuildOwed: owed, lastSweep: &atomic.Int64{}, wake: make(chan struct{}, 1)}
}

// tick sweeps, and finds out whether Redis is what it was at the tick before.
func (w *Worker) tick(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "sweep", trace.SpanKindInternal)
	defer span.End()
	if w.cfg.Events != nil {
		if err := w.cfg.Events.Sweep(ctx); err != nil && ctx.Err() == nil {
			w.cfg.Log.WarnContext(ctx, "events and registrations not swept", "error", err)
		}
	}
	if err := errors.Join(w.sweep(ctx), w.sendHeartbeat(ctx)); err != nil {
		w.heartbeat.rebuildOwed.Store(true) // Redis was away: it may come back with less
		return
	}
	w.heartbeat.lastSweep.Store(w.cfg.Now().UnixNano())
	select {
	case w.heartbeat.wake <- struct{}{}:
	default: // a comparison is under way
	}
}

// sendHeartbeat leaves a sign of life and looks for the one before it.
func (w *Worker) sendHeartbeat(ctx context.Context) error {
	before, err := w.cfg.Store.Heartbeat(ctx, w.heartbeat.gateway, w.heartbeat.count+1)
	if err != nil {
		return err
	}
	if before != w.heartbeat.count {
		w.cfg.Log.ErrorContext(ctx, "redis lost writes; rebuilding from the card processor", "left", w.heartbeat.count, "found", before)
		w.heartbeat.rebuildOwed.Store(true)
	}
	w.heartbeat.count++
	return nil
}

// startRebuilds compares Redis with the processor whenever that is due, beside the
// sweeps, since the processor may be slow.
func (w *Worker) startRebuilds(ctx context.Context) *sync.WaitGroup {
	var running sync.WaitGroup
	running.Go(func() {
		var notBefore time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.heartbeat.wake:
			}
			if now := w.cfg.Now(); !now.Before(notBefore) && !w.rebuild(ctx) {
				notBefore = now.Add(rebuildPause)
			}
		}
	})
	return &running
}

// rebuild carries out the comparison that is due, if any; false when it has to be repeated.
func (w *Worker) rebuild(ctx context.Context) bool {
	window := w.dueWindow(ctx)
	if window == 0 {
		return true
	}
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "rebuild", trace.SpanKindInternal)
	defer span.End()
	within, cancel := context.WithTimeout(ctx, rebuildTimeout)
	defer cancel()
	err := w.cfg.Payments.Rebuild(within, window)
	if err != nil {
		w.heartbeat.rebuildOwed.Store(true)
		if ctx.Err() == nil {
			w.cfg.Log.ErrorContext(ctx, "redis not compared with the card processor", "error", err)
		}
	}
	return err == nil
}

// dueWindow is how far back to compare now; zero for not at all. What a loss or a
// failure calls for does not depend on what Redis remembers of other comparisons, and
// takes their turns, as it looks at all that they would.
func (w *Worker) dueWindow(ctx context.Context) (due time.Duration) {
	owed, onDemand := w.heartbeat.rebuildOwed.Swap(false), w.cfg.Payments.TakeOwedRebuild()
	if owed || onDemand {
		due = payment.WholeWindow
	}
	for _, turn := range []struct {
		name   string
		every  time.Duration
		window time.Duration
	}{{"rebuild:whole", wholeEvery, payment.WholeWindow}, {"rebuild:recent", recentEvery, payment.RecentWindow}} {
		ours, err := w.cfg.Store.Once(ctx, turn.name, turn.every)
		if err != nil {
			w.heartbeat.rebuildOwed.Store(true)
			return 0
		}
		if ours {
			due = max(due, turn.window)
		}
	}
	return due
}

// LastSweep tells when this worker last swept everything and found Redis well; the
// zero instant when it never did.
func (w *Worker) LastSweep() time.Time {
	at := w.heartbeat.lastSweep.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at)
}
