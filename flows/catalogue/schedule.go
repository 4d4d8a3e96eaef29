package catalogue

import (
	"context"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// ScheduleQuery asks when an offer costs how much.
type ScheduleQuery struct {
	ProductQuery
	OfferID   string
	StartDate string    // YYYY-MM-DD; empty: today
	DebitDay  *int      // of the month; nil: not chosen yet
	Now       time.Time // what StartDate is held against
}

// ScheduleTerms is what a schedule is computed from, each part read from the
// club system and held against the others. The child package schedule computes.
type ScheduleTerms struct {
	Offer        Offer
	Listed       club.Offer // the same offer, as the club system has it
	Today, Start time.Time  // midnight UTC of their days
	DebitDay     int        // of the month; 0: the offer is not debited, or the club names no day
	DebitDayOpen bool       // DebitDay is the club's next one, and nobody chose it
}

// ScheduleTerms reads the terms of an offer. NotFound when there is no such
// club, or the club does not sell the offer in this channel; InvalidRequest
// names everything that is wrong with the dates.
func (c *Catalogue) ScheduleTerms(ctx context.Context, query ScheduleQuery) (ScheduleTerms, error) {
	at, err := c.Club(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return ScheduleTerms{}, err
	}
	terms, err := c.listedOffer(ctx, query)
	if err != nil {
		return ScheduleTerms{}, err
	}
	failure := &flows.Error{Code: flows.InvalidRequest}
	start, problem := startOf(query.StartDate, query.Now)
	if problem != nil {
		failure.Fields = append(failure.Fields, *problem)
	}
	terms.Today, terms.Start = dayOf(query.Now.UTC()), start
	if problem, err := c.chooseDebitDay(ctx, at, query.DebitDay, &terms); err != nil {
		return ScheduleTerms{}, err
	} else if problem != nil {
		failure.Fields = append(failure.Fields, *problem)
	}
	if len(failure.Fields) > 0 {
		return ScheduleTerms{}, failure
	}
	return terms, nil
}

// listedOffer finds an offer that is on sale.
func (c *Catalogue) listedOffer(ctx context.Context, query ScheduleQuery) (ScheduleTerms, error) {
	products, _, err := c.Products(ctx, query.ProductQuery)
	if err != nil {
		return ScheduleTerms{}, err
	}
	for _, product := range products {
		for i, offer := range product.Offers {
			if offer.IRI.ID() == query.OfferID {
				return ScheduleTerms{Offer: offer, Listed: product.listed[i]}, nil
			}
		}
	}
	return ScheduleTerms{}, &flows.Error{Code: flows.NotFound, Detail: "There is no such offer."}
}

// chooseDebitDay holds a wish against the days on which the club debits. Where
// there is no wish, the club's next day is shown, as one that may still change.
func (c *Catalogue) chooseDebitDay(ctx context.Context, at Club, request *int, terms *ScheduleTerms) (*flows.FieldProblem, error) {
	if request == nil && terms.Offer.Billing == nil {
		return nil, nil
	}
	days, err := c.NextDebitDays(ctx, at, terms.Start)
	if err != nil {
		return nil, err
	}
	if request == nil {
		terms.DebitDayOpen = true
		if len(days) > 0 {
			terms.DebitDay = days[0].Day
		}
		return nil, nil
	}
	if !slices.ContainsFunc(days, func(day DebitDay) bool { return day.Day == *request }) {
		return &flows.FieldProblem{Pointer: "query/debitDay", Message: "is not a day on which the club debits"}, nil
	}
	if terms.Offer.Billing != nil {
		terms.DebitDay = *request
	}
	return nil, nil
}
