// Package tracing carries trace ids across jobs and events (W3C Trace Context), and
// starts the spans of background work.
package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// TraceHeader is the header that identifies a request's trace (W3C Trace Context). Only
// this package interprets its value.
const TraceHeader = "traceparent"

// IDOnlyProvider returns a provider of traces that have ids and no spans, for gateways
// without a collector.
func IDOnlyProvider() trace.TracerProvider { return idOnlyProvider{} }

// idOnlyProvider costs a fraction of what the library's own provider takes at each
// request to find out that it samples nothing.
type idOnlyProvider struct{ noop.TracerProvider }

// Tracer implements trace.TracerProvider.
func (idOnlyProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { return idOnlyTracer{} }

type idOnlyTracer struct{ noop.Tracer }

// Start implements trace.Tracer: the span continues the trace of the context, or begins one.
func (idOnlyTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	within := trace.SpanContextFromContext(ctx)
	ids := trace.SpanContextConfig{TraceID: within.TraceID(), TraceState: within.TraceState()}
	if !within.IsValid() {
		binary.NativeEndian.PutUint64(ids.TraceID[:8], rand.Uint64())   // #nosec G404 -- an id names a trace, and protects nothing
		binary.NativeEndian.PutUint64(ids.TraceID[8:], rand.Uint64()|1) // #nosec G404 -- likewise; an id of zeros is invalid
	}
	binary.NativeEndian.PutUint64(ids.SpanID[:], rand.Uint64()|1) // #nosec G404 -- likewise
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(ids))
	return ctx, trace.SpanFromContext(ctx)
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
