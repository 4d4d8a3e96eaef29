package background

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
)

// lane is what this gateway does about one list of payments that gateways share.
type lane struct {
	name    flows.Lane
	workers int
	lease   time.Duration // after which a payment that a gateway took is due again, because that gateway may have died
	work    func(context.Context, Request) *flows.Payment
}

func (w *Worker) lanes() []lane {
	return []lane{{flows.OpenLane, openWorkers, openLease, w.advance}, {flows.VerifyLane, verifiers, verifyLease, w.verify}}
}

// open lets this process work on a lane until close is called. That waits for what is in progress, for drainTimeout after the
// end of the context at most.
func (w *Worker) open(ctx context.Context, l lane) (closeLane func()) {
	inProgress, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		select {
		case <-inProgress.Done():
		case <-w.cfg.After(drainTimeout):
			cancel()
		}
	})
	workers := w.cfg.Queue.Workers(l.name)
	workers.Open(l.workers, func(request Request) *flows.Payment { return l.work(inProgress, request) })
	return func() {
		workers.Close()
		cancel()
	}
}

// fill has the idle workers of a lane work on what is due.
func (w *Worker) fill(ctx context.Context, l lane) error {
	return w.cfg.Queue.Workers(l.name).Fill(func(n int) ([]flows.PaymentID, error) {
		return w.cfg.Store.Due(ctx, l.name, w.cfg.Now(), l.lease, n)
	})
}

// feed fills a lane again and again until the context ends, while the sweeps permit that. The next sweep reports what failed.
func (w *Worker) feed(ctx context.Context, l lane) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.Queue.Workers(l.name).Changed():
		case <-w.cfg.After(fillEvery):
		}
		if w.mayFill.Load() {
			_ = w.fill(ctx, l)
		}
	}
}

// advance advances a payment, and returns it if it could be read. A failure is only logged, because the payment is due again.
func (w *Worker) advance(ctx context.Context, request Request) (p *flows.Payment) {
	ctx, cancel := context.WithTimeout(ctx, JobTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, request.Trace, "advance", trace.SpanKindConsumer)
	defer span.End()
	var err error
	if request.Payment != nil {
		p, err = w.cfg.Payments.AdvanceLoaded(ctx, request.Payment)
	} else {
		p, err = w.cfg.Payments.Advance(ctx, request.ID)
	}
	if flows.CodeOf(err) == flows.NotFound { // its start was not completed, or Redis lost it
		if err = w.cfg.Payments.RebuildOnDemand(ctx); err == nil {
			p, err = w.cfg.Payments.Advance(ctx, request.ID)
		}
	}
	failed := "payment not advanced"
	if flows.CodeOf(err) == flows.NotFound { // nor did the processor create it within payment.WholeWindow
		err, failed = w.cfg.Store.Unschedule(ctx, request.ID), "payment not dropped from the open ones"
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, failed, "payment", request.ID, "error", err)
	}
	return p
}

// verify verifies a recorded payment, and then pauses.
func (w *Worker) verify(ctx context.Context, request Request) *flows.Payment {
	w.verifyOne(ctx, request.ID)
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
	err := w.cfg.Payments.Verify(ctx, id)
	if flows.CodeOf(err) == flows.NotFound { // it expired, or Redis lost it: then a comparison lists it again
		err = w.cfg.Store.Unschedule(ctx, id)
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "recorded payment not verified", "payment", id, "error", err)
	}
}
