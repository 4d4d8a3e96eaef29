package club_test

import (
	"strings"
	"testing"

	"frontdesk/upstream/club"
)

// TestIncompleteEmbeddedOffer: an offer in its product's document counts only if it is complete: PHP writes null for what it did not
// load. An offer of another product does not count either.
func TestIncompleteEmbeddedOffer(t *testing.T) {
	const complete = `{"@id": "/demo/offers/1", "product": "/demo/products/1", "registrationFeeTI": 0, "totalPriceTI": 4990,
		"isFirstMonthPayed": true, "rhythmBilling": "monthly", "articleBehaviors": [],
		"repaymentSchedule": {"occurrences": [{"interval": "P1M", "loop": 11, "priceTI": 4990}], "recurrences": []}}`
	for change, counts := range map[string]bool{
		``: true,
		`"rhythmBilling": "monthly" → "rhythmBilling": null`:                     true,
		`"registrationFeeTI": 0 → "registrationFeeTI": null`:                     false,
		`"totalPriceTI": 4990 → "totalPriceTI": null`:                            false,
		`"isFirstMonthPayed": true → "isFirstMonthPayed": null`:                  false,
		`"articleBehaviors": [] → "articleBehaviors": null`:                      false,
		`"recurrences": [] → "recurrences": null`:                                false,
		`"repaymentSchedule": → "repaymentSchedule": null, "other":`:             false,
		`"product": "/demo/products/1" → "product": "/demo/products/2"`:          false,
		`"product": "/demo/products/1" → "product": {"@id": "/demo/products/1"}`: true,
	} {
		before, after, _ := strings.Cut(change, " → ")
		offer := strings.Replace(complete, before, after, 1)
		client := reading(t, members(`{"@id": "/demo/products/1", "name": "Pass", "offers": [`+offer+`]}`))
		products := must[[]club.Product](t)(client.ListProducts(t.Context(), demo, club.ProductQuery{}))
		if len(products) != 1 || (len(products[0].Offers) == 1) != counts {
			t.Errorf("with %s, the offers are %+v", change, products)
		}
	}
}
