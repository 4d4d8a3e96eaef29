// Package erasure erases what Redis holds of a person, as far as money allows, and
// reports what was erased, what is kept and why, and who else holds data.
package erasure

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/upstream/club"
)

// Request names the person whose data an operator has erased: by exactly one of
// what the person can give.
type Request struct {
	ClientToken  string
	Email        string
	Mobile       string
	Registration string // an id
	Contact      string // public id
}

// Report tells what became of a person's data. It holds no personal data itself.
type Report struct {
	Erased    []ErasedItem `json:"erased"`
	Kept      []KeptItem   `json:"kept"`      // what is still there, and why
	Elsewhere []string     `json:"elsewhere"` // who else holds data of the person, that is not Frontdesk's to erase
}

// ErasedItem is what was erased of one registration, or of one contact.
type ErasedItem struct {
	Registration string `json:"registration,omitempty"` // empty: what a contact had beside its registrations
	What         string `json:"what"`
}

// KeptItem is something that was not erased.
type KeptItem struct {
	Registration string          `json:"registration,omitempty"`
	Payment      flows.PaymentID `json:"payment,omitempty"`
	What         string          `json:"what"`
	Why          string          `json:"why"`
	Deferred     bool            `json:"deferred"` // ask again once the payment has ended
}

// eraseTries: a change that another one overtook is repeated; more than a few in a
// row is a client that keeps changing the registration.
const eraseTries = 4

// Eraser erases people's data.
type Eraser struct {
	cfg Config
}

// Store is what erasing needs of Redis.
type Store interface {
	// Registration reads a registration and its latest payment (nil when there is none). ErrNotFound.
	Registration(ctx context.Context, id string) (*flows.Registration, *flows.Payment, error)
	// AmendRegistration is SaveRegistration that leaves alone how long the registration is kept.
	AmendRegistration(ctx context.Context, r *flows.Registration) error
	// RegistrationsOf lists the registrations of contacts; some may be gone.
	RegistrationsOf(ctx context.Context, contacts ...club.IRI) ([]string, error)
	// RegistrationsOfPerson lists those of somebody by names made with a key; some may be gone.
	RegistrationsOfPerson(ctx context.Context, names ...string) ([]string, error)
	// Unindex takes a registration from every list in which it is found by person or contact.
	Unindex(ctx context.Context, r *flows.Registration) error
	// EraseTransfer deletes a contact's move to another club, and tells whether there was one.
	EraseTransfer(ctx context.Context, contact club.IRI) (bool, error)
	// Receipts returns what a contact said about its consents, newest first.
	Receipts(ctx context.Context, contact club.IRI) ([]flows.Receipt, error)
	// Audit appends to the audit stream, which is bounded and in plain.
	Audit(ctx context.Context, entry flows.AuditEntry) error
}

// Config is what an eraser needs; every field is required.
type Config struct {
	Store Store
	Keys  *keyring.Keyring
	Now   func() time.Time
	Log   *slog.Logger
}

// New returns an eraser.
func New(cfg Config) *Eraser { return &Eraser{cfg: cfg} }

// Erase erases what Redis holds of a person, as far as money allows: a payment
// that has not ended needs its buyer, so that its registration is left for later.
// Asked again it does what was left, and nothing else. There is no erasure that
// the audit stream does not tell of.
//
// Of an erased registration its number is left, without anything of its person,
// until its time is over: the card processor still names it, and what is missing
// would be brought back from there. Its holder reads that there is none.
func (f *Eraser) Erase(ctx context.Context, wanted Request, by string) (Report, error) {
	if err := wanted.validate(by); err != nil {
		return Report{}, err
	}
	if err := f.cfg.Store.Audit(ctx, flows.AuditEntry{At: f.cfg.Now(), Operator: by, Action: "erase"}); err != nil {
		return Report{}, flows.StorageFailed(err)
	}
	report := Report{Erased: []ErasedItem{}, Kept: []KeptItem{}, Elsewhere: thirdPartyHolders()}
	ids, contacts, err := f.find(ctx, wanted)
	if err != nil {
		return Report{}, err
	}
	for _, id := range ids {
		contact, err := f.eraseOne(ctx, wanted.ClientToken, id, &report)
		if err != nil {
			return Report{}, err
		}
		if contact != "" && !slices.Contains(contacts, contact) {
			contacts = append(contacts, contact)
		}
	}
	for _, contact := range contacts {
		if err := f.eraseContact(ctx, contact, &report); err != nil {
			return Report{}, err
		}
	}
	report.Kept = append(report.Kept, expiringData())
	f.cfg.Log.InfoContext(ctx, "personal data erased", "erased", len(report.Erased), "kept", len(report.Kept))
	return report, nil
}

// validate says everything that is wrong with the wish.
func (w Request) validate(by string) error {
	failure := &flows.Error{Code: flows.InvalidRequest}
	var word *flows.Error
	if errors.As(flows.Decision{Operator: by}.Validate(), &word) {
		failure.Fields = word.Fields
	}
	named := 0
	for _, field := range []struct {
		pointer, value, form string
		wrong                bool
	}{
		{"/email", w.Email, "An e-mail address.", !strings.Contains(w.Email, "@")},
		{"/mobile", w.Mobile, "A mobile number, such as +33612345678.", !keyring.IsPhone(w.Mobile)},
		{"/registration", w.Registration, "The id of a registration.", uuid.Validate(w.Registration) != nil},
		{"/contact", w.Contact, "A contact's id at the club system, such as 1001.", !flows.PublicIDPattern.MatchString(w.Contact)},
	} {
		if field.value == "" {
			continue
		}
		named++
		if field.wrong {
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: field.pointer, Message: field.form})
		}
	}
	if named != 1 {
		failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: "", Message: "Say who it is by exactly one of email, mobile, registration and contact."})
	}
	if len(failure.Fields) > 0 {
		return failure
	}
	return nil
}

// find lists the registrations that may be the person's, and the contact when that is what is known.
func (f *Eraser) find(ctx context.Context, wanted Request) (ids []string, contacts []club.IRI, err error) {
	switch {
	case wanted.Registration != "":
		return []string{wanted.Registration}, nil, nil
	case wanted.Contact != "":
		contact := club.NewIRI(wanted.ClientToken, "contacts", wanted.Contact)
		ids, err = f.cfg.Store.RegistrationsOf(ctx, contact)
		contacts = []club.IRI{contact}
	default:
		ids, err = f.cfg.Store.RegistrationsOfPerson(ctx, f.cfg.Keys.PersonPseudonyms(wanted.ClientToken, wanted.Email, wanted.Mobile)...)
	}
	return ids, contacts, flows.StorageFailed(err)
}

// eraseOne erases one registration, and answers with its contact. A registration
// that is gone, erased already or of another organisation is none of the person's.
func (f *Eraser) eraseOne(ctx context.Context, clientToken, id string, report *Report) (club.IRI, error) {
	for range eraseTries {
		r, p, err := f.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound), err == nil && (r.ClientToken != clientToken || r.Erased):
			return "", nil
		case err != nil:
			return "", flows.StorageFailed(err)
		case p != nil && !p.State.Final():
			report.Kept = append(report.Kept, KeptItem{Registration: id, Payment: p.ID, What: "the registration and its payment", Deferred: true,
				Why: "the payment is " + string(p.State) + ": its money needs the buyer until it has ended"})
			return "", nil
		}
		before := *r
		*r = flows.Registration{ID: r.ID, Version: r.Version, State: flows.Abandoned, Erased: true, ClientToken: r.ClientToken, ClubID: r.ClubID,
			Channel: r.Channel, Generation: r.Generation, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt}
		if err := f.cfg.Store.AmendRegistration(ctx, r); errors.Is(err, flows.ErrConflict) {
			continue
		} else if err != nil {
			return "", flows.StorageFailed(err)
		}
		if err := f.cfg.Store.Unindex(ctx, &before); err != nil {
			return "", flows.StorageFailed(err)
		}
		report.Erased = append(report.Erased, ErasedItem{id, "buyer, cart, mandate, devices and links of the registration"})
		if p != nil {
			report.Kept = append(report.Kept, KeptItem{Registration: id, Payment: p.ID, What: "the payment: sale, amount, states",
				Why: "books need it for 30 days; who paid was dropped when it ended"})
		}
		if before.Contact == nil {
			return "", nil
		}
		return before.Contact.IRI, nil
	}
	return "", flows.StorageFailed(flows.ErrConflict)
}

// eraseContact erases what a contact has beside its registrations.
func (f *Eraser) eraseContact(ctx context.Context, contact club.IRI, report *Report) error {
	erased, err := f.cfg.Store.EraseTransfer(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	if erased {
		report.Erased = append(report.Erased, ErasedItem{What: "the contact's move to another club"})
	}
	receipts, err := f.cfg.Store.Receipts(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	if len(receipts) > 0 {
		report.Kept = append(report.Kept, KeptItem{What: "receipts of consents, sealed", Why: "the club has to be able to show for three years that the contact agreed"})
	}
	return nil
}

// expiringData is what cannot be found by person, and goes by itself.
func expiringData() KeptItem {
	return KeptItem{What: "answers to repeated requests (sealed, 24 h), counts of SMS codes (keyed hashes, 24 h), unused invitations (sealed, 30 days at most), events on their way to subscribers (sealed, about a day)",
		Why: "nothing in them tells whose they are until they are opened; they go by themselves"}
}

func thirdPartyHolders() []string {
	return []string{
		"the club system: the contact with its name, address, e-mail and mobile, its sales, mandates with the account number, and consents; ask the club's staff, or the club system's provider",
		"the card processor: the card, and what the buyer typed on its page; metadata that Frontdesk left there names the registration and the sale, and no person",
		"subscribers to events: what they made of identifiers that they were told",
	}
}
