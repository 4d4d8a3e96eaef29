package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// ListDebitDays serves GET /v1/clubs/{clubId}/debit-days.
func (s *Server) ListDebitDays(ctx context.Context, request api.ListDebitDaysRequestObject) (api.ListDebitDaysResponseObject, error) {
	days, err := s.cfg.Catalogue.DebitDays(ctx, flows.DebitDaysQuery{
		ClientToken: callerOf(ctx).clientToken, ClubID: request.ClubId, StartDate: value(request.Params.StartDate), Now: s.cfg.Now(),
	})
	if err != nil {
		return nil, err
	}
	list := api.ListDebitDays200JSONResponse{Items: make([]api.DebitDay, len(days))}
	for i, day := range days {
		list.Items[i] = api.DebitDay{Day: day.Day, Date: day.Date}
	}
	return list, nil
}
