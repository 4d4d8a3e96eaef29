package flows_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// TestStoredCartProblem checks that a problem stored by version 0.9.0, which had its sentence in the record, is the same problem.
func TestStoredCartProblem(t *testing.T) {
	t.Parallel()
	var cart flows.Cart
	stored := `{"problems": [{"code": "settled", "message": "This cart was already settled at the club."}]}`
	if err := json.Unmarshal([]byte(stored), &cart); err != nil || !cart.Settled() {
		t.Errorf("%+v, %v", cart, err)
	}
}

// TestTaxesOfACart checks that taxes are added up by rate, and that a cart has none that are not all of them.
func TestTaxesOfACart(t *testing.T) {
	t.Parallel()
	const year, drink, prorata = `{"priceTI": 4990, "priceTE": 4158, "taxRate": 20}`, `{"priceTI": 550, "priceTE": 500, "taxRate": 10}`,
		`{"priceTI": -500, "priceTE": -417, "taxRate": 20}`
	both := []flows.Tax{{Percent: 20, Included: 832 - 83, Net: 4158 - 417}, {Percent: 10, Included: 50, Net: 500}}
	for name, test := range map[string]struct {
		total    int64
		articles string
		want     []flows.Tax
	}{
		"two rates":     {5040, year + "," + drink + "," + prorata, both},
		"no article":    {0, "", nil},
		"one untold":    {5540, year + `, {"priceTI": 550}`, nil},
		"another total": {5000, year, nil},
	} {
		var sale club.Sale
		if err := json.Unmarshal([]byte(`{"articles": [`+test.articles+`]}`), &sale); err != nil {
			t.Fatal(err)
		}
		sale.TotalTI = test.total
		var registration flows.Registration
		registration.ApplySale("EUR", sale, club.SaleCheck{Valid: true}, time.Time{})
		if !slices.Equal(registration.Cart.Taxes, test.want) {
			t.Errorf("%s: %+v, want %+v", name, registration.Cart.Taxes, test.want)
		}
	}
}
