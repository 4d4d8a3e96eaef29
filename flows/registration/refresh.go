package registration

import (
	"context"
	"errors"
	"reflect"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/member"
	"frontdesk/upstream/club"
)

// Refresh reads again what somebody at the club may have changed of a registration,
// and tells when that is worth a look without any hint; the zero instant: never.
// Whoever follows the registration sees what is new.
func (f *Service) Refresh(ctx context.Context, id string) (next time.Time, err error) {
	r, p, err := f.cfg.Store.Registration(ctx, id)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return next, nil
	case err != nil:
		return next, flows.StorageFailed(err)
	}
	if p != nil && !p.State.Final() {
		return next, f.cfg.Payments.RereadEvidence(ctx, p)
	}
	if r.Phase(p, f.cfg.Now()) != flows.Open || r.Contact == nil {
		return next, nil
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return next, err
	}
	if r.Mandate != nil && r.Mandate.State == flows.SignatureUnconfirmed {
		r = f.refreshMandate(ctx, r, at)
	}
	changed, err := f.reread(ctx, r, at)
	if err == nil && changed {
		err = flows.StorageFailed(f.cfg.Store.AmendRegistration(ctx, r))
	}
	return r.NextPoll(f.cfg.Now()), err
}

// reread reads sale, check and contact, and tells whether anything is new.
func (f *Service) reread(ctx context.Context, r *flows.Registration, at catalogue.Club) (changed bool, err error) {
	seen := *r
	owner := r.Contact.IRI
	if r.Sale != "" {
		sale, check, err := f.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
		if err != nil {
			return false, flows.ClubFailed(err, "The cart could not be read.")
		}
		r.ApplySale(at.Currency, sale, check)
		if r.Cart.Equal(seen.Cart) {
			r.Cart = seen.Cart // with the changes that it marks
		} else {
			r.Cart.MarkChanges(seen.Cart)
		}
		if sale.Contact != "" {
			owner = sale.Contact
		}
	}
	if r.Prospect == nil || r.Prospect.Done { // else the visitor is in the middle of it
		if err := f.rereadContact(ctx, r, at, owner); err != nil {
			return false, err
		}
	}
	return !reflect.DeepEqual(seen.Cart, r.Cart) || !reflect.DeepEqual(seen.Contact, r.Contact) || !reflect.DeepEqual(seen.Mandate, r.Mandate), nil
}

// rereadContact reads whose the cart is. One that the club has made one with
// another is that other's from now on, and a mandate goes along where the club
// system says so. A contact that is gone without a trace stays as it was known:
// the cart's check tells what follows.
func (f *Service) rereadContact(ctx context.Context, r *flows.Registration, at catalogue.Club, owner club.IRI) error {
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, owner)
	switch {
	case errors.Is(err, club.ErrNotFound):
		return nil
	case err != nil:
		return flows.ClubFailed(err, "The contact could not be read.")
	}
	next := flows.Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status}
	if r.Identified() {
		statistics, err := f.cfg.Club.GetAccountStatistics(ctx, at.Scope, owner)
		if err != nil {
			return flows.ClubFailed(err, "The contact's account could not be read.")
		}
		buyer := member.Profile{Contact: contact, HomeClub: at, Debt: statistics.TotalRealDebt}.Buyer(f.cfg.Now())
		next.Buyer = &buyer
	}
	moved := r.Contact.IRI != next.IRI
	r.Contact = &next
	if moved {
		f.followContact(ctx, r, at)
	}
	return nil
}
