package model

// This file mirrors Store.Commit of flows/store/payment.go, with Machine.commit of flows/payment/advance.go:
// the compare-and-set, and what Redis may do on its own.

// commit stores a payment in Redis, if Redis still holds what the caller read. The replica that moves
// it to sending continues with record, unless the response is lost.
func (m *machine) commit(w world, r record, how kind, what string) {
	m.stateChanges[w.redis.state][r.state] = true
	if r.version = w.redis.version + 1; r.version > maxVersion {
		panic("model: a version is higher than a record has room for")
	}
	if r.state == sending {
		before := w.process[m.replica]
		w.process[m.replica] = process{}
		m.store(w, r, fault, what+", and dies")
		w.process[m.replica] = m.record(r, before)
	}
	m.store(w, r, how, what)
}

// move is a commit that changes only the state.
func (m *machine) move(w *world, to state, how kind, what string) {
	if to == refundDue {
		m.wrong(*w, what, RefundUnbidden) // only record, which knows the outcome, and an operator say so
	}
	r := w.redis
	r.state = to
	m.commit(*w, r, how, what)
}

// finish is the commit of a process that read the payment a while ago. The compare-and-set cannot
// distinguish histories that reach the same state and version after Redis fell back.
func (m *machine) finish(w *world, i int, from state) {
	p := w.process[i]
	done := w.idle(i)
	if p.at == toAccept && p.rec.slot > 0 {
		done.process[i] = process{at: toJournal, rec: record{slot: p.rec.slot, claim: p.rec.claim}}
	}
	if now := w.redis; !now.exists || now.generation != p.rec.generation || now.state != from || now.version != p.rec.version {
		m.normal(done, "commits nothing, as another process moved the payment")
		return
	}
	next := done
	if p.at == toPrepare {
		next = *w
	}
	m.commit(next, p.rec, normal, "commits")
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
		r = record{exists: true, generation: r.generation, method: r.method, state: r.state, slot: r.slot, rebuilt: r.rebuilt}
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
