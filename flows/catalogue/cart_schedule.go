package catalogue

import (
	"cmp"
	"context"
	"reflect"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/schedule"
)

// CartLine is a line of a cart, as package schedule adds it up, with its offer.
type CartLine struct {
	schedule.CartLine
	Offer *Offer // nil: the line has none, or the club no longer offers it to this buyer
}

// CartLines returns the lines of a cart, with the terms of their offers. query selects the catalogue that the cart was filled from,
// and on is when its buyer agrees to it, or has done.
func (c *Catalogue) CartLines(ctx context.Context, query ProductQuery, cart flows.Cart, on time.Time) ([]CartLine, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, err
	}
	byID := map[string]flows.Line{}
	lines := make([]CartLine, len(cart.Lines))
	for i, line := range cart.Lines {
		byID[line.ID] = line
		lines[i].CartLine = schedule.CartLine{ID: cart.LineID(i), Parent: line.Parent, Price: line.Price}
		if line.Offer == "" {
			continue
		}
		offer, err := c.Offer(ctx, query, line.Offer.ID())
		switch {
		case flows.CodeOf(err) == flows.OfferNotAvailable:
			lines[i].Rules = []schedule.Rule{schedule.OfferUnknown}
			continue
		case err != nil:
			return nil, err
		}
		lines[i].Offer = &offer
		dated := line
		if parent, ok := byID[line.Parent]; ok && line.Added && offer.Billing != nil {
			dated.StartDate, dated.Debit = cmp.Or(line.StartDate, parent.StartDate), cmp.Or(line.Debit, parent.Debit)
			lines[i].Rules = []schedule.Rule{schedule.StartAssumed}
		}
		if lines[i].Terms, err = c.lineTerms(ctx, at, offer, dated, on); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// lineTerms returns the terms of a line. Without a debit day it takes the club's next one, as for a single offer.
func (c *Catalogue) lineTerms(ctx context.Context, at Club, offer Offer, line flows.Line, on time.Time) (*schedule.Terms, error) {
	terms := ScheduleTerms{Offer: offer, Today: at.Today(on), Start: at.Today(on)}
	if start, err := time.Parse(time.DateOnly, line.StartDate); err == nil {
		terms.Start = start
	}
	debit := flows.Debit{}
	if line.Debit != nil {
		debit = *line.Debit
	}
	if debit.Day == nil && debit.WeekDay == nil {
		if _, _, err := c.chooseDebitDay(ctx, at, nil, &terms); err != nil {
			return nil, err
		}
	}
	out := terms.Terms(nil)
	if debit.Day != nil {
		out.DebitDay = *debit.Day
	}
	if debit.WeekDay != nil {
		out.WeekDay = *debit.WeekDay
	}
	if from, err := time.Parse(time.DateOnly, debit.From); err == nil {
		out.NotBefore = schedule.DateOf(from)
	}
	return &out, nil
}

// IsPersonalised reports whether an offer's price depends on its buyer by a rule of the club system, such as one about tags or debt: the
// catalogue that everybody sees lacks the offer, or has it at another price. If that catalogue cannot be read, a buyer with tags or a
// debt counts as one whose price depends on them.
func (c *Catalogue) IsPersonalised(ctx context.Context, query ProductQuery, offer Offer) bool {
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
