package flows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"frontdesk/upstream/club"
)

// Method is a way to settle a sale. A card payment has a witness, its journal at
// the processor; the others rest on Redis alone, so that of these at most one
// request is sent for each record, and what cannot be known stays in doubt.
type Method string

// The methods, as the public API calls them.
const (
	ByCard   Method = "card"  // through the card processor
	Deferred Method = "later" // the buyer owes the amount from now on (postpone_due)
	Free     Method = "free"  // nothing is due (the sale's transition validate)
	InPerson Method = "desk"  // staff took the money: cash, cheques or cards
)

// methods in the order in which they are offered.
var methods = []Method{ByCard, Deferred, Free, InPerson}

// hasProcessor tells whether a processor keeps a journal of the payment.
func (m Method) hasProcessor() bool { return m != Deferred && m != Free && m != InPerson }

// booksMoney tells whether the club system is told of money that came in.
func (m Method) booksMoney() bool { return m != Deferred && m != Free }

// Desk is the money that staff took.
type Desk struct {
	Mean    string       `json:"mean"` // cash, cheque, card
	Cards   []DeskCard   `json:"cards,omitempty"`
	Cheques []DeskCheque `json:"cheques,omitempty"`
}

// DeskCard is a card that was used at the desk, in the club system's terms.
type DeskCard club.PaymentCard

// DeskCheque is a cheque that was handed in at the desk, in the club system's terms.
type DeskCheque club.Cheque

// Validate says which list does not add up to the amount due, in minor units.
func (d *Desk) Validate(due int64) error {
	sum, pointer := due, ""
	switch d.Mean {
	case club.MeanCard:
		sum, pointer = 0, "/cards"
		for _, card := range d.Cards {
			sum += card.Amount
		}
	case club.MeanCheque:
		sum, pointer = 0, "/cheques"
		for _, cheque := range d.Cheques {
			sum += cheque.Amount
		}
	}
	if sum != due {
		return &Error{Code: InvalidRequest, Fields: []FieldProblem{{pointer, "The amounts have to add up to the amount due."}}}
	}
	return nil
}

// The figures of a payment without a processor.
const (
	// maxSettlements: with the pauses of claimPause about four minutes. Nothing is
	// lost by giving up, and somebody waits before the page, or at the desk.
	maxSettlements = 5
	// settleWithin: what was asked for, or decided by an operator, is not carried out
	// behind the back of somebody who has left, or has found another way, meanwhile.
	settleWithin = 30 * time.Minute
)

// requestDigest is a digest of what a start asks for beside the method, so that only the
// same wish is answered with the payment that lives. Where a card sends the
// buyer back to makes no other payment.
func (in StartPayment) requestDigest() string {
	if in.Method.hasProcessor() {
		return ""
	}
	text, err := json.Marshal([]any{in.DueDate, in.Desk})
	if err != nil {
		return "" // strings and numbers can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// matches says whether a payment that lives is the answer to a wish.
func (p *Payment) matches(in StartPayment) error {
	if p.Method == in.Method && p.RequestDigest == in.requestDigest() {
		return nil
	}
	return &Error{Code: PaymentExists, Detail: "Another payment of this registration lives, by another method or in other words."}
}

// methods lists the ways in which the cart can be settled now.
func (r *Registration) methods() []Method {
	return slices.DeleteFunc(slices.Clone(methods), func(method Method) bool { return r.CheckPayable(method) != nil })
}

// prepareSettlement moves a payment without a processor from priced to sending,
// owned by this process, if the sale is still as agreed. Nothing has happened
// anywhere before that, so that whatever is not so ends it without harm.
func (m *Machine) prepareSettlement(ctx context.Context, p *Payment) (step, error) {
	if m.cfg.Now().Sub(p.UpdatedAt) > settleWithin {
		return step{to: Cancelled, reason: "it could not be sent in time"}, nil
	}
	if early := p.NotBefore.Sub(m.cfg.Now()); early > 0 {
		return wait(early), nil
	}
	sale, check, seen, err := m.observe(ctx, m.cfg.Club, p)
	if err != nil {
		return step{}, clubFailed(err, "The sale could not be read.")
	}
	if sale.State != p.SaleState {
		// By somebody else, or by this very payment before Redis fell back: a person has to find out.
		return step{to: Blocked, reason: "the sale is settled already"}, nil
	}
	if reason := p.changedSinceAgreed(sale, check); reason != "" {
		return step{to: Cancelled, reason: reason, edit: func(next *Payment) { next.Snapshot = seen }}, nil
	}
	payer := m.payer(sale)
	return step{to: Sending, reason: "the sale is as agreed, and about to be settled", lease: lease, edit: func(next *Payment) {
		next.Payer, next.Snapshot, next.Claim = payer, seen, p.Claim+1
	}}, nil
}

// post sends the one request that settles the sale at the club system.
func (m *Machine) post(ctx context.Context, p *Payment, gate club.Gate) error {
	switch p.Method {
	case Deferred:
		return m.cfg.Club.PostponeDue(ctx, p.Scope(), p.Sale, p.DueDate, gate)
	case Free:
		return m.cfg.Club.ValidateSale(ctx, p.Scope(), p.Sale, gate)
	}
	payment := club.NewPayment{
		Contact: p.Payer.Contact, FamilyName: p.Payer.FamilyName, GivenName: p.Payer.GivenName, Number: p.Payer.Number,
		Amount: p.Amount, Mean: club.MeanCBWeb, Club: p.Club, ClubCode: p.Payer.ClubCode, Checkout: p.Payer.Checkout,
	}
	if p.Desk != nil {
		payment.Mean = p.Desk.Mean
		for _, card := range p.Desk.Cards {
			payment.Cards = append(payment.Cards, club.PaymentCard(card))
		}
		for _, cheque := range p.Desk.Cheques {
			payment.Cheques = append(payment.Cheques, club.Cheque(cheque))
		}
	}
	_, err := m.cfg.Club.CreatePayment(ctx, p.Scope(), p.Sale, payment, gate)
	return err
}

// withdraw gives up a payment without a processor that nobody has sent.
// ErrConflict when it moved meanwhile.
func (m *Machine) withdraw(ctx context.Context, p *Payment) (*Payment, error) {
	return m.commit(ctx, p, step{to: Cancelled, reason: "the buyer gave up"})
}

// settlementView is View for a payment without a processor.
func (p *Payment) settlementView() PaymentView {
	words := settlementWords[p.Method]
	switch p.State {
	case Priced:
		return PaymentView{State: "processing", Retry: "same_key", Message: "The club is being told. One moment, please."}
	case Recorded:
		message := words.recorded
		if day, err := time.Parse(time.DateOnly, p.DueDate); err == nil {
			message += day.Format("2 January 2006") + "."
		}
		return PaymentView{State: "recorded", Retry: "never", Message: message}
	case Cancelled:
		view := p.ended(PaymentView{State: "cancelled", Retry: "new", Message: "Nothing was settled."})
		if view.Retry == "new" {
			view.Message += " You can try again, or choose another way."
		}
		return view
	case InDoubt:
		return PaymentView{State: "in_doubt", Retry: "never", Message: words.inDoubt}
	case Blocked:
		return PaymentView{State: "in_doubt", Retry: "never",
			Message: "The club's staff have to look at your registration. Please do not pay: they will tell you how it stands."}
	default:
		return PaymentView{State: "processing", Retry: "never", Message: "The club is being told. Please do nothing more."}
	}
}

// settlementWords are what a buyer is told of each method.
var settlementWords = map[Method]struct{ recorded, inDoubt string }{
	Deferred: {"You are registered. You pay at the club by ",
		"The club is being told that you pay later. Please do not pay in another way: the club's staff will confirm it to you."},
	Free: {"It is booked, and there is nothing to pay. Welcome!",
		"Your booking is being recorded. Please do not book again: the club's staff will confirm it to you."},
	InPerson: {"Your payment at the club is recorded. Welcome!",
		"Your payment at the club was received and is being recorded. Please do not pay again: the club's staff will confirm it to you."},
}
