package clubsim_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// names lists the products that a query shows, over all pages.
func (d *testClient) names(query string) []string {
	d.t.Helper()
	var names []string
	for _, p := range d.get("products?itemsPerPage=100&" + query).want(200).members() {
		names = append(names, p["name"].(string))
	}
	return names
}

func TestCatalogueByContext(t *testing.T) {
	client := newTestClient(t, "demo-catalogue")
	club := func(id int) string { return "context[club]=" + client.iri("clubs", id) }
	for name, test := range map[string]struct {
		query, product string
		shown          bool
	}{
		"plain":                    {"", "Year Pass", true},
		"channel web":              {"context[channel]=web", "Espresso", false},
		"channel terminal":         {"context[channel]=terminal", "Espresso", true},
		"acting club":              {"", "Pool", false},
		"another club":             {club(12), "Pool", true},
		"no tag":                   {"", "Student Year", false},
		"tag":                      {"context[contactTag][]=student&context[contactTag][]=other", "Student Year", true},
		"tag, plural":              {"context[contactTags][]=student", "Student Year", true},
		"tag with an index":        {"context[contactTag][0]=student", "Student Year", true},
		"tag by identifier":        {"context[contactTag][]=" + client.iri("contact_tags", 2), "Corporate Flex", true},
		"contact's own tag":        {"context[contactId]=" + client.iri("contacts", 1001), "Corporate Flex", true},
		"low debt":                 {"context[debt]=5000", "Year Pass", true},
		"high debt":                {"context[debt]=5001", "Year Pass", false},
		"high debt, booklet":       {"context[debt]=5001", "10-Visit Booklet", true},
		"high debt, package":       {"context[debt]=5001", "Starter Package", false},
		"debt elsewhere":           {club(13) + "&context[debt]=5001", "Year Pass", true},
		"contact's own debt":       {"context[contactId]=" + client.iri("contacts", 1002), "Year Pass", false},
		"winter":                   {"context[date]=2026-12-24", "Summer Pass", false},
		"summer":                   {"context[date]=2027-07-14", "Summer Pass", true},
		"trial for newcomers":      {"", "Free Trial Session", true},
		"trial for a customer":     {"context[contactId]=" + client.iri("contacts", 1001), "Free Trial Session", false},
		"banned":                   {"context[contactId]=" + client.iri("contacts", 1005), "Year Pass", false},
		"type":                     {"type=badge", "Access Badge", true},
		"another type":             {"type=badge", "Year Pass", false},
		"age is left to the check": {"context[contactId]=" + client.iri("contacts", 1006), "Night Owl Year", true},
	} {
		if shown := slices.Contains(client.names(test.query), test.product); shown != test.shown {
			t.Errorf("%s: %s shown: %v, want %v", name, test.product, shown, test.shown)
		}
	}
	client.get("products?type=nonsense&context[channel]=phone&context[debt]=much&context[date]=soon").
		want(400).wantField("type", "context[channel]", "context[debt]", "context[date]")
	client.get("products?context[club]=11").want(404)
	client.get("products?context[contactId]=1001").want(404)
	client.get("products?context[club]=" + client.iri("clubs", 21)).want(404)
}

// Each club of the demo organisation sells what the organisation promises.
func TestCatalogueIsComplete(t *testing.T) {
	for club, node := range map[int]int{11: 1, 12: 1, 13: 1, 21: 6, 22: 6} {
		client := newTestClient(t, fmt.Sprintf("demo-club-%d", club))
		client.club, client.node = client.iri("clubs", club), client.iri("network_nodes", node)
		products := client.get("products?itemsPerPage=100").want(200).members()
		if len(products) <= 30 {
			t.Errorf("club %d sells %d products", club, len(products))
		}
		kinds, rhythms := map[string]int{}, map[string]int{}
		for _, p := range products {
			kinds[p["type"].(string)]++
			if len(p["description"].(string)) < 20 || len(p["productBehaviors"].([]any)) == 0 {
				t.Errorf("product without flesh: %v", p)
			}
			for _, o := range client.get("offers?product=" + p["@id"].(string)).want(200).members() {
				rhythms[o["rhythmBilling"].(string)]++
				verifyOffer(t, o)
			}
		}
		for _, kind := range []string{
			"subscription", "subscription_option", "badge", "counter", "package", "countermark", "test_session", "regular",
		} {
			if kinds[kind] == 0 {
				t.Errorf("club %d sells no %s", club, kind)
			}
		}
		for _, rhythm := range []string{"week1", "P1W", "week4", "P4W", "monthly", "P1M"} {
			if rhythms[rhythm] == 0 {
				t.Errorf("club %d bills nothing %s", club, rhythm)
			}
		}
	}
}

var durationShape = regexp.MustCompile(`^P\d+[WM]$`)

// verifyOffer checks an offer against the description of its fields.
func verifyOffer(t *testing.T, o body) {
	t.Helper()
	schedule := o["repaymentSchedule"].(body)
	first := 0.0
	for _, list := range []string{"occurrences", "recurrences"} {
		for i, answer := range bodies(schedule[list].([]any)) {
			if i == 0 || list == "recurrences" { // occurrences follow each other, recurrences run in parallel
				first += answer["priceTI"].(float64)
			}
			if answer["priceTE"].(float64)+answer["tax"].(float64) != answer["priceTI"].(float64) || answer["priceCurrency"] != "EUR" ||
				answer["taxRate"] != 20.0 {
				t.Errorf("tax of %v", answer)
			}
			if !durationShape.MatchString(answer["interval"].(string)) || !durationShape.MatchString(answer["offset"].(string)) {
				t.Errorf("periods of %v", answer)
			}
			_, counted := answer["loop"]
			if counted != (list == "occurrences") || list == "recurrences" && answer["offset"] != "P0W" {
				t.Errorf("%s: %v", list, answer)
			}
		}
	}
	due := o["registrationFeeTI"].(float64)
	if o["isFirstMonthPayed"] == true {
		due += first
	}
	if (first > 0 || due > 0) && o["totalPriceTI"].(float64) != due {
		t.Errorf("%v: due now %v, should be %v", o["name"], o["totalPriceTI"], due)
	}
}

func TestOffers(t *testing.T) {
	client := newTestClient(t, "demo-offers")
	flex := client.get("offers?product=" + client.iri("products", 9)).want(200).members()
	if len(flex) != 2 || flex[0]["registrationFeeTI"] != 2900.0 || flex[0]["registrationFeeName"] != "Registration fee" {
		t.Errorf("flex: %v", flex)
	}
	if len(client.get("offers").want(200).members()) != 30 {
		t.Error("without a filter every offer of the club is listed")
	}
	for query, listed := range map[string]int{ // of Student Year and of Summer Pass
		"product=" + client.iri("products", 7):                                     1,
		"product=" + client.iri("products", 7) + "&context[channel]=web":           0,
		"product=" + client.iri("products", 7) + "&context[contactTags][]=student": 1,
		"product=" + client.iri("products", 7) + "&context[contactTag][]=student":  1,
		"product=" + client.iri("products", 8) + "&context[sellingDay]=2026-12-24": 0,
		"product=" + client.iri("products", 8) + "&context[sellingDay]=2027-07-14": 1,
	} {
		if got := len(client.get("offers?" + query).want(200).members()); got != listed {
			t.Errorf("%s lists %d offers, want %d", query, got, listed)
		}
	}
	steps := client.get("offers/5001").want(200).json["repaymentSchedule"].(body)["occurrences"].([]any)
	if len(steps) != 2 || steps[0].(body)["loop"] != 3.0 || steps[0].(body)["priceTI"] != 1990.0 || steps[1].(body)["loop"] != 9.0 ||
		steps[1].(body)["priceTI"] != 2990.0 {
		t.Errorf("easy start: %v", steps)
	}
	client.get("offers?product=9").want(404)
	client.get("offers?product=" + client.iri("products", 999)).want(404)
	if n := len(client.get("offers?product=" + client.iri("products", 24)).want(200).members()); n != 0 {
		t.Errorf("the club has no pool and %d offers for it", n)
	}
}

// A mandatory option is added automatically, whether it is a badge or an option of the subscription.
func TestMandatoryOptions(t *testing.T) {
	client := newTestClient(t, "demo-mandatory")
	for offer, test := range map[int]struct{ option, total int }{
		301: {2501, 69900 + 500}, 1501: {2501, 8890 + 500}, 4901: {1901, 42900 + 9900}} {
		sale := client.newSale(client.newContact(nil), "PARIS11")
		client.post(sale+"/articles", body{"offerId": client.iri("offers", offer), "implementation": body{"startDate": "2026-12-01"}}).want(201)
		read := client.get(sale).want(200)
		lines := read.json["articles"].([]any)
		if len(lines) != 2 || lines[1].(body)["offerId"] != client.iri("offers", test.option) ||
			lines[1].(body)["parent"] != lines[0].(body)["@id"] ||
			read.number("totalTI") != test.total {
			t.Errorf("%d: %s", offer, read.raw)
		}
		client.get(sale + "/check").want(204)
	}
}

// TestExtraProducts: a world's settings can add a long catalogue, its products can be bought, and a reset
// removes it.
func TestExtraProducts(t *testing.T) {
	client := newTestClient(t, "demo-long")
	own := len(client.names(""))
	if slices.ContainsFunc(client.names(""), func(name string) bool { return name == "Hoodie, black, XS" }) {
		t.Error("a world has extra products from the beginning")
	}
	client.get("products/" + "1001").want(404)
	client.get("offers/" + "100101").want(404)
	client.control("PUT", "settings", body{"extraProducts": 90 - own}).want(200)
	first := client.get("products?itemsPerPage=30").want(200)
	if total := first.json["hydra:totalItems"]; total != 90.0 || len(first.members()) != 30 {
		t.Errorf("the catalogue has %v products, the first page %d", total, len(first.members()))
	}
	offers := client.get("offers?product=" + client.iri("products", 1001)).want(200).members()
	if len(offers) != 1 || offers[0]["totalPriceTI"] != 4900.0 {
		t.Errorf("the offers of an extra product are %v", offers)
	}
	client.control("PUT", "settings", body{"extraProducts": 501}).want(400)
	client.control("PUT", "settings", body{"extraProducts": -1}).want(400)
	client.control("POST", "reset", nil).want(204)
	if left := len(client.names("")); left != own {
		t.Errorf("%d products are left after a reset, of %d", left, own)
	}
}
