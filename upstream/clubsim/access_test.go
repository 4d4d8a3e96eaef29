package clubsim_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/clubsim"
)

func TestTokenRequest(t *testing.T) {
	client := newTestClient(t, "demo")
	ask := func(key, contentType, content string) *result {
		r, _ := http.NewRequest("POST", client.url+"/oauth/v2/token", strings.NewReader(content))
		r.Header.Set("Content-Type", contentType)
		if key != "" {
			r.Header.Set("x-gateway-api-key", key)
		}
		return client.send(r)
	}
	form := func(pairs ...string) string {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v.Encode()
	}
	const urlencoded = "application/x-www-form-urlencoded"
	good := form("grant_type", "client_credentials", "client_id", "demo", "client_secret", clubsim.DemoClientSecret)

	answer := ask(client.key, urlencoded, good).want(200)
	if answer.text("token_type") != "Bearer" || answer.number("expires_in") != 3600 || answer.text("access_token") == "" {
		t.Errorf("token: %s", answer.raw)
	}
	var parts bytes.Buffer
	w := multipart.NewWriter(&parts)
	for name, value := range map[string]string{
		"grant_type":    "client_credentials",
		"client_id":     "demo",
		"client_secret": clubsim.DemoClientSecret,
	} {
		w.WriteField(name, value)
	}
	w.Close()
	ask(client.key, w.FormDataContentType(), parts.String()).want(200)

	ask("", urlencoded, good).want(401).wantText("Unauthorized")
	ask("wrong", urlencoded, good).want(401)
	ask(client.key, "application/json", `{"grant_type":"client_credentials"}`).want(400).wantText("invalid_request")
	ask(client.key, "multipart/form-data", "nonsense").want(400).wantText("invalid_request")
	ask(client.key, urlencoded, form("client_id", "demo")).want(400).wantText("grant_type")
	ask(client.key, urlencoded, form("grant_type", "password")).want(400).wantText("unsupported_grant_type")
	ask(
		client.key, urlencoded, form("grant_type", "client_credentials", "client_id", "demo", "client_secret", "guess"),
	).want(401).
		wantText("invalid_client")
	ask(
		client.key, urlencoded,
		form("grant_type", "client_credentials", "client_id", "another", "client_secret", clubsim.DemoClientSecret),
	).want(401)
	client.call("GET", "../oauth/v2/token", nil).want(405)
}

// Every refusal of the documented header checks, in the documented order.
func TestHeaderChecks(t *testing.T) {
	client := newTestClient(t, "demo-headers")
	contact := client.newContact(nil)
	foreign := client.login("demo-elsewhere")
	for name, test := range map[string]struct {
		change func(*testClient)
		status int
		text   string
	}{
		"no gateway key":            {func(d *testClient) { d.key = "" }, 401, "Unauthorized"},
		"no gateway key, no bearer": {func(d *testClient) { d.key, d.bearer = "", "" }, 401, "Unauthorized"},
		"wrong gateway key":         {func(d *testClient) { d.key = "guess" }, 401, "Unauthorized"},
		"no bearer":                 {func(d *testClient) { d.bearer = "" }, 401, "access token"},
		"garbage as bearer":         {func(d *testClient) { d.bearer = "abc.def" }, 401, "access token"},
		"client of another world":   {func(d *testClient) { d.bearer = foreign }, 404, "Item not found"},
		"unknown organisation":      {func(d *testClient) { d.token = "acme" }, 404, "Item not found"},
		"no client token":           {func(d *testClient) { d.token = "" }, 404, "Item not found"},
		"no club":                   {func(d *testClient) { d.club = "" }, 404, "Item not found"},
		"bare club id":              {func(d *testClient) { d.club = "11" }, 404, "Item not found"},
		"club id with a zero":       {func(d *testClient) { d.club = "/demo-headers/clubs/011" }, 404, "Item not found"},
		"unknown club":              {func(d *testClient) { d.club = d.iri("clubs", 99) }, 404, "Item not found"},
		"club of another world":     {func(d *testClient) { d.club = "/demo/clubs/11" }, 404, "Item not found"},
		"no node in a chain":        {func(d *testClient) { d.node = "" }, 404, "Item not found"},
		"bare node id":              {func(d *testClient) { d.node = "1" }, 404, "Item not found"},
		"node of the other chain":   {func(d *testClient) { d.node = d.iri("network_nodes", 6) }, 404, "Item not found"},
		"node of another club":      {func(d *testClient) { d.node = d.iri("network_nodes", 4) }, 404, "Item not found"},
		"the club's own node":       {func(d *testClient) { d.node = d.iri("network_nodes", 3) }, 200, ""},
		"the franchise above":       {func(d *testClient) { d.node = d.iri("network_nodes", 2) }, 200, ""},
		"the group above":           {func(d *testClient) {}, 200, ""},
		"another club of the chain": {func(d *testClient) { d.club = d.iri("clubs", 13) }, 200, ""},
		"not seen from another club": {
			func(d *testClient) { d.club, d.node = d.iri("clubs", 13), d.iri("network_nodes", 5) },
			404, "Item not found",
		},
		"a club without a chain": {func(d *testClient) { d.club, d.node = d.iri("clubs", 31), "" }, 404, "Item not found"},
		"not seen from another chain": {
			func(d *testClient) { d.club, d.node = d.iri("clubs", 21), d.iri("network_nodes", 6) },
			404, "Item not found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := *client
			other.t = t
			test.change(&other)
			other.get(client.relative(contact)).want(test.status).wantText(test.text)
		})
	}
}

func TestAnyGatewayHeaderAndScheme(t *testing.T) {
	d := newTestClient(t, "demo-installations")
	r := d.request("GET", "network_nodes", nil)
	r.Header.Del("x-gateway-api-key")
	r.Header.Set("X-Other-Api-Key", clubsim.DemoGatewayKey)
	r.Header.Set("Authorization", "bearer "+d.bearer)
	d.send(r).want(200)
}

func TestPathsAndMethods(t *testing.T) {
	client := newTestClient(t, "demo-paths")
	client.get("contacts/abc").want(404).wantText("Item not found")
	client.get("contacts/01001").want(404)
	client.get("contacts/999999").want(404)
	client.get("nonsense").want(404).wantText("Item not found")
	client.get("").want(404)
	if allow := client.call("DELETE", "contacts/1001", nil).want(405).header.Get("Allow"); allow != "GET, PUT" {
		t.Errorf("Allow: %q", allow)
	}
	client.call("DELETE", "optins/12012", nil).want(405)
	client.post("optins", body{}).want(405)
	client.call("POST", "sales", "text").want(400)
	r := client.request("POST", "sales", nil)
	client.send(r).want(400).wantText("not a JSON object")
}

// A first caller knows no club and no node, or only one of them. What it does send must be right.
func TestNetworkNodesNeedNoScope(t *testing.T) {
	client := newTestClient(t, "demo-first")
	club, node := client.iri("clubs", 11), client.iri("network_nodes", 1)
	for _, test := range []struct {
		club, node string
		status     int
	}{
		{"", "", 200}, {club, "", 200}, {"", node, 200}, {club, node, 200},
		{"11", "", 404}, {"", "1", 404}, {"11", node, 404}, {club, "1", 404},
		{client.iri("clubs", 99), "", 404}, {"", client.iri("network_nodes", 99), 404},
		{"/demo/clubs/11", "", 404}, {club, client.iri("network_nodes", 6), 404},
	} {
		client.club, client.node = test.club, test.node
		for _, path := range []string{"network_nodes", "network_nodes/3"} {
			if got := client.get(path).status; got != test.status {
				t.Errorf("%s with club %q and node %q: %d, want %d", path, test.club, test.node, got, test.status)
			}
		}
	}
	client.club, client.node = "", ""
	client.get("clubs/11").want(404)
	client.control("PUT", "settings", body{"clientClubs": []int{11}}).want(200)
	client.club, client.node = client.iri("clubs", 12), ""
	client.get("network_nodes").want(404)
	client.club, client.node = "", client.iri("network_nodes", 6)
	client.get("network_nodes").want(404)
	client.node = client.iri("network_nodes", 2)
	client.get("network_nodes").want(200)
}

func TestProductionMode(t *testing.T) {
	client := newTestClient(t, "demo-production")
	client.control("PUT", "settings", body{"productionMode": true, "grantedEndpoints": []string{"listNetworkNodes", "GET /contacts/{id}"}}).
		want(200)
	client.get("network_nodes").want(200)
	client.get("contacts/1001").want(200)
	client.get("products").want(403).wantCode("api.error.scope.unauthorized-endpoint")
	client.get("nonsense").want(403)
	client.club = ""
	client.get("products").want(403)
	client.control("PUT", "settings", body{"grantedEndpoints": []string{"GET /nonsense"}}).want(400).
		wantText("GET /nonsense").wantText("getContact (GET /contacts/{id})")
}

// Endpoints can be granted in each of these notations.
func TestGrantedEndpointsInAnyForm(t *testing.T) {
	client := newTestClient(t, "demo-granted")
	client.control("PUT", "settings", body{"productionMode": true}).want(200)
	for _, name := range []string{
		"getContact", "GET /contacts/{id}", "GET /contacts/{contactId}", "GET /contacts/*", "GET contacts/{id}",
		"get /{client_token}/contacts/{contactId}", "GET /{clientToken}/contacts/*",
	} {
		client.control("PUT", "settings", body{"grantedEndpoints": []string{name}}).want(200)
		if status := client.get("contacts/1001").status; status != 200 {
			t.Errorf("%s grants nothing: %d", name, status)
		}
		client.get("optins").want(403)
	}
	for _, name := range []string{"contacts", "GET", "", "GET /contacts/{id}/", "DELETE /contacts/{id}", "GET /{x}/{y}"} {
		client.control("PUT", "settings", body{"grantedEndpoints": []string{name, "GET /" + name}}).want(400)
	}
}

// Valid and invalid names of a world.
func TestWorldNames(t *testing.T) {
	sim := clubsim.New(clubsim.Config{Now: time.Now})
	defer sim.Close()
	for name, exists := range map[string]bool{
		"demo":                             true,
		"demo-a":                           true,
		"demo-Test1":                       true,
		"demo-a_b.c-d":                     true,
		"demo-" + strings.Repeat("x", 123): true,
		"demo-" + strings.Repeat("x", 124): false,
		"demo-":                            false,
		"demos":                            false,
		"Demo":                             false,
		"demo-a b":                         false,
		"demo-a/b":                         false,
		"acme":                             false,
		"":                                 false,
	} {
		if (sim.World(name) != nil) != exists {
			t.Errorf("%q exists: %v, want %v", name, !exists, exists)
		}
	}
	newTestClient(t, "demo-Mixed_Case.9").get("contacts/1001").want(200)
}

func TestTokenLifetime(t *testing.T) {
	client := newTestClient(t, "demo-lifetime")
	client.control("PUT", "settings", body{"tokenLifetime": "PT5M"}).want(200)
	client.bearer = client.login(client.token)
	client.get("contacts/1001").want(200)
	client.control("PUT", "clock", body{"advance": "PT4M59S"}).want(200)
	client.get("contacts/1001").want(200)
	client.control("PUT", "clock", body{"advance": "PT1S"}).want(200)
	client.get("contacts/1001").want(401)
	client.bearer = client.login(client.token)
	client.get("contacts/1001").want(200)
	client.control("PUT", "settings", body{"tokenExpiresIn": false}).want(200)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.token}, "client_secret": {clubsim.DemoClientSecret}}
	r, _ := http.NewRequest("POST", client.url+"/oauth/v2/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("x-gateway-api-key", client.key)
	if _, sent := client.send(r).want(200).json["expires_in"]; sent {
		t.Error("expires_in is there")
	}
}

// The organisation's client can use every demo world, and worlds do not see each other.
func TestWorldsAreApart(t *testing.T) {
	client := newTestClient(t, "demo")
	other := *client
	other.token = "demo-other"
	other.club, other.node = other.iri("clubs", 11), other.iri("network_nodes", 1)
	contact := client.newContact(nil)
	other.get(client.relative(contact)).want(404)
	other.newContact(body{"familyName": "Elsewhere"})
	if name := client.get(client.relative(contact)).want(200).text("familyName"); name != "Martin" {
		t.Errorf("the other world's contact shows: %s", name)
	}
	client.control("POST", "reset", nil).want(204)
	client.get(client.relative(contact)).want(404)
	other.get(client.relative(contact)).want(200)
}

// A caller with a contact's token needs no club and no node: the scope is the contact's own club, seen from
// the top of its chain.
func TestContactTokenNeedsNoScope(t *testing.T) {
	client := newTestClient(t, "demo-own-scope")
	temp := client.newContact(nil)
	for _, p := range client.world.Personas() {
		if p.Key == "prospect" {
			client.bearer = p.AccessToken
		}
	}
	client.club, client.node = "", ""
	client.get("contacts/1003").want(200)
	client.get("contacts/1001").want(404)
	client.club = client.iri("clubs", 13)
	client.get("contacts/1003").want(200)
	client.club = client.iri("clubs", 99)
	client.get("contacts/1003").want(404)
	client.club, client.node = "", client.iri("network_nodes", 6)
	client.get("contacts/1003").want(404)
	client.node = ""
	client.put("contacts/1003/migrate", body{"targetContactId": temp, "targetClubId": client.iri("clubs", 11)}).want(204)
}

// A contact's own token gives access to that contact only.
func TestContactToken(t *testing.T) {
	client := newTestClient(t, "demo-contact")
	for _, p := range client.world.Personas() {
		if p.Key == "customer" {
			client.bearer = p.AccessToken
		}
	}
	client.get("contacts/1001").want(200)
	client.get("contacts/1002").want(404)
	client.get("stats/accounts/contacts/1002").want(404)
	if n := len(client.get("optins").want(200).members()); n != 12 {
		t.Errorf("%d consents, want one's own 12", n)
	}
	other := *client
	other.token = "demo-contact-2"
	other.get("network_nodes").want(404)
}

func TestStartAndResetAreFast(t *testing.T) {
	now := clubsim.Config{Now: time.Now}
	sim := clubsim.New(now)
	defer sim.Close()
	world := sim.World("demo-7")
	made := 0
	for _, test := range []struct {
		name     string
		times    int
		most     time.Duration
		function func()
	}{
		{"New", 5, 100 * time.Millisecond, func() { clubsim.New(now).Close() }},
		{"a world", 1000, 5 * time.Millisecond, func() { made++; sim.World(fmt.Sprintf("demo-new-%d", made)) }},
		{"a reset", 5, 10 * time.Millisecond, world.Reset},
	} {
		fastest := time.Hour
		for range test.times { // the machine may be busy, so the fastest call counts
			began := time.Now()
			test.function()
			fastest = min(fastest, time.Since(began))
		}
		if fastest > test.most {
			t.Errorf("%s took %s", test.name, fastest)
		}
	}
}

// A club that belongs to no chain needs no node, and has none.
func TestClubWithoutChain(t *testing.T) {
	client := newTestClient(t, "demo-alone")
	client.club, client.node = client.iri("clubs", 31), ""
	contact := client.newContact(nil)
	client.get(client.relative(contact)).want(200)
	if r := client.get("clubs/31").want(200); r.json["networkNode"] != nil {
		t.Errorf("club: %s", r.raw)
	}
	client.get("clubs/11").want(404)
	client.node = client.iri("network_nodes", 1)
	client.get(client.relative(contact)).want(404)
}

func TestClubsOutsideTheClientsScope(t *testing.T) {
	client := newTestClient(t, "demo-scope")
	client.control("PUT", "settings", body{"clientClubs": []int{11}}).want(200)
	client.get("contacts/1001").want(200)
	client.get("contacts/1003").want(404)
	client.club = client.iri("clubs", 12)
	client.get("contacts/1001").want(404)
	client.club, client.node = client.iri("clubs", 11), ""
	client.get("contacts/1001").want(200) // a single club needs no node
	client.control("PUT", "settings", body{"clientClubs": []any{11, "/demo-scope/clubs/12"}}).want(200)
	client.get("contacts/1001").want(404)
	client.club, client.node = client.iri("clubs", 12), client.iri("network_nodes", 1)
	client.get("contacts/1001").want(200)
	for _, wrong := range []any{99, "12", "/demo-scope/clubs/012", "/demo-scope/contacts/11", 1.5, nil, body{}} {
		client.control("PUT", "settings", body{"clientClubs": []any{wrong}}).want(400)
	}
	client.control("PUT", "settings", body{"clientClubs": 11}).want(400).wantText("clientClubs")
}
