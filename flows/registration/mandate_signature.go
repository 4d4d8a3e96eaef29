package registration

import (
	"context"
	"errors"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/signature"
	"frontdesk/upstream/club"
)

const (
	// mandateRefreshEvery is how often somebody who waits may cause a look at a mandate
	// whose signature is not confirmed.
	mandateRefreshEvery = 2 * time.Second
	// maxSaveAttempts: a change that another one overtook is made again; more than a few
	// in a row is somebody hammering.
	maxSaveAttempts = 4
)

// sendCode stores that a code is asked for, asks for it, and stores what came of it.
func (f *Service) sendCode(ctx context.Context, r *flows.Registration, p *flows.Payment, at catalogue.Club, allowed signature.Reservation) (flows.View, error) {
	r.Mandate.Begin(allowed.ID, allowed.ResendAfter)
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		f.cfg.Codes.Release(ctx, allowed)
		return flows.View{}, flows.StorageFailed(err)
	}
	signature := r.Mandate.Signature
	told := f.cfg.Codes.Send(ctx, &signature, allowed, func(ctx context.Context) (club.SignatureRequest, error) {
		return f.cfg.Club.CreateSignatureRequest(ctx, at.Scope, r.Mandate.Contact, r.Mandate.IRI)
	})
	r, err := f.keepSignature(ctx, r, signature)
	if err != nil {
		return flows.View{}, err
	}
	return f.view(r, p), told
}

// SignMandate enters the code from the SMS.
func (f *Service) SignMandate(ctx context.Context, id, token, code string) (flows.View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Mandate == nil:
		return flows.View{}, flows.Signature{}.NoCodeError()
	case r.Mandate.State == flows.SignatureSigned:
		return f.view(r, p), nil
	}
	if err := f.cfg.Codes.Enter(&r.Mandate.Signature, code); err != nil {
		return flows.View{}, err
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		return flows.View{}, flows.StorageFailed(err)
	}
	signature := r.Mandate.Signature
	told := f.cfg.Codes.Check(ctx, at.Scope, &signature, code, func(ctx context.Context) (bool, error) { return f.mandateSigned(ctx, r, at) })
	r, err = f.settleSignature(ctx, r, at, signature)
	if err != nil {
		return flows.View{}, err
	}
	return f.view(r, p), told
}

// mandateSigned looks the mandate up at the club system.
func (f *Service) mandateSigned(ctx context.Context, r *flows.Registration, at catalogue.Club) (bool, error) {
	mandate, err := f.cfg.Club.GetMandate(ctx, at.Scope, r.Mandate.IRI)
	return err == nil && mandate.Signed(), err
}

// settleSignature stores how a signature stands, with the cart as it is then.
func (f *Service) settleSignature(ctx context.Context, r *flows.Registration, at catalogue.Club, signature flows.Signature) (*flows.Registration, error) {
	r, err := f.keepSignature(ctx, r, signature)
	if err != nil || signature.State != flows.SignatureSigned || r.Sale == "" {
		return r, err
	}
	seen := *r
	if err := f.readCart(ctx, r, at); err != nil {
		f.cfg.Log.WarnContext(ctx, "cart not read after the signature", "error", err)
		return &seen, nil
	}
	if err := f.cfg.Store.SaveRegistration(ctx, r); err != nil {
		f.cfg.Log.WarnContext(ctx, "cart not saved after the signature", "error", err)
		return &seen, nil // the signature is stored, and the cart is read again before it is paid
	}
	return r, nil
}

// keepSignature stores how the signature of a registration's mandate stands.
// Whoever changed the registration meanwhile changed something else, so it is
// noted in theirs; Conflict when they have another mandate, or another code.
func (f *Service) keepSignature(ctx context.Context, r *flows.Registration, signature flows.Signature) (*flows.Registration, error) {
	mandate := r.Mandate.IRI
	if signature.State == flows.SignatureSigned {
		f.cfg.Codes.Entered(ctx, club.NewIRI(r.ClientToken, "clubs", r.ClubID), signature)
	}
	for range maxSaveAttempts {
		r.Mandate.Signature = signature
		if signature.State == flows.SignatureSigned {
			r.Cart.MandateSigned()
		}
		err := f.cfg.Store.SaveRegistration(ctx, r)
		if !errors.Is(err, flows.ErrConflict) {
			return r, flows.StorageFailed(err)
		}
		if r, _, err = f.cfg.Store.Registration(ctx, r.ID); err != nil {
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

// CancelSignature gives the signature up: the code signs nothing any more. A
// mandate that is signed stays signed.
func (f *Service) CancelSignature(ctx context.Context, id, token string) (flows.View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Mandate == nil:
		return flows.View{}, flows.Signature{}.NoCodeError()
	case r.Mandate.State == flows.SignatureCancelled:
		return f.view(r, p), nil
	}
	if r.Mandate.State == flows.SignatureUnconfirmed {
		r = f.refreshMandate(ctx, r, at)
	}
	if r.Mandate.State == flows.SignatureSigned {
		return flows.View{}, &flows.Error{Code: flows.MandateSigned, Detail: "The mandate is signed already. Please ask the club to revoke it."}
	}
	f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
	signature := r.Mandate.Signature
	signature.State, signature.Request = flows.SignatureCancelled, ""
	if r, err = f.keepSignature(ctx, r, signature); err != nil {
		return flows.View{}, err
	}
	return f.view(r, p), nil
}

// ResendCode has another code sent for the mandate; the one before is cancelled.
func (f *Service) ResendCode(ctx context.Context, id, token string) (flows.View, error) {
	r, p, at, err := f.editable(ctx, id, token)
	if err != nil {
		return flows.View{}, err
	}
	if r.Mandate == nil {
		return flows.View{}, flows.Signature{}.NoCodeError()
	}
	if r.Mandate.State == flows.SignatureUnconfirmed {
		r = f.refreshMandate(ctx, r, at)
	}
	switch now := f.cfg.Now(); {
	case r.Mandate.State == flows.SignatureSigned:
		return f.view(r, p), nil
	case !r.Mandate.Resendable():
		return flows.View{}, &flows.Error{Code: flows.NoCode, Detail: "The signature was cancelled. Please give the bank account again."}
	case now.Before(r.Mandate.ResendAfter):
		return flows.View{}, &flows.Error{Code: flows.SMSLimited, RetryAfter: r.Mandate.ResendAfter.Sub(now), Detail: "The last code was sent a moment ago."}
	}
	allowed, err := f.cfg.Codes.Reserve(ctx, at.IRI, smsSubjects(r, r.Mandate.Phone)...)
	if err != nil {
		return flows.View{}, err
	}
	f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
	return f.sendCode(ctx, r, p, at, allowed)
}

// refreshMandate finds out whether a signature whose answer was lost is there.
func (f *Service) refreshMandate(ctx context.Context, r *flows.Registration, at catalogue.Club) *flows.Registration {
	signed, err := f.mandateSigned(ctx, r, at)
	if err != nil {
		return r
	}
	signature := r.Mandate.Signature
	signature.State = flows.SignatureAwaiting
	if signed {
		signature.State = flows.SignatureSigned
	}
	settled, err := f.settleSignature(ctx, r, at, signature)
	if err != nil {
		return r
	}
	return settled
}

// confirmMandate looks, for a visitor who waits, whether an unconfirmed
// signature is there. Their answer does not depend on it.
func (f *Service) confirmMandate(ctx context.Context, r *flows.Registration) *flows.Registration {
	first, err := f.cfg.Store.Once(ctx, "mandate:"+r.ID, mandateRefreshEvery)
	if err != nil || !first {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, advanceWait)
	defer cancel()
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return r
	}
	return f.refreshMandate(ctx, r, at)
}

// dropMandate forgets the mandate of a contact who is not the buyer any more.
func (f *Service) dropMandate(ctx context.Context, r *flows.Registration, at catalogue.Club) {
	if r.Mandate != nil {
		f.cfg.Codes.Cancel(ctx, at.Scope, r.Mandate.Signature)
		r.Mandate = nil
	}
}

// smsSubjects are whose codes are counted: the contact's, the registration's,
// whose holder can make any number of contacts, and the phone's, for which
// anybody can make any number of registrations.
func smsSubjects(r *flows.Registration, phone string) []string {
	return []string{string(r.Contact.IRI), "registration " + r.ID, phone}
}
