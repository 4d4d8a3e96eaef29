package payment

import (
	"context"
	"errors"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// What is written to the journal: the metadata of a payment at the card processor, which outlives a loss in Redis. A number in each
// idempotency key admits one writer. For what the entries mean see protocol.Journal.

// claim writes our attempt's id under the claim's number while the gate is open. The key makes one winner: our own repetition replays
// the success, another process gets ErrKeyReused.
func (m *Machine) claim(ctx context.Context, payment *flows.Payment, gate club.Gate) (remote cards.Payment, err error) {
	key := journalKey("claim", payment, payment.Claim)
	entry := map[string]string{protocol.EntryName("post", payment.Claim): payment.AttemptID}
	for range protocol.TriesPerClaim {
		if closed := gate(); closed != nil {
			return remote, errors.Join(err, closed)
		}
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, key, payment.ProcessorID, entry)
		if err == nil || errors.Is(err, cards.ErrKeyReused) || errors.Is(err, cards.ErrKeyUsedUp) {
			break
		}
	}
	return remote, err
}

// journalAcceptance journals that a payment is recorded, so that this outlives a loss in Redis, and reports whether it is written. It
// must follow the commit, so that only what was committed is written; see commit for an owner.
func (m *Machine) journalAcceptance(ctx context.Context, payment *flows.Payment, tries int) bool {
	err := repeated(tries, func() error {
		_, err := m.appendEntry(ctx, payment, "done", payment.Claim, payment.AttemptID)
		return err
	})
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "acceptance not journaled at the processor", "payment", payment.ID, "error", err)
	}
	return err == nil
}

// repeated makes a call that is safe to repeat, until it succeeds or its key belongs to another request.
func repeated(tries int, call func() error) (err error) {
	for range tries {
		if err = call(); err == nil || errors.Is(err, cards.ErrKeyReused) {
			break
		}
	}
	return err
}

// appendEntry writes the n-th entry of a kind to the processor's journal. ErrKeyReused if there is another one: the
// number in the key keeps entries from being overwritten.
func (m *Machine) appendEntry(ctx context.Context, p *flows.Payment, kind string, n int, text string) (cards.Payment, error) {
	return m.writeEntry(ctx, p, journalKey(kind, p, n), protocol.EntryName(kind, n), text)
}

// writeEntry writes an entry of the processor's metadata under a key. After a key that is used up it reads the
// metadata, and continues with the next key, which only the first user of the previous one can reach.
func (m *Machine) writeEntry(ctx context.Context, payment *flows.Payment, key, name, text string) (remote cards.Payment, err error) {
	for used := 0; ; used++ {
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, numbered(key, used), payment.ProcessorID, map[string]string{name: text})
		if !errors.Is(err, cards.ErrKeyUsedUp) {
			return remote, err
		}
		remote, err = m.cfg.Cards.Get(ctx, payment.ProcessorID)
		switch present := remote.Metadata[name]; {
		case err != nil || present == text:
			return remote, err
		case present != "":
			return remote, cards.ErrKeyReused
		}
	}
}

// release releases the current claim. A release by another process stays: it names another
// attempt, so this claim does not count as released.
func (m *Machine) release(ctx context.Context, p *flows.Payment) error {
	if _, err := m.appendEntry(ctx, p, "release", p.Claim, p.AttemptID); !errors.Is(err, cards.ErrKeyReused) {
		return err
	}
	return nil
}

// releaseByOperator writes an operator's decision that a claim had no effect, and then the release as the claim's holder would write
// it, which may have tried. Claim 0 had no holder, so it has no release. It returns the processor's payment after both.
func (m *Machine) releaseByOperator(ctx context.Context, p *flows.Payment, claim int, attempt string) (cards.Payment, error) {
	paid, err := m.writeEntry(ctx, p, journalKey("released_by", p, claim), protocol.ByOperator, "operator")
	if err != nil || claim == 0 {
		return paid, err
	}
	return m.appendEntry(ctx, p, "release", claim, attempt)
}
