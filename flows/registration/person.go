package registration

import (
	"context"
	"errors"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// createContact creates the buyer at the club system, with the status of a registration in progress.
// pointer is where the person is in the request's body.
func (s *Service) createContact(ctx context.Context, at catalogue.Club, p flows.Person, pointer string) (club.Contact, error) {
	contact, err := s.cfg.Club.CreateContact(ctx, at.Scope, newContact(at, p))
	if rejected := rejectedFields(err, personFields, pointer); rejected != nil {
		return contact, rejected
	}
	contact.GivenName, contact.Mobile = p.GivenName, p.Mobile // not every installation repeats them
	return contact, flows.ClubFailed(err, "The buyer's details could not be sent to the club system.")
}

func newContact(at catalogue.Club, p flows.Person) club.NewContact {
	return club.NewContact{
		FamilyName: p.FamilyName, GivenName: p.GivenName, Gender: p.Gender, BirthDate: p.BirthDate,
		Email: p.Email, Mobile: p.Mobile, Club: at.IRI, Status: club.StatusTemp,
		Address: &club.Address{Street: p.Street, PostalCode: p.PostalCode, Locality: p.City, Country: strings.ToUpper(p.Country)},
	}
}

func storedPerson(contact club.Contact) flows.Person {
	p := flows.Person{GivenName: contact.GivenName, FamilyName: contact.FamilyName, BirthDate: contact.BirthDate, Email: contact.Email, Mobile: contact.Mobile, Gender: contact.Gender}
	if at := contact.Address; at != nil {
		p.Street, p.PostalCode, p.City, p.Country = at.Street, at.PostalCode, at.Locality, at.Country
	}
	return p
}

// personFields maps fields of the club system's contact to ours.
var personFields = map[string]string{
	"familyName": "/familyName", "givenName": "/givenName", "gender": "/gender",
	"birthDate": "/birthDate", "email": "/email", "mobile": "/mobile",
	"address.streetAddress": "/address/street", "address.postalCode": "/address/postalCode",
	"address.addressLocality": "/address/city", "address.addressCountry": "/address/country",
}

// rejectedFields returns InvalidRequest for the fields that the club system, or its bank, rejects. pointers has
// our name of each. It returns nil for any other error, and for a rejection that names none: the visitor cannot
// correct it.
func rejectedFields(err error, pointers map[string]string, at string) error {
	upstream, ok := errors.AsType[*club.Error](err)
	if !ok || upstream.Outcome != club.Rejected {
		return nil
	}
	failure := &flows.Error{Code: flows.InvalidRequest, Err: err}
	for _, v := range upstream.Violations {
		code := flows.FieldNotAccepted
		if v.Field == "iban" {
			code = flows.FieldBankRefused
		}
		if pointer := pointers[v.Field]; pointer != "" {
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: at + pointer, Code: code})
		}
	}
	if len(failure.Fields) == 0 {
		return nil
	}
	return failure
}

// attachContact makes an identified contact the buyer of a registration. A contact that may not buy
// is refused before anything is created at the club system.
func (s *Service) attachContact(ctx context.Context, r *flows.Registration, identity flows.ContactIdentity) (club.Contact, error) {
	if identity.ClubID != r.ClubID {
		return club.Contact{}, &flows.Error{Code: flows.OtherClub, Detail: "Your account is at another club. Please register there, or move to this club first."}
	}
	profile, err := s.Contacts.Me(ctx, identity)
	if err != nil {
		return club.Contact{}, err
	}
	if profile.Status == club.StatusBanned {
		return club.Contact{}, &flows.Error{Code: flows.ContactBanned, Detail: "The club cannot sell to you. Please ask its staff."}
	}
	r.Contact = flows.ContactOf(profile.Contact)
	r.Contact.Buyer = new(profile.Buyer(s.cfg.Now()))
	s.nameBuyer(r, storedPerson(profile.Contact))
	s.indexPerson(r, profile.HomeClub, profile.Email, profile.Mobile)
	return profile.Contact, nil
}
