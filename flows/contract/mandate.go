package contract

import (
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/text"
	"frontdesk/upstream/mail"
)

// The texts of a mandate in a confirmation, with their parameters.
const (
	textMandate       text.ContractCode = "confirmation_mandate"
	textCreditor      text.ContractCode = "confirmation_creditor"
	textCreditorID    text.ContractCode = "confirmation_creditor_id"
	textReference     text.ContractCode = "confirmation_reference"
	textReferenceNone text.ContractCode = "confirmation_reference_later"
	textAccount       text.ContractCode = "confirmation_account"
	textKind          text.ContractCode = "confirmation_kind"
	textRecurrent     text.ContractCode = "confirmation_recurrent"
	textValidFrom     text.ContractCode = "confirmation_valid_from"
	textDay           text.ContractCode = "confirmation_day" // date
	textSigned        text.ContractCode = "confirmation_signed"
	textSignedAt      text.ContractCode = "confirmation_signed_at" // date, time, zone
	textDebtor        text.ContractCode = "confirmation_debtor"
	textDebtorIs      text.ContractCode = "mandate_debtor" // name
	textPreNotice     text.ContractCode = "confirmation_prenotice"
	textNoticeDays    text.ContractCode = "confirmation_prenotice_days" // days
	textRefundRight   text.ContractCode = "confirmation_refund_right"
)

// authorised is the direct debit mandate of a contract.
type authorised struct {
	Type                string     `json:"type"` // recurrent
	Reference           string     `json:"reference,omitempty"`
	Creditor            creditor   `json:"creditor"`
	Debtor              string     `json:"debtor,omitempty"` // who holds the account
	IBAN                string     `json:"iban"`             // masked
	ValidFrom           string     `json:"validFrom,omitempty"`
	SignedAt            *time.Time `json:"signedAt,omitempty"`
	PreNotificationDays int        `json:"preNotificationDays"`
	Text                string     `json:"text,omitempty"`
	SHA256              string     `json:"sha256,omitempty"` // of Text, hex
}

type creditor struct {
	Name       string   `json:"name"`
	Identifier string   `json:"identifier,omitempty"`
	Address    *address `json:"address,omitempty"`
}

// authorisedBy returns the mandate with which a registration's debits are collected; nil without one.
func authorisedBy(r *flows.Registration, club catalogue.Details) *authorised {
	if !r.AsksForMandate() || r.Mandate == nil {
		return nil
	}
	terms := r.Mandate.Proof.Signed(flows.MandateTerms{Creditor: club.CollectedBy(r.ClubName), NoticeDays: club.NoticeDays()})
	by := terms.Creditor
	mandate := &authorised{
		Type:                "recurrent",
		Reference:           flows.SingleLine(r.Mandate.Reference, maxWords),
		Creditor:            creditor{Name: by.Name, Identifier: by.Identifier},
		Debtor:              flows.SingleLine(r.Mandate.Holder, maxWords),
		IBAN:                r.Mandate.Masked,
		ValidFrom:           r.Mandate.ValidFrom,
		PreNotificationDays: terms.NoticeDays,
	}
	if by.Address != (flows.Address{}) {
		mandate.Creditor.Address = &address{by.Address.Street, by.Address.PostalCode, by.Address.City, by.Address.Country}
	}
	if proof := r.Mandate.Proof; proof != nil {
		mandate.SignedAt, mandate.Text, mandate.SHA256 = new(flows.Instant(proof.At)), proof.Text, proof.SHA256
	}
	return mandate
}

// Debtor is the line of an authorisation that says who holds the account; empty if that is not known. A guardian is named with the
// relation to the member.
func Debtor(in *text.Language, r *flows.Registration) string {
	name := ""
	switch {
	case !r.Guardian.IsZero():
		name = SignedBy(in, r.Guardian)
	case r.Mandate != nil:
		name = flows.SingleLine(r.Mandate.Holder, maxWords)
	}
	if name == "" {
		return ""
	}
	return in.Fill(in.Contract[textDebtorIs], map[string]string{"name": name})
}

func (w writer) mandate() mail.Block {
	m := w.in.Mandate
	reference, from, signed := w.say(textReferenceNone), "", ""
	if m.Reference != "" {
		reference = m.Reference
	}
	if m.ValidFrom != "" {
		from = w.say(textDay, "date", m.ValidFrom)
	}
	if m.SignedAt != nil {
		signed = w.say(textSignedAt, w.instant(*m.SignedAt)...)
	}
	by := party{Name: m.Creditor.Name, Address: m.Creditor.Address}
	block := mail.Block{Heading: w.say(textMandate), Facts: known(
		mail.Fact{Name: w.say(textCreditor), Value: w.contactOf(by)},
		mail.Fact{Name: w.say(textCreditorID), Value: m.Creditor.Identifier},
		mail.Fact{Name: w.say(textReference), Value: reference},
		mail.Fact{Name: w.say(textDebtor), Value: m.Debtor},
		mail.Fact{Name: w.say(textAccount), Value: m.IBAN},
		mail.Fact{Name: w.say(textKind), Value: w.say(textRecurrent)},
		mail.Fact{Name: w.say(textValidFrom), Value: from},
		mail.Fact{Name: w.say(textSigned), Value: signed},
		mail.Fact{Name: w.say(textPreNotice), Value: w.say(textNoticeDays, "days", strconv.Itoa(m.PreNotificationDays))},
	)}
	if m.Text != "" {
		block.Paragraphs = []string{m.Text}
	} else {
		block.Paragraphs = []string{w.say(textRefundRight)}
	}
	return block
}
