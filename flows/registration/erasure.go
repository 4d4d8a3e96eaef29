package registration

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// ErasureRequest names the person whose data is erased, by exactly one identifier.
type ErasureRequest struct {
	ClientToken  string `json:"-"`
	Email        string `json:"email"`
	Mobile       string `json:"mobile"`
	Registration string `json:"registration"` // an id
	Contact      string `json:"contact"`      // public id
}

// ErasureReport lists what was erased and kept. It holds no personal data.
type ErasureReport struct {
	Erased    []ErasedItem `json:"erased"`
	Kept      []KeptItem   `json:"kept"`      // what is still there, and why
	Unread    []UnreadItem `json:"unread"`    // what could not be read, and may be the person's
	Elsewhere []string     `json:"elsewhere"` // who else holds data that Frontdesk cannot erase

	contacts      []club.IRI // whose data eraseContact has erased
	statements    []string   // that eraseStatements has seen
	confirmations []string   // registrations that reportConfirmations has seen
}

// ErasedItem is what was erased of one registration, or of one contact.
type ErasedItem struct {
	Registration string `json:"registration,omitempty"` // empty: what a person had besides their registrations
	What         string `json:"what"`
}

// KeptItem is something that was not erased.
type KeptItem struct {
	Registration string          `json:"registration,omitempty"`
	Payment      flows.PaymentID `json:"payment,omitempty"`
	Statement    string          `json:"statement,omitempty"`
	What         string          `json:"what"`
	Why          string          `json:"why"`
	Deferred     bool            `json:"deferred"` // ask again once the payment has ended
}

// UnreadItem is a record that could not be read, so that nothing of it was erased.
type UnreadItem struct {
	Registration string `json:"registration,omitempty"` // empty: every record that a seal key sealed
	Why          string `json:"why"`
}

// keepPseudonyms is longer than a registration whose payment has ended is kept.
const keepPseudonyms = 3 * 24 * time.Hour

// Erase erases a person's data in Redis, and lists the records that it cannot read. A payment that has not ended needs
// its buyer, so that its registration is left for a later repetition. The audit stream is written first.
//
// The id of an erased registration is kept until it expires, without personal data: the card processor
// still has it, and a missing registration would be rebuilt from there. Its holder gets NotFound.
func (s *Service) Erase(ctx context.Context, request ErasureRequest, by string) (ErasureReport, error) {
	if err := request.validate(by); err != nil {
		return ErasureReport{}, err
	}
	if err := s.cfg.Store.Audit(ctx, flows.AuditEntry{At: s.cfg.Now(), Operator: by, Action: flows.AuditErase}); err != nil {
		return ErasureReport{}, flows.StorageFailed(err)
	}
	report := ErasureReport{Erased: []ErasedItem{}, Kept: []KeptItem{}, Unread: []UnreadItem{}, Elsewhere: thirdPartyHolders}
	ids, contacts, err := s.findPerson(ctx, request)
	if err != nil {
		return ErasureReport{}, err
	}
	if request.Registration == "" { // found by pseudonyms, which depend on the keys
		missing, err := s.cfg.Store.MissingSealKeys(ctx, s.cfg.Now().Add(-keepPseudonyms))
		if err != nil {
			return ErasureReport{}, flows.StorageFailed(err)
		}
		for _, id := range missing {
			report.Unread = append(report.Unread, UnreadItem{Why: "what the seal key " + id + " sealed, which is not configured, " +
				"cannot be found by e-mail, mobile or contact: add the key to FRONTDESK_SEAL_KEYS again and repeat this"})
		}
	}
	names := s.cfg.Keys.PersonPseudonyms(request.ClientToken, request.Email, flows.CompletePhone(request.Mobile, ""))
	if err := s.erasePersonsStatements(ctx, names, &report); err != nil {
		return ErasureReport{}, err
	}
	contracts, err := s.cfg.Store.ConfirmationsBy(ctx, names...)
	if err != nil {
		return ErasureReport{}, flows.StorageFailed(err)
	}
	if err := s.reportConfirmations(ctx, contracts, &report); err != nil {
		return ErasureReport{}, err
	}
	for _, contact := range contacts {
		if err := s.eraseContact(ctx, contact, &report); err != nil {
			return ErasureReport{}, err
		}
	}
	for _, id := range ids {
		if err := s.eraseRegistration(ctx, request.ClientToken, id, &report); err != nil {
			return ErasureReport{}, err
		}
	}
	report.Kept = append(report.Kept, expiringData)
	s.cfg.Log.InfoContext(ctx, "personal data erased", "erased", len(report.Erased), "kept", len(report.Kept), "unread", len(report.Unread))
	return report, nil
}

// byClubSystem is who erases the data of an anonymised contact, for the audit stream.
const byClubSystem = "club-system"

// readContact reads a contact. One whose personal data was removed at the club system is erased here too, and not found.
func (c Config) readContact(ctx context.Context, scope club.Scope, contact club.IRI) (club.Contact, error) {
	read, err := c.Club.GetContact(ctx, scope, contact)
	if err != nil || !read.Anonymous {
		return read, err
	}
	request := ErasureRequest{ClientToken: contact.ClientToken(), Contact: contact.ID()}
	if _, err := New(c).Erase(ctx, request, byClubSystem); err != nil {
		return club.Contact{}, err
	}
	return club.Contact{}, &club.Error{Operation: "GetContact", Outcome: club.Rejected, Status: http.StatusNotFound, Err: club.ErrNotFound}
}

// validate returns everything that is wrong with the request.
func (r ErasureRequest) validate(by string) error {
	fields := flows.OperatorProblems(by)
	named := 0
	for _, field := range []struct {
		pointer, value string
		valid          bool
		form           string
	}{
		{"/email", r.Email, strings.Contains(r.Email, "@"), "must be an e-mail address"},
		{"/mobile", r.Mobile, flows.CompletePhone(r.Mobile, "") != "",
			"must be a complete mobile number with its country code, such as +33612345678"},
		{"/registration", r.Registration, uuid.Validate(r.Registration) == nil, "must be the id of a registration"},
		{"/contact", r.Contact, flows.PublicIDPattern.MatchString(r.Contact), "must be a contact's id at the club system, such as 1001"},
	} {
		if field.value == "" {
			continue
		}
		named++
		if !field.valid {
			fields = append(fields, flows.FieldProblem{Pointer: field.pointer, Message: field.form})
		}
	}
	if named != 1 {
		fields = append(fields, flows.FieldProblem{Pointer: "", Message: "must have exactly one of email, mobile, registration and contact"})
	}
	return flows.Invalid(fields...)
}

// findPerson lists the person's registrations, and the contact if the request names one.
func (s *Service) findPerson(ctx context.Context, request ErasureRequest) (ids []string, contacts []club.IRI, err error) {
	switch {
	case request.Registration != "":
		return []string{request.Registration}, nil, nil
	case request.Contact != "":
		contact := club.NewIRI(request.ClientToken, "contacts", request.Contact)
		ids, err = s.cfg.Store.RegistrationsOf(ctx, contact)
		contacts = []club.IRI{contact}
	default:
		ids, err = s.cfg.Store.RegistrationsOfPerson(ctx,
			s.cfg.Keys.PersonPseudonyms(request.ClientToken, request.Email, flows.CompletePhone(request.Mobile, ""))...)
	}
	return ids, contacts, flows.StorageFailed(err)
}

// eraseRegistration erases one registration, and before it what its contact has besides, because an erased registration no longer
// names the contact to a repetition. It skips a registration that is gone, erased already or of another organisation.
func (s *Service) eraseRegistration(ctx context.Context, clientToken, id string, report *ErasureReport) error {
	for range maxSaveAttempts {
		registration, payment, err := s.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound), err == nil && (registration.ClientToken != clientToken || registration.Erased):
			return nil
		case flows.Unreadable(err):
			report.Unread = append(report.Unread, UnreadItem{id, flows.WhyUnreadable(err)})
			return nil
		case err != nil:
			return flows.StorageFailed(err)
		case payment != nil && !payment.State.Final():
			report.Kept = append(report.Kept, KeptItem{
				Registration: id,
				Payment:      payment.ID,
				What:         "the registration and its payment",
				Why:          "the payment is " + string(payment.State) + "; the buyer's data is needed until it has ended",
				Deferred:     true,
			})
			return nil
		case registration.Contact != nil:
			if err := s.eraseContact(ctx, registration.Contact.IRI, report); err != nil {
				return err
			}
		}
		if err := s.erasePersonsStatements(ctx, registration.PersonPseudonyms, report); err != nil {
			return err
		}
		before := *registration
		*registration = erased(registration)
		if err := s.cfg.Store.AmendRegistration(ctx, registration); errors.Is(err, flows.ErrConflict) {
			continue
		} else if err != nil {
			return flows.StorageFailed(err)
		}
		if err := s.cfg.Store.Unindex(ctx, &before); err != nil {
			// What is left in the indexes leads to the erased record, and expires with it.
			s.cfg.Log.WarnContext(ctx, "erased registration still in an index", "registration", id, "error", err)
		}
		report.Erased = append(report.Erased, ErasedItem{id, "buyer, cart, mandate, devices and links of the registration"})
		if payment != nil {
			report.Kept = append(report.Kept, KeptItem{Registration: id, Payment: payment.ID, What: keptOfPayment, Why: whyPayment})
		}
		return nil
	}
	return flows.StorageFailed(flows.ErrConflict)
}

const (
	keptOfPayment = "the payment: sale, amount, states, and what operators wrote about it: reasons for 30 days, notes for 60"
	whyPayment    = "the accounts need it; the payer was dropped when it ended"
)

const (
	keptConfirmation = "the confirmation of the contract, sealed, and the documents that the contact agreed to"
	whyConfirmation  = "the club must be able to prove what was agreed, for as long as claims can be made (FRONTDESK_PROOFS_KEPT)"
)

// erased returns what is left of an erased registration: no personal data.
func erased(registration *flows.Registration) flows.Registration {
	return flows.Registration{
		ID:          registration.ID,
		Version:     registration.Version,
		State:       flows.Abandoned,
		Erased:      true,
		ClientToken: registration.ClientToken,
		ClubID:      registration.ClubID,
		Channel:     registration.Channel,
		Generation:  registration.Generation,
		CreatedAt:   registration.CreatedAt,
		ExpiresAt:   registration.ExpiresAt,
	}
}

// eraseContact erases what a contact has besides its registrations, once in a report.
func (s *Service) eraseContact(ctx context.Context, contact club.IRI, report *ErasureReport) error {
	if slices.Contains(report.contacts, contact) {
		return nil
	}
	hadTransfer, err := s.cfg.Store.EraseTransfer(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	if hadTransfer {
		report.Erased = append(report.Erased, ErasedItem{What: "the contact's move to another club"})
	}
	receipts, err := s.cfg.Store.Receipts(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	contracts, err := s.cfg.Store.ConfirmationsOf(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	if err := s.reportConfirmations(ctx, contracts, report); err != nil {
		return err
	}
	if len(receipts) > 0 {
		report.Kept = append(report.Kept, KeptItem{
			What: "receipts of consents, sealed",
			Why:  "the club must be able to prove for three years that the contact agreed",
		})
	}
	ids, err := s.cfg.Store.StatementsOfContact(ctx, contact)
	if err != nil {
		return flows.StorageFailed(err)
	}
	if err := s.eraseStatements(ctx, ids, report); err != nil {
		return err
	}
	report.contacts = append(report.contacts, contact)
	return nil
}

// reportConfirmations reports, once, which of some registrations have a confirmation: they are proofs, and are kept.
func (s *Service) reportConfirmations(ctx context.Context, registrations []string, report *ErasureReport) error {
	for _, id := range registrations {
		if slices.Contains(report.confirmations, id) {
			continue
		}
		report.confirmations = append(report.confirmations, id)
		_, err := s.cfg.Store.Confirmation(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound): // it expired, or there was none
		case err == nil, flows.Unreadable(err):
			report.Kept = append(report.Kept, KeptItem{Registration: id, What: keptConfirmation, Why: whyConfirmation})
		default:
			return flows.StorageFailed(err)
		}
	}
	return nil
}

// erasePersonsStatements erases the statements that are found by pseudonyms of a person's e-mail address.
func (s *Service) erasePersonsStatements(ctx context.Context, names []string, report *ErasureReport) error {
	ids, err := s.cfg.Store.StatementsOfPerson(ctx, names...)
	if err != nil {
		return flows.StorageFailed(err)
	}
	return s.eraseStatements(ctx, ids, report)
}

// eraseStatements erases the statements that were not confirmed. The others are proofs, and are kept.
func (s *Service) eraseStatements(ctx context.Context, ids []string, report *ErasureReport) error {
	for _, id := range ids {
		if slices.Contains(report.statements, id) {
			continue
		}
		report.statements = append(report.statements, id)
		statement, err := s.cfg.Store.Statement(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound): // it expired
		case flows.Unreadable(err):
			report.Unread = append(report.Unread, UnreadItem{Why: "statement " + id + ": " + flows.WhyUnreadable(err)})
		case err != nil:
			return flows.StorageFailed(err)
		case statement.State == flows.Stated:
			if err := s.cfg.Store.EraseStatement(ctx, id); err != nil {
				return flows.StorageFailed(err)
			}
			report.Erased = append(report.Erased, ErasedItem{What: "a " + string(statement.Kind) + " that was not confirmed"})
		default:
			report.Kept = append(report.Kept, KeptItem{Statement: id, What: keptOfStatement, Why: whyStatement})
		}
	}
	return nil
}

const (
	keptOfStatement = "the statement: a withdrawal or a cancellation with its acknowledgement, sealed, and what operators wrote about it"
	whyStatement    = "the club must be able to prove what was declared and when, as long as FRONTDESK_PROOFS_KEPT says"
)

var expiringData = KeptItem{
	What: "responses to repeated requests (sealed, 24 h), counts of SMS codes (keyed hashes, 24 h), " +
		"invitations (sealed, 30 days at most), events for subscribers and mails (sealed; undelivered ones 90 days)",
	Why: "without the keys, they name no person; they expire automatically",
}

var thirdPartyHolders = []string{
	"the club system: the contact with its name, address, e-mail and mobile, its sales, mandates with the account number, and consents; " +
		"anonymise the contact there (PUT contacts/{id}/anonymize), or ask the club's staff or the club system's provider",
	"the card processor: the card, and what the buyer typed on its page; " +
		"metadata that Frontdesk left there names the registration and the sale, and no person",
	"subscribers to events: what they did with the identifiers that they received",
}
