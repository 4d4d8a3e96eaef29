package registration

import (
	"strconv"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// checkGuardian returns InvalidRequest if the club's rule asks for a guardian of a buyer with this birth date, and there is none.
// pointer is where the person is in the request's body.
func (s *Service) checkGuardian(at catalogue.Club, birthDate string, guardian flows.Guardian, pointer string) error {
	if !guardian.IsZero() || !at.NeedsGuardian(birthDate, s.cfg.Now()) {
		return nil
	}
	return flows.Invalid(flows.FieldProblem{
		Pointer: pointer + "/guardian",
		Code:    flows.FieldGuardianRequired,
		Params:  map[string]string{"below": strconv.Itoa(at.GuardianBelow())},
	})
}

// setGuardian sets who concludes the contract; the zero value is the buyer. An erasure finds the registration by the guardian, too.
func (s *Service) setGuardian(r *flows.Registration, at catalogue.Club, guardian flows.Guardian) {
	if r.Guardian = guardian; !guardian.IsZero() {
		s.indexPerson(r, at, guardian.Email, guardian.Phone)
	}
}

// checkSigner makes a guardian the debtor of a mandate. MobileUnreachable if the code would go to another phone than the guardian's: to
// that of a contact whom the club knew before.
func checkSigner(r *flows.Registration, at catalogue.Club, contact club.Contact, in *flows.NewMandate) error {
	if r.Guardian.IsZero() {
		return nil
	}
	in.Holder = r.Guardian.Name()
	country := at.Address.Country
	if flows.CompletePhone(contact.Mobile, country) != flows.CompletePhone(r.Guardian.Phone, country) {
		return &flows.Error{Code: flows.MobileUnreachable, Detail: flows.DetailGuardianPhone}
	}
	return nil
}
