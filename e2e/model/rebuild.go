package model

// rebuild lists the processor's payments, and has the protocol say what the latest one proves that Redis does not know.
func (m *machine) rebuild(world *world, i int) {
	latest := 0
	for n := range world.slot {
		s := &world.slot[n]
		unheard := s.held != unknownThere && (!world.redis.exists || s.generation > world.redis.generation)
		if unheard && (latest == 0 || s.generation > world.slot[latest-1].generation || s.held == capturedThere) {
			latest = n + 1
		}
	}
	if latest > 0 {
		lost := record{exists: true, generation: world.slot[latest-1].generation}
		r := m.ask(lost, facts{old: m.dayPassed(world), remote: world.reading(uint8(latest))}).rec
		r.version = 1
		m.normal(world.then(i, toRebuild, r), "finds a payment at the processor that Redis does not know")
	}
}

func (m *machine) storeRebuilt(world *world, i int) {
	r, done := world.process[i].rec, world.idle(i)
	if world.redis.exists && world.redis.generation >= r.generation {
		m.normal(done, "finds the payment in Redis again")
		return
	}
	m.store(done, r, normal, "stores what it rebuilt")
	m.fault(done, "cannot reach Redis: nothing is rebuilt")
}
