package clubsim

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"slices"
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
	SaleID    int       `json:"saleId"`    // signed with the mandate; zero: none
	TargetID  int       `json:"targetClubId"`
	ResultID  int       `json:"resultTargetId"` // the contact after a move; zero: it keeps its number
	Code      string    `json:"code"`
	Wrong     int       `json:"wrong"` // wrong codes so far
	State     string    `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
}

func (w *World) signatureRecord(signature *signatureRequest) record {
	target := w.iri("clubs", signature.TargetID)
	if signature.MandateID != 0 {
		target = w.iri("mandates", signature.MandateID)
	}
	members := record{
		"state": signature.State, "contactId": w.iri("contacts", signature.ContactID), "targetId": target,
		"createdAt": w.timestamp(signature.CreatedAt),
	}
	if signature.SaleID != 0 {
		delete(members, "targetId")
		members["targetIds"] = []string{w.iri("sales", signature.SaleID), target}
	}
	if signature.ResultID != 0 {
		members["resultTargetId"] = w.iri("contacts", signature.ResultID)
	}
	return w.record("SignatureRequest", "signature_requests", signature.ID, members)
}

// createSignatureRequest: POST signature_requests (section Signature requests).
func createSignatureRequest(call *request) (response, error) {
	f := call.form()
	contactID := f.iri("contactId", "contacts", true)
	saleID, mandateID := f.targets()
	contact, noContact := call.contactAt(contactID)
	ofContact := func(m *mandate) bool { return call.sees(m.ClubID) && m.ContactID == contactID }
	mandate, noMandate := visible(call.w.state.Mandates.get(mandateID), ofContact)
	if saleID != 0 && f.errors.refusal == nil {
		ofBuyer := func(s *sale) bool { return call.sees(s.ClubID) && s.ContactID == contactID }
		_, f.errors.refusal = visible(call.w.state.Sales.get(saleID), ofBuyer)
	}
	if err := cmp.Or(f.err(), noContact, noMandate); err != nil {
		return response{}, err
	}
	if !mandate.SignedAt.IsZero() {
		return response{}, badRequest("api.error.mandate.already-signed", "The mandate is signed already.")
	}
	return call.requestSignature(contact, signatureRequest{MandateID: mandate.ID, SaleID: saleID})
}

// targets reads what is signed: a mandate, or where the settings allow it a sale and a mandate.
func (f *form) targets() (saleID, mandateID int) {
	if !f.w.settings.SeveralTargets || !f.has("targetIds") {
		return 0, f.iri("targetId", "mandates", true)
	}
	var targets []string
	f.decode("targetIds", true, &targets)
	for _, target := range targets {
		saleID = cmp.Or(saleID, f.w.parseIRI("sales", target))
		mandateID = cmp.Or(mandateID, f.w.parseIRI("mandates", target))
	}
	if saleID == 0 || mandateID == 0 || len(targets) != 2 {
		f.addViolation("targetIds", "A sale and a mandate were expected.")
	}
	return saleID, mandateID
}

// signatureAt returns a signature request that the caller may see: from where it was
// made, or from where its contact is.
func (c *request) signatureAt(id int) (*signatureRequest, error) {
	return visible(c.w.state.Signatures.get(id), func(q *signatureRequest) bool {
		return c.caller.maySee(q.ContactID) && (c.sees(q.ClubID) || c.sees(c.w.state.Contacts.get(q.ContactID).ClubID))
	})
}

func (c *request) requestSignature(contact *contact, signature signatureRequest) (response, error) {
	signature.ContactID, signature.ClubID, signature.State, signature.CreatedAt = contact.ID, c.club.ID, signaturePending, c.now
	if !mobilePattern.MatchString(contact.Mobile) {
		c.w.state.SMS.add(&sms{To: contact.Mobile, ContactID: contact.ID, SentAt: c.now})
		return response{}, invalid(
			violation{"contactId", "The contact has no valid mobile phone number.", "api.error.signature-request.mobile-not-valid"},
		)
	}
	c.w.state.Signatures.add(&signature)
	signature.Code = c.w.code(signature.ID)
	c.w.state.SMS.add(&sms{
		To:          contact.Mobile,
		ContactID:   contact.ID,
		SignatureID: signature.ID,
		Code:        signature.Code,
		SentAt:      c.now,
	})
	return response{201, c.w.signatureRecord(&signature)}, nil
}

// code is the SMS code of a signature request: six digits.
func (w *World) code(signatureID int) string {
	if fixed := w.settings.SMSCode.Fixed; fixed != "" {
		return fixed
	}
	return fmt.Sprintf("%06d", w.draw("sms", signatureID)%1_000_000)
}

// transitionSignatureRequest: POST signature_requests/{id}/transitions, validate or cancel.
func transitionSignatureRequest(call *request, signature *signatureRequest) (response, error) {
	f := call.form()
	transition := f.choice("transition", true, "validate", "cancel")
	code := f.text("code", transition == "validate")
	if err := f.err(); err != nil {
		return response{}, err
	}
	if signature.State != signaturePending {
		return response{}, badRequest("api.error.signature-request.not-pending", "The signature request is "+signature.State+".")
	}
	if transition == "cancel" {
		signature.State = signatureCanceled
	} else if err := call.sign(signature, code); err != nil {
		return response{}, err
	}
	return response{201, call.w.signatureRecord(signature)}, nil
}

// sign compares the code and completes what the request is for. The last wrong code that
// is allowed ends the request.
func (c *request) sign(signature *signatureRequest, code string) error {
	rules := c.w.settings.SMSCode
	if c.now.After(signature.CreatedAt.Add(rules.Validity.Duration())) {
		return invalid(violation{"code", "The code has expired.", "api.error.signature-request.code-expired"})
	}
	if subtle.ConstantTimeCompare([]byte(code), []byte(signature.Code)) != 1 && !slices.Contains(rules.Accepted, code) {
		if signature.Wrong++; signature.Wrong >= rules.Attempts {
			signature.State = signatureBlocked
			return invalid(violation{"code", "The code is wrong. The signature request is closed.", "api.error.signature-request.too-many-attempts"})
		}
		return invalid(violation{"code", "The code is wrong.", "api.error.signature-request.code-not-valid"})
	}
	if signature.MandateID != 0 {
		c.w.state.Mandates.get(signature.MandateID).SignedAt = c.now
		if sale := c.w.state.Sales.get(signature.SaleID); sale != nil {
			sale.SignedAt = c.now
		}
	} else if err := c.completeMigration(signature); err != nil {
		return err
	}
	signature.State = signatureValidated
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
	sent := filter(w.state.SMS.Rows, func(message *sms) bool { return message.SignatureID != 0 })
	return records(sent, func(message *sms) SMS {
		return SMS{
			To:                 message.To,
			ContactID:          w.iri("contacts", message.ContactID),
			SignatureRequestID: w.iri("signature_requests", message.SignatureID),
			Code:               message.Code,
			SentAt:             message.SentAt,
		}
	})
}
