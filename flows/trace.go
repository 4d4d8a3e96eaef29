package flows

import (
	"context"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// TraceHeader is the header by which a request and everything that it causes
// know each other (W3C Trace Context). This file is the one place that reads it
// and writes it.
const TraceHeader = "traceparent"

// UnkeptTraces gives traces their ids, and keeps no span: what is used where
// nobody collects them.
func UnkeptTraces() trace.TracerProvider {
	return sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample()))
}

// StartTrace begins a span under the trace of the header, or under a new one when
// there is none or it is not valid. It is for the caller to end. Whatever the work
// of the context starts in its turn becomes part of the trace.
func StartTrace(ctx context.Context, kept trace.TracerProvider, header, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{TraceHeader: header})
	return kept.Tracer("frontdesk").Start(ctx, name, trace.WithSpanKind(kind))
}

// TraceID is the trace id of a context, 32 hexadecimal digits; empty without one.
func TraceID(ctx context.Context) string {
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		return id.String()
	}
	return ""
}

// Traceparent is the header to send along with what a context's work asks of
// others; empty without a trace.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[TraceHeader]
}

// traceJobs has every job go on under the trace of whoever asked for it. The
// sweeper has none, so that each of its looks gets its own.
func traceJobs(kept trace.TracerProvider) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, job *asynq.Task) error {
			ctx, span := StartTrace(ctx, kept, job.Headers()[TraceHeader], "job "+job.Type(), trace.SpanKindConsumer)
			defer span.End()
			return next.ProcessTask(ctx, job)
		})
	}
}

// moved tells of a payment's transition.
func (m *Payments) moved(ctx context.Context, from, to PaymentState) {
	if from == to {
		return
	}
	trace.SpanFromContext(ctx).AddEvent("payment", trace.WithAttributes(attribute.String("from", string(from)), attribute.String("to", string(to))))
	if m.cfg.Moved != nil {
		m.cfg.Moved(from, to)
	}
}
