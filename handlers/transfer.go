package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// GetTransfer serves GET /v1/me/transfer.
func (s *Server) GetTransfer(ctx context.Context, _ api.GetTransferRequestObject) (api.GetTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Get(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	if transfer == nil {
		return api.GetTransfer204Response{}, nil
	}
	return api.GetTransfer200JSONResponse(s.transferOf(ctx, transfer)), nil
}

// StartTransfer serves POST /v1/me/transfer.
func (s *Server) StartTransfer(ctx context.Context, request api.StartTransferRequestObject) (api.StartTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Start(ctx, *callerOf(ctx).contact, request.Body.ClubId)
	if err != nil {
		return nil, err
	}
	return api.StartTransfer201JSONResponse(s.transferOf(ctx, transfer)), nil
}

// SignTransfer serves POST /v1/me/transfer/signature.
func (s *Server) SignTransfer(ctx context.Context, request api.SignTransferRequestObject) (api.SignTransferResponseObject, error) {
	transfer, err := s.cfg.Registrations.Transfers.Sign(ctx, *callerOf(ctx).contact, request.Body.Code)
	if err != nil {
		return nil, err
	}
	return api.SignTransfer201JSONResponse(s.transferOf(ctx, transfer)), nil
}

func (s *Server) transferOf(ctx context.Context, t *flows.Transfer) api.Transfer {
	out := api.Transfer{ClubId: t.ClubID, State: api.SignatureState(t.State)}
	if code := t.Message(); code != "" {
		out.Message = new(textsOf(ctx).message(code, nil))
	}
	out.AttemptsLeft, out.ResendIn = signatureOf(t.Signature, s.cfg.Now())
	return out
}
