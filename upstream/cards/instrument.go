package cards

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Call is one call of a processor, without personal data.
type Call struct {
	Operation string // such as "update_metadata"
	Outcome   string // accepted, refused or unknown
	Took      time.Duration
}

// Instrument returns the processor with a span around each call; onCall receives each call
// once it is over.
func Instrument(processor Processor, now func() time.Time, onCall func(Call)) Processor {
	return &instrumented{Processor: processor, now: now, onCall: onCall}
}

type instrumented struct {
	Processor
	now    func() time.Time
	onCall func(Call)
}

func observe[T any](ctx context.Context, o *instrumented, verb string, call func(context.Context) (T, error)) (T, error) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("frontdesk/upstream/cards")
	ctx, span := tracer.Start(ctx, "cards "+verb, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	begun := o.now()
	result, err := call(ctx)
	outcome := outcomeOf(err)
	span.SetAttributes(attribute.String("operation", verb), attribute.String("outcome", outcome))
	o.onCall(Call{Operation: verb, Outcome: outcome, Took: o.now().Sub(begun)})
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

func (o *instrumented) AccountID(ctx context.Context) (string, error) {
	return observe(ctx, o, "account", o.Processor.AccountID)
}

func (o *instrumented) Create(ctx context.Context, key string, in NewPayment) (Payment, error) {
	return observe(ctx, o, "create", func(ctx context.Context) (Payment, error) { return o.Processor.Create(ctx, key, in) })
}

func (o *instrumented) Get(ctx context.Context, id string) (Payment, error) {
	return observe(ctx, o, "get", func(ctx context.Context) (Payment, error) { return o.Processor.Get(ctx, id) })
}

func (o *instrumented) Capture(ctx context.Context, key, id string, amount int64) (Payment, error) {
	return observe(ctx, o, "capture", func(ctx context.Context) (Payment, error) { return o.Processor.Capture(ctx, key, id, amount) })
}

func (o *instrumented) Cancel(ctx context.Context, key, id string) (Payment, error) {
	return observe(ctx, o, "cancel", func(ctx context.Context) (Payment, error) { return o.Processor.Cancel(ctx, key, id) })
}

func (o *instrumented) Refund(ctx context.Context, key, id string, amount int64) (Payment, error) {
	return observe(ctx, o, "refund", func(ctx context.Context) (Payment, error) { return o.Processor.Refund(ctx, key, id, amount) })
}

func (o *instrumented) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (Payment, error) {
	return observe(ctx, o, "update_metadata", func(ctx context.Context) (Payment, error) { return o.Processor.UpdateMetadata(ctx, key, id, metadata) })
}

func (o *instrumented) List(ctx context.Context, since time.Time, before string) (Page, error) {
	return observe(ctx, o, "list", func(ctx context.Context) (Page, error) { return o.Processor.List(ctx, since, before) })
}
