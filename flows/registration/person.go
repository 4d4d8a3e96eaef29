package registration

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// PutPerson sets the buyer's details, with a new contact and a new sale of the same items, because
// the club system changes neither. Details that it has already change nothing.
func (s *Service) PutPerson(ctx context.Context, id, token string, person flows.Person) (flows.View, error) {
	return s.changePerson(ctx, id, token, func(registration *flows.Registration, at catalogue.Club) (*flows.Person, error) {
		if registration.Contact == nil || registration.Prospect != nil { // a prospect's contact may be half migrated
			return &person, nil
		}
		contact, err := s.cfg.readContact(ctx, at.Scope, registration.Contact.IRI)
		switch {
		case s.noteMissing(ctx, registration, registration.Contact.IRI, err): // it was deleted
		case err != nil:
			return nil, flows.ClubFailed(err, flows.DetailContactUnread)
		case enteredPerson(registration, contact) == person:
			return nil, nil
		}
		return &person, nil
	})
}

// CorrectPerson is PutPerson with details that correct returns, given those that the club system has.
func (s *Service) CorrectPerson(
	ctx context.Context, id, token string, correct func(flows.Person) (flows.Person, error),
) (flows.View, error) {
	return s.changePerson(ctx, id, token, func(r *flows.Registration, at catalogue.Club) (*flows.Person, error) {
		if r.Contact == nil {
			return nil, &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailNoPerson}
		}
		contact, err := s.cfg.readContact(ctx, at.Scope, r.Contact.IRI)
		if err != nil {
			return nil, flows.ClubFailed(err, flows.DetailContactUnread)
		}
		before := enteredPerson(r, contact)
		if person, err := correct(before); err != nil || person != before {
			return &person, err
		}
		return nil, nil
	})
}

// changePerson replaces contact and sale by new ones; nil details change nothing.
func (s *Service) changePerson(
	ctx context.Context, id, token string, details func(*flows.Registration, catalogue.Club) (*flows.Person, error),
) (flows.View, error) {
	return s.change(ctx, id, token, func(registration *flows.Registration, at catalogue.Club) error {
		if isPersonKnown(registration) {
			return personKnown()
		}
		person, err := details(registration, at)
		if err != nil || person == nil {
			return err
		}
		if err := s.replaceable(ctx, registration, at); err != nil {
			return err
		}
		offers, items, err := s.offers(ctx, registration, at, registration.RequestedItems(), "")
		if err != nil {
			return withoutFields(err)
		}
		if err := s.settleCode(ctx, registration, at); err != nil {
			return err
		}
		if err := s.createContactAndSale(ctx, registration, at, *person, "", items, offers); err != nil {
			return err
		}
		registration.Prospect = nil
		s.dropMandate(ctx, registration, at)
		return nil
	})
}

// settleCode ends a code that may be signing the mandate, before the mandate is dropped. Any other code ends with the mandate.
func (s *Service) settleCode(ctx context.Context, registration *flows.Registration, at catalogue.Club) error {
	if registration.Mandate == nil || !registration.Mandate.MaySign() {
		return nil
	}
	settled, err := s.endCode(ctx, registration, at)
	if err == nil && settled != registration {
		err = flows.StorageFailed(flows.ErrConflict)
	}
	return err
}

// isPersonKnown reports whether the buyer's details are the club's, so that the visitor cannot replace them.
func isPersonKnown(r *flows.Registration) bool {
	return r.Identified() || r.IsMerged() || r.Prospect != nil && r.Prospect.Migrated
}

func personKnown() error {
	return &flows.Error{Code: flows.PersonKnown, Detail: flows.DetailPersonKnown}
}

// indexPerson makes a registration found for an erasure by the e-mail address and phone of its contact. A number
// without a calling code is of the club's country.
func (s *Service) indexPerson(r *flows.Registration, at catalogue.Club, email, mobile string) {
	names := append(r.PersonPseudonyms,
		s.cfg.Keys.CurrentPersonPseudonyms(r.ClientToken, email, flows.CompletePhone(mobile, at.Address.Country))...)
	slices.Sort(names)
	r.PersonPseudonyms = slices.Compact(names)
}

func newContact(at catalogue.Club, person flows.Person) club.NewContact {
	return club.NewContact{
		FamilyName: person.FamilyName,
		GivenName:  person.GivenName,
		Gender:     person.Gender,
		BirthDate:  person.BirthDate,
		Email:      person.Email,
		Mobile:     person.CodePhone(),
		Club:       at.IRI,
		Status:     club.StatusTemp,
		Address: &club.Address{
			Street:     person.Street,
			PostalCode: person.PostalCode,
			Locality:   person.City,
			Country:    strings.ToUpper(person.Country),
			CountryISO: strings.ToUpper(person.Country),
		},
	}
}

func storedPerson(contact club.Contact) flows.Person {
	person := flows.Person{
		GivenName:  contact.GivenName,
		FamilyName: contact.FamilyName,
		BirthDate:  contact.BirthDate,
		Email:      contact.Email,
		Mobile:     contact.Mobile,
		Gender:     contact.Gender,
	}
	if at := contact.Address; at != nil {
		person.Street, person.PostalCode, person.City, person.Country = at.Street, at.PostalCode, at.Locality, at.CountryCode()
	}
	return person
}

// enteredPerson is the stored person with what the visitor entered and the contact lacks: e-mail address, own number and guardian.
func enteredPerson(registration *flows.Registration, contact club.Contact) flows.Person {
	person := storedPerson(contact)
	person.Email = cmp.Or(person.Email, registration.Contact.Email)
	person.Mobile = cmp.Or(registration.Contact.OwnMobile, person.Mobile)
	person.Guardian = registration.Guardian
	return person
}

// personFields maps fields of the club system's contact to ours.
var personFields = map[string]string{
	"familyName": "/familyName", "givenName": "/givenName", "gender": "/gender",
	"birthDate": "/birthDate", "email": "/email", "mobile": "/mobile",
	"address.streetAddress": "/address/street", "address.postalCode": "/address/postalCode",
	"address.addressLocality": "/address/city", "address.addressCountry": "/address/country",
	"address.addressCountryIso": "/address/country",
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
func (s *Service) attachContact(ctx context.Context, registration *flows.Registration,
	identity flows.ContactIdentity) (club.Contact, error) {
	if identity.ClubID != registration.ClubID {
		return club.Contact{}, &flows.Error{
			Code:   flows.OtherClub,
			Detail: flows.DetailAccountElsewhere,
		}
	}
	profile, err := s.Contacts.Me(ctx, identity)
	if err != nil {
		return club.Contact{}, err
	}
	if profile.Status == club.StatusBanned {
		return club.Contact{}, &flows.Error{Code: flows.ContactBanned, Detail: flows.DetailContactBanned}
	}
	registration.Contact = flows.ContactOf(profile.Contact)
	registration.Contact.Buyer = new(profile.Buyer(s.cfg.Now()))
	s.nameBuyer(registration, storedPerson(profile.Contact))
	s.indexPerson(registration, profile.HomeClub, profile.Email, profile.Mobile)
	return profile.Contact, nil
}
