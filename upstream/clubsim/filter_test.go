package clubsim_test

import (
	"strings"
	"testing"
)

// TestFilters: each list has the filters of installations, with one value or several. A filter that it does not know is ignored, or
// refused if the settings say so.
func TestFilters(t *testing.T) {
	client := newTestClient(t, "demo-filters")
	iri := client.iri
	for _, refuse := range []bool{false, true} {
		client.control("PUT", "settings", body{"refuseFilters": refuse}).want(200)
		for query, wanted := range map[string]int{
			"optins?contactId=" + iri("contacts", 1001) + "&type=news":                                                   3,
			"optins?contactId[]=" + iri("contacts", 1001) + "&contactId[]=" + iri("contacts", 1002) + "&channel[]=email": 8,
			"optins?contactId[0]=" + iri("contacts", 1001) + "&type[]=news&type[]=legal&channel=email":                   2,
			"network_nodes?clubId[]=" + iri("clubs", 11) + "&clubId[]=" + iri("clubs", 21):                               2,
			"network_nodes?name=Lumen+Bastille":                                                                          1,
			"network_nodes?alias=lille&type=club":                                                                        1,
			"network_nodes?alias=lille&type=group":                                                                       0,
			"products?type[]=badge&type[]=unsold":                                                                        -1,
			"attendees?contactId[]=" + iri("contacts", 1001):                                                             1,
			"attendees?classEvent=" + iri("class_events", 1):                                                             1,
			"attendees?state[]=canceled":                                                                                 0,
			"attendees?createdAt[after]=2100-01-01":                                                                      0,
			"class_events?startedAt[strictly_before]=2020-01-01":                                                         0,
			"class_events?startedAt[after]=tomorrow":                                                                     -1,
			"class_events?club=" + iri("clubs", 21):                                                                      0,
			"class_events?activity=" + client.iri("activities", 999):                                                     0,
		} {
			if wanted < 0 {
				client.get(query).want(400)
				continue
			}
			if got := len(client.get(query).want(200).members()); got != wanted {
				t.Errorf("%s: %d records, want %d", query, got, wanted)
			}
		}
		everything := len(client.get("class_events").members())
		if got := len(client.get("class_events?startedAt[after]=2020-01-01T00:00:00&startedAt[before]=2100-01-01").members()); got != everything {
			t.Errorf("%d classes of %d", got, everything)
		}
		if badges := client.get("products?type[]=badge&itemsPerPage=100").want(200).members(); len(badges) == 0 {
			t.Error("no badge")
		}
		for _, unknown := range []string{"products?colour=red", "optins?contactId=" + iri("contacts", 1001) + "&colour[]=red", "clubs?q[a]=b"} {
			if refuse {
				client.get(unknown).want(400)
			} else {
				client.get(unknown).want(200)
			}
		}
	}
}

// TestSaleFilters lists sales and articles by the filters of installations. If the settings turn these off, they are parameters that
// the lists do not know.
func TestSaleFilters(t *testing.T) {
	client := newTestClient(t, "demo-sale-filters")
	contact, other := client.newContact(nil), client.newContact(nil)
	open, paid := client.filledSale(contact, 4101), client.filledSale(other, 201)
	client.pay(paid, other, 14900).want(201)
	sale := client.get(paid).want(200)
	invoice, reference := sale.text("invoiceId"), sale.text("invoiceReference")
	const all = 4 // with two of the world's own
	filters := map[string]int{
		"":                       all,
		"contactId[]=" + contact: 1,
		"contactId=" + other:     1,
		"contactId[]=" + contact + "&contactId[]=" + other: 2,
		"clubId[]=" + client.club:                          all,
		"clubId[]=" + client.iri("clubs", 12):              0,
		"invoiceId[]=" + invoice:                           1,
		"invoiceReference=" + reference:                    1,
		"state[]=settled":                                  1,
		"state[]=settled&state[]=building":                 2,
		"channel[]=web":                                    all,
		"channel[]=club":                                   0,
		"createdAt[after]=2020-01-01":                      all,
		"createdAt[strictly_before]=2020-01-01":            0,
		"contactId[]=1001":                                 -1,
		"createdAt[after]=tomorrow":                        -1,
	}
	list := func(path string, want int) {
		t.Helper()
		if want < 0 {
			if status := client.get(path).status; status != 400 && status != 404 {
				t.Errorf("%s: status %d", path, status)
			}
		} else if got := len(client.get(path).want(200).members()); got != want {
			t.Errorf("%s: %d records, want %d", path, got, want)
		}
	}
	for query, want := range filters {
		ofArticles := ""
		if query != "" {
			ofArticles = "sale." + strings.ReplaceAll(query, "&", "&sale.")
		}
		list("sales?"+query, want)
		list("articles?"+ofArticles, want)
	}
	list("articles?sale[]=/demo-sale-filters/"+open, 1)
	client.control("PUT", "settings", body{"saleFilters": false}).want(200)
	list("sales?contactId[]="+contact, all)
	list("articles?sale.contactId[]="+contact, all)
	client.control("PUT", "settings", body{"refuseFilters": true}).want(200)
	client.get("sales?contactId[]=" + contact).want(400)
	client.get("articles?sale[]=/demo-sale-filters/" + open).want(400)
	client.get("sales").want(200)
}
