package schedule

import (
	"cmp"
	"fmt"
	"time"
)

// Date is a day of the calendar. It has no hour and no zone, so that no clock
// change can move a debit. The zero Date is not a day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf is the day that an instant falls on, in the instant's own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// String writes YYYY-MM-DD.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Compare is below zero when d is before other, and above when it is after.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// AddDays is the day n days later.
func (d Date) AddDays(n int) Date {
	return DateOf(time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC))
}

// AddMonths is the same day n months later, or the last day of a month that is
// too short for it: 31 January and one month is 28 or 29 February. Count from
// the first date of a series, not from the one before, or the day is lost.
func (d Date) AddMonths(n int) Date {
	return Date{d.Year, d.Month, 1}.plusMonths(n).onDay(d.Day)
}

// plusMonths moves the first of a month.
func (d Date) plusMonths(n int) Date {
	return DateOf(time.Date(d.Year, d.Month+time.Month(n), 1, 0, 0, 0, 0, time.UTC))
}

// onDay is a day of the date's month, or the month's last one.
func (d Date) onDay(day int) Date {
	d.Day = min(day, d.daysOfMonth())
	return d
}

func (d Date) daysOfMonth() int {
	return time.Date(d.Year, d.Month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// nextOn is the first date from d on that falls on a day of the month, where a
// short month counts with its last day.
func (d Date) nextOn(day int) Date {
	first := Date{d.Year, d.Month, 1}
	if this := first.onDay(day); this.Compare(d) >= 0 {
		return this
	}
	return first.plusMonths(1).onDay(day)
}

// nextWeekDay is the first date from d on that falls on a day of the week, 1 being Monday.
func (d Date) nextWeekDay(day int) Date {
	weekday := int(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Weekday())
	return d.AddDays((day - weekday + 7) % 7) // time counts Sunday as 0, which is 7 here
}

// After returns the date an ISO 8601 duration later; false if that is not one of months or of days.
func (d Date) After(duration string) (Date, bool) {
	length, ok := parsePeriod(duration)
	return length.after(d, 1), ok
}

// ParseDate reads YYYY-MM-DD; false if it is not a day.
func ParseDate(text string) (Date, bool) {
	at, err := time.Parse(time.DateOnly, text)
	return DateOf(at), err == nil
}
