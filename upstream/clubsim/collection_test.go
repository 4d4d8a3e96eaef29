package clubsim_test

import (
	"bytes"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"frontdesk/upstream/clubsim"
)

// grant requests a token below the client token, as multipart form data, like collections of requests do. Variables that they leave
// empty are sent too.
func (d *testClient) grant(kind, email, club string) *result {
	d.t.Helper()
	var content bytes.Buffer
	form := multipart.NewWriter(&content)
	for name, value := range map[string]string{
		"grant_type":    kind,
		"client_id":     clubsim.DemoClientID,
		"client_secret": clubsim.DemoClientSecret,
		"email":         email,
		"clubId":        club,
	} {
		form.WriteField(name, value)
	}
	form.Close()
	r, _ := http.NewRequest("POST", d.url+"/"+d.token+"/oauth/v2/token", &content)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("x-gateway-api-key", d.key)
	return d.send(r)
}

const (
	contactGrant = "http://contactclientcredentials"
	clubGrant    = "http://clubclientcredentials"
)

// TestContactGrant: with the address of a contact of any club of its organisation, a client gets the contact's own token. Temporary
// contacts and those of other organisations have none.
func TestContactGrant(t *testing.T) {
	client := newTestClient(t, "demo-contact-grant")
	client.newContact(body{"status": "temp", "email": "prospect@example.com"})
	client.newContact(body{"status": "temp", "email": "temp@example.com"})
	own := client.grant(contactGrant, "Prospect@Example.com", "").want(200)
	if own.text("token_type") != "Bearer" || own.number("expires_in") != 3600 {
		t.Errorf("token %s", own.raw)
	}
	for _, email := range []string{"", "nobody@example.com", "temp@example.com"} {
		client.grant(contactGrant, email, client.iri("clubs", 11)).want(400).wantText("invalid_grant")
	}
	client.bearer, client.club, client.node = own.text("access_token"), "", ""
	client.get("contacts/1003").want(200)
	client.get("contacts/1001").want(404)
	requests := client.world.Requests()
	if last := requests[len(requests)-3]; last.Operation != "contactToken" || last.Status != 400 || last.Path != "/oauth/v2/token" {
		t.Errorf("the journal has %+v", last)
	}
	other := *client
	other.token = "demo-contact-grant-2"
	other.get("network_nodes").want(404)
}

// TestClubGrant: a club's own token acts as that club, from its own node, without scope headers.
func TestClubGrant(t *testing.T) {
	client := newTestClient(t, "demo-club-grant")
	for _, club := range []string{"", "11", client.iri("clubs", 99), "/demo/clubs/11"} {
		client.grant(clubGrant, "", club).want(400).wantText("invalid_grant")
	}
	client.bearer = client.grant(clubGrant, "", client.iri("clubs", 11)).want(200).text("access_token")
	for _, scope := range []struct {
		club, node string
		status     int
	}{
		{"", "", 200},
		{client.iri("clubs", 11), "", 200},
		{client.iri("clubs", 11), client.iri("network_nodes", 1), 200},
		{"null", "", 200}, // what a collection makes of an empty variable
		{client.iri("clubs", 12), "", 404},
	} {
		client.club, client.node = scope.club, scope.node
		if got := client.get("contacts/1001").status; got != scope.status {
			t.Errorf("club %q, node %q: %d, want %d", scope.club, scope.node, got, scope.status)
		}
	}
	client.club, client.node = "", client.iri("network_nodes", 1)
	client.get("contacts/1004").want(404) // of another club of the chain
	if clubs := client.get("clubs").want(200).members(); len(clubs) != 1 {
		t.Errorf("it sees %d clubs", len(clubs))
	}
	client.control("PUT", "settings", body{"clientClubs": []int{12}}).want(200)
	client.grant(clubGrant, "", client.iri("clubs", 11)).want(400)
}

// TestOrder: a list is in the order that a parameter asks for, on all its pages, by members of its records and of what they embed.
func TestOrder(t *testing.T) {
	client := newTestClient(t, "demo-order")
	first := func(path string) string { return client.get(path).want(200).members()[0]["@id"].(string) }
	client.control("PUT", "clock", body{"advance": "PT1M"}).want(200)
	newest := client.newContact(body{"familyName": "aaron", "givenName": "Zoe"})
	for _, refuse := range []bool{false, true} {
		client.control("PUT", "settings", body{"refuseFilters": refuse}).want(200)
		for path, wanted := range map[string]string{
			"contacts?order[createdAt]=desc":                                newest,
			"contacts?order[createdAt]=asc":                                 client.iri("contacts", 1001),
			"contacts?order[familyName]=asc":                                newest,
			"contacts?order[address.postalCode]=desc&page=2&itemsPerPage=4": client.iri("contacts", 1001),
			"clubs?order[name]=desc":                                        client.iri("clubs", 13),
			"clubs?order[id]=desc":                                          client.iri("clubs", 13),
			"clubs?order[colour]=asc":                                       client.iri("clubs", 11),
			"class_events?order[startedAt]=desc&itemsPerPage=1":             client.iri("class_events", 56),
			"attendees?order[classEvent.startedAt]=desc":                    client.iri("attendees", 1),
		} {
			if got := first(path); got != wanted {
				t.Errorf("%s begins with %s, want %s", path, got, wanted)
			}
		}
	}
}

// TestContactFilters: contacts of other clubs below the acting node, and by time.
func TestContactFilters(t *testing.T) {
	client := newTestClient(t, "demo-contact-filters")
	for query, wanted := range map[string]int{
		"contacts": 4,
		"contacts?clubId=" + client.iri("clubs", 13):                                            3,
		"contacts?clubId[]=" + client.iri("clubs", 12) + "&clubId[]=" + client.iri("clubs", 13): 5,
		"contacts?clubId=" + client.iri("clubs", 21):                                            0,
		"contacts?createdAt[strictly_before]=2020-01-01":                                        0,
		"contacts?updatedAt[before]=2100-01-01&isAnonymous=false&includeNationalId=true":        4,
	} {
		if got := len(client.get(query).want(200).members()); got != wanted {
			t.Errorf("%s: %d contacts, want %d", query, got, wanted)
		}
	}
	for query, wanted := range map[string]int{
		"contact_tags?contact=" + client.iri("contacts", 1001):   2,
		"contact_tags?name=member":                               1,
		"contact_tags?contact[]=" + client.iri("contacts", 1002): 0,
		"clubs?q=lyon": 1,
		"clubs?postalCode=75011&visibility=local":                                                1,
		"offers?product.type[]=badge&name=unknown":                                               0,
		"attendees?contactClubId=" + client.iri("clubs", 12):                                     0,
		"attendees?classEvent.activity=" + client.iri("activities", 1):                           1,
		"attendees?classEvent.startedAt[after]=2100-01-01":                                       0,
		"class_events?attendees.contactId=" + client.iri("contacts", 1001):                       1,
		"class_events?attendees.contactId[]=" + client.iri("contacts", 1002) + "&order[id]=desc": 0,
	} {
		client.control("PUT", "settings", body{"refuseFilters": true}).want(200)
		if got := len(client.get(query).want(200).members()); got != wanted {
			t.Errorf("%s: %d records, want %d", query, got, wanted)
		}
	}
	client.get("contacts?clubId=11").want(404)
	client.get("contacts?createdAt[after]=yesterday").want(400)
}

// TestClubOptional: with the setting, a read without a club is one of all clubs below the node. Writes still need the club.
func TestClubOptional(t *testing.T) {
	client := newTestClient(t, "demo-club-optional")
	client.club, client.node = "", client.iri("network_nodes", 2)
	client.get("contacts").want(404)
	client.control("PUT", "settings", body{"clubOptional": true}).want(200)
	for path, wanted := range map[string]int{
		"contacts": 6,
		"contacts?clubId=" + client.iri("clubs", 12): 2,
		"clubs":                         2,
		"studios":                       2,
		"optins?itemsPerPage=100":       72,
		"class_events?itemsPerPage=100": 100,
		"attendees":                     1,
		"allowed_debit_days":            -1,
		"products":                      30,
	} {
		answer := client.get(path).want(200)
		if wanted >= 0 && len(answer.members()) != wanted {
			t.Errorf("%s: %d records, want %d", path, len(answer.members()), wanted)
		}
	}
	client.post("contacts", body{"familyName": "A", "givenName": "B"}).want(404)
	client.node = ""
	client.get("contacts").want(404)
}

// TestTimetable: what classes refer to can be listed and read, and events are the classes in a calendar.
func TestTimetable(t *testing.T) {
	client := newTestClient(t, "demo-timetable")
	for _, collection := range []string{"activities", "coaches", "studios", "countries", "referentials/sources"} {
		listed := client.get(collection).want(200).members()
		if len(listed) == 0 {
			t.Fatalf("no %s", collection)
		}
		if first := listed[0]["@id"].(string); collection != "countries" {
			client.get(client.relative(first)).want(200)
			client.get(collection + "/999").want(404)
		}
	}
	studio, activity := client.iri("studios", 111), client.iri("activities", 2)
	for query, wanted := range map[string]int{
		"": 56, "?calendars[]=" + studio: 56, "?calendars[]=" + activity: 14, "?calendars[]=" + client.iri("coaches", 9): 0,
		"?startedAt=2026-11-22T00:00:00&endedAt=2026-11-23T00:00:00&calendars[]=" + client.iri("coaches", 2): 1,
	} {
		if got := client.get("events" + query).want(200).number("hydra:totalItems"); int(got) != wanted {
			t.Errorf("events%s: %v, want %d", query, got, wanted)
		}
	}
	client.get("events?startedAt=noon").want(400)
}

// TestCollection plays the requests of a real installation's collection in their order, without a change: an address after /sim/
// that begins with the slash of an identifier, countries by name, a code that was written down, one SMS for two targets.
func TestCollection(t *testing.T) {
	client := newTestClient(t, "demo-collection")
	direct := httptest.NewServer(http.StripPrefix("/sim", client.server)) // without a mux, which would redirect
	t.Cleanup(direct.Close)
	client.url = direct.URL + "/sim"
	client.control("PUT", "settings", body{
		"networkNodeShape": "parent",
		"embeddedOffers":   "complete",
		"countryIso":       true,
		"bacsMandates":     true,
		"severalTargets":   true,
		"migrationNode":    "any",
		"migrationNewId":   true,
		"uniqueEmail":      "all",
		"contactStatus":    "state",
		"checkouts":        "own",
		"smsCode":          body{"accepted": []string{"522519", "12345"}},
	}).want(200)
	client.bearer = client.grant("client_credentials", "", "").want(200).text("access_token")
	played := collection{testClient: client}
	played.registers()
	played.moves()
	played.buys()
	played.signs()
	played.pays()
}

// collection plays a collection's requests; each part uses what the ones before it have made.
type collection struct {
	*testClient
	code        string // of the club
	buyer, sale string // IRIs
	due         int
}

var toulon = body{"addressCountry": "France", "addressLocality": "Toulon", "streetAddress": "52 chemin du test", "postalCode": "83390"}

// at makes a request to an identifier, which is joined to the address with a slash too many.
func (c *collection) at(method, iri string, b any) *result {
	c.t.Helper()
	r := c.request(method, "", b)
	r.URL.Path = "/sim/" + iri
	return c.send(r)
}

func personWith(email string) body {
	return body{
		"familyName": "DEV",
		"givenName":  "Test",
		"gender":     "male",
		"birthDate":  "2000-01-01",
		"email":      email,
		"mobile":     "+33626082779",
		"address":    toulon,
	}
}

// registers looks for a contact, and creates it with a source of its own.
func (c *collection) registers() {
	c.t.Helper()
	if found := c.get("contacts?email=test%2B1@example.com").want(200).members(); len(found) != 0 {
		c.t.Errorf("found %v", found)
	}
	c.get("countries").want(200)
	c.get("referentials/sources").want(200)
	source := c.post("referentials/sources", body{"name": "My super app"}).want(201).text("@id")
	newcomer := personWith("test+1@example.com")
	newcomer["clubId"], newcomer["sourceId"] = c.club, source
	abroad := maps.Clone(toulon)
	abroad["addressCountryCode"], abroad["addressCountry"] = "ES", "Espagne"
	newcomer["address"] = abroad
	created := c.post("contacts", newcomer).want(201)
	if created.text("sourceId") != source {
		c.t.Errorf("created %s", created.raw)
	}
	c.post("contacts", body{"familyName": "A", "givenName": "B", "sourceId": c.iri("referentials/sources", 99)}).want(404)
}

// moves has a contact move to another club, as that club.
func (c *collection) moves() {
	c.t.Helper()
	var clubs []body
	for _, node := range c.get("network_nodes").want(200).members() {
		if node["type"] == "club" && node["parent"] == c.iri("network_nodes", 2) {
			clubs = append(clubs, node)
		}
	}
	from, to := clubs[0], clubs[1]
	c.club, c.node = from["clubId"].(string), from["@id"].(string)
	mover := personWith("gym-test@example.com")
	mover["clubId"] = c.club
	moved := c.post("contacts", mover).want(201).text("@id")
	c.club, c.node = to["clubId"].(string), to["@id"].(string)
	request := c.post("contact_migration_requests", body{"contactId": moved, "clubId": c.club}).want(201).text("@id")
	result := c.at("POST", request+"/transitions", body{"transition": "validate", "code": "522519"}).want(201).text("resultTargetId")
	c.at("GET", result, nil).want(200)
	c.at("PUT", result, body{"givenName": "Test Update"}).want(200)
}

// buys sells the second product to a new contact of the first club.
func (c *collection) buys() {
	c.t.Helper()
	club := c.get("clubs").want(200).members()[0]
	c.club = club["@id"].(string)
	c.node = c.get("network_nodes?clubId=" + c.club).want(200).members()[0]["@id"].(string)
	c.code = c.at("GET", c.club, nil).want(200).text("code")
	buyer := c.post("contacts", personWith("test+2@example.com")).want(201)
	c.buyer = buyer.text("@id")
	c.sale = c.post("sales", body{
		"contactId":         c.buyer,
		"contactNumber":     buyer.text("number"),
		"contactGivenName":  "Test",
		"contactFamilyName": "DEV",
		"clubId":            c.club,
		"clubCode":          c.code,
		"address":           toulon,
	}).want(201).text("@id")
	product := c.get("products").want(200).members()[1]
	offer := product["offers"].([]any)[0].(body)["@id"]
	if other := c.get(fmt.Sprint("offers?product=", product["@id"])).want(200).members()[0]["@id"]; other != offer {
		c.t.Errorf("the product embeds %s, and %s is listed", offer, other)
	}
	day := today.Format("2006-01-02")
	c.at("POST", c.sale+"/articles", body{
		"offerId":           offer,
		"implementation":    body{"startDate": day},
		"repaymentSchedule": body{"startDate": day},
	}).want(201)
	c.due = c.at("GET", c.sale, nil).want(200).number("totalTI")
	if c.due == 0 {
		c.t.Error("nothing is due")
	}
}

// signs signs the sale and a mandate with one code.
func (c *collection) signs() {
	c.t.Helper()
	mandate := c.post("mandates", body{
		"clubId":            c.club,
		"contactId":         c.buyer,
		"contactFamilyName": "Doe",
		"contactGivenName":  "John",
		"contactNumber":     "1",
		"contactAddress":    toulon,
		"accountName":       "John Doe",
		"type":              "bacs",
		"accountNumber":     "55779911",
		"sortCode":          "200000",
		"holder":            "John Doe",
		"iban":              "DE15843988385047239833",
		"bic":               "DEUTDEFF",
		"bank":              "DEUTSCHE BANK AG",
		"validFrom":         "2019-06-21",
	}).want(201).text("@id")
	targets := body{"contactId": c.buyer, "targetIds": []string{c.sale, mandate}}
	signature := c.post("signature_requests", targets).want(201).text("@id")
	c.at("POST", signature+"/transitions", body{"transition": "validate", "code": "12345"}).want(201)
	if state := c.at("GET", mandate, nil).want(200).text("state"); state != "signed" {
		c.t.Errorf("the mandate is %s", state)
	}
}

// pays requests a payment at the club's own processor, which is never made.
func (c *collection) pays() {
	c.t.Helper()
	order := body{
		"contactId":          c.buyer,
		"amount":             c.due,
		"currency":           "EUR",
		"clubId":             c.club,
		"clubCode":           c.code,
		"checkout":           c.get("checkouts").want(200).members()[0]["@id"],
		"payableObjects":     body{"sales": []string{c.sale}},
		"useAvailableAmount": false,
		"cancelUrl":          "https://cancel.url",
		"validUrl":           "https://valid.url",
	}
	payable := c.post("payable_objects", order).want(201)
	if payable.text("state") != "requested" || payable.text("token") == "" || payable.number("amount") != c.due {
		c.t.Errorf("payable %s", payable.raw)
	}
	if checked := c.at("PUT", payable.text("@id")+"/check", nil).want(200).text("state"); checked != "requested" {
		c.t.Errorf("it is %s", checked)
	}
	delete(order, "clubCode")
	c.post("payable_objects", order).want(400).wantText("clubCode")
	order["clubCode"], order["payableObjects"] = c.code, body{"sales": []string{"/demo/sales/1"}}
	c.post("payable_objects", order).want(404)
	if len(c.world.Ledger()) != 0 {
		c.t.Error("something was paid")
	}
}
