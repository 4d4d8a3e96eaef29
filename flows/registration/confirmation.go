package registration

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/text"
	"frontdesk/upstream/club"
	"frontdesk/upstream/mail"
)

// Complete does what follows the recorded payment of a registration: it makes the confirmation, has it mailed, and announces it. It may
// be called any number of times, and is repeated after a failure.
func (s *Service) Complete(ctx context.Context, recorded *flows.Payment) error {
	registration, payment, err := s.cfg.Store.Registration(ctx, recorded.Registration)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return s.mailExpired(ctx, recorded.Registration)
	case err != nil:
		return flows.StorageFailed(err)
	case registration.Erased, registration.Phase(payment, s.cfg.Now()) != flows.Completed:
		return nil
	}
	confirmation, err := s.confirmation(ctx, registration, payment)
	if err != nil {
		return err
	}
	return errors.Join(s.mailConfirmation(ctx, confirmation, registration.HasContract),
		s.announceCompleted(ctx, registration, payment, confirmation))
}

// mailExpired has the confirmation mailed of a registration that has expired, if there is one.
func (s *Service) mailExpired(ctx context.Context, id string) error {
	kept, err := s.cfg.Store.Confirmation(ctx, id)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return nil
	case err != nil:
		return flows.StorageFailed(err)
	}
	return s.mailConfirmation(ctx, kept, false)
}

// mailConfirmation has the confirmation mailed once, or again as the same mail if the gateway dies before it notes that. Without an
// address it stays noted as unmailed: operators see it. nil is none.
func (s *Service) mailConfirmation(ctx context.Context, confirmation *flows.Confirmation, hasContract bool) error {
	if s.cfg.SendMail == nil || confirmation == nil {
		return nil
	}
	if due, err := s.cfg.Store.AwaitsMail(ctx, confirmation.Registration); err != nil || !due {
		return flows.StorageFailed(err)
	}
	sent, err := s.sendConfirmation(ctx, confirmation, hasContract)
	switch {
	case err != nil:
		return err
	case len(sent) == 0:
		s.cfg.Log.WarnContext(ctx, "confirmation not mailed: the contact has no e-mail address", "registration", confirmation.Registration)
		return nil
	}
	_, err = s.cfg.Store.EndMail(ctx, confirmation.Registration)
	return flows.StorageFailed(err)
}

// sendConfirmation has the confirmation mailed to the buyer, and to the guardian, with the documents that they agreed to. It returns the
// mails' ids: none without an address.
func (s *Service) sendConfirmation(ctx context.Context, confirmation *flows.Confirmation, hasContract bool) (sent []string, err error) {
	own, err := s.addressOf(ctx, confirmation)
	if err != nil {
		return nil, err
	}
	attachments, err := s.agreedDocuments(ctx, confirmation)
	if err != nil {
		return nil, err
	}
	mail := flows.Mail{
		ID:           "confirmation-" + confirmation.Registration,
		Organisation: confirmation.ClientToken,
		Language:     confirmation.Language,
		Subject:      confirmation.Title,
		Text:         confirmation.Text,
		HTML:         confirmation.HTML,
		Attachments:  attachments,
	}
	if hasContract {
		mail.ContractOf = confirmation.Registration
	}
	for _, mail.To = range slices.Compact([]string{own, confirmation.GuardianEmail}) {
		if mail.To == "" {
			continue
		}
		if len(sent) > 0 {
			mail.ID += "-guardian"
		}
		if err := s.cfg.SendMail(ctx, mail); err != nil {
			return sent, err
		}
		sent = append(sent, mail.ID)
	}
	return sent, nil
}

// addressOf returns the e-mail address of a confirmation's buyer: what the visitor entered, or a known contact's. Empty without one.
func (s *Service) addressOf(ctx context.Context, confirmation *flows.Confirmation) (string, error) {
	if confirmation.Email != "" || confirmation.Contact == "" {
		return confirmation.Email, nil
	}
	at, err := s.cfg.Catalogue.Club(ctx, confirmation.ClientToken, confirmation.ClubID)
	if err != nil {
		return "", err
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, confirmation.Contact)
	if errors.Is(err, club.ErrNotFound) { // it was anonymised or deleted since
		return "", nil
	}
	return contact.Email, flows.ClubFailed(err, flows.DetailContactUnread)
}

// agreedDocuments returns the bytes of the documents that a buyer agreed to. One that is no longer kept is left out: its hash is in the
// confirmation.
func (s *Service) agreedDocuments(ctx context.Context, confirmation *flows.Confirmation) (documents []mail.Attachment, err error) {
	for _, agreement := range confirmation.Attached {
		document, err := s.cfg.Store.Document(ctx, agreement.SHA256)
		switch {
		case errors.Is(err, flows.ErrNotFound):
			s.cfg.Log.WarnContext(ctx, "document not attached to a confirmation", "document", string(agreement.Document))
			continue
		case err != nil:
			return nil, flows.StorageFailed(err)
		}
		kind, _, _ := mime.ParseMediaType(document.ContentType)
		name := string(agreement.Document) + "-" + agreement.Version + documentEndings[kind]
		documents = append(documents, mail.Attachment{Name: name, Type: document.ContentType, Content: document.Body})
	}
	return documents, nil
}

// documentEndings are those of the files that documents become.
var documentEndings = map[string]string{"text/html": ".html", "text/plain": ".txt", "application/pdf": ".pdf"}

// Confirmation returns the confirmation of a completed registration for its holder: the same one every time. NoConfirmation before it is
// completed, or if Redis lost what it would say. It can be read as long as the registration; the buyer keeps the one that was mailed.
func (s *Service) Confirmation(ctx context.Context, id, token string) (*flows.Confirmation, error) {
	registration, payment, err := s.load(ctx, id, token)
	switch {
	case err != nil:
		return nil, err
	case registration.Phase(payment, s.cfg.Now()) != flows.Completed:
		return nil, &flows.Error{Code: flows.NoConfirmation, Detail: flows.DetailNotCompleted}
	}
	confirmation, err := s.confirmation(ctx, registration, payment)
	if confirmation == nil && err == nil {
		err = &flows.Error{Code: flows.NoConfirmation, Detail: flows.DetailConfirmationLost}
	}
	return confirmation, err
}

// confirmation returns the confirmation of a completed registration, and makes it if there is none; nil if it cannot be made, because
// the registration came back from the card processor, which does not know what was ordered.
func (s *Service) confirmation(ctx context.Context, r *flows.Registration, p *flows.Payment) (*flows.Confirmation, error) {
	kept, err := s.cfg.Store.Confirmation(ctx, r.ID)
	switch {
	case err == nil:
		return kept, nil
	case !errors.Is(err, flows.ErrNotFound):
		return nil, flows.StorageFailed(err)
	case r.Rebuilt || p.Rebuilt:
		return nil, nil
	}
	if r.Ordered == nil { // an earlier version started the payment
		if err := s.showOffers(ctx, r); err != nil {
			return nil, err
		}
		s.noteOrder(r, p, "")
	}
	made, err := contract.Confirm(r, p, s.cfg.Catalogue.Details(r.ClubID), s.cfg.PublicURL)
	if err != nil {
		return nil, &flows.Error{Code: flows.Internal, Err: err}
	}
	if s.cfg.SendMail != nil { // before it is stored, so that none is forgotten
		if err := s.cfg.Store.AwaitMail(ctx, r.ID, made.At); err != nil {
			return nil, flows.StorageFailed(err)
		}
	}
	kept, err = s.cfg.Store.SaveConfirmation(ctx, made, s.cfg.ProofsKept)
	return kept, flows.StorageFailed(err)
}

// noteOrder keeps on a registration what its buyer orders with a payment, as it is shown in a language.
func (s *Service) noteOrder(r *flows.Registration, p *flows.Payment, language string) {
	now, club := s.cfg.Now(), s.cfg.Catalogue.Details(r.ClubID)
	view, tag := r.View(p, now), text.Match(language).Tag
	encoded, _ := json.Marshal(contract.OrderOf(view, club, now).In(tag, view, club)) // its types can all be encoded
	r.Ordered = &flows.Ordered{Language: tag, Order: encoded}
}

// KeptConfirmation returns the confirmation of a registration for an operator, as long as proofs are kept. NotFound without one.
func (s *Service) KeptConfirmation(ctx context.Context, clientToken, id string) (*flows.Confirmation, error) {
	kept, err := s.cfg.Store.Confirmation(ctx, id)
	if errors.Is(err, flows.ErrNotFound) || err == nil && kept.ClientToken != clientToken {
		return nil, &flows.Error{Code: flows.NotFound,
			Operator: "There is no confirmation of this registration: it is not completed, or that is too long ago."}
	}
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	return kept, nil
}
