package registration

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/iban"
	"frontdesk/upstream/club"
)

// notProvided is what SEPA's own messages say where the bank is not named. The
// club system's description shows a BIC and a bank in every mandate.
const notProvided = "NOTPROVIDED"

// CreateMandate makes the mandate and has the code sent with which it is
// signed. It takes the place of the one that there may be. The answer tells in
// the mandate's state whether a code was sent; an error means that there is no
// new mandate, or that no code can ever reach the contact.
func (f *Service) CreateMandate(ctx context.Context, id, token string, in flows.NewMandate) (flows.View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	account, err := f.acceptMandate(r, &in)
	if err != nil {
		return flows.View{}, err
	}
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, r.Contact.IRI)
	if err != nil {
		return flows.View{}, flows.ClubFailed(err, "The contact could not be read.")
	}
	phone := f.cfg.Keys.PhonePseudonym(r.ClientToken, contact.Mobile)
	allowed, err := f.cfg.Codes.Reserve(ctx, at.IRI, smsSubjects(r, phone)...)
	if err != nil {
		return flows.View{}, err
	}
	made, err := f.cfg.Club.CreateMandate(ctx, at.Scope, wireMandate(at, contact, in, account))
	if err != nil {
		f.cfg.Codes.Release(ctx, allowed)
		return flows.View{}, mandateRejected(err)
	}
	next := &flows.Mandate{IRI: made.IRI, Contact: contact.IRI, Phone: phone, Masked: account.Masked(), ValidFrom: in.ValidFrom}
	if r.Mandate != nil {
		f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
		next.Sequence = r.Mandate.Sequence
	}
	r.Mandate = next
	return f.sendCode(ctx, r, p, at, allowed)
}

// acceptMandate says everything that is wrong with the wish for a mandate, and
// fills in what was left out.
func (f *Service) acceptMandate(r *flows.Registration, in *flows.NewMandate) (iban.IBAN, error) {
	failure := &flows.Error{Code: flows.InvalidRequest}
	wrong := func(pointer, message string) {
		failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: pointer, Message: message})
	}
	account, problem := iban.Parse(in.IBAN)
	if problem != "" {
		wrong("/iban", problem)
	}
	in.BIC = strings.ToUpper(strings.ReplaceAll(in.BIC, " ", ""))
	if in.BIC != "" && !iban.BICForm.MatchString(in.BIC) {
		wrong("/bic", "A BIC has 8 or 11 characters, such as BNPAFRPP.")
	}
	now := f.cfg.Now().UTC()
	switch {
	case in.ValidFrom == "":
		in.ValidFrom = now.Format(time.DateOnly)
	case in.ValidFrom < now.AddDate(0, 0, -1).Format(time.DateOnly): // it may still be yesterday where the visitor is
		wrong("/validFrom", "The mandate cannot begin in the past.")
	case r.FirstDebit() != "" && in.ValidFrom > r.FirstDebit():
		wrong("/validFrom", "The mandate has to be valid on the day of the first debit, "+r.FirstDebit()+".")
	}
	switch {
	case len(failure.Fields) > 0:
		return account, failure
	case r.Contact == nil:
		return account, &flows.Error{Code: flows.PersonRequired, Detail: "The buyer's details come before the mandate."}
	case !r.AsksForMandate():
		return account, &flows.Error{Code: flows.MandateNotNeeded, Detail: "Nothing in the cart is paid by direct debit."}
	case !r.NeedsMandate():
		return account, &flows.Error{Code: flows.MandateSigned, Detail: "The mandate is signed already."}
	}
	return account, nil
}

func wireMandate(at catalogue.Club, contact club.Contact, in flows.NewMandate, account iban.IBAN) club.NewMandate {
	out := club.NewMandate{
		Club: at.IRI, Contact: contact.IRI, FamilyName: contact.FamilyName, GivenName: contact.GivenName, Number: contact.Number,
		Holder: in.Holder, IBAN: account.Number, BIC: cmp.Or(in.BIC, notProvided), Bank: cmp.Or(in.Bank, notProvided), ValidFrom: in.ValidFrom,
	}
	switch {
	case in.Address != nil:
		out.Address = club.Address{Street: in.Address.Street, PostalCode: in.Address.PostalCode, Locality: in.Address.City, Country: strings.ToUpper(in.Address.Country)}
	case contact.Address != nil:
		out.Address = *contact.Address
	}
	return out
}

// mandateFields says where a field of the club system's mandate stands in ours.
var mandateFields = map[string]string{
	"iban": "/iban", "bic": "/bic", "bank": "/bank", "holder": "/holder", "validFrom": "/validFrom",
	"contactAddress.streetAddress": "/address/street", "contactAddress.postalCode": "/address/postalCode",
	"contactAddress.addressLocality": "/address/city", "contactAddress.addressCountry": "/address/country",
}

// mandateRejected points at the fields that the club system, or the bank behind
// it, does not take.
func mandateRejected(err error) error {
	var upstream *club.Error
	if !errors.As(err, &upstream) || upstream.Outcome != club.Rejected {
		return flows.ClubFailed(err, "The mandate could not be made.")
	}
	failure := &flows.Error{Code: flows.InvalidRequest, Err: err}
	for _, v := range upstream.Violations {
		switch pointer := mandateFields[v.Field]; pointer {
		case "":
		case "/iban":
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: pointer, Message: "The bank does not accept this account. Please use another one."})
		default:
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: pointer, Message: "The club system does not accept this value."})
		}
	}
	if len(failure.Fields) == 0 {
		return flows.ClubFailed(err, "The mandate could not be made.")
	}
	return failure
}
