package registration

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// laterPatience is how long a cart waits for offers that no gateway has cached. Without them, it is not known whether they changed.
const laterPatience = 2 * time.Second

// noteTerms notes what the offers in the cart cost later than today, of which the sale says nothing. What was noted before stays: it is
// what the buyer chose.
func (s *Service) noteTerms(ctx context.Context, r *flows.Registration) {
	noted := r.Terms
	r.Terms = s.termsOf(ctx, r)
	for offer := range r.Terms {
		if before, ok := noted[offer]; ok {
			r.Terms[offer] = before
		}
	}
}

// renewTerms notes what the offers in the cart cost later as of now, and reports whether that has changed. An offer that cannot be read
// has not changed.
func (s *Service) renewTerms(ctx context.Context, r *flows.Registration) (changed bool) {
	now := s.termsOf(ctx, r)
	for offer, before := range r.Terms {
		if terms, ok := now[offer]; !ok {
			now[offer] = before
		} else if terms != before {
			changed = true
		}
	}
	r.Terms = now
	return changed
}

// termsOf returns digests of the terms of the offers in the cart, as far as they can be read.
func (s *Service) termsOf(ctx context.Context, r *flows.Registration) map[string]string {
	ctx, cancel := context.WithTimeout(catalogue.AsCached(ctx), laterPatience)
	defer cancel()
	query := catalogue.ProductQuery{ClientToken: r.ClientToken, ClubID: r.ClubID, Channel: r.Channel}
	if r.Identified() {
		query.Buyer = *r.Contact.Buyer
	}
	terms := map[string]string{}
	for _, line := range r.Cart.Lines {
		if line.Offer == "" || ctx.Err() != nil {
			continue
		}
		if offer, err := s.cfg.Catalogue.Offer(ctx, query, line.Offer.ID()); err == nil {
			terms[line.Offer.ID()] = offer.TermsDigest()
		}
	}
	return terms
}
