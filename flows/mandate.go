package flows

import (
	"slices"
	"time"

	"frontdesk/upstream/club"
)

// Mandate is the direct debit mandate of a registration. Only the club system has the account
// number; here it is masked.
type Mandate struct {
	Signature
	IRI       club.IRI `json:"iri"`
	Contact   club.IRI `json:"contact"`          // another contact needs another mandate
	Phone     string   `json:"phone,omitempty"`  // pseudonym of the number that gets the codes; empty if the club system has none
	Holder    string   `json:"holder,omitempty"` // of the account, who is the debtor; empty: an earlier version has not stored it
	Masked    string   `json:"iban"`
	ValidFrom string   `json:"validFrom"` // YYYY-MM-DD

	Reference string        `json:"reference,omitempty"` // of the club system; empty: it is assigned later
	Proof     *MandateProof `json:"proof,omitempty"`     // of the latest code that was entered, and of the one that signed
}

// MandateProof is what the buyer was shown when the code was entered.
type MandateProof struct {
	Text     string    `json:"text"` // the authorisation
	Language string    `json:"language"`
	SHA256   string    `json:"sha256"` // of Text, hex
	At       time.Time `json:"at"`     // when the code was entered

	Creditor   Creditor `json:"creditor"`
	NoticeDays int      `json:"noticeDays,omitempty"` // before each debit; zero: an earlier version has stored neither
}

// MandateTerms are what a mandate authorises.
type MandateTerms struct {
	Creditor   Creditor
	NoticeDays int    // before each debit
	Text       string // the authorisation, of several lines
	Language   string // of Text
}

// Signed returns the terms as the buyer was shown them, instead of today's.
func (p *MandateProof) Signed(today MandateTerms) MandateTerms {
	if p == nil {
		return today
	}
	if p.NoticeDays > 0 {
		today.Creditor, today.NoticeDays = p.Creditor, p.NoticeDays
	}
	today.Text, today.Language = p.Text, p.Language
	return today
}

// NewMandate is a request for a mandate. Only Holder and IBAN are required.
type NewMandate struct {
	Holder    string // of the account; need not be the member. A guardian takes its place
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

// AsksForMandate reports whether an item in the cart is paid by direct debit.
func (r *Registration) AsksForMandate() bool {
	return slices.ContainsFunc(r.Items, func(item Item) bool { return item.Mandate })
}

// NeedsMandate reports whether a mandate must be signed before the cart can be paid. A signed
// one stays valid when the items change, if it is the buyer's and starts by the first debit.
func (r *Registration) NeedsMandate() bool {
	return r.AsksForMandate() && !r.MandateCovers()
}

// MandateCovers reports whether the mandate is signed, is the buyer's, and starts no later than the first debit.
func (r *Registration) MandateCovers() bool {
	m, first := r.Mandate, r.FirstDebit()
	return m != nil && m.State == SignatureSigned && r.Contact != nil && m.Contact == r.Contact.IRI && (first == "" || first >= m.ValidFrom)
}

// FirstDebit returns the earliest known day of a debit; empty if none is known.
func (r *Registration) FirstDebit() (first string) {
	for _, item := range r.Items {
		day := item.StartDate
		if item.Debit != nil && item.Debit.From != "" {
			day = item.Debit.From
		}
		if item.Mandate && day != "" && (first == "" || day < first) {
			first = day
		}
	}
	return first
}

func (r *Registration) mandateActions(now time.Time) []string {
	mandate := r.Mandate
	if !r.NeedsMandate() {
		return nil
	}
	if r.mandateStep() == StepMandate {
		return []string{"mandate"}
	}
	var actions []string
	if mandate.AcceptsCode() && mandate.AttemptsLeft() > 0 {
		actions = append(actions, "sign")
	}
	if !now.Before(mandate.ResendAfter) {
		actions = append(actions, "resend")
	}
	return append(actions, "cancel_signature", "mandate")
}
