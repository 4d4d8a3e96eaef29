package registration

import (
	"cmp"
	"context"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/iban"
	"frontdesk/upstream/club"
)

// notProvided is SEPA's text for an unnamed bank; the club system has a BIC and a bank in every mandate.
const notProvided = "NOTPROVIDED"

// CreateMandate creates the mandate, replacing an existing one, and sends the code that signs it. The
// mandate's state says whether a code was sent. An error means that no mandate was created, that no
// code can reach the contact, or that the result was not stored; then the club system may have an unsigned mandate.
func (s *Service) CreateMandate(ctx context.Context, id, token string, in flows.NewMandate) (flows.View, error) {
	ctx = club.WithLane(ctx, club.Signers)
	registration, payment, at, err := s.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	account, err := s.acceptMandate(registration, at, &in)
	if err != nil {
		return flows.View{}, err
	}
	if registration, err = s.confirmed(ctx, registration, at); err != nil {
		return flows.View{}, err
	}
	if registration.MandateCovers() {
		return flows.View{}, alreadySigned()
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, registration.Contact.IRI)
	if err != nil {
		return flows.View{}, flows.ClubFailed(err, flows.DetailContactUnread)
	}
	if err := s.checkSigner(ctx, registration, at, contact); err != nil {
		return flows.View{}, err
	}
	if !registration.Guardian.IsZero() {
		in.Holder = registration.Guardian.Name()
	}
	if !registration.HasKnownBuyer() { // otherwise the number is the club's own record
		if err := s.codes.CheckCountry(ctx, contact.Mobile, at.Address.Country); err != nil {
			return flows.View{}, err
		}
	}
	phone := s.cfg.Keys.PhonePseudonym(registration.ClientToken, flows.AbbreviatePhone(contact.Mobile, at.Address.Country))
	allowed, err := s.codes.Reserve(ctx, at.IRI, smsSubjects(registration, phone)...)
	if err != nil {
		return flows.View{}, err
	}
	made, err := s.cfg.Club.CreateMandate(ctx, at.Scope, wireMandate(at, contact, in, account))
	if err != nil {
		s.codes.Release(ctx, allowed)
		if rejected := rejectedFields(err, mandateFields, ""); rejected != nil {
			return flows.View{}, rejected
		}
		return flows.View{}, flows.ClubFailed(err, flows.DetailMandateNotCreated)
	}
	registration, err = s.endCode(ctx, registration, at)
	if err != nil || registration.MandateCovers() {
		s.codes.Release(ctx, allowed)
		return flows.View{}, cmp.Or(err, alreadySigned())
	}
	next := &flows.Mandate{
		IRI:       made.IRI,
		Contact:   contact.IRI,
		Phone:     phone,
		Holder:    in.Holder,
		Masked:    account.Masked(),
		ValidFrom: in.ValidFrom,
		Reference: made.Reference,
	}
	if registration.Mandate != nil {
		next.Sequence = registration.Mandate.Sequence
	}
	registration.Mandate = next
	return s.sendCode(ctx, registration, payment, at, allowed)
}

func (s *Service) acceptMandate(registration *flows.Registration, at catalogue.Club, in *flows.NewMandate) (iban.IBAN, error) {
	var fields []flows.FieldProblem
	wrong := func(pointer string, code flows.FieldCode, params map[string]string) {
		fields = append(fields, flows.FieldProblem{Pointer: pointer, Code: code, Params: params})
	}
	account, problem, params := iban.Parse(in.IBAN)
	if problem != "" {
		wrong("/iban", flows.FieldCode(problem), params)
	}
	in.BIC = strings.ToUpper(strings.ReplaceAll(in.BIC, " ", ""))
	if in.BIC != "" && !iban.BICForm.MatchString(in.BIC) {
		wrong("/bic", flows.FieldBIC, nil)
	}
	earliest, _ := at.StartDates(s.cfg.Now(), "")
	switch {
	case in.ValidFrom == "":
		in.ValidFrom = at.Today(s.cfg.Now()).Format(time.DateOnly)
	case in.ValidFrom < earliest:
		wrong("/validFrom", flows.FieldDateTooEarly, map[string]string{"earliest": earliest})
	case registration.FirstDebit() != "" && in.ValidFrom > registration.FirstDebit():
		wrong("/validFrom", flows.FieldDateTooLate, map[string]string{"latest": registration.FirstDebit()})
	}
	switch {
	case len(fields) > 0:
		return account, flows.Invalid(fields...)
	case registration.Contact == nil:
		return account, &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailPersonBeforeMandate}
	case !registration.AsksForMandate():
		return account, &flows.Error{Code: flows.MandateNotNeeded, Detail: flows.DetailNoDirectDebit}
	case !registration.NeedsMandate():
		return account, alreadySigned()
	}
	return account, registration.CheckCurrency()
}

func alreadySigned() error {
	return &flows.Error{Code: flows.MandateSigned, Detail: flows.DetailMandateSigned}
}

func wireMandate(at catalogue.Club, contact club.Contact, in flows.NewMandate, account iban.IBAN) club.NewMandate {
	out := club.NewMandate{
		Club:       at.IRI,
		Contact:    contact.IRI,
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Holder:     in.Holder,
		IBAN:       account.Number,
		BIC:        cmp.Or(in.BIC, notProvided),
		Bank:       cmp.Or(in.Bank, notProvided),
		ValidFrom:  in.ValidFrom,
	}
	switch {
	case in.Address != nil:
		out.Address = club.Address{
			Street:     in.Address.Street,
			PostalCode: in.Address.PostalCode,
			Locality:   in.Address.City,
			Country:    strings.ToUpper(in.Address.Country),
			CountryISO: strings.ToUpper(in.Address.Country),
		}
	case contact.Address != nil:
		out.Address = *contact.Address
	}
	return out
}

// mandateFields maps fields of the club system's mandate to ours.
var mandateFields = map[string]string{
	"iban": "/iban", "bic": "/bic", "bank": "/bank", "holder": "/holder", "validFrom": "/validFrom",
	"contactAddress.streetAddress": "/address/street", "contactAddress.postalCode": "/address/postalCode",
	"contactAddress.addressLocality": "/address/city", "contactAddress.addressCountry": "/address/country",
	"contactAddress.addressCountryIso": "/address/country",
}
