package catalogue

import (
	"context"
	"strconv"
	"strings"
	"time"

	"frontdesk/flows"
)

// DebitDay is a day of the month on which a club debits.
type DebitDay struct {
	Day  int
	Date string // the next such day, YYYY-MM-DD
}

// NoDebitDay is the problem of a day on which the club does not debit.
func NoDebitDay(pointer string, days []DebitDay) flows.FieldProblem {
	allowed := make([]string, len(days))
	for i, day := range days {
		allowed[i] = strconv.Itoa(day.Day)
	}
	return flows.FieldProblem{Pointer: pointer, Code: flows.FieldDebitDay, Params: map[string]string{"allowed": strings.Join(allowed, ", ")}}
}

// daysKey identifies a club's debit days from a date on.
type daysKey struct {
	club clubKey
	from string
}

// DebitDaysQuery selects the debit days of a club.
type DebitDaysQuery struct {
	ClientToken string
	ClubID      string
	StartDate   string    // YYYY-MM-DD; empty: today
	Now         time.Time // what StartDate is compared with
}

// DebitDays lists the next days, from a date on, on which a debit can fall. NotFound for an
// unknown club, InvalidRequest for an invalid date.
func (c *Catalogue) DebitDays(ctx context.Context, query DebitDaysQuery) ([]DebitDay, *Version, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, nil, err
	}
	start, problem := at.startOf(query.StartDate, "", query.Now)
	if problem != nil {
		return nil, nil, flows.Invalid(*problem)
	}
	return c.NextDebitDays(ctx, at, start)
}

// NextDebitDays is DebitDays for a club and a date that the caller has checked.
func (c *Catalogue) NextDebitDays(ctx context.Context, at Club, from time.Time) ([]DebitDay, *Version, error) {
	key := daysKey{clubKey{c.organisation(at.Scope.ClientToken), at.IRI.ID()}, from.Format(time.DateOnly)}
	return c.days.get(ctx, key, func(ctx context.Context) ([]DebitDay, error) {
		listed, err := c.cfg.Club.ListAllowedDebitDays(ctx, at.Scope, key.from)
		days := make([]DebitDay, len(listed))
		for i, day := range listed {
			days[i] = DebitDay{day.Day, day.Date}
		}
		return days, flows.ClubFailed(err, flows.DetailDebitDaysUnread)
	})
}

// startOf parses a start date, of an offer if one is named; an empty one is the earliest.
func (at Club) startOf(date, offerID string, now time.Time) (time.Time, *flows.FieldProblem) {
	if date == "" {
		return at.FirstStart(now, offerID), nil
	}
	if problem := at.StartDateProblem(flows.InQuery+"startDate", date, now, offerID); problem != nil {
		return at.Today(now), problem
	}
	start, _ := time.Parse(time.DateOnly, date) // StartDateProblem has parsed it
	return start, nil
}
