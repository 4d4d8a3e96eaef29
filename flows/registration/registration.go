// Package registration is the visitor's journey: starting, filling and resuming a
// registration, its cart and mandate, bringing in a known person, and asking for its
// payment. Service has a method for each operation of the public API.
//
// A failure leaves no half-made registration: contact, sale and items are made first, the
// record is saved last, by compare-and-set. How money moves is package payment's.
package registration

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/signature"
	"frontdesk/upstream/club"
)

const (
	// advanceTriggerEvery: how often a visitor who waits may cause a look at the payment.
	advanceTriggerEvery = 2 * time.Second
	// advanceWait: how long that look may keep the visitor's answer; the sweeper looks again anyway.
	advanceWait = 2 * time.Second
)

// eachItem is where the items stand in a request that has several.
const eachItem = "/items/%d"

// Service are the journeys of the public API, a method each.
type Service struct {
	cfg Config
}

// Store is what the journey needs of Redis. Each write is one atomic script; one that lost a
// race returns ErrConflict and changed nothing.
type Store interface {
	// Registration reads a registration and its latest payment (nil when there is none). ErrNotFound.
	Registration(ctx context.Context, id string) (*flows.Registration, *flows.Payment, error)
	// SaveRegistration replaces the registration if its version is still r.Version, and counts the version up.
	SaveRegistration(ctx context.Context, r *flows.Registration) error
	// AmendRegistration is SaveRegistration that leaves alone how long the registration is kept.
	AmendRegistration(ctx context.Context, r *flows.Registration) error
	// StartPayment saves the registration as SaveRegistration does and creates
	// its next payment, both or neither.
	StartPayment(ctx context.Context, r *flows.Registration, p *flows.Payment) error
	// Payment reads a payment. ErrNotFound.
	Payment(ctx context.Context, id flows.PaymentID) (*flows.Payment, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
	// ClaimInvitation gives an invitation to its first use; ErrNotFound to every other.
	ClaimInvitation(ctx context.Context, hash, use string) (flows.Invitation, error)
	// ReleaseInvitation makes an invitation good again that this use has taken.
	ReleaseInvitation(ctx context.Context, hash, use string) error
}

// Queue has payments advanced in the background.
type Queue interface {
	AdvanceSoon(ctx context.Context, p *flows.Payment) error
}

// Config is what the journeys need; every field is required unless said.
type Config struct {
	Store     Store
	Queue     Queue
	Club      *club.Client
	Catalogue *catalogue.Catalogue
	Payments  *payment.Machine
	Keys      *keyring.Keyring
	Codes     *signature.CodeSender
	PublicURL string // where the signup site stands, the default of returnUrl
	Now       func() time.Time
	Log       *slog.Logger
}

// New makes the journeys.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// StartRequest asks for a registration; Person and Items may be absent. With
// Contact or Invitation it is for a contact whom the club knows.
type StartRequest struct {
	ClientToken string
	ClubID      string
	Channel     string
	Staff       bool // who asks has proven to be staff
	Person      *flows.Person
	Contact     *flows.ContactIdentity
	Invitation  string
	Items       []flows.NewItem
}

// Start begins a registration and answers with it and its holder's token,
// which is stored nowhere. Contact, sale and items are made first, so that a
// failure leaves no half-made registration behind.
func (f *Service) Start(ctx context.Context, in StartRequest) (flows.View, string, error) {
	known := in.Contact != nil || in.Invitation != ""
	switch {
	case in.Channel != club.ChannelWeb && !in.Staff:
		return flows.View{}, "", &flows.Error{Code: flows.StaffOnly, Detail: "Only the club's staff can say that the visitor is at the club.",
			Fields: []flows.FieldProblem{{Pointer: "/channel", Message: "needs a staff key"}}}
	case in.Contact != nil && in.Invitation != "":
		return flows.View{}, "", &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/invitation", Message: "You are logged in: leave the invitation out."}}}
	case known && in.Person != nil:
		return flows.View{}, "", personKnown()
	case !known && in.Person == nil && len(in.Items) > 0:
		return flows.View{}, "", &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/person", Message: "Items need the person who buys them."}}}
	case in.Invitation != "":
		return f.startInvited(ctx, in)
	}
	return f.start(ctx, in)
}

func personKnown() error {
	return &flows.Error{Code: flows.PersonKnown, Detail: "The club knows you: your details are changed there, not here."}
}

func (f *Service) start(ctx context.Context, in StartRequest) (flows.View, string, error) {
	id := uuid.NewString()
	token, hash := newToken(f.cfg.Keys, id)
	now := f.cfg.Now()
	r := &flows.Registration{
		ID: id, State: flows.Open, ClientToken: in.ClientToken, TokenHash: hash, ClubID: in.ClubID,
		Channel: in.Channel, CreatedAt: now, ExpiresAt: now.Add(flows.PayableFor),
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		if flows.CodeOf(err) == flows.NotFound {
			err = &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/clubId", Message: "There is no such club."}}, Err: err}
		}
		return flows.View{}, "", err
	}
	r.Cart.Currency = at.Currency
	if err := f.prepare(ctx, r, at, in); err != nil {
		return flows.View{}, "", err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return flows.View{}, "", flows.StorageFailed(err)
	}
	return f.view(r, nil), token, nil
}

// prepare brings the registration as far as what is known of the buyer and the cart allows.
func (f *Service) prepare(ctx context.Context, r *flows.Registration, at catalogue.Club, in StartRequest) (err error) {
	var contact club.Contact
	if in.Contact != nil {
		if contact, err = f.attachContact(ctx, r, *in.Contact); err != nil {
			return err
		}
	}
	offers, err := f.offers(ctx, r, at, in.Items, eachItem)
	switch {
	case err != nil:
		return err
	case in.Contact != nil:
		return f.fillSale(ctx, r, at, contact, in.Items, offers, eachItem)
	case in.Person != nil:
		return f.createContactAndSale(ctx, r, at, *in.Person, in.Items, offers)
	}
	return nil
}

// createContactAndSale makes the contact and, when there are items, the sale with them.
func (f *Service) createContactAndSale(ctx context.Context, r *flows.Registration, at catalogue.Club, person flows.Person, items []flows.NewItem, offers []catalogue.Offer) error {
	contact, err := f.createContact(ctx, at, person)
	if err != nil {
		return err
	}
	r.Contact = &flows.Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status}
	f.indexPerson(r, person.Email, person.Mobile)
	return f.fillSale(ctx, r, at, contact, items, offers, eachItem)
}

// indexPerson notes the pseudonyms by which a person's registration can be found again.
func (f *Service) indexPerson(r *flows.Registration, email, mobile string) {
	r.PersonPseudonyms = append(r.PersonPseudonyms, f.cfg.Keys.CurrentPersonPseudonyms(r.ClientToken, email, mobile)...)
	slices.Sort(r.PersonPseudonyms)
	r.PersonPseudonyms = slices.Compact(r.PersonPseudonyms)
}

// HasIdentifiedContact tells whether a registration is this holder's, and of a contact whom the club knows.
func (f *Service) HasIdentifiedContact(ctx context.Context, id, token string) bool {
	r, _, err := f.load(ctx, id, token)
	return err == nil && r.Identified()
}

// Get answers with the whole state. A visitor who comes back from the
// processor thereby causes a look at the payment, in case its webhook got lost.
func (f *Service) Get(ctx context.Context, id, token string) (flows.View, error) {
	_, look, err := f.Load(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	return look(), nil
}

// Load is Get for who shows at once what is stored: what Get asks of other systems,
// look asks, and answers with the state that came of it.
func (f *Service) Load(ctx context.Context, id, token string) (stored flows.View, look func() flows.View, err error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return flows.View{}, nil, err
	}
	return f.view(r, p), func() flows.View { return f.refreshView(ctx, r, p) }, nil
}

// refreshView is what a visitor's look at a registration makes of it.
func (f *Service) refreshView(ctx context.Context, r *flows.Registration, p *flows.Payment) flows.View {
	if p != nil && !p.State.Final() && r.Phase(p, f.cfg.Now()) != flows.Attention {
		p = f.triggerAdvance(ctx, p)
	}
	if p != nil && p.State == flows.Recorded && r.Contact != nil && r.Contact.Status != club.StatusCustomer {
		f.refreshContact(ctx, r)
	}
	if r.Mandate != nil && r.Mandate.State == flows.SignatureUnconfirmed {
		r = f.confirmMandate(ctx, r)
	}
	return f.view(r, p)
}

// refreshContact reads once what the recorded payment made of the contact. The
// visitor's answer does not depend on it: when it fails, the next one tries again.
func (f *Service) refreshContact(ctx context.Context, r *flows.Registration) {
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil || contact.Status == r.Contact.Status {
		return
	}
	r.Contact.Status = contact.Status
	if err := f.cfg.Store.AmendRegistration(ctx, r); err != nil && !errors.Is(err, flows.ErrConflict) {
		f.cfg.Log.WarnContext(ctx, "contact not saved", "error", err)
	}
}

// triggerAdvance looks at a payment on behalf of a visitor who waits for it, but not at every poll.
func (f *Service) triggerAdvance(ctx context.Context, p *flows.Payment) *flows.Payment {
	first, err := f.cfg.Store.Once(ctx, "advance:"+string(p.ID), advanceTriggerEvery)
	switch {
	case err == nil && first && p.State == flows.Intent:
		ctx, cancel := context.WithTimeout(ctx, advanceWait)
		defer cancel()
		return f.cfg.Payments.Poll(ctx, p)
	case err == nil && first:
		err = f.cfg.Queue.AdvanceSoon(ctx, p)
	}
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "advance not enqueued", "payment", p.ID, "error", err)
	}
	return p
}

// PutPerson fills in the buyer's details, or corrects them: with a new contact
// and a new sale with the same items, since the club system changes neither.
func (f *Service) PutPerson(ctx context.Context, id, token string, person flows.Person) (flows.View, error) {
	return f.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
		if r.Identified() || r.Prospect != nil && r.Prospect.Migrated {
			return personKnown()
		}
		items := r.RequestedItems()
		offers, err := f.offers(ctx, r, at, items, eachItem)
		if err != nil {
			return err
		}
		if err := f.createContactAndSale(ctx, r, at, person, items, offers); err != nil {
			return err
		}
		r.Prospect = nil
		f.dropMandate(ctx, r, at)
		return nil
	})
}

// Abandon gives the registration up, and cancels a payment that has not been captured.
func (f *Service) Abandon(ctx context.Context, id, token string) (flows.View, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil || r.State == flows.Abandoned {
		return f.view(r, p), err
	}
	if p.Live() {
		if p, err = f.cfg.Payments.Cancel(ctx, p.ID); err != nil {
			return flows.View{}, err
		}
	}
	if r.Mandate != nil && r.Mandate.AcceptsCode() {
		if at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID); err == nil {
			f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
		}
	}
	r.State = flows.Abandoned
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return flows.View{}, flows.StorageFailed(err)
	}
	return f.view(r, p), nil
}

// view is the registration as its visitor sees it now.
func (f *Service) view(r *flows.Registration, p *flows.Payment) flows.View {
	return r.View(p, f.cfg.Now())
}

// change runs one change of a registration that is open, and saves it unless
// somebody else changed it meanwhile.
func (f *Service) change(ctx context.Context, id, token string, edit func(*flows.Registration, catalogue.Club) error) (flows.View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	if err := edit(r, at); err != nil {
		return flows.View{}, err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return flows.View{}, flows.StorageFailed(err)
	}
	return f.view(r, p), nil
}

// editable reads a registration that is open, with its club.
func (f *Service) editable(ctx context.Context, id, token string) (*flows.Registration, *flows.Payment, catalogue.Club, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return nil, nil, catalogue.Club{}, err
	}
	r.MarkIfSettledByPayment(p)
	switch r.Phase(p, f.cfg.Now()) {
	case flows.Open:
		if r.Cart.Settled() {
			return nil, nil, catalogue.Club{}, flows.SettledError()
		}
	case flows.Paying:
		return nil, nil, catalogue.Club{}, &flows.Error{Code: flows.CartFrozen, Detail: "A payment is under way, so the cart cannot change."}
	default:
		return nil, nil, catalogue.Club{}, flows.ClosedError(r.Phase(p, f.cfg.Now()))
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	return r, p, at, err
}

// load reads a registration for its holder. Whoever does not hold it learns
// nothing, not even that it exists. A registration that Redis does not have, and
// that we gave this token for, is looked for at the processor.
func (f *Service) load(ctx context.Context, id, token string) (*flows.Registration, *flows.Payment, error) {
	signed := tokenSignedFor(f.cfg.Keys, id, token)
	r, p, err := f.cfg.Store.Registration(ctx, id)
	if errors.Is(err, flows.ErrNotFound) && signed {
		if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
			return nil, nil, err
		}
		r, p, err = f.cfg.Store.Registration(ctx, id)
	}
	if err != nil && !errors.Is(err, flows.ErrNotFound) {
		return nil, nil, flows.StorageFailed(err)
	}
	if err != nil || !r.HasHolder(token, signed) {
		return nil, nil, &flows.Error{Code: flows.NotFound, Detail: "There is no such registration, or it is not yours."}
	}
	return r, p, nil
}
