package model

// rebuild lists the processor's payments, and has the protocol say what the latest one proves that Redis does not know.
func (m *machine) rebuild(w *world, i int) {
	latest := 0
	for n := range w.slot {
		s := &w.slot[n]
		unheard := s.held != unknownThere && (!w.redis.exists || s.generation > w.redis.generation)
		if unheard && (latest == 0 || s.generation > w.slot[latest-1].generation || s.held == capturedThere) {
			latest = n + 1
		}
	}
	if latest > 0 {
		lost := record{exists: true, generation: w.slot[latest-1].generation}
		r := m.ask(lost, facts{old: m.dayPassed(w), remote: w.reading(uint8(latest))}).rec
		r.version = 1
		m.normal(w.then(i, toRebuild, r), "finds a payment at the processor that Redis does not know")
	}
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
