package catalogue

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/schedule"
	"frontdesk/upstream/club"
)

// ShowOffers returns the offers of a cart as its buyer is shown them: as in shown, or else as the catalogue that the query selects has
// them. on is when the buyer sees them. With an error, the result lacks the offers that could not be read.
func (c *Catalogue) ShowOffers(ctx context.Context, query ProductQuery, cart flows.Cart, shown map[string]flows.ShownOffer, on time.Time) (
	map[string]flows.ShownOffer, error,
) {
	offers := map[string]flows.ShownOffer{}
	var unread error
	for _, line := range cart.Lines {
		id := line.Offer.ID()
		if _, done := offers[id]; done || line.Offer == "" {
			continue
		}
		offer, known := shown[id]
		if !known {
			dated, _ := cart.Dated(line)
			var err error
			if offer, err = c.showOffer(ctx, query, dated, on); err != nil {
				unread = err
				continue
			}
		}
		offers[id] = offer
	}
	return offers, unread
}

// showOffer returns the offer of a line.
func (c *Catalogue) showOffer(ctx context.Context, query ProductQuery, line flows.Line, on time.Time) (flows.ShownOffer, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return flows.ShownOffer{}, err
	}
	product, _, err := c.ProductOf(ctx, query, line.Offer.ID())
	switch {
	case errors.Is(err, errNoOffer):
		return flows.ShownOffer{}, nil
	case err != nil:
		return flows.ShownOffer{}, err
	}
	offer := product.Offers[0]
	shown := flows.ShownOffer{
		Product:      product.IRI,
		Type:         offer.Type,
		Terms:        schedule.OfferOf(offer.Listed, offer.Commitment),
		Personalised: c.isPersonalised(ctx, query, offer),
	}
	if !shown.Debited() || line.Debit != nil && (line.Debit.Day != nil || line.Debit.WeekDay != nil) {
		return shown, nil
	}
	start := at.Today(on)
	if chosen, err := time.Parse(time.DateOnly, line.StartDate); err == nil {
		start = chosen
	}
	days, _, err := c.NextDebitDays(ctx, at, start)
	if len(days) > 0 {
		shown.DebitDay = days[0].Day
	}
	return shown, err
}

// RereadOffers returns shown offers with the terms that they have now, read past the cache: one call for each product, all at once. An
// offer that the club system no longer lists keeps its terms: only the sale's check says whether a sale may still have it. at and query
// select the catalogue.
func (c *Catalogue) RereadOffers(ctx context.Context, at Club, query ProductQuery, shown map[string]flows.ShownOffer) (
	map[string]flows.ShownOffer, error,
) {
	var reads errgroup.Group
	var mu sync.Mutex
	listed := map[string]club.Offer{}
	products := map[club.IRI]bool{"": true} // those being read
	for _, offer := range shown {
		if products[offer.Product] {
			continue
		}
		products[offer.Product] = true
		reads.Go(func() error {
			offers, err := c.offersNow(ctx, at, query, offer.Product)
			mu.Lock()
			defer mu.Unlock()
			for _, offer := range offers {
				listed[offer.IRI.ID()] = offer
			}
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, flows.ClubFailed(err, flows.DetailOffersUnread)
	}
	now := maps.Clone(shown)
	for id, offer := range now {
		if current, ok := listed[id]; ok {
			commitment := offer.Terms.Commitment
			if current, ok := Commitment(current.Product); ok { // else it names the product only
				commitment = current
			}
			offer.Terms = schedule.OfferOf(current, commitment)
			now[id] = offer
		}
	}
	return now, nil
}

// offersNow reads the offers of a product. Where the club system does not grant that, products have them.
func (c *Catalogue) offersNow(ctx context.Context, at Club, query ProductQuery, product club.IRI) (offers []club.Offer, err error) {
	offers, err = c.cfg.Club.ListOffers(ctx, at.Scope, product)
	if errors.Is(err, club.ErrNotFound) {
		return nil, nil
	}
	if !errors.Is(err, club.ErrEndpointNotGranted) {
		return offers, err
	}
	products, err := c.readProducts(ctx, at, query)
	for _, sold := range products {
		for _, offer := range sold.Offers {
			offers = append(offers, offer.Listed)
		}
	}
	return offers, err
}

// isPersonalised reports whether an offer's price depends on its buyer by a rule of the club system, such as one about tags or debt: the
// catalogue that everybody sees lacks the offer, or has it at another price. If that catalogue cannot be read, a buyer with tags or a
// debt counts as one whose price depends on them.
func (c *Catalogue) isPersonalised(ctx context.Context, query ProductQuery, offer Offer) bool {
	buyer := query.Buyer
	if buyer.Contact == "" {
		return false
	}
	query.Buyer = flows.Buyer{}
	general, err := c.Offer(ctx, query, offer.IRI.ID())
	switch {
	case flows.CodeOf(err) == flows.OfferNotAvailable:
		return true
	case err != nil:
		return buyer.Tags != "" || buyer.Debt != 0
	}
	return !reflect.DeepEqual(schedule.OfferOf(general.Listed, general.Commitment), schedule.OfferOf(offer.Listed, offer.Commitment))
}
