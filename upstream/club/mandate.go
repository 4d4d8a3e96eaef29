package club

import "context"

// Mandate lets a club collect money from a bank account, once it is signed.
type Mandate struct {
	IRI IRI `json:"@id"`
}

func (m Mandate) missing() string { return missingIRI(m.IRI) }

// NewMandate is a mandate to be signed; every field is required. Bank data is
// sent and forgotten: it stands in no error and no log line of this package.
type NewMandate struct {
	Club       IRI     `json:"clubId"` // the club that collects
	Contact    IRI     `json:"contactId"`
	FamilyName string  `json:"contactFamilyName"`
	GivenName  string  `json:"contactGivenName"`
	Number     string  `json:"contactNumber"`
	Address    Address `json:"contactAddress"`
	Holder     string  `json:"holder"` // of the account
	IBAN       string  `json:"iban"`
	BIC        string  `json:"bic"`
	Bank       string  `json:"bank"`      // its name
	ValidFrom  string  `json:"validFrom"` // YYYY-MM-DD
}

// CreateMandate makes a direct debit mandate, not signed yet; club system API,
// section Mandates. CreateSignatureRequest with the mandate as its target
// follows. Rejected with Violations when a field is missing or the IBAN is wrong.
func (c *Client) CreateMandate(ctx context.Context, s Scope, in NewMandate) (Mandate, error) {
	return do[Mandate](ctx, c, post("CreateMandate", s, "mandates", "", in))
}
