// Package protocol says what to do next with a payment, and what to write about it. It is pure: it has no context, clock,
// network or Redis. Next is called with the record, with facts, and with the time. It answers with one action, which package
// payment performs and whose outcome becomes a fact; or with a change, which package payment commits. Then it is called again.
//
// docs/explanation/exactly-once.md explains the rules, in the order of these files:
//
//   - protocol.go: Next, which has one function for each state, and Transition, which makes each change.
//     fact.go: what can be known. limit.go and pause.go: every limit with its reason, and how long a payment waits.
//   - buyer.go: whether the processor has the agreed payment (present, asked in every open state), up to the authorisation, and
//     the cancellation.
//   - capture.go: the check of the sale, and the capture. brake.go: what the brake holds back, and what it counts.
//   - record.go: the one POST, and when a payment becomes in doubt. journal.go and terms.go: what the processor's metadata says.
//   - refund.go: when the money is refunded, and how.
//   - doubt.go: how a doubt ends.
//   - after.go: what contradicts a payment that has ended, and how a block ends.
//   - prove.go: what the processor's payment proves if Redis has lost the record, and which payment of a sale counts.
//   - decide.go: what an operator may decide.
//
// The words:
//
//   - payment: one try to pay for a sale. generation: its number among those of its registration; the next begins only after
//     this one was read back as cancelled.
//   - record: what Redis has of a payment. To record a payment is something else: the club system books it, after one POST.
//   - claim: the right to send that POST, written once into the payment's metadata at the processor (fd_post_n); numbers
//     grow, and nothing is overwritten. attempt: who holds a claim, a time and a random id. release: the holder gives a claim up
//     (fd_release_n, naming its attempt); claim n needs one of every earlier claim. A refund needs a claim too.
//   - action: what to do next, one thing at a time. change: the next record, complete. turn: one answer of Next.
//   - wish: what a buyer, an event or the schedule asks for. decision: an operator's.
//   - journal: claims, releases and acceptances (fd_done_n) at the processor; it outlives Redis.
//   - lease: how long one process owns a payment that is sending, by Redis' clock. owner: that process.
//   - fact: what was asked, seen or done, with its moment. reading: what another system showed at one moment. evidence: the
//     readings of the sale, the contact's status and debt, which a doubt keeps.
//   - doubt: it is not known whether the club system recorded the payment; only the journal, the rule or an operator ends it.
//     rule: a calibrated conclusion from evidence. finding: what contradicts a recorded payment.
//   - duplicate: another payment of the sale counts instead, because it holds the money or held it.
//   - settled: a sale that the club system counts as paid, whatever paid it. A payment can also be settled by hand, by staff.
//   - brake, probe: while the club system records nothing, one payment at a time tries.
//   - missing: the processor does not have the payment, perhaps because of a wrong key.
//   - used-up key: it replays a server error; the payment is read back, then the next key is used.
package protocol

import (
	"slices"
	"time"

	"frontdesk/flows"
)

// Kind is what is done. The list is closed.
type Kind string

// The kinds. Each but the first two calls another system or reads a record, and ends as a fact.
const (
	Wait   Kind = "wait"   // nothing, for Action.For
	Refuse Kind = "refuse" // the operator's decision; Action.Err says why

	Read         Kind = "read"          // the processor's payment
	Search       Kind = "search"        // the processor's list since Action.Since, for what a creation may have made
	CheckSale    Kind = "check_sale"    // the sale and its check, with the contact's status and debt as far as they can be read soon
	Recheck      Kind = "recheck_sale"  // the sale and its check alone, once money is taken or a POST was sent
	ReadEvidence Kind = "read_evidence" // as CheckSale, with the calibrated rule
	ReadSale     Kind = "read_sale"     // the sale alone, with the calibrated rule. This and the next two delay no buyer's reads
	ReadCheck    Kind = "read_check"    // the sale's check
	ReadDebt     Kind = "read_debt"     // what the sale's contact owes
	ReadLatest   Kind = "read_latest"   // the latest payment of the registration
	AskAccepted  Kind = "ask_accepted"  // when the club system last accepted a payment of the organisation
	AskBrake     Kind = "ask_brake"     // whether the organisation's brake lets the payment pass; it may become the probe

	Create  Kind = "create"
	Capture Kind = "capture"
	Cancel  Kind = "cancel"
	Refund  Kind = "refund"

	Claim      Kind = "claim"   // writes fd_post_n. The claim of a POST is refused once Facts.Late
	Post       Kind = "post"    // the one request that records the payment, after Action.For; refused once Facts.Late, at its first byte
	Release    Kind = "release" // writes fd_release_n
	Acceptance Kind = "journal" // writes fd_done_n

	// ReleaseByOperator writes fd_release_n for the claim Action.Number of Action.Attempt, and that an operator decided so. Before the
	// first claim, Number is 0, and only the decision is written.
	ReleaseByOperator Kind = "release_by_operator"
)

// Action is what to do now.
type Action struct {
	Kind  Kind
	For   time.Duration // of Wait: until the next Advance; zero: until something is asked. Of Post: before it is sent
	Err   error         // of Wait: of the call that failed. It is passed on, and never read here
	Since time.Time     // of Search

	Number  int    // of ReleaseByOperator
	Attempt string // of ReleaseByOperator
}

// Change is what to write: the next record, complete. It is written by compare-and-set on the record before.
type Change struct {
	Record          flows.Payment
	Lease           time.Duration // how long this process owns the payment afterwards
	LeaseExpiredFor time.Duration // only if another process' lease has been over for so long
	First           Kind          // Release: written before the commit; if that fails, see Owed
	Then            Kind          // Acceptance: written after the commit, and by an owner even if that fails: it is true
}

// Owed returns the change with a note that the release before it could not be written.
func (c Change) Owed() *Change {
	c.Record.ReleasePending = true
	return &c
}

// Next says what to do now with a payment, or what to write about it; the change is nil while there is something to do. It is
// called again with the facts that an action gives, and with the record that a change makes.
func Next(payment *flows.Payment, facts Facts, now time.Time) (Action, *Change) {
	d := turn{p: payment, f: facts, now: now}
	if s := facts.Sale; s != nil && Expired(now, s.At, FreshSale) { // the process slept, and staff may have acted
		d.f.Sale = nil
	}
	if facts.Foreign != nil { // perhaps these are not our payments: then nothing that the processor shows is about them
		return failed(facts.Foreign)
	}
	switch {
	case facts.Outranked != "":
		return d.yield()
	case facts.Decision != nil:
		return d.decide()
	}
	if action, change, done := d.present(); done {
		return action, change
	}
	switch payment.State {
	case flows.Priced:
		if payment.HasProcessor() {
			return d.create()
		}
		return d.prepareWithoutProcessor()
	case flows.Intent:
		return d.awaitBuyer()
	case flows.Cancelling:
		return d.cancel()
	case flows.Authorised:
		return d.checkSale()
	case flows.Capturing:
		return d.capture()
	case flows.Captured:
		return d.prepare()
	case flows.Sending:
		return d.record()
	case flows.RefundDue:
		return d.prepareRefund()
	case flows.Refunding:
		return d.refund()
	case flows.InDoubt:
		return d.resolve()
	case flows.Recorded:
		return d.verify()
	case flows.Refunded, flows.Cancelled:
		return d.watch()
	case flows.Blocked:
		return d.blocked()
	}
	return wait(0)
}

// turn is one call of Next.
type turn struct {
	p   *flows.Payment
	f   Facts
	now time.Time
}

func act(kind Kind) (Action, *Change)            { return Action{Kind: kind}, nil }
func wait(pause time.Duration) (Action, *Change) { return Action{Kind: Wait, For: pause}, nil }
func failed(err error) (Action, *Change)         { return Action{Kind: Wait, For: PollEvery, Err: err}, nil }

// keep changes the record alone.
func (d turn) keep(next flows.Payment) (Action, *Change) { return d.write(next, d.p.State, d.p.Reason) }

// to moves the payment to a state, and changes nothing else.
func (d turn) to(state flows.PaymentState, reason string) (Action, *Change) {
	return d.write(*d.p, state, reason)
}

func (d turn) write(next flows.Payment, to flows.PaymentState, reason string) (Action, *Change) {
	return Action{}, Transition(d.p, next, to, reason, flows.Decision{}, d.now)
}

// Transition is the only place that changes the state of a stored payment; Prove and Duplicate make new records. next is the record
// with the fields that a rule changed. The same state for the same reason counts as no transition. The decision is an operator's or the
// rule's; empty: the machine's.
func Transition(payment *flows.Payment, next flows.Payment, to flows.PaymentState, reason string, by flows.Decision,
	now time.Time) *Change {
	change := &Change{Record: next}
	r := &change.Record
	now = now.Round(0) // as it is read from Redis: only the wall clock sees a suspended machine
	if payment.State != to || payment.Reason != reason {
		history := payment.History
		if len(history) == 0 {
			history = []flows.Transition{{State: payment.State, At: payment.UpdatedAt, Reason: payment.Reason}}
		}
		history = append(slices.Clip(history), flows.Transition{
			State:          to,
			At:             now,
			Reason:         reason,
			Operator:       by.Operator,
			OperatorReason: by.Reason,
		})
		r.History = history[max(0, len(history)-flows.MaxHistory):]
		if to == flows.InDoubt && payment.State != flows.InDoubt && (payment.State != flows.Blocked || payment.DoubtSince.IsZero()) {
			r.DoubtSince = now
		}
		r.State, r.Reason, r.UpdatedAt = to, reason, now
	}
	if to != payment.State && payment.Processing {
		r.Processing = false // what the bank decided about ended with the state before
	}
	if to.Final() { // a final record holds nothing that leads to a person
		r.Payer, r.Desk, r.Contact, r.MissingSince = nil, nil, "", time.Time{}
	}
	return change
}
