package flows

import (
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
