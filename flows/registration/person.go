package registration

import (
	"context"
	"errors"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// createContact makes the buyer known to the club system, with the status of
// somebody who is being registered.
func (f *Service) createContact(ctx context.Context, at catalogue.Club, p flows.Person) (club.Contact, error) {
	contact, err := f.cfg.Club.CreateContact(ctx, at.Scope, club.NewContact{
		FamilyName: p.FamilyName, GivenName: p.GivenName, Gender: p.Gender, BirthDate: p.BirthDate,
		Email: p.Email, Mobile: p.Mobile, Club: at.IRI, Status: flows.StatusTemp,
		Address: &club.Address{Street: p.Street, PostalCode: p.PostalCode, Locality: p.City, Country: strings.ToUpper(p.Country)},
	})
	var upstream *club.Error
	if errors.As(err, &upstream) && upstream.Outcome == club.Rejected {
		return contact, personRejected(upstream)
	}
	return contact, flows.ClubFailed(err, "The buyer's details could not be given to the club system.")
}

// personFields says where a field of the club system's contact stands in ours.
var personFields = map[string]string{
	"familyName": "/person/familyName", "givenName": "/person/givenName", "gender": "/person/gender",
	"birthDate": "/person/birthDate", "email": "/person/email", "mobile": "/person/mobile",
	"address.streetAddress": "/person/address/street", "address.postalCode": "/person/address/postalCode",
	"address.addressLocality": "/person/address/city", "address.addressCountry": "/person/address/country",
}

// personRejected points at the fields that the club system does not take. A
// rejection that names none of them is not the visitor's to mend.
func personRejected(err *club.Error) error {
	failure := &flows.Error{Code: flows.InvalidRequest, Err: err}
	for _, v := range err.Violations {
		if pointer := personFields[v.Field]; pointer != "" {
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: pointer, Message: "The club system does not accept this value."})
		}
	}
	if len(failure.Fields) == 0 {
		return flows.ClubFailed(err, "The buyer's details could not be given to the club system.")
	}
	return failure
}
