package journey_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestEmbeddedOffers: where products have their offers complete, a cold catalogue needs no call for each of them, and where they have
// summaries it reads the offers as ever. Visitors see the same in each case.
func TestEmbeddedOffers(t *testing.T) {
	t.Parallel()
	whole := map[string]int{"listNetworkNodes": 1, "getClub": 1, "listProducts": 2}
	single := maps.Clone(whole)
	single["listOffers"] = 41
	documented := productsIn(t, map[string]any{}, single)
	if len(documented) != 41 {
		t.Fatalf("the catalogue has %d products, want 41", len(documented))
	}
	for name, world := range map[string]struct {
		settings map[string]any
		calls    map[string]int
	}{
		"complete":           {map[string]any{"embeddedOffers": "complete"}, whole},
		"complete, from PHP": {map[string]any{"embeddedOffers": "complete", "phpJson": true}, whole},
		"summary":            {map[string]any{"embeddedOffers": "summary"}, single},
	} {
		if shown := productsIn(t, world.settings, world.calls); !reflect.DeepEqual(shown, documented) {
			t.Errorf("%s: the catalogue is\n%+v\ninstead of\n%+v", name, shown, documented)
		}
	}
	needs := func(products []api.Product, id string) []api.OfferNeed {
		i := slices.IndexFunc(products, func(product api.Product) bool { return product.Id == id })
		return products[i].Offers[0].Needs
	}
	linked := productsIn(t, map[string]any{"behaviorIris": true}, single)
	for _, id := range []string{"9", "19", "28", "33", "40"} { // a subscription, an option, a booklet, a package with a subscription, goods
		if got, want := needs(linked, id), needs(documented, id); !slices.Equal(got, want) {
			t.Errorf("where behaviors have no names, product %s needs %v instead of %v", id, got, want)
		}
	}
}

// productsIn returns the products of a world with settings, and compares the calls to the club system that they cost.
func productsIn(t *testing.T, settings map[string]any, calls map[string]int) (products []api.Product) {
	t.Helper()
	client, _ := frontdesktest.NewWorld(t)
	client.Control(http.MethodPut, "settings", settings).Into(http.StatusOK, nil)
	for cursor := ""; ; {
		var page api.ProductList
		client.Do(http.MethodGet, "/v1/clubs/11/products"+cursor, nil).Into(http.StatusOK, &page)
		products = append(products, page.Items...)
		if page.Next == nil {
			break
		}
		cursor = "?cursor=" + *page.Next
	}
	made := map[string]int{}
	for _, operation := range client.Operations(0) {
		made[operation]++
	}
	if !maps.Equal(made, calls) {
		t.Errorf("%v: the cold catalogue makes the calls %v, want %v", settings, made, calls)
	}
	return products
}
