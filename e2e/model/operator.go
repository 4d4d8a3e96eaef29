package model

import "frontdesk/flows/payment/protocol"

// This file is an operator's decisions. The protocol says what a decision leads to, and when it must wait.

// operator is a person with access to the club system who tells the truth: what is booked there was recorded, and nothing else was.
// Without a processor, the protocol does not limit how often a payment is sent again; the configuration does.
func (m *machine) operator(world *world, i int) {
	record := world.redis
	if world.left.operator == 0 || record.state != inDoubt && !record.refundFailed && !record.missing ||
		record.method == ByCard && record.slot == 0 {
		return
	}
	choices := []protocol.Choice{protocol.GiveBack, protocol.CallOff, protocol.SendAgain}
	switch {
	case world.booked(record).applied > 0 || world.byHand:
		choices = []protocol.Choice{protocol.ConfirmRecorded}
	case record.slot == 0 && (int(record.claim) >= m.cfg.Claims || world.desk != never):
		choices = choices[:2]
	}
	move := turn{
		machine: m,
		i:       i,
		from:    world,
		w:       *world,
		r:       record,
		how:     fault,
	}
	spend(&move.w.left.operator)
	for _, choice := range choices {
		move.f = facts{decision: choice, aged: m.aged(world, record)}
		move.follow()
	}
}

// aged are the attempts that are so old that nothing of them can arrive: their process found the gate closed, and no POST of them
// is in transit.
func (m *machine) aged(world *world, record record) attempts {
	if world.booked(record).late > 0 {
		return 0
	}
	old := allAttempts
	for i := range world.process {
		if p := &world.process[i]; p.recording() {
			old &^= 1 << p.rec.attempt
		}
	}
	return old
}

// decide continues a decision for which the claim is to be released. What is committed afterwards is known before, so the process
// remembers that.
func (t turn) decide(answer answer) {
	t.f.release, t.f.response = protocol.Done, t.f.remote
	if answer.rec.claim > 0 {
		t.f.response.journal[answer.rec.claim-1].release = answer.rec.attempt
	}
	if decided := t.ask(t.r, t.f); decided.kind == "" {
		decided.rec.version = t.r.version
		t.emit(t.w.then(t.i, toSettle, decided.rec), "gets an operator's decision, and is about to release the claim", t.how)
	}
}

// settle releases the claim by the operator's decision, which is then committed, unless the journal shows another release.
func (m *machine) settle(world *world, i int) {
	there, record := *world, world.process[i].rec
	s := there.of(record)
	s.byOperator = m.cfg.Desk
	known := remote{slot: record.slot, held: capturedThere}
	if record.claim > 0 {
		if e := &s.journal[record.claim-1]; e.release == 0 {
			e.release = record.attempt
		}
		known.journal[record.claim-1].attempt = record.attempt
	}
	read := record
	read.state = inDoubt
	choice := protocol.GiveBack
	if record.state == captured {
		choice = protocol.SendAgain
	}
	answer := m.ask(read, facts{
		decision: choice,
		aged:     allAttempts,
		latest:   true,
		sale:     saleAgreed,
		remote:   known,
		release:  protocol.Done,
		response: there.reading(record.slot),
	})
	if answer.kind != "" {
		m.normal(there.idle(i), "drops the command: another release stands there, or an acceptance")
		return
	}
	m.normal(there.then(i, toDecide, record), "releases the claim for the operator")
	m.fault(there.idle(i), "releases the claim for the operator, the answer is lost")
	m.fault(world.idle(i), "cannot reach the processor: the command fails")
}
