package flows

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// StartPayment asks for the payment of a registration.
type StartPayment struct {
	Method    Method
	ReturnURL string // of ByCard; empty: the signup site, with the registration's id
	DueDate   string // of Later, YYYY-MM-DD: the amount is overdue after it
	Desk      *Desk  // of InPerson
	Staff     bool   // staff asks: nobody else may say InPerson
}

// Pay starts the registration's payment, or goes on with the one that lives:
// a sale has one payment, however often and from wherever it is asked for.
//
// PaymentExists when one lives that was asked for in other words.
//
// Any other error means that there is nothing yet that the buyer could pay;
// asking again goes on from there. Later on, whatever fails on the way, the answer is
// the payment as it stands: nobody reads "failed, try again" whose money may be
// taken.
func (f *Registrations) Pay(ctx context.Context, id, token string, in StartPayment) (*Payment, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return nil, err
	}
	if in.Method == InPerson && !in.Staff {
		return nil, &Error{Code: StaffOnly, Detail: "Only the club's staff can say that money was taken at the desk."}
	}
	live, created := p.Live(), false
	if !live {
		if p, created, err = f.begin(ctx, r, p, in); err != nil {
			return nil, err
		}
	}
	if err := p.matches(in); err != nil {
		return nil, err
	}
	latest, err := f.advance(ctx, p, created)
	if latest != nil {
		p = latest
	}
	if err == nil && p.State == Cancelled && live {
		// Who asks to pay wants another then. It may be there already: Redis can have
		// fallen back to the one before, and only asking the processor tells.
		return f.Pay(ctx, id, token, in)
	}
	if err != nil && p.State == Priced && p.HasProcessor() {
		return nil, err
	}
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", p.ID, "error", err)
	}
	if p.State == Intent {
		// Who asks after a decline wants to try again: the answer sends the buyer
		// to the processor once more, with the payment that is still the same one.
		p.DeclineCode = ""
	}
	p.Closed = r.Closed(p, f.cfg.Now())
	return p, nil
}

// begin prices the cart again and stores the payment that freezes it. created is false
// when the payment is another request's.
func (f *Registrations) begin(ctx context.Context, r *Registration, last *Payment, in StartPayment) (p *Payment, created bool, err error) {
	if phase := r.Phase(last, f.cfg.Now()); phase != Open {
		return nil, false, ClosedError(phase)
	}
	if r.Sale == "" {
		return nil, false, r.CheckPayable(in.Method)
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return nil, false, err
	}
	known := r.Cart.settled()
	err = f.readAgain(ctx, r, at, in.Method)
	if r.Cart.settled() && !known {
		p, err = f.settledExternally(ctx, r)
		return p, false, err
	}
	if err != nil {
		return nil, false, err
	}
	if err := r.CheckPayable(in.Method); err != nil {
		return nil, false, err
	}
	if in.Desk != nil {
		if err := in.Desk.Validate(r.Cart.Total); err != nil {
			return nil, false, err
		}
	}
	r.Generation++
	now := f.cfg.Now().Round(0) // as it will be read
	p = &Payment{
		ID: NewPaymentID(r.ID, r.Generation), Schema: PaymentSchema, State: Priced, Reason: "asked for by the buyer", Method: in.Method,
		Registration: r.ID, Generation: r.Generation, ClientToken: r.ClientToken, Sale: r.Sale, Club: at.IRI, Node: at.Scope.Node,
		Amount: r.Cart.Total, Currency: r.Cart.Currency, Cart: r.Cart.agreed(), SaleState: r.SaleState, Contact: r.Contact.IRI,
		DueDate: in.DueDate, Desk: in.Desk, RequestDigest: in.requestDigest(), CreatedAt: now, UpdatedAt: now,
	}
	if p.HasProcessor() {
		p.ReturnURL = f.returnURL(r, in.ReturnURL)
		f.cfg.Payments.fixRequest(p)
	}
	err = f.cfg.Store.StartPayment(ctx, r, p)
	if errors.Is(err, ErrConflict) {
		// Somebody else pressed "pay" in the same moment: theirs is the payment.
		if _, theirs, loadErr := f.cfg.Store.Registration(ctx, r.ID); loadErr == nil && theirs.Live() {
			return theirs, false, nil
		}
	}
	return p, err == nil, storageFailed(err)
}

// advance moves a payment on. One that another request began is read again first, since
// that request is moving it.
func (f *Registrations) advance(ctx context.Context, p *Payment, created bool) (*Payment, error) {
	if created {
		return f.cfg.Payments.AdvanceLoaded(ctx, p)
	}
	return f.cfg.Payments.Advance(ctx, p.ID)
}

// readAgain reads the cart before it is paid. Nobody is asked for another amount
// than the one that they were shown: a cart that changed meanwhile is stored, to
// be looked at first.
func (f *Registrations) readAgain(ctx context.Context, r *Registration, at Club, method Method) error {
	seen := r.Cart
	if err := f.readCart(ctx, r, at); err != nil {
		return err
	}
	if r.Cart.settled() && !seen.settled() {
		return SettledError()
	}
	if seen.Total == r.Cart.Total && seen.Valid == r.Cart.Valid && sameCart(seen.agreed(), r.Cart.agreed()) {
		return nil
	}
	r.Cart.markChanges(seen)
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return storageFailed(err)
	}
	if err := r.CheckPayable(method); err != nil {
		return err
	}
	return &Error{Code: CartChanged, Detail: "The club system has changed the cart since you saw it. Please look at it again before you pay."}
}

// CheckPayable says why the cart cannot be settled by a method; nil when it can.
func (r *Registration) CheckPayable(method Method) error {
	switch {
	case r.Contact == nil:
		return &Error{Code: PersonRequired, Detail: "The buyer's details are missing."}
	case len(r.Items) == 0:
		return &Error{Code: CartEmpty, Detail: "There is nothing in the cart."}
	case r.Cart.settled():
		return SettledError()
	case r.Prospect != nil && !r.Prospect.Done:
		return &Error{Code: CartInvalid, Detail: "Your account is not in this registration yet. Please bring it in again, or give your details."}
	case r.needsMandate():
		return &Error{Code: MandateRequired, Detail: "An offer in the cart needs a signed direct debit mandate before it can be paid."}
	case !r.Cart.Valid:
		return &Error{Code: CartInvalid, Detail: "The club does not accept the cart; its problems say why."}
	case r.Cart.Total <= 0 && method != Free:
		return &Error{Code: NothingDue, Detail: "There is nothing to pay: the cart can only be settled as free."}
	case r.Cart.Total > 0 && method == Free:
		return &Error{Code: AmountDue, Detail: "There is an amount to pay, so the cart cannot be settled as free."}
	}
	return nil
}

// agreed lists what the amount is for, to be compared before it is settled.
func (c Cart) agreed() []CartLine {
	lines := make([]CartLine, len(c.Lines))
	for i, line := range c.Lines {
		lines[i] = CartLine{Offer: line.Offer, Price: line.Price}
	}
	return lines
}

func (f *Registrations) returnURL(r *Registration, asked string) string {
	if asked != "" {
		return asked
	}
	return f.cfg.PublicURL + "/?registration=" + url.QueryEscape(r.ID)
}

// Payment answers with the registration's latest payment.
func (f *Registrations) Payment(ctx context.Context, id, token string) (*Payment, error) {
	view, err := f.Get(ctx, id, token)
	if err != nil {
		return nil, err
	}
	if view.Payment == nil {
		return nil, &Error{Code: NotFound, Detail: "No payment was asked for yet."}
	}
	return view.Payment, nil
}

// PaymentByID answers with one of the registration's payments, also one that
// was cancelled before the latest was begun.
func (f *Registrations) PaymentByID(ctx context.Context, id, token string, payment PaymentID) (*Payment, error) {
	r, latest, err := f.load(ctx, id, token)
	if err != nil {
		return nil, err
	}
	registration, generation := payment.Split()
	if registration != id {
		return nil, &Error{Code: NotFound}
	}
	p, err := f.cfg.Store.Payment(ctx, payment)
	if errors.Is(err, ErrNotFound) && generation > r.Generation {
		// We told them of a payment that is newer than what Redis remembers.
		if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
			return nil, err
		}
		p, err = f.cfg.Store.Payment(ctx, payment)
	}
	if err != nil {
		return nil, storageFailed(err)
	}
	p.Closed = r.Closed(latest, f.cfg.Now())
	return p, nil
}

// Cancel gives up a payment of which nothing was captured. PaymentUnderWay once money may have moved.
func (m *Machine) Cancel(ctx context.Context, id PaymentID) (*Payment, error) {
	for range maxSteps {
		// A payment that is not known anywhere is given up before it is looked at: a look could send it.
		waiting, err := m.cfg.Store.Payment(ctx, id)
		if err == nil && waiting.State == Priced && !waiting.HasProcessor() {
			p, err := m.withdraw(ctx, waiting)
			if errors.Is(err, ErrConflict) {
				continue
			}
			return p, storageFailed(err)
		}
		p, err := m.Advance(ctx, id)
		switch {
		case err != nil && (p == nil || p.State == Priced || p.State == Intent || p.State == Cancelling):
			return nil, err
		case p.State == Cancelled:
			return p, nil
		case p.State != Intent:
			return nil, &Error{Code: PaymentUnderWay, Detail: "The payment can no longer be cancelled."}
		}
		if _, err := m.commit(ctx, p, step{to: Cancelling, reason: "the buyer gave up"}); err != nil && !errors.Is(err, ErrConflict) {
			return nil, storageFailed(err)
		}
	}
	return nil, &Error{Code: Internal, Err: fmt.Errorf("payment %s could neither be cancelled nor moved", id)}
}
