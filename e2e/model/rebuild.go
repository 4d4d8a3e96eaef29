package model

// This file mirrors flows/payment/rebuild.go: what Redis lost is restored from the processor.

// rebuild lists the processor's payments and describes the latest one that Redis
// does not know, from its metadata.
func (m *machine) rebuild(w *world, i int) {
	if m.mutated(NoRebuild) {
		return
	}
	latest := 0
	for n := range w.slot {
		s := &w.slot[n]
		unheard := s.held != unknownThere && (!w.redis.exists || s.generation > w.redis.generation)
		if unheard && (latest == 0 || s.generation > w.slot[latest-1].generation || s.held == capturedThere) {
			latest = n + 1
		}
	}
	if latest > 0 {
		m.normal(w.then(i, toRebuild, m.derivePayment(w, latest)), "finds a payment at the processor that Redis does not know")
	}
}

// derivePayment is the record that the processor's own data of a payment allows. A payment without a
// capture is polled again, or given up; a captured one is as far as the journal says.
func (m *machine) derivePayment(w *world, n int) record {
	s := &w.slot[n-1]
	r := record{exists: true, generation: s.generation, method: ByCard, slot: uint8(n), version: 1, state: intent, rebuilt: true}
	switch s.held {
	case cancelledThere:
		r.state = cancelled
		return r
	case capturedThere, refundPendingThere, refundedThere:
	default:
		return r
	}
	r.claim, r.attempt = s.lastClaim()
	switch {
	case s.acceptanceJournaled():
		r.state = recorded
	case s.held == refundedThere && (r.claim == 0 || r.attempt.refund() || m.released(s.journal[r.claim-1])): // else the open claim may have been sent, see below
		r.state = refunded
	case r.attempt.refund():
		r.state = refunding
	case r.claim > 0 && !m.released(s.journal[r.claim-1]):
		r.state = inDoubt
	case int(r.claim) == m.cfg.Claims:
		r.state = refundDue
	default:
		r.state = captured
	}
	return r
}

func (m *machine) storeRebuilt(w *world, i int) {
	r, done := w.process[i].rec, w.idle(i)
	if w.redis.exists && w.redis.generation >= r.generation {
		m.normal(done, "finds the payment in Redis again")
		return
	}
	m.store(done, r, normal, "stores what it rebuilt")
	m.fault(done, "cannot reach Redis: nothing is rebuilt")
}
