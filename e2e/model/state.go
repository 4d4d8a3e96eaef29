package model

import (
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
)

// state is the state of a payment in Redis: its place in flows.PaymentStates. Zero: no payment.
type state uint8

const (
	noPayment state = iota
	priced
	intent
	authorised
	capturing
	captured
	sending
	recorded
	cancelling
	cancelled
	refundDue
	refunding
	refunded
	inDoubt
	blocked
	states
)

// name returns the state's name; empty for no payment.
func (s state) name() flows.PaymentState {
	if s == noPayment {
		return ""
	}
	return flows.PaymentStates[s-1]
}

// over reports whether no machine touches the payment any more.
func (s state) over() bool { return s == recorded || s == cancelled || s == refunded || s == blocked }

// attemptID is the random id of a claim (flows.Payment.AttemptID). Only equality matters, so ids are
// reused. The highest bit marks a refund's claim. 0: no attempt.
type attemptID uint8

// The purposes of a claim.
const (
	forPost       attemptID = 0
	forRefund     attemptID = 8
	maxAttemptIDs attemptID = 7 // of either purpose

	newPost   attemptID = 2 * (maxAttemptIDs + 1) // in an answer of the protocol: an id that nothing has
	newRefund attemptID = newPost + 1
)

func (p attemptID) refund() bool { return p > forRefund }

// record is what Redis holds of the registration: flows.Registration and its latest flows.Payment, as
// far as they affect anything. The earlier payments of a registration are over before the next one
// begins (registration.Service.begin).
type record struct {
	exists         bool // the registration is there; false after Redis was wiped
	generation     uint8
	method         Method
	state          state
	version        uint8
	slot           uint8     // Payment.ProcessorID: 1 or 2, 0 for none
	claim          uint8     // Payment.Claim
	attempt        attemptID // Payment.AttemptID
	releasePending bool      // Payment.ReleasePending
	declined       bool      // Payment.DeclineCode is set
	seen           bool      // the sale was read as agreed within the last minute (Payer.ReadAt); kept only where staff may act
	failed         uint8     // refunds that had failed when an operator asked for another (Payment.FailedRefunds)
	refundFailed   bool      // it is blocked because the refund failed
	missing        bool      // the processor seemed not to have it (Payment.MissingSince), so that its block lifts itself
	absent         bool      // it is blocked for that reason
	doubted        bool      // it was in doubt or blocked before, or Redis forgot whether; kept only where staff may act
	used           uint8     // Payment.UsedKeys
	onHold         bool      // Payment.OnHold
	verdict        verdict   // Payment.SaleVerdict; kept only where something else may accept a POST
	rebuilt        bool      // from the processor, which knows neither buyer nor cart, so that no further payment can be started
}

// verdict is what a reading of the sale said about a recorded payment.
type verdict uint8

const (
	unread verdict = iota
	settledAfter
	unsettled // operators are shown it
)

const maxVersion = 31 // the largest five-bit number, and twice the highest version ever reached

// live mirrors flows.Payment.Live.
func (r record) live() bool {
	return r.state != noPayment && r.state != cancelled && r.state != refunded
}

// at is the remote effect that a replica is about to cause. A turn of the loop in Advance is one step,
// so only the effects of work that takes several are listed.
type at uint8

const (
	idle      at = iota // nothing in progress
	toRebuild           // the rebuilt record is about to be stored
	toSettle            // an operator's decision: the release is about to be written
	toDecide            // an operator's decision: the commit
	// The replica that captured continues with the capture's response at hand.
	toRefund  // the refund, with the response to its claim
	toKeep    // the commit of the capture; it still has the record from before
	toPrepare // the move to sending
	// From here on the process owns the payment.
	toLook    // the journal is about to be read
	toClaim   // the claim, with a reading that shows it free
	toSend    // the POST
	toInquire // the sale is about to be read, after a rejection
	toRelease // the release before the commit of the outcome
	toEnd     // the commit of the outcome
	toAccept  // the commit of an acceptance, to be journaled afterwards
	toJournal // the acceptance; the lease no longer matters
)

// process is what a replica is doing, and what it remembers. A dead or idle one remembers nothing.
type process struct {
	at at
	// stale means that much time has passed since it captured, or moved the payment to sending: more than claimLife,
	// than the lease with its grace, and than an operator must wait.
	stale bool
	rec   record // what it will commit; the version is still the one that it expects to find
}

// recording reports whether the process is recording a payment and its lease is not over.
func (p *process) recording() bool { return p.at >= toLook && p.at <= toAccept && !p.stale }

// timed reports whether the process is doing work that can expire.
func (p *process) timed() bool { return p.at >= toKeep && p.at <= toAccept && !p.stale }

// written is the processor's journal under one claim's number.
type written struct {
	attempt attemptID // fd_post_n
	release attemptID // fd_release_n
	done    bool      // fd_done_n
}

// entry is what is written under one claim's number, and what may still be.
type entry struct {
	written
	late  attemptID // a claim that was sent and may still be applied
	keyed bool      // the processor still knows the idempotency key of the claim that it applied
}

// held is the state of a payment at the processor, cards.State.
type held uint8

const (
	unknownThere held = iota // not created
	requiresAction
	declinedThere
	authorisedThere
	capturedThere
	cancelledThere
	refundPendingThere
	refundedThere
)

var heldNames = [...]string{"nothing", "requires_action", "declined", "authorised", "captured", "cancelled", "refund pending", "refunded"}

// open reports whether the payment can still be cancelled there.
func (h held) open() bool { return h == requiresAction || h == declinedThere || h == authorisedThere }

const maxClaims = 3 // the largest number of claims that a world has room for, a refund's included

// slot is one payment at the card processor, and what the club system did with the POSTs sent for it.
type slot struct {
	generation  uint8 // metadata fd_generation
	held        held
	lateCapture bool // sent, and may still be applied
	lateCancel  bool
	lateRefund  bool
	failed      uint8 // refunds that failed after they were pending
	byOperator  bool  // an operator released a claim; kept only where staff may act
	journal     [maxClaims]entry
	club        booked
}

// as is the payment once it is held in another way.
func (s slot) as(h held) slot {
	s.held = h
	return s
}

// booked counts POSTs at the club system.
type booked struct {
	applied uint8
	late    uint8 // sent, and may still be applied
}

// The bounds of a world's layout.
const (
	maxReplicas = 3
	maxBackups  = 3
	slots       = 2
)

const refusedKey = slots + 1 // the processor will never create the payment of a generation

// budget is how often each fault may still happen, and how often an operator may still act.
type budget struct {
	crashes, rollbacks, wipes, sleeps, days, operator, refundsFail, mislaid, desk, usedKeys, foreign uint8
}

// world is one state of everything: Redis, the replicas, the processor, the club system.
type world struct {
	redis    record
	backups  [maxBackups]record // earlier states that Redis will fall back to
	process  [maxReplicas]process
	slot     [slots]slot
	key      [slots]uint8 // by generation: the slot that the key of Cards.Create leads to, 0 for none, or refusedKey
	errors   [slots]serverErrors
	inPerson booked // POSTs for payments at the desk
	deferred booked // deferrals, and validations of free sales
	desk     moment // when the club's staff settled the sale
	byHand   bool   // they recorded our payment, which was blocked, as the operators' page tells them to
	// collided: staff and an attempt settled the sale within the same minute, which no reading prevents.
	collided bool
	fooled   bool // something else accepted a POST, and booked nothing
	braked   bool // the brake holds
	caused   bool // something happened that makes a doubt; kept only where doubts need a cause
	left     budget
}

// serverErrors are the keys of a generation that replay a server error: by call, a bit for each number of a key.
type serverErrors [4]uint8

func (e *serverErrors) of(call protocol.Kind) *uint8 {
	return &e[slices.Index([]protocol.Kind{protocol.Create, protocol.Capture, protocol.Cancel, protocol.Refund}, call)]
}

// moment is how long ago something happened.
type moment uint8

const (
	never   moment = iota
	justNow        // within the last minute
	longAgo
)

// settled reports whether the sale reads as settled, by any payer.
func (w *world) settled() bool { return w.applied() > 0 || w.desk != never }

// of returns the processor's payment of a record, nil when it has none.
func (w *world) of(record record) *slot {
	if record.slot == 0 {
		return nil
	}
	return &w.slot[record.slot-1]
}

// booked returns where the POSTs for a record are counted.
func (w *world) booked(record record) *booked {
	switch record.method {
	case Deferred:
		return &w.deferred
	case InPerson:
		return &w.inPerson
	default:
		return &w.of(record).club
	}
}

// applied returns how many POSTs the club system executed for the sale.
func (w *world) applied() uint8 {
	n := w.inPerson.applied + w.deferred.applied
	for i := range w.slot {
		n += w.slot[i].club.applied
	}
	return n
}

// owned reports whether the lease of a payment in sending is still valid.
func (w *world) owned(p attemptID) bool {
	return slices.ContainsFunc(w.process[:], func(other process) bool { return other.recording() && other.rec.attempt == p })
}

// attemptIDs returns pointers to every attempt id of the world, in an order that depends on the world alone.
func (w *world) attemptIDs() (ids [1 + slots*maxClaims*3 + maxReplicas + maxBackups]*attemptID) {
	at := 0
	for _, r := range w.records() {
		ids[at] = &r.attempt
		at++
	}
	for i := range w.slot {
		for n := range w.slot[i].journal {
			e := &w.slot[i].journal[n]
			ids[at], ids[at+1], ids[at+2] = &e.attempt, &e.release, &e.late
			at += 3
		}
	}
	return ids
}

// newAttemptID returns an attempt id that nothing refers to, as uuid.NewString does.
func (w *world) newAttemptID(purpose attemptID) attemptID {
	used := uint32(0)
	for _, id := range w.attemptIDs() {
		used |= 1 << *id
	}
	for p := purpose + 1; p <= purpose+maxAttemptIDs; p++ {
		if used&(1<<p) == 0 {
			return p
		}
	}
	panic("model: too many post ids are in use")
}

// then is the world with a process about to cause its next effect.
func (w *world) then(i int, at at, record record) world {
	next := *w
	next.process[i].at, next.process[i].rec = at, record
	return next
}

// idle is the world in which a process has ended.
func (w *world) idle(i int) world {
	next := *w
	next.process[i] = process{}
	return next
}
