package flows

import "time"

// asksForMandate tells whether anything in the cart is paid by direct debit.
func (r *Registration) asksForMandate() bool {
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
func (r *Registration) needsMandate() bool {
	if !r.asksForMandate() {
		return false
	}
	m, first := r.Mandate, r.firstDebit()
	return m == nil || m.State != SignatureSigned || r.Contact == nil || m.Contact != r.Contact.IRI || first != "" && first < m.ValidFrom
}

// firstDebit is the earliest day on which something in the cart may be
// debited; empty when nothing says.
func (r *Registration) firstDebit() (first string) {
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

// mandateSigned takes the demand for a mandate out of the cart's problems.
func (c *Cart) mandateSigned() {
	kept := c.Problems[:0]
	asked := false
	for _, problem := range c.Problems {
		if problem.Code == string(MandateRequired) {
			asked = true
			continue
		}
		kept = append(kept, problem)
	}
	c.Problems = kept
	if asked && len(kept) == 0 {
		c.Valid = true
	}
}

// mandateActions are what can be done about the mandate now.
func (r *Registration) mandateActions(now time.Time) []string {
	m := r.Mandate
	if !r.needsMandate() {
		return nil
	}
	if m == nil || m.State == SignatureCancelled || m.State == SignatureSigned {
		return []string{"mandate"}
	}
	var actions []string
	if m.acceptsCode() && m.AttemptsLeft() > 0 {
		actions = append(actions, "sign")
	}
	if !now.Before(m.ResendAfter) {
		actions = append(actions, "resend")
	}
	return append(actions, "cancel_signature", "mandate")
}
