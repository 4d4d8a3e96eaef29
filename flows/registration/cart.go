package registration

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// mostItems of a cart, as many as a registration can be started with: more is no
// visitor's, and each is a call to the club system whenever the cart is made again.
const mostItems = 20

// AddItem adds an offer to the cart.
func (f *Service) AddItem(ctx context.Context, id, token string, item flows.NewItem) (flows.View, error) {
	return f.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		if r.Contact == nil {
			return &flows.Error{Code: flows.PersonRequired, Detail: "The buyer's details come before the items."}
		}
		if len(r.Items) >= mostItems {
			return &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/offerId", Message: fmt.Sprintf("The cart is full: it takes %d items.", mostItems)}}}
		}
		items := []flows.NewItem{item}
		offers, err := f.offers(ctx, r, at, items, "")
		if err != nil {
			return err
		}
		item := items[0]
		anew := r.Sale == "" || f.articleArrived(ctx, r, at, offers[0].IRI)
		if r.Cart.Settled() {
			if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
				return flows.StorageFailed(err)
			}
			return flows.SettledError()
		}
		if anew {
			return f.rebuild(ctx, r, at, append(r.RequestedItems(), item))
		}
		if err := f.addArticle(ctx, r, at, item, offers[0]); err != nil {
			return err
		}
		return f.readCart(ctx, r, at)
	})
}

// rebuild makes a new sale for the contact: the first one, or one in the place
// of a sale that holds more than the registration knows of. Such is left behind
// when an item was added and the answer, or the registration, could not be
// kept; the club system cannot take an article out again.
func (f *Service) rebuild(ctx context.Context, r *flows.Registration, at catalogue.Club, items []flows.NewItem) error {
	offers, err := f.offers(ctx, r, at, items, "")
	if err != nil {
		return err
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return flows.ClubFailed(err, "The contact could not be read.")
	}
	return f.fillSale(ctx, r, at, contact, items, offers, "")
}

// fillSale makes a sale with the items, in the place of the one that there may
// be. pointer is that of offers; with one, a failure says which item it is about.
func (f *Service) fillSale(ctx context.Context, r *flows.Registration, at catalogue.Club, contact club.Contact, items []flows.NewItem, offers []catalogue.Offer, pointer string) error {
	r.Sale, r.Items, r.Cart = "", nil, flows.Cart{Currency: at.Currency}
	if len(items) == 0 {
		return nil
	}
	if err := f.createSale(ctx, r, at, contact); err != nil {
		return err
	}
	for i, item := range items {
		if err := f.addArticle(ctx, r, at, item, offers[i]); err != nil {
			return itemFailed(err, pointer, i)
		}
	}
	return f.readCart(ctx, r, at)
}

// itemFailed says in a failure which of several items it is about, the i-th.
func itemFailed(err error, pointer string, i int) error {
	var failure *flows.Error
	if pointer == "" || !errors.As(err, &failure) {
		return err
	}
	told := *failure
	told.Detail = fmt.Sprintf("Item %d: %s", i+1, failure.Detail)
	told.Fields = []flows.FieldProblem{{Pointer: fmt.Sprintf(pointer, i), Message: failure.Detail}}
	return &told
}

// ClearItems starts the cart again. The old sale is left as it is: the club
// system cannot delete one, and nothing can pay it any more.
func (f *Service) ClearItems(ctx context.Context, id, token string) (flows.View, error) {
	return f.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		r.Sale, r.Items, r.Cart = "", nil, flows.Cart{Currency: at.Currency}
		return nil
	})
}

// Check asks the club system whether the cart is valid.
func (f *Service) Check(ctx context.Context, id, token string) (flows.Cart, error) {
	r, p, err := f.load(ctx, id, token)
	switch {
	case err != nil:
		return flows.Cart{}, err
	case r.Sale == "":
		return flows.Cart{Problems: []flows.CartProblem{flows.ProblemOf(club.Violation{Code: "api.error.sale.empty"})}}, nil
	case p.Live():
		return r.Cart, nil // frozen as it was agreed on
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return flows.Cart{}, err
	}
	err = f.readCart(ctx, r, at)
	if err == nil && r.Cart.Settled() {
		if err := f.cfg.Store.AmendRegistration(ctx, r); err != nil {
			f.cfg.Log.WarnContext(ctx, "externally settled cart not saved", "error", err)
		}
	}
	return r.Cart, err
}

// offers finds the offers that items ask for, and tells at once everything
// that is wrong with the items, whose debits it completes. pointer says where the
// items stand in the request: a pattern for the index, or empty for the body itself.
func (f *Service) offers(ctx context.Context, r *flows.Registration, seller catalogue.Club, items []flows.NewItem, pointer string) ([]catalogue.Offer, error) {
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
		offer, err := f.cfg.Catalogue.Offer(ctx, query, item.OfferID)
		switch {
		case flows.CodeOf(err) == flows.OfferNotAvailable:
			failure.Code = flows.OfferNotAvailable
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/offerId", Message: "The club does not offer this."})
		case err != nil:
			return nil, err
		case offer.Requires(catalogue.NeedsStartDate) && item.StartDate == "":
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/startDate", Message: "This offer needs a start date."})
		case item.Debit != nil:
			debit, wrong, err := f.completeDebit(ctx, seller, item, offer, at+"/debit")
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

// createSale makes the sale that the cart stands for.
func (f *Service) createSale(ctx context.Context, r *flows.Registration, at catalogue.Club, contact club.Contact) error {
	sale, err := f.cfg.Club.CreateSale(ctx, at.Scope, club.NewSale{
		Contact: contact.IRI, Club: at.IRI, ClubCode: at.Code,
		FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number, Address: contact.Address,
	})
	if err != nil {
		return flows.ClubFailed(err, "The cart could not be made.")
	}
	r.Sale, r.SaleState = sale.IRI, sale.State
	// A new sale has its own span in which the processor remembers its payment's key.
	r.ExpiresAt = f.cfg.Now().Add(flows.PayableFor)
	return nil
}

// addArticle adds an item to the sale. When the answer got lost, the cart that
// is read next tells whether the article is there.
func (f *Service) addArticle(ctx context.Context, r *flows.Registration, at catalogue.Club, item flows.NewItem, offer catalogue.Offer) error {
	article := club.NewArticle{Offer: offer.IRI, StartDate: item.StartDate, RepaymentSchedule: item.Debit.Wire()}
	err := f.cfg.Club.AddArticle(ctx, at.Scope, r.Sale, article)
	if club.OutcomeOf(err) == club.Unknown && f.articleArrived(ctx, r, at, offer.IRI) {
		err = nil
	}
	var upstream *club.Error
	if errors.As(err, &upstream) && (upstream.Status == 400 || upstream.Status == 422) {
		return &flows.Error{Code: flows.OfferNotAvailable, Detail: "The club does not offer this to you.", Err: err}
	}
	if err != nil {
		return flows.ClubFailed(err, "An item could not be added to the cart.")
	}
	r.Items = append(r.Items, flows.Item{NewItem: item, Offer: offer.IRI, Mandate: offer.Requires(catalogue.NeedsMandate)})
	return nil
}

// articleArrived tells whether the sale holds one article more of the offer than was asked for so far.
func (f *Service) articleArrived(ctx context.Context, r *flows.Registration, at catalogue.Club, offer club.IRI) bool {
	sale, err := f.cfg.Club.GetSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return false
	}
	r.MarkIfSettled(sale.State, r.SaleState)
	remote := 0
	for _, article := range sale.Articles {
		if article.Offer == offer && article.Parent == "" {
			remote++
		}
	}
	asked := 0
	for _, item := range r.Items {
		if item.Offer == offer {
			asked++
		}
	}
	return remote > asked
}

// readCart reads the cart as the club system has it: it adds lines on its own, so
// what was asked for says little about what is there.
func (f *Service) readCart(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	sale, check, err := f.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return flows.ClubFailed(err, "The cart could not be read.")
	}
	r.ApplySale(at.Currency, sale, check)
	return nil
}
