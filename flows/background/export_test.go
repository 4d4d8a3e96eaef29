package background

import (
	"context"

	"frontdesk/flows"
)

// RetryPauses is the retry schedule, for its test.
var RetryPauses = retryPauses

// Announce publishes what has become of a payment, as workers do.
func (w *Worker) Announce(ctx context.Context, p *flows.Payment) error { return w.announce(ctx, p) }
