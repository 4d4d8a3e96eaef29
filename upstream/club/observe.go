package club

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Attempt is what may be told of one request to the club system: nothing of whom
// it was about.
type Attempt struct {
	Operation string // the method's name, or Token
	Outcome   Outcome
	Status    int // of the answer; 0 without one
	Took      time.Duration
}

// startSpan starts the span of one request, for the caller to end. Where nobody keeps the
// span around it, that one stands for both.
func startSpan(ctx context.Context, op string) (context.Context, trace.Span) {
	around := trace.SpanFromContext(ctx)
	if !around.IsRecording() {
		return ctx, around
	}
	tracer := around.TracerProvider().Tracer("frontdesk/upstream/club")
	return tracer.Start(ctx, "club "+op, trace.WithSpanKind(trace.SpanKindClient))
}

// observe tells of one request: in the log, in its span and to Attempted. What
// each of them may hold is this list.
func (c *core) observe(ctx context.Context, op string, status int, e *Error, took time.Duration) {
	outcome, why := Accepted, ""
	if e != nil {
		outcome, why = e.Outcome, reason(e.Err)
	}
	if c.cfg.Logger.Enabled(ctx, slog.LevelDebug) {
		c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "club system", slog.String("operation", op),
			slog.Int("status", status), slog.String("outcome", string(outcome)), slog.String("reason", why), slog.Duration("took", took))
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("operation", op), attribute.Int("status", status), attribute.String("outcome", string(outcome)))
	}
	if c.cfg.OnAttempt != nil {
		c.cfg.OnAttempt(Attempt{Operation: op, Outcome: outcome, Status: status, Took: took})
	}
}

// TokenAge is how long ago the access token was fetched that is in use; false
// while there is none.
func (c *Client) TokenAge() (time.Duration, bool) {
	current := c.tokens.peek()
	return c.cfg.Now().Sub(current.fetched), current.AccessToken != ""
}
