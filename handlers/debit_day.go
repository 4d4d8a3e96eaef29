package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// ListDebitDays serves GET /v1/clubs/{clubId}/debit-days.
func (s *Server) ListDebitDays(ctx context.Context, request api.ListDebitDaysRequestObject) (api.ListDebitDaysResponseObject, error) {
	days, read, err := s.cfg.Catalogue.DebitDays(ctx, catalogue.DebitDaysQuery{
		ClientToken: callerOf(ctx).clientToken, ClubID: request.ClubId, StartDate: value(request.Params.StartDate), Now: s.cfg.Now(),
	})
	if err != nil {
		return nil, err
	}
	days = days[:min(len(days), maxDays)]
	until := s.cfg.Catalogue.Details(request.ClubId).DayEnds(exchangeOf(ctx).At)
	return s.cacheResponse(ctx, flows.Buyer{}, read, until, func(stale *bool) (any, error) {
		return api.DebitDayList{
			Stale: stale,
			Items: each(days, func(day catalogue.DebitDay) api.DebitDay { return api.DebitDay{Day: day.Day, Date: day.Date} }),
		}, nil
	})
}
