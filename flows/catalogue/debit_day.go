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

// daysKey is a club's debit days from a date on.
type daysKey struct {
	club clubKey
	from string
}

// DebitDaysQuery asks when a club debits.
type DebitDaysQuery struct {
	ClientToken string
	ClubID      string
	StartDate   string    // YYYY-MM-DD; empty: today
	Now         time.Time // what StartDate is held against
}

// DebitDays lists the next days, from a date on, on which a debit can fall.
// NotFound when there is no such club, InvalidRequest for a date that cannot be
// a start.
func (c *Catalogue) DebitDays(ctx context.Context, query DebitDaysQuery) ([]DebitDay, *Version, error) {
	at, err := c.Locate(ctx, query.ClientToken, query.ClubID)
	if err != nil {
		return nil, nil, err
	}
	start, problem := startOf(query.StartDate, query.Now)
	if problem != nil {
		return nil, nil, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{*problem}}
	}
	days, err := c.readDays(ctx, at, start)
	if err != nil {
		return nil, nil, err
	}
	return days.value, &days.Version, nil
}

func (c *Catalogue) NextDebitDays(ctx context.Context, at Club, from time.Time) ([]DebitDay, error) {
	days, err := c.readDays(ctx, at, from)
	if err != nil {
		return nil, err
	}
	return days.value, nil
}

func (c *Catalogue) readDays(ctx context.Context, at Club, from time.Time) (*entry[[]DebitDay], error) {
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
	// startHorizon in years: nobody books a membership further ahead.
	startHorizon = 5
	// lastTimeZone is how far behind UTC it can still be the day before, so that
	// nobody's own today counts as past.
	lastTimeZone = 12 * time.Hour
)

// StartDateProblem tells what is wrong with a start date, in words for a person;
// empty when nothing is.
func StartDateProblem(date string, now time.Time) string {
	start, err := time.Parse(time.DateOnly, date)
	switch {
	case err != nil:
		return "has to be a day of the calendar, such as 2030-01-15"
	case start.Before(dayOf(now.UTC().Add(-lastTimeZone))):
		return "is in the past"
	case start.After(dayOf(now.UTC()).AddDate(startHorizon, 0, 0)):
		return "is too far ahead: at most five years"
	default:
		return ""
	}
}

// startOf reads a start date; none means today.
func startOf(date string, now time.Time) (time.Time, *flows.FieldProblem) {
	if date == "" {
		return dayOf(now.UTC()), nil
	}
	if problem := StartDateProblem(date, now); problem != "" {
		return dayOf(now.UTC()), &flows.FieldProblem{Pointer: "query/startDate", Message: problem}
	}
	start, _ := time.Parse(time.DateOnly, date) // it has just been read
	return start, nil
}

func dayOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
