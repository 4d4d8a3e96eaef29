package stripe

import (
	"context"
	"strings"

	stripego "github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards"
)

// Account is whose money a key moves.
type Account struct {
	ID       string // such as acct_…
	Country  string // ISO 3166, two letters
	Currency string // the account's own, ISO 4217, upper case
	// ChargesEnabled tells whether the account may take live payments. In test
	// mode it says nothing: test payments work before an account is activated.
	ChargesEnabled bool
	Live           bool // the mode of the key
}

// Account reads the account that the key belongs to. A key that is wrong, or a
// restricted one that may not read its account, is cards.ErrRefused.
func (c *Client) Account(ctx context.Context) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, cards.CallTimeout)
	defer cancel()
	a, err := c.api.accounts.Retrieve(ctx, &stripego.AccountRetrieveParams{})
	if err != nil {
		return Account{}, toCardsError("account", err)
	}
	return Account{
		ID: a.ID, Country: a.Country, Currency: strings.ToUpper(string(a.DefaultCurrency)),
		ChargesEnabled: a.ChargesEnabled, Live: c.live,
	}, nil
}
