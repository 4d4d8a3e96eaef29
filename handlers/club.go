package handlers

import (
	"context"

	"frontdesk/api"
)

// ListClubs serves GET /v1/clubs.
func (s *Server) ListClubs(ctx context.Context, _ api.ListClubsRequestObject) (api.ListClubsResponseObject, error) {
	clubs, err := s.cfg.Catalogue.Clubs(ctx, callerOf(ctx).clientToken)
	if err != nil {
		return nil, err
	}
	list := api.ListClubs200JSONResponse{Items: make([]api.Club, len(clubs))}
	for i, club := range clubs {
		list.Items[i] = api.Club{Id: club.IRI.ID(), Name: club.Name, Alias: optional(club.Alias), Path: orEmpty(club.Path)}
	}
	return list, nil
}

// optional gives a member that is left out when it is empty.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// value reads an optional member.
func value[T any](member *T) (v T) {
	if member != nil {
		v = *member
	}
	return v
}

// orEmpty gives a list that is [] and never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
