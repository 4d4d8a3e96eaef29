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

// Names lists the full names of the buyer and the guardian, as far as the document has them whole.
func (c *Confirmation) Names() (names []string) {
	type person struct{ GivenName, FamilyName string }
	var document struct{ Buyer, Guardian person }
	_ = json.Unmarshal(c.Document, &document) // without names, none are found
	for _, who := range []person{document.Buyer, document.Guardian} {
		if who.GivenName != "" && who.FamilyName != "" {
			names = append(names, who.GivenName+" "+who.FamilyName)
		}
	}
	return names
}
