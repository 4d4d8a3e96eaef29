package flows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/upstream/club"
)

// mostItems of a cart, as many as a registration can be started with: more is no
// visitor's, and each is a call to the club system whenever the cart is made again.
const mostItems = 20

// NewItem asks for an offer to be put into the cart.
type NewItem struct {
	OfferID   string `json:"offerId"`
	StartDate string `json:"startDate,omitempty"` // YYYY-MM-DD
	Debit     *Debit `json:"debit,omitempty"`     // in the cart, with the day of the first debit
}

// Debit says when the direct debits of an item fall.
type Debit struct {
	Day     *int   `json:"day,omitempty"`     // of the month
	WeekDay *int   `json:"weekDay,omitempty"` // 1 is Monday
	From    string `json:"from,omitempty"`    // YYYY-MM-DD: not before; in the cart, the day of the first debit
}

// Item is what the visitor asked for, once it is in the cart.
type Item struct {
	NewItem
	Offer   club.IRI `json:"offer"`
	Mandate bool     `json:"mandate"` // it needs a signed direct debit mandate before it can be paid
}

// Cart is the sale as the club system held it when it was last read.
type Cart struct {
	Lines    []Line        `json:"lines"`
	Total    int64         `json:"total"` // due now, minor units
	Currency string        `json:"currency"`
	Valid    bool          `json:"valid"`
	Problems []CartProblem `json:"problems,omitempty"`
	Gone     []Line        `json:"gone,omitempty"` // lines that the club system took out since the cart was shown before
}

// Line is an article of the cart.
type Line struct {
	Offer     club.IRI `json:"offer,omitempty"`
	Name      string   `json:"name"`
	Price     int64    `json:"price"` // minor units
	StartDate string   `json:"startDate,omitempty"`
	Debit     *Debit   `json:"debit,omitempty"` // as it was asked for; nil where the club chooses
	Added     bool     `json:"added,omitempty"` // the club system put it there on its own
	Was       *int64   `json:"was,omitempty"`   // what it cost before, to whom resumed since; nil where that is the same
}

// CartProblem is a reason why the club system does not accept the cart.
type CartProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"` // fit to be shown
}

// AddItem adds an offer to the cart.
func (f *Registrations) AddItem(ctx context.Context, id, token string, item NewItem) (View, error) {
	return f.change(ctx, id, token, func(r *Registration, at Club) error {
		if r.Contact == nil {
			return &Error{Code: PersonRequired, Detail: "The buyer's details come before the items."}
		}
		if len(r.Items) >= mostItems {
			return &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/offerId", fmt.Sprintf("The cart is full: it takes %d items.", mostItems)}}}
		}
		items := []NewItem{item}
		offers, err := f.offers(ctx, r, at, items, "")
		if err != nil {
			return err
		}
		item := items[0]
		anew := r.Sale == "" || f.articleArrived(ctx, r, at, offers[0].IRI)
		if r.Cart.settled() {
			if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
				return storageFailed(err)
			}
			return SettledError()
		}
		if anew {
			return f.rebuild(ctx, r, at, append(r.requestedItems(), item))
		}
		if err := f.addArticle(ctx, r, at, item, offers[0]); err != nil {
			return err
		}
		return f.readCart(ctx, r, at)
	})
}

// requestedItems are the items as they were asked for.
func (r *Registration) requestedItems() []NewItem {
	items := make([]NewItem, len(r.Items))
	for i, item := range r.Items {
		items[i] = item.NewItem
	}
	return items
}

// rebuild makes a new sale for the contact: the first one, or one in the place
// of a sale that holds more than the registration knows of. Such is left behind
// when an item was added and the answer, or the registration, could not be
// kept; the club system cannot take an article out again.
func (f *Registrations) rebuild(ctx context.Context, r *Registration, at Club, items []NewItem) error {
	offers, err := f.offers(ctx, r, at, items, "")
	if err != nil {
		return err
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return clubFailed(err, "The contact could not be read.")
	}
	return f.fillSale(ctx, r, at, contact, items, offers, "")
}

// fillSale makes a sale with the items, in the place of the one that there may
// be. pointer is that of offers; with one, a failure says which item it is about.
func (f *Registrations) fillSale(ctx context.Context, r *Registration, at Club, contact club.Contact, items []NewItem, offers []Offer, pointer string) error {
	r.Sale, r.Items, r.Cart = "", nil, Cart{Currency: at.Currency}
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
	var failure *Error
	if pointer == "" || !errors.As(err, &failure) {
		return err
	}
	told := *failure
	told.Detail = fmt.Sprintf("Item %d: %s", i+1, failure.Detail)
	told.Fields = []FieldProblem{{fmt.Sprintf(pointer, i), failure.Detail}}
	return &told
}

// ClearItems starts the cart again. The old sale is left as it is: the club
// system cannot delete one, and nothing can pay it any more.
func (f *Registrations) ClearItems(ctx context.Context, id, token string) (View, error) {
	return f.change(ctx, id, token, func(r *Registration, at Club) error {
		r.Sale, r.Items, r.Cart = "", nil, Cart{Currency: at.Currency}
		return nil
	})
}

// Check asks the club system whether the cart is valid.
func (f *Registrations) Check(ctx context.Context, id, token string) (Cart, error) {
	r, p, err := f.load(ctx, id, token)
	switch {
	case err != nil:
		return Cart{}, err
	case r.Sale == "":
		return Cart{Problems: []CartProblem{problemOf(club.Violation{Code: "api.error.sale.empty"})}}, nil
	case p.Live():
		return r.Cart, nil // frozen as it was agreed on
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return Cart{}, err
	}
	err = f.readCart(ctx, r, at)
	if err == nil && r.Cart.settled() {
		if err := f.cfg.Store.AmendRegistration(ctx, r); err != nil {
			f.cfg.Log.WarnContext(ctx, "externally settled cart not saved", "error", err)
		}
	}
	return r.Cart, err
}

// offers finds the offers that items ask for, and tells at once everything
// that is wrong with the items, whose debits it completes. pointer says where the
// items stand in the request: a pattern for the index, or empty for the body itself.
func (f *Registrations) offers(ctx context.Context, r *Registration, seller Club, items []NewItem, pointer string) ([]Offer, error) {
	query := ProductQuery{ClientToken: r.ClientToken, ClubID: r.ClubID, Channel: r.Channel}
	if r.identified() {
		query.Buyer = *r.Contact.Buyer
	}
	offers := make([]Offer, len(items))
	failure := &Error{Code: InvalidRequest}
	for i, item := range items {
		at := ""
		if pointer != "" {
			at = fmt.Sprintf(pointer, i)
		}
		offer, err := f.cfg.Catalogue.Offer(ctx, query, item.OfferID)
		switch {
		case CodeOf(err) == OfferNotAvailable:
			failure.Code = OfferNotAvailable
			failure.Fields = append(failure.Fields, FieldProblem{at + "/offerId", "The club does not offer this."})
		case err != nil:
			return nil, err
		case offer.NeedsOne(NeedsStartDate) && item.StartDate == "":
			failure.Fields = append(failure.Fields, FieldProblem{at + "/startDate", "This offer needs a start date."})
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
func (f *Registrations) createSale(ctx context.Context, r *Registration, at Club, contact club.Contact) error {
	sale, err := f.cfg.Club.CreateSale(ctx, at.Scope, club.NewSale{
		Contact: contact.IRI, Club: at.IRI, ClubCode: at.Code,
		FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number, Address: contact.Address,
	})
	if err != nil {
		return clubFailed(err, "The cart could not be made.")
	}
	r.Sale, r.SaleState = sale.IRI, sale.State
	// A new sale has its own span in which the processor remembers its payment's key.
	r.ExpiresAt = f.cfg.Now().Add(PayableFor)
	return nil
}

// addArticle adds an item to the sale. When the answer got lost, the cart that
// is read next tells whether the article is there.
func (f *Registrations) addArticle(ctx context.Context, r *Registration, at Club, item NewItem, offer Offer) error {
	article := club.NewArticle{Offer: offer.IRI, StartDate: item.StartDate, RepaymentSchedule: item.Debit.wire()}
	err := f.cfg.Club.AddArticle(ctx, at.Scope, r.Sale, article)
	if club.OutcomeOf(err) == club.Unknown && f.articleArrived(ctx, r, at, offer.IRI) {
		err = nil
	}
	var upstream *club.Error
	if errors.As(err, &upstream) && (upstream.Status == 400 || upstream.Status == 422) {
		return &Error{Code: OfferNotAvailable, Detail: "The club does not offer this to you.", Err: err}
	}
	if err != nil {
		return clubFailed(err, "An item could not be added to the cart.")
	}
	r.Items = append(r.Items, Item{NewItem: item, Offer: offer.IRI, Mandate: offer.NeedsOne(NeedsMandate)})
	return nil
}

// articleArrived tells whether the sale holds one article more of the offer than was asked for so far.
func (f *Registrations) articleArrived(ctx context.Context, r *Registration, at Club, offer club.IRI) bool {
	sale, err := f.cfg.Club.GetSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return false
	}
	r.markIfSettled(sale.State, r.SaleState)
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
func (f *Registrations) readCart(ctx context.Context, r *Registration, at Club) error {
	sale, check, err := f.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return clubFailed(err, "The cart could not be read.")
	}
	r.applySale(at.Currency, sale, check)
	return nil
}

// applySale takes over what was read of the sale.
func (r *Registration) applySale(currency string, sale club.Sale, check club.SaleCheck) {
	if r.SaleState == "" {
		r.SaleState = sale.State
	}
	r.Cart = cartOf(sale, check, r.Items, r.needsMandate())
	if r.Cart.Currency == "" {
		r.Cart.Currency = currency
	}
	r.markIfSettled(sale.State, r.SaleState)
}

func cartOf(sale club.Sale, check club.SaleCheck, items []Item, mandateMissing bool) Cart {
	cart := Cart{Total: sale.TotalTI, Currency: sale.Currency, Valid: check.Valid}
	asked := slices.Clone(items)
	for _, article := range sale.Articles {
		line := Line{Offer: article.Offer, Name: article.Name, Price: article.PriceTI, Added: true}
		i := slices.IndexFunc(asked, func(item Item) bool { return item.Offer == article.Offer })
		if i >= 0 && article.Parent == "" {
			line.Added, line.StartDate, line.Debit = false, asked[i].StartDate, asked[i].Debit
			asked = slices.Delete(asked, i, i+1)
		}
		cart.Lines = append(cart.Lines, line)
	}
	for _, violation := range check.Violations {
		cart.Problems = append(cart.Problems, problemOf(violation))
	}
	if !check.Valid && len(cart.Problems) == 0 {
		cart.Problems = append(cart.Problems, problemOf(club.Violation{}))
	}
	const mandate = "api.error.sale.mandate-required"
	told := slices.ContainsFunc(check.Violations, func(v club.Violation) bool { return v.Code == mandate })
	if mandateMissing && !told { // our own rule, whether the club system has it or not
		cart.Valid, cart.Problems = false, append(cart.Problems, problemOf(club.Violation{Code: mandate}))
	}
	return cart
}

// problemOf puts a violation into words for a visitor. The club system's own
// words are not passed on: they are not written for visitors, and may name others.
func problemOf(v club.Violation) CartProblem {
	switch v.Code {
	case "api.error.sale.empty":
		return CartProblem{"cart_empty", "There is nothing in the cart."}
	case "api.error.sale.article.age-restricted":
		return CartProblem{"age_restricted", "One of the offers is not open to people of your age."}
	case "api.error.sale.article.start-date-required":
		return CartProblem{"start_date_required", "One of the offers needs a start date."}
	case "api.error.sale.mandate-required":
		return CartProblem{string(MandateRequired), "A direct debit mandate has to be signed first."}
	case "api.error.sale.contact-incomplete":
		return CartProblem{"person_incomplete", "The club needs more of your details."}
	case "api.error.sale.article.debit-day-not-allowed":
		return CartProblem{"debit_day_not_allowed", "The club cannot debit on the day that was chosen."}
	case "api.error.sale.article.not-available":
		return CartProblem{"not_available", "One of the offers is not available any more."}
	case "api.error.sale.debt":
		return CartProblem{"debt", "The club asks you to settle what is open first."}
	default:
		return CartProblem{"not_accepted", "The club does not accept this cart. Please choose another offer, or ask the club."}
	}
}
