package model

import "frontdesk/flows/payment/protocol"

// This file is an operator's decisions. The protocol says what a decision leads to, and when it must wait.

// operator is a person with access to the club system who tells the truth: what is booked there was recorded, and nothing else was.
// Without a processor, the protocol does not limit how often a payment is sent again; the configuration does.
func (m *machine) operator(w *world, i int) {
	r := w.redis
	if w.left.operator == 0 || r.state != inDoubt && !r.refundFailed && !r.missing || r.method == ByCard && r.slot == 0 {
		return
	}
	choices := []protocol.Choice{protocol.GiveBack, protocol.CallOff, protocol.SendAgain}
	switch {
	case w.booked(r).applied > 0 || w.byHand:
		choices = []protocol.Choice{protocol.ConfirmRecorded}
	case r.slot == 0 && (int(r.claim) >= m.cfg.Claims || w.desk != never):
		choices = choices[:2]
	}
	t := turn{
		machine: m,
		i:       i,
		from:    w,
		w:       *w,
		r:       r,
		how:     fault,
	}
	spend(&t.w.left.operator)
	for _, choice := range choices {
		t.f = facts{decision: choice, aged: m.aged(w, r)}
		t.follow()
	}
}

// aged are the attempts that are so old that nothing of them can arrive: their process found the gate closed, and no POST of them
// is in transit.
func (m *machine) aged(w *world, r record) attempts {
	if w.booked(r).late > 0 {
		return 0
	}
	old := allAttempts
	for i := range w.process {
		if p := &w.process[i]; p.recording() {
			old &^= 1 << p.rec.attempt
		}
	}
	return old
}

// decide continues a decision for which the claim is to be released. What is committed afterwards is known before, so the process
// remembers that.
func (t turn) decide(a answer) {
	t.f.release, t.f.response = protocol.Done, t.f.remote
	if a.rec.claim > 0 {
		t.f.response.journal[a.rec.claim-1].release = a.rec.attempt
	}
	if decided := t.ask(t.r, t.f); decided.kind == "" {
		decided.rec.version = t.r.version
		t.emit(t.w.then(t.i, toSettle, decided.rec), "gets an operator's decision, and is about to release the claim", t.how)
	}
}

// settle releases the claim by the operator's decision, which is then committed, unless the journal shows another release.
func (m *machine) settle(w *world, i int) {
	there, r := *w, w.process[i].rec
	s := there.of(r)
	s.byOperator = m.cfg.Desk
	known := remote{slot: r.slot, held: capturedThere}
	if r.claim > 0 {
		if e := &s.journal[r.claim-1]; e.release == 0 {
			e.release = r.attempt
		}
		known.journal[r.claim-1].attempt = r.attempt
	}
	read := r
	read.state = inDoubt
	choice := protocol.GiveBack
	if r.state == captured {
		choice = protocol.SendAgain
	}
	a := m.ask(read, facts{
		decision: choice,
		aged:     allAttempts,
		latest:   true,
		sale:     saleAgreed,
		remote:   known,
		release:  protocol.Done,
		response: there.reading(r.slot),
	})
	if a.kind != "" {
		m.normal(there.idle(i), "drops the command: another release stands there, or an acceptance")
		return
	}
	m.normal(there.then(i, toDecide, r), "releases the claim for the operator")
	m.fault(there.idle(i), "releases the claim for the operator, the answer is lost")
	m.fault(w.idle(i), "cannot reach the processor: the command fails")
}
