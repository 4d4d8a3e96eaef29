package handlers

import (
	"context"

	"frontdesk/api"
	"frontdesk/flows"
)

// ListClubs serves GET /v1/clubs.
func (s *Server) ListClubs(ctx context.Context, _ api.ListClubsRequestObject) (api.ListClubsResponseObject, error) {
	clubs, read, err := s.cfg.Catalogue.Clubs(ctx, callerOf(ctx).clientToken)
	if err != nil {
		return nil, err
	}
	return s.cacheResponse(ctx, flows.Buyer{}, read, func() (any, error) {
		list := api.ClubList{Items: make([]api.Club, 0, len(clubs))}
		for _, club := range clubs {
			if !isPublicID(club.IRI.ID()) {
				continue
			}
			list.Items = append(list.Items, api.Club{
				Id: club.IRI.ID(), Name: singleLine(club.Name), Alias: optional(singleLine(club.Alias)),
				Path: each(firstN(club.Path, maxParents), singleLine),
			})
		}
		return list, nil
	})
}
