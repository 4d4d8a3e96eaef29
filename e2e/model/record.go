package model

import "slices"

// This file mirrors flows/payment/protocol/record.go: from the captured money to the single POST and its outcome. Inside record, each
// remote effect is a step of its own.

// prepareRecord moves a captured payment on to its next claim. The pause before
// it (Payment.NotBefore) may be over at any time.
func (m *machine) prepareRecord(w *world) {
	if m.mutated(ErrorWhileCharged) && w.of(w.redis).held == capturedThere {
		m.wrong(*w, "cannot read the sale, and answers the buyer that it failed", FailedWhileCharged)
	}
	m.mislay(w)
	if w.redis.releasePending {
		m.releaseLate(w)
		return
	}
	if m.unseen(w.redis, PostUnseen) && w.settled() {
		if w.of(w.redis).untouched() && (!w.redis.lifted || m.mutated(LiftedForgotten)) {
			r := w.redis
			r.state = refundDue
			m.commit(*w, r, normal, "finds the sale settled by others, and nothing of ours booked")
		} else {
			m.move(w, inDoubt, normal, "finds the sale settled, and an attempt that may have done so")
		}
		return
	}
	m.nextClaim(w, "will record")
}

// mislay is notFound for half an hour: the gateway that reads the processor has another account's key. Processes with a
// lease end before.
func (m *machine) mislay(w *world) {
	if w.left.mislaid == 0 || slices.ContainsFunc(w.process[:], func(p process) bool { return p.timed() }) {
		return
	}
	next, r := *w, w.redis
	spend(&next.left.mislaid)
	if next.desk == justNow {
		next.desk = longAgo
	}
	r.state, r.missing, r.seen = blocked, true, false
	m.commit(next, r, fault, "does not find the payment at the processor for half an hour")
}

// prepareSettlement is prepareRecord for a method without a processor: the sale is read just before,
// and one that is already settled is not settled again.
func (m *machine) prepareSettlement(w *world) {
	if w.settled() {
		m.move(w, inDoubt, normal, "finds the sale settled already")
		return
	}
	m.move(w, cancelled, fault, "finds the sale changed, or is asked to give up")
	m.nextClaim(w, "finds the sale open, and will record")
}

func (m *machine) nextClaim(w *world, what string) {
	r := w.redis
	r.state, r.claim, r.attempt = sending, r.claim+1, w.newAttemptID(forPost)
	r.seen = r.seen || m.cfg.Desk && !w.settled()
	if int(r.claim) > m.cfg.Claims {
		panic("model: a claim beyond the last one")
	}
	m.commit(*w, r, normal, what)
}

// releaseLate writes the release that could not be written with its outcome. If another release is
// there, the next claim or the refund resolves it.
func (m *machine) releaseLate(w *world) {
	there, r := *w, w.redis
	e := &there.of(r).journal[r.claim-1]
	if e.release != 0 && e.release != r.attempt && m.mutated(PendingReleaseInsists) {
		m.normal(*w, "is refused the release that is owed, since another one stands there, and will try again")
		return
	}
	wrote := e.release == 0
	if wrote {
		e.release = r.attempt
	}
	r.releasePending = false
	m.commit(there, r, normal, "writes the release that is owed, or finds that one stands there")
	if wrote {
		m.fault(there, "writes the release that is owed, and does not commit it")
	}
}

// preparing is the world in which the replica that captured has committed the capture, and continues with the claim.
func (w *world) preparing(i int, r record) world {
	r.claim, r.attempt = r.claim+1, w.newAttemptID(forPost)
	return w.end(i, r, sending, toPrepare)
}

// prepare commits the move to sending right after a capture, whose reading of the sale must still count.
func (m *machine) prepare(w *world, i int) {
	if m.unseen(w.process[i].rec, PostUnseen) {
		m.normal(w.idle(i), "finds its reading of the sale too old, and begins again")
		return
	}
	m.finish(w, i, captured)
}

// record follows the move to sending, in the same call, depending on what the process did before.
func (m *machine) record(r record, before process) process {
	p := process{at: toLook, rec: r}
	switch {
	case r.method != ByCard || m.mutated(RedisAlone):
		p.at = toSend
	case m.mutated(ClaimUnread):
		p.at = toClaim
	case before.at == toPrepare && r.claim == 1 && (!before.stale || m.mutated(TrustAnyCapture)):
		p.at = toTrust
	}
	return p
}

// trust is turn.claim for a process that captured within claimLife, as the first: no attempt can
// have claimed before, because nothing was captured.
func (m *machine) trust(w *world, i int) {
	p := &w.process[i]
	if p.stale {
		m.normal(w.then(i, toLook, p.rec), "finds the capture's answer too old to claim upon")
		return
	}
	m.claim(w, i)
}

// look is turn.claim: a claim that another attempt holds, or that is not available yet, is not
// requested. The processor's key must ensure a single winner only among attempts that read at about the same time.
func (m *machine) look(w *world, i int) {
	r := w.process[i].rec
	s := w.of(r)
	if m.claimAvailable(s, r.claim, 0) || m.mutated(ResumeExpired) && m.claimAvailable(s, r.claim, r.attempt) {
		m.normal(w.then(i, toClaim, r), "reads that the claim is free")
	} else {
		m.normal(w.outcome(i, inDoubt), "reads that another attempt was made")
	}
	m.fault(m.notSent(w, i), "cannot reach the processor before the claim")
}

// claim is the second half: Cards.Annotate under the claim's key, again while
// the response is lost and the gate is open.
func (m *machine) claim(w *world, i int) {
	p := &w.process[i]
	there, r := *w, p.rec
	s := there.of(r)
	e := &s.journal[r.claim-1]
	switch {
	case p.stale && !m.mutated(ClaimAtAnyAge):
		m.normal(m.notSent(w, i), "finds the gate closed before the claim")
		return
	case e.keyed && e.attempt != r.attempt && !m.mutated(OverwritableClaim):
		m.normal(w.outcome(i, inDoubt), "is refused the claim: another attempt holds it")
		return
	}
	before := *e
	e.attempt, e.keyed = r.attempt, true
	switch {
	case !m.claimAvailable(s, r.claim, r.attempt):
		m.normal(there.outcome(i, inDoubt), "writes the claim, and reads that another attempt was made")
	case s.held != capturedThere:
		m.normal(there.end(i, r, blocked, toRelease), "writes the claim, and reads that the money went back")
	default:
		m.normal(there.then(i, toSend, r), "wins the claim")
	}
	m.fault(m.notSent(&there, i), "writes the claim, and never learns of it")
	m.fault(m.notSent(w, i), "cannot reach the processor: no claim is written")
	*e = before
	e.late = r.attempt
	m.fault(m.notSent(&there, i), "asks for the claim, which stays on its way")
}

// send is the POST, with every outcome that the club system's client distinguishes.
func (m *machine) send(w *world, i int) {
	p := &w.process[i]
	if p.stale && !m.mutated(NoGate) {
		m.normal(m.notSent(w, i), "finds the gate closed: nothing is sent")
		return
	}
	if w.desk == longAgo && p.rec.method != Deferred {
		m.wrong(*w, "posts, although staff settled the sale more than a minute ago", PostedAfterDesk)
	}
	there, rejection := *w, normal
	there.collided = there.collided || w.desk == justNow
	if m.post(&there, p.rec) {
		rejection = fault
		m.normal(there.end(i, p.rec, recorded, toAccept), "posts; the club system accepts it")
		m.fault(there.then(i, toInquire, p.rec), "posts; the club system books it, and answers with a rejection")
		m.fault(m.unknown(&there, i), "posts; the club system books it, the answer is lost")
		late := *w
		if b := late.booked(p.rec); b.late < maxLate {
			b.late++
			m.fault(m.unknown(&late, i), "posts; the request stays on its way, without a response")
		}
	}
	m.emit(w.then(i, toInquire, p.rec), "posts; the club system rejects it", rejection)
	m.fault(m.notSent(w, i), "is not let through, or sends nothing: refused, or not sent")
	m.fault(m.unknown(w, i), "posts; the request is lost, without a response")
}

// maxLate is how many POSTs of a kind may be in transit without a response: one more than the protocol ever has.
const maxLate = 2

// post executes a POST at the club system, which refuses to defer or to validate a recorded sale, and
// never refuses a payment.
func (m *machine) post(w *world, r record) (taken bool) {
	if r.method == Deferred && w.settled() {
		return false
	}
	w.booked(r).add()
	return true
}

// add counts one more POST; two is one too many, and more are not distinguished.
func (b *booked) add() { b.applied = min(b.applied+1, 2) }

// unknown is the outcome of a POST that sent at least a byte and got no response.
func (m *machine) unknown(w *world, i int) world {
	switch {
	case m.mutated(RetryAmbiguous):
		return *w
	case m.mutated(ReleaseAlthoughSent):
		return m.notSent(w, i)
	default:
		return w.outcome(i, inDoubt)
	}
}

// notSent is the outcome of an attempt that certainly had no effect: the claim is given up.
func (m *machine) notSent(w *world, i int) world {
	r := w.process[i].rec
	last := int(r.claim) == m.cfg.Claims
	switch {
	case r.method == ByCard && last:
		return m.giveUp(w, i, refundDue)
	case r.method == ByCard:
		return m.giveUp(w, i, captured)
	case last:
		return m.giveUp(w, i, cancelled)
	default:
		return m.giveUp(w, i, priced)
	}
}

// giveUp is an outcome with the mark "release", if there is a journal for it.
func (m *machine) giveUp(w *world, i int, to state) world {
	if w.process[i].rec.method != ByCard || m.mutated(RedisAlone) {
		return w.outcome(i, to)
	}
	return w.end(i, w.process[i].rec, to, toRelease)
}

// inquire is rejected: the rejection is believed if the sale looks untouched.
func (m *machine) inquire(w *world, i int) {
	to := refundDue
	if w.process[i].rec.method != ByCard {
		to = cancelled
	}
	if w.settled() {
		m.normal(w.outcome(i, inDoubt), "reads that the sale does not look untouched")
		return
	}
	m.normal(m.giveUp(w, i, to), "reads that the sale is untouched")
	m.fault(w.outcome(i, inDoubt), "cannot read the sale")
}

// release writes fd_release_n before the outcome is committed. If that fails, the record says that it
// is pending; if another release is there, that one stays.
func (m *machine) release(w *world, i int) {
	there, r := *w, w.process[i].rec
	owed := r
	owed.releasePending = r.state != blocked
	switch e := &there.of(r).journal[r.claim-1]; {
	case e.release == 0:
		e.release = r.attempt
		m.normal(there.then(i, toEnd, r), "releases the claim")
		m.fault(there.then(i, toEnd, owed), "releases the claim, the answer is lost")
	case e.release != r.attempt && m.mutated(PendingReleaseInsists):
		m.normal(w.then(i, toEnd, owed), "is refused the release: another one stands there")
		return
	default:
		m.normal(w.then(i, toEnd, r), "finds the claim released")
	}
	m.fault(w.then(i, toEnd, owed), "cannot reach the processor: the release is owed")
}

// journal writes fd_done_n after the commit, whether or not the commit succeeded.
func (m *machine) journal(w *world, i int) {
	there, r := *w, w.process[i].rec
	there.of(r).journal[r.claim-1].done = true
	m.normal(there.idle(i), "journals the acceptance")
	m.fault(w.idle(i), "does not get the acceptance journalled")
}
