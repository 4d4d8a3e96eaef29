package flows

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"frontdesk/upstream/club"
)

// PaymentID names a payment: the registration's id, a hyphen, and the
// generation, so that the payment is found from its id alone.
type PaymentID string

// NewPaymentID names the n-th payment of a registration.
func NewPaymentID(registration string, generation int) PaymentID {
	return PaymentID(registration + "-" + strconv.Itoa(generation))
}

// Split takes the id apart. An id that is none yields generation 0.
func (id PaymentID) Split() (registration string, generation int) {
	i := strings.LastIndexByte(string(id), '-')
	if i < 0 {
		return "", 0
	}
	generation, err := strconv.Atoi(string(id[i+1:]))
	if err != nil || generation < 1 {
		return "", 0
	}
	return string(id[:i]), generation
}

// PaymentState is where a payment stands.
//
//	priced ─→ intent ─→ authorised ─→ capturing ─→ captured ←─────────┐
//	            │            │            │            ↓              │
//	            └────────────┴─→ cancelling            sending ─ not sent or refused, tries left
//	                                 ↓                 │
//	                             cancelled             ├─→ recorded ←──────┐
//	                                                   ├─→ in_doubt ── journalled answer, rule, or operator
//	                                                   └─→ refund_due ─→ refunding ─→ refunded
//
// A payment without a processor (see Method) has no way but priced ─→ sending ─→
// recorded. From sending it falls back to priced where a card payment falls back
// to captured, and to cancelled where a card payment becomes refund_due.
//
// An operator who knows that a payment in doubt was not recorded sends it back:
// to captured, to be sent again, or to refund_due; a payment without a processor
// to priced, or to cancelled.
//
// Every state in which the processor is asked may become blocked: something
// does not match, and no machine touches the payment any more.
type PaymentState string

// The states of a payment.
const (
	Priced     PaymentState = "priced"     // the amount is fixed; the processor may or may not know of it
	Intent     PaymentState = "intent"     // the processor waits for the buyer
	Authorised PaymentState = "authorised" // the money is reserved, the sale has to be checked again
	Capturing  PaymentState = "capturing"  // the sale was as expected; the money is being taken
	Captured   PaymentState = "captured"   // the money is taken, the club system does not know of it
	Sending    PaymentState = "sending"    // one process is telling the club system, and nobody else may
	Recorded   PaymentState = "recorded"   // final: the club system accepted the payment
	Cancelling PaymentState = "cancelling" // the processor is told to give up
	Cancelled  PaymentState = "cancelled"  // final: nothing was taken
	RefundDue  PaymentState = "refund_due" // certainly not recorded; the money has to go back
	Refunding  PaymentState = "refunding"  // the processor is told to give the money back
	Refunded   PaymentState = "refunded"   // final: the money went back
	InDoubt    PaymentState = "in_doubt"   // whether the club system recorded it cannot be known from here
	Blocked    PaymentState = "blocked"    // amount, currency, metadata or signature does not match
)

// PaymentStates lists every state, in the order of a good day.
var PaymentStates = []PaymentState{
	Priced, Intent, Authorised, Capturing, Captured, Sending, Recorded,
	Cancelling, Cancelled, RefundDue, Refunding, Refunded, InDoubt, Blocked,
}

// transitions is the whole table: what is not here cannot happen. Recorded
// leads nowhere; no refund starts from recorded, in_doubt or sending, except
// the one out of sending that a clear rejection allows, and the one out of doubt
// that an operator decides on; one starts from captured when another payment of
// the sale counts; in_doubt never leads back to sending, and only an operator
// leads it anywhere but to recorded and blocked.
var transitions = map[PaymentState][]PaymentState{
	Priced:     {Intent, Sending, Cancelled, Blocked},
	Intent:     {Authorised, Cancelling, Blocked},
	Authorised: {Capturing, Cancelling, Blocked},
	Capturing:  {Captured, Cancelling, Blocked},
	Captured:   {Sending, RefundDue},
	Sending:    {Recorded, Captured, Priced, Cancelled, RefundDue, InDoubt, Blocked},
	Cancelling: {Cancelled, Blocked},
	RefundDue:  {Refunding},
	Refunding:  {Refunded, Blocked},
	InDoubt:    {Recorded, Captured, Priced, RefundDue, Cancelled, Blocked},
}

// CanBecome tells whether the table has the transition.
func (s PaymentState) CanBecome(to PaymentState) bool {
	for _, next := range transitions[s] {
		if next == to {
			return true
		}
	}
	return false
}

// Final tells whether the state leads nowhere.
func (s PaymentState) Final() bool { return s == Recorded || s == Cancelled || s == Refunded }

// Payment is the record of one payment: what was agreed on, where it stands,
// and what has to be known to go on after a crash at any line.
type Payment struct {
	ID            PaymentID    `json:"id"`
	Schema        int          `json:"schema"`
	Version       int64        `json:"-"` // counted by the store
	State         PaymentState `json:"state"`
	Reason        string       `json:"reason"` // of the last transition, for operators
	Method        Method       `json:"method"`
	DueDate       string       `json:"dueDate,omitempty"` // of Later, YYYY-MM-DD
	Desk          *Desk        `json:"desk,omitempty"`    // of InPerson; dropped at the end
	RequestDigest string       `json:"asked,omitempty"`   // digest of what was asked for beside the method
	Registration  string       `json:"registration"`
	Generation    int          `json:"generation"`
	ClientToken   string       `json:"clientToken"`
	Sale          club.IRI     `json:"sale"`
	SaleState     string       `json:"saleState"` // see Registration
	Club          club.IRI     `json:"club"`
	Node          club.IRI     `json:"node"`
	Amount        int64        `json:"amount"`               // minor units
	Currency      string       `json:"currency"`             // ISO 4217
	Cart          []CartLine   `json:"cart"`                 // what the amount is for; empty in one that was rebuilt
	CartDigest    string       `json:"cartDigest,omitempty"` // of the cart, in one that was rebuilt
	Rebuilt       bool         `json:"rebuilt,omitempty"`    // brought back from the processor after Redis lost it

	// What the processor is told beside the amount. It is fixed with the price, so
	// that every gateway asks for the payment in the same words: the processor
	// refuses other words under the same key.
	ReturnURL  string `json:"returnUrl"`
	WebhookURL string `json:"webhookUrl"`
	Signature  string `json:"signature"` // of the metadata, hex

	Processor    string `json:"processor"` // empty for a payment without one, as all that the processor says
	ProcessorID  string `json:"processorId,omitempty"`
	RedirectURL  string `json:"redirectUrl,omitempty"`
	ClientSecret string `json:"clientSecret,omitempty"`
	DeclineCode  string `json:"declineCode,omitempty"`

	Payer          *Payer    `json:"payer,omitempty"` // read with the sale, for the record; dropped at the end
	Claim          int       `json:"claim"`           // number of the claim being used or used last; 0 before the first
	AttemptID      string    `json:"postId,omitempty"`
	ReleasePending bool      `json:"unrelease,omitempty"` // claim Claim was given up unused, and its release is not written yet
	NotBefore      time.Time `json:"notBefore"`           // no claim before this instant

	// What people need who look into a doubt; see evidence.go and transition.go.
	Contact    club.IRI     `json:"contact,omitempty"`  // whose sale it is; dropped at the end
	Snapshot   *Evidence    `json:"snapshot,omitempty"` // before the capture
	DoubtSince time.Time    `json:"doubtSince,omitzero"`
	Readings   []Reading    `json:"readings,omitempty"` // while in doubt, oldest first
	History    []Transition `json:"history,omitempty"`  // oldest first

	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"` // of the last transition

	// Closed: its registration takes no other payment. It is no part of the record,
	// but said by the journey that shows the payment.
	Closed bool `json:"-"`
}

// Payer is who pays, as the sale says, and where the club books it.
type Payer struct {
	Contact    club.IRI  `json:"contact"`
	FamilyName string    `json:"familyName"`
	GivenName  string    `json:"givenName"`
	Number     string    `json:"number"`
	ClubCode   string    `json:"clubCode"`
	Checkout   club.IRI  `json:"checkout"`
	ReadAt     time.Time `json:"readAt"`
}

// CartLine is one article of the sale as it was when the payment was priced.
type CartLine struct {
	Offer club.IRI `json:"offer"`
	Price int64    `json:"price"` // minor units
}

// PaymentSchema is the number of the record's layout. A record with a higher
// one was written by a newer Frontdesk and is left alone.
const PaymentSchema = SignedCart

// SignedCart is the first layout whose payments tell the processor the digest of
// their cart, the untouched state of their sale, and the club's node.
const SignedCart = 2

// Scope is where calls to the club system about this payment act from.
func (p *Payment) Scope() club.Scope {
	return club.Scope{ClientToken: p.ClientToken, Club: p.Club, Node: p.Node}
}

// HasProcessor tells whether a processor holds the payment and keeps its journal of
// claims. The other ways to pay rest on the record alone.
func (p *Payment) HasProcessor() bool { return p.Method.hasProcessor() }

// Live tells whether the payment still holds its sale: nothing else may settle it.
func (p *Payment) Live() bool { return p != nil && p.State != Cancelled && p.State != Refunded }

// StateChange is one transition, or a change of the record that leaves the state alone.
type StateChange struct {
	From    PaymentState // expected
	Version int64        // expected
	Next    *Payment     // with the new state; its version is Version+1 after the commit
	// Operation makes a repeated call (the network may lose the answer) return
	// its first result.
	Operation string
	// Lease is how long the caller owns the payment after this move; zero: not at all.
	Lease time.Duration
	// LeaseExpiredFor, when above zero, refuses the move with ErrOwned until the
	// lease has been over for so long, by the clock of Redis.
	LeaseExpiredFor time.Duration
	// Keep is how long a final payment is kept; zero for one that is not final.
	Keep time.Duration
	// Silent: the buyer is shown what they were shown before, so that nobody who follows is told.
	Silent bool
}

// ErrOwned says that a payment is still leased to the process that sends it.
var ErrOwned = fmt.Errorf("%w: it is leased to another process", ErrConflict)

// PaymentView is a payment as its buyer may see it.
type PaymentView struct {
	State        string // requires_action, processing, recorded, declined, cancelled, in_doubt, refunded
	Retry        string // never, same_key, new: whether to ask for a payment again
	Message      string // fit to be shown
	DeclineCode  string
	RedirectURL  string // only while the buyer has something to do at the processor
	ClientSecret string // likewise
}

// View tells the buyer where the payment stands. Retry is never while money
// may move or have moved: a front end that obeys it cannot make anybody pay twice.
func (p *Payment) View() PaymentView {
	if !p.HasProcessor() {
		return p.settlementView()
	}
	switch p.State {
	case Priced:
		return PaymentView{State: "processing", Retry: "same_key", Message: "We are preparing your payment."}
	case Intent:
		view := PaymentView{State: "requires_action", Retry: "never", RedirectURL: p.RedirectURL, ClientSecret: p.ClientSecret,
			Message: "Please complete your payment."}
		if p.DeclineCode != "" {
			view.State, view.Retry, view.DeclineCode = "declined", "new", p.DeclineCode
			view.Message = "Your card was declined and nothing was charged. You can try again, or use another card."
		}
		return view
	case Recorded:
		return PaymentView{State: "recorded", Retry: "never", Message: "Your payment was received. Welcome!"}
	case Cancelled:
		return p.ended(PaymentView{State: "cancelled", Retry: "new", Message: "The payment was cancelled and nothing was charged."})
	case Refunded:
		return p.ended(PaymentView{State: "refunded", Retry: "new", Message: "The club could not take your payment, so you got your money back."})
	case InDoubt:
		return PaymentView{State: "in_doubt", Retry: "never",
			Message: "Your payment was received and is being recorded. Please do not pay again: the club's staff will confirm it to you."}
	case Blocked:
		return PaymentView{State: "in_doubt", Retry: "never",
			Message: "The club's staff have to look at your payment. Please do not pay again: they will tell you how it stands."}
	default:
		return PaymentView{State: "processing", Retry: "never", Message: "Your payment is being processed. Please do not pay again."}
	}
}

// Visible is all that is shown of a payment: beside its view, whether it can be given up.
func (p *Payment) Visible() (all struct {
	PaymentView
	open bool
}) {
	all.PaymentView, all.open = p.View(), p.open()
	return all
}

// open tells whether its buyer can still give the payment up.
func (p *Payment) open() bool { return p.State == Intent || p.State == Priced }

// ended is what the buyer sees of a payment that leaves the registration unpaid: it
// can be paid anew, unless it was closed, or all that is known of it came from the
// processor.
func (p *Payment) ended(view PaymentView) PaymentView {
	if p.Closed || p.Rebuilt {
		view.Retry = "never"
	}
	if p.Rebuilt {
		view.Message += " Please start again from the beginning."
	}
	return view
}

// Jitter spreads a duration by a fifth either way, so that payments that were
// started together are not looked at together for ever.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) // #nosec G404 -- it hides nothing
}
