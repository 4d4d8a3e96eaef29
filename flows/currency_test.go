package flows_test

import (
	"testing"

	"frontdesk/flows"
)

// TestCurrencyWithoutCents: a cart in a currency whose minor unit is not a hundredth cannot be paid by any method: the
// buyer could be charged another amount than the page showed.
func TestCurrencyWithoutCents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r := w.registered(g)
	for currency, want := range map[string]flows.Code{"JPY": flows.MethodNotOffered, "HUF": flows.MethodNotOffered,
		"ISK": flows.MethodNotOffered, "UGX": flows.MethodNotOffered,
		"XPF": flows.MethodNotOffered, "TND": flows.MethodNotOffered} {
		r.Cart.Currency = currency
		for _, method := range []flows.Method{flows.ByCard, flows.Deferred, flows.InPerson} {
			if err := r.CheckPayable(method); flows.CodeOf(err) != want {
				t.Errorf("%s by %s: %v", currency, method, err)
			}
		}
	}
	for _, currency := range []string{"EUR", "CHF", "GBP", "USD"} {
		r.Cart.Currency = currency
		if err := r.CheckPayable(flows.ByCard); err != nil {
			t.Errorf("%s: %v", currency, err)
		}
	}
}
