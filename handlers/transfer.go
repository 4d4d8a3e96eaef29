package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// StartTransfer serves POST /v1/me/transfer.
func (s *Server) StartTransfer(ctx context.Context, request api.StartTransferRequestObject) (api.StartTransferResponseObject, error) {
	transfer, err := s.cfg.Transfers.Start(ctx, *callerOf(ctx).contact, request.Body.ClubId)
	if err != nil {
		return nil, err
	}
	return api.StartTransfer201JSONResponse(transferOf(transfer)), nil
}

// SignTransfer serves POST /v1/me/transfer/signature.
func (s *Server) SignTransfer(ctx context.Context, request api.SignTransferRequestObject) (api.SignTransferResponseObject, error) {
	transfer, err := s.cfg.Transfers.Sign(ctx, *callerOf(ctx).contact, request.Body.Code)
	if err != nil {
		return nil, err
	}
	return api.SignTransfer201JSONResponse(transferOf(transfer)), nil
}

// transferOf puts a move into the words of the contract.
func transferOf(t *flows.Transfer) api.Transfer {
	out := api.Transfer{ClubId: t.ClubID, State: api.SignatureState(t.State), Message: optional(t.Message())}
	out.AttemptsLeft, out.ResendAfter = signatureOf(t.Signature)
	return out
}
