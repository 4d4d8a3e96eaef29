package clubsim_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestMediaTypes: what Accept asks for decides the form of a response, where the settings say so.
func TestMediaTypes(t *testing.T) {
	client := newTestClient(t, "demo-media")
	read := func(path, accept string) *result {
		t.Helper()
		r := client.request("GET", path, nil)
		r.Header.Set("Accept", accept)
		return client.send(r).want(200)
	}
	for accept, plain := range map[string]bool{
		"":                              false,
		"*/*":                           false,
		"application/json":              true,
		"application/json;q=1.0, */*":   true,
		"application/ld+json":           false,
		"application/json;q=0.5, */*":   false,
		"application/ld+json, */*;q=.1": false,
	} {
		for _, setting := range []bool{false, true} {
			client.control("PUT", "settings", body{"plainJson": setting}).want(200)
			wanted := plain && setting
			if got := strings.Contains(read("contacts/1001", accept).raw, `"@id"`); got == wanted {
				t.Errorf("%q, setting %v: with an identifier %v", accept, setting, got)
			}
			if got := strings.HasPrefix(read("contacts", accept).raw, "["); got != wanted {
				t.Errorf("%q, setting %v: an array %v", accept, setting, got)
			}
		}
	}
	client.control("PUT", "settings", body{"writeType": "application/ld+json"}).want(200)
	for contentType, status := range map[string]int{
		"application/json":                   http.StatusUnsupportedMediaType,
		"":                                   http.StatusUnsupportedMediaType,
		"application/ld+json; charset=utf-8": http.StatusOK,
	} {
		r := client.request("PUT", "contacts/1001", body{"givenName": "Ada"})
		r.Header.Set("Content-Type", contentType)
		client.send(r).want(status)
	}
}

// TestDoubledSlashes: paths that were joined without care are those with one slash.
func TestDoubledSlashes(t *testing.T) {
	client := newTestClient(t, "demo-slashes")
	direct := httptest.NewServer(client.server) // without a mux, which would redirect
	t.Cleanup(direct.Close)
	client.url = direct.URL
	r := client.request("GET", "/contacts///1001", nil)
	if got := client.send(r).want(200).text("@id"); got != client.iri("contacts", 1001) {
		t.Errorf("read %s", got)
	}
}

// TestClubOfAnEvent: each delivery names the club in a header, that of the contact where the event has none.
func TestClubOfAnEvent(t *testing.T) {
	clubs := make(chan string, 2)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { clubs <- r.Header.Get("X-User-Club-Id") }))
	t.Cleanup(receiver.Close)
	client := newTestClient(t, "demo-header")
	client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	client.world.Emit("contact.updated", map[string]string{"contactId": client.iri("contacts", 1003)})
	client.world.Emit("contact_tag.updated", nil)
	for _, want := range []string{client.iri("clubs", 13), client.iri("clubs", 11)} {
		if got := frontdesktest.Receive(t, clubs, "an event"); got != want {
			t.Errorf("header %q, want %q", got, want)
		}
	}
}

// TestUnknownFieldsOfMoney: a request that makes money move is refused for a field that the club system does not know, at any depth,
// and nothing is done. Members of JSON-LD mean nothing.
func TestUnknownFieldsOfMoney(t *testing.T) {
	client := newTestClient(t, "demo-unknown")
	contact := client.newContact(nil)
	sale := client.relative(client.filledSale(contact, 101))
	payment := client.paymentBody(contact, 49900)
	payment["@context"] = "/contexts/Payment"
	for field, change := range map[string]func(body){
		"tip": func(b body) { b["tip"] = 100 },
		"paymentCards[0].tip": func(b body) {
			b["mean"], b["paymentCards"] = "card", []body{{"amount": 49900, "network": "CBGroup", "tip": 1}}
		},
		"contactFamilyNameFoo": func(b body) { b["contactFamilyNameFoo"] = nil },
	} {
		changed := maps.Clone(payment)
		change(changed)
		client.post(sale+"/payments", changed).want(400).wantField(field)
	}
	client.post(sale+"/postpone_due", body{"date": "2026-12-31", "fee": 1}).want(400).wantField("fee")
	client.post(sale+"/transitions", body{"transition": "validate", "force": true}).want(400).wantField("force")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 201), "discount": 10}).want(400).wantField("discount")
	client.post(sale+"/articles", body{
		"offerId":        client.iri("offers", 201),
		"implementation": body{"startDate": "2026-12-01", "freeMonths": 1},
	}).want(400).wantField("implementation.freeMonths")
	if payments := client.world.Ledger(); len(payments) != 0 {
		t.Errorf("payments %+v", payments)
	}
	if sale := client.get(sale); sale.json["state"] != "building" || len(sale.json["articles"].([]any)) != 1 {
		t.Errorf("sale %s", sale.raw)
	}
	client.post(sale+"/payments", payment).want(201)
}
