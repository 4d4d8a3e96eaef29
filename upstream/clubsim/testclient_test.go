package clubsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// body is a JSON object.
type body = map[string]any

// today is the day on which every test's world starts, a Saturday.
var today = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// testClient is a client of one world, with what a test needs to act as the club's desk.
type testClient struct {
	t      *testing.T
	server *clubsim.Server
	url    string // of the mount point
	world  *clubsim.World
	token  string
	bearer string
	club   string // acting club and node, as header values
	node   string
	key    string
}

// newTestClient starts a simulator and opens a world in it, acting from the group's node.
func newTestClient(t *testing.T, world string) *testClient {
	t.Helper()
	sim := clubsim.New(clubsim.Config{Now: func() time.Time { return today }})
	return connect(t, sim, world)
}

func connect(t *testing.T, sim *clubsim.Server, world string) *testClient {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/sim/", http.StripPrefix("/sim", sim))
	server := httptest.NewServer(mux)
	t.Cleanup(func() { sim.Close(); server.Close() })
	d := &testClient{
		t:      t,
		server: sim,
		url:    server.URL + "/sim",
		world:  sim.World(world),
		token:  world,
		key:    clubsim.DemoGatewayKey,
	}
	d.club, d.node = d.iri("clubs", 11), d.iri("network_nodes", 1)
	d.bearer = d.login(world)
	return d
}

// login gets an access token for a client.
func (d *testClient) login(client string) string {
	d.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {clubsim.DemoClientSecret}}
	r, _ := http.NewRequest("POST", d.url+"/oauth/v2/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("x-gateway-api-key", d.key)
	return d.send(r).want(200).text("access_token")
}

func (d *testClient) iri(collection string, id int) string {
	return fmt.Sprintf("/%s/%s/%d", d.token, collection, id)
}

// relative returns the path of an IRI relative to the client token, as the client's methods expect it.
func (d *testClient) relative(iri string) string { return strings.TrimPrefix(iri, "/"+d.token+"/") }

func (d *testClient) get(path string) *result         { d.t.Helper(); return d.call("GET", path, nil) }
func (d *testClient) post(path string, b any) *result { d.t.Helper(); return d.call("POST", path, b) }
func (d *testClient) put(path string, b any) *result  { d.t.Helper(); return d.call("PUT", path, b) }
func (d *testClient) control(m, p string, b any) *result {
	d.t.Helper()
	return d.call(m, "_control/"+p, b)
}

// call makes a request below the client token.
func (d *testClient) call(method, path string, b any) *result {
	d.t.Helper()
	return d.send(d.request(method, path, b))
}

func (d *testClient) request(method, path string, b any) *http.Request {
	var content io.Reader
	if b != nil {
		encoded, _ := json.Marshal(b)
		content = bytes.NewReader(encoded)
	}
	r, err := http.NewRequest(method, d.url+"/"+d.token+"/"+strings.ReplaceAll(path, " ", "%20"), content)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{
		"x-gateway-api-key": d.key, "authorization": "Bearer " + d.bearer, "x-user-club-id": d.club, "x-user-network-node-id": d.node,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

func (d *testClient) send(r *http.Request) *result {
	d.t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return &result{t: d.t, err: err, name: r.Method + " " + r.URL.Path}
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	res := &result{
		t:      d.t,
		err:    err,
		name:   r.Method + " " + r.URL.Path,
		status: response.StatusCode,
		header: response.Header,
		raw:    string(raw),
	}
	json.Unmarshal(raw, &res.json)
	return res
}

// result is a response, with the checks that tests need.
type result struct {
	t      *testing.T
	name   string
	err    error
	status int
	header http.Header
	raw    string
	json   body
}

func (r *result) want(status int) *result {
	r.t.Helper()
	if r.err != nil {
		r.t.Fatalf("%s: %v", r.name, r.err)
	}
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.name, r.status, status, r.raw)
	}
	return r
}

// wantCode expects an error code, of the whole response or of one of its violations.
func (r *result) wantCode(code string) *result {
	r.t.Helper()
	if !strings.Contains(r.raw, `"code":"`+code+`"`) {
		r.t.Errorf("%s: no code %s in %s", r.name, code, r.raw)
	}
	return r
}

// wantField expects a violation of each field.
func (r *result) wantField(names ...string) *result {
	r.t.Helper()
	for _, name := range names {
		if !strings.Contains(r.raw, `"propertyPath":"`+name+`"`) {
			r.t.Errorf("%s: %s is not named in %s", r.name, name, r.raw)
		}
	}
	return r
}

func (r *result) wantText(text string) *result {
	r.t.Helper()
	if !strings.Contains(r.raw, text) {
		r.t.Errorf("%s: %q is missing in %s", r.name, text, r.raw)
	}
	return r
}

func (r *result) text(name string) string {
	s, _ := r.json[name].(string)
	return s
}

func (r *result) number(name string) int {
	n, _ := r.json[name].(float64)
	return int(n)
}

func (r *result) members() []body {
	r.t.Helper()
	list, found := r.json["hydra:member"].([]any)
	if !found {
		r.t.Fatalf("%s: no collection: %s", r.name, r.raw)
	}
	return bodies(list)
}

func (r *result) items() []body {
	list, _ := r.json["items"].([]any)
	return bodies(list)
}

func bodies(list []any) []body {
	members := make([]body, len(list))
	for i, m := range list {
		members[i], _ = m.(body)
	}
	return members
}

// contact returns what the world knows of a contact.
func (d *testClient) contact(iri string) clubsim.Contact {
	d.t.Helper()
	for _, k := range d.world.Contacts() {
		if k.ID == iri {
			return k
		}
	}
	d.t.Fatalf("no contact %s", iri)
	return clubsim.Contact{}
}

// newContact creates a temporary contact in the acting club and returns its IRI.
func (d *testClient) newContact(change body) string {
	d.t.Helper()
	fields := body{
		"familyName": "Martin", "givenName": "Alex", "gender": "other", "clubId": d.club, "birthDate": "1990-01-31",
		"email": "alex@example.com", "mobile": "+33600000000", "address": homeAddress, "status": "temp",
	}
	for name, value := range change {
		fields[name] = value
	}
	return d.post("contacts", fields).want(201).text("@id")
}

var homeAddress = body{"addressCountry": "FR", "addressLocality": "Paris", "postalCode": "75011", "streetAddress": "1 rue Oberkampf"}

// newSale makes a sale in the acting club and returns its path.
func (d *testClient) newSale(contact, clubCode string) string {
	d.t.Helper()
	return d.relative(d.post("sales", d.saleBody(contact, clubCode)).want(201).text("@id"))
}

func (d *testClient) saleBody(contact, clubCode string) body {
	return body{
		"contactId": contact, "clubId": d.club, "clubCode": clubCode, "contactFamilyName": "Martin", "contactGivenName": "Alex",
		"contactNumber": "1", "address": homeAddress,
	}
}

// filledSale makes a sale with the given offers, starting on the first of next month, and returns its path.
func (d *testClient) filledSale(contact string, offers ...int) string {
	d.t.Helper()
	sale := d.newSale(contact, "PARIS11")
	for _, offer := range offers {
		d.post(sale+"/articles", body{"offerId": d.iri("offers", offer), "implementation": body{"startDate": "2026-12-01"}}).want(201)
	}
	return sale
}

// pay records an online card payment.
func (d *testClient) pay(sale, contact string, amount int) *result {
	d.t.Helper()
	return d.post(sale+"/payments", d.paymentBody(contact, amount))
}

func (d *testClient) paymentBody(contact string, amount int) body {
	return body{
		"contactId": contact, "contactFamilyName": "Martin", "contactGivenName": "Alex", "contactNumber": "1",
		"amount": amount, "mean": "CBWeb", "clubId": d.club, "clubCode": "PARIS11", "checkout": d.iri("checkouts", 111),
	}
}

// receiver is a webhook endpoint that keeps what it receives.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	events []body
	came   chan struct{}
	status int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{came: make(chan struct{}, 1000), status: 200}
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		var b body
		json.NewDecoder(q.Body).Decode(&b)
		r.mu.Lock()
		r.events = append(r.events, b)
		r.mu.Unlock()
		rw.WriteHeader(r.status)
		r.came <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

// awaitFault waits until the first fault strikes, while other calls are served.
func (c *testClient) awaitFault() {
	c.t.Helper()
	frontdesktest.Eventually(c.t, "the fault strikes", func() bool {
		c.get("clubs/11").want(200)
		return c.world.Faults()[0].Hits > 0
	})
}

// wait returns the names of the first n events once they have arrived.
func (r *receiver) wait(t *testing.T, n int) []string {
	t.Helper()
	for range n {
		frontdesktest.Receive(t, r.came, "the next event")
	}
	return r.names()
}

func (r *receiver) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, len(r.events))
	for i, e := range r.events {
		names[i], _ = e["event"].(string)
	}
	return names
}
