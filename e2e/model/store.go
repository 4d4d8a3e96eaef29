package model

// This file mirrors Store.Commit of flows/store/payment.go, with Machine.commit of flows/payment/advance.go:
// the compare-and-set, and what Redis may do on its own.

// commit stores a payment in Redis, if Redis still holds what the caller read.
func (m *machine) commit(world world, record record, how kind, what string) {
	m.stateChanges[world.redis.state][record.state] = true
	record.version = world.redis.version + 1
	if record.version > maxVersion {
		panic("model: a version is higher than a record has room for")
	}
	m.store(world, record, how, what)
}

// is reports whether the compare-and-set finds the record that a process knows. It cannot distinguish histories that reach the
// same state and version after Redis fell back.
func (r record) is(known record) bool {
	return r.exists && r.generation == known.generation && r.state == known.state && r.version == known.version
}

// finish is the commit of a process that read the payment in a state a while ago.
func (m *machine) finish(world *world, i int, from state) {
	own := world.process[i]
	done, read := world.idle(i), own.rec
	read.state = from
	if own.at == toAccept && own.rec.slot > 0 {
		done.process[i] = process{at: toJournal, rec: record{slot: own.rec.slot, claim: own.rec.claim}}
	}
	if !world.redis.is(read) {
		m.normal(done, "commits nothing, as another process moved the payment")
		return
	}
	committed := done
	if own.at == toDecide && own.rec.state == recorded && own.rec.slot > 0 && own.rec.claim > 0 {
		committed.process[i] = process{at: toJournal, rec: record{slot: own.rec.slot, claim: own.rec.claim}}
	}
	m.commit(committed, own.rec, normal, "commits")
	done.caused = m.cfg.Causes
	m.fault(done, "cannot reach Redis, so that nothing is committed")
}

// store puts a state into Redis. The previous one may reappear from a backup, or on a promoted replica
// of Redis; whether it will is guessed now.
func (m *machine) store(world world, next record, how kind, what string) {
	before := world.redis
	if next.exists && before.exists && next.generation == before.generation && next.version <= before.version {
		m.wrong(world, what, VersionShrank)
	}
	if next.state.over() && !next.missing && !next.refundFailed { // nothing reads the rest
		next = record{
			exists:     true,
			generation: next.generation,
			method:     next.method,
			state:      next.state,
			slot:       next.slot,
			rebuilt:    next.rebuilt,
			verdict:    next.verdict,
			absent:     next.absent,
		}
	}
	world.redis = next
	m.emit(world, what, how)
	if world.keep(before) {
		m.emit(world, what+" (a backup of Redis keeps what was before)", fault)
	}
}

// keep puts a state where a rollback will find it, if there is a free place.
func (w *world) keep(record record) bool {
	free, used := -1, uint8(0)
	for i := range w.backups {
		if w.backups[i].exists {
			used++
		} else {
			free = i
		}
	}
	if !record.exists || used >= w.left.rollbacks {
		return false
	}
	w.backups[free] = record
	return true
}

// rollback lets Redis fall back to an earlier state. That state and the one it replaces may both
// reappear: Redis can fail over and back again.
func (m *machine) rollback(world *world) {
	const what = "Redis falls back to an earlier content"
	for i, backup := range world.backups {
		if world.left.rollbacks == 0 || !backup.exists || backup == world.redis {
			continue
		}
		next := *world
		next.redis, next.backups[i] = backup, record{}
		spend(&next.left.rollbacks)
		m.fault(next, what)
		again := next
		if again.keep(backup) {
			m.fault(again, what+" (and a backup keeps it)")
		}
		if again.keep(world.redis) {
			m.fault(again, what+" (and backups keep both)")
		}
		if next.keep(world.redis) {
			m.fault(next, what+" (and a backup keeps what was before)")
		}
	}
}

func (m *machine) wipe(world *world) {
	if world.left.wipes == 0 || !world.redis.exists {
		return
	}
	next := *world
	spend(&next.left.wipes)
	m.store(next, record{}, fault, "Redis loses everything")
}

// giveUp writes fd_release_n before the outcome is committed. If that fails, the record says that it
// is pending; if another release is there, that one stays.
func (m *machine) giveUp(world *world, i int) {
	there, record := *world, world.process[i].rec
	owed := record
	owed.releasePending = true
	switch e := &there.of(record).journal[record.claim-1]; {
	case e.release == 0:
		e.release = record.attempt
		m.normal(there.then(i, toEnd, record), "releases the claim")
		m.fault(there.then(i, toEnd, owed), "releases the claim, the answer is lost")
	case e.release != record.attempt && m.cfg.ReleaseInsists:
		m.normal(world.then(i, toEnd, owed), "is refused the release: another one stands there")
		return
	default:
		m.normal(world.then(i, toEnd, record), "finds the claim released")
	}
	m.fault(world.then(i, toEnd, owed), "cannot reach the processor: the release is owed")
}

// journal writes fd_done_n after the commit, whether or not the commit succeeded.
func (m *machine) journal(world *world, i int) {
	there, r := *world, world.process[i].rec
	there.of(r).journal[r.claim-1].done = true
	m.normal(there.idle(i), "journals the acceptance")
	m.fault(world.idle(i), "does not get the acceptance journalled")
}
