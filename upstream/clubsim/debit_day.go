package clubsim

import (
	"cmp"
	"slices"
	"time"
)

// listAllowedDebitDays: GET allowed_debit_days (section Catalogue): for each day of the
// month on which the acting club debits, the next date from startDate on, as a plain array.
func listAllowedDebitDays(call *request) (response, error) {
	from := call.now
	if text := call.req.query.Get("startDate"); text != "" {
		parsed, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return response{}, invalid(violation{PropertyPath: "startDate", Message: "This value is not a valid date."})
		}
		from = parsed
	}
	type debitDay struct {
		DebitDay int    `json:"debitDay"`
		Date     string `json:"date"`
	}
	days := records(call.club.DebitDays, func(day int) debitDay {
		return debitDay{day, nextDay(from, day).Format(time.DateOnly)}
	})
	slices.SortFunc(days, func(a, b debitDay) int { return cmp.Compare(a.Date, b.Date) })
	return ok(days)
}

// nextDay is the first date from a date on that is a given day of the month. Clubs use days
// up to 28, which every month has.
func nextDay(from time.Time, day int) time.Time {
	next := time.Date(from.Year(), from.Month(), day, 0, 0, 0, 0, time.UTC)
	if from.Day() > day {
		next = next.AddDate(0, 1, 0)
	}
	return next
}
