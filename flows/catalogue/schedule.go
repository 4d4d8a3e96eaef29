package catalogue

import (
	"context"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/schedule"
)

// ScheduleQuery selects an offer and the dates of its payments.
type ScheduleQuery struct {
	ProductQuery
	OfferID   string
	StartDate string    // YYYY-MM-DD; empty: today, or the offer's earliest start
	DebitDay  *int      // of the month; nil: not chosen yet
	Now       time.Time // what StartDate is compared with
}

// ScheduleTerms is the input of package schedule, which computes the payments. Each part
// was read from the club system and checked against the others.
type ScheduleTerms struct {
	Offer        Offer
	Today, Start time.Time // midnight UTC of their days
	DebitDay     int       // of the month; 0: the offer is not debited, or the club has no days
	DebitDayOpen bool      // DebitDay is the club's next one, because the query has none
}

// Terms returns what package schedule computes the payments from. extras are the prices of what is sold with the offer.
func (t ScheduleTerms) Terms(extras []int64) schedule.Terms {
	return schedule.Terms{
		Offer:        schedule.OfferOf(t.Offer.Listed, t.Offer.Commitment),
		Extras:       extras,
		Today:        schedule.DateOf(t.Today),
		Start:        schedule.DateOf(t.Start),
		DebitDay:     t.DebitDay,
		DebitDayOpen: t.DebitDayOpen,
	}
}

// ScheduleTerms returns the terms of an offer, and the oldest of the versions that they come from. NotFound if the club does
// not exist, or the club does not sell the offer in this channel; InvalidRequest with all invalid dates.
func (c *Catalogue) ScheduleTerms(ctx context.Context, query ScheduleQuery) (ScheduleTerms, *Version, error) {
	at, err := c.Club(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return ScheduleTerms{}, nil, err
	}
	product, read, err := c.ProductOf(ctx, query.ProductQuery, query.OfferID)
	if err != nil {
		return ScheduleTerms{}, nil, err
	}
	start, startProblem := at.startOf(query.StartDate, query.OfferID, query.Now)
	terms := ScheduleTerms{Offer: product.Offers[0], Today: at.Today(query.Now), Start: start}
	dayProblem, days, err := c.chooseDebitDay(ctx, at, query.DebitDay, &terms)
	if err != nil {
		return ScheduleTerms{}, nil, err
	}
	if days != nil && days.At.Before(read.At) {
		read = days
	}
	var wrong []flows.FieldProblem
	for _, problem := range []*flows.FieldProblem{startProblem, dayProblem} {
		if problem != nil {
			wrong = append(wrong, *problem)
		}
	}
	return terms, read, flows.Invalid(wrong...)
}

// chooseDebitDay checks the chosen day against the club's debit days. Without a choice it
// takes the club's next one, which may still change. It returns the version of the days; nil if it needs none.
func (c *Catalogue) chooseDebitDay(
	ctx context.Context, at Club, chosen *int, terms *ScheduleTerms,
) (*flows.FieldProblem, *Version, error) {
	if chosen == nil && terms.Offer.Billing == nil {
		return nil, nil, nil
	}
	days, read, err := c.NextDebitDays(ctx, at, terms.Start)
	if err != nil {
		return nil, nil, err
	}
	if chosen == nil {
		terms.DebitDayOpen = true
		if len(days) > 0 {
			terms.DebitDay = days[0].Day
		}
		return nil, read, nil
	}
	if !slices.ContainsFunc(days, func(day DebitDay) bool { return day.Day == *chosen }) {
		return new(NoDebitDay(flows.InQuery+"debitDay", days)), read, nil
	}
	if terms.Offer.Billing != nil {
		terms.DebitDay = *chosen
	}
	return nil, read, nil
}
