package club

import (
	"context"
	"net/url"
)

// DebitDay is a day on which the club collects.
type DebitDay struct {
	Day  int    `json:"debitDay"` // of the month
	Date string `json:"date"`     // the next such day, YYYY-MM-DD
}

// ListAllowedDebitDays reads the next days from startDate (YYYY-MM-DD) on which
// the scope's club collects; club system API, section Catalogue.
func (c *Client) ListAllowedDebitDays(ctx context.Context, s Scope, startDate string) ([]DebitDay, error) {
	query := url.Values{"startDate": {startDate}}
	return list[DebitDay](ctx, c, get("ListAllowedDebitDays", s, "allowed_debit_days", "").with(query))
}
