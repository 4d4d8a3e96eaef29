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
	list := api.ListConsents200JSONResponse{Items: make([]api.Consent, 0, len(consents)), Receipts: make([]api.ConsentReceipt, len(receipts))}
	for _, consent := range consents {
		if isPublicID(consent.ID) {
			list.Items = append(list.Items, consentOf(consent))
		}
	}
	for i, receipt := range receipts {
		list.Receipts[i] = receiptOf(receipt)
	}
	return list, nil
}

// ChangeConsents serves PATCH /v1/me/consents.
func (s *Server) ChangeConsents(ctx context.Context, request api.ChangeConsentsRequestObject) (api.ChangeConsentsResponseObject, error) {
	wishes := make([]member.ConsentRequest, len(request.Body.Items))
	for i, item := range request.Body.Items {
		wishes[i] = member.ConsentRequest{ID: item.Id, Authorized: item.Authorized}
	}
	changes, receipt, err := s.cfg.Contacts.ChangeConsents(ctx, *callerOf(ctx).contact, wishes, value(request.Body.Wording))
	if err != nil {
		return nil, err
	}
	answer := api.ChangeConsents200JSONResponse{Items: make([]api.ConsentChange, len(changes))}
	for i, change := range changes {
		answer.Items[i] = api.ConsentChange{Id: change.ID, Code: api.ConsentChangeCode(change.Code)}
		if change.Consent != nil {
			consent := consentOf(*change.Consent)
			answer.Items[i].Consent = &consent
		}
	}
	if receipt != nil {
		kept := receiptOf(*receipt)
		answer.Receipt = &kept
	}
	return answer, nil
}

func consentOf(consent flows.Consent) api.Consent {
	return api.Consent{Id: consent.ID, Channel: singleLine(consent.Channel), Type: singleLine(consent.Type), Authorized: consent.Authorized, Locked: consent.Locked()}
}

func receiptOf(receipt flows.Receipt) api.ConsentReceipt {
	out := api.ConsentReceipt{Id: receipt.ID, At: receipt.At, Wording: optional(receipt.Wording), Items: make([]api.ConsentWord, len(receipt.Items))}
	for i, said := range receipt.Items {
		out.Items[i] = api.ConsentWord{Id: said.ID, Channel: singleLine(said.Channel), Type: singleLine(said.Type), Authorized: said.Authorized}
	}
	return out
}
