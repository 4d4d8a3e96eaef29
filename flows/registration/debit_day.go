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
func (s *Service) completeDebit(
	ctx context.Context, at catalogue.Club, item flows.NewItem, offer catalogue.Offer, pointer string,
) (*flows.Debit, []flows.FieldProblem, error) {
	request := *item.Debit
	switch {
	case !offer.Requires(catalogue.NeedsDebit):
		return nil, []flows.FieldProblem{{Pointer: pointer, Code: flows.FieldNoDirectDebit}}, nil
	case request.Day != nil && request.WeekDay != nil:
		return nil, []flows.FieldProblem{{Pointer: pointer, Code: flows.FieldOneDebitDay}}, nil
	case request == flows.Debit{}:
		return nil, nil, nil // the club chooses
	}
	earliest := max(request.From, item.StartDate, at.Today(s.cfg.Now()).Format(time.DateOnly))
	from, _ := time.Parse(time.DateOnly, earliest) // dateProblems has parsed it
	switch {
	case request.WeekDay != nil:
		ahead := (*request.WeekDay - int(from.Weekday()) + 7) % 7 // time counts Sunday as 0, which is 7 here
		request.From = from.AddDate(0, 0, ahead).Format(time.DateOnly)
		return &request, nil, nil
	case request.Day == nil:
		request.From = from.Format(time.DateOnly)
		return &request, nil, nil
	}
	days, _, err := s.cfg.Catalogue.NextDebitDays(ctx, at, from) // the same days that the buyer chose from
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
