package registration

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// Pay starts the registration's payment, or continues the live one: a sale has one payment, however
// often it is requested. PaymentExists when the live one was requested with other parameters.
//
// Any other error means that the buyer cannot pay yet; a repetition continues from there. Once money
// may have been taken, a failure returns the payment as it is, never "failed, try again".
func (s *Service) Pay(ctx context.Context, id, token string, in flows.StartPayment) (flows.ShownPayment, error) {
	ctx = club.WithLane(ctx, club.Payers)
	registration, payment, err := s.load(ctx, id, token)
	if err != nil {
		return flows.ShownPayment{}, err
	}
	live, created := payment.Live(), false
	if err := s.cfg.Methods.Check(registration, in.Staff, in.Method); err != nil && (!live || in.Method == flows.InPerson) {
		return flows.ShownPayment{}, err
	}
	if live && payment.Declined() {
		if err := s.checkRetry(ctx, registration, payment); err != nil {
			return flows.ShownPayment{}, err
		}
	}
	isReplaced := payment.NeverCreated() && in.Method != payment.Method
	if err := s.checkAgreements(ctx, registration, payment, isReplaced, in); err != nil {
		return flows.ShownPayment{}, err
	}
	if isReplaced {
		// It holds nothing, so it gives way, unless the processor has it after all.
		if ended, err := s.cfg.Payments.Cancel(ctx, payment.ID); err != nil {
			return flows.ShownPayment{}, err
		} else if ended.State == flows.Cancelled {
			return s.Pay(ctx, id, token, in)
		}
	}
	if !live {
		if payment, created, err = s.begin(ctx, registration, payment, in); err != nil {
			return flows.ShownPayment{}, err
		}
	}
	if err := payment.Matches(in); err != nil {
		return flows.ShownPayment{}, err
	}
	latest, err := s.advance(ctx, payment, created)
	if latest != nil {
		payment = latest
	}
	if err == nil && payment.State == flows.Cancelled && live {
		// The buyer then wants another payment. It may exist already: Redis can have fallen back
		// to the previous one, and only the processor knows.
		return s.Pay(ctx, id, token, in)
	}
	if err != nil && payment.State == flows.Priced && payment.HasProcessor() {
		return flows.ShownPayment{}, err
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "payment not advanced", "payment", payment.ID, "error", err)
	}
	if created && payment.State == flows.Recorded { // without a processor: a worker does at once what follows, instead of in a minute
		if err := s.cfg.Payments.Wake(ctx, payment.ID, payment); err != nil {
			s.cfg.Log.WarnContext(ctx, "payment not woken", "payment", payment.ID, "error", err)
		}
	}
	// A request after a decline is a retry: the buyer goes to the processor again, with the same payment.
	if payment, err = s.cfg.Payments.TryAgain(ctx, payment); err != nil {
		return flows.ShownPayment{}, err
	}
	return registration.Shown(payment, payment, s.cfg.Now()), nil
}

// begin prices the cart again and stores the payment that freezes it. created is false when another
// request created it.
func (s *Service) begin(
	ctx context.Context, registration *flows.Registration, last *flows.Payment, in flows.StartPayment,
) (payment *flows.Payment, created bool, err error) {
	if phase := registration.Phase(last, s.cfg.Now()); phase != flows.Open {
		return nil, false, flows.ClosedError(phase)
	}
	if registration.Sale == "" {
		return nil, false, registration.CheckPayable(in.Method)
	}
	at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
	if err != nil {
		return nil, false, err
	}
	if in.Method == flows.Deferred {
		if problem := at.DueDateProblem("/dueDate", in.DueDate, s.cfg.Now(), s.cfg.Methods); problem != nil {
			return nil, false, flows.Invalid(*problem)
		}
	}
	if registration.AsksForMandate() {
		if registration, err = s.confirmed(ctx, registration, at); err != nil {
			return s.concurrent(ctx, registration.ID, err)
		}
	}
	if err := s.awaitWrite(ctx, registration, at); err != nil {
		return nil, false, err
	}
	known := registration.Cart.Settled()
	err = s.reprice(ctx, registration, last, at, in)
	if registration.Cart.Settled() && !known {
		payment, err = s.settledExternally(ctx, registration)
		return payment, false, err
	}
	if err != nil {
		return nil, false, err
	}
	if err := cmp.Or(s.checkBuyer(ctx, registration, at), registration.CheckPayable(in.Method)); err != nil {
		return nil, false, err
	}
	if in.Method == flows.ByCard && last.CardRefused(registration.Cart.Total) {
		return nil, false, &flows.Error{Code: flows.MethodNotOffered,
			Detail: flows.DetailCardAmount}
	}
	if in.Method == flows.ByCard && last.DeclinedTooOften() {
		return nil, false, &flows.Error{Code: flows.MethodNotOffered,
			Detail: flows.DetailCardsDeclined}
	}
	if in.Desk != nil {
		if err := in.Desk.Validate(registration.Cart.Total, registration.Cart.Currency); err != nil {
			return nil, false, err
		}
	}
	now := s.cfg.Now().Round(0) // as it will be read
	agreements, err := s.agree(ctx, registration, in, now)
	if err != nil {
		return nil, false, err
	}
	registration.Generation++
	payment = newPayment(registration, at, in, agreements, now)
	if last != nil {
		payment.EarlierDeclines = last.EarlierDeclines + last.Declines
	}
	if payment.HasProcessor() {
		payment.Description, payment.ReturnURL = at.Name, cmp.Or(in.ReturnURL, s.sitePage(registration.ID))
		s.cfg.Payments.FixRequest(payment)
	}
	s.noteOrder(registration, payment, in.Language)
	if err := s.claimPurchase(ctx, registration, payment, in); err != nil {
		return nil, false, err
	}
	err = s.cfg.Store.StartPayment(ctx, registration, payment)
	if err != nil {
		return s.concurrent(ctx, registration.ID, flows.StorageFailed(err))
	}
	s.noteRepeats(ctx, payment)
	if s.cfg.RefreshDue != nil && registration.Contact.AwaitsEmail() {
		if err := s.cfg.RefreshDue(ctx); err != nil {
			s.cfg.Log.WarnContext(ctx, "due registrations not refreshed; the next sweep retries", "error", err)
		}
	}
	return payment, true, nil
}

// newPayment returns the payment for a registration's cart as the buyer has agreed to it.
func newPayment(
	registration *flows.Registration, at catalogue.Club, in flows.StartPayment, agreements []flows.Agreement, now time.Time,
) *flows.Payment {
	return &flows.Payment{
		ID:            flows.NewPaymentID(registration.ID, registration.Generation),
		Schema:        flows.PaymentSchema,
		State:         flows.Priced,
		Reason:        "requested by the buyer",
		Method:        in.Method,
		Registration:  registration.ID,
		Generation:    registration.Generation,
		ClientToken:   registration.ClientToken,
		Sale:          registration.Sale,
		Club:          at.IRI,
		Node:          at.Scope.Node,
		Amount:        registration.Cart.Total,
		Currency:      registration.Cart.Currency,
		Cart:          registration.Cart.Agreed(),
		CartRevision:  registration.Cart.Revision(),
		SaleState:     registration.SaleState,
		Contact:       registration.Contact.IRI,
		ContactStatus: registration.Contact.LastStatus(),
		EndsAt:        registration.ExpiresAt,
		DueDate:       in.DueDate,
		Desk:          in.Desk,
		RequestDigest: in.RequestDigest(),
		Agreements:    agreements,
		Attribution:   registration.Attribution,
		EmailInUse:    registration.Contact.EmailInUse,
		CreatedAt:     now,
		UpdatedAt:     now,
	}
}

// concurrent returns the payment of a concurrent request that won, after a failure because of it; else the failure.
func (s *Service) concurrent(ctx context.Context, id string, failure error) (p *flows.Payment, created bool, err error) {
	if errors.Is(failure, flows.ErrConflict) {
		if theirs, err := s.livePayment(ctx, id); theirs != nil && err == nil {
			return theirs, false, nil
		}
	}
	return nil, false, failure
}

// advance advances a payment. One that another request created is read again first.
func (s *Service) advance(ctx context.Context, p *flows.Payment, created bool) (*flows.Payment, error) {
	if created {
		return s.cfg.Payments.AdvanceLoaded(ctx, p)
	}
	return s.cfg.Payments.Advance(ctx, p.ID)
}

// reprice reads the cart and the offers in it before it is paid. The buyer must have seen the amount, and what is debited later: if either
// has changed, what holds now is stored, and returned as CartChanged. Nothing is stored if a part of it cannot be read.
func (s *Service) reprice(ctx context.Context, registration *flows.Registration, last *flows.Payment, at catalogue.Club,
	in flows.StartPayment) error {
	shown, offers, query := registration.CartAfter(last), registration.Offers, queryOf(registration)
	reread, unread := map[string]flows.ShownOffer{}, error(nil)
	var rereading sync.WaitGroup
	rereading.Go(func() { reread, unread = s.cfg.Catalogue.RereadOffers(ctx, at, query, offers) })
	err := s.currentCart(ctx, registration, last, at)
	rereading.Wait()
	if err != nil {
		return err
	}
	registration.Cart = registration.CartAfter(last)
	if registration.Cart.Settled() && !shown.Settled() {
		return flows.SettledError()
	}
	if err := cmp.Or(unread, s.showOffers(ctx, registration)); err != nil {
		return err
	}
	hasOtherOffers := renewOffers(registration, offers, reread)
	same := !hasOtherOffers && shown.Total == registration.Cart.Total && shown.Valid == registration.Cart.Valid &&
		slices.Equal(shown.Agreed(), registration.Cart.Agreed())
	if same && in.CheckCart(registration.Cart.Revision()) == nil {
		return nil
	}
	registration.Cart.MarkChanges(shown)
	return cmp.Or(s.save(ctx, registration), registration.CheckPayable(in.Method), flows.CartChangedError())
}

// CancelPayment gives up a payment that has not been captured, and keeps the cart. PaymentUnderWay once
// money may have moved. Without a live payment it changes nothing.
func (s *Service) CancelPayment(ctx context.Context, id, token string) (flows.View, error) {
	registration, payment, err := s.load(ctx, id, token)
	if err != nil || !payment.Live() {
		return s.view(registration, payment), err
	}
	if payment, err = s.cfg.Payments.Cancel(ctx, payment.ID); err != nil {
		return flows.View{}, err
	}
	return s.view(registration, payment), nil
}

// PaymentByID returns one of the registration's payments, even one cancelled before the latest.
func (s *Service) PaymentByID(ctx context.Context, id, token string, payment flows.PaymentID) (flows.ShownPayment, error) {
	record, latest, err := s.load(ctx, id, token)
	if err != nil {
		return flows.ShownPayment{}, err
	}
	if registration, _ := payment.Split(); registration != id {
		return flows.ShownPayment{}, &flows.Error{Code: flows.NotFound}
	}
	p, err := s.paymentOf(ctx, record, payment)
	if err != nil {
		return flows.ShownPayment{}, err
	}
	return record.Shown(s.verifyDecline(ctx, p), latest, s.cfg.Now()), nil
}

// paymentOf reads one of a registration's payments. One that Redis has lost is rebuilt.
func (s *Service) paymentOf(ctx context.Context, r *flows.Registration, id flows.PaymentID) (*flows.Payment, error) {
	payment, err := s.cfg.Store.Payment(ctx, id)
	if _, generation := id.Split(); errors.Is(err, flows.ErrNotFound) && generation > r.Generation {
		if err := s.cfg.Payments.RebuildOnDemand(ctx); err != nil {
			return nil, err
		}
		payment, err = s.cfg.Store.Payment(ctx, id)
	}
	if errors.Is(err, flows.ErrNotFound) {
		err = flows.ErrConflict // the caller had it, and must read what there is now
	}
	return payment, flows.StorageFailed(err)
}

// settledExternally returns the payment of ours that settled a sale: a concurrent one, or one that
// Redis had lost. Without one, it stores that the sale was settled elsewhere, and returns SettledError.
func (s *Service) settledExternally(ctx context.Context, registration *flows.Registration) (*flows.Payment, error) {
	if ours, err := s.livePayment(ctx, registration.ID); ours != nil || err != nil {
		return ours, err
	}
	if err := s.cfg.Payments.RebuildOnDemand(ctx); err != nil {
		return nil, err
	}
	if ours, err := s.livePayment(ctx, registration.ID); ours != nil || err != nil {
		return ours, err
	}
	return nil, cmp.Or(s.save(ctx, registration), flows.SettledError())
}

func (s *Service) livePayment(ctx context.Context, id string) (*flows.Payment, error) {
	_, p, err := s.cfg.Store.Registration(ctx, id)
	if err != nil || !p.Live() {
		return nil, flows.StorageFailed(err)
	}
	return p, nil
}
