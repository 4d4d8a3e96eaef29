package payment

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// isFinalRefusal reports whether a repetition of the call would be refused as well, so that
// the payment must be read instead.
func isFinalRefusal(err error) bool {
	return errors.Is(err, cards.ErrState) || errors.Is(err, cards.ErrRefused) || errors.Is(err, cards.ErrNotFound)
}

// prepareRefund moves to refunding under the next claim. That claim is never released,
// so the payment can no longer be recorded.
func (m *Machine) prepareRefund(ctx context.Context, p *flows.Payment) (step, error) {
	if p.ReleasePending {
		return m.releaseLate(ctx, p)
	}
	return step{to: flows.Refunding, reason: p.Reason, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID = p.Claim+1, protocol.RefundPrefix+protocol.NewAttemptID(m.cfg.Now(), uuid.NewString())
	}}, nil
}

// refund has the money go back unless the processor's journal holds an acceptance or another
// attempt, which Redis may have lost. A pending refund is awaited for as long as it takes. One
// that was refused or failed waits for an operator, whose retry has another key.
func (m *Machine) refund(ctx context.Context, p *flows.Payment) (step, error) {
	if early := protocol.PauseLeft(p, m.cfg.Now()); early > 0 {
		return wait(early), nil
	}
	remote, err := m.read(ctx, p, nil)
	held := p.AttemptID != "" && remote.Metadata[protocol.EntryName("post", p.Claim)] == p.AttemptID
	given := p.AttemptID != "" && remote.Metadata[protocol.EntryName("release", p.Claim)] == p.AttemptID
	switch {
	case err != nil:
		return step{}, err
	case protocol.ReadJournal(remote.Metadata).Accepted:
		return step{to: flows.Blocked, reason: "a refund is due for a payment that was recorded"}, nil
	case remote.State == cards.Refunded && protocol.ReadJournal(remote.Metadata).RefundClaimed():
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case remote.Refunding > 0:
		return wait(protocol.DoubtPollEvery), nil
	case given && p.Claim < protocol.HighestClaim:
		return m.nextRefundClaim(p), nil
	case remote.Metadata[protocol.EntryName("post", p.Claim)] != p.AttemptID && !protocol.ReadJournal(remote.Metadata).Available(p.Claim, ""):
		return step{to: flows.Blocked, reason: "a refund is due, but the journal holds another attempt"}, nil
	}
	failed, byHand := remote.FailedRefunds > p.FailedRefunds, remote.State == cards.Refunded // a replayed claim shows what was
	if !held {
		remote, err = m.claim(ctx, p, func() error { return nil }) // a refund may leave at any time
	}
	switch {
	case errors.Is(err, cards.ErrKeyUsedUp) && p.Claim < protocol.HighestClaim: // and not held, as was just read
		if err := m.release(ctx, p); err != nil {
			return step{}, processorFailed(err)
		}
		return m.nextRefundClaim(p), nil
	case errors.Is(err, cards.ErrKeyReused):
		return step{to: flows.Blocked, reason: "a refund is due, but another attempt holds the claim"}, nil
	case err != nil:
		return step{}, processorFailed(err)
	case !protocol.ReadJournal(remote.Metadata).Available(p.Claim, p.AttemptID):
		return step{to: flows.Blocked, reason: "a refund is due, but the journal holds another attempt"}, nil
	case byHand: // with the claim, an operator can act if the bank returns the money
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case failed:
		return step{to: flows.Blocked, reason: refundFailed}, nil
	}
	remote, err = m.cfg.Cards.Refund(ctx, refundKey(p), p.ProcessorID, p.Amount)
	switch {
	case err == nil && remote.State == cards.Refunded:
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case err == nil:
		return wait(protocol.DoubtPollEvery), nil
	case errors.Is(err, cards.ErrKeyUsedUp):
		return nextKey(p), nil // the next step reads whether the refund was made
	case isFinalRefusal(err):
		return m.refundRefused(ctx, p)
	default:
		return step{}, processorFailed(err)
	}
}

// refundRefused is the step after the processor refused a refund, perhaps because there is one already.
func (m *Machine) refundRefused(ctx context.Context, p *flows.Payment) (step, error) {
	remote, err := m.read(ctx, p, nil)
	switch {
	case err != nil:
		return step{}, err
	case remote.State == cards.Refunded:
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case remote.Refunding > 0:
		return wait(protocol.DoubtPollEvery), nil
	case remote.Disputed:
		return step{to: flows.Blocked, reason: refundDisputed}, nil
	default:
		return step{to: flows.Blocked, reason: "the processor refused the refund"}, nil
	}
}

// refundDisputed is the reason of a payment that the processor does not refund because the buyer's bank decides about it.
const refundDisputed = "the processor refused the refund: the buyer disputes the payment"

// nextRefundClaim is the step of a refund whose claim was released, because its key is used up. It waits, because
// the claims are few.
func (m *Machine) nextRefundClaim(p *flows.Payment) step {
	return step{to: flows.Refunding, reason: p.Reason, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID, next.NotBefore = p.Claim+1, protocol.RefundPrefix+protocol.NewAttemptID(m.cfg.Now(), uuid.NewString()), m.cfg.Now().Add(protocol.MaxClaimPause)
	}}
}

// refundFailed is the reason of a payment whose refund failed after the processor accepted it.
const refundFailed = "the refund failed at the processor, which holds the money"

// verifyRefund finds out whether the refund of a refunded payment failed after all: the buyer's
// bank can return the money days later. It may be kept if an operator ended a dispute.
func (m *Machine) verifyRefund(ctx context.Context, p *flows.Payment) (step, error) {
	remote, err := m.find(ctx, p.ProcessorID)
	if err != nil || remote.State != cards.Captured || remote.Refunding > 0 {
		return wait(0), err
	}
	if remote.Disputed && p.Acknowledged == difference(p, remote) {
		return wait(0), nil
	}
	return step{to: flows.Blocked, reason: refundFailed}, nil
}

// heldAfterAll is the reason of a payment that was cancelled although the processor holds its money: an operator
// cancelled it while the processor did not show it.
const heldAfterAll = "it was cancelled, and the processor holds the money"

// verifyCancelled finds out whether the processor holds money of a cancelled payment after all.
func (m *Machine) verifyCancelled(ctx context.Context, p *flows.Payment) (step, error) {
	if p.ProcessorID == "" {
		return wait(0), nil
	}
	remote, err := m.find(ctx, p.ProcessorID)
	if err != nil || remote.State != cards.Captured || !m.names(p, remote) {
		return wait(0), err
	}
	return step{to: flows.Blocked, reason: heldAfterAll}, nil
}

// awaitHandRefund ends a payment that was cancelled although the processor held its money, once that was refunded there.
func (m *Machine) awaitHandRefund(ctx context.Context, p *flows.Payment) (step, error) {
	remote, err := m.find(ctx, p.ProcessorID)
	if err != nil || remote.State != cards.Refunded || !m.names(p, remote) {
		return wait(protocol.MaxVerifyPause), err
	}
	return step{to: flows.Refunded, reason: "it was cancelled, and the money was refunded at the processor"}, nil
}

// read returns the processor's payment: fresh, if the step before has just read it, else
// from the processor. The error is a mismatch if it differs from the record, and missing if
// the processor does not have it. A payment without a processor reads as zero.
func (m *Machine) read(ctx context.Context, p *flows.Payment, fresh *cards.Payment) (cards.Payment, error) {
	switch {
	case fresh != nil:
		return *fresh, nil
	case !p.HasProcessor():
		return cards.Payment{}, nil
	}
	remote, err := m.cfg.Cards.Get(ctx, p.ProcessorID)
	if errors.Is(err, cards.ErrNotFound) {
		return remote, missing(protocol.UnknownThere)
	}
	if err != nil {
		return remote, processorFailed(err)
	}
	if !m.names(p, remote) {
		return remote, missing(protocol.ForeignThere)
	}
	if differs := m.compare(p, remote); differs != "" {
		return remote, mismatch(differs)
	}
	return remote, nil
}

// names reports whether the metadata of the processor's payment names the record's registration, whatever else it says.
func (m *Machine) names(p *flows.Payment, remote cards.Payment) bool {
	return m.remote(remote, m.cfg.Now()).Names(p)
}

// compare says how the processor's payment differs from the record; empty if it does not.
func (m *Machine) compare(p *flows.Payment, remote cards.Payment) string {
	return protocol.Differs(p, m.remote(remote, m.cfg.Now()))
}

// refuseOtherMethod is the step for a buyer who did not pay by card, whatever the processor offered:
// what is only reserved is cancelled, and what is taken waits for an operator to have it refunded.
func refuseOtherMethod(remote cards.Payment) step {
	to := flows.Cancelling
	if remote.State == cards.Captured {
		to = flows.Blocked
	}
	return step{to: to, reason: "the buyer paid by " + remote.OtherMethod + " and not by card"}
}

// holdsWholeAmount reports whether the money is captured and none of it was refunded, or is
// about to be.
func holdsWholeAmount(remote cards.Payment) bool {
	return (&protocol.Remote{Payment: remote}).HoldsAll()
}

// find reads a payment at the processor, whatever it says; zero if the processor does not have it.
func (m *Machine) find(ctx context.Context, processorID string) (cards.Payment, error) {
	remote, err := m.cfg.Cards.Get(ctx, processorID)
	switch {
	case errors.Is(err, cards.ErrNotFound):
		return cards.Payment{}, nil
	case err != nil:
		return cards.Payment{}, processorFailed(err)
	}
	return remote, nil
}

// processorFailed is the error for a processor that did not respond as expected.
func processorFailed(err error) error {
	return &flows.Error{Code: flows.ProcessorUnavailable, Detail: "The card processor did not respond as expected.", Err: err}
}
