package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/registration"
)

// ListConsents serves GET /v1/me/consents.
func (s *Server) ListConsents(ctx context.Context, _ api.ListConsentsRequestObject) (api.ListConsentsResponseObject, error) {
	consents, receipts, err := s.cfg.Registrations.Contacts.Consents(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	return api.ListConsents200JSONResponse(consentsOf(consents, receipts)), nil
}

// ListBuyersConsents serves GET /v1/registrations/{id}/consents.
func (s *Server) ListBuyersConsents(
	ctx context.Context, request api.ListBuyersConsentsRequestObject,
) (api.ListBuyersConsentsResponseObject, error) {
	consents, receipts, err := s.cfg.Registrations.Consents(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.ListBuyersConsents200JSONResponse(consentsOf(consents, receipts)), nil
}

func consentsOf(consents []flows.Consent, receipts []flows.Receipt) api.ConsentList {
	list := api.ConsentList{Items: make([]api.Consent, 0, len(consents)), Receipts: each(receipts, receiptOf)}
	for _, consent := range consents {
		if isPublicID(consent.ID) {
			list.Items = append(list.Items, consentOf(consent))
		}
	}
	return list
}

// ChangeConsents serves PATCH /v1/me/consents.
func (s *Server) ChangeConsents(ctx context.Context, request api.ChangeConsentsRequestObject) (api.ChangeConsentsResponseObject, error) {
	requests, wording := consentRequestsOf(request.Body), value(request.Body.Wording)
	changes, receipt, err := s.cfg.Registrations.Contacts.ChangeConsents(ctx, *callerOf(ctx).contact, requests, wording)
	if err != nil {
		return nil, err
	}
	return api.ChangeConsents200JSONResponse(consentChangesOf(changes, receipt)), nil
}

// ChangeBuyersConsents serves PATCH /v1/registrations/{id}/consents.
func (s *Server) ChangeBuyersConsents(
	ctx context.Context, request api.ChangeBuyersConsentsRequestObject,
) (api.ChangeBuyersConsentsResponseObject, error) {
	requests, wording := consentRequestsOf(request.Body), value(request.Body.Wording)
	changes, receipt, err := s.cfg.Registrations.ChangeConsents(ctx, request.Id, callerOf(ctx).token, requests, wording)
	if err != nil {
		return nil, err
	}
	return api.ChangeBuyersConsents200JSONResponse(consentChangesOf(changes, receipt)), nil
}

func consentRequestsOf(body *api.ChangeConsents) []registration.ConsentRequest {
	return each(body.Items, func(item api.ConsentWish) registration.ConsentRequest {
		return registration.ConsentRequest{ID: item.Id, Authorized: item.Authorized}
	})
}

func consentChangesOf(changes []registration.ConsentChange, receipt *flows.Receipt) api.ConsentChanges {
	out := api.ConsentChanges{Items: make([]api.ConsentChange, len(changes))}
	for i, change := range changes {
		out.Items[i] = api.ConsentChange{Id: change.ID, Code: api.ConsentChangeCode(change.Code)}
		if change.Consent != nil {
			out.Items[i].Consent = new(consentOf(*change.Consent))
		}
	}
	if receipt != nil {
		out.Receipt = new(receiptOf(*receipt))
	}
	return out
}

func consentOf(consent flows.Consent) api.Consent {
	return api.Consent{
		Id:         consent.ID,
		Channel:    singleLine(consent.Channel),
		Type:       singleLine(consent.Type),
		Authorized: consent.Authorized,
		Locked:     consent.Locked(),
	}
}

func receiptOf(receipt flows.Receipt) api.ConsentReceipt {
	return api.ConsentReceipt{
		Id: receipt.ID, At: flows.Instant(receipt.At), Wording: optional(receipt.Wording),
		Items: each(receipt.Items, func(c flows.Consent) api.ConsentWord {
			return api.ConsentWord{Id: c.ID, Channel: singleLine(c.Channel), Type: singleLine(c.Type), Authorized: c.Authorized}
		}),
	}
}
