package handlers

import (
	"context"
	"strconv"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/schedule"
)

// productsPerPage is the club system's own page size, so that a page here is not slower than one there.
const productsPerPage = 30

// webChannel is the catalogue for visitors who are not at the club.
const webChannel = "web"

// ListProducts serves GET /v1/clubs/{clubId}/products.
func (s *Server) ListProducts(ctx context.Context, request api.ListProductsRequestObject) (api.ListProductsResponseObject, error) {
	query, err := s.productQuery(ctx, request.ClubId, request.Params.Channel)
	if err != nil {
		return nil, err
	}
	query.Type, query.Date = string(value(request.Params.Type)), value(request.Params.Date)
	products, read, err := s.cfg.Catalogue.Products(ctx, query)
	if err != nil {
		return nil, err
	}
	club := s.cfg.Catalogue.Details(request.ClubId)
	return s.cacheResponse(ctx, query.Buyer, read, club.DayEnds(exchangeOf(ctx).At), func(stale *bool) (any, error) {
		return s.pageOf(ctx, products, stale, value(request.Params.Cursor), club)
	})
}

// GetOffer serves GET /v1/clubs/{clubId}/offers/{offerId}.
func (s *Server) GetOffer(ctx context.Context, request api.GetOfferRequestObject) (api.GetOfferResponseObject, error) {
	query, err := s.productQuery(ctx, request.ClubId, request.Params.Channel)
	if err != nil {
		return nil, err
	}
	product, read, err := s.cfg.Catalogue.ProductOf(ctx, query, request.OfferId)
	if err != nil {
		return nil, err
	}
	club := s.cfg.Catalogue.Details(request.ClubId)
	return s.cacheResponse(ctx, query.Buyer, read, club.DayEnds(exchangeOf(ctx).At), func(stale *bool) (any, error) {
		out := s.productOf(ctx, product, club)
		out.Stale = stale
		return out, nil
	})
}

// productQuery selects the catalogue of a club for the caller. Channels other than the web are for staff.
func (s *Server) productQuery(ctx context.Context, clubID string, channel *api.Channel) (query catalogue.ProductQuery, err error) {
	who := callerOf(ctx)
	query = catalogue.ProductQuery{ClientToken: who.clientToken, ClubID: clubID, Channel: webChannel}
	if channel != nil && *channel != webChannel {
		if !who.staff {
			return query, &flows.Error{
				Code:   flows.StaffOnly,
				Detail: flows.DetailCatalogueStaffOnly,
				Fields: fieldError(flows.InQuery+"channel", flows.FieldStaffKey),
			}
		}
		query.Channel = string(*channel)
	}
	if who.contact != nil {
		query.Buyer, err = s.cfg.Registrations.Contacts.Buyer(ctx, *who.contact)
	}
	return query, err
}

// pageOf returns a page of a catalogue. Its cursor is the index of its first product.
func (s *Server) pageOf(
	ctx context.Context, products []catalogue.Product, stale *bool, cursor string, club catalogue.Details,
) (any, error) {
	from, _ := strconv.Atoi(cursor)
	if cursor != "" && (from < 1 || from >= len(products) || strconv.Itoa(from) != cursor || from%productsPerPage != 0) {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: fieldError(flows.InQuery+"cursor", flows.FieldCursor)}
	}
	to := min(from+productsPerPage, len(products))
	page := api.ProductList{Stale: stale, Items: make([]api.Product, 0, to-from)}
	for _, product := range products[from:to] {
		if isPublicID(product.IRI.ID()) && api.ProductType(product.Type).Valid() {
			page.Items = append(page.Items, s.productOf(ctx, product, club))
		}
	}
	if to < len(products) {
		page.Next = optional(strconv.Itoa(to))
	}
	return page, nil
}

func (s *Server) productOf(ctx context.Context, product catalogue.Product, club catalogue.Details) api.Product {
	id, language := product.IRI.ID(), textsOf(ctx).Tag
	out := api.Product{
		Id:          id,
		Name:        singleLine(club.ProductName(id, language, product.Name)),
		Description: optional(multiLine(club.ProductDescription(id, language, product.Description))),
		Type:        api.ProductType(product.Type),
		Offers:      make([]api.Offer, 0, len(product.Offers)),
	}
	for _, offer := range product.Offers {
		if isPublicID(offer.IRI.ID()) {
			out.Offers = append(out.Offers, s.offerOf(ctx, offer, club))
		}
	}
	return out
}

func (s *Server) offerOf(ctx context.Context, offer catalogue.Offer, club catalogue.Details) api.Offer {
	id, now, language := offer.IRI.ID(), exchangeOf(ctx).At, textsOf(ctx).Tag
	listed := schedule.OfferOf(offer.Listed, offer.Commitment)
	due := schedule.Due(schedule.Terms{Offer: listed,
		Extras: offer.ExtraPrices(), Today: schedule.DateOf(club.Today(now)), Start: schedule.DateOf(club.FirstStart(now, id))})
	out := api.Offer{
		Id:        id,
		Name:      singleLine(club.OfferName(id, language, offer.Name)),
		ListPrice: money(offer.DueNow, offer.Currency),
		Prorated:  offer.Prorated,
		DueToday: api.DueToday{
			Date:  due.Date.String(),
			Price: money(due.Amount, offer.Currency),
			Basis: api.ScheduleBasis(due.Basis),
		},
		Commitment:  optional(durationText(offer.Commitment)),
		Needs:       each(offer.Needs, func(need string) api.OfferNeed { return api.OfferNeed(need) }),
		DebitChoice: api.DebitChoice(offer.DebitChoice()),
	}
	if offer.RegistrationFee != 0 {
		out.RegistrationFee = &api.RegistrationFee{
			Name:  optional(singleLine(club.Label(language, offer.FeeName))),
			Price: money(offer.RegistrationFee, offer.Currency),
		}
	}
	if offer.Billing != nil {
		out.Billing = billingOf(*offer.Billing, offer.Currency)
		if amount, basis, ok := schedule.RegularDebit(listed); ok {
			out.Billing.Debit = &api.RegularDebit{Price: money(amount, offer.Currency), Basis: api.ScheduleBasis(basis)}
		}
	}
	shown := club.Offers[id]
	out.Order, out.Highlight = optional(shown.Order), optional(shown.Highlight)
	if shown.Group != "" {
		out.Group = &api.OfferGroup{Id: shown.Group, Name: club.Groups[shown.Group].In(language)}
	}
	if ages := shown.Ages; ages != nil {
		out.Ages = &api.AgeRange{Min: optional(ages.Min), Max: optional(ages.Max)}
	}
	out.Facts = optionalList(each(shown.Facts, func(fact catalogue.Text) api.Words { return fact.In(language) }))
	out.Extras = extrasOf(offer, club, language)
	if shown.Image != nil {
		out.Image = new(s.imageOf(ctx, *shown.Image))
	}
	if shown.EarliestStart != "" || shown.LatestStart != "" {
		out.StartDates = &api.DateRange{}
		out.StartDates.Earliest, out.StartDates.Latest = club.StartDates(now, id)
	}
	return out
}

func extrasOf(offer catalogue.Offer, club catalogue.Details, language string) *[]api.OfferExtra {
	return optionalList(each(offer.Extras, func(extra catalogue.Offer) api.OfferExtra {
		id := extra.IRI.ID()
		return api.OfferExtra{
			OfferId: id,
			Name:    singleLine(club.OfferName(id, language, extra.Name)),
			Price:   money(extra.DueNow, extra.Currency),
		}
	}))
}

func billingOf(billing catalogue.Billing, currency string) *api.Billing {
	return &api.Billing{
		Rhythm: durationText(billing.Rhythm), Endless: billing.Endless, FirstInstalmentPaid: billing.FirstPaid,
		Entries: each(billing.Entries, func(entry catalogue.BillingEntry) api.BillingEntry {
			out := api.BillingEntry{Every: durationText(entry.Every), Price: money(entry.Price, currency)}
			if entry.Times <= maxPeriods {
				out.Times = optional(entry.Times)
			}
			if tax := entry.Tax; tax != nil {
				out.Tax = &api.Tax{Percent: int(tax.Percent), Included: money(tax.Amount, currency), Net: money(tax.Net, currency)}
			}
			return out
		}),
	}
}
