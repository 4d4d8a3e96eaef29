package flows

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/club"
)

// The figures of a registration.
const (
	// PayableFor: a sale is payable for less than the 24 h for which a processor
	// remembers the idempotency key that its one payment derives from.
	PayableFor = 20 * time.Hour
	// KeepRegistration: how long a registration is kept beyond its end, for a visitor who looks again.
	KeepRegistration = 24 * time.Hour
	// advanceTriggerEvery: how often a visitor who waits may cause a look at the payment.
	advanceTriggerEvery = 2 * time.Second
	// advanceWait: how long that look may keep the visitor's answer; the sweeper looks again anyway.
	advanceWait = 2 * time.Second
)

// eachItem is where the items stand in a request that has several.
const eachItem = "/items/%d"

// Registrations are the journeys of the public API, a method each.
type Registrations struct {
	cfg RegistrationsConfig
}

// RegistrationStore is what the journey needs of Redis. Each write is one atomic script; one that lost a
// race returns ErrConflict and changed nothing.
type RegistrationStore interface {
	// CreateRegistration stores a new registration, version 1.
	CreateRegistration(ctx context.Context, r *Registration) error
	// Registration reads a registration and its latest payment (nil when there is none). ErrNotFound.
	Registration(ctx context.Context, id string) (*Registration, *Payment, error)
	// SaveRegistration replaces the registration if its version is still r.Version, and counts the version up.
	SaveRegistration(ctx context.Context, r *Registration) error
	// AmendRegistration is SaveRegistration that leaves alone how long the registration is kept.
	AmendRegistration(ctx context.Context, r *Registration) error
	// StartPayment saves the registration as SaveRegistration does and creates
	// its next payment, both or neither.
	StartPayment(ctx context.Context, r *Registration, p *Payment) error
	// Payment reads a payment. ErrNotFound.
	Payment(ctx context.Context, id PaymentID) (*Payment, error)
	// Once tells whether this is the first call with this name within the period.
	Once(ctx context.Context, name string, period time.Duration) (bool, error)
	// ClaimInvitation gives an invitation to its first use; ErrNotFound to every other.
	ClaimInvitation(ctx context.Context, hash, use string) (Invitation, error)
	// ReleaseInvitation makes an invitation good again that this use has taken.
	ReleaseInvitation(ctx context.Context, hash, use string) error
}

// AdvanceDispatcher has payments advanced in the background.
type AdvanceDispatcher interface {
	AdvanceSoon(ctx context.Context, p *Payment) error
}

// RegistrationsConfig is what the journeys need; every field is required unless said.
type RegistrationsConfig struct {
	Store     RegistrationStore
	Queue     AdvanceDispatcher
	Club      *club.Client
	Catalogue *Catalogue
	Payments  *Machine
	Keys      *Keyring
	Codes     *CodeSender
	PublicURL string // where the signup site stands, the default of returnUrl
	Now       func() time.Time
	Log       *slog.Logger
}

// NewRegistrations makes the journeys.
func NewRegistrations(cfg RegistrationsConfig) *Registrations { return &Registrations{cfg: cfg} }

// NewRegistration asks for a registration; Person and Items may be absent. With
// Contact or Invitation it is for a contact whom the club knows.
type NewRegistration struct {
	ClientToken string
	ClubID      string
	Channel     string
	Staff       bool // who asks has proven to be staff
	Person      *Person
	Contact     *ContactIdentity
	Invitation  string
	Items       []NewItem
}

// Start begins a registration and answers with it and its holder's token,
// which is stored nowhere. Contact, sale and items are made first, so that a
// failure leaves no half-made registration behind.
func (f *Registrations) Start(ctx context.Context, in NewRegistration) (View, string, error) {
	known := in.Contact != nil || in.Invitation != ""
	switch {
	case in.Channel != club.ChannelWeb && !in.Staff:
		return View{}, "", &Error{Code: StaffOnly, Detail: "Only the club's staff can say that the visitor is at the club.",
			Fields: []FieldProblem{{"/channel", "needs a staff key"}}}
	case in.Contact != nil && in.Invitation != "":
		return View{}, "", &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/invitation", "You are logged in: leave the invitation out."}}}
	case known && in.Person != nil:
		return View{}, "", personKnown()
	case !known && in.Person == nil && len(in.Items) > 0:
		return View{}, "", &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/person", "Items need the person who buys them."}}}
	case in.Invitation != "":
		return f.startInvited(ctx, in)
	}
	return f.start(ctx, in)
}

func personKnown() error {
	return &Error{Code: PersonKnown, Detail: "The club knows you: your details are changed there, not here."}
}

func (f *Registrations) start(ctx context.Context, in NewRegistration) (View, string, error) {
	id := uuid.NewString()
	token, hash := newToken(f.cfg.Keys, id)
	now := f.cfg.Now()
	r := &Registration{
		ID: id, State: Open, ClientToken: in.ClientToken, TokenHash: hash, ClubID: in.ClubID,
		Channel: in.Channel, CreatedAt: now, ExpiresAt: now.Add(PayableFor),
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		if CodeOf(err) == NotFound {
			err = &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/clubId", "There is no such club."}}, Err: err}
		}
		return View{}, "", err
	}
	r.Cart.Currency = at.Currency
	if err := f.prepare(ctx, r, at, in); err != nil {
		return View{}, "", err
	}
	if err := f.cfg.Store.CreateRegistration(ctx, r); err != nil {
		return View{}, "", storageFailed(err)
	}
	return f.view(r, nil), token, nil
}

// prepare brings the registration as far as what is known of the buyer and the cart allows.
func (f *Registrations) prepare(ctx context.Context, r *Registration, at Club, in NewRegistration) (err error) {
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
func (f *Registrations) createContactAndSale(ctx context.Context, r *Registration, at Club, person Person, items []NewItem, offers []Offer) error {
	contact, err := f.createContact(ctx, at, person)
	if err != nil {
		return err
	}
	r.Contact = &Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status}
	f.indexPerson(r, person.Email, person.Mobile)
	return f.fillSale(ctx, r, at, contact, items, offers, eachItem)
}

// indexPerson notes the pseudonyms by which a person's registration can be found again.
func (f *Registrations) indexPerson(r *Registration, email, mobile string) {
	r.PersonPseudonyms = append(r.PersonPseudonyms, f.cfg.Keys.CurrentPersonPseudonyms(r.ClientToken, email, mobile)...)
	slices.Sort(r.PersonPseudonyms)
	r.PersonPseudonyms = slices.Compact(r.PersonPseudonyms)
}

// HasIdentifiedContact tells whether a registration is this holder's, and of a contact whom the club knows.
func (f *Registrations) HasIdentifiedContact(ctx context.Context, id, token string) bool {
	r, _, err := f.load(ctx, id, token)
	return err == nil && r.identified()
}

// Get answers with the whole state. A visitor who comes back from the
// processor thereby causes a look at the payment, in case its webhook got lost.
func (f *Registrations) Get(ctx context.Context, id, token string) (View, error) {
	_, look, err := f.Load(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	return look(), nil
}

// Load is Get for who shows at once what is stored: what Get asks of other systems,
// look asks, and answers with the state that came of it.
func (f *Registrations) Load(ctx context.Context, id, token string) (stored View, look func() View, err error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return View{}, nil, err
	}
	return f.view(r, p), func() View { return f.refreshView(ctx, r, p) }, nil
}

// refreshView is what a visitor's look at a registration makes of it.
func (f *Registrations) refreshView(ctx context.Context, r *Registration, p *Payment) View {
	if p != nil && !p.State.Final() && r.Phase(p, f.cfg.Now()) != Attention {
		p = f.triggerAdvance(ctx, p)
	}
	if p != nil && p.State == Recorded && r.Contact != nil && r.Contact.Status != club.StatusCustomer {
		f.refreshContact(ctx, r)
	}
	if r.Mandate != nil && r.Mandate.State == SignatureUnconfirmed {
		r = f.confirmMandate(ctx, r)
	}
	return f.view(r, p)
}

// refreshContact reads once what the recorded payment made of the contact. The
// visitor's answer does not depend on it: when it fails, the next one tries again.
func (f *Registrations) refreshContact(ctx context.Context, r *Registration) {
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil || contact.Status == r.Contact.Status {
		return
	}
	r.Contact.Status = contact.Status
	if err := f.cfg.Store.AmendRegistration(ctx, r); err != nil && !errors.Is(err, ErrConflict) {
		f.cfg.Log.WarnContext(ctx, "contact not saved", "error", err)
	}
}

// triggerAdvance looks at a payment on behalf of a visitor who waits for it, but not at every poll.
func (f *Registrations) triggerAdvance(ctx context.Context, p *Payment) *Payment {
	first, err := f.cfg.Store.Once(ctx, "advance:"+string(p.ID), advanceTriggerEvery)
	switch {
	case err == nil && first && p.State == Intent:
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
func (f *Registrations) PutPerson(ctx context.Context, id, token string, person Person) (View, error) {
	return f.change(ctx, id, token, func(r *Registration, at Club) error {
		if r.identified() || r.Prospect != nil && r.Prospect.Migrated {
			return personKnown()
		}
		items := r.requestedItems()
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
func (f *Registrations) Abandon(ctx context.Context, id, token string) (View, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil || r.State == Abandoned {
		return f.view(r, p), err
	}
	if p.Live() {
		if p, err = f.cfg.Payments.Cancel(ctx, p.ID); err != nil {
			return View{}, err
		}
	}
	if r.Mandate != nil && r.Mandate.acceptsCode() {
		if at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID); err == nil {
			f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
		}
	}
	r.State = Abandoned
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return View{}, storageFailed(err)
	}
	return f.view(r, p), nil
}

// view is the registration as its visitor sees it now.
func (f *Registrations) view(r *Registration, p *Payment) View { return r.View(p, f.cfg.Now()) }

// change runs one change of a registration that is open, and saves it unless
// somebody else changed it meanwhile.
func (f *Registrations) change(ctx context.Context, id, token string, edit func(*Registration, Club) error) (View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	if err := edit(r, at); err != nil {
		return View{}, err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return View{}, storageFailed(err)
	}
	return f.view(r, p), nil
}

// editable reads a registration that is open, with its club.
func (f *Registrations) editable(ctx context.Context, id, token string) (*Registration, *Payment, Club, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return nil, nil, Club{}, err
	}
	r.markIfSettledByPayment(p)
	switch r.Phase(p, f.cfg.Now()) {
	case Open:
		if r.Cart.settled() {
			return nil, nil, Club{}, SettledError()
		}
	case Paying:
		return nil, nil, Club{}, &Error{Code: CartFrozen, Detail: "A payment is under way, so the cart cannot change."}
	default:
		return nil, nil, Club{}, ClosedError(r.Phase(p, f.cfg.Now()))
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	return r, p, at, err
}

func ClosedError(phase RegistrationState) error {
	return &Error{Code: RegistrationClosed, Detail: "The registration is " + string(phase) + "."}
}

// load reads a registration for its holder. Whoever does not hold it learns
// nothing, not even that it exists. A registration that Redis does not have, and
// that we gave this token for, is looked for at the processor.
func (f *Registrations) load(ctx context.Context, id, token string) (*Registration, *Payment, error) {
	signed := tokenSignedFor(f.cfg.Keys, id, token)
	r, p, err := f.cfg.Store.Registration(ctx, id)
	if errors.Is(err, ErrNotFound) && signed {
		if err := f.cfg.Payments.RebuildOnDemand(ctx); err != nil {
			return nil, nil, err
		}
		r, p, err = f.cfg.Store.Registration(ctx, id)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, nil, storageFailed(err)
	}
	if err != nil || !r.hasHolder(token, signed) {
		return nil, nil, &Error{Code: NotFound, Detail: "There is no such registration, or it is not yours."}
	}
	return r, p, nil
}

// hasHolder tells whether a token is a holder's. What is stored of it decides; of a
// registration that came back from the processor that may be nothing, or less than
// it was, so that the signature decides.
func (r *Registration) hasHolder(token string, signed bool) bool {
	isHolder := tokenMatches(token, r.TokenHash)
	for _, hash := range r.Resumed {
		isHolder = tokenMatches(token, hash) || isHolder
	}
	return isHolder || r.Rebuilt && signed
}
