package club

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Attempt describes one request to the club system without personal data. It is NotSent and took no time
// if all permits were taken or the breaker was open.
type Attempt struct {
	Operation string // the method's name, or Token
	Outcome   Outcome
	Took      time.Duration
}

// startSpan starts the span of one request; the caller ends it. Without a recorded parent
// it starts none.
func startSpan(ctx context.Context, op string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, parent
	}
	tracer := parent.TracerProvider().Tracer("frontdesk/upstream/club")
	return tracer.Start(ctx, "club "+op, trace.WithSpanKind(trace.SpanKindClient))
}

// observe reports one request to the log, its span and Config.OnAttempt: only what is listed
// here, and no personal data.
func (c *Client) observe(ctx context.Context, op string, status int, failure *Error, took time.Duration) {
	outcome, why := Accepted, ""
	if failure != nil {
		outcome, why = failure.Outcome, reason(failure.Err)
	}
	c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "club system", slog.String("operation", op), slog.Int("status", status),
		slog.String("outcome", string(outcome)), slog.String("reason", why), slog.Duration("took", took))
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("operation", op), attribute.Int("status", status),
		attribute.String("outcome", string(outcome)))
	if c.cfg.OnAttempt != nil {
		c.cfg.OnAttempt(Attempt{Operation: op, Outcome: outcome, Took: took})
	}
}

// TokenAge is the age of the current access token; false without one.
func (c *Client) TokenAge() (time.Duration, bool) {
	current := c.tokens.peek()
	return c.cfg.Now().Sub(current.fetched), current.AccessToken != ""
}
