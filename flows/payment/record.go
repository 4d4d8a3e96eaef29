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

// post sends the one request that settles the sale at the club system, and has the brake count how it ended.
func (m *Machine) post(ctx context.Context, payment *flows.Payment, gate club.Gate) protocol.Posted {
	err := m.settle(ctx, payment, gate)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "payment not recorded", "payment", payment.ID, "outcome", club.OutcomeOf(err), "error", err)
	}
	posted := protocol.Posted{Outcome: club.OutcomeOf(err)}
	if failed, ok := errors.AsType[*club.Error](err); ok {
		posted.Seen, posted.Limited = failed.Seen(), failed.Status == http.StatusTooManyRequests
		if posted.Limited {
			posted.Limit = failed.RetryAfter
		}
	}
	m.count(ctx, payment, protocol.CountPost(payment, posted, m.cfg.Now()))
	return posted
}

func (m *Machine) settle(ctx context.Context, paid *flows.Payment, gate club.Gate) error {
	switch paid.Method {
	case flows.Deferred:
		return m.cfg.Club.PostponeDue(ctx, paid.Scope(), paid.Sale, paid.DueDate, gate)
	case flows.Free:
		return m.cfg.Club.ValidateSale(ctx, paid.Scope(), paid.Sale, gate)
	}
	payment := club.NewPayment{
		Contact:    paid.Payer.Contact,
		FamilyName: paid.Payer.FamilyName,
		GivenName:  paid.Payer.GivenName,
		Number:     paid.Payer.Number,
		Amount:     paid.Amount,
		Mean:       club.MeanCBWeb,
		Club:       paid.Club,
		ClubCode:   paid.Payer.ClubCode,
		Checkout:   paid.Payer.Checkout,
	}
	if paid.Desk != nil {
		payment.Mean = paid.Desk.Mean
		for _, card := range paid.Desk.Cards {
			payment.Cards = append(payment.Cards, card.PaymentCard)
		}
		for _, cheque := range paid.Desk.Cheques {
			payment.Cheques = append(payment.Cheques, cheque.Cheque)
		}
	}
	_, err := m.cfg.Club.CreatePayment(ctx, paid.Scope(), paid.Sale, payment, gate)
	return err
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
