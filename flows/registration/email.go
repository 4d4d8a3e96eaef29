package registration

import (
	"context"
	"errors"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// emailRetry is the pause after the first attempt to put an e-mail address on a contact, if it fails.
const emailRetry = time.Minute

// createContact creates the buyer at the club system, with the status of a registration in progress. pointer is where the person is
// in the request's body.
//
// Some club systems use an e-mail address once. The visitor must not learn that another contact has it, nor be refused because of
// it. So once an organisation's club system has refused an address, every contact there is created without one, and the response
// waits for the same calls, whoever the visitor is. The address follows in the background when the buyer pays: see putEmail.
func (s *Service) createContact(ctx context.Context, at catalogue.Club, person flows.Person, pointer string) (club.Contact, error) {
	unique, err := s.cfg.Store.HasUniqueEmails(ctx, at.Scope.ClientToken)
	if err != nil {
		return club.Contact{}, flows.StorageFailed(err)
	}
	create := func(person flows.Person) (club.Contact, error) {
		return s.cfg.Club.CreateContact(ctx, at.Scope, newContact(at, person))
	}
	var contact club.Contact
	if !unique {
		if contact, err = create(person); errors.Is(err, club.ErrEmailUsed) {
			unique, err = true, s.cfg.Store.NoteUniqueEmails(ctx, at.Scope.ClientToken)
			if err != nil {
				return club.Contact{}, flows.StorageFailed(err)
			}
		}
	}
	if unique {
		withoutEmail := person
		withoutEmail.Email = ""
		if contact, err = create(withoutEmail); rejectsEmail(err) { // a contact needs an address there
			contact, err = create(person)
		}
	}
	contact.GivenName, contact.Mobile = person.GivenName, person.CodePhone() // not every installation repeats them
	return contact, personFailed(err, pointer)
}

// rejectsEmail reports whether the club system rejects a contact because of its e-mail address, such as a missing one.
func rejectsEmail(err error) bool {
	return rejectedFields(err, map[string]string{"email": "/email"}, "") != nil
}

// personFailed is the error of a request whose contact was not created. One that the visitor cannot correct, such as an e-mail
// address that another contact has where a contact needs one, does not name the reason: the visitor must not learn who is a member.
func personFailed(err error, pointer string) error {
	upstream, ok := errors.AsType[*club.Error](err)
	unnamed := ok && upstream.Outcome == club.Rejected && len(upstream.Violations) > 0
	switch rejected := rejectedFields(err, personFields, pointer); {
	case errors.Is(err, club.ErrEmailUsed), unnamed && rejected == nil:
		return &flows.Error{Code: flows.InvalidRequest, Detail: flows.DetailPersonAtDesk, Err: err}
	case rejected != nil:
		return rejected
	}
	return flows.ClubFailed(err, flows.DetailPersonNotSent)
}

// putEmail puts the e-mail address that the buyer entered on their contact. If another contact has it, the contact stays without, and
// staff are notified. payment is the registration's; nil: it was settled elsewhere. After a failure, it returns when to try again: at
// twice the registration's age.
func (s *Service) putEmail(ctx context.Context, registration *flows.Registration, payment *flows.Payment) (retry time.Time) {
	if !registration.Contact.AwaitsEmail() {
		return time.Time{}
	}
	err := s.tryEmail(ctx, registration, payment)
	if err == nil {
		return time.Time{}
	}
	now := s.cfg.Now()
	s.cfg.Log.WarnContext(ctx, "e-mail address not put on the contact; retried later", "registration", registration.ID, "error", err)
	return now.Add(max(emailRetry, now.Sub(registration.CreatedAt)))
}

func (s *Service) tryEmail(ctx context.Context, registration *flows.Registration, payment *flows.Payment) error {
	at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
	if err != nil {
		return err
	}
	buyer := *registration.Contact
	contact, err := s.cfg.readContact(ctx, at.Scope, buyer.IRI)
	switch {
	case errors.Is(err, club.ErrNotFound): // it was deleted, merged or anonymised
		return nil
	case err != nil:
		return err
	case contact.Email == "": // else staff, or an attempt whose response was lost, have put one there
		err = s.setEmail(ctx, at.Scope, buyer)
	}
	switch club.OutcomeOf(err) {
	case club.Accepted:
		buyer.Email = ""
	case club.Rejected:
		if !errors.Is(err, club.ErrEmailUsed) {
			s.cfg.Log.WarnContext(ctx, "e-mail address not accepted for the contact", "registration", registration.ID, "error", err)
		}
		if err := s.reportEmail(ctx, at, buyer.IRI, payment); err != nil {
			return err
		}
		buyer.EmailInUse = true
	default:
		return err
	}
	buyer.EmailHolder = ""
	registration.Contact = &buyer
	return s.cfg.Store.AmendRegistration(ctx, registration)
}

// setEmail changes the address of the buyer's contact. An earlier contact of the registration that has the address gives it up, as
// long as it is temporary: the buyer corrected a detail since.
func (s *Service) setEmail(ctx context.Context, scope club.Scope, buyer flows.Contact) error {
	err := s.cfg.Club.SetContactEmail(ctx, scope, buyer.IRI, buyer.Email)
	if !errors.Is(err, club.ErrEmailUsed) || buyer.EmailHolder == "" {
		return err
	}
	holder, unread := s.cfg.Club.GetContact(ctx, scope, buyer.EmailHolder)
	switch {
	case errors.Is(unread, club.ErrNotFound), unread == nil && holder.Status != club.StatusTemp:
		return err
	case unread != nil:
		return unread
	}
	if err := s.cfg.Club.SetContactEmail(ctx, scope, holder.IRI, ""); err != nil {
		return err
	}
	return s.cfg.Club.SetContactEmail(ctx, scope, buyer.IRI, buyer.Email)
}

// reportEmail notifies staff that a buyer's contact lacks the e-mail address.
func (s *Service) reportEmail(ctx context.Context, at catalogue.Club, contact club.IRI, payment *flows.Payment) error {
	if payment != nil {
		if err := s.cfg.Store.MarkEmailInUse(ctx, payment.ID); err != nil {
			return err
		}
	}
	if s.cfg.Publish == nil {
		return nil
	}
	return s.cfg.Publish(ctx, flows.EmailInUse, map[string]club.IRI{"contactId": contact, "clubId": at.IRI})
}
