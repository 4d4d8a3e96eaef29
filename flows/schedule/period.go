package schedule

import (
	"cmp"
	"math/big"
	"regexp"
	"strconv"
)

// period is a length of time: months or days, never both, because one is not a
// number of the other. A year is twelve months, a week seven days.
type period struct{ months, days int }

// periodShape allows up to four digits a part: more than any contract lasts, and
// too few to overflow.
var periodShape = regexp.MustCompile(`^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?$`)

// rhythms are the club system's own names (club system API, section Offer, rhythmBilling).
var rhythms = map[string]string{"week1": "P1W", "week4": "P4W", "monthly": "P1M"}

// Duration returns a rhythm as an ISO 8601 duration, which it is already unless it is a name.
func Duration(rhythm string) string { return cmp.Or(rhythms[rhythm], rhythm) }

// ParseDuration reads an ISO 8601 duration, or a named rhythm, in months or in days. Both are 0
// for what is not a duration, has hours, or mixes months with days.
func ParseDuration(text string) (months, days int) {
	p, ok := parsePeriod(text)
	if !ok {
		return 0, 0
	}
	return p.months, p.days
}

// parsePeriod reads an ISO 8601 duration, or a named rhythm. It is false for
// what is not a duration, has hours, or mixes months with days.
func parsePeriod(text string) (period, bool) {
	parts := periodShape.FindStringSubmatch(Duration(text))
	if parts == nil || text == "P" {
		return period{}, false
	}
	n := func(i int) int {
		number, _ := strconv.Atoi(parts[i]) // a part that is missing counts zero
		return number
	}
	p := period{months: 12*n(1) + n(2), days: 7*n(3) + n(4)}
	return p, p.months == 0 || p.days == 0
}

// String writes a period as ISO 8601, in months, weeks or days.
func (p period) String() string {
	switch {
	case p.months > 0:
		return "P" + strconv.Itoa(p.months) + "M"
	case p.days%7 == 0:
		return "P" + strconv.Itoa(p.days/7) + "W"
	default:
		return "P" + strconv.Itoa(p.days) + "D"
	}
}

func (p period) isZero() bool { return p == period{} }

// sameUnit reports whether one period can be counted in the other by the calendar.
func (p period) sameUnit(other period) bool { return (p.months == 0) == (other.months == 0) }

// Where months meet weeks, 12 months are taken for 52 weeks, which are 364 days:
// the price of a year is then the same, however it is counted.
const (
	yearMonths = 12
	yearDays   = 364
)

// in counts how many of other there are in p; see MonthsAsWeeks where the units differ.
func (p period) in(other period) *big.Rat {
	if p.sameUnit(other) {
		return big.NewRat(int64(p.months+p.days), int64(other.months+other.days))
	}
	return new(big.Rat).Quo(p.asDays(), other.asDays())
}

func (p period) asDays() *big.Rat {
	return big.NewRat(int64(p.months*yearDays+p.days*yearMonths), yearMonths)
}

// after is the date n periods after another.
func (p period) after(first Date, n int) Date {
	if p.months > 0 {
		return first.AddMonths(n * p.months)
	}
	return first.AddDays(n * p.days)
}
