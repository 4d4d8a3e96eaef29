package club

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// DebitDay is a day on which the club collects.
type DebitDay struct {
	Day  int    `json:"debitDay"` // of the month
	Date string `json:"date"`     // the next such day, YYYY-MM-DD
}

// ListAllowedDebitDays reads the next days from startDate (YYYY-MM-DD) on which the scope's
// club collects; club system API, section Catalogue. It leaves out days that no calendar has.
func (c *Client) ListAllowedDebitDays(ctx context.Context, scope Scope, startDate string) ([]DebitDay, error) {
	query := url.Values{"startDate": {startDate}}
	days, err := list[DebitDay](ctx, c, get("ListAllowedDebitDays", scope, "allowed_debit_days", "").withQuery(query))
	read := len(days)
	days = slices.DeleteFunc(days, func(d DebitDay) bool {
		_, err := time.Parse(time.DateOnly, d.Date)
		return err != nil || d.Day < 1 || d.Day > 31
	})
	if err == nil && read > 0 && len(days) == 0 {
		err = &Error{Operation: "ListAllowedDebitDays", Outcome: Unknown, Status: http.StatusOK, Err: require("date", false)}
	}
	return days, err
}
