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

// TraceHeader is the header by which a request and everything that it causes
// know each other (W3C Trace Context). This file is the one place that reads it
// and writes it.
const TraceHeader = "traceparent"

// IDOnlyProvider gives traces their ids, and keeps no span: what is used where
// nobody collects them.
func IDOnlyProvider() trace.TracerProvider { return idOnlyProvider{} }

// Exports tells whether a provider keeps spans.
func Exports(traces trace.TracerProvider) bool { return traces != IDOnlyProvider() }

// idOnlyProvider is a provider whose spans are nothing but their ids. The library's own, which
// samples none, takes several times as long to find that out, at every request.
type idOnlyProvider struct{ noop.TracerProvider }

// Tracer implements trace.TracerProvider.
func (idOnlyProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { return idOnlyTracer{} }

type idOnlyTracer struct{ noop.Tracer }

// Start implements trace.Tracer: the span goes on with the trace of the context, or begins one.
func (idOnlyTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	within := trace.SpanContextFromContext(ctx)
	ids := trace.SpanContextConfig{TraceID: within.TraceID(), TraceState: within.TraceState()}
	if !within.IsValid() {
		binary.NativeEndian.PutUint64(ids.TraceID[:8], rand.Uint64())   // #nosec G404 -- an id names a trace, and protects nothing
		binary.NativeEndian.PutUint64(ids.TraceID[8:], rand.Uint64()|1) // #nosec G404 -- likewise; none is all zeros
	}
	binary.NativeEndian.PutUint64(ids.SpanID[:], rand.Uint64()|1) // #nosec G404 -- likewise
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(ids))
	return ctx, trace.SpanFromContext(ctx)
}

// StartTrace begins a span under the trace of the header, or under a new one when
// there is none or it is not valid. It is for the caller to end. Whatever the work
// of the context starts in its turn becomes part of the trace.
func StartTrace(ctx context.Context, kept trace.TracerProvider, header, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	if header != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{TraceHeader: header})
	}
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

// StartSpan begins the span of a part of a context's work, for the caller to end.
func StartSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer("frontdesk").Start(ctx, name)
}

// LinkCause notes that the work of a context, which is done for many at once, is done
// for the one with this header as well.
func LinkCause(ctx context.Context, header string) {
	cause := propagation.TraceContext{}.Extract(context.WithoutCancel(ctx), propagation.MapCarrier{TraceHeader: header})
	if header != "" {
		trace.SpanFromContext(ctx).AddLink(trace.LinkFromContext(cause))
	}
}
