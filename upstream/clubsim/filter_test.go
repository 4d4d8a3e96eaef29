package clubsim_test

import "testing"

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
