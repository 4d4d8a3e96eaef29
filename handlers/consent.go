package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/member"
)

// ListConsents serves GET /v1/me/consents.
func (s *Server) ListConsents(ctx context.Context, _ api.ListConsentsRequestObject) (api.ListConsentsResponseObject, error) {
	consents, receipts, err := s.cfg.Contacts.Consents(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	list := api.ListConsents200JSONResponse{Items: make([]api.Consent, 0, len(consents)), Receipts: each(receipts, receiptOf)}
	for _, consent := range consents {
		if isPublicID(consent.ID) {
			list.Items = append(list.Items, consentOf(consent))
		}
	}
	return list, nil
}

// ChangeConsents serves PATCH /v1/me/consents.
func (s *Server) ChangeConsents(ctx context.Context, request api.ChangeConsentsRequestObject) (api.ChangeConsentsResponseObject, error) {
	requests := make([]member.ConsentRequest, len(request.Body.Items))
	for i, item := range request.Body.Items {
		requests[i] = member.ConsentRequest{ID: item.Id, Authorized: item.Authorized}
	}
	changes, receipt, err := s.cfg.Contacts.ChangeConsents(ctx, *callerOf(ctx).contact, requests, value(request.Body.Wording))
	if err != nil {
		return nil, err
	}
	response := api.ChangeConsents200JSONResponse{Items: make([]api.ConsentChange, len(changes))}
	for i, change := range changes {
		response.Items[i] = api.ConsentChange{Id: change.ID, Code: api.ConsentChangeCode(change.Code)}
		if change.Consent != nil {
			response.Items[i].Consent = new(consentOf(*change.Consent))
		}
	}
	if receipt != nil {
		response.Receipt = new(receiptOf(*receipt))
	}
	return response, nil
}

func consentOf(consent flows.Consent) api.Consent {
	return api.Consent{Id: consent.ID, Channel: singleLine(consent.Channel), Type: singleLine(consent.Type), Authorized: consent.Authorized, Locked: consent.Locked()}
}

func receiptOf(receipt flows.Receipt) api.ConsentReceipt {
	return api.ConsentReceipt{
		Id: receipt.ID, At: receipt.At, Wording: optional(receipt.Wording),
		Items: each(receipt.Items, func(c flows.Consent) api.ConsentWord {
			return api.ConsentWord{Id: c.ID, Channel: singleLine(c.Channel), Type: singleLine(c.Type), Authorized: c.Authorized}
		}),
	}
}
