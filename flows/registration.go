package flows

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/club"
)

// The figures of a registration.
const (
	// payable: a sale is payable for less than the 24 h for which a processor
	// remembers the idempotency key that its one payment derives from.
	payable = 20 * time.Hour
	// KeepRegistration: how long a registration is kept beyond its end, for a visitor who looks again.
	KeepRegistration = 24 * time.Hour
	// nudgeEvery: how often a visitor who waits may cause a look at the payment.
	nudgeEvery = 2 * time.Second
)

// RegistrationState is where a registration stands, as its visitor sees it.
//
//	open ⇄ paying ─→ completed
//	  │       └────→ attention
//	  ├─→ abandoned
//	  └─→ expired
//
// Only open and abandoned are stored: the others follow from the payment and
// the clock, so they can never disagree with them.
type RegistrationState string

// The states of a registration.
const (
	Open      RegistrationState = "open"      // being filled
	Paying    RegistrationState = "paying"    // the cart is frozen
	Completed RegistrationState = "completed" // paid and recorded
	Abandoned RegistrationState = "abandoned" // given up by the visitor
	Expired   RegistrationState = "expired"   // too old to be paid
	Attention RegistrationState = "attention" // an operator must look; nothing more is asked of the visitor
)

// Registration is the record of one person's journey.
type Registration struct {
	ID          string            `json:"id"`
	Version     int64             `json:"-"` // counted by the store
	State       RegistrationState `json:"state"`
	ClientToken string            `json:"clientToken"`
	TokenHash   string            `json:"tokenHash"` // SHA-256 of the holder's token, hex
	ClubID      string            `json:"clubId"`
	Channel     string            `json:"channel"`
	Contact     *Contact          `json:"contact,omitempty"`
	Sale        club.IRI          `json:"sale,omitempty"`
	Items       []Item            `json:"items,omitempty"` // what the visitor asked for
	Cart        Cart              `json:"cart"`            // the sale as it was last read
	Generation  int               `json:"generation"`      // number of payments begun
	CreatedAt   time.Time         `json:"createdAt"`
	ExpiresAt   time.Time         `json:"expiresAt"`
}

// Contact is the buyer at the club system, as far as the journey needs it.
type Contact struct {
	IRI    club.IRI `json:"iri"`
	Number string   `json:"number"`
	Status string   `json:"status"`
}

// View is a registration with all that follows for its visitor.
type View struct {
	*Registration
	Payment *Payment // the latest; nil before the first
	Phase   RegistrationState
	Message string   // fit to be shown; empty where the phase says it all
	Actions []string // what can be done now, most useful first
}

// Registrations are the journeys of the public API, a method each.
type Registrations struct {
	cfg RegistrationsConfig
}

// RegistrationsConfig is what the journeys need; every field is required.
type RegistrationsConfig struct {
	Store     Store
	Queue     *Queue
	Club      *club.Client
	Catalogue *Catalogue
	Payments  *Payments
	PublicURL string // where the signup site stands, the default of returnUrl
	Now       func() time.Time
	Log       *slog.Logger
}

// NewRegistrations makes the journeys.
func NewRegistrations(cfg RegistrationsConfig) *Registrations { return &Registrations{cfg: cfg} }

// NewRegistration asks for a registration; Person and Items may be absent.
type NewRegistration struct {
	ClientToken string
	ClubID      string
	Channel     string
	Person      *Person
	Items       []NewItem
}

// Start begins a registration and answers with it and its holder's token,
// which is stored nowhere. Contact, sale and items are made first, so that a
// failure leaves no half-made registration behind.
func (f *Registrations) Start(ctx context.Context, in NewRegistration) (View, string, error) {
	if in.Person == nil && len(in.Items) > 0 {
		return View{}, "", &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/person", "Items need the person who buys them."}}}
	}
	token, hash := newToken()
	now := f.cfg.Now()
	r := &Registration{
		ID: uuid.NewString(), State: Open, ClientToken: in.ClientToken, TokenHash: hash, ClubID: in.ClubID,
		Channel: in.Channel, CreatedAt: now, ExpiresAt: now.Add(payable),
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		if CodeOf(err) == NotFound {
			err = &Error{Code: InvalidRequest, Fields: []FieldProblem{{"/clubId", "There is no such club."}}, Err: err}
		}
		return View{}, "", err
	}
	offers, err := f.offers(ctx, r, in.Items, "/items/%d")
	if err != nil {
		return View{}, "", err
	}
	r.Cart.Currency = at.Currency
	if in.Person != nil {
		if err := f.fill(ctx, r, at, *in.Person, in.Items, offers); err != nil {
			return View{}, "", err
		}
	}
	if err := f.cfg.Store.CreateRegistration(ctx, r); err != nil {
		return View{}, "", storageFailed(err)
	}
	return f.view(r, nil), token, nil
}

// fill makes the contact and, when there are items, the sale with them.
func (f *Registrations) fill(ctx context.Context, r *Registration, at Club, person Person, items []NewItem, offers []Offer) error {
	contact, err := f.createContact(ctx, at, person)
	if err != nil {
		return err
	}
	r.Contact = &Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status}
	r.Sale, r.Items, r.Cart = "", nil, Cart{Currency: at.Currency}
	if len(items) == 0 {
		return nil
	}
	if err := f.createSale(ctx, r, at, contact); err != nil {
		return err
	}
	for i, item := range items {
		if err := f.addArticle(ctx, r, at, item, offers[i]); err != nil {
			return err
		}
	}
	return f.readCart(ctx, r, at)
}

// Get answers with the whole state. A visitor who comes back from the
// processor thereby causes a look at the payment, in case its webhook got lost.
func (f *Registrations) Get(ctx context.Context, id, token string) (View, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	if p != nil && !p.State.Final() && f.phase(r, p) != Attention {
		f.nudge(ctx, p.ID)
	}
	if p != nil && p.State == Recorded && r.Contact.Status == statusTemp {
		f.refreshContact(ctx, r)
	}
	return f.view(r, p), nil
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
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil && !errors.Is(err, ErrConflict) {
		f.cfg.Log.Warn("contact not saved", "error", err)
	}
}

func (f *Registrations) nudge(ctx context.Context, id PaymentID) {
	first, err := f.cfg.Store.Once(ctx, "nudge:"+string(id), nudgeEvery)
	if err == nil && first {
		err = f.cfg.Queue.EnqueueAdvance(ctx, id)
	}
	if err != nil {
		f.cfg.Log.Warn("look not enqueued", "payment", id, "error", err)
	}
}

// PutPerson fills in the buyer's details, or corrects them: with a new contact
// and a new sale with the same items, since the club system changes neither.
func (f *Registrations) PutPerson(ctx context.Context, id, token string, person Person) (View, error) {
	return f.change(ctx, id, token, func(r *Registration, at Club) error {
		items := make([]NewItem, len(r.Items))
		for i, item := range r.Items {
			items[i] = item.NewItem
		}
		offers, err := f.offers(ctx, r, items, "/items/%d")
		if err != nil {
			return err
		}
		return f.fill(ctx, r, at, person, items, offers)
	})
}

// AddItem adds an offer to the cart.
func (f *Registrations) AddItem(ctx context.Context, id, token string, item NewItem) (View, error) {
	return f.change(ctx, id, token, func(r *Registration, at Club) error {
		if r.Contact == nil {
			return &Error{Code: PersonRequired, Detail: "The buyer's details come before the items."}
		}
		offers, err := f.offers(ctx, r, []NewItem{item}, "")
		if err != nil {
			return err
		}
		if r.Sale == "" {
			contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
			if err != nil {
				return clubFailed(err, "The contact could not be read.")
			}
			if err := f.createSale(ctx, r, at, contact); err != nil {
				return err
			}
		}
		if err := f.addArticle(ctx, r, at, item, offers[0]); err != nil {
			return err
		}
		return f.readCart(ctx, r, at)
	})
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
		return Cart{}, &Error{Code: CartEmpty, Detail: "There is nothing in the cart."}
	case p.Live():
		return r.Cart, nil // frozen as it was agreed on
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return Cart{}, err
	}
	err = f.readCart(ctx, r, at)
	return r.Cart, err
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
	r.State = Abandoned
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return View{}, storageFailed(err)
	}
	return f.view(r, p), nil
}

// change runs one change of a registration that is open, and saves it unless
// somebody else changed it meanwhile.
func (f *Registrations) change(ctx context.Context, id, token string, edit func(*Registration, Club) error) (View, error) {
	r, p, err := f.load(ctx, id, token)
	if err != nil {
		return View{}, err
	}
	switch f.phase(r, p) {
	case Open:
	case Paying:
		return View{}, &Error{Code: CartFrozen, Detail: "A payment is under way, so the cart cannot change."}
	default:
		return View{}, closed(f.phase(r, p))
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
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

func closed(phase RegistrationState) error {
	return &Error{Code: RegistrationClosed, Detail: "The registration is " + string(phase) + "."}
}

// load reads a registration for its holder. Whoever does not hold it learns
// nothing, not even that it exists.
func (f *Registrations) load(ctx context.Context, id, token string) (*Registration, *Payment, error) {
	r, p, err := f.cfg.Store.Registration(ctx, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, nil, storageFailed(err)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(r.TokenHash)) != 1 {
		return nil, nil, &Error{Code: NotFound, Detail: "There is no such registration, or it is not yours."}
	}
	return r, p, nil
}

// phase derives the registration's state; see RegistrationState.
func (f *Registrations) phase(r *Registration, p *Payment) RegistrationState {
	switch {
	case p != nil && p.State == Recorded:
		return Completed
	case p != nil && (p.State == InDoubt || p.State == Blocked):
		return Attention
	case p.Live():
		return Paying
	case r.State == Abandoned:
		return Abandoned
	case f.cfg.Now().After(r.ExpiresAt):
		return Expired
	default:
		return Open
	}
}

// view adds what follows for the visitor.
func (f *Registrations) view(r *Registration, p *Payment) View {
	if r == nil {
		return View{}
	}
	v := View{Registration: r, Payment: p, Phase: f.phase(r, p)}
	if p != nil {
		v.Message = p.View().Message
	}
	switch v.Phase {
	case Open:
		v.Actions = openActions(r)
	case Paying:
		v.Actions = []string{"follow_payment"}
		if p.View().Retry == "new" || p.State == Priced {
			v.Actions = []string{"pay", "follow_payment"}
		}
		if p.State == Intent || p.State == Priced {
			v.Actions = append(v.Actions, "abandon")
		}
	case Expired:
		v.Message = "This registration has expired. Please start again; nothing was charged."
	}
	return v
}

func openActions(r *Registration) []string {
	switch {
	case r.Contact == nil:
		return []string{"person", "abandon"}
	case len(r.Items) == 0:
		return []string{"add_item", "person", "abandon"}
	}
	actions := []string{"check", "add_item", "clear_items", "person", "abandon"}
	if r.payableByCard() == nil {
		actions = append([]string{"pay"}, actions...)
	}
	return actions
}

// newToken makes 256 random bits for the holder, and what is stored of them.
func newToken() (token, hash string) {
	bits := make([]byte, 32)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(bits)
	return token, hashToken(token)
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
