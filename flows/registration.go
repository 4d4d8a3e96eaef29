package flows

import (
	"slices"
	"time"

	"frontdesk/upstream/club"
)

const (
	// FirstPoll is the age at which a registration with a cart is first read again without an
	// event. A visitor who pays within minutes does so here; at the desk people take longer.
	FirstPoll = 15 * time.Minute
)

// NextPoll is when the club system is asked again without any hint: at twice the
// registration's age, since who has waited for hours comes to the desk tomorrow, if
// at all. Only a cart can be settled there.
func (r *Registration) NextPoll(now time.Time) time.Time {
	if r.Sale == "" || r.Cart.Settled() {
		return time.Time{}
	}
	return now.Add(max(FirstPoll, now.Sub(r.CreatedAt)))
}

const (
	// PayableFor is how long a sale can be paid: less than the 24 h for which a processor
	// remembers the idempotency key that its one payment derives from.
	PayableFor = 20 * time.Hour
	// KeepRegistration is how long a registration is kept beyond its end, for a visitor who looks again.
	KeepRegistration = 24 * time.Hour
)

// HasHolder tells whether a token is a holder's. What is stored of it decides; of a
// registration that came back from the processor that may be nothing, or less than
// it was, so that the signature decides.
func (r *Registration) HasHolder(token string, signed bool) bool {
	isHolder := TokenMatches(token, r.TokenHash)
	for _, hash := range r.Resumed {
		isHolder = TokenMatches(token, hash) || isHolder
	}
	return isHolder || r.Rebuilt && signed
}

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

// RegistrationSchema is the number of the record's layout. A record with a higher
// one is ErrNewer: what this version does not know of it would be lost by writing.
const RegistrationSchema = 1

// Registration is the record of one person's journey.
type Registration struct {
	ID               string            `json:"id"`
	Schema           int               `json:"schema,omitempty"` // of the Frontdesk that wrote it last; set by the store, 0 for the first layout
	Version          int64             `json:"-"`                // counted by the store
	State            RegistrationState `json:"state"`
	ClientToken      string            `json:"clientToken"`
	TokenHash        string            `json:"tokenHash"`         // SHA-256 of the holder's token, hex; empty where Redis lost it, then the token's signature counts
	Resumed          []string          `json:"resumed,omitempty"` // the same of the devices on which it was resumed, the oldest first
	Resume           *Resume           `json:"resume,omitempty"`  // the link that nobody has used yet
	ClubID           string            `json:"clubId"`
	Channel          string            `json:"channel"`
	Contact          *Contact          `json:"contact,omitempty"`
	Sale             club.IRI          `json:"sale,omitempty"`
	SaleState        string            `json:"saleState,omitempty"` // what the club system calls a sale that nothing has settled: that of a new one
	Items            []Item            `json:"items,omitempty"`     // what the visitor asked for
	PersonPseudonyms []string          `json:"persons,omitempty"`   // keyed names of e-mail and phone, by which it is found to be erased
	Erased           bool              `json:"erased,omitempty"`    // nothing of its person is left
	Cart             Cart              `json:"cart"`                // the sale as it was last read
	Mandate          *Mandate          `json:"mandate,omitempty"`
	Prospect         *Prospect         `json:"prospect,omitempty"`
	Generation       int               `json:"generation"` // number of payments begun
	CreatedAt        time.Time         `json:"createdAt"`
	ExpiresAt        time.Time         `json:"expiresAt"`
	// Rebuilt: its payment was brought back from the processor. Redis no longer
	// knows for certain what the journey was, so that it is never paid anew.
	Rebuilt bool `json:"rebuilt,omitempty"`

	Listed club.IRI `json:"-"` // the contact among whose registrations it was when it was read or saved; said by the store
}

// Contact is the buyer at the club system, as far as the journey needs it.
type Contact struct {
	IRI    club.IRI `json:"iri"`
	Number string   `json:"number"`
	Status string   `json:"status"`
	Buyer  *Buyer   `json:"buyer,omitempty"` // of a contact whom the club knew before; nil for a visitor
}

// Identified tells whether the buyer is a contact whom the club knew before.
func (r *Registration) Identified() bool { return r.Contact != nil && r.Contact.Buyer != nil }

// View is a registration with all that follows for its visitor.
type View struct {
	*Registration
	Payment *Payment // the latest; nil before the first
	Phase   RegistrationState
	Message string   // fit to be shown; empty where the phase says it all
	Stale   bool     // the cart should have been read again, and could not be
	Actions []string // what can be done now, most useful first
	Methods []Method // with the action pay: how the cart can be settled now
}

// Phase derives the registration's state from the record, its latest payment (nil: none) and the clock.
func (r *Registration) Phase(p *Payment, now time.Time) RegistrationState {
	switch {
	case p != nil && p.State == Recorded:
		return Completed
	case p != nil && (p.State == InDoubt || p.State == Blocked):
		return Attention
	case p.Live():
		return Paying
	case r.State == Abandoned:
		return Abandoned
	case r.Rebuilt || now.After(r.ExpiresAt):
		return Expired
	default:
		return Open
	}
}

// Closed tells whether the registration accepts no further payment.
func (r *Registration) Closed(latest *Payment, now time.Time) bool {
	r.MarkIfSettledByPayment(latest)
	phase := r.Phase(latest, now)
	return r.Cart.Settled() || phase != Open && phase != Paying
}

// View adds what follows for the visitor from the latest payment (nil: none) and the clock.
func (r *Registration) View(p *Payment, now time.Time) View {
	if r == nil {
		return View{}
	}
	v := View{Registration: r, Payment: p, Phase: r.Phase(p, now)}
	if p != nil {
		p.Closed = r.Closed(p, now)
		v.Message = p.View().Message
	}
	switch v.Phase {
	case Open:
		v.Methods = r.methods()
		v.Actions = openActions(r, len(v.Methods) > 0, now)
	case Paying:
		v.Actions = []string{"follow_payment"}
		if p.View().Retry == "new" || p.State == Priced {
			v.Actions, v.Methods = []string{"pay", "follow_payment"}, []Method{p.Method}
		}
		if p.open() {
			v.Actions = append(v.Actions, "abandon")
		}
	case Expired:
		if p == nil {
			v.Message = "This registration has expired. Please start again; nothing was charged."
		}
	}
	return v
}

func openActions(r *Registration, payable bool, now time.Time) []string {
	actions := []string{"person", "abandon"}
	switch {
	case r.Contact == nil:
		return actions
	case r.Cart.Settled():
		return []string{"abandon"}
	case r.Identified() || r.Prospect != nil && r.Prospect.Done:
		actions = []string{"abandon"} // the details are the club's
	case r.Prospect != nil && r.Prospect.Migrated:
		actions = []string{"prospect", "abandon"}
	case r.Sale != "" && r.Contact.Status == StatusTemp:
		actions = []string{"person", "prospect", "abandon"}
	}
	if len(r.Items) == 0 {
		return append([]string{"add_item"}, actions...)
	}
	actions = append([]string{"check", "add_item", "clear_items"}, actions...)
	if payable {
		actions = append([]string{"pay"}, actions...)
	}
	return append(r.mandateActions(now), actions...)
}

// LinkEnd is until when a new link is good: as long as the registration can be
// looked at for certain, which with a payment under way is as long as that takes.
func (r *Registration) LinkEnd(p *Payment, now time.Time) time.Time {
	link, end := now.Add(resumeLife), r.ExpiresAt
	if p != nil && p.UpdatedAt.After(end) {
		end = p.UpdatedAt
	}
	end = end.Add(KeepRegistration)
	if p != nil && !p.State.Final() || link.Before(end) {
		return link
	}
	return end
}

// AddHolder makes the holder of another token a holder of the registration. The first
// device's stays one for good.
func (r *Registration) AddHolder(hash string) {
	r.Resumed = append(r.Resumed, hash)
	r.Resumed = slices.Delete(r.Resumed, 0, max(0, len(r.Resumed)-maxResumed))
}
