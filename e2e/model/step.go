package model

// This file mirrors flows/payment/step.go, and resolveDoubt and readEvidence in evidence.go; the table in doc.go pairs the
// functions.

// turns are what an idle replica does, by the state of the payment in Redis.
var turns = [states]func(*machine, *world){
	priced:     (*machine).begin,
	intent:     (*machine).drive,
	authorised: (*machine).drive,
	capturing:  (*machine).drive,
	captured:   (*machine).prepareRecord,
	sending:    (*machine).takeOver,
	cancelling: (*machine).drive,
	refundDue:  (*machine).prepareRefund,
	refunding:  (*machine).refund,
	inDoubt:    (*machine).resolveDoubt,
	blocked:    (*machine).unblock,
}

func (m *machine) begin(w *world) {
	if w.redis.method != ByCard {
		m.prepareSettlement(w)
		return
	}
	m.drive(w)
}

// unseen reports whether the sale was not read as agreed within the last minute. Without staff it does not
// change, and needs no second reading.
func (m *machine) unseen(r record, mistake Mutation) bool {
	return m.cfg.Desk && !r.seen && !m.mutated(mistake)
}

// prepareRefund moves on to refunding. A refund takes the claim after the last, and never releases it:
// no attempt can post after it, and one that might still post has not released its claim.
func (m *machine) prepareRefund(w *world) {
	r := w.redis
	r.state = refunding
	switch {
	case m.mutated(RefundUnclaimed | RefundUnread):
	case r.releasePending:
		m.releaseLate(w)
		return
	default:
		r.claim, r.attempt = r.claim+1, w.newAttemptID(forRefund)
	}
	m.commit(*w, r, normal, "will refund")
}

// refund returns the money once its claim is won. Every replica that finds the payment in refunding may
// do so: the attempt id in it is the refund's.
func (m *machine) refund(w *world) {
	r, s := w.redis, w.of(w.redis)
	switch {
	case s.acceptanceJournaled():
		m.move(w, blocked, normal, "reads that it was recorded: no refund is due")
	case s.held == refundedThere && (s.refundClaimed() || m.mutated(RefundUnclaimed|RefundUnread)):
		m.move(w, refunded, normal, "reads that it is refunded")
	case s.held == refundPendingThere: // it may still fail
	case s.turnedDown:
		if !r.refundFailed && !m.mutated(RefundFailureUnseen) {
			r.refundFailed = true
			m.commit(*w, r, normal, "reads that the refund failed, and shows it to operators")
		}
	case m.mutated(RefundUnclaimed):
		m.refundUnclaimed(w)
	case m.mutated(RefundUnread) || s.journal[r.claim-1].attempt == r.attempt:
		m.giveBack(w)
	case r.method == ByCard && m.claimAvailable(s, r.claim, 0):
		m.secure(w)
	default:
		m.move(w, blocked, normal, "reads of another attempt: no refund is safe")
	}
}

// refundUnclaimed assumes that no attempt will claim after all gave up.
func (m *machine) refundUnclaimed(w *world) {
	switch {
	case w.redis.releasePending:
		m.releaseLate(w)
	case w.of(w.redis).untouched() && w.of(w.redis).journal[w.redis.claim-1].release != 0: // so no attempt was sent, or ever will be
		m.giveBack(w)
	default:
		m.move(w, blocked, normal, "reads of a claim that was not given up: no refund is safe")
	}
}

// secure is the claim of a refund, made like that of a POST.
func (m *machine) secure(w *world) {
	there := *w
	e := &there.of(w.redis).journal[w.redis.claim-1]
	before := *e
	e.attempt, e.keyed = w.redis.attempt, true
	m.normal(there, "wins the claim for the refund")
	*e = before
	e.late = w.redis.attempt
	m.fault(there, "asks for the claim of the refund, which stays on its way")
}

// giveBack is the call that refunds.
func (m *machine) giveBack(w *world) {
	there := *w
	s := there.of(w.redis)
	s.held, s.turnedDown = m.asked(), false
	if s.held == refundedThere || m.mutated(RefundBelieved) {
		m.move(&there, refunded, normal, "refunds")
		m.fault(there, "refunds, and does not commit it")
	} else {
		m.normal(there, "asks for the refund, which is pending")
	}
	s.held, s.lateRefund = capturedThere, true
	m.fault(there, "asks for the refund, which stays on its way")
}

// resolveDoubt resolves a doubt if an acceptance was journaled, or if the evidence is sufficient.
func (m *machine) resolveDoubt(w *world) {
	s := w.of(w.redis)
	if s == nil {
		m.readEvidence(w)
		return
	}
	n, attempt := s.lastClaim()
	switch {
	case s.acceptanceJournaled():
		m.move(w, recorded, normal, "reads in the journal that it was accepted")
	case attempt.refund() && m.claimAvailable(s, n, attempt):
		m.move(w, blocked, normal, "reads of a refund that Redis lost")
	case s.held == capturedThere && m.mutated(RefundInDoubt):
		m.move(w, refundDue, normal, "gives up on the doubt")
	case s.held == capturedThere && !s.refundClaimed():
		m.readEvidence(w)
	}
}

// readEvidence takes a sale that is now settled as recorded, if the attempt was within the last minute.
func (m *machine) readEvidence(w *world) {
	if !m.cfg.Desk || !w.settled() || !w.redis.seen && !m.mutated(TrustAnyEvidence) {
		return
	}
	s := w.of(w.redis)
	sent := s == nil || m.maybeSent(s)
	if !sent && !m.mutated(EvidenceUnclaimed) {
		return
	}
	there := *w
	there.collided = there.collided || sent && w.desk == justNow
	m.move(&there, recorded, normal, "takes the evidence for that of a recorded payment")
}

// unblock lifts the block of a captured payment that the processor seemed not to have.
func (m *machine) unblock(w *world) {
	if w.redis.missing {
		r := w.redis
		r.state, r.missing, r.lifted = captured, false, true
		m.commit(*w, r, normal, "reads that the processor has the payment again")
	}
}

// takeOver is what next decides for a payment in sending: nothing while its owner is at work, else that
// the outcome was lost with its owner.
func (m *machine) takeOver(w *world) {
	switch {
	case w.owned(w.redis.attempt):
	case m.mutated(ResumeExpired):
		m.move(w, sending, normal, "finds the lease over, and continues sending")
	default:
		m.move(w, inDoubt, normal, "finds the lease over")
	}
}
