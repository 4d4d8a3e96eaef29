package flows

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/upstream/club"
)

// ContactIdentity is a contact for whom the club's own login, or an invitation,
// vouches. Nobody else names a contact to Frontdesk.
type ContactIdentity struct {
	ClientToken string
	ContactID   string // public id
	ClubID      string // public id of the contact's own club
}

// IRI is the contact at the club system.
func (identity ContactIdentity) IRI() club.IRI {
	return club.NewIRI(identity.ClientToken, "contacts", identity.ContactID)
}

// Buyer is what of a known contact decides what it can buy. It is part of a
// cache's key, so it holds nothing that cannot be compared.
type Buyer struct {
	Contact club.IRI `json:"contact"`
	Club    club.IRI `json:"club"`           // the contact's own
	Tags    string   `json:"tags,omitempty"` // IRIs of the tags that count today, with spaces between them
	Debt    int64    `json:"debt"`           // minor units
}

// Profile is an identified contact as the club system has it now.
type Profile struct {
	club.Contact
	HomeClub Club  // its own club
	Debt     int64 // minor units of the club's currency
}

// Contacts is what identified contacts see and change of themselves.
type Contacts struct {
	cfg ContactsConfig
}

// MemberStore is what identified contacts need of Redis.
type MemberStore interface {
	// SaveInvitation keeps an invitation under the hash of its token.
	SaveInvitation(ctx context.Context, hash string, invitation Invitation, life time.Duration) error
	// Audit appends to the audit stream, which is bounded and in plain.
	Audit(ctx context.Context, entry AuditEntry) error
	// SaveReceipt keeps what a contact said about its consents.
	SaveReceipt(ctx context.Context, contact club.IRI, receipt Receipt) error
	// Receipts returns what a contact said about its consents, newest first.
	Receipts(ctx context.Context, contact club.IRI) ([]Receipt, error)
}

// ContactsConfig is what identified contacts need; every field is required.
type ContactsConfig struct {
	Store     MemberStore
	Club      *club.Client
	Catalogue *Catalogue
	Now       func() time.Time
}

// NewContacts makes the journeys of identified contacts.
func NewContacts(cfg ContactsConfig) *Contacts { return &Contacts{cfg: cfg} }

// Me reads a contact with its tags, and what it owes. NotIdentified when the
// club does not know it (any more): a new token of the login says what is true now.
func (f *Contacts) Me(ctx context.Context, identity ContactIdentity) (Profile, error) {
	return readProfile(ctx, f.cfg.Club, f.cfg.Catalogue, identity)
}

// Buyer is Me for the catalogue.
func (f *Contacts) Buyer(ctx context.Context, identity ContactIdentity) (Buyer, error) {
	known, err := f.Me(ctx, identity)
	if err != nil {
		return Buyer{}, err
	}
	return known.buyer(f.cfg.Now()), nil
}

// readProfile reads the contact and its account side by side, from its own club:
// a contact that has moved is not seen from there.
func readProfile(ctx context.Context, client *club.Client, clubs *Catalogue, identity ContactIdentity) (Profile, error) {
	at, err := homeClub(ctx, clubs, identity)
	if err != nil {
		return Profile{}, err
	}
	known := Profile{HomeClub: at}
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		known.Contact, err = client.GetContact(ctx, at.Scope, identity.IRI())
		return notIdentified(err, "The contact could not be read.")
	})
	reads.Go(func() error {
		statistics, err := client.GetAccountStatistics(ctx, at.Scope, identity.IRI())
		known.Debt = statistics.TotalRealDebt
		return notIdentified(err, "The contact's account could not be read.")
	})
	if err := reads.Wait(); err != nil {
		return Profile{}, err
	}
	if known.Club != "" && known.Club != at.IRI {
		return Profile{}, &Error{Code: NotIdentified, Detail: unknownContact}
	}
	return known, nil
}

// homeClub is the club that an identified contact belongs to.
func homeClub(ctx context.Context, clubs *Catalogue, identity ContactIdentity) (Club, error) {
	at, err := clubs.Club(ctx, identity.ClientToken, identity.ClubID)
	if err != nil && CodeOf(err) == NotFound {
		return Club{}, &Error{Code: NotIdentified, Detail: unknownContact, Err: err}
	}
	return at, err
}

const unknownContact = "The club does not know this contact. Please log in again."

// notIdentified translates an error of the club system about a contact that only a token has named.
func notIdentified(err error, part string) error {
	if errors.Is(err, club.ErrNotFound) {
		return &Error{Code: NotIdentified, Detail: unknownContact, Err: err}
	}
	return clubFailed(err, part)
}

// buyer is what of the contact decides what it can buy on a day.
func (k Profile) buyer(now time.Time) Buyer {
	day := now.UTC().Format(time.DateOnly)
	var tags []string
	for _, tag := range k.Tags {
		if tag.ValidFrom <= day && (tag.ValidThrough == "" || day <= tag.ValidThrough) {
			tags = append(tags, string(tag.IRI))
		}
	}
	return Buyer{Contact: k.IRI, Club: k.HomeClub.IRI, Tags: strings.Join(tags, " "), Debt: k.Debt}
}

// attachContact makes an identified contact the buyer of a registration. Who may not
// buy is told so before anything is made at the club system.
func (f *Registrations) attachContact(ctx context.Context, r *Registration, identity ContactIdentity) (club.Contact, error) {
	if identity.ClubID != r.ClubID {
		return club.Contact{}, &Error{Code: OtherClub, Detail: "You belong to another club. Please register there, or move to this club first."}
	}
	known, err := readProfile(ctx, f.cfg.Club, f.cfg.Catalogue, identity)
	if err != nil {
		return club.Contact{}, err
	}
	if known.Status == club.StatusBanned {
		return club.Contact{}, &Error{Code: ContactBanned, Detail: "The club does not sell to you. Please ask its staff."}
	}
	buyer := known.buyer(f.cfg.Now())
	r.Contact = &Contact{IRI: known.IRI, Number: known.Number, Status: known.Status, Buyer: &buyer}
	f.indexPerson(r, known.Email, known.Mobile)
	return known.Contact, nil
}
