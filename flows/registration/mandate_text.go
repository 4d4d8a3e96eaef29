package registration

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
	"frontdesk/flows/text"
)

// The parts of the usual authorisation, after the SEPA Core rulebook (section 4.7.2).
const (
	mandateCreditor      text.ContractCode = "mandate_creditor"      // creditor
	mandateIdentifier    text.ContractCode = "mandate_identifier"    // identifier
	mandateAuthorisation text.ContractCode = "mandate_authorisation" // creditor
	mandateRefund        text.ContractCode = "mandate_refund"
	mandateNotice        text.ContractCode = "mandate_notice" // days
)

// MandateTerms are what a registration's mandate authorises, in a language.
func (s *Service) MandateTerms(r *flows.Registration, language string) flows.MandateTerms {
	club := s.cfg.Catalogue.Details(r.ClubID)
	terms := flows.MandateTerms{Creditor: club.CollectedBy(r.ClubName), NoticeDays: club.NoticeDays()}
	if r.Mandate != nil && r.Mandate.State == flows.SignatureSigned && r.Mandate.Proof != nil {
		return r.Mandate.Proof.Signed(terms)
	}
	var ok bool
	if terms.Text, terms.Language, ok = club.MandateText(language, terms.Creditor); !ok {
		terms.Text, terms.Language = usualMandate(terms, language)
	}
	if debtor := contract.Debtor(text.Match(terms.Language), r); debtor != "" {
		terms.Text = debtor + "\n\n" + terms.Text
	}
	return terms
}

// usualMandate is the authorisation of a club that has no text of its own.
func usualMandate(terms flows.MandateTerms, language string) (words, spoken string) {
	in := text.Match(language)
	fill := func(code text.ContractCode, params map[string]string) string {
		return in.Fill(in.Contract[code], params)
	}
	creditor := terms.Creditor.Name
	if address := catalogue.AddressLine(terms.Creditor.Address); address != "" {
		creditor += ", " + address
	}
	parts := []string{fill(mandateCreditor, map[string]string{"creditor": creditor})}
	if terms.Creditor.Identifier != "" {
		parts = append(parts, fill(mandateIdentifier, map[string]string{"identifier": terms.Creditor.Identifier}))
	}
	parts = append(parts,
		fill(mandateAuthorisation, map[string]string{"creditor": terms.Creditor.Name}),
		fill(mandateRefund, nil),
		fill(mandateNotice, map[string]string{"days": strconv.Itoa(terms.NoticeDays)}),
	)
	return strings.Join(parts, "\n\n"), in.Tag
}

// noteProof notes what the buyer was shown, and when the code was entered.
func (s *Service) noteProof(r *flows.Registration, language string, now time.Time) {
	shown := s.MandateTerms(r, language)
	hash := sha256.Sum256([]byte(shown.Text))
	r.Mandate.Proof = &flows.MandateProof{
		Text:     shown.Text,
		Language: shown.Language,
		SHA256:   hex.EncodeToString(hash[:]),
		At:       now.Round(0),

		Creditor:   shown.Creditor,
		NoticeDays: shown.NoticeDays,
	}
}
