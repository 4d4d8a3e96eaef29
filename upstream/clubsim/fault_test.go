package clubsim_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/clubsim"
)

var payments = body{"method": "POST", "path": "/sales/*/payments"}

func TestFaultsOfAPayment(t *testing.T) {
	for name, c := range map[string]struct {
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
			d := newTestClient(t, "demo-fault")
			contact := d.newContact(nil)
			sale := d.filledSale(contact, 2801)
			c.fault["match"] = payments
			d.control("PUT", "faults", []body{c.fault}).want(200)
			r := d.pay(sale, contact, 9900)
			if c.status == 0 && r.err == nil || c.status != 0 && r.status != c.status {
				t.Errorf("status %d, error %v: %s", r.status, r.err, r.raw)
			}
			if n := len(d.world.Ledger()); n != c.applied {
				t.Errorf("%d payments were booked, want %d", n, c.applied)
			}
			if c.status == 429 && r.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			if c.status == 200 && r.json["@id"] != nil {
				t.Errorf("this can be read: %s", r.raw)
			}
			journal := d.world.Requests()
			last := journal[len(journal)-1]
			if last.Operation != "createPayment" || last.Status != c.status || last.ClubID != d.club || last.NetworkNodeID != d.node {
				t.Errorf("journal: %+v", last)
			}
			if hit := last.Fault != ""; hit != (d.world.Faults()[0].Hits == 1) {
				t.Errorf("journal: %+v, faults: %+v", last, d.world.Faults())
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
	d := newTestClient(t, "demo-counted")
	d.control("PUT", "faults", body{"items": []body{
		{"match": body{"path": "/contacts/*"}, "kind": "error_before", "times": 2},
		{"match": body{"method": "get"}, "kind": "unauthorized_once"},
	}}).want(200)
	d.get("contacts/1001").want(503)
	d.get("contacts/1001").want(503)
	d.get("contacts/1001").want(401)
	d.get("contacts/1001").want(200)
	if items := d.control("GET", "faults", nil).want(200).items(); len(items) != 2 || items[0]["hits"] != 2.0 {
		t.Errorf("faults: %v", items)
	}
	d.control("PUT", "faults", []body{{"kind": "error_before"}}).want(200)
	d.get("contacts/1001").want(503)
	d.control("PUT", "faults", []body{}).want(200)
	d.get("contacts/1001").want(200)
}

func TestFaultsOfTheTokenAreThoseOfTheClientsWorld(t *testing.T) {
	d := newTestClient(t, "demo-token-fault")
	d.control("PUT", "faults", []body{{"match": body{"method": "POST", "path": "/oauth/v2/token"}, "kind": "error_before", "times": 1}}).
		want(200)
	d.login("demo")
	r, _ := http.NewRequest("POST", d.url+"/oauth/v2/token", nil)
	d.send(r).want(401)
	if hits := d.world.Faults()[0].Hits; hits != 0 {
		t.Errorf("another client's token request was hit %d times", hits)
	}
	if d.world.Requests()[0].Operation != "token" {
		t.Errorf("journal: %+v", d.world.Requests()[0])
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
	d := newTestClient(t, "demo-hang")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	d.control("PUT", "faults", []body{{"match": payments, "kind": "hang", "times": 1}}).want(200)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := d.send(d.request("POST", sale+"/payments", d.paymentBody(contact, 9900)).WithContext(ctx))
	if !errors.Is(r.err, context.DeadlineExceeded) || len(d.world.Ledger()) != 0 {
		t.Errorf("error %v, %d payments", r.err, len(d.world.Ledger()))
	}
}

func TestCloseEndsDelays(t *testing.T) {
	d := newTestClient(t, "demo-close")
	d.control("PUT", "faults", []body{{"match": body{"path": "/contacts/*"}, "kind": "delay", "delayMs": 600000}}).want(200)
	done := make(chan *result)
	go func() { done <- d.get("contacts/1001") }()
	for d.world.Faults()[0].Hits == 0 {
		d.get("clubs/11").want(200)
	}
	d.server.Close()
	if r := <-done; r.err == nil {
		t.Errorf("an answer came: %d", r.status)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	d := newTestClient(t, "demo-faults")
	for _, c := range []struct {
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
		{"nonsense", ""},
	} {
		d.control("PUT", "faults", c.fault).want(400).wantText(c.text)
	}
}

// Close also ends hangs. It may be called several times, concurrently and during requests.
func TestCloseTwiceDuringRequests(t *testing.T) {
	receiver := newReceiver(t)
	d := newTestClient(t, "demo-close-twice")
	d.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	d.control("PUT", "faults", []body{{"match": body{"path": "/contacts/1001"}, "kind": "hang"}}).want(200)
	hung := make(chan *result)
	go func() { hung <- d.get("contacts/1001") }()
	for d.world.Faults()[0].Hits == 0 {
		d.get("clubs/11").want(200)
	}
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { d.server.Close() })
		work.Go(func() { d.world.Emit("contact.updated", nil); d.get("clubs/11") })
	}
	if r := <-hung; r.err == nil {
		t.Errorf("an answer came: %d", r.status)
	}
	work.Wait()
	d.server.Close()
	d.get("clubs/11").want(200) // requests without background work still succeed
}
