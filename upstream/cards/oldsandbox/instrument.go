package oldsandbox

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/upstream/cards"
)

// Instrument returns the processor with a span around each call; onCall receives each call
// once it is over.
func Instrument(processor cards.Processor, now func() time.Time, onCall func(cards.Call)) cards.Processor {
	return &instrumented{Processor: processor, now: now, onCall: onCall}
}

type instrumented struct {
	cards.Processor
	now    func() time.Time
	onCall func(cards.Call)
}

func observe[T any](ctx context.Context, o *instrumented, verb string, call func(context.Context) (T, error)) (T, error) {
	tracer := trace.SpanFromContext(ctx).TracerProvider().Tracer("frontdesk/upstream/cards")
	ctx, span := tracer.Start(ctx, "cards "+verb, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	begun := o.now()
	result, err := call(ctx)
	outcome := outcomeOf(err)
	span.SetAttributes(attribute.String("operation", verb), attribute.String("outcome", outcome))
	o.onCall(cards.Call{Operation: verb, Outcome: outcome, Took: o.now().Sub(begun)})
	return result, err
}

// outcomeOf names the outcome of a call; unknown means that the payment must be read again.
func outcomeOf(err error) string {
	if err == nil {
		return "accepted"
	}
	for _, refusal := range []error{cards.ErrKeyReused, cards.ErrNotFound, cards.ErrState, cards.ErrRefused, cards.ErrNoPermission} {
		if errors.Is(err, refusal) {
			return "refused"
		}
	}
	return "unknown"
}

func (o *instrumented) AccountID(ctx context.Context) (string, error) {
	return observe(ctx, o, "account", o.Processor.AccountID)
}

func (o *instrumented) Create(ctx context.Context, key string, in cards.NewPayment) (cards.Payment, error) {
	return observe(ctx, o, "create", func(ctx context.Context) (cards.Payment, error) { return o.Processor.Create(ctx, key, in) })
}

func (o *instrumented) Get(ctx context.Context, id string) (cards.Payment, error) {
	return observe(ctx, o, "get", func(ctx context.Context) (cards.Payment, error) { return o.Processor.Get(ctx, id) })
}

func (o *instrumented) Capture(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	return observe(ctx, o, "capture", func(ctx context.Context) (cards.Payment, error) { return o.Processor.Capture(ctx, key, id, amount) })
}

func (o *instrumented) Cancel(ctx context.Context, key, id string) (cards.Payment, error) {
	return observe(ctx, o, "cancel", func(ctx context.Context) (cards.Payment, error) { return o.Processor.Cancel(ctx, key, id) })
}

func (o *instrumented) Refund(ctx context.Context, key, id string, amount int64) (cards.Payment, error) {
	return observe(ctx, o, "refund", func(ctx context.Context) (cards.Payment, error) { return o.Processor.Refund(ctx, key, id, amount) })
}

func (o *instrumented) UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (cards.Payment, error) {
	return observe(ctx, o, "update_metadata", func(ctx context.Context) (cards.Payment, error) {
		return o.Processor.UpdateMetadata(ctx, key, id, metadata)
	})
}

func (o *instrumented) List(ctx context.Context, since time.Time, before string) (cards.Page, error) {
	return observe(ctx, o, "list", func(ctx context.Context) (cards.Page, error) { return o.Processor.List(ctx, since, before) })
}
