package model

import "slices"

// This file mirrors flows/payment/protocol up to the capture, flows/payment/step.go, and resolveDoubt and readEvidence in
// evidence.go; the table in doc.go pairs the functions. The turns of the loop in Machine.advance up to a commit are one step,
// see the package comment.

// turns are what an idle replica does, by the state of the payment in Redis.
var turns = [states]func(*machine, *world){
	priced:     (*machine).createIntent,
	intent:     (*machine).awaitBuyer,
	authorised: (*machine).checkSale,
	capturing:  (*machine).capture,
	captured:   (*machine).prepareRecord,
	sending:    (*machine).takeOver,
	cancelling: (*machine).cancel,
	refundDue:  (*machine).prepareRefund,
	refunding:  (*machine).refund,
	inDoubt:    (*machine).resolveDoubt,
	blocked:    (*machine).unblock,
}

// createIntent creates the payment at the processor. Its key leads every retry to the same payment, for
// as long as the processor knows the key.
func (m *machine) createIntent(w *world) {
	switch {
	case w.redis.method != ByCard:
		m.prepareSettlement(w)
		return
	case m.dayPassed(w) && !m.mutated(CreateAtAnyAge):
		m.findCreated(w)
		return
	}
	if w.key[w.redis.generation-1] == refusedKey {
		m.move(w, cancelled, normal, "is refused the creation again, and reads that no payment exists")
		return
	}
	there, r := *w, w.redis
	known := &there.key[r.generation-1]
	if *known == 0 && !w.created(r.generation) {
		*known = refusedKey
		m.move(&there, cancelled, fault, "is refused the creation for good, and reads that no payment exists")
		m.fault(there, "is refused the creation for good, and does not commit it")
		*known = 0
	}
	if *known == 0 || m.mutated(KeyPerAttempt) {
		if *known = there.freeSlot(); *known == 0 {
			return // one more payment at the processor than a world has room for
		}
		there.slot[*known-1] = slot{generation: r.generation, held: requiresAction}
	}
	r.slot, r.state = *known, intent
	m.commit(there, r, normal, "creates the payment at the processor, or gets the one that is there")
	m.fault(there, "creates the payment at the processor, and does not commit it")
}

// findCreated continues with the processor's payment if ours is too old to be created, or ends it.
func (m *machine) findCreated(w *world) {
	r := w.redis
	if !w.created(r.generation) {
		m.move(w, cancelled, normal, "finds the payment too old to be created, and reads that none exists")
		return
	}
	for i := range w.slot {
		if s := &w.slot[i]; s.held != unknownThere && s.generation == r.generation {
			r.slot, r.state = uint8(i+1), intent
			m.commit(*w, r, normal, "finds the payment, which was created before its response was lost")
		}
	}
}

// created reports whether the processor holds a payment of a generation.
func (w *world) created(generation uint8) bool {
	return slices.ContainsFunc(w.slot[:], func(s slot) bool { return s.held != unknownThere && s.generation == generation })
}

func (w *world) freeSlot() uint8 {
	return uint8(slices.IndexFunc(w.slot[:], func(s slot) bool { return s.held == unknownThere }) + 1)
}

func (m *machine) awaitBuyer(w *world) {
	r := w.redis
	switch w.of(r).held {
	case authorisedThere, capturedThere:
		r.state, r.declined = authorised, false
		m.commit(*w, r, normal, "reads that the buyer authorised")
	case cancelledThere:
		m.move(w, cancelling, normal, "reads that it was cancelled at the processor")
	case refundPendingThere, refundedThere:
		m.move(w, blocked, normal, "reads that it was refunded at the processor")
	case declinedThere:
		if !r.declined {
			r.declined = true
			m.commit(*w, r, normal, "reads that the card was declined")
			return
		}
		fallthrough
	default:
		m.move(w, cancelling, fault, "finds that the buyer left, or gives up for the buyer")
	}
}

// checkSale reads the sale again, unless the money was already taken: no check could undo that.
func (m *machine) checkSale(w *world) {
	s := w.of(w.redis)
	switch {
	case s.held != authorisedThere && s.held != capturedThere:
		m.move(w, cancelling, normal, "reads that the authorisation is gone")
		return
	case s.held == authorisedThere && w.desk != never:
		m.move(w, cancelling, normal, "finds the sale settled by staff")
		return
	}
	r := w.redis
	r.state, r.seen = capturing, m.cfg.Desk && s.held == authorisedThere
	m.commit(*w, r, normal, "finds the sale as agreed, or the money taken before")
	if s.held == authorisedThere {
		m.move(w, cancelling, fault, "finds the sale changed, settled or unreadable")
	}
}

// unseen reports whether the sale was not read as agreed within the last minute. Without staff it does not
// change, and needs no second reading.
func (m *machine) unseen(r record, mistake Mutation) bool {
	return m.cfg.Desk && !r.seen && !m.mutated(mistake)
}

// capture takes the money of a sale that was as agreed within the last minute. Its key makes it
// harmless to retry; on a payment that was refunded since, it replays its earlier success. Only a
// response that is not a replay is passed on.
func (m *machine) capture(w *world) {
	there := *w
	s := there.of(w.redis)
	switch s.held {
	case authorisedThere:
		r := w.redis
		if m.unseen(r, CaptureUnseen) {
			if w.settled() {
				m.move(w, cancelling, normal, "reads the sale again, and finds it settled by staff")
				return
			}
			r.seen = true
		}
		if w.desk == longAgo {
			m.wrong(*w, "captures, although staff settled the sale more than a minute ago", CapturedAfterDesk)
		}
		s.held = capturedThere
		r.state = captured
		m.normal(there.then(m.replica, toKeep, r), "captures")
		m.fault(there, "captures, and does not learn of it")
		s.held, s.lateCapture = authorisedThere, true
		m.fault(there, "asks for the capture, which stays on its way")
		m.move(w, cancelling, fault, "is refused the capture")
	case capturedThere, refundPendingThere, refundedThere:
		m.move(w, captured, normal, "captures, which was done before")
	default:
		m.move(w, cancelling, normal, "is refused the capture, without an authorisation")
	}
}

// cancel gives the payment up at the processor, and trusts only what it reads back.
func (m *machine) cancel(w *world) {
	there := *w
	s := there.of(w.redis)
	before := s.held
	if before.open() {
		s.held = cancelledThere
	}
	if s.held != cancelledThere {
		m.move(w, blocked, normal, "cannot cancel what is captured or refunded")
		return
	}
	m.move(&there, cancelled, normal, "cancels, and reads back that it is cancelled")
	if !before.open() {
		return
	}
	m.fault(there, "cancels, and does not commit it")
	s.held, s.lateCancel = before, true
	m.fault(there, "asks for the cancellation, which stays on its way")
	if m.mutated(BlindCancel) {
		m.move(&there, cancelled, fault, "asks for the cancellation, which stays on its way, and believes in it")
	}
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
