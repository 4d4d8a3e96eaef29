package clubsim_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

var payments = body{"method": "POST", "path": "/sales/*/payments"}

func TestFaultsOfAPayment(t *testing.T) {
	for name, test := range map[string]struct {
		fault   body
		status  int // 0: the connection is cut
		applied int
	}{
		"error before":           {body{"kind": "error_before"}, 503, 0},
		"error before, status":   {body{"kind": "error_before", "status": 502}, 502, 0},
		"error after":            {body{"kind": "error_after"}, 500, 1},
		"error after, status":    {body{"kind": "error_after", "status": 504}, 504, 1},
		"connection cut":         {body{"kind": "drop_after"}, 0, 1},
		"garbage":                {body{"kind": "malformed"}, 200, 1},
		"another's page":         {body{"kind": "foreign_page"}, 200, 0},
		"another's page, status": {body{"kind": "foreign_page", "status": 202}, 202, 0},
		"another's JSON":         {body{"kind": "foreign_json"}, 200, 0},
		"another's list":         {body{"kind": "foreign_json", "body": []string{"ok"}}, 200, 0},
		"nothing":                {body{"kind": "empty_success"}, 200, 0},
		"unauthorised":           {body{"kind": "unauthorized_once"}, 401, 0},
		"too many":               {body{"kind": "too_many"}, 429, 0},
		"delayed":                {body{"kind": "delay", "delayMs": 1}, 201, 1},
		"never":                  {body{"kind": "error_before", "probability": 0}, 201, 1},
		"always by probability":  {body{"kind": "error_before", "probability": 1}, 503, 0},
		"spent":                  {body{"kind": "error_before", "times": 0}, 201, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := newTestClient(t, "demo-fault")
			contact := client.newContact(nil)
			sale := client.filledSale(contact, 2801)
			test.fault["match"] = payments
			client.control("PUT", "faults", []body{test.fault}).want(200)
			result := client.pay(sale, contact, 9900)
			if test.status == 0 && result.err == nil || test.status != 0 && result.status != test.status {
				t.Errorf("status %d, error %v: %s", result.status, result.err, result.raw)
			}
			if n := len(client.world.Ledger()); n != test.applied {
				t.Errorf("%d payments were booked, want %d", n, test.applied)
			}
			if test.status == 429 && result.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			if test.status == 200 && result.json["@id"] != nil {
				t.Errorf("this can be read: %s", result.raw)
			}
			journal := client.world.Requests()
			last := journal[len(journal)-1]
			if last.Operation != "createPayment" || last.Status != test.status || last.ClubID != client.club || last.NetworkNodeID != client.node {
				t.Errorf("journal: %+v", last)
			}
			if hit := last.Fault != ""; hit != (client.world.Faults()[0].Hits == 1) {
				t.Errorf("journal: %+v, faults: %+v", last, client.world.Faults())
			}
		})
	}
}

// TestLimitOfTheAPIGateway: a 429 of the API gateway shows when its limit ends, and has no Retry-After.
func TestLimitOfTheAPIGateway(t *testing.T) {
	d := newTestClient(t, "demo-limit")
	for limit, header := range map[string]string{"rate": "X-Rate-Limit-Reset", "quota": "X-Quota-Reset",
		"spike_arrest": "X-Spike-Arrest-Reset"} {
		d.control("PUT", "faults", []body{{"kind": "too_many", "limit": limit, "delayMs": 90_000}}).want(200)
		r := d.get("contacts/1001").want(429)
		end, err := strconv.ParseInt(r.header.Get(header), 10, 64)
		if err != nil || end != today.Add(90*time.Second).UnixMilli() || r.header.Get("Retry-After") != "" {
			t.Errorf("%s: %v", limit, r.header)
		}
	}
}

// TestMalformedRefusal: a fault does not turn a refusal into a success.
func TestMalformedRefusal(t *testing.T) {
	d := newTestClient(t, "demo-malformed")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	d.pay(sale, contact, 9900).want(201)
	d.control("PUT", "faults", []body{{"match": body{"path": "/sales/*/postpone_due"}, "kind": "malformed"}}).want(200)
	if r := d.post(sale+"/postpone_due", body{"date": "2030-01-15"}); r.status < 400 || r.json != nil {
		t.Errorf("a settled sale is postponed: %d %s", r.status, r.raw)
	}
}

func TestFaultsAreCountedAndCleared(t *testing.T) {
	client := newTestClient(t, "demo-counted")
	client.control("PUT", "faults", body{"items": []body{
		{"match": body{"path": "/contacts/*"}, "kind": "error_before", "times": 2},
		{"match": body{"method": "get"}, "kind": "unauthorized_once"},
	}}).want(200)
	client.get("contacts/1001").want(503)
	client.get("contacts/1001").want(503)
	client.get("contacts/1001").want(401)
	client.get("contacts/1001").want(200)
	if items := client.control("GET", "faults", nil).want(200).items(); len(items) != 2 || items[0]["hits"] != 2.0 {
		t.Errorf("faults: %v", items)
	}
	client.control("PUT", "faults", []body{{"kind": "error_before"}}).want(200)
	client.get("contacts/1001").want(503)
	client.control("PUT", "faults", []body{}).want(200)
	client.get("contacts/1001").want(200)
}

func TestFaultsOfTheTokenAreThoseOfTheClientsWorld(t *testing.T) {
	client := newTestClient(t, "demo-token-fault")
	client.control("PUT", "faults", []body{{"match": body{"method": "POST", "path": "/oauth/v2/token"}, "kind": "error_before", "times": 1}}).
		want(200)
	client.login("demo")
	r, _ := http.NewRequest("POST", client.url+"/oauth/v2/token", nil)
	client.send(r).want(401)
	if hits := client.world.Faults()[0].Hits; hits != 0 {
		t.Errorf("another client's token request was hit %d times", hits)
	}
	if client.world.Requests()[0].Operation != "token" {
		t.Errorf("journal: %+v", client.world.Requests()[0])
	}
}

func TestFaultsFollowFromTheSeed(t *testing.T) {
	half := 0.5
	history := func(seed uint64) string {
		sim := clubsim.New(clubsim.Config{Now: func() time.Time { return today }, Seed: seed})
		d := connect(t, sim, "demo-half")
		d.world.SetFaults([]clubsim.Fault{{Kind: "error_before", Probability: &half}})
		outcome := ""
		for range 40 {
			outcome += string(rune('a' + d.get("contacts/1001").status/100))
		}
		return outcome
	}
	first := history(1)
	if first != history(1) {
		t.Error("the same seed went another way")
	}
	if first == history(2) {
		t.Error("another seed went the same way")
	}
}

func TestHangLastsUntilTheClientGivesUp(t *testing.T) {
	client := newTestClient(t, "demo-hang")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	client.control("PUT", "faults", []body{{"match": payments, "kind": "hang", "times": 1}}).want(200)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := client.send(client.request("POST", sale+"/payments", client.paymentBody(contact, 9900)).WithContext(ctx))
	if !errors.Is(r.err, context.DeadlineExceeded) || len(client.world.Ledger()) != 0 {
		t.Errorf("error %v, %d payments", r.err, len(client.world.Ledger()))
	}
}

func TestCloseEndsDelays(t *testing.T) {
	client := newTestClient(t, "demo-close")
	client.control("PUT", "faults", []body{{"match": body{"path": "/contacts/*"}, "kind": "delay", "delayMs": 600000}}).want(200)
	done := make(chan *result)
	go func() { done <- client.get("contacts/1001") }()
	client.awaitFault()
	client.server.Close()
	if r := frontdesktest.Receive(t, done, "the delayed call ends"); r.err == nil {
		t.Errorf("an answer came: %d", r.status)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	client := newTestClient(t, "demo-faults")
	for _, test := range []struct {
		fault any
		text  string
	}{
		{[]body{{"kind": "earthquake"}}, "earthquake"},
		{[]body{{"kind": "delay", "delay": 5}}, "delay"},
		{[]body{{"kind": "delay", "delayMs": -1}}, "delayMs"},
		{[]body{{"kind": "error_before", "status": 99}}, "status"},
		{[]body{{"kind": "too_many", "limit": "hourly"}}, "spike_arrest"},
		{[]body{{"kind": "error_before", "probability": 2}}, "probability"},
		{[]body{{"kind": "error_before", "match": body{"path": "/[", "method": "GET"}}}, "match.path"},
		{[]body{{"kind": "error_before", "match": body{"path": "/demo-faults/sales/*/payments"}}}, "leave out the client token"},
		{[]body{{"kind": "error_before", "match": body{"path": "{client_token}/sales"}}}, "leave out the client token"},
		{[]body{{"kind": "error_before", "match": body{"path": "/sale/*/payments"}}}, "did you mean /sales/*/payments?"},
		{[]body{{"kind": "hang", "match": body{"method": "PUT", "path": "/sales/7/payments"}}}, "did you mean POST /sales/*/payments?"},
		{[]body{{"kind": "hang", "match": body{"path": "/sales/payments"}}}, "did you mean /sales/*/payments?"},
		{[]body{{"kind": "hang"}, {"kind": "hang", "match": body{"path": "/oauth/token"}}}, "fault 1: match.path: /oauth/token"},
		{[]body{{"kind": "problem", "code": "overloaded", "match": body{"path": "/sales"}}}, "for paths of the gateway"},
		{[]body{{"kind": "problem", "code": "overloaded", "match": body{"path": "/v1/clubs"}}}, "in mock mode alone"},
		{"nonsense", ""},
	} {
		client.control("PUT", "faults", []body{{"match": body{"path": "/clubs/{id}"}, "kind": "hang", "times": 3}}).want(200)
		client.control("PUT", "faults", test.fault).want(400).wantText(test.text)
		if faults := client.world.Faults(); len(faults) != 1 || *faults[0].Times != 3 {
			t.Errorf("a list with a mistake has changed the faults to %+v", faults)
		}
	}
}

// TestGatewayFaults: faults of the gateway in front are refused with the nearest operation and code that exist, and hit the requests
// that they match.
func TestGatewayFaults(t *testing.T) {
	server := clubsim.New(clubsim.Config{Now: time.Now, Gateway: func() []clubsim.GatewayOperation {
		return []clubsim.GatewayOperation{
			{Method: "GET", Path: "/v1/clubs", Codes: []string{"overloaded"}},
			{Method: "POST", Path: "/v1/registrations/{id}/payment", Codes: []string{"overloaded", "cart_frozen"}},
		}
	}})
	t.Cleanup(server.Close)
	world := server.World("demo-gateway")
	fault := func(path, kind, code string) clubsim.Fault {
		return clubsim.Fault{Match: clubsim.FaultMatch{Path: path}, Kind: kind, Code: code}
	}
	for text, wrong := range map[string]clubsim.Fault{
		"did you mean /v1/clubs?":                    fault("/v1/club", "delay", ""),
		"did you mean /v1/registrations/*/payment?":  fault("/v1/registration/*/payment", "delay", ""),
		"not one of the gateway's: delay":            fault("/v1/clubs", "malformed", ""),
		"did you mean cart_frozen?":                  fault("/v1/**", "problem", "cart_froze"),
		"cannot answer cart_frozen, only overloaded": fault("/v1/clubs", "problem", "cart_frozen"),
		"of the kind problem has one":                fault("/v1/clubs", "problem", ""),
	} {
		if err := world.SetFaults([]clubsim.Fault{wrong}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", wrong, err, text)
		}
	}
	for _, test := range []struct {
		fault               clubsim.Fault
		method, route, path string
		hit                 bool
	}{
		{fault("/v1/clubs", "delay", ""), "GET", "/v1/clubs", "/v1/clubs", true},
		{fault("v1/registrations/{id}/payment", "hang", ""), "POST", "/v1/registrations/{id}/payment", "/v1/registrations/x/payment", true},
		{fault("/v1/registrations/y/payment", "hang", ""), "POST", "/v1/registrations/{id}/payment", "/v1/registrations/x/payment", false},
		{fault("/v1/**", "problem", "overloaded"), "GET", "/v1/clubs", "/v1/clubs", true},
		{fault("/v1/**", "problem", "cart_frozen"), "GET", "/v1/clubs", "/v1/clubs", false},
		{fault("", "hang", ""), "GET", "/v1/clubs", "/v1/clubs", false},
	} {
		if err := world.SetFaults([]clubsim.Fault{test.fault}); err != nil {
			t.Fatal(err)
		}
		if got := server.TakeGatewayFault("demo-gateway", test.method, test.route, test.path); (got.Kind != "") != test.hit {
			t.Errorf("%+v at %s: %+v", test.fault, test.path, got)
		}
		if got := server.TakeGatewayFault("demo-other", test.method, test.route, test.path); got.Kind != "" {
			t.Errorf("another world has the fault %+v", got)
		}
	}
}

// Close also ends hangs. It may be called several times, concurrently and during requests.
func TestCloseTwiceDuringRequests(t *testing.T) {
	receiver := newReceiver(t)
	client := newTestClient(t, "demo-close-twice")
	client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	client.control("PUT", "faults", []body{{"match": body{"path": "/contacts/1001"}, "kind": "hang"}}).want(200)
	hung := make(chan *result)
	go func() { hung <- client.get("contacts/1001") }()
	client.awaitFault()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { client.server.Close() })
		work.Go(func() { client.world.Emit("contact.updated", nil); client.get("clubs/11") })
	}
	if r := frontdesktest.Receive(t, hung, "the hanging call ends"); r.err == nil {
		t.Errorf("an answer came: %d", r.status)
	}
	work.Wait()
	client.server.Close()
	client.get("clubs/11").want(200) // requests without background work still succeed
}
