package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Limits of an owner's commit; see store.
const (
	// commitPause is short for a buyer who waits, and spares a Redis that restarts.
	commitPause = 250 * time.Millisecond
	// maxCommits fill the life of a claim: an older one cannot be used.
	maxCommits = int(protocol.ClaimLife / commitPause)
)

// gate returns the write gate of a payment: the process may sleep at any line after it became the owner. A refund has no owner, and
// may leave at any time.
func (m *Machine) gate(p *flows.Payment, f protocol.Facts) club.Gate {
	return func() error {
		if !f.Owner.IsZero() && f.Late(m.cfg.Now()) {
			return fmt.Errorf("claim %d is older than %s", p.Claim, protocol.ClaimLife)
		}
		return nil
	}
}

// claim writes our attempt's id under the claim's number while the gate is open. The key makes one winner: our own repetition replays
// the success, another process gets ErrKeyReused.
func (m *Machine) claim(ctx context.Context, p *flows.Payment, gate club.Gate) (remote cards.Payment, err error) {
	key := journalKey("claim", p, p.Claim)
	entry := map[string]string{protocol.EntryName("post", p.Claim): p.AttemptID}
	for range protocol.TriesPerClaim {
		if closed := gate(); closed != nil {
			return remote, errors.Join(err, closed)
		}
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, key, p.ProcessorID, entry)
		if err == nil || errors.Is(err, cards.ErrKeyReused) || errors.Is(err, cards.ErrKeyUsedUp) {
			break
		}
	}
	return remote, err
}

// post sends the one request that settles the sale at the club system, and has the brake count how it ended.
func (m *Machine) post(ctx context.Context, p *flows.Payment, gate club.Gate) protocol.Posted {
	err := m.settle(ctx, p, gate)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "payment not recorded", "payment", p.ID, "outcome", club.OutcomeOf(err), "error", err)
	}
	if p.Method.BooksMoney() {
		m.countOutcome(ctx, p, err)
	}
	posted := protocol.Posted{Outcome: club.OutcomeOf(err)}
	posted.Limit, posted.Limited = limitReached(err)
	if failed, ok := errors.AsType[*club.Error](err); ok {
		posted.Seen = failed.Seen()
	}
	return posted
}

func (m *Machine) settle(ctx context.Context, p *flows.Payment, gate club.Gate) error {
	switch p.Method {
	case flows.Deferred:
		return m.cfg.Club.PostponeDue(ctx, p.Scope(), p.Sale, p.DueDate, gate)
	case flows.Free:
		return m.cfg.Club.ValidateSale(ctx, p.Scope(), p.Sale, gate)
	}
	payment := club.NewPayment{
		Contact: p.Payer.Contact, FamilyName: p.Payer.FamilyName, GivenName: p.Payer.GivenName, Number: p.Payer.Number,
		Amount: p.Amount, Mean: club.MeanCBWeb, Club: p.Club, ClubCode: p.Payer.ClubCode, Checkout: p.Payer.Checkout,
	}
	if p.Desk != nil {
		payment.Mean = p.Desk.Mean
		for _, card := range p.Desk.Cards {
			payment.Cards = append(payment.Cards, club.PaymentCard(card))
		}
		for _, cheque := range p.Desk.Cheques {
			payment.Cheques = append(payment.Cheques, club.Cheque(cheque))
		}
	}
	_, err := m.cfg.Club.CreatePayment(ctx, p.Scope(), p.Sale, payment, gate)
	return err
}

// limitReached returns how long a limit of the API gateway that refused a call still lasts.
func limitReached(err error) (limit time.Duration, reached bool) {
	refused, ok := errors.AsType[*club.Error](err)
	if !ok || refused.Status != http.StatusTooManyRequests {
		return 0, false
	}
	return refused.RetryAfter, true
}

// updateMetadata appends an entry about the current claim to the processor's journal, with our attempt.
func (m *Machine) updateMetadata(ctx context.Context, p *flows.Payment, kind string) error {
	_, err := m.appendEntry(ctx, p, kind, p.Claim, p.AttemptID)
	return err
}

// appendEntry writes the n-th entry of a kind to the processor's journal. ErrKeyReused if there is another one: the
// number in the key keeps entries from being overwritten.
func (m *Machine) appendEntry(ctx context.Context, p *flows.Payment, kind string, n int, text string) (cards.Payment, error) {
	return m.writeEntry(ctx, p, journalKey(kind, p, n), protocol.EntryName(kind, n), text)
}

// writeEntry writes an entry of the processor's metadata under a key. After a key that is used up it reads the
// metadata, and continues with the next key, which only the first user of the previous one can reach.
func (m *Machine) writeEntry(ctx context.Context, p *flows.Payment, key, name, text string) (remote cards.Payment, err error) {
	for used := 0; ; used++ {
		remote, err = m.cfg.Cards.UpdateMetadata(ctx, numbered(key, used), p.ProcessorID, map[string]string{name: text})
		if !errors.Is(err, cards.ErrKeyUsedUp) {
			return remote, err
		}
		remote, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
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
	if err := m.updateMetadata(ctx, p, "release"); !errors.Is(err, cards.ErrKeyReused) {
		return err
	}
	return nil
}
