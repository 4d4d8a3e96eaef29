// Package tracing carries trace ids across jobs and events (W3C Trace Context), and
// starts the spans of background work.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// TraceHeader is the header that identifies a request's trace (W3C Trace Context). Only
// this package interprets its value.
const TraceHeader = "traceparent"

// IDOnlyProvider returns a provider of traces that have ids and no spans, for gateways
// without a collector.
func IDOnlyProvider() trace.TracerProvider {
	return sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample()))
}

// StartTrace starts a span in the trace of the header, or in a new one if the header is
// missing or invalid. The caller ends the span.
func StartTrace(ctx context.Context, traces trace.TracerProvider, header, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	if header != "" {
		ctx = extract(ctx, header)
	}
	return traces.Tracer("frontdesk").Start(ctx, name, trace.WithSpanKind(kind))
}

// StartSpan starts a span in the trace of the context. The caller ends it.
func StartSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer("frontdesk").Start(ctx, name)
}

// LinkCause links the context's span, whose work serves several causes, to the trace of
// one of them.
func LinkCause(ctx context.Context, header string) {
	if header != "" {
		trace.SpanFromContext(ctx).AddLink(trace.LinkFromContext(extract(context.WithoutCancel(ctx), header)))
	}
}

func extract(ctx context.Context, header string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{TraceHeader: header})
}

// TraceID returns the trace id of a context, 32 hexadecimal digits; empty without one.
func TraceID(ctx context.Context) string {
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		return id.String()
	}
	return ""
}

// Traceparent returns the header for what the context's work asks of others; empty
// without a trace.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[TraceHeader]
}
