package flows

import (
	"time"
)

// asksForMandate tells whether anything in the cart is paid by direct debit.
func (r *Registration) AsksForMandate() bool {
	for _, item := range r.Items {
		if item.Mandate {
			return true
		}
	}
	return false
}

// needsMandate tells whether a mandate has to be signed before the cart can be
// paid. One that is signed goes on to count when the items change, as long as
// it is the buyer's and valid when the first debit falls.
func (r *Registration) NeedsMandate() bool {
	if !r.AsksForMandate() {
		return false
	}
	m, first := r.Mandate, r.FirstDebit()
	return m == nil || m.State != SignatureSigned || r.Contact == nil || m.Contact != r.Contact.IRI || first != "" && first < m.ValidFrom
}

// firstDebit is the earliest day on which something in the cart may be
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
