package flows

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/upstream/club"
)

// Person is the buyer's details as given. They go to the club system. A registration keeps what the confirmation of the contract
// names, the mobile number's last two digits and the guardian; a form for corrections shows the other details masked.
type Person struct {
	GivenName  string
	FamilyName string
	BirthDate  string // YYYY-MM-DD
	Email      string
	Mobile     string // E.164
	Gender     string // female, male, other, or empty
	Street     string
	PostalCode string
	City       string
	Country    string // ISO 3166-1 alpha-2

	Guardian Guardian `json:",omitzero"`
}

// CodePhone returns the number that the club system has of the contact, to which it sends codes: the guardian's, or the person's own.
func (p Person) CodePhone() string { return cmp.Or(p.Guardian.Phone, p.Mobile) }

// Identity is who a buyer is, besides the given name, as the confirmation of the contract names them. Unknown members are empty.
type Identity struct {
	FamilyName string `json:"familyName,omitempty"`
	BirthDate  string `json:"birthDate,omitempty"` // YYYY-MM-DD
	Email      string `json:"email,omitempty"`
	Street     string `json:"street,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	City       string `json:"city,omitempty"`
	Country    string `json:"country,omitempty"` // ISO 3166-1 alpha-2
}

// identityOf returns the identity of a contact, as the club system has it.
func identityOf(contact club.Contact) Identity {
	identity := Identity{FamilyName: contact.FamilyName, BirthDate: contact.BirthDate, Email: contact.Email}
	if at := contact.Address; at != nil {
		identity.Street, identity.PostalCode, identity.City = at.Street, at.PostalCode, at.Locality
		if code := at.CountryCode(); len(code) == 2 { // else its name
			identity.Country = strings.ToUpper(code)
		}
	}
	return identity
}

// Masked is what a form for corrections shows of the details that a visitor entered: enough to
// recognise them. Unknown ones are empty.
type Masked struct {
	FamilyName string `json:"familyName,omitempty"`
	BirthYear  string `json:"birthYear,omitempty"`
	Email      string `json:"email,omitempty"` // with its domain, where most typos are
	Street     string `json:"street,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	City       string `json:"city,omitempty"`
}

// Masked returns the details masked.
func (p Person) Masked() Masked {
	year, _, _ := strings.Cut(p.BirthDate, "-")
	return Masked{
		FamilyName: mask(p.FamilyName),
		BirthYear:  year,
		Email:      MaskEmail(p.Email),
		Street:     mask(p.Street),
		PostalCode: mask(p.PostalCode),
		City:       mask(p.City),
	}
}

// MaskEmail leaves the first character of an e-mail address, and its domain. Empty for none.
func MaskEmail(address string) string {
	if address == "" {
		return ""
	}
	name, domain, _ := strings.Cut(address, "@")
	return mask(name) + "@" + domain
}

// mask leaves the first character of a text that has more of them.
func mask(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == len(text) {
		return "•••"
	}
	return string(first) + "•••"
}

// Prospect is a person that the chain knows already. First the two contacts become one, then
// the sale gets the remaining contact (club system API, section Contacts).
type Prospect struct {
	Source   club.IRI `json:"source"`   // the former contact
	Migrated bool     `json:"migrated"` // the club system has merged the two
	Done     bool     `json:"done"`     // the sale has the contact
}

// Consent is a contact's decision about one type of message on one channel; the club system calls it an opt-in.
type Consent struct {
	ID         string `json:"id"`
	Channel    string `json:"channel"`
	Type       string `json:"type"`
	Authorized bool   `json:"authorized"`
}

// Locked reports whether it is mandatory information, which cannot be switched off.
func (c Consent) Locked() bool { return c.Type == club.OptinLegal }

// Receipt is a contact's statement about its consents: the club must be able to prove when
// it was made, and about which text.
type Receipt struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Wording string    `json:"wording,omitempty"` // the front end's name for the text that was shown
	Items   []Consent `json:"items"`
}

// ContactIdentity is a contact that the club's login or an invitation has verified. No other
// source names a contact to Frontdesk.
type ContactIdentity struct {
	ClientToken string
	ContactID   string // public id
	ClubID      string // public id of the contact's own club
}

// IRI returns the contact at the club system.
func (i ContactIdentity) IRI() club.IRI {
	return club.NewIRI(i.ClientToken, "contacts", i.ContactID)
}

// Buyer is what decides on the offers to a known contact. As part of a cache key, it must stay comparable.
type Buyer struct {
	Contact club.IRI `json:"contact"`
	Club    club.IRI `json:"club"`           // the contact's own
	Tags    string   `json:"tags,omitempty"` // IRIs of the tags that are valid today, separated by spaces
	Debt    int64    `json:"debt"`           // minor units
}
