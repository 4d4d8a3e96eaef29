package worker

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/jobs"
	"frontdesk/flows/tracing"
)

// dispatch processes this process's requests until the context ends. It then finishes
// those in progress, within drainTimeout.
func (w *Worker) dispatch(ctx context.Context) {
	inProgress, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	context.AfterFunc(ctx, func() {
		select {
		case <-inProgress.Done():
		case <-w.cfg.After(drainTimeout):
			cancel()
		}
	})
	var processing sync.WaitGroup
	for range concurrency {
		processing.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case request := <-w.cfg.Queue.Requests():
					w.process(inProgress, request)
				}
			}
		})
	}
	processing.Wait()
}

// process advances a payment until no further request came meanwhile.
func (w *Worker) process(ctx context.Context, request jobs.AdvanceRequest) {
	ctx, cancel := context.WithTimeout(ctx, jobs.JobTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, request.Trace, "job "+jobs.AdvanceJob, trace.SpanKindConsumer)
	defer span.End()
	p, err := w.cfg.Payments.AdvanceLoaded(ctx, request.Payment)
	for w.cfg.Queue.Finish(request.Payment.ID) {
		if p == nil || !p.State.Final() || p.State == flows.Refunded { // a refund can fail after all
			p, err = w.cfg.Payments.Advance(ctx, request.Payment.ID)
		}
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", request.Payment.ID, "error", err)
	}
}
