package registration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

const (
	// advanceTriggerEvery is how often waiting visitors together may trigger a poll of the payment. While the buyer does
	// nothing at the processor, the pause grows to a twelfth of that time, and to advanceTriggerIdle.
	advanceTriggerEvery = 2 * time.Second
	advanceTriggerIdle  = 30 * time.Second
	// mandateRefreshEvery is how often such a visitor may trigger a read of an unconfirmed mandate.
	mandateRefreshEvery = 2 * time.Second
	// contactRefreshEvery is how often a visitor who has paid may trigger a read of the contact, and how long after the payment for the
	// first time: most visitors leave before, and nothing depends on its status.
	contactRefreshEvery = 5 * time.Second
	// advanceWait is how long each may delay the response. A gateway polls again when it is due, and so does the visitor.
	advanceWait = 2 * time.Second
)

// Refresh reads again what the club may have changed of a registration, and notifies its subscribers.
// It returns the time of the next poll; the zero instant means never.
func (s *Service) Refresh(ctx context.Context, id string) (next time.Time, err error) {
	registration, payment, err := s.cfg.Store.Registration(ctx, id)
	switch {
	case errors.Is(err, flows.ErrNotFound):
		return next, nil
	case err != nil:
		return next, flows.StorageFailed(err)
	}
	if err := s.announceMandate(ctx, registration); err != nil {
		return next, err
	}
	if payment.Purchased() {
		next = s.putEmail(ctx, registration, payment)
	}
	if payment != nil && !payment.State.Final() {
		next = sooner(next, registration.NextPoll(s.cfg.Now()))
		return next, s.cfg.Payments.RereadEvidence(ctx, payment) // its buyer may pay at the desk instead
	}
	if registration.Phase(payment, s.cfg.Now()) != flows.Open || registration.Contact == nil || registration.Starting {
		return next, nil
	}
	at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID)
	if err != nil {
		return next, err
	}
	if registration.Mandate != nil && registration.Mandate.State == flows.SignatureUnconfirmed {
		registration, err = s.confirmed(ctx, registration, at)
		if errors.Is(err, flows.ErrConflict) {
			return registration.NextPoll(s.cfg.Now()), err // a payment has begun
		} // after another failure, it stays unconfirmed
	}
	quiet := *registration // what is read below is not a change by the visitor
	changed, err := s.reread(ctx, registration, at)
	if err == nil && changed {
		err = flows.StorageFailed(s.cfg.Store.AmendRegistration(ctx, registration))
	}
	if err == nil && registration.Cart.Settled() {
		next = s.putEmail(ctx, registration, nil)
	}
	if err == nil {
		again, failure := s.announceAbandoned(ctx, registration, quiet.LastChange(payment), at)
		next, err = sooner(next, again), failure
	}
	return sooner(next, registration.NextPoll(s.cfg.Now())), err
}

// sooner returns the earlier one of two instants, of which the zero instant means never.
func sooner(one, other time.Time) time.Time {
	if one.IsZero() || !other.IsZero() && other.Before(one) {
		return other
	}
	return one
}

// reread reads sale, check and contact, and reports whether anything changed.
func (s *Service) reread(ctx context.Context, registration *flows.Registration, at catalogue.Club) (changed bool, err error) {
	before := *registration
	owner := registration.Contact.IRI
	if registration.Sale != "" {
		sale, check, err := s.cfg.Club.GetCheckedSale(ctx, at.Scope, registration.Sale)
		switch s.noteMissing(ctx, registration, registration.Sale, err); {
		case errors.Is(err, club.ErrNotFound): // once it is gone, a visitor who continues gets a new sale
		case err != nil:
			return false, flows.ClubFailed(err, flows.DetailCartUnread)
		default:
			s.applySale(ctx, registration, at, sale, check)
			registration.Cart.KeepMarks(before.Cart)
			owner = cmp.Or(sale.Contact, owner)
		}
	}
	if registration.Prospect == nil || registration.Prospect.Done { // else the visitor is migrating
		if err := s.rereadContact(ctx, registration, at, owner); err != nil {
			return false, err
		}
	}
	same := reflect.DeepEqual(before.Cart, registration.Cart) && reflect.DeepEqual(before.Contact, registration.Contact) &&
		reflect.DeepEqual(before.Mandate, registration.Mandate) && before.LacksGuardian == registration.LacksGuardian
	return !same, nil
}

// rereadContact reads the cart's contact. After the club merged it into another one, the cart is that
// one's, but the visitor learns nothing about it. A mandate follows where the club system says so. A deleted
// contact is kept as it was: the cart's check shows the consequences.
func (s *Service) rereadContact(ctx context.Context, registration *flows.Registration, at catalogue.Club, owner club.IRI) error {
	contact, err := s.cfg.readContact(ctx, at.Scope, owner)
	switch {
	case errors.Is(err, club.ErrNotFound):
		return nil
	case err != nil:
		return flows.ClubFailed(err, flows.DetailContactUnread)
	}
	next := flows.ContactOf(contact)
	next.Entered = registration.Contact.Entered
	if registration.Identified() {
		statistics, err := s.cfg.Club.GetAccountStatistics(ctx, at.Scope, owner)
		if err != nil {
			return flows.ClubFailed(err, flows.DetailAccountUnread)
		}
		next.Buyer = new(Profile{Contact: contact, HomeClub: at, Debt: statistics.TotalRealDebt}.Buyer(s.cfg.Now()))
	}
	moved := registration.Contact.IRI != next.IRI
	if !moved {
		next.Masked, next.OwnMobile = registration.Contact.Masked, registration.Contact.OwnMobile
	}
	if !registration.HasKnownBuyer() {
		next.Identity, next.Entered = registration.Contact.Identity, registration.Contact.Entered
	}
	if !moved && contact.Email == "" {
		next.KeepEmail(registration.Contact)
	}
	next.Merged = !registration.HasKnownBuyer() && (moved || registration.Contact.Merged)
	if next.Merged {
		// The visitor may be anyone who entered a member's name, so that only the sale is shared.
		contact := registration.Contact
		next.Number, next.Status, next.GivenName, next.MobileEnding = contact.Number, contact.Status, contact.GivenName, ""
		next.Mailbox = ""
	}
	if moved {
		if err := s.followContact(ctx, registration, at, next.IRI); err != nil {
			return err
		}
		s.indexPerson(registration, at, contact.Email, contact.Mobile)
	}
	registration.Contact = next
	registration.LacksGuardian = registration.Guardian.IsZero() && at.NeedsGuardian(contact.BirthDate, s.cfg.Now())
	return nil
}

// refreshView updates a registration that its visitor reads.
func (s *Service) refreshView(ctx context.Context, registration *flows.Registration, payment *flows.Payment) flows.View {
	payment = s.refreshPayment(ctx, registration, payment)
	if payment != nil && payment.State == flows.Recorded && registration.Contact != nil &&
		registration.Contact.Status != club.StatusCustomer && !registration.IsMerged() &&
		s.cfg.Now().Sub(payment.Since(flows.Recorded)) >= contactRefreshEvery {
		s.forVisitor(ctx, "contact:", contactRefreshEvery, registration, func(ctx context.Context, at catalogue.Club) {
			s.refreshContact(ctx, registration, at)
		})
	}
	if registration.Mandate != nil && registration.Mandate.State == flows.SignatureUnconfirmed {
		s.forVisitor(ctx, "mandate:", mandateRefreshEvery, registration, func(ctx context.Context, at catalogue.Club) {
			registration,
				_ = s.confirmed(ctx, registration, at)
		})
	}
	return s.view(registration, payment)
}

// refreshPayment polls a payment that waits for its buyer or for the processor; nil stays nil.
func (s *Service) refreshPayment(ctx context.Context, r *flows.Registration, p *flows.Payment) *flows.Payment {
	if p == nil || p.State.Final() || p.Declined() || r.Phase(p, s.cfg.Now()) == flows.Attention {
		return p
	}
	return s.triggerAdvance(ctx, p)
}

// forVisitor reads something again for a waiting visitor, bounded in time and rate. A failure is left to a later
// request.
func (s *Service) forVisitor(ctx context.Context, name string, every time.Duration, registration *flows.Registration,
	read func(context.Context, catalogue.Club)) {
	first, err := s.cfg.Store.Once(ctx, name+registration.ID, every)
	if err != nil || !first {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, advanceWait)
	defer cancel()
	if at, err := s.cfg.Catalogue.Club(ctx, registration.ClientToken, registration.ClubID); err == nil {
		read(ctx, at)
	}
}

// refreshContact reads the contact's status after the recorded payment. A buyer of goods alone never becomes a
// customer.
func (s *Service) refreshContact(ctx context.Context, registration *flows.Registration, at catalogue.Club) {
	contact, err := s.cfg.readContact(ctx, at.Scope, registration.Contact.IRI)
	if err != nil || contact.Status == registration.Contact.Status {
		return
	}
	registration.Contact.Status = contact.Status
	if err := s.cfg.Store.AmendRegistration(ctx, registration); err != nil && !errors.Is(err, flows.ErrConflict) {
		s.cfg.Log.WarnContext(ctx, "contact not saved", "error", err)
	}
}

// triggerAdvance polls a payment for a waiting visitor, but not at every request. The first request
// after each change of the payment always polls.
func (s *Service) triggerAdvance(ctx context.Context, payment *flows.Payment) *flows.Payment {
	pause := advanceTriggerEvery
	if payment.State == flows.Intent {
		pause = min(max(pause, s.cfg.Now().Sub(payment.UpdatedAt)/12), advanceTriggerIdle)
	}
	first, err := s.cfg.Store.Once(ctx, fmt.Sprintf("advance:%s:%d", payment.ID, payment.Version), pause)
	switch {
	case err == nil && first && payment.State == flows.Intent:
		return s.poll(ctx, payment)
	case err == nil && first:
		err = s.cfg.Payments.Wake(ctx, payment.ID, payment)
	}
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "payment not woken", "payment", payment.ID, "error", err)
	}
	return payment
}

// poll polls a payment at the processor, within advanceWait.
func (s *Service) poll(ctx context.Context, p *flows.Payment) *flows.Payment {
	ctx, cancel := context.WithTimeout(ctx, advanceWait)
	defer cancel()
	return s.cfg.Payments.Glance(ctx, p)
}

// verifyDecline polls a declined payment: the buyer may have paid with another card since, and must
// not be asked to try again.
func (s *Service) verifyDecline(ctx context.Context, p *flows.Payment) *flows.Payment {
	if p == nil || !p.Declined() {
		return p
	}
	return s.poll(ctx, p)
}
