package registration

import (
	"cmp"
	"context"
	"errors"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// sendCode stores that a code is requested, requests it, and stores the result.
func (s *Service) sendCode(
	ctx context.Context, registration *flows.Registration, payment *flows.Payment, at catalogue.Club, allowed reservation,
) (flows.View, error) {
	registration.Mandate.Begin(allowed.ID, allowed.ResendAfter)
	if err := s.save(ctx, registration); err != nil {
		s.codes.Release(ctx, allowed)
		return flows.View{}, err
	}
	signature := registration.Mandate.Signature
	failure := s.codes.Send(ctx, &signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return s.cfg.Club.CreateSignatureRequest(ctx, at.Scope, registration.Mandate.Contact, registration.Mandate.IRI)
	})
	registration, err := s.keepSignature(ctx, registration, signature)
	if err != nil {
		return flows.View{}, err
	}
	return s.view(registration, payment), failure
}

// SignMandate enters the code from the SMS, which authorises what the mandate's terms say in the buyer's language.
func (s *Service) SignMandate(ctx context.Context, id, token, code, language string) (flows.View, error) {
	ctx = club.WithLane(ctx, club.Signers)
	registration, payment, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case registration.Mandate == nil:
		return flows.View{}, flows.NoCodeError()
	case registration.Mandate.State == flows.SignatureSigned:
		return s.view(registration, payment), nil
	}
	mayBeSigned := registration.Mandate.MaySign() // by an earlier code, which stays the proof
	if err := s.codes.Enter(&registration.Mandate.Signature, code); err != nil {
		return flows.View{}, err
	}
	if !mayBeSigned || registration.Mandate.Proof == nil {
		s.noteProof(registration, language, s.cfg.Now())
	}
	if err := s.save(ctx, registration); err != nil {
		return flows.View{}, err
	}
	signature := registration.Mandate.Signature
	failure := s.codes.Check(ctx, at.Scope, &signature, code, s.mandateSigned(registration, at))
	registration, err = s.settleSignature(ctx, registration, at, signature)
	if err != nil {
		return flows.View{}, err
	}
	return s.view(registration, payment), failure
}

// mandateSigned asks the club system whether the mandate is signed.
func (s *Service) mandateSigned(r *flows.Registration, at catalogue.Club) isSigned {
	iri := r.Mandate.IRI
	return func(ctx context.Context) (bool, error) {
		mandate, err := s.cfg.Club.GetMandate(ctx, at.Scope, iri)
		return err == nil && mandate.Signed(), err
	}
}

// settleSignature stores a signature and, once it is signed, the cart that follows from it.
func (s *Service) settleSignature(
	ctx context.Context, registration *flows.Registration, at catalogue.Club, signature flows.Signature,
) (*flows.Registration, error) {
	registration, err := s.keepSignature(ctx, registration, signature)
	if err != nil || signature.State != flows.SignatureSigned || registration.Sale == "" {
		return registration, err
	}
	stored := *registration
	if err := s.readCart(ctx, registration, at); err != nil {
		s.cfg.Log.WarnContext(ctx, "cart not read after the signature", "error", err)
		return &stored, nil
	}
	registration.Cart.KeepMarks(stored.Cart)
	if err := s.cfg.Store.SaveRegistration(ctx, registration); err != nil {
		s.cfg.Log.WarnContext(ctx, "cart not saved after the signature", "error", err)
		return &stored, nil // the signature is stored, and the cart is read again before it is paid
	}
	return registration, nil
}

// keepSignature stores the signature of a registration's mandate, even if the registration was
// changed concurrently. It fails with Conflict if that change has another mandate or another code.
func (s *Service) keepSignature(ctx context.Context, registration *flows.Registration,
	signature flows.Signature) (*flows.Registration, error) {
	mandate := registration.Mandate.IRI
	if signature.State == flows.SignatureSigned {
		s.codes.Entered(ctx, club.NewIRI(registration.ClientToken, "clubs", registration.ClubID), signature)
	}
	for range maxSaveAttempts {
		registration.Mandate.Signature = signature
		if signature.State == flows.SignatureSigned {
			registration.Cart.MandateSigned()
		}
		err := s.cfg.Store.SaveRegistration(ctx, registration)
		if err == nil {
			if err := s.announceMandate(ctx, registration); err != nil {
				s.cfg.Log.WarnContext(ctx, "mandate not announced; the next refresh retries", "registration", registration.ID, "error", err)
			}
		}
		if !errors.Is(err, flows.ErrConflict) {
			return registration, flows.StorageFailed(err)
		}
		if registration, _, err = s.cfg.Store.Registration(ctx, registration.ID); err != nil {
			return registration, flows.StorageFailed(err)
		}
		if registration.Mandate == nil || registration.Mandate.IRI != mandate || registration.Mandate.Sequence != signature.Sequence {
			if signature.State == flows.SignatureSigned {
				s.cfg.Log.ErrorContext(ctx, "replaced mandate is signed", "registration", registration.ID, "mandate", mandate)
			}
			break
		}
		if theirs := registration.Mandate.Signature; theirs.Ended() && signature.State != flows.SignatureSigned {
			return registration, nil
		}
		signature.Merge(registration.Mandate.Signature)
	}
	return registration, flows.StorageFailed(flows.ErrConflict)
}

// CancelSignature cancels the code. A signed mandate stays signed.
func (s *Service) CancelSignature(ctx context.Context, id, token string) (flows.View, error) {
	registration, payment, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case registration.Mandate == nil || registration.Mandate.State == flows.SignatureCancelled:
		return s.view(registration, payment), nil
	}
	if registration, err = s.endCode(ctx, registration, at); err != nil {
		return flows.View{}, err
	}
	if registration.Mandate.State == flows.SignatureSigned {
		return flows.View{}, &flows.Error{Code: flows.MandateSigned, Detail: flows.DetailMandateSignedRevoke}
	}
	registration.Mandate.State = flows.SignatureCancelled
	return s.saved(ctx, registration, payment)
}

// ResendCode cancels the mandate's code and sends another one.
func (s *Service) ResendCode(ctx context.Context, id, token string) (flows.View, error) {
	ctx = club.WithLane(ctx, club.Signers)
	registration, payment, at, err := s.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	if registration.Mandate == nil {
		return flows.View{}, flows.NoCodeError()
	}
	if registration, err = s.confirmed(ctx, registration, at); err != nil {
		return flows.View{}, err
	}
	switch now := s.cfg.Now(); {
	case registration.Mandate.State == flows.SignatureSigned:
		return s.view(registration, payment), nil
	case !registration.Mandate.Resendable():
		return flows.View{}, &flows.Error{Code: flows.NoCode, Detail: flows.DetailSignatureCancelled}
	case now.Before(registration.Mandate.ResendAfter):
		return flows.View{}, &flows.Error{
			Code:       flows.SMSLimited,
			RetryAfter: registration.Mandate.ResendAfter.Sub(now),
			Detail:     flows.DetailCodeJustSent,
		}
	}
	if err := s.checkPhone(ctx, registration, at); err != nil {
		return flows.View{}, err
	}
	allowed, err := s.codes.Reserve(ctx, at.IRI, smsSubjects(registration, registration.Mandate.Phone)...)
	if err != nil {
		return flows.View{}, err
	}
	registration, err = s.endCode(ctx, registration, at)
	if err != nil || registration.Mandate.State == flows.SignatureSigned {
		s.codes.Release(ctx, allowed)
		return s.view(registration, payment), err
	}
	return s.sendCode(ctx, registration, payment, at, allowed)
}

// checkPhone is checkSigner for another code, where a guardian is involved: staff may have changed the contact's number or birth date.
func (s *Service) checkPhone(ctx context.Context, r *flows.Registration, at catalogue.Club) error {
	if r.Guardian.IsZero() && at.GuardianBelow() == 0 {
		return nil
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, r.Mandate.Contact)
	if err != nil {
		return flows.ClubFailed(err, flows.DetailContactUnread)
	}
	return s.checkSigner(ctx, r, at, contact)
}

// confirmed finds out whether a signature that may have been made was made. It fails with ClubSystemUnavailable while
// that is not known.
func (s *Service) confirmed(ctx context.Context, registration *flows.Registration, at catalogue.Club) (*flows.Registration, error) {
	if registration.Mandate == nil {
		return registration, nil
	}
	signature := registration.Mandate.Signature
	unknown := s.codes.Confirm(ctx, &signature, s.mandateSigned(registration, at))
	return s.learned(ctx, registration, at, signature, unknown)
}

// endCode ends the mandate's code before anything replaces or drops the mandate: a code that is being checked could
// still sign it. Afterwards the mandate is signed, or has no code. It fails with ClubSystemUnavailable while that is
// not known. Only a signature is stored; the caller stores the rest.
func (s *Service) endCode(ctx context.Context, registration *flows.Registration, at catalogue.Club) (*flows.Registration, error) {
	if registration.Mandate == nil {
		return registration, nil
	}
	signature := registration.Mandate.Signature
	unknown := s.codes.End(ctx, at.Scope, &signature, s.mandateSigned(registration, at))
	if unknown == nil && signature.State != flows.SignatureSigned {
		registration.Mandate.Signature = signature
		return registration, nil
	}
	return s.learned(ctx, registration, at, signature, unknown)
}

// learned stores a signature's state, if it is another one. It fails with Conflict if another request has started a
// payment meanwhile, because the caller decided without it; the state is stored then, too.
func (s *Service) learned(ctx context.Context, registration *flows.Registration, at catalogue.Club, signature flows.Signature,
	unknown error) (*flows.Registration, error) {
	if signature == registration.Mandate.Signature {
		return registration, unknown
	}
	generation := registration.Generation
	settled, err := s.settleSignature(ctx, registration, at, signature)
	switch {
	case err != nil:
		return registration, cmp.Or(unknown, err)
	case settled.Generation != generation:
		return settled, flows.StorageFailed(flows.ErrConflict)
	default:
		return settled, unknown
	}
}

// dropMandate drops the mandate after the buyer has changed.
func (s *Service) dropMandate(ctx context.Context, r *flows.Registration, at catalogue.Club) {
	if r.Mandate != nil {
		dropped := r.Mandate.Signature
		_ = s.codes.End(ctx, at.Scope, &dropped, s.mandateSigned(r, at)) // it may be signed: it is not the buyer's
		r.Mandate = nil
	}
}

// smsSubjects are what codes are counted by: the contact, the registration, which can have any number
// of contacts, and the phone, which can have any number of registrations.
func smsSubjects(r *flows.Registration, phone string) []string {
	return []string{string(r.Contact.IRI), "registration " + r.ID, phone}
}
