package handlers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// ListClubs serves GET /v1/clubs.
func (s *Server) ListClubs(ctx context.Context, request api.ListClubsRequestObject) (api.ListClubsResponseObject, error) {
	clubs, read, err := s.cfg.Catalogue.Clubs(ctx, callerOf(ctx).clientToken)
	if err != nil {
		return nil, err
	}
	return s.cacheResponse(ctx, flows.Buyer{}, read, exchangeOf(ctx).At.Add(dayless), func(stale *bool) (any, error) {
		clubs, next, err := clubsFrom(clubs, value(request.Params.Cursor), value(request.Params.Limit))
		if err != nil {
			return nil, err
		}
		list := api.ClubList{Stale: stale, Items: make([]api.Club, 0, len(clubs)), Next: optional(next)}
		for _, club := range clubs {
			list.Items = append(list.Items, api.Club{
				Id:       club.IRI.ID(),
				Name:     singleLine(club.Name),
				Alias:    optional(singleLine(club.Alias)),
				Path:     each(club.Path[:min(len(club.Path), maxParents)], singleLine),
				Address:  postalAddressOf(club.Address),
				Location: (*api.Location)(club.Location),
			})
		}
		return list, nil
	})
}

// clubsFrom returns a page of the clubs that have a public id, and the cursor of the next page. A cursor is the id of the
// page's first club, so that a club that is added or removed elsewhere moves no other one. 0 is no limit.
func clubsFrom(all []catalogue.Club, cursor string, limit int) (page []catalogue.Club, next string, err error) {
	for _, club := range all {
		if isPublicID(club.IRI.ID()) {
			page = append(page, club)
		}
	}
	if cursor != "" {
		from := slices.IndexFunc(page, func(club catalogue.Club) bool { return club.IRI.ID() == cursor })
		if from < 0 {
			return nil, "", &flows.Error{Code: flows.InvalidRequest, Fields: fieldError(flows.InQuery+"cursor", flows.FieldCursor)}
		}
		page = page[from:]
	}
	if limit > 0 && limit < len(page) {
		next = page[limit].IRI.ID()
		page = page[:limit]
	}
	return page, next, nil
}

// GetClub serves GET /v1/clubs/{clubId}.
func (s *Server) GetClub(ctx context.Context, request api.GetClubRequestObject) (api.GetClubResponseObject, error) {
	club, read, err := s.cfg.Catalogue.Describe(ctx, callerOf(ctx).clientToken, request.ClubId)
	if err != nil {
		return nil, err
	}
	now := exchangeOf(ctx).At
	return s.cacheResponse(ctx, flows.Buyer{}, read, club.DayEnds(now), func(stale *bool) (any, error) {
		out := api.ClubDetails{
			Stale:         stale,
			Id:            club.IRI.ID(),
			Name:          singleLine(club.Name),
			Alias:         optional(singleLine(club.Alias)),
			Path:          each(club.Path[:min(len(club.Path), maxParents)], singleLine),
			Address:       postalAddressOf(club.Address),
			Location:      (*api.Location)(club.Location),
			TimeZone:      optional(club.TimeZone),
			Currency:      optional(currencyCode(club.Currency)),
			Phone:         optional(flows.SingleLine(club.Phone, maxPhoneText)),
			Email:         optional(flows.SingleLine(club.Email, maxEmail)),
			Url:           optional(club.URL),
			GuardianBelow: optional(club.GuardianBelow()),
			OpeningHours: each(club.OpeningHours, func(hours catalogue.OpeningHours) api.OpeningHours {
				return api.OpeningHours{
					Days:   each(hours.Days, func(day string) api.OpeningHoursDays { return api.OpeningHoursDays(day) }),
					Opens:  hours.Opens,
					Closes: hours.Closes,
				}
			}),
			Images: each(club.Images, func(image catalogue.Image) api.Image { return s.imageOf(ctx, image) }),
		}
		out.StartDates.Earliest, out.StartDates.Latest = club.StartDates(now, "")
		out.Creditor = new(creditorOf(club.CollectedBy(club.Name)))
		if trader := club.Trader; trader != nil {
			out.Trader = &api.Trader{
				Name:               trader.Name,
				LegalForm:          optional(trader.LegalForm),
				RegistrationNumber: optional(trader.RegistrationNumber),
				VatId:              optional(trader.VATID),
				Address:            postalAddressOf(trader.Address),
				Phone:              optional(trader.Phone),
				Email:              optional(trader.Email),
			}
		}
		return out, nil
	})
}

func postalAddressOf(address catalogue.Address) *api.PostalAddress {
	if address.City == "" {
		return nil
	}
	out := &api.PostalAddress{
		Street:     optional(singleLine(address.Street)),
		PostalCode: optional(singleLine(address.PostalCode)),
		City:       singleLine(address.City),
	}
	if country := strings.ToUpper(address.Country); isCode(country, 2) { // ISO 3166-1 alpha-2
		out.Country = &country
	}
	return out
}

// imageOf converts an image. A path is of a file that the gateway serves.
func (s *Server) imageOf(ctx context.Context, image catalogue.Image) api.Image {
	address := image.URL
	if strings.HasPrefix(address, "/") {
		address = s.home(exchangeOf(ctx).request) + address
	}
	return api.Image{Url: address, Alt: cmp.Or(image.Alt.In(textsOf(ctx).Tag), " ")}
}
