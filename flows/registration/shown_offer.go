package registration

import (
	"context"
	"reflect"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// showPatience is how long a cart waits for offers that no gateway has cached. Without them, what follows today's payment is shown as
// unknown.
const showPatience = 2 * time.Second

// queryOf selects the catalogue that a registration's cart is filled from.
func queryOf(r *flows.Registration) catalogue.ProductQuery {
	query := catalogue.ProductQuery{ClientToken: r.ClientToken, ClubID: r.ClubID, Channel: r.Channel}
	if r.Identified() {
		query.Buyer = *r.Contact.Buyer
	}
	return query
}

// showOffers notes the offers in the cart, which the buyer is shown next. One that was noted before stays as it is: it is what the buyer
// chose. With an error, those that cannot be read are missing.
func (s *Service) showOffers(ctx context.Context, r *flows.Registration) (err error) {
	ctx, cancel := context.WithTimeout(catalogue.AsCached(ctx), showPatience)
	defer cancel()
	r.Offers, err = s.cfg.Catalogue.ShowOffers(ctx, queryOf(r), r.Cart, r.Offers, s.cfg.Now())
	return err
}

// renewOffers notes the offers in the cart as they are now, of which some were just read again, and reports whether any differs from what
// the buyer was shown.
func renewOffers(r *flows.Registration, shown, reread map[string]flows.ShownOffer) (changed bool) {
	for id, offer := range r.Offers {
		if now, ok := reread[id]; ok {
			offer, r.Offers[id] = now, now
		}
		before, wasShown := shown[id]
		changed = changed || !wasShown || !reflect.DeepEqual(before, offer)
	}
	return changed
}
