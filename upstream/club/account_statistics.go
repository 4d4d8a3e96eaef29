package club

import "context"

// AccountStatistics is what a contact owes.
type AccountStatistics struct {
	TotalRealDebt int64 // cents
}

// accountStatistics is the response. A missing amount does not mean no debt.
type accountStatistics struct {
	TotalRealDebt *int64 `json:"totalRealDebt"`
}

func (a accountStatistics) check() error { return requireAmount("totalRealDebt", a.TotalRealDebt) }

// GetAccountStatistics reads the debt of a contact; club system API, section Contacts.
// ErrNotFound as for GetContact.
func (c *Client) GetAccountStatistics(ctx context.Context, s Scope, contact IRI) (AccountStatistics, error) {
	got, err := do[accountStatistics](ctx, c, get("GetAccountStatistics", s, "stats/accounts/contacts/{id}", contact))
	if err != nil {
		return AccountStatistics{}, err
	}
	return AccountStatistics{*got.TotalRealDebt}, nil
}
