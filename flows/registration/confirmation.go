package registration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/store"
	"frontdesk/flows/text"
	"frontdesk/upstream/club"
	"frontdesk/upstream/mail"
)

// keepListed is for how long it is known that a lost confirmation was listed: longer than payments are announced.
const keepListed = 7 * 24 * time.Hour

// Complete does what follows the recorded payment of a registration: it makes the confirmation, has it mailed, and announces it. It may
// be called any number of times, and is repeated after a failure.
func (s *Service) Complete(ctx context.Context, recorded *flows.Payment) error {
	registration, payment, err := s.cfg.Store.Registration(ctx, recorded.Registration)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return s.mailExpired(ctx, recorded)
	case err != nil:
		return flows.StorageFailed(err)
	case registration.Erased, registration.Phase(payment, s.cfg.Now()) != flows.Completed:
		return nil
	}
	confirmation, err := s.confirmation(ctx, registration, payment)
	if err != nil {
		return err
	}
	mailed := s.mailConfirmation(ctx, confirmation, registration)
	if confirmation == nil {
		mailed = s.listLost(ctx, payment)
	}
	return errors.Join(mailed, s.announceCompleted(ctx, registration, payment, confirmation))
}

// mailExpired has the confirmation mailed of a registration that has expired, if there is one.
func (s *Service) mailExpired(ctx context.Context, p *flows.Payment) error {
	kept, err := s.cfg.Store.Confirmation(ctx, p.Registration)
	switch {
	case errors.Is(err, flows.ErrNotFound) && p.Rebuilt:
		return s.listLost(ctx, p)
	case errors.Is(err, flows.ErrNotFound):
		return nil
	case err != nil:
		return flows.StorageFailed(err)
	}
	return s.mailConfirmation(ctx, kept, nil)
}

// listLost lists, once, the confirmation that cannot be made, because Redis lost what was ordered. Only operators can find out whether the
// buyer has one, from before the loss, and what the contract is.
func (s *Service) listLost(ctx context.Context, p *flows.Payment) error {
	mark := "confirmation lost " + p.Registration
	if listed, err := s.cfg.Store.Happened(ctx, mark); err != nil || listed {
		return flows.StorageFailed(err)
	}
	hold := flows.MailHold{Reason: flows.HeldAsLost, ClientToken: p.ClientToken, ClubID: p.Club.ID(), At: p.Since(flows.Recorded)}
	if err := s.cfg.Store.HoldMail(ctx, p.Registration, hold); err != nil {
		return flows.StorageFailed(err)
	}
	s.cfg.Log.WarnContext(ctx, "confirmation not made: Redis lost what was ordered", "registration", p.Registration)
	_, err := s.cfg.Store.Once(ctx, mark, keepListed)
	return flows.StorageFailed(err)
}

// mailConfirmation has the confirmation mailed once, or again as the same mail if the gateway dies before it notes that. Without an
// address it stays noted as unmailed, and beyond the limit of one of its mailboxes it is held: operators see it, and the buyer, as long
// as the registration is kept. There may be no confirmation: nil.
func (s *Service) mailConfirmation(ctx context.Context, confirmation *flows.Confirmation, of *flows.Registration) error {
	if s.cfg.SendMail == nil || confirmation == nil {
		return nil
	}
	id := confirmation.Registration
	if due, err := s.cfg.Store.AwaitsMail(ctx, id); err != nil || !due {
		return flows.StorageFailed(err)
	}
	if hold, err := s.cfg.Store.MailHold(ctx, id); err != nil || hold.Reason != "" {
		return flows.StorageFailed(err)
	}
	to, err := s.addressesOf(ctx, confirmation)
	if err != nil {
		return err
	}
	if len(to) == 0 {
		s.cfg.Log.WarnContext(ctx, "confirmation not mailed: the contact has no e-mail address", "registration", id)
		return nil
	}
	allowed, err := s.countMails(ctx, confirmation, to)
	if err != nil {
		return err
	}
	if _, err := s.sendConfirmation(ctx, confirmation, allowed, "confirmation-"+id, of != nil && of.HasContract); err != nil {
		return err
	}
	if len(allowed) < len(to) {
		s.cfg.Log.WarnContext(ctx, "confirmation not mailed: its address had too many in a day", "registration", id)
		if err := s.noteHeld(ctx, of, to, allowed); err != nil {
			return err
		}
		return s.holdMail(ctx, confirmation, flows.HeldByLimit)
	}
	_, err = s.cfg.Store.EndMail(ctx, id)
	return flows.StorageFailed(err)
}

// countMails counts the mails with the confirmation of an unpaid order, which a stranger can cause, against the limit of each mailbox. It
// returns the addresses to which they may be sent.
func (s *Service) countMails(ctx context.Context, confirmation *flows.Confirmation, to []string) (allowed []string, err error) {
	if confirmation.IsPaid() {
		return to, nil
	}
	for n, address := range to {
		id := fmt.Sprintf("%s %d", confirmation.Registration, n)
		mayTake, err := s.cfg.Store.TakeMail(ctx, store.UnpaidConfirmation, confirmation.ClientToken, flows.Mailbox(address), id)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		if mayTake {
			allowed = append(allowed, address)
		}
	}
	return allowed, nil
}

// noteHeld notes on a registration to which of the addresses its confirmation is not mailed. nil has expired.
func (s *Service) noteHeld(ctx context.Context, registration *flows.Registration, to, allowed []string) error {
	if registration == nil {
		return nil
	}
	registration.HeldMails = nil
	for _, address := range to {
		if !slices.Contains(allowed, address) {
			registration.HeldMails = append(registration.HeldMails, flows.MaskEmail(address))
		}
	}
	return flows.StorageFailed(s.cfg.Store.AmendRegistration(ctx, registration))
}

func (s *Service) holdMail(ctx context.Context, c *flows.Confirmation, reason flows.HoldReason) error {
	hold := flows.MailHold{Reason: reason, ClientToken: c.ClientToken, ClubID: c.ClubID, At: c.At}
	return flows.StorageFailed(s.cfg.Store.HoldMail(ctx, c.Registration, hold))
}

// NoteWithoutContract tells operators that a confirmation was mailed without the club system's contract document. What the club system
// refuses is only logged: an installation that never has it would list every confirmation.
func (s *Service) NoteWithoutContract(ctx context.Context, id string, why error) {
	s.cfg.Log.WarnContext(ctx, "contract document not attached", "registration", id, "error", why)
	if lacksOperation(why) {
		return
	}
	confirmation, err := s.cfg.Store.Confirmation(ctx, id)
	if err == nil {
		err = s.holdMail(ctx, confirmation, flows.WithoutContract)
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "confirmation without a contract document not listed", "registration", id, "error", err)
	}
}

// addressesOf lists the addresses of a confirmation: the buyer's and the guardian's, as far as they have one.
func (s *Service) addressesOf(ctx context.Context, confirmation *flows.Confirmation) (to []string, err error) {
	own, err := s.addressOf(ctx, confirmation)
	if err != nil {
		return nil, err
	}
	for _, address := range slices.Compact([]string{own, confirmation.GuardianEmail}) {
		if address != "" {
			to = append(to, address)
		}
	}
	return to, nil
}

// sendConfirmation has the confirmation mailed, with the documents that its people agreed to, as a mail with an id. It returns the mails'
// ids.
func (s *Service) sendConfirmation(
	ctx context.Context, confirmation *flows.Confirmation, to []string, id string, hasContract bool,
) (sent []string, err error) {
	attachments, err := s.agreedDocuments(ctx, confirmation)
	if err != nil {
		return nil, err
	}
	mail := flows.Mail{
		ID:           id,
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
	for _, mail.To = range to {
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
			Operator: "There is no confirmation of this registration: it is not completed, that is too long ago, or Redis lost it."}
	}
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	return kept, nil
}
