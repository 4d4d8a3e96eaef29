package worker

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows/jobs"
	"frontdesk/flows/tracing"
)

// startDispatch begins the work on this process's requests. What is in progress when the
// context ends is finished, within drainTimeout.
func (w *Worker) startDispatch(ctx context.Context) *sync.WaitGroup {
	var working sync.WaitGroup
	jobs, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	for range concurrency {
		working.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case request := <-w.cfg.Queue.Requests():
					w.process(jobs, request)
				}
			}
		})
	}
	context.AfterFunc(ctx, func() {
		ended := make(chan struct{})
		go func() { working.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-w.cfg.After(drainTimeout):
		}
		giveUp()
	})
	return &working
}

// process advances a payment until no further request came meanwhile.
func (w *Worker) process(ctx context.Context, request jobs.AdvanceRequest) {
	ctx, cancel := context.WithTimeout(ctx, jobs.JobTimeout)
	defer cancel()
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, request.Trace, "job "+jobs.AdvanceJob, trace.SpanKindConsumer)
	defer span.End()
	p, err := w.cfg.Payments.AdvanceLoaded(ctx, request.Payment)
	for w.cfg.Queue.Finish(request.Payment.ID) {
		if p == nil || !p.State.Final() {
			p, err = w.cfg.Payments.Advance(ctx, request.Payment.ID)
		}
	}
	if err != nil {
		w.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", request.Payment.ID, "error", err)
	}
}
