package flows

import (
	"frontdesk/upstream/club"
)

// Prospect is a person whom the chain knew already, on the way into a
// registration: first the two contacts become one, then the sale gets the
// contact that stayed (club system API, section Contacts).
type Prospect struct {
	Source   club.IRI `json:"source"`   // who they were before
	Migrated bool     `json:"migrated"` // the club system said that the two are one
	Done     bool     `json:"done"`     // the sale has their contact
}
