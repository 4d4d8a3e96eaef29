package handlers

import (
	"cmp"
	"context"
	"time"

	"frontdesk/api"
	"frontdesk/flows/registration"
	"frontdesk/flows/schedule"
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

// ListMemberships serves GET /v1/me/memberships.
func (s *Server) ListMemberships(ctx context.Context, _ api.ListMembershipsRequestObject) (api.ListMembershipsResponseObject, error) {
	found, err := s.cfg.Statements.Memberships(ctx, *callerOf(ctx).contact)
	if err != nil {
		return nil, err
	}
	language := textsOf(ctx).Tag
	return api.ListMemberships200JSONResponse{Items: each(found.Items, func(one registration.Membership) api.Membership {
		return api.Membership{
			Id:           one.ID,
			Name:         singleLine(found.Club.OfferName(one.OfferID, language, cmp.Or(one.Name, found.Club.Name))),
			Since:        day(one.Since),
			EarliestEnd:  day(one.EarliestEnd),
			EndDate:      day(one.EndDate),
			Remaining:    remainingOf(one.Remaining, one.Currency),
			Cancellation: api.CancellationWay(one.Cancellation),
		}
	})}, nil
}

func remainingOf(left *schedule.Remaining, currency string) *api.RemainingDebits {
	if left == nil {
		return nil
	}
	return &api.RemainingDebits{
		Debits: each(left.Debits, func(debit schedule.Debit) api.RemainingDebit {
			return api.RemainingDebit{
				Date: debit.Date.String(), Amount: money(debit.Amount, currency), Basis: api.ScheduleBasis(debit.Basis),
			}
		}),
		Total: money(left.Total, currency),
		Basis: api.ScheduleBasis(left.Basis),
		Rules: rulesOf(left.Verdict),
	}
}

// day returns a valid date; nil for any other text.
func day(text string) *string {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return nil
	}
	return &text
}
