package model

import "frontdesk/flows/payment/protocol"

// This file is the world outside: the buyer, what arrives late, and the faults.

// buyer starts payments (registration.Service.begin) and uses the processor's page.
func (m *machine) buyer(world *world) {
	r := world.redis
	if r.exists && !r.rebuilt && !r.live() && int(r.generation) < m.cfg.Payments && !m.dayPassed(world) {
		for _, way := range m.cfg.Methods {
			next := record{
				exists:     true,
				generation: r.generation + 1,
				method:     way,
				state:      priced,
				version:    1,
			}
			m.store(*world, next, fault, "The buyer starts a payment")
		}
	}
	for i := range world.slot {
		if h := world.slot[i].held; h == requiresAction || h == declinedThere {
			next := *world
			next.slot[i].held = authorisedThere
			m.fault(next, "The buyer authorises the payment at the processor")
			if m.cfg.Declines && h == requiresAction {
				next.slot[i].held = declinedThere
				m.fault(next, "The buyer's card is declined")
			}
		}
	}
}

// staff settle the sale in the club system's own screens, if it is open there. While our payment is blocked, they record it.
func (m *machine) staff(world *world) {
	if world.left.desk == 0 || world.settled() {
		return
	}
	next := *world
	spend(&next.left.desk)
	next.desk, next.byHand = justNow, world.redis.state == blocked && world.redis.missing
	m.fault(next, "The club's staff settle the sale")
}

// minute lets time pass, so that no reading is from the last minute any more. A running attempt ends
// before, or its process sleeps.
func (m *machine) minute(world *world) {
	next, changes := *world, world.desk == justNow
	if changes {
		next.desk = longAgo
	}
	for i := range world.process {
		if world.process[i].timed() {
			return
		}
	}
	for _, r := range next.records() {
		changes = changes || r.seen
		r.seen = false
	}
	if m.cfg.Desk && changes {
		m.fault(next, "A minute passes")
	}
}

// records are all copies of the payment.
func (w *world) records() (all [1 + maxReplicas + maxBackups]*record) {
	all[0] = &w.redis
	for i := range w.process {
		all[1+i] = &w.process[i].rec
	}
	for i := range w.backups {
		all[1+maxReplicas+i] = &w.backups[i]
	}
	return all
}

// stranger is a gateway with another account's key. It may do nothing with a payment, whatever triggers it.
func (m *machine) stranger(world *world) {
	if !m.cfg.Strangers || world.redis.state == noPayment {
		return
	}
	for _, choice := range []protocol.Choice{"", protocol.ConfirmRecorded, protocol.GiveBack} {
		if a := m.ask(world.redis, facts{foreign: true, decision: choice}); a.kind != protocol.Wait {
			m.wrong(*world, "A gateway with another account's key does not leave the payment alone", StrangerActs)
		}
	}
}

// brake holds and is released at any time.
func (m *machine) brake(world *world) {
	if !m.cfg.Brake {
		return
	}
	next := *world
	next.braked = !world.braked
	if next.braked {
		m.fault(next, "The brake holds")
	} else {
		m.normal(next, "The brake is released")
	}
}

// arrivals applies requests that were sent but never answered.
func (m *machine) arrivals(w *world) {
	for i := range w.slot {
		m.atProcessor(w, i)
		m.atClub(w, func(w *world) *booked { return &w.slot[i].club })
	}
	m.atClub(w, func(w *world) *booked { return &w.inPerson })
	if !w.settled() { // else the club system refuses it
		m.atClub(w, func(w *world) *booked { return &w.deferred })
	}
}

func (m *machine) atClub(world *world, of func(*world) *booked) {
	next := *world
	if b := of(&next); b.late > 0 {
		b.late--
		b.add()
		m.emit(next, "The club system books a POST that was on its way", delayed)
	}
}

func (m *machine) atProcessor(world *world, i int) {
	apply := func(what string, change func(*slot)) {
		next := *world
		change(&next.slot[i])
		m.emit(next, what, delayed)
	}
	there := &world.slot[i]
	if there.lateCapture {
		apply("The processor carries out a capture that was on its way", func(s *slot) { s.held = capturedThere })
	}
	if there.lateCancel {
		apply("The processor carries out a cancellation that was on its way", func(s *slot) { s.held = cancelledThere })
	}
	if there.lateRefund {
		apply("The processor carries out a refund that was on its way", func(s *slot) { s.held = m.asked() })
	}
	if there.held == refundPendingThere {
		apply("The pending refund succeeds", func(s *slot) { s.held = refundedThere })
		if world.left.refundsFail > 0 {
			next := *world
			spend(&next.left.refundsFail)
			next.slot[i].held = capturedThere
			next.slot[i].failed++
			m.fault(next, "The pending refund fails")
		}
	}
	for n := range there.journal {
		if there.journal[n].late != 0 {
			apply("The processor writes a claim that was on its way", func(s *slot) {
				e := &s.journal[n]
				e.attempt, e.late, e.keyed = e.late, 0, true
			})
		}
	}
}

// asked is the state of a payment at the processor once a refund was requested.
func (m *machine) asked() held {
	if m.cfg.RefundsFail > 0 {
		return refundPendingThere
	}
	return refundedThere
}

// tidy drops what can no longer happen: a request in transit that will be refused when it arrives.
func (s *slot) tidy() {
	s.lateCapture = s.lateCapture && s.held == authorisedThere
	s.lateCancel = s.lateCancel && s.held.open()
	s.lateRefund = s.lateRefund && s.held == capturedThere
	for n := range s.journal {
		if e := &s.journal[n]; e.keyed {
			e.late = 0
		}
	}
}

// faults are the faults that the budgets allow.
func (m *machine) faults(world *world) {
	for i := range world.process {
		process := &world.process[i]
		m.replica = i
		if process.at != idle && world.left.crashes > 0 {
			next := world.idle(i)
			spend(&next.left.crashes)
			m.fault(next, "dies and starts again")
		}
		if process.timed() && world.left.sleeps > 0 {
			next := *world
			next.process[i].stale = true
			spend(&next.left.sleeps)
			m.fault(next, "sleeps for longer than its claim and its lease last")
		}
	}
	m.replica = noReplica
	m.rollback(world)
	m.wipe(world)
	m.day(world)
}

// day makes the processor forget its keys. By then every call outside record has reached its deadline,
// and every request in transit has arrived or never will.
func (m *machine) day(world *world) {
	for i := range world.process {
		if p := &world.process[i]; p.at != idle && !p.stale {
			return
		}
	}
	if world.left.days == 0 {
		return
	}
	next := *world
	spend(&next.left.days)
	next.key, next.errors = [slots]uint8{}, [slots]serverErrors{}
	next.inPerson.late, next.deferred.late = 0, 0
	for i := range next.slot {
		s := &next.slot[i]
		s.lateCapture, s.lateCancel, s.lateRefund, s.club.late = false, false, false, 0
		for n := range s.journal {
			s.journal[n].keyed, s.journal[n].late = false, 0
		}
	}
	m.fault(next, "A day passes: the processor forgets its idempotency keys")
}

// dayPassed reports whether the registration is too old to be paid.
func (m *machine) dayPassed(w *world) bool { return int(w.left.days) < m.cfg.Days }

// maxLate is how many POSTs of a kind may be in transit without a response: one more than the protocol ever has.
const maxLate = 2

// book executes a POST at the club system, which refuses to defer or to validate a recorded sale, and never refuses a payment.
func (w *world) book(record record) (taken bool) {
	if record.method == Deferred && w.settled() {
		return false
	}
	w.booked(record).add()
	return true
}

// add counts one more POST; two is one too many, and more are not distinguished.
func (b *booked) add() { b.applied = min(b.applied+1, 2) }
