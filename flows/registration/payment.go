package registration

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// Pay starts the registration's payment, or goes on with the one that lives:
// a sale has one payment, however often and from wherever it is asked for.
//
// PaymentExists when one lives that was asked for in other words.
//
// Any other error means that there is nothing yet that the buyer could pay;
// asking again goes on from there. Later on, whatever fails on the way, the answer is
// the payment as it stands: nobody reads "failed, try again" whose money may be
// taken.
func (f *Service) Pay(ctx context.Context, id, token string, in flows.StartPayment) (*flows.Payment, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return nil, err
	}
	if in.Method == flows.InPerson && !in.Staff {
		return nil, &flows.Error{Code: flows.StaffOnly, Detail: "Only the club's staff can say that money was taken at the desk."}
	}
	live, created := p.Live(), false
	if !live {
		if p, created, err = f.begin(ctx, r, p, in); err != nil {
			return nil, err
		}
	}
	if err := p.Matches(in); err != nil {
		return nil, err
	}
	latest, err := f.advance(ctx, p, created)
	if latest != nil {
		p = latest
	}
	if err == nil && p.State == flows.Cancelled && live {
		// Who asks to pay wants another then. It may be there already: Redis can have
		// fallen back to the one before, and only asking the processor tells.
		return f.Pay(ctx, id, token, in)
	}
	if err != nil && p.State == flows.Priced && p.HasProcessor() {
		return nil, err
	}
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", p.ID, "error", err)
	}
	if p.State == flows.Intent {
		// Who asks after a decline wants to try again: the answer sends the buyer
		// to the processor once more, with the payment that is still the same one.
		p.DeclineCode = ""
	}
	p.Closed = r.Closed(p, f.cfg.Now())
	return p, nil
}

// begin prices the cart again and stores the payment that freezes it. created is false
// when the payment is another request's.
func (f *Service) begin(ctx context.Context, r *flows.Registration, last *flows.Payment, in flows.StartPayment) (p *flows.Payment, created bool, err error) {
	if phase := r.Phase(last, f.cfg.Now()); phase != flows.Open {
		return nil, false, flows.ClosedError(phase)
	}
	if r.Sale == "" {
		return nil, false, r.CheckPayable(in.Method)
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return nil, false, err
	}
	known := r.Cart.Settled()
	err = f.readAgain(ctx, r, at, in.Method)
	if r.Cart.Settled() && !known {
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
	p = &flows.Payment{
		ID: flows.NewPaymentID(r.ID, r.Generation), Schema: flows.PaymentSchema, State: flows.Priced, Reason: "asked for by the buyer", Method: in.Method,
		Registration: r.ID, Generation: r.Generation, ClientToken: r.ClientToken, Sale: r.Sale, Club: at.IRI, Node: at.Scope.Node,
		Amount: r.Cart.Total, Currency: r.Cart.Currency, Cart: r.Cart.Agreed(), SaleState: r.SaleState, Contact: r.Contact.IRI,
		DueDate: in.DueDate, Desk: in.Desk, RequestDigest: in.RequestDigest(), CreatedAt: now, UpdatedAt: now,
	}
	if p.HasProcessor() {
		p.ReturnURL = f.returnURL(r, in.ReturnURL)
		f.cfg.Payments.FixRequest(p)
	}
	err = f.cfg.Store.StartPayment(ctx, r, p)
	if errors.Is(err, flows.ErrConflict) {
		// Somebody else pressed "pay" in the same moment: theirs is the payment.
		if _, theirs, loadErr := f.cfg.Store.Registration(ctx, r.ID); loadErr == nil && theirs.Live() {
			return theirs, false, nil
		}
	}
	return p, err == nil, flows.StorageFailed(err)
}

// advance moves a payment on. One that another request began is read again first, since
// that request is moving it.
func (f *Service) advance(ctx context.Context, p *flows.Payment, created bool) (*flows.Payment, error) {
	if created {
		return f.cfg.Payments.AdvanceLoaded(ctx, p)
	}
	return f.cfg.Payments.Advance(ctx, p.ID)
}

// readAgain reads the cart before it is paid. Nobody is asked for another amount
// than the one that they were shown: a cart that changed meanwhile is stored, to
// be looked at first.
func (f *Service) readAgain(ctx context.Context, r *flows.Registration, at catalogue.Club, method flows.Method) error {
	seen := r.Cart
	if err := f.readCart(ctx, r, at); err != nil {
		return err
	}
	if r.Cart.Settled() && !seen.Settled() {
		return flows.SettledError()
	}
	if seen.Total == r.Cart.Total && seen.Valid == r.Cart.Valid && slices.Equal(seen.Agreed(), r.Cart.Agreed()) {
		return nil
	}
	r.Cart.MarkChanges(seen)
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return flows.StorageFailed(err)
	}
	if err := r.CheckPayable(method); err != nil {
		return err
	}
	return &flows.Error{Code: flows.CartChanged, Detail: "The club system has changed the cart since you saw it. Please look at it again before you pay."}
}

func (f *Service) returnURL(r *flows.Registration, asked string) string {
	if asked != "" {
		return asked
	}
	return f.cfg.PublicURL + "/?registration=" + url.QueryEscape(r.ID)
}

// Payment answers with the registration's latest payment.
func (f *Service) Payment(ctx context.Context, id, token string) (*flows.Payment, error) {
	view, err := f.Get(ctx, id, token)
	if err != nil {
		return nil, err
	}
	if view.Payment == nil {
		return nil, &flows.Error{Code: flows.NotFound, Detail: "No payment was asked for yet."}
	}
	return view.Payment, nil
}

// PaymentByID answers with one of the registration's payments, also one that
// was cancelled before the latest was begun.
func (f *Service) PaymentByID(ctx context.Context, id, token string, payment flows.PaymentID) (*flows.Payment, error) {
	r, latest, err := f.load(ctx, id, token)
	if err != nil {
		return nil, err
	}
	registration, generation := payment.Split()
	if registration != id {
		return nil, &flows.Error{Code: flows.NotFound}
	}
	p, err := f.cfg.Store.Payment(ctx, payment)
	if errors.Is(err, flows.ErrNotFound) && generation > r.Generation {
		// We told them of a payment that is newer than what Redis remembers.
		if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
			return nil, err
		}
		p, err = f.cfg.Store.Payment(ctx, payment)
	}
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	p.Closed = r.Closed(latest, f.cfg.Now())
	return p, nil
}

// settledExternally answers whoever asks for the payment of a sale that turns out to be
// settled: with the payment of ours that did it, be it of the same moment or one that
// Redis had lost; else it is stored that somebody else did.
func (f *Service) settledExternally(ctx context.Context, r *flows.Registration) (*flows.Payment, error) {
	if ours, err := f.livePayment(ctx, r.ID); ours != nil || err != nil {
		return ours, err
	}
	if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
		return nil, err
	}
	if ours, err := f.livePayment(ctx, r.ID); ours != nil || err != nil {
		return ours, err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return nil, flows.StorageFailed(err)
	}
	return nil, flows.SettledError()
}

// livePayment reads a registration's payment; nil when none lives.
func (f *Service) livePayment(ctx context.Context, id string) (*flows.Payment, error) {
	_, p, err := f.cfg.Store.Registration(ctx, id)
	if err != nil || !p.Live() {
		return nil, flows.StorageFailed(err)
	}
	return p, nil
}
