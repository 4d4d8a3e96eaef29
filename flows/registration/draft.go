package registration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

const (
	// keepTimeout bounds the storage of what a failed request has made. Its caller waits for it.
	keepTimeout = 3 * time.Second
	// clocksDiffer is how far the club system's clock may be behind.
	clocksDiffer = 5 * time.Minute
)

// errLate is the reason for which a write was not sent: another request may continue already.
var errLate = errors.New("registration: the write is too old to be sent")

// createContactAndSale creates the contact and, with items, the sale. It continues a draft with the same details.
// pointer is where the person is in the request's body.
func (s *Service) createContactAndSale(ctx context.Context, registration *flows.Registration, at catalogue.Club, person flows.Person,
	pointer string,
	items []flows.NewItem, offers []catalogue.Offer) error {
	if err := s.checkGuardian(at, person, person.Guardian, pointer+"/guardian"); err != nil {
		return err
	}
	contact, err := s.draftContact(ctx, registration, at, person, pointer)
	if err != nil {
		s.keep(ctx, registration)
		return err
	}
	buyer := registration.Draft.Contact
	itemPointer := ""
	if pointer != "" {
		itemPointer = eachItem // the body that starts a registration has the items too
	}
	if err := s.fillSale(ctx, registration, at, contact, items, offers, itemPointer); err != nil {
		return err
	}
	if registration.Contact != nil && buyer.Email != "" {
		buyer.EmailHolder = registration.Contact.HoldsEmail()
	}
	registration.Contact = buyer
	registration.PersonPseudonyms = nil // the record has nothing of a former buyer
	s.nameBuyer(registration, person)
	s.indexPerson(registration, at, person.Email, person.Mobile)
	s.setGuardian(registration, at, person.Guardian)
	return nil
}

// draftContact returns the contact of a draft with these details, or creates it. One that the draft does not name
// may exist, and is searched for.
func (s *Service) draftContact(ctx context.Context, registration *flows.Registration, at catalogue.Club, person flows.Person,
	pointer string) (contact club.Contact, err error) {
	text, _ := json.Marshal(person) // strings can be encoded
	names := s.cfg.Keys.Pseudonyms("details", string(text))
	again := registration.Draft != nil && slices.Contains(names, registration.Draft.Person)
	switch {
	case again && registration.Draft.Contact != nil:
		contact, err = s.cfg.readContact(ctx, at.Scope, registration.Draft.Contact.IRI)
		if !s.noteMissing(ctx, registration, registration.Draft.Contact.IRI, err) {
			return contact, flows.ClubFailed(err, flows.DetailContactUnread)
		}
	case again:
		found, err := s.findContact(ctx, registration, at, person)
		if err != nil || found.IRI != "" {
			takeContact(registration, found, person)
			return found, err
		}
	}
	began := s.cfg.Now()
	registration.Draft = &flows.Draft{Person: names[0], Since: began.Round(0)}
	s.indexPerson(registration, at, person.Email, person.Mobile) // for an erasure
	if err := s.save(ctx, registration); err != nil {
		return contact, err
	}
	contact, err = s.createContact(club.WithGate(ctx, s.sendSoon(began)), at, person, pointer)
	if err != nil {
		if cause, ok := errors.AsType[*club.Error](err); ok && cause.Outcome != club.Unknown {
			registration.Draft = nil
		}
		return contact, err
	}
	takeContact(registration, contact, person)
	return contact, s.save(ctx, registration)
}

// takeContact makes a contact the draft's.
func takeContact(r *flows.Registration, contact club.Contact, person flows.Person) {
	if contact.IRI == "" {
		return
	}
	r.Draft.Contact = flows.ContactOf(contact)
	r.Draft.Contact.Masked, r.Draft.Contact.Entered = person.Masked(), person.Email
	if !person.Guardian.IsZero() {
		r.Draft.Contact.OwnMobile = person.Mobile
	}
	if contact.Email == "" {
		r.Draft.Contact.Email = person.Email
	}
}

// findContact searches for the contact of a request whose response was lost, as createContact may have created it: with
// the e-mail address, or without. One of another registration is not taken: its buyer may be another person. An
// installation without a search for contacts finds none.
func (s *Service) findContact(ctx context.Context, r *flows.Registration, at catalogue.Club, person flows.Person) (club.Contact, error) {
	withoutEmail := person
	withoutEmail.Email = ""
	for _, person := range []flows.Person{person, withoutEmail} {
		found, err := s.cfg.Club.FindContacts(ctx, at.Scope, newContact(at, person), r.Draft.Since.Add(-clocksDiffer))
		if err != nil && isTemporary(err) {
			return club.Contact{}, flows.ClubFailed(err, flows.DetailContactNotSearched)
		}
		for _, contact := range found {
			holders, err := s.cfg.Store.RegistrationsOf(ctx, contact.IRI)
			if err != nil {
				return club.Contact{}, flows.StorageFailed(err)
			}
			if len(holders) == 0 {
				return contact, nil
			}
		}
	}
	return club.Contact{}, nil
}

// fillSale replaces the sale by one with the items, whose offers are given. It continues a draft's sale. pointer is
// that of offers; with one, an error says which item it is about.
func (s *Service) fillSale(ctx context.Context, registration *flows.Registration, at catalogue.Club, contact club.Contact,
	items []flows.NewItem,
	offers []catalogue.Offer, pointer string) error {
	if len(items) == 0 {
		clearCart(registration, at)
		return nil
	}
	if registration.Draft == nil {
		registration.Draft = &flows.Draft{}
	}
	sale, check, err := s.fillDraft(ctx, registration, at, contact, items, offers, pointer)
	if err != nil {
		s.keep(ctx, registration)
		return err
	}
	d := registration.Draft
	clearCart(registration, at)
	registration.Sale, registration.SaleState, registration.Items = d.Sale, d.SaleState, d.Items
	// The processor keeps the payment's idempotency key for a limited time, per sale.
	registration.ExpiresAt = d.OpenedAt.Add(flows.PayableFor)
	s.applySale(ctx, registration, at, sale, check)
	return nil
}

// fillDraft opens the draft's sale, unless there is one to continue, adds the items that it lacks, and reads it.
func (s *Service) fillDraft(ctx context.Context, registration *flows.Registration, at catalogue.Club, contact club.Contact,
	items []flows.NewItem,
	offers []catalogue.Offer, pointer string) (sale club.Sale, check club.SaleCheck, err error) {
	cart := draftOf(registration)
	if registration.Draft.Write != nil {
		sale, err := s.cfg.Club.GetSale(ctx, at.Scope, registration.Draft.Sale)
		if err != nil && !s.noteMissing(ctx, registration, registration.Draft.Sale, err) {
			return sale, check, flows.ClubFailed(err, flows.DetailCartUnread)
		}
		if _, err := s.settleWrite(cart, sale); err != nil {
			return sale, check, err
		}
	}
	if !registration.Draft.Begins(contact.IRI, items, s.cfg.Now()) {
		if err := s.createSale(ctx, registration.Draft, at, contact); err != nil {
			return sale, check, err
		}
		cart = draftOf(registration)
	}
	for i, item := range items {
		if i < len(registration.Draft.Items) {
			registration.Draft.Items[i].ID = cmp.Or(item.ID, registration.Draft.Items[i].ID)
			continue
		}
		if err := s.addArticle(ctx, registration, at, cart, item, offers[i]); err != nil {
			if s.noteMissing(ctx, registration, registration.Draft.Sale, err) {
				registration.Draft.Sale = ""
			}
			if pointer == "" && flows.CodeOf(err) == flows.OfferNotAvailable && club.IsOwn(err) {
				err = &refusedItem{err, i}
			}
			return sale, check, itemFailed(err, pointer, i)
		}
		cart.accept()
	}
	sale, check, err = s.cfg.Club.GetCheckedSale(ctx, at.Scope, registration.Draft.Sale)
	if s.noteMissing(ctx, registration, registration.Draft.Sale, err) {
		registration.Draft.Sale = ""
	}
	return sale, check, flows.ClubFailed(err, flows.DetailCartUnread)
}

func (s *Service) createSale(ctx context.Context, draft *flows.Draft, at catalogue.Club, contact club.Contact) error {
	sale, err := s.cfg.Club.CreateSale(ctx, at.Scope, club.NewSale{
		Contact:    contact.IRI,
		Club:       at.IRI,
		ClubCode:   at.Code,
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Address:    contact.Address,
	})
	if err != nil {
		return flows.ClubFailed(err, flows.DetailCartNotCreated)
	}
	*draft = flows.Draft{
		Person:    draft.Person,
		Contact:   draft.Contact,
		Sale:      sale.IRI,
		SaleState: sale.State,
		Buyer:     contact.IRI,
		OpenedAt:  s.cfg.Now(),
	}
	return nil
}

// cart is a sale with what is known of it: the registration's, or that of its draft.
type cart struct {
	sale  club.IRI
	items *[]flows.Item
	write **flows.Write
}

func cartOf(r *flows.Registration) cart { return cart{r.Sale, &r.Items, &r.Write} }

func draftOf(r *flows.Registration) cart { return cart{r.Draft.Sale, &r.Draft.Items, &r.Draft.Write} }

// accept notes that the article of the mark is in the sale.
func (c cart) accept() *flows.Item {
	item := (*c.write).Item
	*c.items, *c.write = append(*c.items, item), nil
	return &item
}

// addArticle adds an item to a sale, and returns once it has arrived. The mark stays until accept. It is stored before
// the article is sent, so that no payment begins meanwhile, and no article is sent after a payment has begun.
func (s *Service) addArticle(ctx context.Context, registration *flows.Registration, at catalogue.Club, into cart, item flows.NewItem,
	offer catalogue.Offer) error {
	item.ID = cmp.Or(item.ID, uuid.NewString())
	began := s.cfg.Now()
	*into.write = &flows.Write{Until: began.Add(flows.ArriveWithin).Round(0), Item: flows.Item{
		NewItem:    item,
		Offer:      offer.IRI,
		Mandate:    offer.Requires(catalogue.NeedsMandate),
		Type:       offer.Type,
		Commitment: offer.Commitment,
	}}
	if err := s.save(ctx, registration); err != nil {
		return err
	}
	article := club.NewArticle{Offer: offer.IRI, StartDate: item.StartDate, RepaymentSchedule: item.Debit.Wire()}
	err := s.cfg.Club.AddArticle(club.WithGate(ctx, s.sendSoon(began)), at.Scope, into.sale, article)
	ended := club.Ended(err)
	if err == nil || ended {
		(*into.write).Until = s.cfg.Now().Round(0)
	}
	(*into.write).Ended = true
	switch club.OutcomeOf(err) {
	case club.Accepted:
		return nil
	case club.Unknown: // what became of it can be read
		sale, unread := s.cfg.Club.GetSale(ctx, at.Scope, into.sale)
		switch {
		case unread == nil && flows.MoreOf(offer.IRI, sale, *into.items) > 0:
			return nil
		case unread == nil && ended:
			*into.write = nil
		}
	default:
		*into.write = nil
	}
	if upstream, ok := errors.AsType[*club.Error](err); ok && (upstream.Status == 400 || upstream.Status == 422) {
		refused := &flows.Error{Code: flows.OfferNotAvailable, Detail: flows.DetailOfferNotForBuyer, Err: err}
		for _, violation := range upstream.Violations {
			if problem := flows.FieldProblemOf(violation); !slices.ContainsFunc(refused.Fields, problem.SameAs) {
				refused.Fields = append(refused.Fields, problem)
			}
		}
		return refused
	}
	return flows.ClubFailed(err, flows.DetailItemNotAdded)
}

// sendSoon returns the gate of a write whose mark was made at an instant, on both clocks: the wall clock sees a
// suspended machine, the monotonic one a clock that was set.
func (s *Service) sendSoon(began time.Time) club.Gate {
	return func() error {
		now := s.cfg.Now()
		if now.Sub(began) > flows.SendWithin || now.Round(0).Sub(began.Round(0)) > flows.SendWithin {
			return errLate
		}
		return nil
	}
}

// settleWrite ends the mark of a cart by its sale, just read, and returns the item if it has arrived. Its error says
// when to try again, as long as that is not known.
func (s *Service) settleWrite(from cart, sale club.Sale) (arrived *flows.Item, err error) {
	write, now := *from.write, s.cfg.Now()
	if write == nil {
		return nil, nil
	}
	if left := write.Pending(now); left > 0 {
		return nil, onItsWay(left)
	}
	if flows.MoreOf(write.Item.Offer, sale, *from.items) > 0 {
		return from.accept(), nil
	}
	if left := write.Left(now); left > 0 && sale.IRI != "" {
		return nil, onItsWay(left)
	}
	*from.write = nil
	return nil, nil
}

func onItsWay(left time.Duration) error {
	return &flows.Error{Code: flows.ClubSystemUnavailable, RetryAfter: left,
		Detail: flows.DetailItemOnItsWay}
}

// awaitWrite returns an error while an article may be on its way to the registration's sale, which a payment would
// not include. Afterwards, the item is in the cart if it has arrived.
func (s *Service) awaitWrite(ctx context.Context, registration *flows.Registration, at catalogue.Club) error {
	if registration.Write == nil {
		return nil
	}
	if left := registration.Write.Pending(s.cfg.Now()); left > 0 {
		return onItsWay(left)
	}
	sale, err := s.cfg.Club.GetSale(ctx, at.Scope, registration.Sale)
	if err != nil && !s.noteMissing(ctx, registration, registration.Sale, err) {
		return flows.ClubFailed(err, flows.DetailCartUnread)
	}
	_, err = s.settleWrite(cartOf(registration), sale)
	return err
}

// keep stores what a failed request has made, for its repetition. If that fails too, the marks say enough.
func (s *Service) keep(ctx context.Context, r *flows.Registration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	if err := s.cfg.Store.SaveRegistration(ctx, r); err != nil && !errors.Is(err, flows.ErrConflict) {
		s.cfg.Log.WarnContext(ctx, "failed request not stored for its repetition", "registration", r.ID, "error", err)
	}
}
