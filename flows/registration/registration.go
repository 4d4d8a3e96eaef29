// Package registration is what visitors and known contacts do at a club, and what operators do for them.
//
// Service has a method for each operation on a registration: starting, completing and resuming it, its cart and mandate,
// migrating a known person, and requesting its payment. Contacts and Transfers serve people known to the club: their profile,
// consents, invitations, and move to another club. Codes by SMS (code.go, sms_limit.go, sms_budget.go) sign a mandate or a move.
// Service.Erase erases a person's data. Package payment moves the money.
//
// Each write to the club system is stored first, by compare-and-set: a request that fails leaves a draft (draft.go), where
// its repetition continues, so that one intention makes one contact and one sale. Its visitor sees nothing of a draft.
package registration

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

const (
	// tokenRecalls is the maximum age of a token for which a missing registration is looked up at the
	// processor. Redis keeps every registration for so long; an older one has expired.
	tokenRecalls = flows.PayableFor + flows.KeepRegistration
	// maxSaveAttempts is how often a change that loses a race is saved again; only a client in a loop
	// causes more losses in a row.
	maxSaveAttempts = 4
	// eachItem is the pointer to an item in a request with several.
	eachItem = "/items/%d"
)

// Service has the visitor's journeys, and the services of known contacts.
type Service struct {
	Contacts  *Contacts  // profile, consents and invitations of people known to the club
	Transfers *Transfers // their moves to another club

	cfg      Config
	codes    *codeSender
	optional optionals
}

// Config is what the journeys need; every field is required unless noted.
type Config struct {
	Store     *store.Store
	Club      *club.Client
	Catalogue *catalogue.Catalogue
	Payments  *payment.Machine
	Keys      *keyring.Keyring
	SMSBudget *SMSBudget         // bounds what codes by SMS cost the clubs; nil: nothing does
	Methods   flows.MethodPolicy // the zero value allows all methods
	PublicURL string             // of the signup site, the default of returnUrl
	Now       func() time.Time
	Log       *slog.Logger

	// Publish sends an event to subscribers; nil: none is sent.
	Publish func(ctx context.Context, name string, object map[string]club.IRI) error

	// ProofsKept is how long confirmations and what buyers agreed to are kept.
	ProofsKept time.Duration

	// SendMail has a mail sent, at least once; nil: none is sent.
	SendMail func(ctx context.Context, mail flows.Mail) error

	// Events publishes Frontdesk's own events to subscribers.
	Events OwnEvents

	// ContactTokens lets the gateway request the club system's access token of a contact whom the club's login identifies.
	ContactTokens bool

	// AgreementsRequired refuses payments that do not say what the buyer agrees to.
	AgreementsRequired bool

	// RefreshDue has the registrations refreshed whose refresh is due; nil: a sweep does that.
	RefreshDue func(ctx context.Context) error

	// AsksRepeats reports whether an organisation's buyers are asked before they buy the same again; nil: none.
	AsksRepeats func(clientToken string) bool
}

// New returns the journeys.
func New(cfg Config) *Service {
	codes := &codeSender{cfg}
	return &Service{Contacts: &Contacts{cfg}, Transfers: &Transfers{cfg, codes}, cfg: cfg, codes: codes}
}

// StartRequest asks for a registration; Person and Items may be absent. Contact or Invitation make
// it one of a known contact.
type StartRequest struct {
	// ID is that of the registration to be made: a UUID, the same for each attempt at one request. Empty: a new one.
	ID string
	// Again means that an earlier attempt has begun. This one continues what it has made.
	Again       bool
	ClientToken string
	ClubID      string
	Channel     string
	Staff       bool // authenticated as staff
	Person      *flows.Person
	Contact     *flows.ContactIdentity
	Invitation  string
	Guardian    flows.Guardian // of a known contact; a visitor's is in Person
	Items       []flows.NewItem
	Attribution *flows.Attribution
}

// Start creates a registration and returns it with its holder's token, of which the record has only the hash.
func (s *Service) Start(ctx context.Context, in StartRequest) (flows.View, string, error) {
	ctx = club.WithLane(ctx, club.Newcomers)
	known := in.Contact != nil || in.Invitation != ""
	switch {
	case in.Channel != club.ChannelWeb && !in.Staff:
		return flows.View{}, "", &flows.Error{Code: flows.StaffOnly, Detail: flows.DetailRegistrationStaffOnly,
			Fields: []flows.FieldProblem{{Pointer: "/channel", Code: flows.FieldStaffKey}}}
	case in.Contact != nil && in.Invitation != "":
		return flows.View{}, "", flows.Invalid(flows.FieldProblem{Pointer: "/invitation", Code: flows.FieldLoggedIn})
	case known && in.Person != nil:
		return flows.View{}, "", personKnown()
	case !known && !in.Guardian.IsZero():
		return flows.View{}, "", flows.Invalid(flows.FieldProblem{Pointer: "/guardian", Code: flows.FieldUnexpected})
	case !known && in.Person == nil && len(in.Items) > 0:
		return flows.View{}, "", flows.Invalid(flows.FieldProblem{Pointer: "/person", Code: flows.FieldRequired})
	case in.Invitation != "":
		return s.startInvited(ctx, in)
	}
	return s.start(ctx, in)
}

func (s *Service) start(ctx context.Context, in StartRequest) (flows.View, string, error) {
	at, err := s.cfg.Catalogue.Club(ctx, in.ClientToken, in.ClubID)
	if err != nil {
		if flows.CodeOf(err) == flows.ClubNotFound {
			err = &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/clubId", Code: flows.FieldClub}}, Err: err}
		}
		return flows.View{}, "", err
	}
	registration, payment, err := s.attempt(ctx, in)
	if err != nil {
		return flows.View{}, "", err
	}
	token, hash := newToken(s.cfg.Keys, registration.ID, s.cfg.Now())
	if !registration.Starting { // the response to the earlier attempt was lost
		registration.AddHolder(hash)
		err := flows.StorageFailed(s.cfg.Store.AmendRegistration(ctx, registration))
		return s.view(registration, payment), token, err
	}
	registration.TokenHash, registration.ClubName, registration.Cart.Currency = hash, at.Name, at.Currency
	registration.ClubAddress = flows.Address(at.Address)
	if err = s.prepare(ctx, registration, at, in); err == nil {
		registration.Starting = false
		err = s.save(ctx, registration)
	}
	switch {
	case flows.CodeOf(err) == flows.Conflict: // only an attempt that was thought dead can have changed it
		return flows.View{}, "", &flows.Error{Code: flows.KeyInUse, Err: err}
	case err != nil:
		return flows.View{}, "", err
	}
	return s.view(registration, nil), token, nil
}

// attempt returns the registration of an earlier attempt, or a new one that is not stored yet. One that Redis lost may
// have a payment at the processor.
func (s *Service) attempt(ctx context.Context, in StartRequest) (*flows.Registration, *flows.Payment, error) {
	if in.Again {
		registration, payment, err := s.cfg.Store.Registration(ctx, in.ID)
		if errors.Is(err, flows.ErrNotFound) {
			if err := s.cfg.Payments.LookUp(ctx, in.ID); err != nil {
				return nil, nil, err
			}
			registration, payment, err = s.cfg.Store.Registration(ctx, in.ID)
		}
		if !errors.Is(err, flows.ErrNotFound) {
			return registration, payment, flows.StorageFailed(err)
		}
	}
	now := s.cfg.Now()
	return &flows.Registration{
		ID:          cmp.Or(in.ID, uuid.NewString()),
		State:       flows.Open,
		Starting:    true,
		ClientToken: in.ClientToken,
		ClubID:      in.ClubID,
		Channel:     in.Channel,
		Attribution: in.Attribution,
		CreatedAt:   now,
		ExpiresAt:   now.Add(flows.PayableFor),
	}, nil, nil
}

// CheckNotErased returns RegistrationClosed for a registration whose data was erased, which a repeated start must not show or fill
// again.
func (s *Service) CheckNotErased(ctx context.Context, id string) error {
	registration, _, err := s.cfg.Store.Registration(ctx, id)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return nil
	case err == nil && registration.Erased:
		return &flows.Error{
			Code:   flows.RegistrationClosed,
			Detail: flows.DetailRegistrationErased,
		}
	}
	return flows.StorageFailed(err)
}

// prepare creates what the request allows: the contact, the sale and its items.
func (s *Service) prepare(ctx context.Context, registration *flows.Registration, at catalogue.Club, in StartRequest) (err error) {
	var contact club.Contact
	if in.Contact != nil {
		if contact, err = s.attachContact(ctx, registration, *in.Contact); err != nil {
			return err
		}
		if err := s.checkGuardian(at, storedPerson(contact), in.Guardian, "/guardian"); err != nil {
			return err
		}
		s.setGuardian(registration, at, in.Guardian)
	}
	offers, items, err := s.offers(ctx, registration, at, in.Items, eachItem)
	switch {
	case err != nil:
		return err
	case in.Contact != nil:
		return s.fillSale(ctx, registration, at, contact, items, offers, eachItem)
	case in.Person != nil:
		return s.createContactAndSale(ctx, registration, at, *in.Person, "/person", items, offers)
	}
	return nil
}

// HasIdentifiedContact reports whether the token holds the registration of a known contact.
func (s *Service) HasIdentifiedContact(ctx context.Context, id, token string) bool {
	r, _, err := s.load(ctx, id, token)
	return err == nil && r.Identified()
}

// Get returns the whole state. It polls the payment of a visitor who returns from the processor, in
// case its webhook was lost.
func (s *Service) Get(ctx context.Context, id, token string) (flows.View, error) {
	_, refresh, err := s.Load(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	return refresh(), nil
}

// Load returns what is stored; refresh then asks other systems as Get does, and returns the new state.
func (s *Service) Load(ctx context.Context, id, token string) (stored flows.View, refresh func() flows.View, err error) {
	r, p, err := s.load(ctx, id, token)
	if err != nil {
		return flows.View{}, nil, err
	}
	return s.view(r, p), func() flows.View { return s.refreshView(ctx, r, p) }, nil
}

// Abandon ends the registration, and cancels a payment that has not been captured.
func (s *Service) Abandon(ctx context.Context, id, token string) (flows.View, error) {
	registration, payment, err := s.load(ctx, id, token)
	if err != nil || registration.State == flows.Abandoned {
		return s.view(registration, payment), err
	}
	if payment.Live() {
		if payment, err = s.cfg.Payments.Cancel(ctx, payment.ID); err != nil {
			return flows.View{}, err
		}
	}
	if registration.Mandate != nil && registration.Mandate.AcceptsCode() {
		at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
		if err == nil {
			registration, err = s.endCode(ctx, registration, at)
		}
		if err != nil && registration.Mandate.MaySign() {
			return flows.View{}, err
		}
	}
	registration.State = flows.Abandoned
	return s.saved(ctx, registration, payment)
}

func (s *Service) saved(ctx context.Context, r *flows.Registration, p *flows.Payment) (flows.View, error) {
	if err := s.save(ctx, r); err != nil {
		return flows.View{}, err
	}
	return s.view(r, p), nil
}

func (s *Service) save(ctx context.Context, r *flows.Registration) error {
	return flows.StorageFailed(s.cfg.Store.SaveRegistration(ctx, r))
}

func (s *Service) view(r *flows.Registration, p *flows.Payment) flows.View {
	view := r.View(p, s.cfg.Now())
	view.Mails = s.cfg.SendMail != nil
	return view
}

func (s *Service) change(ctx context.Context, id, token string, edit func(*flows.Registration, catalogue.Club) error) (flows.View, error) {
	registration, payment, at, err := s.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	if err := edit(registration, at); err != nil {
		return flows.View{}, err
	}
	return s.saved(ctx, registration, payment)
}

func (s *Service) editable(ctx context.Context, id, token string) (*flows.Registration, *flows.Payment, catalogue.Club, error) {
	registration, payment, err := s.load(ctx, id, token)
	if err != nil {
		return nil, nil, catalogue.Club{}, err
	}
	registration.Cart = registration.CartAfter(payment)
	switch phase := registration.Phase(payment, s.cfg.Now()); {
	case phase == flows.Paying:
		return nil, nil, catalogue.Club{}, &flows.Error{Code: flows.CartFrozen, Detail: flows.DetailCartFrozen}
	case phase != flows.Open:
		return nil, nil, catalogue.Club{}, flows.ClosedError(phase)
	case registration.Cart.Settled():
		return nil, nil, catalogue.Club{}, flows.SettledError()
	}
	at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
	return registration, payment, at, err
}

// load reads a registration for its holder. Any other caller does not learn that it exists. One that
// Redis has lost, but that the token was issued for lately, is rebuilt from the processor.
func (s *Service) load(ctx context.Context, id, token string) (*flows.Registration, *flows.Payment, error) {
	issued, signed := tokenIssued(s.cfg.Keys, id, token)
	registration, payment, err := s.cfg.Store.Registration(ctx, id)
	if errors.Is(err, flows.ErrNotFound) && s.cfg.Now().Sub(issued) < tokenRecalls {
		if err := s.cfg.Payments.LookUp(ctx, id); err != nil {
			return nil, nil, err
		}
		registration, payment, err = s.cfg.Store.Registration(ctx, id)
	}
	if err != nil && !errors.Is(err, flows.ErrNotFound) {
		return nil, nil, flows.StorageFailed(err)
	}
	if err != nil || !registration.HasHolder(token, signed) {
		return nil, nil, noRegistration()
	}
	return registration, s.verifyDecline(ctx, payment), nil
}

func noRegistration() error {
	return &flows.Error{Code: flows.RegistrationNotFound, Detail: flows.DetailNoRegistration}
}
