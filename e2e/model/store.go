package model

// This file mirrors Store.Commit of flows/store/payment.go, with Machine.commit of flows/payment/advance.go:
// the compare-and-set, and what Redis may do on its own.

// commit stores a payment in Redis, if Redis still holds what the caller read.
func (m *machine) commit(w world, r record, how kind, what string) {
	m.stateChanges[w.redis.state][r.state] = true
	if r.version = w.redis.version + 1; r.version > maxVersion {
		panic("model: a version is higher than a record has room for")
	}
	m.store(w, r, how, what)
}

// is reports whether the compare-and-set finds the record that a process knows. It cannot distinguish histories that reach the
// same state and version after Redis fell back.
func (r record) is(known record) bool {
	return r.exists && r.generation == known.generation && r.state == known.state && r.version == known.version
}

// finish is the commit of a process that read the payment in a state a while ago.
func (m *machine) finish(w *world, i int, from state) {
	p := w.process[i]
	done, read := w.idle(i), p.rec
	if read.state = from; p.at == toAccept && p.rec.slot > 0 {
		done.process[i] = process{at: toJournal, rec: record{slot: p.rec.slot, claim: p.rec.claim}}
	}
	if !w.redis.is(read) {
		m.normal(done, "commits nothing, as another process moved the payment")
		return
	}
	committed := done
	if p.at == toDecide && p.rec.state == recorded && p.rec.slot > 0 && p.rec.claim > 0 {
		committed.process[i] = process{at: toJournal, rec: record{slot: p.rec.slot, claim: p.rec.claim}}
	}
	m.commit(committed, p.rec, normal, "commits")
	done.caused = m.cfg.Causes
	m.fault(done, "cannot reach Redis, so that nothing is committed")
}

// store puts a state into Redis. The previous one may reappear from a backup, or on a promoted replica
// of Redis; whether it will is guessed now.
func (m *machine) store(w world, r record, how kind, what string) {
	before := w.redis
	if r.exists && before.exists && r.generation == before.generation && r.version <= before.version {
		m.wrong(w, what, VersionShrank)
	}
	if r.state.over() && !r.missing && !r.refundFailed { // nothing reads the rest
		r = record{
			exists:     true,
			generation: r.generation,
			method:     r.method,
			state:      r.state,
			slot:       r.slot,
			rebuilt:    r.rebuilt,
			verdict:    r.verdict,
			absent:     r.absent,
		}
	}
	w.redis = r
	m.emit(w, what, how)
	if w.keep(before) {
		m.emit(w, what+" (a backup of Redis keeps what was before)", fault)
	}
}

// keep puts a state where a rollback will find it, if there is a free place.
func (w *world) keep(r record) bool {
	free, used := -1, uint8(0)
	for i := range w.backups {
		if w.backups[i].exists {
			used++
		} else {
			free = i
		}
	}
	if !r.exists || used >= w.left.rollbacks {
		return false
	}
	w.backups[free] = r
	return true
}

// rollback lets Redis fall back to an earlier state. That state and the one it replaces may both
// reappear: Redis can fail over and back again.
func (m *machine) rollback(w *world) {
	const what = "Redis falls back to an earlier content"
	for i, b := range w.backups {
		if w.left.rollbacks == 0 || !b.exists || b == w.redis {
			continue
		}
		next := *w
		next.redis, next.backups[i] = b, record{}
		spend(&next.left.rollbacks)
		m.fault(next, what)
		again := next
		if again.keep(b) {
			m.fault(again, what+" (and a backup keeps it)")
		}
		if again.keep(w.redis) {
			m.fault(again, what+" (and backups keep both)")
		}
		if next.keep(w.redis) {
			m.fault(next, what+" (and a backup keeps what was before)")
		}
	}
}

func (m *machine) wipe(w *world) {
	if w.left.wipes == 0 || !w.redis.exists {
		return
	}
	next := *w
	spend(&next.left.wipes)
	m.store(next, record{}, fault, "Redis loses everything")
}

// giveUp writes fd_release_n before the outcome is committed. If that fails, the record says that it
// is pending; if another release is there, that one stays.
func (m *machine) giveUp(w *world, i int) {
	there, r := *w, w.process[i].rec
	owed := r
	owed.releasePending = true
	switch e := &there.of(r).journal[r.claim-1]; {
	case e.release == 0:
		e.release = r.attempt
		m.normal(there.then(i, toEnd, r), "releases the claim")
		m.fault(there.then(i, toEnd, owed), "releases the claim, the answer is lost")
	case e.release != r.attempt && m.cfg.ReleaseInsists:
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
