package registration

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// completeDebit dates the first debit of an item (club system API, section RepaymentSchedule), or
// returns what is wrong with it. The debit falls on the first requested day of the month or week
// from the requested date, today and the subscription's start. It is ordered by its date, so that
// the club cannot debit on another day than the buyer was shown.
func (s *Service) completeDebit(ctx context.Context, at catalogue.Club, item flows.NewItem, offer catalogue.Offer, pointer string) (*flows.Debit, []flows.FieldProblem, error) {
	request := *item.Debit
	switch {
	case !offer.Requires(catalogue.NeedsDebit):
		return nil, []flows.FieldProblem{{Pointer: pointer, Code: flows.FieldNoDirectDebit}}, nil
	case request.Day != nil && request.WeekDay != nil:
		return nil, []flows.FieldProblem{{Pointer: pointer, Code: flows.FieldOneDebitDay}}, nil
	case request == flows.Debit{}:
		return nil, nil, nil // the club chooses
	}
	from := max(request.From, item.StartDate, at.Today(s.cfg.Now()).Format(time.DateOnly))
	switch {
	case request.WeekDay != nil:
		request.From = nextWeekDay(from, *request.WeekDay)
		return &request, nil, nil
	case request.Day == nil:
		request.From = from
		return &request, nil, nil
	}
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return nil, nil, err // the contract admits dates only
	}
	days, _, err := s.cfg.Catalogue.NextDebitDays(ctx, at, first) // the same days that the buyer chose from
	if err != nil {
		return nil, nil, err
	}
	for _, day := range days {
		if day.Day == *request.Day {
			request.From = day.Date
			return &request, nil, nil
		}
	}
	return nil, []flows.FieldProblem{catalogue.NoDebitDay(pointer+"/day", days)}, nil
}

// nextWeekDay is the first date from a date on with that day of the week, 1 for Monday.
func nextWeekDay(from string, weekDay int) string {
	date, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return from
	}
	ahead := (weekDay - int(date.Weekday()) + 7) % 7 // time counts Sunday as 0, which is 7 here
	return date.AddDate(0, 0, ahead).Format(time.DateOnly)
}
