package catalogue

import (
	"context"
	"time"

	"frontdesk/flows"
)

// DebitDay is a day of the month on which a club debits.
type DebitDay struct {
	Day  int
	Date string // the next such day, YYYY-MM-DD
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
	start, problem := startOf(query.StartDate, query.Now)
	if problem != nil {
		return nil, nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{*problem}}
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
		return days, flows.ClubFailed(err, "The club's debit days could not be read.")
	})
}

const (
	// startHorizon is in years. No membership is booked further ahead.
	startHorizon = 5
	// lastTimeZone is the largest distance behind UTC, so that today is not in the past
	// in any time zone.
	lastTimeZone = 12 * time.Hour
)

// StartDates returns the first and the last start date that are accepted, YYYY-MM-DD.
func StartDates(now time.Time) (earliest, latest string) {
	return now.UTC().Add(-lastTimeZone).Format(time.DateOnly), now.UTC().AddDate(startHorizon, 0, 0).Format(time.DateOnly)
}

// StartDateProblem returns what is wrong with a start date; nil if it is valid.
func StartDateProblem(pointer, date string, now time.Time) *flows.FieldProblem {
	earliest, latest := StartDates(now)
	return flows.DateProblem(pointer, date, earliest, latest)
}

// startOf parses a start date; an empty one is today.
func startOf(date string, now time.Time) (time.Time, *flows.FieldProblem) {
	today := dayOf(now.UTC())
	if date == "" {
		return today, nil
	}
	if problem := StartDateProblem("query/startDate", date, now); problem != nil {
		return today, problem
	}
	start, _ := time.Parse(time.DateOnly, date) // StartDateProblem has parsed it
	return start, nil
}

// dayOf returns the start of the day of an instant in UTC.
func dayOf(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
