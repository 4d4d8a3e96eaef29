package handlers

import (
	"context"
	"time"

	"frontdesk/api"
)

// GetMe serves GET /v1/me.
func (s *Server) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	known, err := s.cfg.Registrations.Contacts.Me(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	me := api.GetMe200JSONResponse{
		ClubId: known.HomeClub.IRI.ID(),
		Number: singleLine(known.Number),
		Status: singleLine(known.Status),
		Tags:   []api.Tag{},
		Debt:   money(known.Debt, known.HomeClub.Currency),
	}
	for _, tag := range known.Tags[:min(len(known.Tags), maxTags)] {
		me.Tags = append(me.Tags, api.Tag{Name: singleLine(tag.Name), ValidFrom: day(tag.ValidFrom), ValidThrough: day(tag.ValidThrough)})
	}
	return me, nil
}

// day returns a valid date; nil for any other text.
func day(text string) *string {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return nil
	}
	return &text
}
