package model

import "slices"

// This file is an operator's commands on a payment in doubt: confirm-recorded, and
// confirm-not-recorded with --send-again or --refund.

// operator is a person with access to the club system who tells the truth. "Not recorded" needs a claim
// so old that nothing can arrive. The journal gives the age, because Redis may hold an older record.
func (m *machine) operator(w *world, i int) {
	r, s := w.redis, w.of(w.redis)
	if w.left.operator == 0 || r.state != inDoubt && !r.refundFailed {
		return
	}
	next := *w
	spend(&next.left.operator)
	if r.refundFailed {
		r.state, r.failed, r.refundFailed = refunding, s.failed, false
		m.commit(next, r, fault, "is asked by an operator for the refund again")
		return
	}
	switch {
	case w.booked(r).applied > 0 || w.byHand:
		m.fault(next.end(i, r, recorded, toDecide), "gets an operator's decision: recorded")
	case !m.mutated(OperatorInHaste) && !m.claimsExpired(w, r):
	case s == nil:
		m.notRecorded(&next, i, r, priced, cancelled, toDecide)
	case s.held == capturedThere:
		if n, p := s.lastClaim(); n >= r.claim {
			r.claim, r.attempt = n, p // the decision is about the last claim in the journal
		}
		if !r.attempt.refund() { // else a refund is in progress, and continues
			at := toSettle
			if r.claim == 0 { // blocked before the first claim: there is nothing to release
				at = toDecide
			}
			m.notRecorded(&next, i, r, captured, refundDue, at)
		}
	}
}

// notRecorded adds the steps that can follow from "it was not recorded".
func (m *machine) notRecorded(w *world, i int, r record, again, back state, at at) {
	m.fault(w.end(i, r, back, at), "gets an operator's decision: not recorded, give the money back")
	if int(r.claim) < m.cfg.Claims && w.desk == never {
		m.fault(w.end(i, r, again, at), "gets an operator's decision: not recorded, send again")
	}
}

// claimsExpired reports whether every claim that an operator can know of is old: the attempt that holds
// it has found the gate closed, and no POST under it is still in transit.
func (m *machine) claimsExpired(w *world, r record) bool {
	if w.booked(r).late > 0 {
		return false
	}
	for i := range w.process {
		p := &w.process[i]
		if p.recording() && (p.rec.attempt == r.attempt || w.of(r).knows(p.rec.attempt) && !m.mutated(OperatorTrustsRedis)) {
			return false
		}
	}
	return true
}

// knows reports whether the journal holds a claim of the post.
func (s *slot) knows(p attemptID) bool {
	return s != nil && slices.ContainsFunc(s.journal[:], func(e entry) bool { return e.attempt == p })
}

// settle releases the claim by the operator's decision, which is then committed.
func (m *machine) settle(w *world, i int) {
	there, r := *w, w.process[i].rec
	e := &there.of(r).journal[r.claim-1]
	if e.release != 0 && e.release != r.attempt {
		m.normal(w.idle(i), "drops the command: another release stands there")
		return
	}
	e.release = r.attempt
	there.of(r).byOperator = m.cfg.Desk
	m.normal(there.then(i, toDecide, r), "releases the claim for the operator")
	m.fault(there.idle(i), "releases the claim for the operator, the answer is lost")
	m.fault(w.idle(i), "cannot reach the processor: the command fails")
}

// lastClaim returns the highest claim in the journal, 0 for none, and its holder.
func (s *slot) lastClaim() (n uint8, p attemptID) {
	for n := uint8(maxClaims); n > 0; n-- {
		switch e := s.journal[n-1]; {
		case e.attempt != 0:
			return n, e.attempt
		case e.release != 0:
			return n, e.release
		}
	}
	return 0, 0
}
