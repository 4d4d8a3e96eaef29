package flows

import (
	"frontdesk/upstream/club"
)

// Mandate is the direct debit mandate of a registration. The account number is
// the club system's alone: what is kept of it here is masked.
type Mandate struct {
	Signature
	IRI       club.IRI `json:"iri"`
	Contact   club.IRI `json:"contact"`         // whose it is: another contact needs another one
	Phone     string   `json:"phone,omitempty"` // where its codes go: a keyed name, not the number; empty where the club system knows none
	Masked    string   `json:"iban"`
	ValidFrom string   `json:"validFrom"` // YYYY-MM-DD
}

// NewMandate asks for a mandate. Everything but Holder and IBAN may be left out.
type NewMandate struct {
	Holder    string // of the account, who need not be the member
	IBAN      string // as it was typed
	BIC       string
	Bank      string   // its name
	Address   *Address // nil: the member's
	ValidFrom string   // YYYY-MM-DD; empty: today
}

// Address is a postal address.
type Address struct {
	Street, PostalCode, City string
	Country                  string // ISO 3166-1 alpha-2
}
