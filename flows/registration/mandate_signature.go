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
	ctx context.Context, r *flows.Registration, p *flows.Payment, at catalogue.Club, allowed reservation,
) (flows.View, error) {
	r.Mandate.Begin(allowed.ID, allowed.ResendAfter)
	if err := s.save(ctx, r); err != nil {
		s.codes.Release(ctx, allowed)
		return flows.View{}, err
	}
	signature := r.Mandate.Signature
	failure := s.codes.Send(ctx, &signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return s.cfg.Club.CreateSignatureRequest(ctx, at.Scope, r.Mandate.Contact, r.Mandate.IRI)
	})
	r, err := s.keepSignature(ctx, r, signature)
	if err != nil {
		return flows.View{}, err
	}
	return s.view(r, p), failure
}

// SignMandate enters the code from the SMS.
func (s *Service) SignMandate(ctx context.Context, id, token, code string) (flows.View, error) {
	ctx = club.WithLane(ctx, club.Payers)
	r, p, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Mandate == nil:
		return flows.View{}, flows.NoCodeError()
	case r.Mandate.State == flows.SignatureSigned:
		return s.view(r, p), nil
	}
	if err := s.codes.Enter(&r.Mandate.Signature, code); err != nil {
		return flows.View{}, err
	}
	if err := s.save(ctx, r); err != nil {
		return flows.View{}, err
	}
	signature := r.Mandate.Signature
	failure := s.codes.Check(ctx, at.Scope, &signature, code, s.mandateSigned(r, at))
	r, err = s.settleSignature(ctx, r, at, signature)
	if err != nil {
		return flows.View{}, err
	}
	return s.view(r, p), failure
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
	ctx context.Context, r *flows.Registration, at catalogue.Club, signature flows.Signature,
) (*flows.Registration, error) {
	r, err := s.keepSignature(ctx, r, signature)
	if err != nil || signature.State != flows.SignatureSigned || r.Sale == "" {
		return r, err
	}
	stored := *r
	if err := s.readCart(ctx, r, at); err != nil {
		s.cfg.Log.WarnContext(ctx, "cart not read after the signature", "error", err)
		return &stored, nil
	}
	r.Cart.KeepMarks(stored.Cart)
	if err := s.cfg.Store.SaveRegistration(ctx, r); err != nil {
		s.cfg.Log.WarnContext(ctx, "cart not saved after the signature", "error", err)
		return &stored, nil // the signature is stored, and the cart is read again before it is paid
	}
	return r, nil
}

// keepSignature stores the signature of a registration's mandate, even if the registration was
// changed concurrently. It fails with Conflict if that change has another mandate or another code.
func (s *Service) keepSignature(ctx context.Context, r *flows.Registration, signature flows.Signature) (*flows.Registration, error) {
	mandate := r.Mandate.IRI
	if signature.State == flows.SignatureSigned {
		s.codes.Entered(ctx, club.NewIRI(r.ClientToken, "clubs", r.ClubID), signature)
	}
	for range maxSaveAttempts {
		r.Mandate.Signature = signature
		if signature.State == flows.SignatureSigned {
			r.Cart.MandateSigned()
		}
		err := s.cfg.Store.SaveRegistration(ctx, r)
		if !errors.Is(err, flows.ErrConflict) {
			return r, flows.StorageFailed(err)
		}
		if r, _, err = s.cfg.Store.Registration(ctx, r.ID); err != nil {
			return r, flows.StorageFailed(err)
		}
		if r.Mandate == nil || r.Mandate.IRI != mandate || r.Mandate.Sequence != signature.Sequence {
			if signature.State == flows.SignatureSigned {
				s.cfg.Log.ErrorContext(ctx, "replaced mandate is signed", "registration", r.ID, "mandate", mandate)
			}
			break
		}
		if theirs := r.Mandate.Signature; theirs.Ended() && signature.State != flows.SignatureSigned {
			return r, nil
		}
		signature.Merge(r.Mandate.Signature)
	}
	return r, flows.StorageFailed(flows.ErrConflict)
}

// CancelSignature cancels the code. A signed mandate stays signed.
func (s *Service) CancelSignature(ctx context.Context, id, token string) (flows.View, error) {
	r, p, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Mandate == nil || r.Mandate.State == flows.SignatureCancelled:
		return s.view(r, p), nil
	}
	if r, err = s.endCode(ctx, r, at); err != nil {
		return flows.View{}, err
	}
	if r.Mandate.State == flows.SignatureSigned {
		return flows.View{}, &flows.Error{Code: flows.MandateSigned, Detail: flows.DetailMandateSignedRevoke}
	}
	r.Mandate.State = flows.SignatureCancelled
	return s.saved(ctx, r, p)
}

// ResendCode cancels the mandate's code and sends another one.
func (s *Service) ResendCode(ctx context.Context, id, token string) (flows.View, error) {
	ctx = club.WithLane(ctx, club.Payers)
	r, p, at, err := s.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	if r.Mandate == nil {
		return flows.View{}, flows.NoCodeError()
	}
	if r, err = s.confirmed(ctx, r, at); err != nil {
		return flows.View{}, err
	}
	switch now := s.cfg.Now(); {
	case r.Mandate.State == flows.SignatureSigned:
		return s.view(r, p), nil
	case !r.Mandate.Resendable():
		return flows.View{}, &flows.Error{Code: flows.NoCode, Detail: flows.DetailSignatureCancelled}
	case now.Before(r.Mandate.ResendAfter):
		return flows.View{}, &flows.Error{
			Code:       flows.SMSLimited,
			RetryAfter: r.Mandate.ResendAfter.Sub(now),
			Detail:     flows.DetailCodeJustSent,
		}
	}
	allowed, err := s.codes.Reserve(ctx, at.IRI, smsSubjects(r, r.Mandate.Phone)...)
	if err != nil {
		return flows.View{}, err
	}
	if r, err = s.endCode(ctx, r, at); err != nil || r.Mandate.State == flows.SignatureSigned {
		s.codes.Release(ctx, allowed)
		return s.view(r, p), err
	}
	return s.sendCode(ctx, r, p, at, allowed)
}

// confirmed finds out whether a signature that may have been made was made. It fails with ClubSystemUnavailable while
// that is not known.
func (s *Service) confirmed(ctx context.Context, r *flows.Registration, at catalogue.Club) (*flows.Registration, error) {
	if r.Mandate == nil {
		return r, nil
	}
	signature := r.Mandate.Signature
	unknown := s.codes.Confirm(ctx, &signature, s.mandateSigned(r, at))
	return s.learned(ctx, r, at, signature, unknown)
}

// endCode ends the mandate's code before anything replaces or drops the mandate: a code that is being checked could
// still sign it. Afterwards the mandate is signed, or has no code. It fails with ClubSystemUnavailable while that is
// not known. Only a signature is stored; the caller stores the rest.
func (s *Service) endCode(ctx context.Context, r *flows.Registration, at catalogue.Club) (*flows.Registration, error) {
	if r.Mandate == nil {
		return r, nil
	}
	signature := r.Mandate.Signature
	unknown := s.codes.End(ctx, at.Scope, &signature, s.mandateSigned(r, at))
	if unknown == nil && signature.State != flows.SignatureSigned {
		r.Mandate.Signature = signature
		return r, nil
	}
	return s.learned(ctx, r, at, signature, unknown)
}

// learned stores a signature's state, if it is another one. It fails with Conflict if another request has started a
// payment meanwhile, because the caller decided without it; the state is stored then, too.
func (s *Service) learned(ctx context.Context, r *flows.Registration, at catalogue.Club, signature flows.Signature,
	unknown error) (*flows.Registration, error) {
	if signature == r.Mandate.Signature {
		return r, unknown
	}
	generation := r.Generation
	settled, err := s.settleSignature(ctx, r, at, signature)
	switch {
	case err != nil:
		return r, cmp.Or(unknown, err)
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
