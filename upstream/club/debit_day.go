package club

import (
	"context"
	"net/url"
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
// club collects; club system API, section Catalogue.
func (c *Client) ListAllowedDebitDays(ctx context.Context, scope Scope, startDate string) ([]DebitDay, error) {
	query := url.Values{"startDate": {startDate}}
	return list[DebitDay](ctx, c, get("ListAllowedDebitDays", scope, "allowed_debit_days", "").withQuery(query))
}
