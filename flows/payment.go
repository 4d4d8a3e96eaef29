package flows

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"frontdesk/upstream/club"
)

// PaymentID is the registration's id, a hyphen, and the generation.
type PaymentID string

// NewPaymentID returns the id of a registration's payment.
func NewPaymentID(registration string, generation int) PaymentID {
	return PaymentID(registration + "-" + strconv.Itoa(generation))
}

// Split returns the parts of the id; generation 0 for an invalid one.
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

// PaymentState is the state of a payment. The usual ways of a card payment:
//
//	priced ─→ intent ─→ authorised ─→ capturing ─→ captured ←─────────┐
//	            │            │            │            ↓              │
//	            └────────────┴─→ cancelling            sending ─ not sent or refused, tries left
//	                                 ↓                 │
//	                             cancelled             ├─→ recorded ←──────┐
//	                                                   ├─→ in_doubt ── journaled acceptance, rule, or operator
//	                                                   └─→ refund_due ─→ refunding ─→ refunded
//
// A payment without a processor (see Method) goes priced ─→ sending ─→ recorded. It returns from sending to priced, and ends as
// cancelled where a card payment becomes refund_due. Most states can also become blocked. See docs/explanation/exactly-once.md,
// "States", for every transition.
type PaymentState string

// The states of a payment.
const (
	Priced     PaymentState = "priced"     // the amount is fixed; the processor may have the payment
	Intent     PaymentState = "intent"     // waiting for the buyer at the processor
	Authorised PaymentState = "authorised" // the money is reserved; the sale must be checked again
	Capturing  PaymentState = "capturing"  // the sale is as agreed; the money is being taken
	Captured   PaymentState = "captured"   // the money is taken, and not recorded at the club system
	Sending    PaymentState = "sending"    // one process is recording it, and no other may
	Recorded   PaymentState = "recorded"   // final: the club system accepted the payment
	Cancelling PaymentState = "cancelling" // it is being cancelled at the processor
	Cancelled  PaymentState = "cancelled"  // final: nothing was taken
	RefundDue  PaymentState = "refund_due" // certainly not recorded; the money must go back
	Refunding  PaymentState = "refunding"  // the money is being refunded
	Refunded   PaymentState = "refunded"   // final, unless the bank returns the money: it went back
	InDoubt    PaymentState = "in_doubt"   // it is not known whether the club system recorded it
	Blocked    PaymentState = "blocked"    // it does not match at the processor, or its refund needs an operator
)

// PaymentStates lists every state, in the usual order.
var PaymentStates = []PaymentState{
	Priced, Intent, Authorised, Capturing, Captured, Sending, Recorded,
	Cancelling, Cancelled, RefundDue, Refunding, Refunded, InDoubt, Blocked,
}

// The findings. They are not states: a recorded payment is listed and counted under what the gateways found out
// about it afterwards, until a later reading shows otherwise or an operator confirms that it is settled.
const (
	Contradicted      PaymentState = "contradicted"       // the processor no longer keeps the money, or the buyer disputes it
	RecordedUnsettled PaymentState = "recorded_unsettled" // its sale is not settled, or has another total
	PaidTwice         PaymentState = "paid_twice"         // something else seems to have paid the sale too
)

// Findings lists every finding. A payment is listed under the first that it has.
var Findings = []PaymentState{Contradicted, RecordedUnsettled, PaidTwice}

// Unverifiable is not a state of a record: payments of ours at the processor that no configured key signed are listed and
// counted under it, with the processor's id, until the key is back or an operator ends them.
const Unverifiable PaymentState = "unverifiable"

// Final reports whether the payment has ended, as far as it depends on this gateway.
func (s PaymentState) Final() bool { return s == Recorded || s == Cancelled || s == Refunded }

// Payment is the record of one payment, sufficient to continue after a crash at any line.
type Payment struct {
	ID            PaymentID    `json:"id"`
	Schema        int          `json:"schema"`
	Version       int64        `json:"-"` // set by the store: higher with each write
	State         PaymentState `json:"state"`
	Reason        string       `json:"reason"` // of the last transition, for operators
	Method        Method       `json:"method"`
	DueDate       string       `json:"dueDate,omitempty"`       // of Deferred, YYYY-MM-DD
	Desk          *Desk        `json:"desk,omitempty"`          // of InPerson; empty in a final record
	RequestDigest string       `json:"requestDigest,omitempty"` // see StartPayment.RequestDigest
	Attribution   *Attribution `json:"attribution,omitempty"`   // for operators
	Repeats       []PaymentID  `json:"repeats,omitempty"`       // recent payments of the same buyer for the same offer
	Agreements    []Agreement  `json:"agreements,omitempty"`    // what the buyer agreed to; empty: the request did not say, or it is rebuilt
	EmailInUse    bool         `json:"emailInUse,omitempty"`    // the buyer's contact lacks the e-mail address, which another one has
	Registration  string       `json:"registration"`
	Generation    int          `json:"generation"`
	ClientToken   string       `json:"clientToken"`
	Sale          club.IRI     `json:"sale"`
	SaleState     string       `json:"saleState"` // see Registration
	Club          club.IRI     `json:"club"`
	Node          club.IRI     `json:"node"`
	Amount        int64        `json:"amount"`                 // minor units
	Currency      string       `json:"currency"`               // ISO 4217
	Cart          []CartLine   `json:"cart"`                   // what the amount is for; empty if rebuilt
	CartDigest    string       `json:"cartDigest,omitempty"`   // of the cart, if rebuilt
	CartRevision  string       `json:"cartRevision,omitempty"` // see Cart.Revision; empty if rebuilt
	Rebuilt       bool         `json:"rebuilt,omitempty"`      // from the processor, after Redis lost it

	// Fixed with the price, so that every gateway sends the processor the same request: it
	// refuses another one under the same key.
	Description string `json:"description,omitempty"` // the club's name
	ReturnURL   string `json:"returnUrl"`
	Signature   string `json:"signature"` // of the metadata, hex

	Processor    string `json:"processor"` // empty, as the next three, for a payment without one
	ProcessorID  string `json:"processorId,omitempty"`
	ClientSecret string `json:"clientSecret,omitempty"`
	DeclineCode  string `json:"declineCode,omitempty"` // of the latest attempt; empty since the buyer asked for another
	Decline      string `json:"decline,omitempty"`     // the latest decline that was read, see cards.Payment
	Declines     int    `json:"declines,omitempty"`    // of this payment, as far as they were read
	Processing   bool   `json:"processing,omitempty"`  // the bank has not decided yet about the buyer's attempt, or about the capture
	// CreationRefused: the processor refused for good to create it, as for an amount below its minimum.
	CreationRefused bool `json:"creationRefused,omitempty"`
	// EarlierDeclines are those of the registration's payments before.
	EarlierDeclines int `json:"earlierDeclines,omitempty"`

	Payer          *Payer    `json:"payer,omitempty"` // read with the sale; empty in a final record
	Claim          int       `json:"claim"`           // number of the latest claim; 0 before the first
	AttemptID      string    `json:"attemptId,omitempty"`
	ReleasePending bool      `json:"releasePending,omitempty"` // the release of the latest claim is not written yet
	NotBefore      time.Time `json:"notBefore"`                // of the next claim, or of the next try to cancel
	RefundRetry    string    `json:"refundRetry,omitempty"`    // of the refund that an operator asked for again
	FailedRefunds  int       `json:"failedRefunds,omitempty"`  // at the processor when that was
	MissingSince   time.Time `json:"missingSince,omitzero"`    // since when the processor lacks it; zero: it has it, as far as was read
	// SaleMissingSince is since when the club system does not find the sale of the captured payment; zero: it does.
	SaleMissingSince time.Time `json:"saleMissingSince,omitzero"`
	UsedKeys         int       `json:"usedKeys,omitempty"` // how many keys the processor only replays an error for; the next one is in use

	// Restrictions are why the club system refused it for good: what the buyer may not buy.
	Restrictions []club.Violation `json:"restrictions,omitempty"`

	// For operators who examine a doubt.
	Contact club.IRI `json:"contact,omitempty"` // of the sale; empty in a final record
	// ContactStatus is the contact's status when the buyer requested the payment; empty: it is not known.
	ContactStatus string    `json:"contactStatus,omitempty"`
	Snapshot      *Evidence `json:"snapshot,omitempty"` // before the capture
	DoubtSince    time.Time `json:"doubtSince,omitzero"`
	Readings      []Reading `json:"readings,omitempty"`  // while in doubt, oldest first
	DebtAfter     *int64    `json:"debtAfter,omitempty"` // of the contact, once after it was recorded; minor units
	// CaptureBefore is until when the processor holds the authorised money; zero: it does not say.
	CaptureBefore time.Time    `json:"captureBefore,omitzero"`
	OnHold        bool         `json:"onHold,omitempty"`    // authorised, and not captured while the club system records no payment
	PaidTwice     bool         `json:"paidTwice,omitempty"` // it is recorded, and something else seems to have paid the sale too
	History       []Transition `json:"history,omitempty"`   // oldest first

	// What the gateways found out after the payment was recorded, see Finding.
	SaleVerdict  string `json:"saleVerdict,omitempty"`  // SaleSettled, or what is wrong with the sale; empty: not read yet
	Difference   string `json:"difference,omitempty"`   // of what the processor keeps from the amount; empty: none
	Acknowledged string `json:"acknowledged,omitempty"` // the Difference that the club system has, as an operator confirmed

	CreatedAt time.Time `json:"createdAt"`
	EndsAt    time.Time `json:"endsAt,omitzero"` // of the registration: the buyer makes no attempt after it
	UpdatedAt time.Time `json:"updatedAt"`       // of the last transition
}

// Payer is the sale's contact, and where the club books the payment.
type Payer struct {
	Contact    club.IRI  `json:"contact"`
	FamilyName string    `json:"familyName"`
	GivenName  string    `json:"givenName"`
	Number     string    `json:"number"`
	ClubCode   string    `json:"clubCode"`
	Checkout   club.IRI  `json:"checkout"`
	ReadAt     time.Time `json:"readAt"`
}

// Outdated returns a payer whose sale must be read again before money moves, or nil.
func (p *Payer) Outdated() *Payer {
	if p == nil {
		return nil
	}
	outdated := *p
	outdated.ReadAt = time.Time{}
	return &outdated
}

// CartLine is one article of the sale when the payment was priced.
type CartLine struct {
	Offer club.IRI `json:"offer"`
	Price int64    `json:"price"` // minor units
}

// PaymentSchema is the version of the record's layout. A record with a higher one is not
// changed, because a newer Frontdesk wrote it.
const PaymentSchema = 3

// Scope is the scope of the club system's calls about this payment.
func (p *Payment) Scope() club.Scope {
	return club.Scope{ClientToken: p.ClientToken, Club: p.Club, Node: p.Node}
}

// HasProcessor reports whether the payment and its journal of claims are at a processor.
func (p *Payment) HasProcessor() bool { return p.Method.hasProcessor() }

// SaleSettled is the verdict that a recorded payment's sale is settled.
const SaleSettled = "settled"

// Finding returns what an operator must look at although the payment is recorded; empty for nothing.
func (p *Payment) Finding() PaymentState {
	switch {
	case p.State != Recorded:
		return ""
	case p.Difference != p.Acknowledged:
		return Contradicted
	case p.SaleVerdict != "" && p.SaleVerdict != SaleSettled:
		return RecordedUnsettled
	case p.PaidTwice:
		return PaidTwice
	}
	return ""
}

// Listing returns the state or finding under which operators find the payment.
func (p *Payment) Listing() PaymentState { return cmp.Or(p.Finding(), p.State) }

// Live reports whether the payment still locks its sale.
func (p *Payment) Live() bool { return p != nil && p.State != Cancelled && p.State != Refunded }

// ShownPayment is a payment with what its buyer sees of it.
type ShownPayment struct {
	*Payment
	View PaymentView
}

// PaymentView is a payment as shown to its buyer.
type PaymentView struct {
	State        string      // requires_action, processing, recorded, declined, cancelled, in_doubt, refunded
	Retry        string      // never, same_key, new: whether to request a payment again
	Message      MessageCode // for the buyer
	DeclineCode  string
	Refunding    bool   // the money is on its way back to the card
	ClientSecret string // only while the buyer must act at the processor
}

// cardViews are the views of card payments; other states are processing.
var cardViews = map[PaymentState]PaymentView{
	Priced:    {State: "processing", Retry: "same_key", Message: MessagePaymentPreparing},
	Intent:    {State: "requires_action", Retry: "never", Message: MessagePaymentActionRequired},
	Recorded:  {State: "recorded", Retry: "never", Message: MessagePaymentRecorded},
	RefundDue: refundingView,
	Refunding: refundingView,
	Cancelled: {State: "cancelled", Retry: "new", Message: MessagePaymentCancelled},
	Refunded:  {State: "refunded", Retry: "new", Message: MessagePaymentRefunded},
	InDoubt:   {State: "in_doubt", Retry: "never", Message: MessagePaymentInDoubt},
	Blocked:   {State: "in_doubt", Retry: "never", Message: MessagePaymentWithStaff},
}

var refundingView = PaymentView{State: "processing", Retry: "never", Refunding: true, Message: MessagePaymentRefunding}

// View returns what the record alone shows, as if its registration accepted another payment; see Registration.Shown. Retry
// is never once money may have moved; after a decline, a retry continues the same payment. So a front end that obeys Retry
// cannot charge a buyer twice.
func (p *Payment) View() PaymentView { return p.view(false) }

// view returns what the buyer sees of a payment whose registration accepts another one, or is closed.
func (p *Payment) view(closed bool) PaymentView {
	if !p.HasProcessor() {
		return p.settlementView(closed)
	}
	view, ok := cardViews[p.State]
	switch {
	case !ok:
		if p.State == Authorised && p.OnHold {
			return PaymentView{State: "processing", Retry: "never", Message: MessagePaymentOnHold}
		}
		return PaymentView{State: "processing", Retry: "never", Message: MessagePaymentProcessing}
	case p.State == Cancelled && p.OnHold:
		view.Message = MessagePaymentNotConfirmed
		return p.ended(view, closed)
	case p.State == Cancelled && p.CreationRefused:
		view.Message = MessagePaymentCardRefused
		return p.ended(view, closed)
	case p.State == Cancelled && p.DeclinedTooOften():
		view.DeclineCode, view.Message = p.DeclineCode, MessagePaymentDeclinedFinally
		return p.ended(view, closed)
	case p.State == Refunded && p.IsRestricted():
		view.Message = MessagePaymentRestrictedRefunded
		return p.ended(view, closed)
	case p.State == Cancelled || p.State == Refunded:
		return p.ended(view, closed)
	case view.Refunding && p.IsRestricted():
		view.Message = MessagePaymentRestrictedRefunding
		return view
	case p.State != Intent:
		return view
	}
	if p.Processing {
		return PaymentView{State: "processing", Retry: "never", Message: MessagePaymentProcessing}
	}
	view.ClientSecret = p.ClientSecret
	if p.Declined() {
		view.State, view.Retry, view.DeclineCode = "declined", "new", p.DeclineCode
		view.Message = MessagePaymentDeclined
	}
	return view
}

// IsRestricted reports whether the club system refused the payment because the buyer may not buy what the sale has.
func (p *Payment) IsRestricted() bool { return len(p.Restrictions) > 0 }

// Declined reports whether the processor declined the buyer's latest attempt, as far as it was read. While the processor does
// not have the payment, that is not known: the buyer may have paid since.
func (p *Payment) Declined() bool {
	return p.State == Intent && p.DeclineCode != "" && p.MissingSince.IsZero()
}

// MaxDeclines is how many declined attempts a registration may have. Real buyers need fewer; testing
// stolen cards needs many.
const MaxDeclines = 5

// CardRefused reports whether the processor refused for good to create the payment, so that an equal one by card is useless.
func (p *Payment) CardRefused(amount int64) bool {
	return p != nil && p.CreationRefused && p.Amount == amount
}

// CardAttemptsLeft returns with how many declines the registration's buyer can no longer pay by card, as far as declines were read.
func (p *Payment) CardAttemptsLeft() int { return max(0, MaxDeclines-p.EarlierDeclines-p.Declines) }

// DeclinedTooOften reports whether the registration's buyer can no longer pay by card.
func (p *Payment) DeclinedTooOften() bool { return p != nil && p.CardAttemptsLeft() == 0 }

// Visible returns all that a buyer sees: the view, and whether the payment can be cancelled.
func (p *Payment) Visible() (all struct {
	PaymentView
	open bool
}) {
	all.PaymentView, all.open = p.View(), p.open()
	return all
}

// NeverCreated reports whether the processor has not created the payment yet, as far as Redis knows. No buyer holds the
// secret that is needed to pay it.
func (p *Payment) NeverCreated() bool {
	return p != nil && p.State == Priced && p.HasProcessor() && p.ProcessorID == ""
}

// open reports whether the buyer can still cancel the payment.
func (p *Payment) open() bool {
	return p.State == Intent && !p.MaybeCapturing() || p.State == Priced
}

// MaybeCapturing reports whether what the bank decides about may be a capture that Redis has lost, and not the buyer's card. It is
// awaited however long that takes: a payment that is given up meanwhile would end blocked with its money.
func (p *Payment) MaybeCapturing() bool { return p.State == Intent && p.Processing && p.Rebuilt }

// ended adapts the view of a payment that leaves its registration unpaid: a registration that
// is closed or rebuilt cannot be paid again.
func (p *Payment) ended(view PaymentView, closed bool) PaymentView {
	if closed || p.Rebuilt {
		view.Retry = "never"
	}
	if seen := p.seenSaleState(); p.Rebuilt && (seen == "" || seen == p.SaleState) { // else the buyer has what a new start would sell again
		view.Message = restartMessages[view.Message]
	}
	return view
}

// restartMessages are the messages about rebuilt payments that have ended.
var restartMessages = map[MessageCode]MessageCode{
	MessagePaymentCancelled:       MessagePaymentCancelledRestart,
	MessagePaymentNotConfirmed:    MessagePaymentCancelledRestart,
	MessagePaymentDeclinedFinally: MessagePaymentDeclinedFinallyRestart,
	MessagePaymentRefunded:        MessagePaymentRefundedRestart,

	MessagePaymentRestrictedRefunded: MessagePaymentRefundedRestart,
}

// Jitter changes a duration by up to 20%, so that payments that start together do not stay synchronous.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) // #nosec G404 -- it hides nothing
}

// seenSaleState is the sale's state as the payment read it last; empty if it is not known.
func (p *Payment) seenSaleState() string {
	seen := p.Snapshot
	if n := len(p.Readings); n > 0 {
		seen = &p.Readings[n-1].Evidence
	}
	return SignalValue(SignalSaleState, p, seen)
}
