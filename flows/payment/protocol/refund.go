package protocol

import (
	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// A refund is due when the payment was certainly not recorded:
//   - Its sale has changed since the capture (agreeToRecord in record.go).
//   - The attempts to record it ended without effect (endUnrecorded in record.go).
//   - Another payment of the sale counts (yield and Duplicate in prove.go).
//   - Every claim was released before Redis lost the record (proven in prove.go).
//   - An operator decided so (notRecorded in decide.go). A blocked payment is refunded only by an operator (refundBlocked).
//
// Nothing is refunded before the refund holds a claim.

// The reasons of payments that are blocked because a refund did not succeed.
const (
	// refundFailed: the processor had accepted the refund.
	refundFailed = "the refund failed at the processor, which holds the money"
	// refundDisputed: the buyer's bank decides about the payment.
	refundDisputed = "the processor refused the refund: the buyer disputes the payment"
)

// prepareRefund moves to refunding under the next claim. That claim is never released while its key can be used, so the payment
// can no longer be recorded.
func (d turn) prepareRefund() (Action, *Change) {
	if d.p.ReleasePending {
		return d.releaseLate()
	}
	return d.claimRefund(*d.p)
}

// claimRefund begins the next attempt to refund.
func (d turn) claimRefund(next flows.Payment) (Action, *Change) {
	next.Claim, next.AttemptID = d.p.Claim+1, RefundPrefix+NewAttemptID(d.now, d.f.ID)
	return d.write(next, flows.Refunding, d.p.Reason)
}

// refund refunds under the refund's claim. An acceptance in the journal blocks it, and so does another attempt there, which Redis may
// have lost. A pending refund is awaited for as long as it takes. One that was refused or failed waits for an operator, whose
// retry has another key.
func (d turn) refund() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case d.f.Call != nil:
		return d.refunded()
	case d.f.Claim != nil:
		return d.refundClaimed()
	case PauseLeft(payment, d.now) > 0:
		return wait(PauseLeft(payment, d.now))
	case remote == nil:
		return act(Read)
	}
	entry := remote.Journal.Entry(payment.Claim)
	switch {
	case remote.Journal.Accepted:
		return d.to(flows.Blocked, "a refund is due for a payment that was recorded")
	case remote.State == cards.Refunded && remote.Journal.RefundClaimed():
		return d.to(flows.Refunded, payment.Reason)
	case remote.Refunding > 0:
		return wait(DoubtPollEvery)
	case payment.AttemptID != "" && entry.Release == payment.AttemptID && payment.Claim < HighestClaim: // its key was used up
		return d.claimRefundLater()
	case entry.Attempt != payment.AttemptID && !remote.Journal.Available(payment.Claim, ""):
		return d.to(flows.Blocked, "a refund is due, but the journal holds another attempt")
	case payment.AttemptID == "" || entry.Attempt != payment.AttemptID:
		return act(Claim)
	}
	return d.requestRefund(remote.Journal)
}

// claimRefundLater follows a claim that was released because its key is used up. It waits, because the claims are few.
func (d turn) claimRefundLater() (Action, *Change) {
	next := *d.p
	next.NotBefore = d.now.Add(MaxClaimPause).Round(0)
	return d.claimRefund(next)
}

// refundClaimed follows the writing of the refund's claim. If the claim's key is used up, the claim is released and the next follows.
func (d turn) refundClaimed() (Action, *Change) {
	claim, release := d.f.Claim, d.f.Release
	switch {
	case claim.Outcome == Done:
		return d.requestRefund(claim.Response.Journal)
	case claim.Outcome == KeyReused:
		return d.to(flows.Blocked, "a refund is due, but another attempt holds the claim")
	case claim.Outcome != KeyUsedUp || d.p.Claim >= HighestClaim:
		return failed(claim.Err)
	case release == nil:
		return act(Release)
	case release.Outcome != Done:
		return failed(release.Err)
	}
	return d.claimRefundLater()
}

// requestRefund requests the refund under a claim that the journal shows. Whether money is left to refund, the reading before the
// claim says: the response to the claim can be a replayed one, which shows an older state.
func (d turn) requestRefund(journal Journal) (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case !journal.RefundHeld(payment.Claim, payment.AttemptID):
		return d.to(flows.Blocked, "a refund is due, but the journal holds another attempt")
	case remote.State == cards.Refunded: // by hand; with the claim, an operator can act if the bank returns the money
		return d.to(flows.Refunded, payment.Reason)
	case remote.FailedRefunds > payment.FailedRefunds:
		return d.to(flows.Blocked, refundFailed)
	}
	return act(Refund)
}

// refunded follows the refund. After a refusal the payment is read, because perhaps there is a refund already.
func (d turn) refunded() (Action, *Change) {
	payment, remote, call := d.p, d.f.Remote, d.f.Call
	switch {
	case call.Outcome == Done && call.Response.State == cards.Refunded:
		return d.to(flows.Refunded, payment.Reason)
	case call.Outcome == Done:
		return wait(DoubtPollEvery)
	case call.Outcome == KeyUsedUp: // the next turn reads whether the refund was made
		next := *payment
		next.UsedKeys++
		return d.keep(next)
	case call.Outcome != Refused && call.Outcome != WrongState:
		return failed(call.Err)
	case remote == nil:
		return act(Read)
	case remote.State == cards.Refunded:
		return d.to(flows.Refunded, payment.Reason)
	case remote.Refunding > 0:
		return wait(DoubtPollEvery)
	case remote.Disputed:
		return d.to(flows.Blocked, refundDisputed)
	}
	return d.to(flows.Blocked, "the processor refused the refund")
}
