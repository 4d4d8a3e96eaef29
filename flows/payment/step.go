package payment

import (
	"context"
	"errors"
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// createIntent creates the payment at the processor. A repetition returns the same payment.
func (m *Machine) createIntent(ctx context.Context, p *flows.Payment) (step, error) {
	if m.cfg.Now().Sub(p.CreatedAt) > createWithin {
		return m.findCreated(ctx, p, p.CreatedAt.Add(-clockSkew), step{to: flows.Cancelled, reason: "too old to be created at the processor"})
	}
	created, err := m.cfg.Cards.Create(ctx, creationKey(p), cards.NewPayment{
		Amount: p.Amount, Currency: p.Currency, Metadata: m.metadata(p), Description: p.Description,
	})
	switch {
	case errors.Is(err, cards.ErrKeyReused):
		return m.findCreated(ctx, p, p.CreatedAt.Add(-groupSpan), step{to: flows.Blocked, reason: "the processor holds another payment for this sale and generation"})
	case errors.Is(err, cards.ErrKeyUsedUp):
		return m.findCreated(ctx, p, p.CreatedAt.Add(-groupSpan), nextKey(p))
	case errors.Is(err, cards.ErrRefused):
		m.countProblem(ProblemCreationRefused)
		m.cfg.Log.ErrorContext(ctx, "creation refused by the processor", "payment", p.ID, "error", err)
		return m.findCreated(ctx, p, p.CreatedAt.Add(-clockSkew), step{to: flows.Cancelled, reason: "the processor refused to create it",
			edit: func(next *flows.Payment) { next.CreationRefused = true }})
	case err != nil:
		return step{}, processorFailed(err)
	}
	m.fingerprint.saw(created.ID)
	return createdStep(created, m.fresh(p, created)), nil
}

// clockSkew is between our clock and the processor's, at most.
const clockSkew = 5 * time.Minute

// findCreated is the step for a payment that cannot be created now. The processor may have created it although
// the response, or Redis' record of it, was lost: if its list has the agreed payment, whatever the description,
// that one continues. If it has none, absent is the step.
func (m *Machine) findCreated(ctx context.Context, p *flows.Payment, since time.Time, absent step) (step, error) {
	generation := strconv.Itoa(p.Generation)
	for each, err := range m.cfg.Cards.All(ctx, since) {
		switch {
		case err != nil:
			return step{}, processorFailed(err)
		case each.Metadata["fd_registration"] != p.Registration || each.Metadata["fd_generation"] != generation:
			continue
		case each.Unreadable != nil:
			return step{}, processorFailed(each.Unreadable)
		}
		if differs := m.compare(p, each); differs != "" {
			return step{to: flows.Blocked, reason: "created before, and " + differs}, nil
		}
		return createdStep(each, nil), nil
	}
	return absent, nil
}

func createdStep(created cards.Payment, fresh *cards.Payment) step {
	return step{to: flows.Intent, reason: "waiting for the buyer at the processor", remote: fresh, edit: func(next *flows.Payment) {
		next.ProcessorID, next.ClientSecret = created.ID, created.ClientSecret
	}}
}

// awaitBuyer follows what the buyer did at the processor.
func (m *Machine) awaitBuyer(ctx context.Context, p *flows.Payment, fresh *cards.Payment) (step, error) {
	remote, err := m.read(ctx, p, fresh)
	switch {
	case err != nil:
		return step{}, err
	case remote.OtherMethod != "":
		return refuseOtherMethod(remote), nil
	case remote.State == cards.Authorised || remote.State == cards.Captured || remote.Capturing:
		return step{to: flows.Authorised, reason: "the buyer authorised it", remote: &remote, edit: func(next *flows.Payment) {
			next.DeclineCode, next.CaptureBefore = "", remote.CaptureBefore
		}}, nil
	case remote.State == cards.Cancelled:
		return step{to: flows.Cancelling, reason: "it was cancelled at the processor"}, nil
	case remote.State == cards.Refunded:
		return step{to: flows.Blocked, reason: "it was refunded at the processor"}, nil
	}
	// The processor counts neither a failed challenge nor what the key may not read, so each decline that is read counts too.
	declines := p.Declines
	if remote.State == cards.Declined && remote.Decline != p.Decline {
		declines++
	}
	declines = max(declines, remote.Declines)
	declined := func(next *flows.Payment) {
		next.DeclineCode, next.Decline, next.Declines = remote.DeclineCode, remote.Decline, declines
	}
	switch {
	case remote.State == cards.Processing && p.MaybeCapturing():
		return wait(pollEvery), nil
	case p.EarlierDeclines+declines >= flows.MaxDeclines:
		return step{to: flows.Cancelling, reason: "declined too often", edit: declined}, nil
	case !p.EndsAt.IsZero() && m.cfg.Now().After(p.EndsAt):
		return step{to: flows.Cancelling, reason: "the registration has ended"}, nil
	case remote.State == cards.Declined && remote.Decline != p.Decline:
		return step{to: flows.Intent, reason: "declined: " + remote.DeclineCode, edit: func(next *flows.Payment) {
			declined(next)
			next.Processing = false
		}}, nil
	case remote.State == cards.Processing && !p.Processing:
		return step{to: flows.Intent, reason: "the bank is deciding about the buyer's card", edit: func(next *flows.Payment) {
			next.Processing, next.DeclineCode = true, ""
		}}, nil
	case remote.State != cards.Processing && p.Processing, remote.State != cards.Declined && p.Declined():
		return tryAgain(), nil
	case m.cfg.Now().Sub(p.UpdatedAt) <= idleIntent:
		return wait(m.idlePause(p)), nil
	case p.Processing:
		return step{to: flows.Cancelling, reason: "the bank did not decide about the buyer's card"}, nil
	default:
		return step{to: flows.Cancelling, reason: "the buyer left"}, nil
	}
}

// tryAgain is the step for a buyer who makes another attempt: what was declined before no longer counts.
func tryAgain() step {
	return step{to: flows.Intent, reason: "the buyer tries again", edit: func(next *flows.Payment) {
		next.DeclineCode, next.Processing = "", false
	}}
}

// checkSale reads the sale again before any money is taken. The authorisation is cancelled
// if the sale is not as the buyer agreed, or if the club system does not respond. A fresh
// payment needs no second read, because the capture fails without an authorisation.
func (m *Machine) checkSale(ctx context.Context, p *flows.Payment, fresh *cards.Payment) (step, error) {
	tooOld, left := m.authorisedTooLong(p), time.Duration(0)
	if !tooOld {
		var err error
		if left, err = m.held(ctx, p); err != nil || left > 0 && p.OnHold {
			return hold(p, left), err
		}
	}
	remote, err := m.read(ctx, p, fresh)
	switch {
	case err != nil:
		return step{}, err
	case remote.OtherMethod != "":
		return refuseOtherMethod(remote), nil
	case remote.State == cards.Captured:
		// Redis lost the capture. The sale was checked before it, and a check that fails
		// now could not undo it.
		return step{to: flows.Capturing, reason: "captured before", remote: &remote}, nil
	case remote.State == cards.Processing: // so did it here, and the bank decides about it
		return step{to: flows.Capturing, reason: "being captured", remote: &remote, edit: beingProcessed}, nil
	case remote.State != cards.Authorised:
		return step{to: flows.Cancelling, reason: "the processor no longer holds the authorisation: " + string(remote.State)}, nil
	case tooOld && p.OnHold:
		return step{to: flows.Cancelling, reason: "the club system recorded no payment within the life of the authorisation"}, nil
	case tooOld:
		return step{to: flows.Cancelling, reason: "the authorisation is too old"}, nil
	case left > 0:
		return hold(p, left), nil
	default:
		return m.agreeToCapture(ctx, p)
	}
}

// authorisedTooLong reports whether it is too late to take the reserved money, by our limit or by the processor's. A block in
// between prolongs nothing.
func (m *Machine) authorisedTooLong(p *flows.Payment) bool {
	now := m.cfg.Now()
	return now.Sub(p.Since(flows.Authorised)) > idleAuthorisation ||
		!p.CaptureBefore.IsZero() && now.After(p.CaptureBefore.Add(-captureMargin))
}

// agreeToCapture moves the payment to capturing if its sale is as agreed, else to cancelling. A call that
// only waited for others of this gateway says nothing about the club system, and is repeated later.
func (m *Machine) agreeToCapture(ctx context.Context, p *flows.Payment) (step, error) {
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, p)
	reason := p.ChangedSinceAgreed(sale, check)
	switch {
	case errors.Is(err, club.ErrBusy):
		return step{}, flows.ClubFailed(err, "The sale could not be read.")
	case err != nil:
		m.cfg.Log.WarnContext(ctx, "sale not readable before capture", "payment", p.ID, "error", err)
		reason = "the club system was unreachable before the capture"
	}
	if reason != "" {
		return step{to: flows.Cancelling, reason: reason, edit: func(next *flows.Payment) { next.Snapshot, next.OnHold = seen, false }}, nil
	}
	return step{to: flows.Capturing, reason: "the sale is as agreed", edit: func(next *flows.Payment) {
		next.Payer, next.Snapshot, next.OnHold = payerOf(sale, seen.At), seen, false
	}}, nil
}

func payerOf(sale club.Sale, readAt time.Time) *flows.Payer {
	return &flows.Payer{Contact: sale.Contact, FamilyName: sale.FamilyName, GivenName: sale.GivenName, Number: sale.Number,
		ClubCode: sale.ClubCode, Checkout: sale.Checkout, ReadAt: readAt.Round(0)}
}

// agreedLately reports whether the sale was seen as agreed so recently that money may move.
func (m *Machine) agreedLately(p *flows.Payment) bool {
	return p.Payer != nil && m.cfg.Now().Sub(p.Payer.ReadAt).Abs() <= freshSale
}

// capture takes the money. Its key makes a repetition harmless for the buyer, but the club's staff
// may have settled the sale since a capture whose outcome is not known. While the bank decides about the
// capture, the key only replays that, so the payment is read instead.
func (m *Machine) capture(ctx context.Context, p *flows.Payment, fresh *cards.Payment) (step, error) {
	left := time.Duration(0)
	if !p.Processing { // else nothing is taken now, and a probe of the brake would be lost
		var err error
		if left, err = m.held(ctx, p); err != nil {
			return step{}, err
		}
	}
	tooOld := m.authorisedTooLong(p)
	if left > 0 || tooOld || p.Processing || !m.agreedLately(p) {
		remote, err := m.read(ctx, p, fresh)
		switch {
		case err != nil:
			return step{}, err
		case remote.State == cards.Processing, p.Processing:
			return m.captureOutcome(p, remote, p.Processing), nil
		case remote.State == cards.Authorised && tooOld:
			return step{to: flows.Cancelling, reason: "the authorisation is too old"}, nil
		case remote.State == cards.Authorised && left > 0:
			return wait(min(left, pollEvery)), nil
		case remote.State == cards.Authorised:
			return m.agreeToCapture(ctx, p)
		}
	}
	taken, err := m.cfg.Cards.Capture(ctx, captureKey(p), p.ProcessorID, p.Amount)
	if err == nil && taken.State == cards.Captured {
		return step{to: flows.Captured, reason: "captured by the processor", remote: m.fresh(p, taken)}, nil
	}
	usedUp := err == nil || errors.Is(err, cards.ErrKeyUsedUp)
	if !usedUp && !isFinalRefusal(err) {
		return step{}, processorFailed(err)
	}
	var answered *cards.Payment
	if err == nil {
		answered = m.fresh(p, taken)
	}
	remote, err := m.read(ctx, p, answered)
	if err != nil {
		return step{}, err
	}
	return m.captureOutcome(p, remote, usedUp), nil
}

// captureOutcome is the step for what a capture led to at the processor. usedUp: its key only replays an earlier response.
func (m *Machine) captureOutcome(p *flows.Payment, remote cards.Payment, usedUp bool) step {
	switch {
	case remote.State == cards.Processing && p.Processing:
		return wait(pollEvery)
	case remote.State == cards.Processing:
		return step{to: flows.Capturing, reason: "the bank is deciding about the capture", edit: beingProcessed}
	case remote.State == cards.Authorised && usedUp:
		again := nextKey(p)
		counted := again.edit
		again.edit = func(next *flows.Payment) { counted(next); next.Processing = false }
		return again
	case remote.State == cards.Captured:
		return step{to: flows.Captured, reason: "captured by the processor"}
	case remote.State == cards.Refunded:
		return step{to: flows.Blocked, reason: "it was refunded at the processor"}
	default:
		return step{to: flows.Cancelling, reason: "the processor refused the capture"}
	}
}

func beingProcessed(next *flows.Payment) { next.Processing = true }

// isFinalRefusal reports whether a repetition of the call would be refused as well, so that
// the payment must be read instead.
func isFinalRefusal(err error) bool {
	return errors.Is(err, cards.ErrState) || errors.Is(err, cards.ErrRefused) || errors.Is(err, cards.ErrNotFound)
}

// cancel cancels the payment at the processor and trusts only what it reads back. It repeats what the processor
// refuses for now, as while it processes the buyer's confirmation: the refusal is replayed, so with the next key.
func (m *Machine) cancel(ctx context.Context, p *flows.Payment) (step, error) {
	if early := m.pauseLeft(p); early > 0 {
		return wait(early), nil
	}
	_, cancelErr := m.cfg.Cards.Cancel(ctx, cancelKey(p), p.ProcessorID)
	usedUp := errors.Is(cancelErr, cards.ErrKeyUsedUp)
	if cancelErr != nil && !usedUp && !isFinalRefusal(cancelErr) {
		return step{}, processorFailed(cancelErr)
	}
	remote, err := m.read(ctx, p, nil)
	switch {
	case err != nil:
		return step{}, err
	case remote.State == cards.Cancelled:
		return step{to: flows.Cancelled, reason: p.Reason}, nil
	case remote.State == cards.Captured || remote.State == cards.Refunded:
		return step{to: flows.Blocked, reason: "cannot be cancelled: at the processor it is " + string(remote.State)}, nil
	case usedUp:
		return nextKey(p), nil
	}
	m.cfg.Log.WarnContext(ctx, "cancellation refused for now", "payment", p.ID, "state", remote.State, "error", cancelErr)
	again := nextKey(p)
	counted := again.edit
	again.edit = func(next *flows.Payment) { counted(next); next.NotBefore = m.cfg.Now().Add(pollEvery) }
	return again, nil
}

// prepareRefund moves to refunding under the next claim. That claim is never released,
// so the payment can no longer be recorded.
func (m *Machine) prepareRefund(ctx context.Context, p *flows.Payment) (step, error) {
	if p.ReleasePending {
		return m.releaseLate(ctx, p)
	}
	return step{to: flows.Refunding, reason: p.Reason, edit: func(next *flows.Payment) {
		next.Claim, next.AttemptID = p.Claim+1, refundPrefix+newAttemptID(m.cfg.Now())
	}}, nil
}

// refund has the money go back unless the processor's journal holds an acceptance or another
// attempt, which Redis may have lost. A pending refund is awaited for as long as it takes. One
// that was refused or failed waits for an operator, whose retry has another key.
func (m *Machine) refund(ctx context.Context, p *flows.Payment) (step, error) {
	if early := m.pauseLeft(p); early > 0 {
		return wait(early), nil
	}
	remote, err := m.read(ctx, p, nil)
	held := p.AttemptID != "" && remote.Metadata[entryName("post", p.Claim)] == p.AttemptID
	given := p.AttemptID != "" && remote.Metadata[entryName("release", p.Claim)] == p.AttemptID
	switch {
	case err != nil:
		return step{}, err
	case acceptanceJournaled(remote):
		return step{to: flows.Blocked, reason: "a refund is due for a payment that was recorded"}, nil
	case remote.State == cards.Refunded && refundClaimed(remote):
		return step{to: flows.Refunded, reason: p.Reason}, nil
	case remote.Refunding > 0:
		return wait(doubtPollEvery), nil
	case given && p.Claim < highestClaim:
		return m.nextRefundClaim(p), nil
	case remote.Metadata[entryName("post", p.Claim)] != p.AttemptID && !claimAvailable(remote, p.Claim, ""):
		return step{to: flows.Blocked, reason: "a refund is due, but the journal holds another attempt"}, nil
	}
	failed, byHand := remote.FailedRefunds > p.FailedRefunds, remote.State == cards.Refunded // a replayed claim shows what was
	if !held {
		remote, err = m.claim(ctx, p, func() error { return nil }) // a refund may leave at any time
	}
	switch {
	case errors.Is(err, cards.ErrKeyUsedUp) && p.Claim < highestClaim: // and not held, as was just read
		if err := m.release(ctx, p); err != nil {
			return step{}, processorFailed(err)
		}
		return m.nextRefundClaim(p), nil
	case errors.Is(err, cards.ErrKeyReused):
		return step{to: flows.Blocked, reason: "a refund is due, but another attempt holds the claim"}, nil
	case err != nil:
		return step{}, processorFailed(err)
	case !refundHeld(remote, p.Claim, p.AttemptID):
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
		return wait(doubtPollEvery), nil
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
		return wait(doubtPollEvery), nil
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
		next.Claim, next.AttemptID, next.NotBefore = p.Claim+1, refundPrefix+newAttemptID(m.cfg.Now()), m.cfg.Now().Add(maxClaimPause)
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
		return wait(maxVerifyPause), err
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
		return remote, missing(unknownThere)
	}
	if err != nil {
		return remote, processorFailed(err)
	}
	if !m.names(p, remote) {
		return remote, missing(foreignThere)
	}
	if differs := m.compare(p, remote); differs != "" {
		return remote, mismatch(differs)
	}
	return remote, nil
}

// fresh returns the payment from a call that changed it; nil if it must be read instead,
// because it does not match or is a replayed response, which may be outdated.
func (m *Machine) fresh(p *flows.Payment, changed cards.Payment) *cards.Payment {
	if changed.Replayed || m.compare(p, changed) != "" {
		return nil
	}
	return &changed
}

// names reports whether the metadata of the processor's payment names the record's registration, whatever else it says.
func (m *Machine) names(p *flows.Payment, remote cards.Payment) bool {
	return remote.Metadata["fd_registration"] == p.Registration && m.ours(remote.Metadata)
}

// compare says how the processor's payment differs from the record; empty if it does not.
func (m *Machine) compare(p *flows.Payment, remote cards.Payment) string {
	switch {
	case remote.Amount != p.Amount || remote.Currency != p.Currency:
		return "the processor holds another amount or currency"
	case remote.State == cards.Captured && remote.Captured != p.Amount:
		return "the processor captured another amount"
	case remote.Metadata[endedEntry] != "":
		return "an operator ended it while no configured key could verify it"
	case !m.metadataMatches(p, remote.Metadata):
		return "the processor's metadata does not match or is not signed by us"
	}
	return ""
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
	return remote.State == cards.Captured && remote.Refunded == 0 && remote.Refunding == 0
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
