package flows

import (
	"context"
	"errors"
	"time"
)

// StateCount is how the payments in one state stand that are not over.
type StateCount struct {
	Payments int
	Oldest   time.Time // since when the oldest of them is in the state
}

// Counts counts the payments that are not over, by state: of very many, the
// first of those whose look is due. StorageUnavailable when Redis does not answer.
func (m *Machine) Counts(ctx context.Context) (map[PaymentState]StateCount, error) {
	open, err := m.cfg.Store.OpenPayments(ctx, maxScanned)
	if err != nil {
		return nil, storageFailed(err)
	}
	census := map[PaymentState]StateCount{}
	for _, id := range open {
		p, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound):
			continue // a start that was not completed
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrNewer):
			p = &Payment{State: Blocked, UpdatedAt: m.cfg.Now()} // no machine here touches it either
		case err != nil:
			return nil, storageFailed(err)
		}
		s := census[p.State]
		s.Payments++
		since := p.UpdatedAt
		if p.State == InDoubt && !p.DoubtSince.IsZero() {
			since = p.DoubtSince // looks at it since then have changed the reason
		}
		if s.Oldest.IsZero() || since.Before(s.Oldest) {
			s.Oldest = since
		}
		census[p.State] = s
	}
	return census, nil
}
