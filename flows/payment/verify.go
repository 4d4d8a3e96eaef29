package payment

import (
	"context"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
)

// Verify reads what the processor and the club system show of a recorded payment. What it cannot read stays due. A
// payment in another state is advanced. NotFound if Redis lacks the payment.
func (m *Machine) Verify(ctx context.Context, id flows.PaymentID) error {
	p, err := m.cfg.Store.Payment(ctx, id)
	if err != nil {
		return flows.StorageFailed(err)
	}
	_, err = m.advance(ctx, p, ask{wish: protocol.Verify})
	return err
}

// scheduleVerification lists a recorded payment that a comparison found unverified or contradicted. An entry that it
// has stays.
func (m *Machine) scheduleVerification(ctx context.Context, a candidate) error {
	at := protocol.VerifyAt(a.stored, m.cfg.Now())
	if a.stored.State == flows.Recorded && protocol.Difference(a.stored, &protocol.Remote{Payment: a.remote}) != a.stored.Acknowledged {
		at = m.cfg.Now()
	}
	if at.IsZero() {
		return nil
	}
	return flows.StorageFailed(m.cfg.Store.EnsureScheduled(ctx, a.stored, at))
}

// restoreReversed stores a payment again whose refund failed, or which was refunded or disputed after it was recorded,
// once Redis has dropped the record of its end: a comparison does not reach back so far.
func (m *Machine) restoreReversed(ctx context.Context, processorID string) error {
	remote, err := m.find(ctx, processorID)
	switch p := m.derivePayment(remote); {
	case err != nil:
		return err
	case p == nil:
		return nil
	case p.State == flows.Refunding && remote.FailedRefunds > 0,
		p.State == flows.Recorded && protocol.Difference(p, &protocol.Remote{Payment: remote}) != "":
		return m.restore(ctx, []candidate{newCandidate(p, remote)})
	default:
		return nil
	}
}
