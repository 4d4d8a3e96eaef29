package flows_test

import (
	"testing"

	"frontdesk/flows"
)

// TestCurrencyWithoutCents: a cart in a currency whose minor unit is not a hundredth, or that is unknown, cannot be paid
// by any method: the buyer could be charged another amount than the page showed. One without debits in which nothing is
// due can be settled.
func TestCurrencyWithoutCents(t *testing.T) {
	t.Parallel()
	registration := flows.Registration{
		State:   flows.Open,
		Contact: &flows.Contact{IRI: "/demo/contacts/1"},
		Items:   []flows.Item{{Offer: "/demo/offers/201"}},
		Cart:    flows.Cart{Total: 14900, Valid: true, Lines: []flows.Line{{Price: 14900}}},
	}
	free := registration
	free.Cart.Total = 0
	for _, currency := range []string{"JPY", "HUF", "ISK", "UGX", "XPF", "TND", "", "XXX", "QQQ", "€", "Euro"} {
		registration.Cart.Currency, free.Cart.Currency = currency, currency
		for _, method := range []flows.Method{flows.ByCard, flows.Deferred, flows.InPerson} {
			if err := registration.CheckPayable(method); flows.CodeOf(err) != flows.CartInvalid {
				t.Errorf("%s by %s: %v", currency, method, err)
			}
		}
		if err := free.CheckPayable(flows.Free); err != nil {
			t.Errorf("%s, free: %v", currency, err)
		}
	}
	for _, currency := range []string{"EUR", "CHF", "GBP", "USD", "eur", "XCG", "SLE"} {
		registration.Cart.Currency = currency
		if err := registration.CheckPayable(flows.ByCard); err != nil {
			t.Errorf("%s: %v", currency, err)
		}
	}
}
