package registration

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// PutGuardian sets who concludes the contract, instead of the buyer or of another guardian. The contact of a visitor is replaced by one
// with the guardian's number, as PutPerson does; a contact that the club knew before stays as it is.
func (s *Service) PutGuardian(ctx context.Context, id, token string, guardian flows.Guardian) (view flows.View, err error) {
	registration, _, err := s.load(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case isPersonKnown(registration):
		view, err = s.change(ctx, id, token, func(r *flows.Registration, at catalogue.Club) error {
			return s.replaceGuardian(ctx, r, at, guardian)
		})
	default:
		view, err = s.CorrectPerson(ctx, id, token, func(buyer flows.Person) (flows.Person, error) {
			buyer.Guardian = guardian
			return buyer, nil
		})
	}
	if wrong, ok := errors.AsType[*flows.Error](err); ok {
		for i := range wrong.Fields { // the request is the guardian
			wrong.Fields[i].Pointer = strings.TrimPrefix(wrong.Fields[i].Pointer, "/guardian")
		}
	}
	return view, err
}

// replaceGuardian sets the guardian of a contact that the club knew before, and drops the mandate, which is another debtor's.
func (s *Service) replaceGuardian(ctx context.Context, r *flows.Registration, at catalogue.Club, guardian flows.Guardian) error {
	if r.Guardian == guardian {
		return nil
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return flows.ClubFailed(err, flows.DetailContactUnread)
	}
	if err := s.checkGuardian(at, storedPerson(contact), guardian, "/guardian"); err != nil {
		return err
	}
	if err := s.settleCode(ctx, r, at); err != nil {
		return err
	}
	s.setGuardian(r, at, guardian)
	s.dropMandate(ctx, r, at)
	return nil
}

// checkGuardian returns InvalidRequest if the club's rule asks for a guardian of the buyer, and there is none, or it is the buyer.
// pointer is where the guardian is in the request's body.
func (s *Service) checkGuardian(at catalogue.Club, buyer flows.Person, guardian flows.Guardian, pointer string) error {
	switch {
	case !at.NeedsGuardian(buyer.BirthDate, s.cfg.Now()):
		return nil
	case guardian.IsZero():
		return flows.Invalid(flows.FieldProblem{Pointer: pointer, Code: flows.FieldGuardianRequired, Params: guardianBelow(at)})
	case s.nameOf(at, guardian.Name()) == s.nameOf(at, buyer.GivenName+" "+buyer.FamilyName):
		return flows.Invalid(flows.FieldProblem{Pointer: pointer + "/givenName", Code: flows.FieldGuardianIsBuyer})
	}
	return nil
}

// nameOf returns the current pseudonym of a full name, the same for all its spellings.
func (s *Service) nameOf(at catalogue.Club, name string) string {
	return s.cfg.Keys.NamePseudonyms(at.Scope.ClientToken, name)[0]
}

func guardianBelow(at catalogue.Club) map[string]string {
	return map[string]string{"below": strconv.Itoa(at.GuardianBelow())}
}

// setGuardian sets who concludes the contract; the zero value is the buyer. Erasures and statements find the registration by the
// guardian, too.
func (s *Service) setGuardian(r *flows.Registration, at catalogue.Club, guardian flows.Guardian) {
	r.Guardian, r.GuardianName, r.LacksGuardian = guardian, "", false
	if !guardian.IsZero() {
		r.GuardianName = s.nameOf(at, guardian.Name())
		s.indexPerson(r, at, guardian.Email, guardian.Phone)
	}
}

// lacksGuardian reports whether the club asks for a guardian whom the registration lacks: the club's rule, and the birth date at the club
// system, may have changed since the buyer was accepted. It reads the contact only where there is a rule.
func (s *Service) lacksGuardian(ctx context.Context, r *flows.Registration, at catalogue.Club) (bool, error) {
	if at.GuardianBelow() == 0 || !r.Guardian.IsZero() {
		return false, nil
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, r.Contact.IRI)
	if errors.Is(err, club.ErrNotFound) { // merged into another one since
		var sale club.Sale
		if sale, err = s.cfg.Club.GetSale(ctx, at.Scope, r.Sale); err == nil {
			contact, err = s.cfg.readContact(ctx, at.Scope, sale.Contact)
		}
	}
	return at.NeedsGuardian(contact.BirthDate, s.cfg.Now()), flows.ClubFailed(err, flows.DetailContactUnread)
}

// checkBuyer returns GuardianRequired if the buyer may order only with a guardian.
func (s *Service) checkBuyer(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	isMissing, err := s.lacksGuardian(ctx, r, at)
	if err != nil {
		return err
	}
	return s.requireGuardian(ctx, r, at, isMissing)
}

// checkRetry is checkBuyer before a declined payment is tried again. A payment that must not be, which holds nothing, is cancelled.
func (s *Service) checkRetry(ctx context.Context, r *flows.Registration, declined *flows.Payment) error {
	at, err := s.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return err
	}
	isMissing, err := s.lacksGuardian(ctx, r, at)
	if err != nil || !isMissing {
		return err
	}
	if _, err := s.cfg.Payments.Cancel(ctx, declined.ID); err != nil {
		return err
	}
	return s.requireGuardian(ctx, r, at, true)
}

// requireGuardian notes whether a guardian is missing, and returns GuardianRequired if so. The registration then asks for one.
func (s *Service) requireGuardian(ctx context.Context, r *flows.Registration, at catalogue.Club, isMissing bool) error {
	r.LacksGuardian = isMissing
	if !isMissing {
		return nil
	}
	if err := s.save(ctx, r); err != nil {
		return err
	}
	return &flows.Error{Code: flows.GuardianRequired, Detail: flows.DetailGuardianMissing, Params: guardianBelow(at)}
}

// checkSigner makes a guardian the debtor of a mandate. GuardianRequired if the contact lacks one. MobileUnreachable if the code would go
// to another phone than the guardian's: to that of a contact whom the club knew before.
func (s *Service) checkSigner(ctx context.Context, r *flows.Registration, at catalogue.Club, contact club.Contact) error {
	if r.Guardian.IsZero() {
		return s.requireGuardian(ctx, r, at, at.NeedsGuardian(contact.BirthDate, s.cfg.Now()))
	}
	country := at.Address.Country
	if flows.CompletePhone(contact.Mobile, country) != flows.CompletePhone(r.Guardian.Phone, country) {
		return &flows.Error{Code: flows.MobileUnreachable, Detail: flows.DetailGuardianPhone}
	}
	return nil
}
