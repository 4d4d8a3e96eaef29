package background

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/tracing"
)

const (
	// sweepEvery, within a fifth either way, is how often events and registrations without a job are found, and losses of Redis.
	sweepEvery = 15 * time.Second
	// wholeEvery is how often the payments of payment.WholeWindow are compared.
	wholeEvery = time.Hour
	// recentEvery makes money that was just taken visible within ten minutes, even if the
	// gateway whose turn it is dies during the comparison.
	recentEvery = 4 * time.Minute
	// rebuildPause is the pause after a comparison that failed.
	rebuildPause = time.Minute
)

// heartbeat notices that Redis lost something.
type heartbeat struct {
	gateway   string                    // identifies this run of the gateway in Redis
	count     int64                     // of heartbeats so far
	lastSweep atomic.Pointer[time.Time] // the latest tick in which the sweep and the heartbeat succeeded; nil: none yet
	wake      chan struct{}             // tells runRebuilds that Redis can be reached
}

// runSweeps sweeps again and again until the context ends, first at once.
func (w *Worker) runSweeps(ctx context.Context) {
	for {
		w.tick(ctx)
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.After(flows.Jitter(sweepEvery)):
		}
	}
}

// tick sweeps, and finds out whether Redis lost something since the last tick. While this machine's clock is
// wrong it does neither, and no payments are taken until it is right: everything would seem due, or long over, and would be
// postponed by that clock. The same holds while Redis holds the payments of others.
func (w *Worker) tick(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "sweep", trace.SpanKindInternal)
	defer span.End()
	if w.cfg.ClocksAgree != nil {
		if agree, err := w.cfg.ClocksAgree(ctx, w.cfg.Now); err == nil && !agree {
			w.mayFill.Store(false)
			w.cfg.Log.ErrorContext(ctx, "sweep skipped: the clock differs from that of redis")
			return
		}
	}
	var foreign *payment.FingerprintError
	if err := w.cfg.Payments.CheckFingerprint(ctx); errors.As(err, &foreign) {
		w.mayFill.Store(false)
		return // the machine has logged it
	} else if err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "fingerprint not compared with redis", "error", err)
	}
	w.mayFill.Store(true)
	if err := w.Events.sweep(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "events and registrations not swept", "error", err)
	}
	w.followStatements(ctx)
	if err := errors.Join(w.fillLanes(ctx), w.cfg.Store.NoteSealKeys(ctx, w.cfg.Now()), w.sendHeartbeat(ctx)); err != nil {
		w.cfg.Payments.OweRebuild() // Redis was away, and may come back with less
		return
	}
	w.heartbeat.lastSweep.Store(new(w.cfg.Now()))
	select {
	case w.heartbeat.wake <- struct{}{}:
	default: // a comparison is in progress
	}
}

// sendHeartbeat leaves a heartbeat in Redis and checks that the previous one is there.
func (w *Worker) sendHeartbeat(ctx context.Context) error {
	before, err := w.cfg.Store.Heartbeat(ctx, w.heartbeat.gateway, w.heartbeat.count+1)
	if err != nil {
		return err
	}
	if before < w.heartbeat.count { // a later one is this gateway's, whose response was lost
		w.cfg.Log.ErrorContext(ctx, "redis lost writes; rebuilding from the card processor", "left", w.heartbeat.count, "found", before)
		w.cfg.Payments.OweRebuild()
	}
	w.heartbeat.count++
	return nil
}

// runRebuilds compares Redis with the processor when that is due, until the context ends.
// It is separate from the sweeps because the processor may be slow.
func (w *Worker) runRebuilds(ctx context.Context) {
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
}

// rebuild carries out the comparison that is due, if any. It returns false if the
// comparison failed and must be repeated.
func (w *Worker) rebuild(ctx context.Context) bool {
	window := w.dueWindow(ctx)
	if window == 0 {
		return true
	}
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "rebuild", trace.SpanKindInternal)
	defer span.End()
	err := w.cfg.Payments.Rebuild(ctx, window) // each page has a limit; a long list has none
	if err != nil {
		w.cfg.Payments.OweRebuild()
		if ctx.Err() == nil {
			w.cfg.Log.ErrorContext(ctx, "redis not compared with the card processor", "error", err)
		}
	}
	return err == nil
}

// dueWindow returns how far back to compare now; 0: not at all. An owed comparison does
// not depend on the turns, which Redis may have lost, and takes them because it covers them.
func (w *Worker) dueWindow(ctx context.Context) (due time.Duration) {
	if w.cfg.Payments.TakeOwedRebuild() {
		due = payment.Everything
	}
	for _, turn := range []struct {
		name          string
		every, window time.Duration
	}{{"rebuild:whole", wholeEvery, payment.WholeWindow}, {"rebuild:recent", recentEvery, payment.RecentWindow}} {
		ours, err := w.cfg.Store.Once(ctx, turn.name, turn.every)
		if err != nil {
			w.cfg.Payments.OweRebuild()
			return 0
		}
		if ours {
			due = max(due, turn.window)
		}
	}
	return due
}

// LastSweep returns the time of this worker's latest sweep in which Redis responded, even if it had lost
// writes; zero if there was none yet.
func (w *Worker) LastSweep() time.Time {
	if at := w.heartbeat.lastSweep.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
