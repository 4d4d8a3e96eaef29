package clubsim_test

import (
	"strings"
	"testing"
)

func TestNetworkNodeShapes(t *testing.T) {
	client := newTestClient(t, "demo-nodes")
	nested := client.get("network_nodes").want(200).members()
	if len(nested) != 2 {
		t.Fatalf("%d chains", len(nested))
	}
	franchise := nested[0]["children"].([]any)[0].(body)
	club := franchise["children"].([]any)[0].(body)
	if franchise["type"] != "franchise" || club["type"] != "club" || club["clubId"] != client.iri("clubs", 11) ||
		club["@type"] != "NetworkNode" {
		t.Errorf("nested: %v", nested[0])
	}
	client.control("PUT", "settings", body{"networkNodeShape": "flat"}).want(200)
	flat := client.get("network_nodes").want(200).members()
	if len(flat) != 8 {
		t.Fatalf("%d nodes", len(flat))
	}
	for _, node := range flat {
		for _, child := range node["children"].([]any) {
			if iri, is := child.(string); !is || !strings.HasPrefix(iri, "/demo-nodes/network_nodes/") {
				t.Errorf("a child is %v", child)
			}
		}
		if node["type"] == "club" && len(node["children"].([]any)) != 0 {
			t.Errorf("a club with children: %v", node)
		}
	}
	client.get("network_nodes/2").want(200)
	client.get("network_nodes/99").want(404)
	found := client.get("network_nodes?clubId=" + client.iri("clubs", 11)).want(200).members()
	if len(found) != 1 || found[0]["@id"] != client.iri("network_nodes", 3) {
		t.Errorf("the club's node: %v", found)
	}
	client.get("network_nodes?clubId=11").want(404)
}

func TestClubs(t *testing.T) {
	client := newTestClient(t, "demo-clubs")
	if n := len(client.get("clubs").want(200).members()); n != 3 {
		t.Errorf("%d clubs below the group", n)
	}
	if code := client.get("clubs/12").want(200).text("code"); code != "PARIS17" {
		t.Errorf("code %s", code)
	}
	client.get("clubs/21").want(404)
}

func TestContacts(t *testing.T) {
	client := newTestClient(t, "demo-contacts")
	iri := client.newContact(nil)
	read := client.get(client.relative(iri)).want(200)
	if read.text("@id") != iri || read.text("status") != "temp" || read.text("number") == "" || read.text("clubId") != client.club {
		t.Errorf("contact: %s", read.raw)
	}
	if tags, is := read.json["tags"].([]any); !is || len(tags) != 0 {
		t.Errorf("tags: %v", read.json["tags"])
	}
	if status := client.get(client.relative(client.newContact(body{"status": nil}))).text("status"); status != "prospect" {
		t.Errorf("a contact is made as %s", status)
	}
	customer := client.get("contacts/1001").want(200)
	tag := customer.json["tags"].([]any)[0].(body)
	for _, name := range []string{"@id", "@type", "name", "validFrom", "validThrough"} {
		if tag[name] == nil {
			t.Errorf("a tag without %s: %v", name, tag)
		}
	}
	client.post("contacts", body{}).want(400).wantField("familyName", "givenName")
	client.post("contacts", body{
		"familyName": " ",
		"givenName":  7,
		"clubId":     client.club,
		"email":      "invalid",
		"birthDate":  "2999-01-01",
		"status":     "customer",
	}).
		want(400).
		wantField("familyName", "givenName", "email", "birthDate", "status")
	client.post("contacts", body{"familyName": "A", "givenName": "B", "clubId": client.club, "optins": []any{}}).want(400).wantField("optins")
	client.post("contacts", body{"familyName": "A", "givenName": "B", "clubId": 11}).want(404)
	client.post("contacts", body{"familyName": "A", "givenName": "B", "clubId": "11"}).want(404)
	client.post("contacts", body{"familyName": "A", "givenName": "B", "clubId": client.iri("clubs", 21)}).want(404)

	client.put(client.relative(iri), body{"familyName": "Durand", "address": body{"addressLocality": "Lyon"}}).want(200)
	if name := client.get(client.relative(iri)).text("familyName"); name != "Durand" {
		t.Errorf("name %s", name)
	}
	client.put(client.relative(iri), body{"familyName": ""}).want(400).wantField("familyName")
}

func TestOptins(t *testing.T) {
	client := newTestClient(t, "demo-optins")
	iri := client.newContact(nil)
	consents := client.get("optins?contactId=" + iri).want(200).members()
	if len(consents) != 12 {
		t.Fatalf("%d consents", len(consents))
	}
	kinds := map[string]bool{}
	for _, c := range consents {
		kinds[c["type"].(string)+"/"+c["channel"].(string)] = true
		if c["isAuthorized"] != (c["type"] == "legal") || c["contact"] != iri {
			t.Errorf("default: %v", c)
		}
	}
	if len(kinds) != 12 || !kinds["news/email"] || !kinds["advertising/text_message"] || !kinds["partners/postal_mail"] {
		t.Errorf("kinds: %v", kinds)
	}
	for _, c := range consents {
		path := client.relative(c["@id"].(string))
		if c["type"] == "legal" {
			client.put(path, body{"isAuthorized": false}).want(400).wantCode("api.error.optin.legal-not-editable")
			continue
		}
		if client.put(path, body{"isAuthorized": true}).want(200).json["isAuthorized"] != true {
			t.Errorf("%s was not enabled", path)
		}
	}
	path := client.relative(consents[0]["@id"].(string))
	client.put(path, body{}).want(400).wantField("isAuthorized")
	client.put(path, body{"isAuthorized": "yes"}).want(400).wantField("isAuthorized")
	client.put(path, body{"isAuthorized": true, "channel": "postal_mail"}).want(400).wantField("channel")
	client.put(path, body{"isAuthorized": true, "channel": 1, "type": "legal", "contact": "1001"}).want(400).wantField("channel", "type",
		"contact")
	read := client.get(path).want(200)
	read.json["isAuthorized"] = false
	if back := client.put(path, read.json).want(200); back.json["isAuthorized"] != false {
		t.Errorf("what was read and sent back: %s", back.raw)
	}
	client.get("optins?contactId=1001").want(404)
	if n := client.get("optins").want(200).number("hydra:totalItems"); n != 12*5 { // four personas of the club and the new contact
		t.Errorf("%d consents in the club", n)
	}
}

func TestPagination(t *testing.T) {
	client := newTestClient(t, "demo-pages")
	first := client.get("class_events").want(200)
	view := first.json["hydra:view"].(body)
	if len(first.members()) != 30 || first.number("hydra:totalItems") != 56 || first.text("@type") != "hydra:Collection" {
		t.Errorf("first page: %d of %d", len(first.members()), first.number("hydra:totalItems"))
	}
	if view["hydra:next"] != "/demo-pages/class_events?page=2" || view["hydra:last"] != "/demo-pages/class_events?page=2" {
		t.Errorf("view: %v", view)
	}
	second := client.get("class_events?page=2").want(200)
	if n := len(second.members()); n != 26 {
		t.Errorf("second page: %d", n)
	}
	if n := len(client.get("class_events?page=3").want(200).members()); n != 0 {
		t.Errorf("a page behind the last has %d", n)
	}
	if n := len(client.get("class_events?itemsPerPage=100").want(200).members()); n != 56 {
		t.Errorf("one big page: %d", n)
	}
	if n := len(client.get("class_events?itemsPerPage=5&page=2").want(200).members()); n != 5 {
		t.Errorf("small page: %d", n)
	}
	client.get("class_events?page=0&itemsPerPage=x").want(400).wantField("page", "itemsPerPage")
	client.control("PUT", "settings", body{"pageSize": 3, "maxPageSize": 4, "hydraPrefix": false}).want(200)
	plain := client.get("class_events?itemsPerPage=50").want(200)
	if member := plain.json["member"].([]any); len(member) != 4 || plain.json["hydra:member"] != nil {
		t.Errorf("plain: %s", plain.raw)
	}
	for _, list := range []string{"network_nodes", "clubs", "products", "offers", "optins", "attendees", "class_events"} {
		if got := client.get(list + "?itemsPerPage=1").want(200); len(got.json["member"].([]any)) != 1 {
			t.Errorf("%s does not keep to the page size", list)
		}
	}
}

func TestAttendeesAndClassEvents(t *testing.T) {
	client := newTestClient(t, "demo-classes")
	attendees := client.get("attendees?contactId=" + client.iri("contacts", 1001)).want(200).members()
	if len(attendees) != 1 || attendees[0]["state"] != "booked" {
		t.Fatalf("attendees: %v", attendees)
	}
	event := attendees[0]["classEvent"].(body)["@id"].(string)
	class := strings.TrimPrefix(client.relative(event), "class_events/")
	for filter, n := range map[string]int{"classEventId=" + event: 1, "class_id=" + class: 1, "class_id=2": 0} {
		if got := len(client.get("attendees?" + filter).want(200).members()); got != n {
			t.Errorf("%s: %d attendees of the class", filter, got)
		}
	}
	client.get("attendees?contactId=1001").want(404)
	client.get("attendees?class_id=x").want(404)
	for _, answer := range client.get("class_events").members() {
		booked, remaining := len(answer["bookedAttendees"].([]any)), int(answer["attendeeRemaining"].(float64))
		if (answer["@id"] == event) != (booked == 1) || booked+remaining != int(answer["attendingLimit"].(float64)) {
			t.Errorf("places of %v", answer)
		}
		for _, name := range []string{"club", "studio", "activity", "coach", "startedAt", "endedAt", "summary"} {
			if text, _ := answer[name].(string); text == "" {
				t.Errorf("a class without %s: %v", name, answer)
			}
		}
	}
}

// A timestamp is in whole seconds, and has a zone if the settings say so.
func TestDateTimes(t *testing.T) {
	client := newTestClient(t, "demo-moments")
	if at := client.get("contacts/1001").text("createdAt"); at != "2026-11-21T09:00:00" {
		t.Errorf("createdAt %q", at)
	}
	client.control("PUT", "settings", body{"dateTimeZone": true}).want(200)
	if at := client.get("contacts/1001").text("createdAt"); at != "2026-11-21T09:00:00+00:00" {
		t.Errorf("createdAt %q", at)
	}
	if at := client.get("class_events/1").text("startedAt"); at != "2026-11-22T07:00:00+00:00" {
		t.Errorf("startedAt %q", at)
	}
}

// A known contact can be found by email within the acting club.
func TestContactsAreFound(t *testing.T) {
	client := newTestClient(t, "demo-found")
	find := func(query string) []body { return client.get("contacts" + query).want(200).members() }
	if found := find("?email=CUSTOMER@example.com"); len(found) != 1 || found[0]["@id"] != client.iri("contacts", 1001) {
		t.Errorf("by email: %v", found)
	}
	if found := find("?number=11-001002"); len(found) != 1 || found[0]["@id"] != client.iri("contacts", 1002) {
		t.Errorf("by number: %v", found)
	}
	if n := len(find("")); n != 4 {
		t.Errorf("%d contacts of the club", n)
	}
	if n := len(find("?email=prospect@example.com")); n != 0 {
		t.Error("a contact of another club was found")
	}
	for _, p := range client.world.Personas() {
		if p.Key == "customer" {
			client.bearer = p.AccessToken
		}
	}
	if n := len(find("")); n != 1 {
		t.Errorf("a contact sees %d contacts", n)
	}
}

// Every record with an @id can be read by it, unless it is secret.
func TestRecordsAreReadByTheirIdentifier(t *testing.T) {
	client := newTestClient(t, "demo-by-id")
	contact := client.iri("contacts", 1001)
	sale := client.filledSale(contact, 901)
	mandate := client.post("mandates", client.mandateBody(contact)).want(201).text("@id")
	request := client.post("signature_requests", body{"contactId": contact, "targetId": mandate}).want(201).text("@id")
	article := client.get(sale).json["articles"].([]any)[0].(body)["@id"].(string)
	tag := client.get("contacts/1001").json["tags"].([]any)[0].(body)["@id"].(string)
	records := map[string]string{
		mandate:                       "Mandate",
		request:                       "SignatureRequest",
		article:                       "Article",
		tag:                           "ContactTag",
		client.iri("products", 9):     "Product",
		client.iri("offers", 901):     "Offer",
		client.iri("optins", 1001*12): "Optin",
		client.iri("attendees", 1):    "Attendee",
		client.iri("class_events", 1): "ClassEvent",
	}
	for iri, kind := range records {
		r := client.get(client.relative(iri)).want(200)
		if r.text("@id") != iri || r.text("@type") != kind || r.text("@context") != "/contexts/"+kind {
			t.Errorf("%s: %s", iri, r.raw)
		}
		client.get(client.relative(iri[:strings.LastIndex(iri, "/")+1] + "99999999")).want(404)
	}
	if state := client.get(client.relative(mandate)).text("state"); state != "created" {
		t.Errorf("the mandate is %s", state)
	}
	client.post(client.relative(request)+"/transitions", body{"transition": "validate", "code": client.lastCode()}).want(201)
	if state := client.get(client.relative(mandate)).text("state"); state != "signed" {
		t.Errorf("the mandate is %s", state)
	}
	if state := client.get(client.relative(request)).text("state"); state != "validated" {
		t.Errorf("the request is %s", state)
	}
	payment := client.pay(sale, contact, 6890).want(201).text("@id")
	client.get(client.relative(payment)).want(404) // payments cannot be read
	client.get("contact_tags/3").want(404)         // an accounting tag
	client.get("products/24").want(404)            // not sold in this club
	client.get("offers/2401").want(404)
	other := *client
	other.club, other.node = client.iri("clubs", 21), client.iri("network_nodes", 6)
	for iri, kind := range records {
		if kind != "Product" && kind != "Offer" {
			other.get(client.relative(iri)).want(404)
		}
	}
	for _, p := range client.world.Personas() {
		if p.Key == "former" {
			client.bearer = p.AccessToken
		}
	}
	for iri, kind := range records {
		if kind == "Mandate" || kind == "SignatureRequest" || kind == "Optin" || kind == "Attendee" || kind == "ContactTag" {
			client.get(client.relative(iri)).want(404)
		}
	}
	if booked := client.get("class_events/1").want(200).json["bookedAttendees"].([]any); len(booked) != 0 {
		t.Errorf("a contact sees who else comes: %v", booked)
	}
}

func TestAllowedDebitDays(t *testing.T) {
	client := newTestClient(t, "demo-days")
	result := client.get("allowed_debit_days?startDate=2026-11-21").want(200)
	want := `[{"debitDay":5,"date":"2026-12-05"},{"debitDay":10,"date":"2026-12-10"},{"debitDay":20,"date":"2026-12-20"}]`
	if result.raw != want {
		t.Errorf("got %s", result.raw)
	}
	result = client.get("allowed_debit_days?startDate=2026-12-10").want(200)
	if !strings.HasPrefix(result.raw, `[{"debitDay":10,"date":"2026-12-10"}`) {
		t.Errorf("got %s", result.raw)
	}
	client.get("allowed_debit_days").want(200)
	client.get("allowed_debit_days?startDate=soon").want(400).wantField("startDate")
	client.bearer = ""
	client.get("allowed_debit_days?startDate=2026-11-21").want(401)
}
