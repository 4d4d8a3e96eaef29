package protocol

import (
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Facts are what is known besides the record: what was asked, seen and done, each with its moment. Nil: not known. They belong
// to one Advance; what must outlive it is in the record.
type Facts struct {
	Wish    Wish
	Foreign error     // Redis may hold the payments of another account, organisation or mode; nil: it does not
	Owner   time.Time // when this process decided to send the payment, by both clocks; zero: it does not own it
	ID      string    // a random id that nothing has: of the attempt that may begin now
	// Outranked is the processor's id of the payment that counts for the sale instead of this one, which the processor was just
	// seen to have in the record's state; empty: none.
	Outranked string
	Decision  *Decision // of an operator; nil: none

	Remote *Remote // the processor's payment
	Listed *Listed // the processor's list
	Sale   *Sale
	Check  *Check
	Debt   *Debt
	Latest *Latest
	Brake  *Brake
	// Accepted is when the latest attempt began whose payment the organisation's club system accepted; a zero time: none.
	Accepted *time.Time
	Call     *Call // how the latest create, capture, cancel or refund ended

	Claim   *Call // how the claim was written. Its response can be an older one
	Release *Call // how the release was written: Done, too, if another process wrote one in its place
	Post    *Posted
}

// Late reports whether this process may no longer claim the right to send, nor send (the write gate): others may have acted since
// it moved the payment to sending. It may sleep at any line after that.
func (f Facts) Late(now time.Time) bool { return Expired(now, f.Owner, ClaimLife) }

// Latest is the latest payment of the registration.
type Latest struct {
	Payment *flows.Payment // nil: Redis knows of none, or its registration has expired
}

// Wish is what a person, an event or the schedule asks for. It has no effect in states that it does not concern.
type Wish string

// The wishes.
const (
	GiveUp Wish = "give_up" // the buyer no longer wants to pay; while nothing is captured
	Again  Wish = "again"   // the buyer makes another attempt after a decline
	Reread Wish = "reread"  // another system says that something happened: what it shows of a doubt or of a recorded payment is read
	Verify Wish = "verify"  // the verification of a recorded payment is due
)

// Remote is the processor's payment as it was when At.
type Remote struct {
	At time.Time // before the call that returned it
	By Kind      // that call, if it was one that moves money; empty: it was read
	cards.Payment
	Terms   Terms // of its metadata
	Journal Journal
	Ours    bool   // its metadata names this environment and organisation
	Signed  bool   // by a configured key
	Ended   bool   // an operator ended it while no key could verify it
	Absent  string // why it does not count as there: UnknownThere or ForeignThere; empty: it is there
	Err     error  // it could not be read, or is Absent
}

// The ways in which a payment is absent.
const (
	UnknownThere = "the processor does not know the payment"
	ForeignThere = "the processor has another program's payment under its id"
)

// HoldsAll reports whether the money is captured, and none of it was refunded or is about to be.
func (r *Remote) HoldsAll() bool {
	return r.State == cards.Captured && r.Refunded == 0 && r.Refunding == 0
}

// Names reports whether the metadata names the record's registration, whatever else it says.
func (r *Remote) Names(p *flows.Payment) bool {
	return r.Ours && r.Terms.Registration == p.Registration
}

// Listed is what the processor's list has of this registration and generation.
type Listed struct {
	Payment *Remote // nil: nothing
	Err     error
}

// Sale is a reading of the sale. Once it is older than FreshSale, Next no longer looks at it.
type Sale struct {
	At    time.Time // before the call that returned it
	Err   error     // it could not be read
	Gone  bool      // the club system does not find it; Err is set
	Busy  bool      // this gateway had too many calls in progress, and made none; Err is set
	Sale  club.Sale
	Check club.SaleCheck
	Seen  *flows.Evidence // of CheckSale and ReadEvidence; nil if it could not be read
	Rule  *flows.Rule     // of the environment, as it was then; nil: none
}

// Check is a reading of the check of a sale without a state.
type Check struct {
	Valid bool
	Err   error
}

// Debt is what the sale's contact owes.
type Debt struct {
	Total int64 // minor units
	Err   error
}

func (s *Sale) payer() *flows.Payer { return PayerOf(s.Sale, s.At) }

// PayerOf returns the payer of a sale, as it was read at an instant.
func PayerOf(sale club.Sale, readAt time.Time) *flows.Payer {
	return &flows.Payer{
		Contact:    sale.Contact,
		FamilyName: sale.FamilyName,
		GivenName:  sale.GivenName,
		Number:     sale.Number,
		ClubCode:   sale.ClubCode,
		Checkout:   sale.Checkout,
		ReadAt:     readAt.Round(0),
	}
}

// Brake is what the organisation's brake says.
type Brake struct {
	Left time.Duration // how long the payment must wait; zero: it passes
}

// Outcome is how a call to the processor ended.
type Outcome string

// The outcomes.
const (
	Done       Outcome = "done"
	KeyReused  Outcome = "key_reused"  // the key belongs to another request
	KeyUsedUp  Outcome = "key_used_up" // the key replays a server error; the effect is unknown
	Refused    Outcome = "refused"     // the processor refuses the request, and would refuse a repetition
	WrongState Outcome = "wrong_state" // it is not possible in the payment's state there, or the payment is not there
	Failed     Outcome = "failed"      // the effect is unknown
)

// Call is how a call to the processor ended.
type Call struct {
	Outcome  Outcome
	Response *Remote // of Done; nil for a release, unless an operator had it written
	Err      error   // of the others
}

// Rechecked returns the facts after a reading of the sale. What the processor showed before may be older than what the sale shows.
func (f Facts) Rechecked(s *Sale) Facts {
	if f.Sale = s; s.Err == nil || s.Gone {
		f.Remote = nil
	}
	return f
}

// Posted is how the latest POST ended.
type Posted struct {
	Outcome   club.Outcome
	Limited   bool          // of Refused: a limit of the API gateway was reached
	Limit     time.Duration // how long that one lasts
	Seen      string        // what the call saw, for operators who compare it with the club system's log
	Tries     int           // POSTs of this claim up to this one
	Corrected bool          // an earlier one was refused

	// Restrictions are why the club system does not sell to the buyer what the sale has; nil: that is not why it rejected it.
	Restrictions []club.Violation
}

// Sent returns the facts after a POST that ended so.
func (f Facts) Sent(post Posted) Facts {
	if before := f.Post; before != nil {
		post.Tries, post.Corrected = before.Tries, before.Corrected || before.Outcome == club.Refused
	}
	post.Tries++
	f.Post = &post
	return f
}

// Wrote returns the facts after a call that may have changed the processor's payment: what was read before says nothing any
// more. The response is the new reading, unless it is an older one that was replayed, or differs. A cancellation is believed
// only once it is read back.
func (f Facts) Wrote(kind Kind, p *flows.Payment, call *Call) Facts {
	f.Call, f.Remote = call, nil
	if r := call.Response; r != nil && kind != Cancel && !r.Replayed && Differs(p, r) == "" {
		response := *r
		response.By = kind
		f.Remote = &response
	}
	return f
}

// Committed returns what is still known once a change is committed: at most the reading of the processor. now is when Next decided
// the change, because what it saw must be young when the payment is sent. Before the first claim, only the response to this process'
// own capture is kept, within ClaimLife: no other process can have claimed before it, and the processor remembers the keys of claims
// since. Before a later claim, before a refund, and after an attempt to record, the processor is always read again.
func (f Facts) Committed(change *Change, now time.Time) Facts {
	next := Facts{Wish: f.Wish}
	r := f.Remote
	holds := r != nil && r.Err == nil && f.Owner.IsZero() && change.Record.State != flows.Refunding
	if holds && (change.Lease == 0 || r.By == Capture && change.Record.Claim == 1 && !Expired(now, r.At, ClaimLife)) {
		next.Remote = r
	}
	if change.Lease > 0 {
		next.Owner = now
	}
	return next
}

// Overtaken returns what is still known once another process committed first. Its record is latest; this process had the payment in the
// state from. If both moved the payment to the same next state, the reading is as fresh as the other's. What changed the record alone,
// such as a decline, may have been read later.
func (f Facts) Overtaken(from flows.PaymentState, c *Change, latest *flows.Payment) Facts {
	next := Facts{Wish: f.Wish}
	if to := c.Record.State; to != from && to == latest.State && to != flows.Refunding {
		next.Remote = f.Remote
	}
	return next
}
