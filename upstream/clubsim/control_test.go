package clubsim_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"frontdesk/upstream/clubsim"
)

func TestCredentialsAndPersonas(t *testing.T) {
	client := newTestClient(t, "demo-personas")
	c := client.control("GET", "credentials", nil).want(200)
	if c.text("clientId") != "demo-personas" || c.text("clientSecret") != clubsim.DemoClientSecret ||
		c.text("gatewayKey") != clubsim.DemoGatewayKey {
		t.Errorf("credentials: %s", c.raw)
	}
	want := map[string]string{
		"customer":  "customer",
		"debtor":    "customer",
		"prospect":  "prospect",
		"former":    "former_customer",
		"banned":    "banned",
		"minor":     "prospect",
		"committed": "customer",
		"flexible":  "customer",
		"ward":      "prospect",
	}
	personas := client.control("GET", "personas", nil).want(200).items()
	if len(personas) != len(want) {
		t.Errorf("%d personas", len(personas))
	}
	for _, person := range personas {
		key := person["key"].(string)
		contact := client.get(client.relative(person["contactId"].(string))).want(200)
		if person["status"] != want[key] || contact.text("status") != want[key] || contact.text("clubId") != person["clubId"] {
			t.Errorf("%s: %v", key, person)
		}
		verifyIdentity(t, client, person)
		as := *client
		as.bearer = person["accessToken"].(string)
		as.get(client.relative(person["contactId"].(string))).want(200)
	}
}

// verifyIdentity verifies the identity token as the gateway does.
func verifyIdentity(t *testing.T, client *testClient, person body) {
	t.Helper()
	claims := jwt.MapClaims{}
	login, err := keyfunc.NewJWKSetJSON([]byte(client.control("GET", "jwks", nil).want(200).raw))
	if err != nil {
		t.Fatal(err)
	}
	_, err = jwt.ParseWithClaims(person["identityToken"].(string), claims, login.Keyfunc, jwt.WithValidMethods([]string{"EdDSA"}),
		jwt.WithTimeFunc(func() time.Time { return today }), jwt.WithExpirationRequired(), jwt.WithAudience(client.token))
	if err != nil {
		t.Fatal(err)
	}
	expires, _ := claims.GetExpirationTime()
	if expires.Sub(today) > 10*time.Minute || !strings.HasSuffix(person["contactId"].(string), "/"+claims["sub"].(string)) ||
		!strings.HasSuffix(person["clubId"].(string), "/"+claims["club"].(string)) {
		t.Errorf("claims: %v", claims)
	}
}

func TestSettings(t *testing.T) {
	client := newTestClient(t, "demo-settings")
	for _, test := range []struct {
		change any
		text   string
	}{
		{body{"colour": "red"}, "colour"},
		{body{"pageSize": 7, "colour": "red"}, "colour"},
		{body{"smsCode": body{"length": 4}}, "length"},
		{body{"networkNodeShape": "round"}, "networkNodeShape"},
		{body{"webhooks": "sometimes"}, "webhooks"},
		{body{"webhookUrl": "nowhere"}, "webhookUrl"},
		{body{"tokenLifetime": 0}, "tokenLifetime"},
		{body{"tokenLifetime": "soon"}, "soon"},
		{body{"pageSize": 500}, "pageSize"},
		{body{"createdStatus": 299}, "createdStatus"},
		{"nonsense", ""},
	} {
		client.control("PUT", "settings", test.change).want(400).wantText(test.text)
		if now := client.control("GET", "settings", nil).want(200); now.number("pageSize") != 30 {
			t.Errorf("%v changed the settings: %s", test.change, now.raw)
		}
	}
	changed := client.control("PUT", "settings", body{"pageSize": 7, "errorShape": "plain", "formerStatus": "ex"}).want(200)
	if changed.number("pageSize") != 7 || changed.number("maxPageSize") != 100 || changed.text("webhooks") != "normal" {
		t.Errorf("settings: %s", changed.raw)
	}
	if r := client.get("contacts/1").want(404); r.text("message") != "Item not found" || r.json["hydra:title"] != nil {
		t.Errorf("error: %s", r.raw)
	}
	client.node, client.club = client.iri("network_nodes", 1), client.iri("clubs", 12)
	if status := client.get("contacts/1004").want(200).text("status"); status != "ex" {
		t.Errorf("status %s", status)
	}
	client.control("POST", "reset", nil).want(204)
	if client.control("GET", "settings", nil).want(200).number("pageSize") != 30 {
		t.Error("reset keeps settings")
	}
}

func TestClock(t *testing.T) {
	client := newTestClient(t, "demo-clock")
	at := func() string { return client.control("GET", "clock", nil).want(200).text("now") }
	if at() != "2026-11-21T09:00:00Z" {
		t.Errorf("now %s", at())
	}
	client.control("PUT", "clock", body{"now": "2027-01-31T12:00:00+01:00"}).want(200)
	client.control("PUT", "clock", body{"advance": "P1M"}).want(200)
	if at() != "2027-02-28T11:00:00Z" {
		t.Errorf("now %s", at())
	}
	for _, wrong := range []body{
		{}, {"now": "soon"}, {"advance": "1h"}, {"now": "2027-01-31T12:00:00Z", "advance": "P1D"},
		{"time": 1}, {"advance": "P900Y"}, {"now": "1900-01-01T00:00:00Z"},
	} {
		client.control("PUT", "clock", wrong).want(400)
	}
}

func TestSnapshotAndRestore(t *testing.T) {
	client := newTestClient(t, "demo-snapshot")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	client.control("PUT", "settings", body{"pageSize": 9}).want(200)
	snapshot := client.control("GET", "state", nil).want(200)
	client.pay(sale, contact, 9900).want(201)
	client.control("POST", "reset", nil).want(204)
	client.get(sale).want(404)
	client.control("PUT", "state", snapshot.json).want(204)
	state := client.get(sale).want(200).text("state")
	if state != "building" || len(client.world.Ledger()) != 0 || client.world.Settings().PageSize != 9 {
		t.Errorf("state %s", state)
	}
	if again := client.control("GET", "state", nil); again.raw != snapshot.raw {
		t.Error("a restored world has another snapshot")
	}
	client.pay(sale, contact, 9900).want(201)

	other := *client
	other.token = "demo-snapshot-copy"
	other.control("PUT", "state", snapshot.json).want(204)
	other.club, other.node = other.iri("clubs", 11), other.iri("network_nodes", 1)
	other.bearer = other.login("demo")
	if iri := other.get(sale).want(200).text("contactId"); !strings.HasPrefix(iri, "/demo-snapshot-copy/") {
		t.Errorf("the copy speaks of %s", iri)
	}
	for _, wrong := range []string{`{}`, `{"version":1}`, `[]`, strings.Replace(snapshot.raw, `"version":5`, `"version":99`, 1),
		strings.Replace(snapshot.raw, `"clubId":11`, `"clubId":99`, 1), strings.Replace(snapshot.raw, `"articles":[6003]`, `"articles":[9]`, 1)} {
		if err := client.world.Restore([]byte(wrong)); err == nil {
			t.Errorf("restored from %.60s", wrong)
		}
	}
}

// TestSnapshotOfAnotherProcess: a world sends its events where the process that restored it expects them, unless the world was told
// another address.
func TestSnapshotOfAnotherProcess(t *testing.T) {
	worldAt := func(address string) *clubsim.World {
		server := clubsim.New(clubsim.Config{Now: time.Now, WebhookURL: address})
		t.Cleanup(server.Close)
		return server.World("demo")
	}
	first, second := worldAt("http://first.test/"), worldAt("http://second.test/")
	if err := second.Restore(first.Snapshot()); err != nil || second.Settings().WebhookURL != "http://second.test/" {
		t.Errorf("%v: the events go to %s", err, second.Settings().WebhookURL)
	}
	told := strings.Replace(string(first.Snapshot()), `"webhookUrl":""`, `"webhookUrl":"http://told.test/"`, 1)
	if err := second.Restore([]byte(told)); err != nil || second.Settings().WebhookURL != "http://told.test/" {
		t.Errorf("%v: the events go to %s", err, second.Settings().WebhookURL)
	}
}

func TestControlEndpointsAreNamed(t *testing.T) {
	client := newTestClient(t, "demo-control")
	client.control("GET", "nonsense", nil).want(404)
	if allow := client.control("DELETE", "faults", nil).want(405).header.Get("Allow"); allow != "GET, PUT" {
		t.Errorf("Allow: %s", allow)
	}
	for _, list := range []string{"personas", "sms", "ledger", "requests", "faults", "events"} {
		if r := client.control("GET", list, nil).want(200); r.json["items"] == nil {
			t.Errorf("%s: %s", list, r.raw)
		}
	}
	client.control("PUT", "settings", strings.Repeat(" ", 1<<20)).want(413).wantText("1 MiB")
	client.token = "acme"
	client.control("GET", "personas", nil).want(404)
}

func TestJournal(t *testing.T) {
	client := newTestClient(t, "demo-journal")
	client.get("contacts/1001").want(200)
	client.bearer = "x"
	client.get("contacts/1001").want(401)
	items := client.control("GET", "requests", nil).want(200).items()
	want := []struct {
		operation string
		status    float64
	}{{"token", 200}, {"getContact", 200}, {"getContact", 401}}
	if len(items) != len(want) {
		t.Fatalf("journal: %v", items)
	}
	for i, line := range want {
		if items[i]["operation"] != line.operation || items[i]["status"] != line.status {
			t.Errorf("line %d: %v", i, items[i])
		}
	}
	if items[1]["path"] != "/contacts/1001" || items[1]["clubId"] != client.club || items[1]["networkNodeId"] != client.node ||
		items[1]["at"] != "2026-11-21T09:00:00Z" {
		t.Errorf("line: %v", items[1])
	}
}

func TestInspector(t *testing.T) {
	client := newTestClient(t, "demo-inspector")
	contact := client.newContact(body{"familyName": `<script>alert("x")</script>`})
	sale := client.filledSale(contact, 301)
	client.pay(sale, contact, 70400).want(201)
	client.pay(sale, contact, 70400).want(201)
	client.signing(contact)
	page := client.control("GET", "", nil).want(200)
	for _, text := range []string{
		"demo-inspector", "Premium Year", "Access Badge", "was paid 2 times", client.lastCode(), "identificator.created", "createPayment",
		"Camille", "&lt;script&gt;", "704.00\u00a0€", "<details><summary>Reset the world</summary>", "Yes, reset demo-inspector",
		"offers from 18 such as 401",
	} {
		page.wantText(text)
	}
	if strings.Contains(page.raw, "<script") {
		t.Error("a name became a script")
	}
	press := func(change map[string]string, headers ...string) *result {
		t.Helper()
		form := url.Values{}
		for name, value := range change {
			form.Set(name, value)
		}
		r, _ := http.NewRequest("POST", client.url+"/demo-inspector/_control/", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return client.send(r)
	}
	press(map[string]string{"do": "preset", "preset": "0"})
	press(map[string]string{"do": "fault", "kind": "delay", "method": "GET", "path": "/products", "delayMs": "5", "times": "3"})
	if faults := client.world.Faults(); len(faults) != 2 || faults[0].Kind != "drop_after" || *faults[1].Times != 3 || faults[1].DelayMs != 5 {
		t.Errorf("faults: %+v", faults)
	}
	client.get("products")
	press(map[string]string{"do": "fault", "kind": "hang", "path": "/sales"})
	if faults := client.world.Faults(); len(faults) != 3 || faults[1].Hits != 1 {
		t.Errorf("a new fault changed the others: %+v", faults)
	}
	client.get("products")
	client.get("products")
	press(map[string]string{"do": "fault", "kind": "malformed", "path": "/sales"})
	if faults := client.world.Faults(); len(faults) != 3 || faults[1].Kind != "hang" {
		t.Errorf("after one has hit all that it should: %+v", faults)
	}
	press(map[string]string{"do": "fault", "kind": "delay", "times": "x"}).wantText("is not a number")
	press(map[string]string{"do": "fault", "kind": "dance"}).wantText(`class="problem">kind: `)
	press(map[string]string{"do": "clear"})
	press(map[string]string{"do": "advance", "by": "P1D"})
	press(map[string]string{
		"do":               "settings",
		"productionMode":   "on",
		"askRepeats":       "on",
		"networkNodeShape": "flat",
		"webhooks":         "drop",
		"webhookUrl":       "",
	})
	s := client.world.Settings()
	if !s.ProductionMode || !s.AskRepeats || s.NetworkNodeShape != "flat" || s.Webhooks != "drop" ||
		client.world.Now().Day() != 22 || len(client.world.Faults()) != 0 {
		t.Errorf("settings: %+v", s)
	}
	press(map[string]string{"do": "reset"}, "Sec-Fetch-Site", "cross-site").want(403).wantText("cross-origin")
	press(map[string]string{"do": "reset"}, "Origin", "https://elsewhere.example").want(403)
	if len(client.world.Ledger()) != 2 {
		t.Error("another site reset the world")
	}
	for _, preset := range []string{"", "x", "-1", "99"} {
		press(map[string]string{"do": "preset", "preset": preset}).want(200).wantText("unknown preset")
	}
	press(map[string]string{"do": "dance"}).wantText("dance")
	press(map[string]string{"do": "reset"}, "Sec-Fetch-Site", "same-origin", "Origin", strings.TrimSuffix(client.url, "/sim")).want(200)
	if len(client.world.Ledger()) != 0 {
		t.Error("the world was not reset")
	}
	r, _ := http.NewRequest("GET", client.url+"/demo-inspector/_control", nil)
	client.send(r).want(200).wantText("demo-inspector")
}

// Pages of other sites cannot change anything through the control endpoints. Tools can, and reads are allowed.
func TestControlRefusesOtherSites(t *testing.T) {
	client := newTestClient(t, "demo-sites")
	for _, endpoint := range []string{"POST reset", "PUT faults", "PUT settings", "PUT clock", "POST events", "PUT state"} {
		method, name, _ := strings.Cut(endpoint, " ")
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"} {
			r := client.request(method, "_control/"+name, body{})
			r.Header.Set(header, value)
			client.send(r).want(403).wantText("cross-origin")
		}
	}
	r := client.request("GET", "_control/ledger", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	client.send(r).want(200)
	client.control("POST", "reset", nil).want(204)
}

func TestFixedCodeHasSixDigits(t *testing.T) {
	d := newTestClient(t, "demo-fixed")
	for _, code := range []string{"1234", "1234567", "abcdef", "12 456"} {
		d.control("PUT", "settings", body{"smsCode": body{"fixed": code}}).want(400).wantText("smsCode.fixed")
	}
	d.control("PUT", "settings", body{"smsCode": body{"fixed": "000000"}}).want(200)
	d.control("PUT", "settings", body{"smsCode": body{"fixed": ""}}).want(200)
}
