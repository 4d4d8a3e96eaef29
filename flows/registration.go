package flows

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"frontdesk/upstream/club"
)

const (
	// FirstPoll is the age at which a registration with a cart is first read again without
	// an event. Most online visitors pay before; payments at the desk take longer.
	FirstPoll = 15 * time.Minute
	// PayableFor is how long a sale can be paid: less than the 24 h for which a processor
	// remembers the idempotency key of its one payment.
	PayableFor = 20 * time.Hour
	// AbandonedAfter is how long a visitor with an unpaid cart must have changed nothing until the registration counts as abandoned:
	// longer than a call, a meal or a search for the IBAN takes, and the same day for a reminder.
	AbandonedAfter = time.Hour
	// GoneAfter is for how long no reading must have found a record until it counts as gone: a club system that is
	// misconfigured for a moment, something in front of it, or a copy that lags does not find its records either.
	GoneAfter = 30 * time.Minute
	// KeepRegistration is how long a registration is kept after its end, for a visitor who returns.
	KeepRegistration = 24 * time.Hour
)

// NextPoll returns when the cart is read again without an event: at twice the registration's
// age, because an older one is less likely to be settled at the desk. Zero: never.
func (r *Registration) NextPoll(now time.Time) time.Time {
	if r.Sale == "" || r.Cart.Settled() {
		return time.Time{}
	}
	return now.Add(max(FirstPoll, now.Sub(r.CreatedAt)))
}

// MayBeReminded reports whether the visitor of an open registration may be reminded of it: the cart has something to pay for, and belongs
// to a contact that the visitor is known to be.
func (r *Registration) MayBeReminded() bool {
	return r.Contact != nil && !r.IsMerged() && len(r.Items) > 0 && !r.Cart.Settled()
}

// IsOfSamePerson reports whether two registrations are of the same person, or of one who is probably the same.
func (r *Registration) IsOfSamePerson(other *Registration) bool {
	return slices.ContainsFunc(r.AlikePseudonyms, func(name string) bool { return slices.Contains(other.AlikePseudonyms, name) })
}

// HasLink reports whether there is an unused link that resumes the registration.
func (r *Registration) HasLink(now time.Time) bool {
	return r.Resume != nil && now.Before(r.Resume.ExpiresAt)
}

// LastChange returns when the registration or its payment (nil: none) was changed last, by its visitor or otherwise. Looking changes
// nothing.
func (r *Registration) LastChange(p *Payment) time.Time {
	last := r.CreatedAt
	if r.Version > countedVersions {
		last = time.UnixMicro(r.Version)
	}
	if p != nil && p.UpdatedAt.After(last) {
		return p.UpdatedAt
	}
	return last
}

// HasHolder reports whether a token is a holder's, by the stored hashes. A rebuilt registration
// may have lost them, so the token's signature is enough for it.
func (r *Registration) HasHolder(token string, signed bool) bool {
	isHolder, ended := TokenMatches(token, r.TokenHash), false
	for _, hash := range r.Resumed {
		isHolder = TokenMatches(token, hash) || isHolder
	}
	for _, hash := range r.Ended {
		ended = TokenMatches(token, hash) || ended
	}
	return isHolder || r.Rebuilt && signed && !ended
}

// EndSession revokes a holder's token. A rebuilt registration, which accepts tokens that it does not
// list, remembers the latest revoked ones.
func (r *Registration) EndSession(token string) {
	hash := HashToken(token)
	if r.TokenHash == hash {
		r.TokenHash = ""
	}
	r.Resumed = slices.DeleteFunc(r.Resumed, func(held string) bool { return held == hash })
	if r.Rebuilt {
		r.Ended = append(r.Ended, hash)
		r.Ended = slices.Delete(r.Ended, 0, max(0, len(r.Ended)-maxResumed-1))
	}
}

// RegistrationState is the state of a registration for its visitor.
//
//	open ⇄ paying ─→ completed
//	  │       └────→ attention
//	  ├─→ abandoned
//	  └─→ expired
//
// Only open and abandoned are stored. The others derive from the payment and the clock.
type RegistrationState string

// The states of a registration.
const (
	Open      RegistrationState = "open"      // being filled
	Paying    RegistrationState = "paying"    // the cart is frozen
	Completed RegistrationState = "completed" // paid and recorded
	Abandoned RegistrationState = "abandoned" // by the visitor
	Expired   RegistrationState = "expired"   // too old to be paid
	Attention RegistrationState = "attention" // waits for an operator; the visitor has nothing to do
)

// RegistrationSchema is the version of the record's layout. A record with a higher one is
// ErrNewer: writing it would lose fields that this version does not know.
const RegistrationSchema = 1

// Registration is the record of one visitor's signup.
type Registration struct {
	ID               string            `json:"id"`
	Schema           int               `json:"schema,omitempty"` // set by the store; 0 for the first layout
	Version          int64             `json:"-"`                // set by the store: higher with each write
	State            RegistrationState `json:"state"`
	ClientToken      string            `json:"clientToken"`
	TokenHash        string            `json:"tokenHash"`         // of the holder's token; empty if Redis lost it, or revoked
	Resumed          []string          `json:"resumed,omitempty"` // of the tokens of other devices, oldest first
	Ended            []string          `json:"ended,omitempty"`   // of revoked tokens, if it is rebuilt
	Resume           *Resume           `json:"resume,omitempty"`  // the unused link
	Attribution      *Attribution      `json:"attribution,omitempty"`
	ClubID           string            `json:"clubId"`
	ClubName         string            `json:"clubName,omitempty"`   // at the start; empty if Redis lost it
	ClubAddress      Address           `json:"clubAddress,omitzero"` // the club system's at the start; zero if it has none, or Redis lost it
	Channel          string            `json:"channel"`
	Contact          *Contact          `json:"contact,omitempty"`
	Sale             club.IRI          `json:"sale,omitempty"`
	SaleState        string            `json:"saleState,omitempty"` // the club system's state of an unsettled sale: that of a new one
	Items            []Item            `json:"items,omitempty"`     // as requested by the visitor
	PersonPseudonyms []string          `json:"persons,omitempty"`   // of e-mail and phone, to find it for an erasure
	NamePseudonym    string            `json:"name,omitempty"`      // of the full name, to find the confirmation
	BuyerPseudonyms  []string          `json:"buyers,omitempty"`    // of the person, to find what they have just bought
	AlikePseudonyms  []string          `json:"alike,omitempty"`     // of people who are probably the same
	Erased           bool              `json:"erased,omitempty"`    // it has no personal data any more
	Cart             Cart              `json:"cart"`                // the sale as last read
	Mandate          *Mandate          `json:"mandate,omitempty"`
	Prospect         *Prospect         `json:"prospect,omitempty"`
	Guardian         Guardian          `json:"guardian,omitzero"`       // concludes the contract for the buyer; zero: the buyer does
	HeldMails        []string          `json:"heldMails,omitempty"`     // the masked addresses to which the confirmation is not mailed
	LacksGuardian    bool              `json:"lacksGuardian,omitempty"` // the club asks for one, as of the latest reading of the buyer
	GuardianName     string            `json:"guardianNamed,omitempty"` // pseudonym of the guardian's full name, to find the confirmation
	Ordered          *Ordered          `json:"ordered,omitempty"`       // with the latest payment; nil: an earlier version started it
	Generation       int               `json:"generation"`              // number of payments started
	CreatedAt        time.Time         `json:"createdAt"`
	ExpiresAt        time.Time         `json:"expiresAt"`
	Draft            *Draft            `json:"draft,omitempty"`       // what an unfinished request has made
	Write            *Write            `json:"write,omitempty"`       // an article on its way to the sale
	HasContract      bool              `json:"hasContract,omitempty"` // the club system makes a contract document of the sale
	Starting         bool              `json:"starting,omitempty"`    // its start has not succeeded yet, so no caller has its token

	// Offers are those in the cart, by their ids, as they were shown with it. One that could not be read is not in it.
	Offers map[string]ShownOffer `json:"offers,omitempty"`

	// Missing has since when the club system does not find a record of the registration, such as its sale. A record that
	// it has, as far as was read, is not in it.
	Missing map[club.IRI]time.Time `json:"missing,omitempty"`

	// Rebuilt: its payment came back from the processor. It is never paid again, because
	// Redis may have lost part of it.
	Rebuilt bool `json:"rebuilt,omitempty"`

	Listed club.IRI `json:"-"` // the contact under which it is indexed; set by the store
}

// NoteFound notes whether the club system found a record just now, and reports whether that has changed.
func (r *Registration) NoteFound(record club.IRI, found bool, now time.Time) (changed bool) {
	if _, missing := r.Missing[record]; missing != found {
		return false
	}
	r.Missing = maps.Clone(r.Missing) // a copy of the registration may have it too
	switch {
	case found:
		delete(r.Missing, record)
	case r.Missing == nil:
		r.Missing = map[club.IRI]time.Time{record: now.Round(0)}
	default:
		r.Missing[record] = now.Round(0)
	}
	return true
}

// Attribution is the campaign that brought a visitor. Its values cannot be e-mail addresses or phone
// numbers: openapi.yaml.
type Attribution struct {
	Source   string `json:"source,omitempty"`
	Medium   string `json:"medium,omitempty"`
	Campaign string `json:"campaign,omitempty"`
	Content  string `json:"content,omitempty"`
}

// Contact is the buyer at the club system.
type Contact struct {
	IRI    club.IRI `json:"iri"`
	Number string   `json:"number"`
	Status string   `json:"status"`
	Buyer  *Buyer   `json:"buyer,omitempty"` // of a contact that the club knew before; nil for a visitor

	GivenName    string `json:"givenName,omitempty"`
	MobileEnding string `json:"mobileEnding,omitempty"` // the number's last two digits
	Masked       Masked `json:"masked,omitzero"`        // only what the visitor entered

	// Identity is for the confirmation of the contract alone; of a visitor, what they entered.
	Identity Identity `json:"identity,omitzero"`
	// OwnMobile is the number that the visitor entered, if the contact has the guardian's instead.
	OwnMobile string `json:"ownMobile,omitempty"`
	// Entered is the e-mail address that the visitor entered, to which the confirmation goes.
	Entered string `json:"entered,omitempty"`
	// Mailbox is the contact's e-mail address in the club system, masked. Empty: it has none, or another contact was merged into it.
	Mailbox string `json:"mailbox,omitempty"`
	// Email is the e-mail address that the visitor entered, while the contact lacks it. Empty: it has its address.
	Email string `json:"email,omitempty"`
	// EmailInUse: the club system refused the address, because another contact has it. The visitor does not learn that, and has not
	// proved to be that person.
	EmailInUse bool `json:"emailInUse,omitempty"`
	// EmailHolder is an earlier contact of the registration that may have the address. Empty: none has.
	EmailHolder club.IRI `json:"emailHolder,omitempty"`

	// Merged: the club merged the visitor's contact into this one, of which the visitor has proved nothing. Number, Status, GivenName,
	// Identity and Entered are still those of the visitor's own.
	Merged bool `json:"merged,omitempty"`
}

// LastStatus returns the contact's status, as last read from the club system; empty: it is not known.
func (c *Contact) LastStatus() string {
	if c.Merged {
		return ""
	}
	return c.Status
}

// AwaitsEmail reports whether the e-mail address still has to be put on the contact. A nil contact has none.
func (c *Contact) AwaitsEmail() bool { return c != nil && c.Email != "" && !c.EmailInUse }

// HoldsEmail returns which contact of the registration has the e-mail address that its visitor entered for this one; empty: none.
func (c *Contact) HoldsEmail() club.IRI {
	if c.Email == "" {
		return c.IRI
	}
	return c.EmailHolder
}

// KeepEmail takes over what is known of the e-mail address, from the contact before.
func (c *Contact) KeepEmail(before *Contact) {
	c.Email, c.EmailInUse, c.EmailHolder = before.Email, before.EmailInUse, before.EmailHolder
}

// ContactOf returns what a registration keeps of a contact.
func ContactOf(contact club.Contact) *Contact {
	return &Contact{
		IRI:          contact.IRI,
		Number:       contact.Number,
		Status:       contact.Status,
		GivenName:    contact.GivenName,
		MobileEnding: twoDigits.FindString(contact.Mobile),
		Mailbox:      MaskEmail(contact.Email),
		Identity:     identityOf(contact),
	}
}

// twoDigits is the end of a phone number.
var twoDigits = regexp.MustCompile(`[0-9]{2}$`)

// Identified reports whether the club knew the buyer before.
func (r *Registration) Identified() bool { return r.Contact != nil && r.Contact.Buyer != nil }

// IsMerged reports whether the buyer is a contact that the visitor is not known to be; see Contact.
func (r *Registration) IsMerged() bool { return r.Contact != nil && r.Contact.Merged }

// HasKnownBuyer reports whether the buyer proved to be a contact of the club, at the start or since.
func (r *Registration) HasKnownBuyer() bool {
	return r.Identified() || r.Prospect != nil && r.Prospect.Done
}

// View is a registration with what its visitor can do.
type View struct {
	*Registration
	At          time.Time   // when it was made
	Payment     *Payment    // the latest; nil before the first
	PaymentView PaymentView // what its buyer sees of it
	Phase       RegistrationState
	Message     MessageCode // about the payment or a stale cart; see CurrentMessage
	Stale       bool        // the cart could not be read again
	Actions     []string    // possible now, most useful first
	Methods     []Method    // with the action pay: those that can settle the cart
	Mails       bool        // confirmations are mailed
}

// MailedTo returns the e-mail addresses to which the confirmation goes, masked: those that the visitor entered, or that the club has of a
// buyer who proved to be its contact, without those that had too many mails in a day.
func (r *Registration) MailedTo() []string {
	to := []string{}
	switch contact := r.Contact; {
	case contact == nil:
	case contact.Entered != "":
		to = append(to, MaskEmail(contact.Entered))
	case contact.Mailbox != "":
		to = append(to, contact.Mailbox)
	}
	if other := r.Guardian.Email; other != "" && (r.Contact == nil || other != r.Contact.Entered) {
		to = append(to, MaskEmail(other))
	}
	return slices.DeleteFunc(to, func(masked string) bool { return slices.Contains(r.HeldMails, masked) })
}

// State is the coarse word for the step.
func (v View) State() RegistrationState {
	if v.Step() == StepWithStaff {
		return Attention
	}
	return v.Phase
}

// countedVersions: Frontdesk 0.9 counts the versions of a record from 1. Later ones are times, in µs.
const countedVersions = 1 << 32

// Sequence orders the states of a registration, by the store's versions: it never falls.
func (v View) Sequence() int64 {
	switch payment := v.Payment; {
	case payment == nil:
		return 2 * v.Version // as if the next payment, which has the registration's version at first, had begun
	case payment.Version < countedVersions:
		return v.Version + payment.Version + payment.CreatedAt.UnixMicro()
	default:
		return v.Version + payment.Version
	}
}

// Phase returns the registration's state by the record, its latest payment (nil: none) and the clock.
func (r *Registration) Phase(payment *Payment, now time.Time) RegistrationState {
	switch {
	case payment != nil && payment.State == Recorded:
		return Completed
	case payment != nil && (payment.State == InDoubt || payment.State == Blocked):
		return Attention
	case payment.Live():
		return Paying
	case r.State == Abandoned:
		return Abandoned
	case r.Rebuilt || now.After(r.ExpiresAt):
		return Expired
	default:
		return Open
	}
}

// Closed reports whether the registration accepts no further payment after its latest one.
func (r *Registration) Closed(latest *Payment, now time.Time) bool {
	phase := r.Phase(latest, now)
	return r.CartAfter(latest).Settled() || phase != Open && phase != Paying
}

// Shown returns one of the registration's payments as its buyer sees it, by the latest one and the clock.
func (r *Registration) Shown(p, latest *Payment, now time.Time) ShownPayment {
	return ShownPayment{Payment: p, View: p.view(r.Closed(latest, now))}
}

// View returns the visitor's view by the latest payment (nil: none) and the clock.
func (r *Registration) View(payment *Payment, now time.Time) View {
	if r == nil {
		return View{}
	}
	shown := *r
	shown.Cart = r.CartAfter(payment)
	r = &shown
	view := View{Registration: r, At: now, Payment: payment, Phase: r.Phase(payment, now)}
	if payment != nil {
		view.PaymentView = r.Shown(payment, payment, now).View
		view.Message = view.PaymentView.Message
	}
	switch view.Phase {
	case Open:
		view.Methods = r.methods()
		if payment.DeclinedTooOften() || payment.CardRefused(r.Cart.Total) {
			view.Methods = slices.DeleteFunc(view.Methods, func(method Method) bool { return method == ByCard })
		}
		view.Actions = openActions(r, len(view.Methods) > 0, now)
		if r.isRestricted(payment) {
			view.Actions = slices.DeleteFunc(view.Actions, func(action string) bool { return action == "check" })
		}
	case Paying:
		if view.PaymentView.Retry == "new" || payment.State == Priced {
			view.Actions, view.Methods = []string{"pay"}, []Method{payment.Method}
			if payment.NeverCreated() {
				view.Methods = r.methods()
			}
		}
		if payment.open() {
			view.Actions = append(view.Actions, "cancel_payment", "abandon")
		}
	}
	view.Actions = mainFirst(view.Step(), view.Actions)
	return view
}

func openActions(registration *Registration, payable bool, now time.Time) []string {
	actions := []string{"person", "consents", "abandon"}
	switch {
	case registration.Contact == nil:
		return []string{"person", "abandon"}
	case registration.Cart.Settled():
		return []string{"abandon"}
	case registration.IsMerged():
		actions = []string{"abandon"} // details and consents may be another person's
	case registration.HasKnownBuyer():
		actions = []string{"consents", "abandon"} // the club has the details
	case registration.Prospect != nil && registration.Prospect.Migrated:
		actions = []string{"prospect", "consents", "abandon"}
	case registration.Sale != "" && registration.Contact.Status == club.StatusTemp:
		actions = []string{"person", "prospect", "consents", "abandon"}
	}
	if registration.LacksGuardian || !registration.Guardian.IsZero() {
		actions = append([]string{"guardian"}, actions...)
	}
	if len(registration.Items) == 0 {
		return append([]string{"add_item"}, actions...)
	}
	actions = append([]string{"check", "add_item", "clear_items"}, actions...)
	if registration.LacksGuardian {
		return actions // nothing is signed or paid without
	}
	if payable {
		actions = append([]string{"pay"}, actions...)
	}
	return append(registration.mandateActions(now), actions...)
}

// KeptUntil returns until when the registration can be read at least. A payment in progress (p; nil:
// none) keeps it longer.
func (r *Registration) KeptUntil(p *Payment) time.Time {
	end := r.ExpiresAt
	if p != nil && p.UpdatedAt.After(end) {
		end = p.UpdatedAt
	}
	return end.Add(KeepRegistration)
}

// LinkEnd returns when a new link expires: with the registration's record, which outlives a
// payment in progress, and after resumeLife at most.
func (r *Registration) LinkEnd(p *Payment, now time.Time) time.Time {
	link, end := now.Add(resumeLife), r.KeptUntil(p)
	if p != nil && !p.State.Final() || link.Before(end) {
		return link
	}
	return end
}

// AddHolder adds another device's token. The first device's always stays.
func (r *Registration) AddHolder(hash string) {
	r.Resumed = append(r.Resumed, hash)
	r.Resumed = slices.Delete(r.Resumed, 0, max(0, len(r.Resumed)-maxResumed))
}

// ClosedError is the error for a change or payment of a registration that is not open.
func ClosedError(phase RegistrationState) error {
	switch phase {
	case Expired:
		return &Error{Code: RegistrationClosed, Detail: DetailRegistrationExpired}
	case Attention:
		return &Error{Code: RegistrationClosed, Detail: DetailRegistrationReviewed}
	case Paying:
		return &Error{Code: RegistrationClosed, Detail: DetailRegistrationPaying}
	case Abandoned:
		return &Error{Code: RegistrationClosed, Detail: DetailRegistrationAbandoned}
	default:
		return &Error{Code: RegistrationClosed, Detail: DetailRegistrationCompleted}
	}
}
