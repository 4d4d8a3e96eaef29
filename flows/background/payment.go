package background

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

const (
	// openWorkers are not bounded by the processor: they wait for other systems. They take at most half of the places that
	// newcomers may fill after a start, so that payments alone turn no visitor away.
	openWorkers = 80
	// openLease is how long a payment is delayed by a gateway that dies with it. It is below what an advance takes at most: a
	// second one at the same time is harmless.
	openLease = 30 * time.Second
	// advanceTimeout covers a whole payment from authorised to recorded, with every call at its limit.
	advanceTimeout = 2 * time.Minute
	// verifiers verify recorded payments, at most ten a second together, because no buyer waits for that. There are
	// several, so that one slow club system does not hold up the payments of another.
	verifiers, verifyPause = 4, 400 * time.Millisecond
	// verifyLease is the pause after a reading that failed, or whose gateway died.
	verifyLease = 5 * time.Minute
	// fillEvery is how long a payment that is due waits for an idle worker at most.
	fillEvery = time.Second
	// drainTimeout is above the 30 s that a POST in progress takes at most.
	drainTimeout = 35 * time.Second
)

// runPayments works on payments that are woken or due, and sweeps, until the context ends. Then it waits for the payments in
// progress, for drainTimeout at most.
func (w *Worker) runPayments(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		select {
		case <-working.Done():
		case <-w.cfg.After(drainTimeout):
			stop()
		}
	})
	open, verify := w.Queue.open, w.Queue.verify
	open.open(openWorkers, func(asked request) *flows.Payment { return w.advance(working, asked) })
	verify.open(verifiers, func(asked request) *flows.Payment { return w.verify(working, asked) })
	var filling, draining sync.WaitGroup
	filling.Go(func() { w.keepFilled(ctx, open) })
	filling.Go(func() { w.keepFilled(ctx, verify) })
	filling.Go(func() { w.runSweeps(ctx) })
	filling.Wait()
	draining.Go(open.close)
	draining.Go(verify.close)
	draining.Wait()
}

// keepFilled fills a lane again and again until the context ends, while the sweeps permit that. The next sweep reports what
// failed.
func (w *Worker) keepFilled(ctx context.Context, lane *lane) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-lane.changed:
		case <-w.cfg.After(fillEvery):
		}
		if w.mayFill.Load() {
			_ = lane.fill(ctx)
		}
	}
}

// fillLanes takes payments that are due, so that it is known whether their lists can be read.
func (w *Worker) fillLanes(ctx context.Context) error {
	err := errors.Join(w.Queue.open.fill(ctx), w.Queue.verify.fill(ctx))
	if err != nil && !errors.Is(err, context.Canceled) {
		w.cfg.Log.WarnContext(ctx, "open payments not swept", "error", err)
	}
	return err
}

// advance advances a payment, and returns it if it could be read. A failure is only logged, because the payment is due again.
func (w *Worker) advance(ctx context.Context, asked request) (payment *flows.Payment) {
	ctx, cancel := context.WithTimeout(ctx, advanceTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, asked.trace, "advance", trace.SpanKindConsumer)
	defer span.End()
	var err error
	if asked.payment != nil {
		payment, err = w.cfg.Payments.AdvanceLoaded(ctx, asked.payment)
	} else {
		payment, err = w.cfg.Payments.Advance(ctx, asked.id)
	}
	if flows.CodeOf(err) == flows.NotFound { // its start was not completed, or Redis lost it
		if err = w.cfg.Payments.RebuildOnDemand(ctx); err == nil {
			payment, err = w.cfg.Payments.Advance(ctx, asked.id)
		}
	}
	failed := "payment not advanced"
	if flows.CodeOf(err) == flows.NotFound { // nor did the processor create it within payment.WholeWindow
		err, failed = w.cfg.Store.Unschedule(ctx, asked.id), "payment not dropped from the open ones"
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, failed, "payment", asked.id, "error", err)
	}
	if payment != nil {
		if err := w.announce(ctx, payment); err != nil {
			w.cfg.Log.WarnContext(ctx, "payment not announced; retried later", "payment", asked.id, "error", err)
		}
	}
	return payment
}

// verify verifies a recorded payment, and then pauses.
func (w *Worker) verify(ctx context.Context, asked request) *flows.Payment {
	w.verifyOne(ctx, asked.id)
	select {
	case <-ctx.Done():
	case <-w.cfg.After(verifyPause):
	}
	return nil
}

func (w *Worker) verifyOne(ctx context.Context, id flows.PaymentID) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "verify", trace.SpanKindInternal)
	defer span.End()
	err := w.verifyAnnounced(ctx, id)
	if flows.CodeOf(err) == flows.NotFound { // it expired, or Redis lost it: then a comparison lists it again
		err = w.cfg.Store.Unschedule(ctx, id)
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "recorded payment not verified", "payment", id, "error", err)
	}
}

// verifyAnnounced announces a recorded payment, if no gateway has since it was recorded, and verifies it. One that could not be announced
// stays due, but its verification does not wait for that.
func (w *Worker) verifyAnnounced(ctx context.Context, id flows.PaymentID) error {
	payment, err := w.cfg.Store.Payment(ctx, id)
	if err != nil {
		return flows.StorageFailed(err)
	}
	unannounced := w.announce(ctx, payment)
	err = w.cfg.Payments.Verify(ctx, id)
	if unannounced != nil && payment.State == flows.Recorded {
		err = errors.Join(err, unannounced, w.cfg.Store.EnsureScheduled(ctx, payment, w.cfg.Now().Add(announceAgain)))
	}
	return err
}
