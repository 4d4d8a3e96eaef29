package clubsim

import "time"

// sms is a message that was sent, or could not be sent (no signature request).
type sms struct {
	ID          int       `json:"id"`
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
	sent := w.state.SMS.where(func(m *sms) bool { return m.SignatureID != 0 })
	return records(sent, func(m *sms) SMS {
		return SMS{m.To, w.iri("contacts", m.ContactID), w.iri("signature_requests", m.SignatureID), m.Code, m.SentAt}
	})
}
