package payment

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/flows"
)

// Cancel gives up a payment of which nothing was captured. PaymentUnderWay once money may have moved.
func (m *Machine) Cancel(ctx context.Context, id flows.PaymentID) (*flows.Payment, error) {
	for range maxSteps {
		// A payment that is not known anywhere is given up before it is looked at: a look could send it.
		waiting, err := m.cfg.Store.Payment(ctx, id)
		if err == nil && waiting.State == flows.Priced && !waiting.HasProcessor() {
			p, err := m.withdraw(ctx, waiting)
			if errors.Is(err, flows.ErrConflict) {
				continue
			}
			return p, flows.StorageFailed(err)
		}
		p, err := m.Advance(ctx, id)
		switch {
		case err != nil && (p == nil || p.State == flows.Priced || p.State == flows.Intent || p.State == flows.Cancelling):
			return nil, err
		case p.State == flows.Cancelled:
			return p, nil
		case p.State != flows.Intent:
			return nil, &flows.Error{Code: flows.PaymentUnderWay, Detail: "The payment can no longer be cancelled."}
		}
		if _, err := m.commit(ctx, p, step{to: flows.Cancelling, reason: "the buyer gave up"}); err != nil && !errors.Is(err, flows.ErrConflict) {
			return nil, flows.StorageFailed(err)
		}
	}
	return nil, &flows.Error{Code: flows.Internal, Err: fmt.Errorf("payment %s could neither be cancelled nor moved", id)}
}
