package registration

import (
	"context"
	"errors"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/signature"
	"frontdesk/upstream/club"
)

// maxSaveAttempts is how often a change that loses a race is saved again; only a client in a loop
// causes more losses in a row.
const maxSaveAttempts = 4

// sendCode stores that a code is requested, requests it, and stores the result.
func (s *Service) sendCode(ctx context.Context, r *flows.Registration, p *flows.Payment, at catalogue.Club, allowed signature.Reservation) (flows.View, error) {
	r.Mandate.Begin(allowed.ID, allowed.ResendAfter)
	if err := s.save(ctx, r); err != nil {
		s.cfg.Codes.Release(ctx, allowed)
		return flows.View{}, err
	}
	signature := r.Mandate.Signature
	failure := s.cfg.Codes.Send(ctx, &signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
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
	if err := s.cfg.Codes.Enter(&r.Mandate.Signature, code); err != nil {
		return flows.View{}, err
	}
	if err := s.save(ctx, r); err != nil {
		return flows.View{}, err
	}
	signature := r.Mandate.Signature
	failure := s.cfg.Codes.Check(ctx, at.Scope, &signature, code, func(ctx context.Context) (bool, error) { return s.mandateSigned(ctx, r, at) })
	r, err = s.settleSignature(ctx, r, at, signature)
	if err != nil {
		return flows.View{}, err
	}
	return s.view(r, p), failure
}

// mandateSigned asks the club system whether the mandate is signed.
func (s *Service) mandateSigned(ctx context.Context, r *flows.Registration, at catalogue.Club) (bool, error) {
	mandate, err := s.cfg.Club.GetMandate(ctx, at.Scope, r.Mandate.IRI)
	return err == nil && mandate.Signed(), err
}

// settleSignature stores a signature and, once it is signed, the cart that follows from it.
func (s *Service) settleSignature(ctx context.Context, r *flows.Registration, at catalogue.Club, signature flows.Signature) (*flows.Registration, error) {
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
		s.cfg.Codes.Entered(ctx, club.NewIRI(r.ClientToken, "clubs", r.ClubID), signature)
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
			break
		}
		if theirs := r.Mandate.Signature; theirs.Ended() && signature.State != flows.SignatureSigned {
			return r, nil
		}
		signature.Attempts = max(signature.Attempts, r.Mandate.Attempts)
	}
	return r, flows.StorageFailed(flows.ErrConflict)
}

// CancelSignature cancels the code. A signed mandate stays signed.
func (s *Service) CancelSignature(ctx context.Context, id, token string) (flows.View, error) {
	r, p, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Mandate == nil:
		return flows.View{}, flows.NoCodeError()
	case r.Mandate.State == flows.SignatureCancelled:
		return s.view(r, p), nil
	}
	if r, err = s.confirmed(ctx, r, at); err != nil {
		return flows.View{}, err
	}
	if r.Mandate.State == flows.SignatureSigned {
		return flows.View{}, &flows.Error{Code: flows.MandateSigned, Detail: "The mandate is already signed. Please ask the club to revoke it."}
	}
	s.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
	signature := r.Mandate.Signature
	signature.State, signature.Request = flows.SignatureCancelled, ""
	if r, err = s.keepSignature(ctx, r, signature); err != nil {
		return flows.View{}, err
	}
	return s.view(r, p), nil
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
		return flows.View{}, &flows.Error{Code: flows.NoCode, Detail: "The signature was cancelled. Please enter the bank account again."}
	case now.Before(r.Mandate.ResendAfter):
		return flows.View{}, &flows.Error{Code: flows.SMSLimited, RetryAfter: r.Mandate.ResendAfter.Sub(now), Detail: "The last code was sent a moment ago. Please wait before you ask for another one."}
	}
	allowed, err := s.cfg.Codes.Reserve(ctx, at.IRI, smsSubjects(r, r.Mandate.Phone)...)
	if err != nil {
		return flows.View{}, err
	}
	s.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
	return s.sendCode(ctx, r, p, at, allowed)
}

// confirmed finds out whether an unconfirmed signature was made before anything replaces it: a second
// mandate would leave the first one signed. It fails with ClubSystemUnavailable while that is not known.
func (s *Service) confirmed(ctx context.Context, r *flows.Registration, at catalogue.Club) (*flows.Registration, error) {
	if r.Mandate == nil || r.Mandate.State != flows.SignatureUnconfirmed {
		return r, nil
	}
	if r = s.refreshMandate(ctx, r, at); r.Mandate != nil && r.Mandate.State == flows.SignatureUnconfirmed {
		return r, &flows.Error{Code: flows.ClubSystemUnavailable, Detail: "It is not known yet whether your mandate is signed. Please try again in a moment, or ask the club's staff."}
	}
	return r, nil
}

// refreshMandate finds out whether an unconfirmed signature was made.
func (s *Service) refreshMandate(ctx context.Context, r *flows.Registration, at catalogue.Club) *flows.Registration {
	signed, err := s.mandateSigned(ctx, r, at)
	if err != nil {
		return r
	}
	signature := r.Mandate.Signature
	signature.State = flows.SignatureAwaiting
	if signed {
		signature.State = flows.SignatureSigned
	}
	settled, err := s.settleSignature(ctx, r, at, signature)
	if err != nil {
		return r
	}
	return settled
}

// dropMandate cancels and drops the mandate after the buyer has changed.
func (s *Service) dropMandate(ctx context.Context, r *flows.Registration, at catalogue.Club) {
	if r.Mandate != nil {
		s.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
		r.Mandate = nil
	}
}

// smsSubjects are what codes are counted by: the contact, the registration, which can have any number
// of contacts, and the phone, which can have any number of registrations.
func smsSubjects(r *flows.Registration, phone string) []string {
	return []string{string(r.Contact.IRI), "registration " + r.ID, phone}
}
