package journey_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestConsents gives, withdraws and keeps consents, and asserts on what the club system holds.
func TestConsents(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	customer := client.As("customer")
	read := func() (list api.ConsentList) {
		customer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
		return list
	}
	list := read()
	byName := map[string]api.Consent{}
	for _, consent := range list.Items {
		byName[consent.Type+" "+consent.Channel] = consent
		if consent.Locked != (consent.Type == "legal") || consent.Authorized != consent.Locked {
			t.Errorf("at first: %+v", consent)
		}
	}
	if len(byName) != 12 || len(list.Receipts) != 0 {
		t.Fatalf("there are %d consents and %d receipts", len(byName), len(list.Receipts))
	}
	news, partners, legal := byName["news email"].Id, byName["partners email"].Id, byName["legal email"].Id
	var foreign api.ConsentList
	client.As("debtor").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &foreign)

	before := len(client.Calls())
	var done api.ConsentChanges
	wording := "2026-11"
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Wording: &wording, Items: []api.ConsentWish{
		{Id: news, Authorized: true}, {Id: partners, Authorized: false}, {Id: legal, Authorized: false},
		{Id: foreign.Items[0].Id, Authorized: true},
	}}).Into(http.StatusOK, &done)
	var codes []string
	for _, item := range done.Items {
		codes = append(codes, item.Id+" "+string(item.Code))
	}
	want := []string{news + " changed", partners + " unchanged", legal + " locked", foreign.Items[0].Id + " unknown"}
	if strings.Join(codes, ", ") != strings.Join(want, ", ") {
		t.Errorf("the items came to %v, want %v", codes, want)
	}
	if done.Receipt == nil || frontdesktest.Value(done.Receipt.Wording) != wording || len(done.Receipt.Items) != 1 ||
		done.Receipt.Items[0].Id != news || time.Since(done.Receipt.At) > time.Hour {
		t.Errorf("the receipt is %+v", done.Receipt)
	}
	writes := 0
	for _, call := range client.Calls()[before:] {
		if call.Method == "PUT" {
			writes++
		}
	}
	if writes != 1 {
		t.Errorf("the club system was written to %d times, want once", writes)
	}
	list = read()
	if len(list.Receipts) != 1 || list.Receipts[0].Id != done.Receipt.Id {
		t.Errorf("kept: %+v", list.Receipts)
	}
	client.As("debtor").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &foreign)
	if foreign.Items[0].Authorized || len(foreign.Receipts) != 0 {
		t.Errorf("another contact changed: %+v", foreign)
	}

	// A change that fails leaves the other; one whose response is lost is read again.
	client.Control("PUT", "faults", `[{"match":{"method":"PUT","path":"/optins/`+partners+`"},"kind":"error_before","status":500},
		{"match":{"method":"PUT","path":"/optins/`+news+`"},"kind":"drop_after"}]`).Into(http.StatusOK, nil)
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Items: []api.ConsentWish{
		{Id: partners, Authorized: true}, {Id: news, Authorized: false}, {Id: byName["news text_message"].Id, Authorized: true},
	}}).Into(http.StatusOK, &done)
	if done.Items[0].Code != api.ConsentFailed || done.Items[0].Consent.Authorized ||
		done.Items[1].Code != api.ConsentChanged || done.Items[2].Code != api.ConsentChanged {
		t.Errorf("with faults: %+v", done.Items)
	}
	client.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
	for _, consent := range read().Items {
		if wanted := consent.Locked || consent.Id == byName["news text_message"].Id; consent.Authorized != wanted {
			t.Errorf("in the end %+v", consent)
		}
	}
	twice := []api.ConsentWish{{Id: news, Authorized: true}, {Id: news, Authorized: false}}
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Items: twice}).Problem(api.InvalidRequest)
	customer.Do("PATCH", "/v1/me/consents", `{"items":[]}`).Problem(api.InvalidRequest)
	customer.Do("PATCH", "/v1/me/consents", `{"items":[{"id":"1","authorized":true,"type":"news"}]}`).Problem(api.InvalidRequest)
}

// TestConsentsPromised: a consent that something in front of the club system accepts is not called given.
func TestConsentsPromised(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	customer := client.As("customer")
	var list api.ConsentList
	customer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	news := newsByMail(t, list)
	for _, kind := range []string{`"foreign_page"`, `"foreign_json"`, `"empty_success"`, `"empty_success","status":204`} {
		client.Control("PUT", "faults", `[{"match":{"method":"PUT","path":"/optins/*"},"kind":`+kind+`}]`).Into(http.StatusOK, nil)
		var done api.ConsentChanges
		customer.Do("PATCH", "/v1/me/consents",
			api.ChangeConsents{Items: []api.ConsentWish{{Id: news, Authorized: true}}}).Into(http.StatusOK, &done)
		if item := done.Items[0]; item.Code != api.ConsentFailed || item.Consent.Authorized {
			t.Errorf("%s: %+v", kind, item)
		}
		client.Control("PUT", "faults", `[{"match":{"method":"GET","path":"/optins"},"kind":`+kind+`}]`).Into(http.StatusOK, nil)
		customer.Do("GET", "/v1/me/consents", nil).Problem(api.ClubSystemFailed)
	}
	client.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
	customer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	if newsGiven(list) != 0 {
		t.Errorf("given: %+v", list.Items)
	}
}

// TestConsentsAtSignup checks that a new member chooses what the club may send, through the
// registration, and can withdraw it.
func TestConsentsAtSignup(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	empty := *client
	var started api.Registration
	empty.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key("")).Into(http.StatusCreated, &started)
	empty.Token = *started.Token
	empty.Do("GET", "/v1/registrations/"+started.Id+"/consents", nil).Problem(api.PersonRequired)
	if offersConsents(started) {
		t.Error("consents are offered without a contact")
	}

	registration := client.Register()
	path := "/v1/registrations/" + registration.Id + "/consents"
	if !offersConsents(registration) {
		t.Errorf("the consents are not offered: %+v", registration.Next)
	}
	read := func() (list api.ConsentList) {
		client.Do("GET", path, nil).Into(http.StatusOK, &list)
		return list
	}
	news := newsByMail(t, read())
	change := func(authorized bool) (done api.ConsentChanges) {
		wording := "signup-2026-11"
		client.Do("PATCH", path, api.ChangeConsents{
			Wording: &wording, Items: []api.ConsentWish{{Id: news, Authorized: authorized}},
		}).Into(http.StatusOK, &done)
		return done
	}
	done := change(true)
	if done.Items[0].Code != api.ConsentChanged || done.Receipt == nil || frontdesktest.Value(done.Receipt.Wording) != "signup-2026-11" {
		t.Errorf("given: %+v", done)
	}
	if calls := client.Operations(0); calls[len(calls)-1] != "updateOptin" {
		t.Errorf("the club system was asked last for %s", calls[len(calls)-1])
	}
	if list := read(); len(list.Receipts) != 1 || newsGiven(list) != 1 {
		t.Errorf("kept: %+v", list)
	}
	stranger := *client
	stranger.Token = ""
	stranger.Do("GET", path, nil).Problem(api.TokenRequired)
	stranger.Do("PATCH", path, `{"items":[{"id":"`+news+`","authorized":false}]}`).Problem(api.TokenRequired)
	client.Do("PATCH", path, `{"items":[]}`).Problem(api.InvalidRequest)

	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4242424242424242")
	registration = client.Await(registration.Id, api.Completed)
	if offersConsents(registration) {
		t.Error("a final registration has an action")
	}
	if done := change(false); done.Items[0].Code != api.ConsentChanged || newsGiven(read()) != 0 {
		t.Errorf("taken back: %+v", done)
	}

	// Another person is another contact, without consents.
	other := *client
	second := other.Register()
	other.Token = *second.Token
	path = "/v1/registrations/" + second.Id + "/consents"
	before := newsByMail(t, readConsents(&other, path))
	other.Do("PATCH", path, `{"items":[{"id":"`+before+`","authorized":true}]}`).Into(http.StatusOK, nil)
	other.Do("PATCH", "/v1/registrations/"+second.Id+"/person", `{"email":"someone.else@example.org"}`).Into(http.StatusOK, nil)
	if list := readConsents(&other, path); newsByMail(t, list) == before || newsGiven(list) != 0 || len(list.Receipts) != 0 {
		t.Errorf("another person's: %+v", list)
	}
	other.Do("DELETE", "/v1/registrations/"+second.Id, nil).Into(http.StatusOK, nil)
	readConsents(&other, path) // can still be withdrawn
}

func readConsents(c *frontdesktest.Client, path string) (list api.ConsentList) {
	c.Do("GET", path, nil).Into(http.StatusOK, &list)
	return list
}

func offersConsents(r api.Registration) bool {
	return slices.ContainsFunc(r.Next, func(next api.Action) bool { return next.Action == api.ActionNameConsents })
}

// newsByMail returns the id of that consent.
func newsByMail(t *testing.T, list api.ConsentList) string {
	t.Helper()
	for _, consent := range list.Items {
		if consent.Type == "news" && consent.Channel == "email" {
			return consent.Id
		}
	}
	t.Fatalf("no consent to news by e-mail: %+v", list)
	return ""
}

// newsGiven counts the consents that are given, besides the mandatory ones.
func newsGiven(list api.ConsentList) (given int) {
	for _, consent := range list.Items {
		if consent.Authorized && !consent.Locked {
			given++
		}
	}
	return given
}
