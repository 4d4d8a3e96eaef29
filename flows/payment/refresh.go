package payment

import (
	"context"
	"errors"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

const (
	// evidenceEvery: hints at a doubt lead to a reading no more often than its own
	// schedule begins.
	evidenceEvery = 30 * time.Second
)

// RereadEvidence is Advance for whoever has heard that something happened at the club:
// a doubt is held against what the club system shows now, instead of when evidence
// is due by itself.
func (m *Machine) RereadEvidence(ctx context.Context, p *flows.Payment) error {
	if p.State != flows.InDoubt || p.Schema > flows.PaymentSchema || p.ReadSince(m.cfg.Now(), evidenceEvery) {
		return m.cfg.Queue.EnqueueAdvance(ctx, p.ID)
	}
	var remote cards.Payment
	if p.HasProcessor() {
		var mismatch string
		var err error
		remote, mismatch, err = m.read(ctx, p)
		if err != nil || mismatch != "" || acceptanceJournaled(remote) {
			return errors.Join(err, m.cfg.Queue.EnqueueAdvance(ctx, p.ID))
		}
	}
	s, err := m.readEvidence(ctx, p, remote)
	if err != nil {
		return err
	}
	moved, err := m.commit(ctx, p, s)
	switch {
	case errors.Is(err, flows.ErrConflict), errors.Is(err, flows.ErrOwned):
		return nil // somebody else moved it
	case err != nil:
		return flows.StorageFailed(err)
	}
	if moved.State == flows.Recorded && moved.HasProcessor() {
		m.journalRecorded(ctx, moved)
	}
	return nil
}
