package payment

import (
	"context"
	"errors"
	"time"

	"frontdesk/flows"
)

// StateCount is how the payments in one state stand that are not over.
type StateCount struct {
	Payments int
	Oldest   time.Time // since when the oldest of them is in the state
}

// Counts counts the payments that are not over, by state: of very many, the
// first of those whose look is due. StorageUnavailable when Redis does not answer.
func (m *Machine) Counts(ctx context.Context) (map[flows.PaymentState]StateCount, error) {
	open, err := m.cfg.Store.OpenPayments(ctx, maxScanned)
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	counts := map[flows.PaymentState]StateCount{}
	for _, id := range open {
		p, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
			continue // a start that was not completed
		case errors.Is(err, flows.ErrDamaged), errors.Is(err, flows.ErrNewer):
			p = &flows.Payment{State: flows.Blocked, UpdatedAt: m.cfg.Now()} // no machine here touches it either
		case err != nil:
			return nil, flows.StorageFailed(err)
		}
		s := counts[p.State]
		s.Payments++
		since := p.UpdatedAt
		if p.State == flows.InDoubt && !p.DoubtSince.IsZero() {
			since = p.DoubtSince // looks at it since then have changed the reason
		}
		if s.Oldest.IsZero() || since.Before(s.Oldest) {
			s.Oldest = since
		}
		counts[p.State] = s
	}
	return counts, nil
}
