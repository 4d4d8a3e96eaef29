package jobs

import (
	"context"

	"github.com/hibiken/asynq"
	status "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows/tracing"
)

// newJob makes a job that goes on under the trace of whoever asks for it.
func newJob(ctx context.Context, kind string, payload []byte) *asynq.Task {
	return asynq.NewTaskWithHeaders(kind, payload, map[string]string{tracing.TraceHeader: tracing.Traceparent(ctx)})
}

// TraceJobs has every job go on under the trace of whoever asked for it. One that
// names none, such as of an older version, begins its own.
func TraceJobs(kept trace.TracerProvider) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			ctx, span := tracing.StartTrace(ctx, kept, job.Headers()[tracing.TraceHeader], "job "+job.Type(), trace.SpanKindConsumer)
			defer span.End()
			err := next.ProcessTask(ctx, job)
			if err != nil {
				span.SetStatus(status.Error, "") // its text goes to the log, which redacts
			}
			return err
		})
	}
}
