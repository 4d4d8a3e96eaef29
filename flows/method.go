package flows

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"frontdesk/upstream/club"
)

// StartPayment is a request to pay a registration.
type StartPayment struct {
	Method    Method
	Cart      string // the revision of the cart that the buyer saw; empty: any
	ReturnURL string // of ByCard; empty: the signup site
	Again     bool   // the buyer was asked, and wants to buy the same again
	DueDate   string // of Deferred, YYYY-MM-DD: the amount is overdue after it
	Desk      *Desk  // of InPerson
	Staff     bool   // requested by staff, as InPerson requires

	Agreements []Agreed // what the buyer agrees to; nil: the request does not say
	Language   string   // of the documents that the buyer saw
}

// CheckPayable returns why the cart cannot be settled by a method; nil if it can.
func (r *Registration) CheckPayable(method Method) error {
	switch {
	case r.Contact == nil:
		return &Error{Code: PersonRequired, Detail: DetailPersonMissing}
	case len(r.Items) == 0:
		return &Error{Code: CartEmpty, Detail: DetailCartEmpty}
	case r.Cart.Settled():
		return SettledError()
	case r.Prospect != nil && !r.Prospect.Done:
		return &Error{
			Code:   CartInvalid,
			Detail: DetailAccountNotImported,
		}
	case r.CheckCurrency() != nil:
		return r.CheckCurrency()
	case r.LacksGuardian:
		return &Error{Code: GuardianRequired}
	case r.NeedsMandate():
		return &Error{Code: MandateRequired, Detail: DetailMandateMissing}
	case !r.Cart.Valid:
		return &Error{Code: CartInvalid, Detail: DetailCartNotAccepted}
	case r.Cart.Total <= 0 && method != Free:
		return &Error{Code: NothingDue, Detail: DetailNothingDue}
	case r.Cart.Total > 0 && method == Free:
		return &Error{Code: AmountDue, Detail: DetailAmountDue}
	}
	return nil
}

// Method is a way to settle a sale. A card payment has a journal at the processor. The others
// have only Redis: a request is repeated only if the one before certainly had no effect, and an
// unknown outcome stays in doubt.
type Method string

// The methods, as the public API calls them.
const (
	ByCard   Method = "card"  // through the card processor
	Deferred Method = "later" // the buyer owes the amount from now on (postpone_due)
	Free     Method = "free"  // nothing is due (the sale's transition validate)
	InPerson Method = "desk"  // staff took the money: cash, cheques or cards
)

// Methods lists all methods in the order in which they are offered.
func Methods() []Method { return []Method{ByCard, Deferred, Free, InPerson} }

// MethodPolicy says who may settle a cart by which methods. A nil list allows all of them, but InPerson
// is for staff alone.
type MethodPolicy struct {
	Visitor, Contact, Staff []Method
	LaterDays               int // how many days ahead Deferred may be due; 0: 90
}

// defaultLaterDays is a quarter: the longest that a club waits for a first payment.
const defaultLaterDays = 90

// LatestDueDate returns the last day on which Deferred may be due.
func (p MethodPolicy) LatestDueDate(now time.Time) string {
	return now.UTC().AddDate(0, 0, cmp.Or(p.LaterDays, defaultLaterDays)).Format(time.DateOnly)
}

// Audience is a kind of caller that settles carts.
type Audience string

// The audiences, from the least known.
const (
	ToVisitor Audience = "visitor"
	ToContact Audience = "contact" // a buyer identified by a login, an invitation or their own account
	ToStaff   Audience = "staff"
)

// Audiences lists all audiences.
func Audiences() []Audience { return []Audience{ToVisitor, ToContact, ToStaff} }

// Allows reports whether an audience may settle by a method.
func (p MethodPolicy) Allows(audience Audience, method Method) bool {
	allowed := map[Audience][]Method{ToVisitor: p.Visitor, ToContact: p.Contact, ToStaff: p.Staff}[audience]
	return (allowed == nil || slices.Contains(allowed, method)) && (method != InPerson || audience == ToStaff)
}

// Check returns MethodNotOffered unless a registration's holder, or staff for them, may settle by a method.
func (p MethodPolicy) Check(r *Registration, staff bool, method Method) error {
	audience := ToVisitor
	switch {
	case staff:
		audience = ToStaff
	case r.HasKnownBuyer():
		audience = ToContact
	}
	switch {
	case p.Allows(audience, method):
		return nil
	case method == InPerson && !staff:
		return &Error{Code: StaffOnly, Detail: DetailDeskStaffOnly}
	}
	return &Error{Code: MethodNotOffered, Detail: DetailMethodNotOffered}
}

// Restrict leaves in a view the methods that its holder, or staff for them, may use. Without one, the view has
// another step than the one that pays.
func (p MethodPolicy) Restrict(view View, staff bool) View {
	view.Methods = slices.DeleteFunc(slices.Clone(view.Methods), func(method Method) bool {
		if view.Phase == Paying { // the payment exists
			return method == InPerson && !staff
		}
		return p.Check(view.Registration, staff, method) != nil
	})
	if len(view.Methods) > 0 || !slices.Contains(view.Actions, "pay") {
		return view
	}
	if view.Step() == StepFixCart {
		r := *view.Registration
		r.Cart.Valid, r.Cart.Problems = false, append(slices.Clone(r.Cart.Problems), CartProblem{Code: ProblemNoMethod})
		view.Registration = &r
	}
	view.Actions = mainFirst(view.Step(), slices.DeleteFunc(slices.Clone(view.Actions), func(action string) bool { return action == "pay" }))
	return view
}

// hasProcessor reports whether the method has a journal at a processor.
func (m Method) hasProcessor() bool { return m != Deferred && m != Free && m != InPerson }

// BooksMoney reports whether the method records money at the club system.
func (m Method) BooksMoney() bool { return m != Deferred && m != Free }

// Desk is the money that staff received.
type Desk struct {
	Mean    string       `json:"mean"` // cash, cheque, card
	Cards   []DeskCard   `json:"cards,omitempty"`
	Cheques []DeskCheque `json:"cheques,omitempty"`
}

// DeskCard is a card payment at the desk, as the club system has it.
type DeskCard struct {
	club.PaymentCard
	Currency string `json:"-"` // as requested; it must be the cart's
}

// DeskCheque is a cheque received at the desk, as the club system has it.
type DeskCheque struct {
	club.Cheque
	Currency string `json:"-"` // as requested; it must be the cart's
}

// Validate returns InvalidRequest if the cards or cheques do not add up to the amount due, or are in another currency.
func (d *Desk) Validate(due int64, currency string) error {
	var sum int64
	var problems []FieldProblem
	add := func(list string, i int, amount int64, of string) {
		sum += amount
		if of != currency {
			pointer := list + "/" + strconv.Itoa(i) + "/paid/currency"
			problems = append(problems, FieldProblem{Pointer: pointer, Code: FieldOneOf, Params: map[string]string{"allowed": currency}})
		}
	}
	pointer := "/cards"
	switch d.Mean {
	case club.MeanCard:
		for i, card := range d.Cards {
			add(pointer, i, card.Amount, card.Currency)
		}
	case club.MeanCheque:
		pointer = "/cheques"
		for i, cheque := range d.Cheques {
			add(pointer, i, cheque.Amount, cheque.Currency)
		}
	default:
		return nil // cash is all of it
	}
	if sum != due && problems == nil {
		problems = []FieldProblem{{Pointer: pointer, Code: FieldAmounts}}
	}
	return Invalid(problems...)
}

// RequestDigest returns a digest of the request without its method: only an equal request
// gets the live payment. A card payment has none, because its return URL does not count.
func (in StartPayment) RequestDigest() string {
	if in.Method.hasProcessor() {
		return ""
	}
	text, _ := json.Marshal([]any{in.DueDate, in.Desk}) // strings and numbers can be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Matches returns why the live payment does not fit the request; nil if it does.
func (p *Payment) Matches(in StartPayment) error {
	if err := in.CheckCart(p.CartRevision); err != nil {
		return err
	}
	if p.Method == in.Method && p.RequestDigest == in.RequestDigest() {
		return nil
	}
	return &Error{
		Code:   PaymentExists,
		Detail: DetailPaymentInProgress,
	}
}

// CheckCart returns CartChanged if the buyer saw another cart than the one of this revision.
func (in StartPayment) CheckCart(revision string) error {
	if in.Cart == "" || revision == "" || in.Cart == revision {
		return nil
	}
	return CartChangedError()
}

// CartChangedError is the error for a payment of a cart that the buyer has not seen as it is now.
func CartChangedError() error {
	return &Error{Code: CartChanged, Detail: DetailCartChanged}
}

// methods returns the methods that can settle the cart now.
func (r *Registration) methods() []Method {
	return slices.DeleteFunc(Methods(), func(method Method) bool { return r.CheckPayable(method) != nil })
}

// settlementViews are the views of payments without a processor; other states are processing.
// Methods have messages of their own in settlementMessages.
var settlementViews = map[PaymentState]PaymentView{
	Priced:    {State: "processing", Retry: "same_key", Message: MessageSettlementPreparing},
	Recorded:  {State: "recorded", Retry: "never"},
	Cancelled: {State: "cancelled", Retry: "new", Message: MessageSettlementCancelled},
	InDoubt:   {State: "in_doubt", Retry: "never"},
	Blocked:   {State: "in_doubt", Retry: "never", Message: MessageSettlementWithStaff},
}

func (p *Payment) settlementView(closed bool) PaymentView {
	view, ok := settlementViews[p.State]
	switch messages := settlementMessages[p.Method]; {
	case !ok:
		return PaymentView{State: "processing", Retry: "never", Message: MessageSettlementProcessing}
	case p.State == Recorded:
		view.Message = messages.recorded
	case p.State == InDoubt:
		view.Message = messages.inDoubt
	case p.State == Cancelled && p.IsRestricted():
		view.Message = messages.restricted
		return p.ended(view, closed)
	case p.State == Cancelled:
		view = p.ended(view, closed)
		if view.Retry == "new" {
			view.Message = MessageSettlementCancelledRetry
		}
	}
	return view
}

// settlementMessages are the messages of each method for the buyer.
var settlementMessages = map[Method]struct{ recorded, inDoubt, restricted MessageCode }{
	Deferred: {MessageLaterRecorded, MessageLaterInDoubt, MessageSettlementRestricted},
	Free:     {MessageFreeRecorded, MessageFreeInDoubt, MessageSettlementRestricted},
	InPerson: {MessageDeskRecorded, MessageDeskInDoubt, MessageDeskRestricted},
}
