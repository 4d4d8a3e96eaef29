package cards

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Call is one call of the processor, without personal data.
type Call struct {
	Operation string // such as "update_metadata"
	Outcome   string // accepted, refused or unknown
	Took      time.Duration
}

// observe makes a call with a span around it, and reports it to Config.OnCall.
func observe[T any](ctx context.Context, client *Client, verb string, call func(context.Context) (T, error)) (T, error) {
	tracer, operation := trace.SpanFromContext(ctx).TracerProvider().Tracer("frontdesk/upstream/cards"), strings.ReplaceAll(verb, " ", "_")
	ctx, span := tracer.Start(ctx, "cards "+operation, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	begun := client.now()
	result, err := call(ctx)
	outcome := outcomeOf(err)
	span.SetAttributes(attribute.String("operation", operation), attribute.String("outcome", outcome))
	if client.onCall != nil {
		client.onCall(Call{Operation: operation, Outcome: outcome, Took: client.now().Sub(begun)})
	}
	return result, err
}

// outcomeOf names the outcome of a call; unknown means that the payment must be read again.
func outcomeOf(err error) string {
	if err == nil {
		return "accepted"
	}
	for _, refusal := range []error{ErrKeyReused, ErrNotFound, ErrState, ErrRefused, ErrNoPermission} {
		if errors.Is(err, refusal) {
			return "refused"
		}
	}
	return "unknown"
}
