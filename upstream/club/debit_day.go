package club

import (
	"context"
	"net/url"
	"slices"
	"time"
)

// DebitDay is a day on which the club collects.
type DebitDay struct {
	Day  int    `json:"debitDay"` // of the month
	Date string `json:"date"`     // the next such day, YYYY-MM-DD
}

func (d *DebitDay) check() error {
	if d.Day < 1 || d.Day > 31 {
		return &DecodeError{Field: "debitDay", Want: "a day of the month"}
	}
	return nil
}

func (d *DebitDay) readDates(zoneOf func(IRI) *time.Location) (err error) {
	d.Date, err = day("date", d.Date, zoneOf(""))
	return err
}

// ListAllowedDebitDays reads the next days from startDate (YYYY-MM-DD) on which the scope's
// club collects; club system API, section Catalogue. Earlier days are left out, in case the parameter is ignored; ErrUnreadable
// when all are.
func (c *Client) ListAllowedDebitDays(ctx context.Context, scope Scope, startDate string) ([]DebitDay, error) {
	query := url.Values{"startDate": {startDate}}
	listed, err := list[DebitDay](ctx, c, get("ListAllowedDebitDays", scope, "allowed_debit_days", "").withQuery(query))
	days := slices.DeleteFunc(slices.Clone(listed), func(d DebitDay) bool { return d.Date < startDate })
	if len(listed) > 0 && len(days) == 0 {
		return nil, unreadable("ListAllowedDebitDays", &DecodeError{Field: "date", Want: "a day from the start date on"})
	}
	return days, err
}
