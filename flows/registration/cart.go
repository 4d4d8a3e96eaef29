package registration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// maxItems of a cart, as many as a registration can start with. Each is a call to the club system
// whenever the cart is rebuilt.
const maxItems = 20

// AddItem adds an offer to the cart.
func (s *Service) AddItem(ctx context.Context, id, token string, item flows.NewItem) (flows.View, error) {
	return s.change(ctx, id, token, func(registration *flows.Registration, at catalogue.Club) error {
		if registration.Contact == nil {
			return &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailPersonBeforeItems}
		}
		if len(registration.Items) >= maxItems {
			most := map[string]string{"max": strconv.Itoa(maxItems)}
			return flows.Invalid(flows.FieldProblem{Pointer: "/offerId", Code: flows.FieldCartFull, Params: most})
		}
		offers, items, err := s.offers(ctx, registration, at, []flows.NewItem{item}, "")
		switch {
		case err != nil:
			return err
		case registration.Sale == "":
			return s.rebuild(ctx, registration, at, append(registration.RequestedItems(), items...))
		}
		return s.addToSale(ctx, registration, at, items[0], offers[0])
	})
}

// addToSale adds an item to the registration's sale. An item of an earlier request that failed is in the cart now: if
// it is the same, this request repeats that one. A sale with more articles than items is replaced.
func (s *Service) addToSale(ctx context.Context, registration *flows.Registration, at catalogue.Club, item flows.NewItem,
	offer catalogue.Offer) error {
	sale, err := s.cfg.Club.GetSale(ctx, at.Scope, registration.Sale)
	if s.noteMissing(ctx, registration, registration.Sale, err) {
		return s.rebuild(ctx, registration, at, append(registration.RequestedItems(), item))
	}
	if err == nil {
		registration.Cart = registration.Cart.MarkedIfSettled(sale.State, registration.SaleState)
		if registration.Cart.Settled() {
			return cmp.Or(s.save(ctx, registration), flows.SettledError())
		}
	} else if registration.Write != nil {
		return flows.ClubFailed(err, flows.DetailCartUnread)
	}
	cart := cartOf(registration)
	arrived, pending := s.settleWrite(cart, sale)
	switch {
	case pending != nil:
		return pending
	case arrived != nil && arrived.Requests(item):
		return s.readCart(ctx, registration, at)
	case err == nil && flows.MoreOf(offer.IRI, sale, registration.Items) > 0:
		return s.rebuild(ctx, registration, at, append(registration.RequestedItems(), item))
	}
	before := *registration
	err = s.addArticle(ctx, registration, at, cart, item, offer)
	if err == nil {
		before.Write = registration.Write
		cart.accept()
		if err = s.readCart(ctx, registration, at); err != nil {
			registration.Items, registration.Write = before.Items, before.Write
		}
	}
	if err != nil {
		s.keep(ctx, registration)
	}
	return err
}

// replaceable returns an error unless the sale can be replaced by a new one: staff may have settled it in
// the club system, and the buyer would pay again for the new one.
func (s *Service) replaceable(ctx context.Context, registration *flows.Registration, at catalogue.Club) error {
	if registration.Sale == "" {
		return nil
	}
	sale, err := s.cfg.Club.GetSale(ctx, at.Scope, registration.Sale)
	switch {
	case s.noteMissing(ctx, registration, registration.Sale, err):
		return nil
	case err != nil:
		return flows.ClubFailed(err, flows.DetailCartUnread)
	}
	registration.Cart = registration.Cart.MarkedIfSettled(sale.State, registration.SaleState)
	if !registration.Cart.Settled() {
		return nil
	}
	return cmp.Or(s.save(ctx, registration), flows.SettledError())
}

// noteMissing notes whether the club system finds a record of the registration, and reports whether the record is gone, so that
// a new one can take its place: no reading has found it for flows.GoneAfter. err is that of a reading just made. The registration
// must be as stored, because it is stored if the reading is the first one that found the record or did not.
func (s *Service) noteMissing(ctx context.Context, r *flows.Registration, record club.IRI, err error) (gone bool) {
	missing, now := errors.Is(err, club.ErrNotFound), s.cfg.Now()
	if (err == nil || missing) && r.NoteFound(record, !missing, now) {
		s.keep(ctx, r)
	}
	return missing && now.Sub(r.Missing[record]) >= flows.GoneAfter
}

// rebuild creates a new sale for the contact: the first one, or the replacement of a sale that has
// more than the registration. That happens when an item was removed, or was added and the response, or
// the registration, was lost; the club system cannot remove an article. A cart without items has no sale.
func (s *Service) rebuild(ctx context.Context, registration *flows.Registration, at catalogue.Club, items []flows.NewItem) error {
	if len(items) == 0 {
		clearCart(registration, at)
		return nil
	}
	offers, items, err := s.offers(ctx, registration, at, items, "")
	if err != nil {
		return err
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, registration.Contact.IRI)
	if err != nil {
		return flows.ClubFailed(err, flows.DetailContactUnread)
	}
	if registration.Draft != nil && registration.Draft.Person != "" {
		registration.Draft = nil // of another contact
	}
	return s.fillSale(ctx, registration, at, contact, items, offers, "")
}

func clearCart(r *flows.Registration, at catalogue.Club) {
	r.Sale, r.Items, r.Write, r.Draft, r.Missing, r.Offers, r.Cart = "", nil, nil, nil, nil, nil, flows.Cart{Currency: at.Currency}
}

// itemFailed adds to an error which of several items it is about.
func itemFailed(err error, pointer string, i int) error {
	failure, ok := errors.AsType[*flows.Error](err)
	if pointer == "" || !ok {
		return err
	}
	located := *failure
	located.Item = i + 1
	if at := fmt.Sprintf(pointer, i); len(failure.Fields) > 0 {
		located.Fields = slices.Clone(failure.Fields)
		for n := range located.Fields {
			located.Fields[n].Pointer = at + located.Fields[n].Pointer
		}
		return &located
	}
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
// A line that the buyer did not choose, or that is gone, changes nothing while the registration is open.
func (s *Service) RemoveItem(ctx context.Context, id, token, item string) (flows.View, error) {
	registration, payment, err := s.load(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	isRequested := slices.ContainsFunc(registration.RequestedItems(), func(requested flows.NewItem) bool { return requested.ID == item })
	if phase := registration.Phase(payment, s.cfg.Now()); !isRequested && (phase == flows.Open || phase == flows.Paying) {
		return s.view(registration, payment), nil
	}
	return s.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		kept := slices.DeleteFunc(r.RequestedItems(), func(requested flows.NewItem) bool { return requested.ID == item })
		if err := s.replaceable(ctx, r, at); err != nil {
			return err
		}
		return s.rebuildAccepted(ctx, r, at, kept)
	})
}

// rebuildAccepted rebuilds the sale without the items that the club system refuses now, because they depend on what was removed. The
// cart shows them as gone.
func (s *Service) rebuildAccepted(ctx context.Context, r *flows.Registration, at catalogue.Club, kept []flows.NewItem) error {
	before := r.Cart.Lines
	var gone []string
	for {
		err := s.rebuild(ctx, r, at, kept)
		refused, ok := errors.AsType[*refusedItem](err)
		switch {
		case ok:
			gone = append(gone, kept[refused.index].ID)
			kept = slices.Delete(kept, refused.index, refused.index+1)
			continue
		case err == nil && len(gone) > 0:
			isGone := func(line flows.Line) bool { return slices.Contains(gone, line.ID) }
			r.Cart.Gone = slices.DeleteFunc(slices.Clone(before), func(line flows.Line) bool { return !isGone(line) })
		}
		return withoutFields(err)
	}
}

// refusedItem is the error for one of several items that the club system does not accept.
type refusedItem struct {
	error
	index int
}

func (r *refusedItem) Unwrap() error { return r.error }

// Check asks the club system whether the cart is valid, and stores what it says, so that a problem that staff
// solved is over everywhere.
func (s *Service) Check(ctx context.Context, id, token string) (flows.View, error) {
	registration, payment, err := s.load(ctx, id, token)
	if err != nil || registration.Sale == "" || payment.Live() { // which is frozen as it was agreed on
		return s.view(registration, payment), err
	}
	at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
	if err != nil {
		return flows.View{}, err
	}
	stored, sale, save := registration.Cart, registration.Sale, s.cfg.Store.AmendRegistration
	if err := s.currentCart(ctx, registration, payment, at); err != nil {
		return flows.View{}, err
	}
	registration.Cart.KeepMarks(stored)
	if registration.Sale != sale {
		save = s.cfg.Store.SaveRegistration // which keeps it for as long as the new sale can be paid
	}
	if err := save(ctx, registration); err != nil {
		s.cfg.Log.WarnContext(ctx, "checked cart not saved", "error", err)
	}
	return s.view(registration, payment), nil
}

// offers finds the offers of items, and returns the items with their debits complete. The error lists everything that is
// wrong. pointer is a pattern for an item's index in the request, or empty for the body itself.
func (s *Service) offers(ctx context.Context, r *flows.Registration, seller catalogue.Club, items []flows.NewItem,
	pointer string) (offers []catalogue.Offer, complete []flows.NewItem, err error) {
	query := queryOf(r)
	offers, complete = make([]catalogue.Offer, len(items)), slices.Clone(items)
	failure := &flows.Error{Code: flows.InvalidRequest}
	for i, item := range items {
		at := ""
		if pointer != "" {
			at = fmt.Sprintf(pointer, i)
		}
		offer, err := s.cfg.Catalogue.Offer(ctx, query, item.OfferID)
		switch {
		case flows.CodeOf(err) == flows.OfferNotAvailable:
			failure.Code = flows.OfferNotAvailable
			failure.Detail = flows.DetailOfferNotAtClub
			failure.Params = map[string]string{"clubId": query.ClubID, "offerId": item.OfferID}
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/offerId", Code: flows.FieldNotOffered})
		case err != nil:
			return nil, nil, err
		case offer.Requires(catalogue.NeedsStartDate) && item.StartDate == "":
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + "/startDate", Code: flows.FieldRequired})
		}
		wrongDates := s.dateProblems(seller, item, at)
		failure.Fields = append(failure.Fields, wrongDates...)
		if item.Debit != nil && err == nil && len(wrongDates) == 0 {
			debit, wrong, err := s.completeDebit(ctx, seller, item, offer, at+"/debit")
			if err != nil {
				return nil, nil, err
			}
			complete[i].Debit, failure.Fields = debit, append(failure.Fields, wrong...)
		}
		offers[i] = offer
	}
	if len(failure.Fields) > 0 {
		return nil, nil, failure
	}
	return offers, complete, nil
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

// currentCart reads the cart. A sale that the club system has removed is replaced by a new one of the same items,
// if the registration can still be paid.
func (s *Service) currentCart(ctx context.Context, registration *flows.Registration, payment *flows.Payment, at catalogue.Club) error {
	err := s.readCart(ctx, registration, at)
	again := err
	if errors.Is(err, club.ErrNotFound) { // perhaps only the check was not found
		_, again = s.cfg.Club.GetSale(ctx, at.Scope, registration.Sale)
	}
	if !s.noteMissing(ctx, registration, registration.Sale, again) {
		return err
	}
	registration.Cart = registration.CartAfter(payment)
	if registration.Closed(payment, s.cfg.Now()) {
		return err
	}
	return withoutFields(s.rebuild(ctx, registration, at, registration.RequestedItems()))
}

// readCart reads the cart from the club system, which adds lines of its own.
func (s *Service) readCart(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	sale, check, err := s.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return flows.ClubFailed(err, flows.DetailCartUnread)
	}
	s.applySale(ctx, r, at, sale, check)
	return nil
}

// applySale sets the cart to a sale that was just read, and notes its offers.
func (s *Service) applySale(ctx context.Context, r *flows.Registration, at catalogue.Club, sale club.Sale, check club.SaleCheck) {
	r.ApplySale(at.Currency, sale, check)
	if err := s.showOffers(ctx, r); err != nil {
		s.cfg.Log.WarnContext(ctx, "cart shown without its later payments", "registration", r.ID, "error", err)
	}
}
