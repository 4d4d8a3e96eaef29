package clubsim

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"time"
)

// The states of a signature request.
const (
	signaturePending   = "pending"
	signatureValidated = "validated"
	signatureCanceled  = "canceled"
	signatureBlocked   = "blocked" // too many wrong codes
)

// signatureRequest waits for the code that an SMS brought to a contact. Its
// target is a mandate, or the club to which the contact moves.
type signatureRequest struct {
	numbered
	ContactID int       `json:"contactId"`
	ClubID    int       `json:"clubId"`    // where it was made
	MandateID int       `json:"mandateId"` // zero: a migration
	TargetID  int       `json:"targetClubId"`
	Code      string    `json:"code"`
	Wrong     int       `json:"wrong"` // wrong codes so far
	State     string    `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
}

func (w *World) signatureRecord(q *signatureRequest) record {
	target := w.iri("clubs", q.TargetID)
	if q.MandateID != 0 {
		target = w.iri("mandates", q.MandateID)
	}
	return w.record("SignatureRequest", "signature_requests", q.ID, record{
		"state": q.State, "contactId": w.iri("contacts", q.ContactID), "targetId": target, "createdAt": w.timestamp(q.CreatedAt),
	})
}

// createSignatureRequest: POST signature_requests (section Signature requests).
func createSignatureRequest(c *request) (response, error) {
	f := c.form()
	contactID, mandateID := f.iri("contactId", "contacts", true), f.iri("targetId", "mandates", true)
	k, noContact := c.contactAt(contactID)
	m, noMandate := visible(c.w.state.Mandates.get(mandateID), func(m *mandate) bool { return c.sees(m.ClubID) && m.ContactID == contactID })
	if err := cmp.Or(f.err(), noContact, noMandate); err != nil {
		return response{}, err
	}
	if !m.SignedAt.IsZero() {
		return response{}, badRequest("api.error.mandate.already-signed", "The mandate is signed already.")
	}
	return c.requestSignature(k, signatureRequest{MandateID: m.ID})
}

// signatureAt returns a signature request that the caller may see: from where it was
// made, or from where its contact is.
func (c *request) signatureAt(id int) (*signatureRequest, error) {
	return visible(c.w.state.Signatures.get(id), func(q *signatureRequest) bool {
		return c.caller.maySee(q.ContactID) && (c.sees(q.ClubID) || c.sees(c.w.state.Contacts.get(q.ContactID).ClubID))
	})
}

func (c *request) requestSignature(k *contact, q signatureRequest) (response, error) {
	q.ContactID, q.ClubID, q.State, q.CreatedAt = k.ID, c.club.id, signaturePending, c.now
	if !mobilePattern.MatchString(k.Mobile) {
		c.w.state.SMS.add(&sms{To: k.Mobile, ContactID: k.ID, SentAt: c.now})
		return response{}, invalid(
			violation{"contactId", "The contact has no valid mobile phone number.", "api.error.signature-request.mobile-not-valid"},
		)
	}
	c.w.state.Signatures.add(&q)
	q.Code = c.w.code(q.ID)
	c.w.state.SMS.add(&sms{
		To:          k.Mobile,
		ContactID:   k.ID,
		SignatureID: q.ID,
		Code:        q.Code,
		SentAt:      c.now,
	})
	return response{201, c.w.signatureRecord(&q)}, nil
}

// code is the SMS code of a signature request: six digits.
func (w *World) code(signatureID int) string {
	if fixed := w.settings.SMSCode.Fixed; fixed != "" {
		return fixed
	}
	return fmt.Sprintf("%06d", w.draw("sms", signatureID)%1_000_000)
}

// transitionSignatureRequest: POST signature_requests/{id}/transitions, validate or cancel.
func transitionSignatureRequest(c *request, q *signatureRequest) (response, error) {
	f := c.form()
	transition := f.choice("transition", true, "validate", "cancel")
	code := f.text("code", transition == "validate")
	if err := f.err(); err != nil {
		return response{}, err
	}
	if q.State != signaturePending {
		return response{}, badRequest("api.error.signature-request.not-pending", "The signature request is "+q.State+".")
	}
	if transition == "cancel" {
		q.State = signatureCanceled
	} else if err := c.sign(q, code); err != nil {
		return response{}, err
	}
	return response{201, c.w.signatureRecord(q)}, nil
}

// sign compares the code and completes what the request is for. The last wrong code that
// is allowed ends the request.
func (c *request) sign(q *signatureRequest, code string) error {
	rules := c.w.settings.SMSCode
	if c.now.After(q.CreatedAt.Add(rules.Validity.Duration())) {
		return invalid(violation{"code", "The code has expired.", "api.error.signature-request.code-expired"})
	}
	if subtle.ConstantTimeCompare([]byte(code), []byte(q.Code)) != 1 {
		if q.Wrong++; q.Wrong >= rules.Attempts {
			q.State = signatureBlocked
			return invalid(violation{"code", "The code is wrong. The signature request is closed.", "api.error.signature-request.too-many-attempts"})
		}
		return invalid(violation{"code", "The code is wrong.", "api.error.signature-request.code-not-valid"})
	}
	if q.MandateID != 0 {
		c.w.state.Mandates.get(q.MandateID).SignedAt = c.now
	} else if err := c.completeMigration(q); err != nil {
		return err
	}
	q.State = signatureValidated
	return nil
}

// sms is a message that was sent, or could not be sent (no signature request).
type sms struct {
	numbered
	To          string    `json:"to"`
	ContactID   int       `json:"contactId"`
	SignatureID int       `json:"signatureRequestId"` // zero: undeliverable
	Code        string    `json:"code"`
	SentAt      time.Time `json:"sentAt"`
}

// SMS is a message in the outbox.
type SMS struct {
	To                 string    `json:"to"`
	ContactID          string    `json:"contactId"`
	SignatureRequestID string    `json:"signatureRequestId"`
	Code               string    `json:"code"`
	SentAt             time.Time `json:"sentAt"`
}

// SMS returns the messages that were sent, oldest first. The audit has those that could not
// be.
func (w *World) SMS() []SMS {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := filter(w.state.SMS.Rows, func(m *sms) bool { return m.SignatureID != 0 })
	return records(sent, func(m *sms) SMS {
		return SMS{
			To:                 m.To,
			ContactID:          w.iri("contacts", m.ContactID),
			SignatureRequestID: w.iri("signature_requests", m.SignatureID),
			Code:               m.Code,
			SentAt:             m.SentAt,
		}
	})
}
