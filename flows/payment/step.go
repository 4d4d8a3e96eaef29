package payment

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// createIntent makes the payment known to the processor. The key derives from
// the sale, its registration (a club system that was restored from a backup
// gives the numbers of sales again) and the generation: whoever comes here again gets the same payment,
// unless they come so late that the processor may have forgotten the key.
func (m *Machine) createIntent(ctx context.Context, p *flows.Payment) (step, error) {
	if m.cfg.Now().Sub(p.CreatedAt) > createWithin {
		return step{to: flows.Blocked, reason: "too old to be made at the processor"}, nil
	}
	created, err := m.cfg.Cards.Create(ctx, fmt.Sprintf("payment:%s:%s:%d", p.Registration, p.Sale, p.Generation), cards.NewPayment{
		Amount: p.Amount, Currency: p.Currency, Metadata: m.metadata(p), ReturnURL: p.ReturnURL, WebhookURL: p.WebhookURL,
	})
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return step{to: flows.Blocked, reason: "the processor holds another payment for this sale and generation"}, nil
	case errors.Is(err, cards.ErrRefused):
		return m.notCreated(ctx, p)
	case err != nil:
		return step{}, processorFailed(err)
	}
	return step{to: flows.Intent, reason: "the processor waits for the buyer", remote: m.fresh(p, created), edit: func(next *flows.Payment) {
		next.ProcessorID, next.RedirectURL, next.ClientSecret = created.ID, created.RedirectURL, created.ClientSecret
	}}, nil
}

// notCreated is for a payment that the processor will never make. That it has
// made none either, before Redis fell back, is believed only after a look: what
// stood there would be forgotten.
func (m *Machine) notCreated(ctx context.Context, p *flows.Payment) (step, error) {
	const clocksDiffer = 5 * time.Minute // ours and the processor's, at most
	remote, err := m.cfg.Cards.List(ctx, p.CreatedAt.Add(-clocksDiffer))
	if err != nil {
		return step{}, processorFailed(err)
	}
	generation := strconv.Itoa(p.Generation)
	for _, each := range remote {
		if each.Metadata["fd_registration"] == p.Registration && each.Metadata["fd_generation"] == generation {
			return step{to: flows.Blocked, reason: "the processor refuses to make it, and holds it already"}, nil
		}
	}
	return step{to: flows.Cancelled, reason: "the processor refused to make it"}, nil
}

// awaitBuyer looks whether the buyer has done something.
func (m *Machine) awaitBuyer(ctx context.Context, p *flows.Payment, known *cards.Payment) (step, error) {
	remote, mismatch, err := m.readUnless(ctx, p, known)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: flows.Blocked, reason: mismatch}, nil
	}
	switch remote.State {
	case cards.Authorised, cards.Captured:
		return step{to: flows.Authorised, reason: "the buyer authorised it", edit: func(next *flows.Payment) { next.DeclineCode = "" }, remote: &remote}, nil
	case cards.Cancelled:
		return step{to: flows.Cancelling, reason: "it was cancelled at the processor"}, nil
	case cards.Refunded:
		return step{to: flows.Blocked, reason: "it was refunded at the processor"}, nil
	}
	if remote.DeclineCode != p.DeclineCode {
		reason := "declined: " + remote.DeclineCode
		if remote.DeclineCode == "" {
			reason = "the buyer tries again"
		}
		return step{to: flows.Intent, reason: reason, edit: func(next *flows.Payment) { next.DeclineCode = remote.DeclineCode }}, nil
	}
	if m.cfg.Now().Sub(p.UpdatedAt) > idleIntent {
		return step{to: flows.Cancelling, reason: "the buyer left"}, nil
	}
	return wait(pollEvery), nil
}

// checkSale reads the sale again before any money is taken. Whatever is not as
// it was when the buyer agreed to the price, the club system's silence
// included, lets the authorisation go: the buyer was not charged. That the
// processor still holds it, its capture tells; so it is not read again by who
// read it a moment ago.
func (m *Machine) checkSale(ctx context.Context, p *flows.Payment, known *cards.Payment) (step, error) {
	remote, mismatch, err := m.readUnless(ctx, p, known)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: flows.Blocked, reason: mismatch}, nil
	case remote.State == cards.Captured:
		// Redis has forgotten the capture. The sale was checked before it, and a
		// check that fails now could not undo it.
		return step{to: flows.Capturing, reason: "the money was taken before"}, nil
	case remote.State != cards.Authorised:
		return step{to: flows.Cancelling, reason: "the processor no longer holds the authorisation: " + string(remote.State)}, nil
	case m.cfg.Now().Sub(p.UpdatedAt) > idleAuthorisation:
		return step{to: flows.Cancelling, reason: "the authorisation is too old"}, nil
	}
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, p)
	reason := p.ChangedSinceAgreed(sale, check)
	if err != nil {
		m.cfg.Log.WarnContext(ctx, "sale not readable before capture", "payment", p.ID, "error", err)
		reason = "the club system could not be asked before the capture"
	}
	if reason != "" {
		return step{to: flows.Cancelling, reason: reason, edit: func(next *flows.Payment) { next.Snapshot = seen }}, nil
	}
	payer := m.payer(sale)
	return step{to: flows.Capturing, reason: "the sale is as agreed", edit: func(next *flows.Payment) { next.Payer, next.Snapshot = payer, seen }}, nil
}

func (m *Machine) payer(sale club.Sale) *flows.Payer {
	return &flows.Payer{Contact: sale.Contact, FamilyName: sale.FamilyName, GivenName: sale.GivenName, Number: sale.Number,
		ClubCode: sale.ClubCode, Checkout: sale.Checkout, ReadAt: m.cfg.Now().Round(0)}
}

// capture takes the money. Its key makes it harmless to ask twice.
func (m *Machine) capture(ctx context.Context, p *flows.Payment) (step, error) {
	taken, err := m.cfg.Cards.Capture(ctx, "capture:"+string(p.ID), p.ProcessorID, p.Amount)
	switch {
	case err == nil:
		return step{to: flows.Captured, reason: "the money is taken", remote: m.fresh(p, taken)}, nil
	case !isFinalRefusal(err):
		return step{}, processorFailed(err)
	}
	remote, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: flows.Blocked, reason: mismatch}, nil
	case remote.State == cards.Captured:
		return step{to: flows.Captured, reason: "the money is taken"}, nil
	case remote.State == cards.Refunded:
		return step{to: flows.Blocked, reason: "it was refunded at the processor"}, nil
	default:
		return step{to: flows.Cancelling, reason: "the processor refused the capture"}, nil
	}
}

// isFinalRefusal tells whether the processor has refused a call for good: where the
// payment stands has to be read then.
func isFinalRefusal(err error) bool {
	return errors.Is(err, cards.ErrState) || errors.Is(err, cards.ErrRefused) || errors.Is(err, cards.ErrNotFound)
}

// cancel gives the payment up at the processor, and believes only what it reads back.
func (m *Machine) cancel(ctx context.Context, p *flows.Payment) (step, error) {
	_, err := m.cfg.Cards.Cancel(ctx, "cancel:"+string(p.ID), p.ProcessorID)
	if err != nil && !isFinalRefusal(err) {
		return step{}, processorFailed(err)
	}
	remote, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: flows.Blocked, reason: mismatch}, nil
	case remote.State == cards.Cancelled:
		return step{to: flows.Cancelled, reason: p.Reason}, nil
	default:
		return step{to: flows.Blocked, reason: "cannot be cancelled: the processor says " + string(remote.State)}, nil
	}
}

// prepareRefund moves on to refunding, under a claim of its own: the next number,
// which is never released, so that nobody can record the payment any more.
func (m *Machine) prepareRefund(ctx context.Context, p *flows.Payment) (step, error) {
	if p.ReleasePending {
		return m.releaseLate(ctx, p)
	}
	return step{to: flows.Refunding, reason: p.Reason, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID = p.Claim+1, refundPrefix+newAttemptID(m.cfg.Now())
	}}, nil
}

// refund gives the money back, unless the journal at the processor knows better:
// Redis may have forgotten that it was recorded, or who is about to.
func (m *Machine) refund(ctx context.Context, p *flows.Payment) (step, error) {
	remote, mismatch, err := m.read(ctx, p)
	switch {
	case err != nil:
		return step{}, err
	case mismatch != "":
		return step{to: flows.Blocked, reason: mismatch}, nil
	case acceptanceJournaled(remote):
		return step{to: flows.Blocked, reason: "a refund is due for a payment that was recorded"}, nil
	case remote.State == cards.Refunded:
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case remote.Metadata[claimKey("post", p.Claim)] != p.AttemptID && !claimAvailable(remote, p.Claim, ""):
		return step{to: flows.Blocked, reason: "a refund is due, and the journal tells of another attempt"}, nil
	}
	remote, err = m.claim(ctx, p, func() error { return nil }) // a refund has no moment after which it must not leave
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return step{to: flows.Blocked, reason: "a refund is due, and another attempt holds the claim"}, nil
	case err != nil:
		return step{}, processorFailed(err)
	case !claimAvailable(remote, p.Claim, p.AttemptID):
		return step{to: flows.Blocked, reason: "a refund is due, and the journal tells of another attempt"}, nil
	}
	_, err = m.cfg.Cards.Refund(ctx, "refund:"+string(p.ID), p.ProcessorID, p.Amount)
	switch {
	case err == nil:
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case isFinalRefusal(err):
		return step{to: flows.Blocked, reason: "the processor refused the refund"}, nil
	default:
		return step{}, processorFailed(err)
	}
}

// read gets the payment from the processor and compares it with the record. A
// mismatch is told in words: nothing automatic may follow from it.
func (m *Machine) read(ctx context.Context, p *flows.Payment) (remote cards.Payment, mismatch string, err error) {
	remote, err = m.cfg.Cards.Get(ctx, p.ProcessorID)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return remote, "the processor does not know the payment", nil
	case err != nil:
		return remote, "", processorFailed(err)
	default:
		return remote, m.compare(p, remote), nil
	}
}

// readUnless is read, unless it is known already what the processor holds, and that it matches.
func (m *Machine) readUnless(ctx context.Context, p *flows.Payment, known *cards.Payment) (remote cards.Payment, mismatch string, err error) {
	if known == nil {
		return m.read(ctx, p)
	}
	return *known, "", nil
}

// fresh is what a call that changed a payment has told of it; nil where it has to be read
// instead: it does not match, or it is told once more, and the payment may have moved on.
func (m *Machine) fresh(p *flows.Payment, told cards.Payment) *cards.Payment {
	if told.Replayed || m.compare(p, told) != "" {
		return nil
	}
	return &told
}

// compare says where the processor's payment differs from the record; empty when nowhere.
func (m *Machine) compare(p *flows.Payment, remote cards.Payment) string {
	switch {
	case remote.Amount != p.Amount || remote.Currency != p.Currency:
		return "the processor holds another amount or currency"
	case remote.State == cards.Captured && remote.Captured != p.Amount:
		return "the processor captured another amount"
	case !m.metadataMatches(p, remote.Metadata):
		return "the processor's metadata does not match or is not signed by us"
	}
	return ""
}

// holdsWholeAmount tells whether the money was taken and none of it went back.
func holdsWholeAmount(remote cards.Payment) bool {
	return remote.State == cards.Captured && remote.Refunded == 0
}

// processorFailed says that the card processor could not be asked; nothing is known to have changed.
func processorFailed(err error) error {
	return &flows.Error{Code: flows.ProcessorUnavailable, Detail: "The card processor did not answer as expected.", Err: err}
}
