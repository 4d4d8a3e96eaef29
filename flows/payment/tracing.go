package payment

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
)

// reportTransition tells of a payment's transition.
func (m *Machine) reportTransition(ctx context.Context, from, to flows.PaymentState) {
	if from == to {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("payment", trace.WithAttributes(attribute.String("from", string(from)), attribute.String("to", string(to))))
	}
	if m.cfg.OnTransition != nil {
		m.cfg.OnTransition(from, to)
	}
}
