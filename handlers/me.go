package handlers

import (
	"context"

	"frontdesk/api"
)

// GetMe serves GET /v1/me.
func (s *Server) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	known, err := s.cfg.Contacts.Me(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	me := api.GetMe200JSONResponse{
		ClubId: known.At.IRI.ID(), Number: known.Number, Status: known.Status,
		Tags: make([]api.Tag, len(known.Tags)), Debt: money(known.Debt, known.At.Currency),
	}
	for i, tag := range known.Tags {
		me.Tags[i] = api.Tag{Name: tag.Name, ValidFrom: optional(tag.ValidFrom), ValidThrough: optional(tag.ValidThrough)}
	}
	return me, nil
}
