package registration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// maxItems of a cart, as many as a registration can start with. Each is a call to the club system
// whenever the cart is rebuilt.
const maxItems = 20

// AddItem adds an offer to the cart.
func (s *Service) AddItem(ctx context.Context, id, token string, item flows.NewItem) (flows.View, error) {
	return s.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		if r.Contact == nil {
			return &flows.Error{Code: flows.PersonRequired, Detail: "Enter the buyer's details before adding items."}
		}
		if len(r.Items) >= maxItems {
			return flows.Invalid(flows.FieldProblem{Pointer: "/offerId", Code: flows.FieldCartFull, Params: map[string]string{"max": strconv.Itoa(maxItems)}})
		}
		items := []flows.NewItem{item}
		offers, err := s.offers(ctx, r, at, items, "")
		if err != nil {
			return err
		}
		item := items[0]
		arrived, gone := false, r.Sale == ""
		if !gone {
			arrived, gone = s.articleArrived(ctx, r, at, offers[0].IRI)
		}
		if r.Cart.Settled() {
			return cmp.Or(s.save(ctx, r), flows.SettledError())
		}
		if arrived || gone {
			return s.rebuild(ctx, r, at, append(r.RequestedItems(), item))
		}
		if err := s.addArticle(ctx, r, at, item, offers[0]); err != nil {
			return err
		}
		return s.readCart(ctx, r, at)
	})
}

// replaceable returns an error unless the sale can be replaced by a new one: staff may have settled it in
// the club system, and the buyer would pay again for the new one.
func (s *Service) replaceable(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	if r.Sale == "" {
		return nil
	}
	sale, err := s.cfg.Club.GetSale(ctx, at.Scope, r.Sale)
	switch {
	case errors.Is(err, club.ErrNotFound):
		return nil
	case err != nil:
		return flows.ClubFailed(err, "The cart could not be read.")
	}
	if r.MarkIfSettled(sale.State, r.SaleState); !r.Cart.Settled() {
		return nil
	}
	return cmp.Or(s.save(ctx, r), flows.SettledError())
}

// rebuild creates a new sale for the contact: the first one, or the replacement of a sale that has
// more than the registration. That happens when an item was removed, or was added and the response, or
// the registration, was lost; the club system cannot remove an article. A cart without items has no sale.
func (s *Service) rebuild(ctx context.Context, r *flows.Registration, at catalogue.Club, items []flows.NewItem) error {
	if len(items) == 0 {
		r.Sale, r.Items, r.Cart = "", nil, flows.Cart{Currency: at.Currency}
		return nil
	}
	offers, err := s.offers(ctx, r, at, items, "")
	if err != nil {
		return err
	}
	contact, err := s.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return flows.ClubFailed(err, "The contact could not be read.")
	}
	return s.fillSale(ctx, r, at, contact, items, offers, "")
}

// fillSale replaces the sale by one with the items. pointer is that of offers; with one, an error
// says which item it is about.
func (s *Service) fillSale(ctx context.Context, r *flows.Registration, at catalogue.Club, contact club.Contact, items []flows.NewItem, offers []catalogue.Offer, pointer string) error {
	r.Sale, r.Items, r.Cart = "", nil, flows.Cart{Currency: at.Currency}
	if len(items) == 0 {
		return nil
	}
	if err := s.createSale(ctx, r, at, contact); err != nil {
		return err
	}
	for i, item := range items {
		if err := s.addArticle(ctx, r, at, item, offers[i]); err != nil {
			return itemFailed(err, pointer, i)
		}
	}
	return s.readCart(ctx, r, at)
}

// itemFailed adds to an error which of several items it is about.
func itemFailed(err error, pointer string, i int) error {
	failure, ok := errors.AsType[*flows.Error](err)
	if pointer == "" || !ok {
		return err
	}
	located := *failure
	located.Item = i + 1
	code := flows.FieldItemFailed
	if failure.Code == flows.OfferNotAvailable {
		code = flows.FieldNotOffered
	}
	located.Fields = []flows.FieldProblem{{Pointer: fmt.Sprintf(pointer, i), Code: code}}
	return &located
}

// withoutFields removes the fields of an error about items that the request does not have.
func withoutFields(err error) error {
	if failure, ok := errors.AsType[*flows.Error](err); ok {
		general := *failure
		general.Fields = nil
		return &general
	}
	return err
}

// ClearItems empties the cart. The old sale is abandoned, because the club system cannot delete one.
func (s *Service) ClearItems(ctx context.Context, id, token string) (flows.View, error) {
	return s.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		if err := s.replaceable(ctx, r, at); err != nil {
			return err
		}
		return s.rebuild(ctx, r, at, nil)
	})
}

// RemoveItem removes an item, and what the club system added with it, by a new sale of the others.
// NotFound for a line that the buyer did not choose.
func (s *Service) RemoveItem(ctx context.Context, id, token, item string) (flows.View, error) {
	return s.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		kept := slices.DeleteFunc(r.RequestedItems(), func(requested flows.NewItem) bool { return requested.ID == item })
		if len(kept) == len(r.Items) {
			return &flows.Error{Code: flows.NotFound, Detail: "The buyer did not choose this item, or it was already removed."}
		}
		if err := s.replaceable(ctx, r, at); err != nil {
			return err
		}
		return s.rebuild(ctx, r, at, kept)
	})
}

// Check asks the club system whether the cart is valid, and stores what it says, so that a problem that staff
// solved is over everywhere.
func (s *Service) Check(ctx context.Context, id, token string) (flows.Cart, error) {
	r, p, err := s.load(ctx, id, token)
	switch {
	case err != nil:
		return flows.Cart{}, err
	case r.Sale == "":
		return flows.Cart{Problems: []flows.CartProblem{flows.ProblemOf(club.Violation{Code: "api.error.sale.empty"})}}, nil
	case p.Live():
		return r.Cart, nil // frozen as it was agreed on
	}
	at, err := s.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return flows.Cart{}, err
	}
	stored, sale, save := r.Cart, r.Sale, s.cfg.Store.AmendRegistration
	if err := s.currentCart(ctx, r, p, at); err != nil {
		return flows.Cart{}, err
	}
	r.Cart.KeepMarks(stored)
	if r.Sale != sale {
		save = s.cfg.Store.SaveRegistration // which keeps it for as long as the new sale can be paid
	}
	if err := save(ctx, r); err != nil {
		s.cfg.Log.WarnContext(ctx, "checked cart not saved", "error", err)
	}
	return r.Cart, nil
}

// offers finds the offers of items and completes their debits. The error lists everything that is
// wrong. pointer is a pattern for an item's index in the request, or empty for the body itself.
func (s *Service) offers(ctx context.Context, r *flows.Registration, seller catalogue.Club, items []flows.NewItem, pointer string) ([]catalogue.Offer, error) {
	query := catalogue.ProductQuery{ClientToken: r.ClientToken, ClubID: r.ClubID, Channel: r.Channel}
	if r.Identified() {
		query.Buyer = *r.Contact.Buyer
	}
	offers := make([]catalogue.Offer, len(items))
	failure := &flows.Error{Code: flows.InvalidRequest}
	for i, item := range items {
		at := ""
		if pointer != "" {
			at = fmt.Sprintf(pointer, i)
		}
		offer, err := s.cfg.Catalogue.Offer(ctx, query, item.OfferID)
		switch {
		case flows.CodeOf(err) == flows.OfferNotAvailable:
			failure.Code, failure.Detail = flows.OfferNotAvailable, "Club {clubId} has no offer {offerId} for this visitor; see GET /v1/clubs/{clubId}/products."
			failure.Params = map[string]string{"clubId": query.ClubID, "offerId": item.OfferID}
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/offerId", Code: flows.FieldNotOffered})
		case err != nil:
			return nil, err
		case offer.Requires(catalogue.NeedsStartDate) && item.StartDate == "":
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/startDate", Code: flows.FieldRequired})
		}
		wrongDates := s.dateProblems(seller, item, at)
		failure.Fields = append(failure.Fields, wrongDates...)
		if item.Debit != nil && err == nil && len(wrongDates) == 0 {
			debit, wrong, err := s.completeDebit(ctx, seller, item, offer, at+"/debit")
			if err != nil {
				return nil, err
			}
			items[i].Debit, failure.Fields = debit, append(failure.Fields, wrong...)
		}
		offers[i] = offer
	}
	if len(failure.Fields) > 0 {
		return nil, failure
	}
	return offers, nil
}

// dateProblems returns what is wrong with the dates of a new item. An item in the cart keeps its own, which may
// have passed since.
func (s *Service) dateProblems(seller catalogue.Club, item flows.NewItem, at string) (problems []flows.FieldProblem) {
	check := func(pointer, date, offerID string) {
		if date == "" || item.ID != "" {
			return
		}
		if problem := seller.StartDateProblem(at+pointer, date, s.cfg.Now(), offerID); problem != nil {
			problems = append(problems, *problem)
		}
	}
	check("/startDate", item.StartDate, item.OfferID)
	if item.Debit != nil {
		check("/debit/from", item.Debit.From, "")
	}
	return problems
}

func (s *Service) createSale(ctx context.Context, r *flows.Registration, at catalogue.Club, contact club.Contact) error {
	sale, err := s.cfg.Club.CreateSale(ctx, at.Scope, club.NewSale{
		Contact: contact.IRI, Club: at.IRI, ClubCode: at.Code,
		FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number, Address: contact.Address,
	})
	if err != nil {
		return flows.ClubFailed(err, "The cart could not be created.")
	}
	r.Sale, r.SaleState = sale.IRI, sale.State
	// The processor keeps the payment's idempotency key for a limited time, per sale.
	r.ExpiresAt = s.cfg.Now().Add(flows.PayableFor)
	return nil
}

// addArticle adds an item to the sale. After a lost response it reads the sale to find the article.
func (s *Service) addArticle(ctx context.Context, r *flows.Registration, at catalogue.Club, item flows.NewItem, offer catalogue.Offer) error {
	article := club.NewArticle{Offer: offer.IRI, StartDate: item.StartDate, RepaymentSchedule: item.Debit.Wire()}
	err := s.cfg.Club.AddArticle(ctx, at.Scope, r.Sale, article)
	if club.OutcomeOf(err) == club.Unknown {
		if arrived, _ := s.articleArrived(ctx, r, at, offer.IRI); arrived {
			err = nil
		}
	}
	if upstream, ok := errors.AsType[*club.Error](err); ok && (upstream.Status == 400 || upstream.Status == 422) {
		return &flows.Error{Code: flows.OfferNotAvailable, Detail: "The club does not offer this to you.", Err: err}
	}
	if err != nil {
		return flows.ClubFailed(err, "An item could not be added to the cart.")
	}
	item.ID = cmp.Or(item.ID, uuid.NewString())
	r.Items = append(r.Items, flows.Item{NewItem: item, Offer: offer.IRI, Mandate: offer.Requires(catalogue.NeedsMandate)})
	return nil
}

// articleArrived reports whether the sale has more articles of the offer than the registration, or is gone from
// the club system. It also marks the cart if the sale was settled.
func (s *Service) articleArrived(ctx context.Context, r *flows.Registration, at catalogue.Club, offer club.IRI) (arrived, gone bool) {
	sale, err := s.cfg.Club.GetSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return false, errors.Is(err, club.ErrNotFound)
	}
	r.MarkIfSettled(sale.State, r.SaleState)
	more := 0
	for _, article := range sale.Articles {
		if article.Offer == offer && article.Parent == "" {
			more++
		}
	}
	for _, item := range r.Items {
		if item.Offer == offer {
			more--
		}
	}
	return more > 0, false
}

// currentCart reads the cart. A sale that the club system has removed is replaced by a new one of the same items,
// if the registration can still be paid.
func (s *Service) currentCart(ctx context.Context, r *flows.Registration, p *flows.Payment, at catalogue.Club) error {
	err := s.readCart(ctx, r, at)
	if !errors.Is(err, club.ErrNotFound) || r.Closed(p, s.cfg.Now()) {
		return err
	}
	if _, again := s.cfg.Club.GetSale(ctx, at.Scope, r.Sale); !errors.Is(again, club.ErrNotFound) {
		return err // only the check was not found
	}
	return withoutFields(s.rebuild(ctx, r, at, r.RequestedItems()))
}

// readCart reads the cart from the club system, which adds lines of its own.
func (s *Service) readCart(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	sale, check, err := s.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return flows.ClubFailed(err, "The cart could not be read.")
	}
	r.ApplySale(at.Currency, sale, check)
	return nil
}
