package model

import (
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// This file drives the protocol: it does what the loop in Machine.advance does, in every way in which that can end.

// turn is what a gateway does until it writes a record, waits, or has caused an effect that is a step of its own.
type turn struct {
	*machine
	i    int
	from *world
	p    bool  // it is a process that began before, and owns no payment
	w    world // with what was caused so far
	r    record
	f    facts
	how  kind
	what string // what was caused; empty: nothing
}

// drive is the turn of an idle gateway, with what its buyer may ask.
func (m *machine) drive(world *world) {
	record := world.redis
	move := turn{
		machine: m,
		i:       m.replica,
		from:    world,
		w:       *world,
		r:       record,
		f:       facts{old: m.dayPassed(world)},
	}
	switch record.state {
	case noPayment, cancelled, refunded:
		return // whether the processor keeps money after all is not modelled
	case recorded:
		move.f.verify = m.cfg.Foreign > 0
		if !move.f.verify {
			return
		}
	case sending:
		if world.owned(record.attempt) {
			return
		}
	case captured:
		m.mislay(move)
	case inDoubt:
		move.f.rule = m.cfg.Desk
		if m.cfg.Desk && !record.seen { // without staff, nothing calibrates a rule
			move.f.aged = allAttempts
		}
	}
	move.follow()
	if record.state == intent || record.state == priced && record.method != ByCard {
		move.f.giveUp, move.how = true, fault
		move.follow()
	}
}

// mislay lets the gateway have another account's key for half an hour. Processes with a lease end before.
func (m *machine) mislay(move turn) {
	if move.w.left.mislaid == 0 || slices.ContainsFunc(move.w.process[:], func(p process) bool { return p.timed() }) {
		return
	}
	spend(&move.w.left.mislaid)
	if move.w.desk == justNow {
		move.w.desk = longAgo
	}
	move.r.missing, move.r.seen, move.how = true, false, fault
	move.f.remote = remote{slot: move.r.slot, absent: true}
	move.follow()
}

// proceed continues a process. What it read and what it claimed is as it was then: the claim was free or its own, and the money
// captured.
func (m *machine) proceed(world *world, i int) {
	process := world.process[i]
	record := process.rec
	move := turn{
		machine: m,
		i:       i,
		from:    world,
		p:       true,
		w:       world.idle(i),
		r:       record,
		f:       facts{slept: process.stale, owner: record.state == sending},
	}
	known := remote{slot: record.slot, before: true, held: capturedThere, failed: record.failed}
	if record.claim > 0 && record.slot > 0 {
		for n := range record.claim - 1 {
			known.journal[n] = world.of(record).journal[n].written
		}
	}
	switch process.at {
	case toKeep:
		move.f.call, move.f.response, move.f.remote = protocol.Done, known, known
	case toPrepare, toClaim:
		move.f.remote = known
	case toRefund, toSend, toInquire:
		move.f.remote = known
		if record.slot > 0 {
			known.journal[record.claim-1].attempt = record.attempt
			move.f.claim, move.f.response = protocol.Done, known
		}
		if process.at == toInquire {
			move.f.post = club.Rejected
		}
	}
	move.follow()
}

// pause ends a step of the process that owns the payment: what it does next can come at any time.
func (t turn) pause(how kind, what string) {
	p := t.owner()
	if p.rec.state == inDoubt && t.causeless() {
		t.wrong(t.w, what, NeedlessDoubt)
	}
	t.w.process[t.i] = p
	t.emit(t.w, what, max(t.how, how))
}

// owner is the process that owns the payment, about to do what the protocol says next.
func (t turn) owner() process {
	answer := t.ask(t.r, t.f)
	process := process{rec: t.r, stale: t.f.slept}
	switch answer.kind {
	case protocol.Read:
		process.at = toLook
	case protocol.Claim:
		process.at = toClaim
	case protocol.Post:
		process.at = toSend
	case protocol.Recheck:
		process.at = toInquire
	case "":
		process.rec, process.at = answer.rec, toEnd
		process.rec.version = t.r.version
		switch {
		case answer.first:
			process.at = toRelease
		case answer.then:
			process.at = toAccept
		}
	}
	return process
}

// follow does what the protocol says next.
func (t turn) follow() {
	answer := t.ask(t.r, t.f)
	switch answer.kind {
	case "":
		t.write(answer)
		return
	case protocol.Wait, protocol.Refuse:
		t.wait()
		return
	case protocol.ReleaseByOperator:
		t.decide(answer)
		return
	case protocol.CheckSale, protocol.Recheck, protocol.ReadEvidence, protocol.ReadSale:
		t.readSale(answer.kind == protocol.Recheck)
		return
	case protocol.Create:
		t.create()
		return
	case protocol.Capture:
		t.capture()
		return
	case protocol.Cancel:
		t.cancel()
		return
	case protocol.Claim:
		t.claim()
		return
	case protocol.Post:
		t.post()
		return
	case protocol.Release:
		t.release()
		return
	case protocol.Refund:
		t.refund()
		return
	case protocol.Read:
		t.f.remote = t.w.reading(t.r.slot)
		if t.f.owner {
			t.pause(normal, "reads the journal")
			t.f.remote = remote{slot: t.r.slot, absent: true}
			t.pause(fault, "cannot reach the processor before the claim")
			return
		}
	case protocol.Search:
		t.f.listed = t.w.created(t.r.generation)
		if t.f.listed == 0 {
			t.f.listed = unlisted
		} else {
			t.f.response = t.w.reading(t.f.listed)
		}
	case protocol.ReadLatest:
		t.f.latest = true // Redis has one payment
	case protocol.AskBrake:
		t.f.brake = passes
		if t.w.braked {
			t.f.brake = holds
		}
	default:
		panic("model: the protocol says " + string(answer.kind))
	}
	t.follow()
}

// causeless reports whether nothing happened that makes a doubt.
func (t turn) causeless() bool { return t.cfg.Causes && !t.w.caused }

// wait ends the turn, without a commit. A process forgets what it read.
func (t turn) wait() {
	if t.p && t.what == "" {
		t.what = "waits"
	}
	if t.what != "" && t.w != *t.from {
		t.emit(t.w, t.what, t.how)
	}
}

// write commits a change by compare-and-set. One that only notes a younger reading of the sale is not a step: versions would grow
// without end. The gateway that captured continues with the response at hand, and the one that moved the payment to sending owns it.
func (t turn) write(answer answer) {
	switch answer.rec.attempt {
	case newPost:
		answer.rec.attempt = t.w.newAttemptID(forPost)
	case newRefund:
		answer.rec.attempt = t.w.newAttemptID(forRefund)
	}
	answer.rec.version = t.r.version
	renewed := t.r
	renewed.seen = answer.rec.seen
	switch {
	case t.f.owner:
		t.pause(normal, answer.what)
		return
	case t.f.decision != "" && t.r.state == inDoubt:
		t.emit(t.w.then(t.i, toDecide, answer.rec), "gets an operator's decision: "+answer.what, t.how)
		return
	case answer.rec == t.r && !answer.lease:
		t.wait()
		return
	case answer.rec == renewed && !answer.lease:
		t.r, t.f.sale = answer.rec, saleUnseen
		t.follow()
		return
	}
	what := answer.what
	if t.what != "" {
		what = t.what + ", and " + what
	}
	if now := t.w.redis; t.p && !now.is(t.r) {
		t.normal(t.w, "commits nothing, as another process moved the payment")
		overtaken := protocol.Facts{Remote: &protocol.Remote{}}.Overtaken(t.r.state.name(),
			&protocol.Change{Record: flows.Payment{State: answer.rec.state.name()}}, &flows.Payment{State: now.state.name()})
		if overtaken.Remote != nil && now.state == captured && now.generation == t.r.generation {
			t.w.process[t.i] = process{at: toPrepare, stale: t.f.slept, rec: now}
			t.normal(t.w, "finds the capture committed by another process, and continues")
		}
		return
	}
	if t.r.state == inDoubt && answer.rec.state == refundDue && t.f.decision == "" {
		t.wrong(t.w, what, RefundUnbidden) // only the process that records, which knows the outcome, and an operator say so
	}
	if t.f.sale != saleUnseen && t.r.state == inDoubt && answer.rec.state == recorded { // no reading tells this from what staff just did
		t.w.collided = t.w.collided || t.w.desk == justNow && t.w.maybeSent(t.r)
	}
	if answer.rec.state == inDoubt && t.r.state != inDoubt && t.causeless() {
		t.wrong(t.w, what, NeedlessDoubt)
	}
	next, kept := t.w, answer.rec
	kept.version++
	switch {
	case answer.lease:
		if t.w.braked && t.r.method != Deferred {
			t.wrong(t.w, what, MovedWhileHeld)
		}
		dead := t.w
		dead.caused = t.cfg.Causes
		t.commit(dead, answer.rec, fault, what+", and dies")
		owner := t
		owner.r, owner.f = kept, facts{owner: true}
		if answer.keeps {
			owner.f.remote = t.f.remote
		}
		next.process[t.i] = owner.owner()
	case answer.then && answer.rec.claim > 0:
		next.process[t.i] = process{at: toJournal, rec: record{slot: answer.rec.slot, claim: answer.rec.claim}}
	case t.p && answer.keeps && answer.rec.state == captured:
		next.process[t.i] = process{at: toPrepare, stale: t.f.slept, rec: kept}
	}
	t.commit(next, answer.rec, t.how, what)
	if t.p {
		t.fault(t.w, "cannot reach Redis, so that nothing is committed")
	}
}

// called continues after a call to the processor.
func (t turn) called(call protocol.Kind, outcome protocol.Outcome, how kind, what string) {
	t.how, t.what = max(t.how, how), what
	t.f.call = outcome
	if outcome == protocol.Done && t.f.response.slot == 0 {
		t.f.response = t.w.reading(t.r.slot)
	}
	q := question{rec: t.r, facts: t.f}
	p := t.payment(q)
	full := q.shown(p)
	t.f.remote = (remote{})
	if full.Wrote(call, p, full.Call).Remote != nil {
		t.f.remote = t.f.response
	}
	t.follow()
}

// readSale reads the sale, or fails to. A journal that was read before may have grown until a sale is read again.
func (t turn) readSale(again bool) {
	there := t
	if again {
		there.f.remote = remote{}
	}
	there.f.sale = saleAgreed
	if t.w.settled() {
		there.f.sale = saleSettled
	}
	t.f.sale = saleUnreadable
	if t.f.owner {
		there.pause(normal, "reads the sale again")
		t.w.caused = t.cfg.Causes
		t.pause(fault, "cannot read the sale")
		return
	}
	there.follow()
	t.how = fault
	t.follow()
}

// create creates the payment. Its key leads every retry to the same payment, for as long as the processor knows the key.
func (t turn) create() {
	if t.replays(protocol.Create) {
		return
	}
	known := &t.w.key[t.r.generation-1]
	if *known == refusedKey {
		t.called(protocol.Create, protocol.Refused, normal, "is refused the creation again")
		return
	}
	if *known == 0 && t.w.created(t.r.generation) == 0 {
		there := t
		there.w.key[t.r.generation-1] = refusedKey
		there.called(protocol.Create, protocol.Refused, fault, "is refused the creation for good")
		there.called(protocol.Create, protocol.Failed, fault, "is refused the creation for good, and does not learn of it")
	}
	if *known == 0 {
		free := slices.IndexFunc(t.w.slot[:], func(s slot) bool { return s.held == unknownThere })
		if free < 0 {
			return // one more payment at the processor than a world has room for
		}
		created := slot{generation: t.r.generation, held: requiresAction}
		t.storesError(protocol.Create, free, created)
		*known = uint8(free + 1)
		t.w.slot[free] = created
	}
	t.f.response = t.w.reading(*known)
	t.called(protocol.Create, protocol.Done, normal, "creates the payment at the processor, or gets the one that is there")
	t.f.response = remote{}
	t.called(protocol.Create, protocol.Failed, fault, "creates the payment at the processor, and does not learn of it")
}

// capture takes the money. A repetition replays the earlier success, also on a payment that was refunded since.
func (t turn) capture() {
	if t.replays(protocol.Capture) {
		return
	}
	slot := &t.w.slot[t.r.slot-1]
	switch slot.held {
	case authorisedThere:
		if t.w.braked {
			t.wrong(t.w, "captures, although the brake holds", MovedWhileHeld)
		}
		if t.w.desk == longAgo {
			t.wrong(t.w, "captures, although staff settled the sale more than a minute ago", CapturedAfterDesk)
		}
		t.storesError(protocol.Capture, int(t.r.slot-1), slot.as(capturedThere))
		slot.held = capturedThere
		t.emit(t.w.then(t.i, toKeep, t.r), "captures", t.how)
		t.called(protocol.Capture, protocol.Failed, fault, "captures, and does not learn of it")
		slot.held = authorisedThere
		t.called(protocol.Capture, protocol.WrongState, fault, "is refused the capture")
		slot.lateCapture = true
		t.called(protocol.Capture, protocol.Failed, fault, "asks for the capture, which stays on its way")
	case capturedThere, refundPendingThere, refundedThere:
		t.f.response = remote{slot: t.r.slot, held: capturedThere, replayed: true}
		t.called(protocol.Capture, protocol.Done, normal, "captures, which was done before")
	default:
		t.called(protocol.Capture, protocol.WrongState, normal, "is refused the capture, without an authorisation")
	}
}

// cancel gives the payment up at the processor.
func (t turn) cancel() {
	if t.replays(protocol.Cancel) {
		return
	}
	slot := &t.w.slot[t.r.slot-1]
	before := slot.held
	if !before.open() && before != cancelledThere {
		t.called(protocol.Cancel, protocol.WrongState, normal, "cannot cancel what is captured or refunded")
		return
	}
	t.storesError(protocol.Cancel, int(t.r.slot-1), slot.as(cancelledThere))
	slot.held = cancelledThere
	t.called(protocol.Cancel, protocol.Done, normal, "cancels")
	if before.open() {
		t.called(protocol.Cancel, protocol.Failed, fault, "cancels, and does not learn of it")
		slot.held, slot.lateCancel = before, true
		t.called(protocol.Cancel, protocol.Failed, fault, "asks for the cancellation, which stays on its way")
	}
}

// claim writes a claim, of a POST or of a refund.
func (t turn) claim() {
	entry := &t.w.slot[t.r.slot-1].journal[t.r.claim-1]
	ended := func(outcome protocol.Outcome, how kind, what string) {
		next := t
		next.f.claim, next.how, next.what = outcome, max(t.how, how), what
		if outcome == protocol.Done {
			next.f.response = t.w.reading(t.r.slot)
		}
		switch {
		case t.f.owner:
			next.pause(how, what)
		case outcome == protocol.Done:
			next.emit(t.w.then(t.i, toRefund, t.r), what, next.how)
		default:
			next.follow()
		}
	}
	if entry.keyed && entry.attempt != t.r.attempt {
		ended(protocol.KeyReused, normal, "is refused the claim: another attempt holds it")
		return
	}
	before := *entry
	entry.attempt, entry.keyed = t.r.attempt, true
	ended(protocol.Done, normal, "writes the claim")
	ended(protocol.Failed, fault, "writes the claim, and never learns of it")
	*entry = before
	if t.f.owner {
		ended(protocol.Failed, fault, "cannot reach the processor: no claim is written")
	}
	entry.late = t.r.attempt
	ended(protocol.Failed, fault, "asks for the claim, which stays on its way")
}

// post is the POST, with every outcome that the club system's client distinguishes.
func (t turn) post() {
	ended := func(w world, outcome club.Outcome, how kind, what string) {
		next := t
		next.w, next.f.post = w, outcome
		next.pause(how, what)
	}
	if t.w.desk == longAgo && t.r.method != Deferred {
		t.wrong(t.w, "posts, although staff settled the sale more than a minute ago", PostedAfterDesk)
	}
	if t.w.left.foreign > 0 {
		fooled := t.w
		spend(&fooled.left.foreign)
		fooled.fooled = true
		ended(fooled, club.Accepted, fault, "posts; something in front of the club system accepts it, and books nothing")
	}
	if t.cfg.Quota {
		ended(t.w, club.Refused, fault, "posts; the API gateway refuses it until the next day")
	}
	certain := t.w
	t.w.caused = t.cfg.Causes
	there, rejection := t.w, normal
	there.collided = there.collided || t.w.desk == justNow
	if there.book(t.r) {
		rejection = fault
		ended(there, club.Accepted, normal, "posts; the club system accepts it")
		ended(there, club.Rejected, fault, "posts; the club system books it, and answers with a rejection")
		ended(there, club.Unknown, fault, "posts; the club system books it, the answer is lost")
		late := t.w
		if b := late.booked(t.r); b.late < maxLate {
			b.late++
			ended(late, club.Unknown, fault, "posts; the request stays on its way, without a response")
		}
	}
	ended(certain, club.Rejected, rejection, "posts; the club system rejects it")
	ended(certain, club.NotSent, fault, "is not let through, or sends nothing: refused, or not sent")
	ended(t.w, club.Unknown, fault, "posts; the request is lost, without a response")
}

// release writes a release that is owed, unless another one stands there.
func (t turn) release() {
	entry := &t.w.slot[t.r.slot-1].journal[t.r.claim-1]
	t.f.release = protocol.Done
	if entry.release != 0 {
		if entry.release != t.r.attempt && t.cfg.ReleaseInsists {
			t.emit(t.w, "is refused the release that is owed, since another one stands there, and will try again", normal)
			return
		}
		t.what = "finds that a release stands there"
		t.follow()
		return
	}
	entry.release = t.r.attempt
	t.what = "writes the release that is owed"
	t.follow()
	t.f.release, t.how, t.what = protocol.Failed, fault, t.what+", and does not learn of it"
	t.follow()
}

// refund gives the money back, or replays what an earlier call under the same key led to.
func (t turn) refund() {
	if t.replays(protocol.Refund) {
		return
	}
	slot := &t.w.slot[t.r.slot-1]
	if slot.held != capturedThere || slot.failed > t.r.failed {
		t.f.response = remote{slot: t.r.slot, held: max(slot.held, refundPendingThere), replayed: true}
		t.called(protocol.Refund, protocol.Done, normal, "refunds, which was done before")
		return
	}
	t.storesError(protocol.Refund, int(t.r.slot-1), slot.as(t.asked()))
	slot.held = t.asked()
	t.f.response = t.w.reading(t.r.slot)
	t.called(protocol.Refund, protocol.Done, normal, "asks for the refund")
	t.called(protocol.Refund, protocol.Failed, fault, "asks for the refund, and does not learn of it")
	slot.held, slot.lateRefund = capturedThere, true
	t.called(protocol.Refund, protocol.Failed, fault, "asks for the refund, which stays on its way")
}

// replays continues with the server error that a call's key replays, if there is one.
func (t turn) replays(call protocol.Kind) bool {
	if *t.w.errors[t.r.generation-1].of(call)&(1<<t.r.used) == 0 {
		return false
	}
	t.called(call, protocol.KeyUsedUp, normal, "gets a server error that its key replays")
	return true
}

// storesError has a call end with a server error, which its key replays from then on. Perhaps it had its effect: the n-th payment
// of the processor as it is then.
func (t turn) storesError(call protocol.Kind, n int, effect slot) {
	if t.w.left.usedKeys == 0 {
		return
	}
	spend(&t.w.left.usedKeys)
	*t.w.errors[t.r.generation-1].of(call) |= 1 << t.r.used
	t.called(call, protocol.KeyUsedUp, fault, "meets a server error, which its key will replay")
	t.w.slot[n] = effect
	t.called(call, protocol.KeyUsedUp, fault, "meets a server error after the effect, which its key will replay")
}

// maybeSent reports whether the latest attempt may have left for the club system.
func (w *world) maybeSent(record record) bool {
	if record.slot == 0 {
		return true
	}
	journal := question{}.reading(&flows.Payment{}, w.reading(record.slot)).Journal
	n, attempt := journal.Last()
	return n > 0 && !protocol.IsRefund(attempt) && !journal.Released(n)
}

// created returns the slot in which the processor holds a payment of a generation, 0 for none.
func (w *world) created(generation uint8) uint8 {
	return uint8(slices.IndexFunc(w.slot[:], func(s slot) bool { return s.held != unknownThere && s.generation == generation }) + 1)
}

// reading is what the processor shows of a payment.
func (w *world) reading(n uint8) remote {
	s := &w.slot[n-1]
	r := remote{slot: n, held: s.held, failed: s.failed, byOperator: s.byOperator}
	for i := range s.journal {
		r.journal[i] = s.journal[i].written
	}
	return r
}
