package model

// This file mirrors doubt.go and after.go in flows/payment/protocol; the table in doc.go pairs the functions.

// turns are what an idle replica does, by the state of the payment in Redis.
var turns = [states]func(*machine, *world){
	priced:     (*machine).begin,
	intent:     (*machine).drive,
	authorised: (*machine).drive,
	capturing:  (*machine).drive,
	captured:   (*machine).prepareRecord,
	sending:    (*machine).takeOver,
	cancelling: (*machine).drive,
	refundDue:  (*machine).drive,
	refunding:  (*machine).drive,
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
