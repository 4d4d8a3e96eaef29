package club

import (
	"cmp"
	"context"
)

// Mandate lets a club collect money from a bank account, once it is signed.
type Mandate struct {
	IRI     IRI    `json:"@id"`
	State   string `json:"state"` // created, signed
	Contact IRI    `json:"contactId"`

	Reference string `json:"-"` // the unique mandate reference; empty: the club system does not tell it
}

// Signed reports whether the contact has signed the mandate.
func (m Mandate) Signed() bool { return m.State == "signed" }

func (m Mandate) check() error { return requireIRI(m.IRI, "mandates") }

func (m Mandate) identifier() IRI { return m.IRI }

// NewMandate is a mandate to be signed; every field is required, but either Bacs or the four that identify a SEPA account.
// No error and no log line of this package holds bank data.
type NewMandate struct {
	Club       IRI     `json:"clubId"` // the club that collects
	Contact    IRI     `json:"contactId"`
	FamilyName string  `json:"contactFamilyName"`
	GivenName  string  `json:"contactGivenName"`
	Number     string  `json:"contactNumber"`
	Address    Address `json:"contactAddress"`
	Holder     string  `json:"holder,omitempty"` // of the account
	IBAN       string  `json:"iban,omitempty"`
	BIC        string  `json:"bic,omitempty"`
	Bank       string  `json:"bank,omitempty"` // its name
	ValidFrom  string  `json:"validFrom"`      // YYYY-MM-DD
	*Bacs
}

// MandateBacs is the type of a mandate for an account in the United Kingdom, which some installations have.
const MandateBacs = "bacs"

// Bacs identifies an account in the United Kingdom.
type Bacs struct {
	Type          string `json:"type"` // MandateBacs
	AccountName   string `json:"accountName"`
	AccountNumber string `json:"accountNumber"` // eight digits
	SortCode      string `json:"sortCode"`      // six digits
}

// CreateMandate creates an unsigned direct debit mandate; club system API, section Mandates.
// CreateSignatureRequest with the mandate as its target follows. Of the response the IRI is read and, where there is one, the reference.
// Rejected with Violations when a field is missing or the IBAN is wrong.
func (c *Client) CreateMandate(ctx context.Context, scope Scope, in NewMandate) (Mandate, error) {
	got, err := do[createdMandate](ctx, c, post("CreateMandate", scope, "mandates", "", in))
	return Mandate{IRI: got.IRI, Reference: got.Reference.value}, err
}

type createdMandate struct {
	identified
	Reference lenient[string] `json:"reference"`
}

func (m createdMandate) check() error { return requireIRI(m.IRI, "mandates") }

// GetMandate reads a mandate. ErrNotFound when it does not exist. The operation and the state
// are assumptions: the API's description shows only the mandate's identifier.
func (c *Client) GetMandate(ctx context.Context, scope Scope, mandate IRI) (Mandate, error) {
	got, err := do[mandateWithState](ctx, c, get("GetMandate", scope, "mandates/{id}", mandate))
	return got.Mandate, err
}

// mandateWithState requires a state: a missing one does not mean unsigned.
type mandateWithState struct{ Mandate }

func (m mandateWithState) check() error {
	return cmp.Or(m.Mandate.check(), require("state", m.State != ""))
}
