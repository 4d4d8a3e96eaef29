package club

import (
	"context"
	"slices"
)

// Checkout is a register of a club, on which payments are recorded. Its members are those of installations: the description of the API
// shows none, so each is empty if it is missing or has another form.
type Checkout struct {
	IRI      IRI
	Account  string // at the card processor, of the club's own payments on the web
	Currency string // ISO 4217, as the club system writes it
}

// wireCheckout is the JSON of a Checkout.
type wireCheckout struct {
	IRI      IRI             `json:"@id"`
	Club     lenient[IRI]    `json:"clubId"`
	Currency lenient[string] `json:"currency"`
	Config   lenient[struct {
		Account lenient[string] `json:"accountId"`
	}] `json:"paymentProviderConfiguration"`
}

func (c wireCheckout) check() error { return requireIRI(c.IRI, "checkouts") }

// ListCheckouts reads the registers of the acting club, in installations that show them; others refuse it. Those of another club are left
// out.
func (c *Client) ListCheckouts(ctx context.Context, scope Scope) ([]Checkout, error) {
	listed, err := list[wireCheckout](ctx, c, get("ListCheckouts", scope, "checkouts", ""))
	listed = slices.DeleteFunc(listed, func(read wireCheckout) bool { return read.Club.value != "" && read.Club.value != scope.Club })
	checkouts := make([]Checkout, len(listed))
	for i, read := range listed {
		checkouts[i] = Checkout{
			IRI:      read.IRI,
			Account:  read.Config.value.Account.value,
			Currency: read.Currency.value,
		}
	}
	return checkouts, err
}
