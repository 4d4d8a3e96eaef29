package handlers

import (
	"context"
	"math"
	"time"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// CreateMandate serves POST /v1/registrations/{id}/mandate.
func (s *Server) CreateMandate(ctx context.Context, request api.CreateMandateRequestObject) (api.CreateMandateResponseObject, error) {
	mandate := flows.NewMandate{
		Holder:    request.Body.Holder,
		IBAN:      request.Body.Iban,
		BIC:       value(request.Body.Bic),
		Bank:      value(request.Body.Bank),
		ValidFrom: value(request.Body.ValidFrom),
	}
	if a := request.Body.Address; a != nil {
		mandate.Address = &flows.Address{Street: a.Street, PostalCode: a.PostalCode, City: a.City, Country: a.Country}
	}
	view, err := s.cfg.Registrations.CreateMandate(ctx, request.Id, callerOf(ctx).token, mandate)
	if err != nil {
		return nil, err
	}
	return api.CreateMandate201JSONResponse(s.registrationOf(ctx, view)), nil
}

// SignMandate serves POST /v1/registrations/{id}/mandate/signature.
func (s *Server) SignMandate(ctx context.Context, request api.SignMandateRequestObject) (api.SignMandateResponseObject, error) {
	view, err := s.cfg.Registrations.SignMandate(ctx, request.Id, callerOf(ctx).token, request.Body.Code, textsOf(ctx).Tag)
	if err != nil {
		return nil, err
	}
	return api.SignMandate201JSONResponse(s.registrationOf(ctx, view)), nil
}

// CancelSignature serves DELETE /v1/registrations/{id}/mandate/signature.
func (s *Server) CancelSignature(ctx context.Context, request api.CancelSignatureRequestObject) (api.CancelSignatureResponseObject, error) {
	view, err := s.cfg.Registrations.CancelSignature(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CancelSignature200JSONResponse(s.registrationOf(ctx, view)), nil
}

// ResendCode serves POST /v1/registrations/{id}/mandate/signature/resend.
func (s *Server) ResendCode(ctx context.Context, request api.ResendCodeRequestObject) (api.ResendCodeResponseObject, error) {
	view, err := s.cfg.Registrations.ResendCode(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.ResendCode201JSONResponse(s.registrationOf(ctx, view)), nil
}

func creditorOf(by flows.Creditor) api.Creditor {
	return api.Creditor{
		Name:       singleLine(by.Name),
		Identifier: optional(by.Identifier),
		Address:    postalAddressOf(catalogue.Address(by.Address)),
	}
}

func mandateOf(m *flows.Mandate, terms flows.MandateTerms, now time.Time) api.Mandate {
	out := api.Mandate{
		State:               api.SignatureState(m.State),
		Iban:                m.Masked,
		Reference:           optional(flows.SingleLine(m.Reference, maxReference)),
		Type:                api.Recurrent,
		PreNotificationDays: terms.NoticeDays,
		Text:                terms.Text,
	}
	out.Creditor = creditorOf(terms.Creditor)
	if m.State == flows.SignatureSigned && m.Proof != nil {
		out.SignedAt = new(flows.Instant(m.Proof.At))
	}
	out.AttemptsLeft, out.ResendIn = signatureOf(m.Signature, now)
	return out
}

// maxReference is the length of a mandate's reference in SEPA (AT-T001), in characters.
const maxReference = 35

// signatureOf returns how many codes can be entered and in how many seconds a new one can be requested; nil where
// that is over.
func signatureOf(s flows.Signature, now time.Time) (attemptsLeft, resendIn *int) {
	if s.Resendable() {
		resendIn = new(max(0, int(math.Ceil(s.ResendAfter.Sub(now).Seconds()))))
	}
	return optional(s.AttemptsLeft()), resendIn
}
