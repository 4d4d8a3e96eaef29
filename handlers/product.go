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
	query := catalogue.ProductQuery{
		ClientToken: callerOf(ctx).clientToken, ClubID: request.ClubId, Channel: webChannel,
		Type: string(value(request.Params.Type)), Date: value(request.Params.Date),
	}
	var err error
	if contact := callerOf(ctx).contact; contact != nil {
		if query.Buyer, err = s.cfg.Contacts.Buyer(ctx, *contact); err != nil {
			return nil, err
		}
	}
	products, read, err := s.cfg.Catalogue.Products(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.cacheResponse(ctx, query.Buyer, read, func() (any, error) {
		return pageOf(products, value(request.Params.Cursor), schedule.DateOf(exchangeOf(ctx).At.UTC()))
	})
}

// pageOf returns a page of a catalogue. Its cursor is the index of its first product.
func pageOf(products []catalogue.Product, cursor string, today schedule.Date) (any, error) {
	from, _ := strconv.Atoi(cursor)
	if cursor != "" && (from < 1 || from >= len(products) || strconv.Itoa(from) != cursor || from%productsPerPage != 0) {
		return nil, &flows.Error{Code: flows.InvalidRequest, Fields: fieldError("query/cursor", flows.FieldCursor)}
	}
	to := min(from+productsPerPage, len(products))
	page := api.ProductList{Items: make([]api.Product, 0, to-from)}
	for _, product := range products[from:to] {
		if isPublicID(product.IRI.ID()) && api.ProductType(product.Type).Valid() {
			page.Items = append(page.Items, productOf(product, today))
		}
	}
	if to < len(products) {
		page.Next = optional(strconv.Itoa(to))
	}
	return page, nil
}

func productOf(product catalogue.Product, today schedule.Date) api.Product {
	out := api.Product{
		Id: product.IRI.ID(), Name: singleLine(product.Name), Description: optional(multiLine(product.Description)),
		Type: api.ProductType(product.Type), Offers: make([]api.Offer, 0, len(product.Offers)),
	}
	for _, offer := range product.Offers {
		if isPublicID(offer.IRI.ID()) {
			out.Offers = append(out.Offers, offerOf(offer, today))
		}
	}
	return out
}

func offerOf(offer catalogue.Offer, today schedule.Date) api.Offer {
	due := schedule.Due(schedule.Terms{Offer: schedule.OfferOf(offer.Listed, offer.Commitment), Today: today, Start: today})
	out := api.Offer{
		Id: offer.IRI.ID(), Name: singleLine(offer.Name), DueNow: money(offer.DueNow, offer.Currency), Prorated: offer.Prorated,
		DueToday:   api.DueToday{Date: due.Date.String(), Amount: due.Amount, Currency: currencyCode(offer.Currency), Basis: api.ScheduleBasis(due.Basis)},
		Commitment: optional(durationText(offer.Commitment)), Needs: each(offer.Needs, func(need string) api.OfferNeeds { return api.OfferNeeds(need) }),
	}
	if offer.RegistrationFee != 0 {
		out.RegistrationFee = &api.RegistrationFee{Name: optional(singleLine(offer.FeeName)), Amount: offer.RegistrationFee, Currency: currencyCode(offer.Currency)}
	}
	if offer.Billing != nil {
		out.Billing = billingOf(*offer.Billing, offer.Currency)
	}
	return out
}

func billingOf(billing catalogue.Billing, currency string) *api.Billing {
	return &api.Billing{
		Rhythm: durationText(billing.Rhythm), Endless: billing.Endless, FirstInstalmentPaid: billing.FirstPaid,
		Entries: each(billing.Entries, func(entry catalogue.BillingEntry) api.BillingEntry {
			out := api.BillingEntry{Every: durationText(entry.Every), Price: money(entry.Price, currency)}
			if entry.Times <= maxPeriods {
				out.Times = optional(entry.Times)
			}
			return out
		}),
	}
}
