package flows

import (
	"encoding/json"
	"time"

	"frontdesk/upstream/club"
)

// Ordered is what a buyer ordered with a payment, as they saw it above the order button.
type Ordered struct {
	Language string          `json:"language"`
	Order    json.RawMessage `json:"order"` // a contract.Ordered
}

// Confirmation is the record of what a completed registration's buyer has concluded: the confirmation of the contract on a durable
// medium (Directive 2011/83/EU, article 8(7)). It is made once, and never changed.
type Confirmation struct {
	Registration     string    `json:"registration"`
	ClientToken      string    `json:"clientToken"`
	ClubID           string    `json:"clubId"`
	Contact          club.IRI  `json:"contact,omitempty"`
	ContactNumber    string    `json:"contactNumber,omitempty"`
	Email            string    `json:"email,omitempty"` // that the visitor entered; to find it after a change of keys, and to mail it
	GuardianEmail    string    `json:"guardianEmail,omitempty"`
	PersonPseudonyms []string  `json:"persons,omitempty"` // of e-mail, phone and name, under the key of the signup; to find it
	At               time.Time `json:"at"`                // when the contract was concluded
	Amount           int64     `json:"amount"`            // paid then; minor units
	Currency         string    `json:"currency"`          // ISO 4217
	Language         string    `json:"language"`          // of the texts

	Document json.RawMessage `json:"document"` // as the public API shows it
	Title    string          `json:"title"`
	HTML     string          `json:"html"`
	Text     string          `json:"text"`   // the same as HTML
	SHA256   string          `json:"sha256"` // of HTML, hex
	Attached []Agreement     `json:"attached,omitempty"`
}

// facts are what the document says of its people and the payment.
type facts struct {
	Buyer, Guardian struct{ GivenName, FamilyName string }
	Payment         struct{ Method Method }
	Mandate         struct{ SignedAt time.Time }
}

func (c *Confirmation) facts() (f facts) {
	_ = json.Unmarshal(c.Document, &f) // it has such members
	return f
}

// Names lists the full names of the buyer and the guardian, as far as the document has them whole.
func (c *Confirmation) Names() (names []string) {
	f := c.facts()
	for _, who := range []struct{ GivenName, FamilyName string }{f.Buyer, f.Guardian} {
		if who.GivenName != "" && who.FamilyName != "" {
			names = append(names, who.GivenName+" "+who.FamilyName)
		}
	}
	return names
}

// IsPaid reports whether money was paid. An order that is free, or to be paid later, costs a stranger nothing.
func (c *Confirmation) IsPaid() bool {
	method := c.facts().Payment.Method
	return method != Free && method != Deferred
}

// IsBacked reports whether money was paid or a mandate signed: what a stranger cannot do again and again in somebody's name.
func (c *Confirmation) IsBacked() bool { return c.IsPaid() || !c.facts().Mandate.SignedAt.IsZero() }

// MailHold is a confirmation that an operator must see to: the gateway does not mail it, or the mail lacked something.
type MailHold struct {
	Reason      HoldReason `json:"reason"`
	ClientToken string     `json:"clientToken"`
	ClubID      string     `json:"clubId"`
	At          time.Time  `json:"at"` // when the contract was concluded
}

// HoldReason says why.
type HoldReason string

// The reasons.
const (
	HeldByLimit     HoldReason = "limit"            // its mailbox had ten mails within a day that strangers can cause
	HeldAsLost      HoldReason = "lost"             // Redis lost what was ordered, and whether it was mailed
	WithoutContract HoldReason = "without_contract" // it was mailed without the club system's contract document
)
