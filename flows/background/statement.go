package background

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows/tracing"
)

// runStatements follows up at once what was received or done on this gateway, until the context ends. The sweeps find what a gateway that
// died has left.
func (w *Worker) runStatements(ctx context.Context) {
	w.renewStatements(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.Statements.Awake():
			w.followStatements(ctx)
		}
	}
}

func (w *Worker) followStatements(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "follow up statements", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Statements.FollowUp(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "statements not followed up", "error", err)
	}
}

// renewStatements makes statements independent of older keys, as renewReceipts does for receipts.
func (w *Worker) renewStatements(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "renew statements", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Statements.Renew(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "statements not sealed with the current key", "error", err)
	}
}
