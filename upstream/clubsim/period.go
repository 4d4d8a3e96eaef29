package clubsim

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// period is an ISO 8601 duration in calendar units, because a month has no fixed length.
type period struct {
	years, months, days int
	clock               time.Duration
}

// periodPattern allows up to six digits a part: enough for any lifetime, and too few to
// overflow when added to a date.
var periodPattern = regexp.MustCompile(
	`^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$`)

func parsePeriod(text string) (period, error) {
	m := periodPattern.FindStringSubmatch(text)
	if m == nil || text == "P" || text[len(text)-1] == 'T' {
		return period{}, fmt.Errorf("%q is not an ISO 8601 duration", text)
	}
	n := func(i int) int {
		v, _ := strconv.Atoi(m[i]) // a part that is missing counts zero
		return v
	}
	clock := time.Duration(n(5))*time.Hour + time.Duration(n(6))*time.Minute + time.Duration(n(7))*time.Second
	return period{years: n(1), months: n(2), days: 7*n(3) + n(4), clock: clock}, nil
}

// mustPeriod parses a duration of the catalogue, which a test checks completely.
func mustPeriod(text string) period {
	p, err := parsePeriod(text)
	if err != nil {
		panic(err)
	}
	return p
}

// after returns the instant a period after another. If a month is too short, the result is
// its last day: 31 January plus one month is 28 February.
func (p period) after(t time.Time) time.Time {
	t = t.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	first := midnight.AddDate(0, 0, 1-t.Day()).AddDate(p.years, p.months, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1+p.days).Add(t.Sub(midnight) + p.clock)
}

// before returns the instant a period before another.
func (p period) before(t time.Time) time.Time {
	return t.AddDate(-p.years, -p.months, -p.days).Add(-p.clock)
}

// approximate returns the length of the period, with 30 days a month and 365 a year: for
// clocks and lifetimes, never for money.
func (p period) approximate() time.Duration {
	const day = 24 * time.Hour
	return time.Duration(p.years*365+p.months*30+p.days)*day + p.clock
}
