package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// GetTransfer serves GET /v1/me/transfer.
func (s *Server) GetTransfer(ctx context.Context, _ api.GetTransferRequestObject) (api.GetTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Get(ctx, *callerOf(ctx).contact)
	if transfer == nil {
		return api.GetTransfer204Response{}, err
	}
	return api.GetTransfer200JSONResponse(transferOf(ctx, transfer)), err
}

// StartTransfer serves POST /v1/me/transfer.
func (s *Server) StartTransfer(ctx context.Context, request api.StartTransferRequestObject) (api.StartTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Start(ctx, *callerOf(ctx).contact, request.Body.ClubId)
	return api.StartTransfer201JSONResponse(transferOf(ctx, transfer)), err
}

// SignTransfer serves POST /v1/me/transfer/signature.
func (s *Server) SignTransfer(ctx context.Context, request api.SignTransferRequestObject) (api.SignTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Sign(ctx, *callerOf(ctx).contact, request.Body.Code)
	return api.SignTransfer201JSONResponse(transferOf(ctx, transfer)), err
}

// transferOf converts a transfer; nil, of a call that failed, becomes the zero value.
func transferOf(ctx context.Context, t *flows.Transfer) api.Transfer {
	if t == nil {
		return api.Transfer{}
	}
	out := api.Transfer{ClubId: t.ClubID, State: api.SignatureState(t.State)}
	out.Message, out.MessageCode, out.MessageParams = textsOf(ctx).message(t.Message(), nil)
	out.AttemptsLeft, out.ResendAfter = signatureOf(t.Signature)
	return out
}
