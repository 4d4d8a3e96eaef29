package flows

import (
	"time"

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

// AsksForMandate tells whether anything in the cart is paid by direct debit.
func (r *Registration) AsksForMandate() bool {
	for _, item := range r.Items {
		if item.Mandate {
			return true
		}
	}
	return false
}

// NeedsMandate tells whether a mandate has to be signed before the cart can be
// paid. One that is signed goes on to count when the items change, as long as
// it is the buyer's and valid when the first debit falls.
func (r *Registration) NeedsMandate() bool {
	if !r.AsksForMandate() {
		return false
	}
	m, first := r.Mandate, r.FirstDebit()
	return m == nil || m.State != SignatureSigned || r.Contact == nil || m.Contact != r.Contact.IRI || first != "" && first < m.ValidFrom
}

// FirstDebit is the earliest day on which something in the cart may be
// debited; empty when nothing says.
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

// mandateActions are what can be done about the mandate now.
func (r *Registration) mandateActions(now time.Time) []string {
	m := r.Mandate
	if !r.NeedsMandate() {
		return nil
	}
	if m == nil || m.State == SignatureCancelled || m.State == SignatureSigned {
		return []string{"mandate"}
	}
	var actions []string
	if m.AcceptsCode() && m.AttemptsLeft() > 0 {
		actions = append(actions, "sign")
	}
	if !now.Before(m.ResendAfter) {
		actions = append(actions, "resend")
	}
	return append(actions, "cancel_signature", "mandate")
}
