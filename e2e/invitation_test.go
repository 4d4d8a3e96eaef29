package e2e_test

import (
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestInvitation follows a link that the club sends from its making to its second use.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	environment := []string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=" + s.redis, "FRONTDESK_PUBLIC_URL=http://club.example",
		"FRONTDESK_CLUB_URL=" + s.outside.URL + "/sim", "FRONTDESK_SANDBOX_URL=" + s.outside.URL + "/sandbox"}
	gateway := frontdesktest.NewGateway(t, s.outside, s.redis)
	c := frontdesktest.NewClient(t, gateway.URL)
	c.Outside = s.outside.URL
	invite := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append([]string{"invite"}, args...)...)
		cmd.Env = environment
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	token := func(args ...string) string {
		link, err := invite(args...)
		if err != nil {
			t.Fatalf("%v: %s", err, link)
		}
		address, err := url.Parse(link)
		if err != nil || !strings.HasPrefix(link, "http://club.example/?invitation=") {
			t.Fatalf("the link is %q", link)
		}
		return address.Query().Get("invitation")
	}
	use := func(invitation string, body api.StartRegistration, key [2]string) *frontdesktest.Response {
		body.Invitation = &invitation
		return c.Do("POST", "/v1/registrations", body, key)
	}
	debtor := token("--contact", "1002", "--club", "11")

	// What goes wrong on the way leaves the invitation good.
	use(debtor, api.StartRegistration{ClubId: "12"}, frontdesktest.Key("")).Problem(api.OtherClub)
	use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "999999"}}}, frontdesktest.Key("")).Problem(api.OfferNotAvailable)
	c.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/sales"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
	use(debtor, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}, frontdesktest.Key("")).Problem(api.ClubSystemFailed)
	c.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)

	key := frontdesktest.Key("")
	var r, replayed api.Registration
	use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &r)
	if r.Contact.Debt == nil || r.Contact.Debt.Amount != 12400 || r.Contact.Number != "11-001002" {
		t.Errorf("the invited contact is %+v", r.Contact)
	}
	use(debtor, api.StartRegistration{ClubId: "11"}, key).Into(http.StatusCreated, &replayed)
	if replayed.Id != r.Id {
		t.Error("the same request again started another registration")
	}
	before := len(c.Calls())
	used := use(debtor, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	never := use("made-up", api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	short := token("--contact", "1001", "--club", "11", "--ttl", "1ms")
	expired := use(short, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Problem(api.InvitationInvalid)
	if *used.Detail != *never.Detail || *never.Detail != *expired.Detail {
		t.Errorf("used %q, never was %q, expired %q", *used.Detail, *never.Detail, *expired.Detail)
	}
	for _, call := range c.Calls()[before:] {
		if call.Operation == "createSale" {
			t.Error("an invitation that is not good made a sale")
		}
	}

	// Nobody wins a race twice.
	raced := token("--contact", "1001", "--club", "11")
	var won atomic.Int32
	var racers sync.WaitGroup
	for range 10 {
		racers.Go(func() {
			if use(raced, api.StartRegistration{ClubId: "11"}, frontdesktest.Key("")).Status == http.StatusCreated {
				won.Add(1)
			}
		})
	}
	racers.Wait()
	if won.Load() != 1 {
		t.Errorf("%d registrations were started by one invitation", won.Load())
	}

	for name, args := range map[string][]string{
		"no such contact": {"--contact", "99999", "--club", "11"}, "of another club": {"--contact", "1001", "--club", "12"},
		"banned": {"--contact", "1005", "--club", "11"}, "for ever": {"--contact", "1001", "--club", "11", "--ttl", "9999h"},
	} {
		if out, err := invite(args...); err == nil || strings.Contains(out, "invitation=") {
			t.Errorf("%s: %s", name, out)
		}
	}
	environment = nil
	if out, err := invite("--contact", "1001", "--club", "11"); err == nil || !strings.Contains(out, "mock mode") {
		t.Errorf("in mock mode: %v, %s", err, out)
	}
	if strings.Contains(gateway.Log(), debtor) {
		t.Error("the log holds an invitation")
	}
}

// TestConsents gives, withdraws and keeps consents, and asserts on what the club system holds.
func TestConsents(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	c.World = "demo-consents"
	customer := c.As("customer")
	read := func() (list api.ConsentList) {
		customer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
		return list
	}
	list := read()
	byName := map[string]api.Consent{}
	for _, consent := range list.Items {
		if byName[consent.Type+" "+consent.Channel] = consent; consent.Locked != (consent.Type == "legal") || consent.Authorized != consent.Locked {
			t.Errorf("at first: %+v", consent)
		}
	}
	if len(byName) != 12 || len(list.Receipts) != 0 {
		t.Fatalf("there are %d consents and %d receipts", len(byName), len(list.Receipts))
	}
	news, partners, legal := byName["news email"].Id, byName["partners email"].Id, byName["legal email"].Id
	var foreign api.ConsentList
	c.As("debtor").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &foreign)

	before := len(c.Calls())
	var done api.ConsentChanges
	wording := "2026-11"
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Wording: &wording, Items: []api.ConsentWish{
		{Id: news, Authorized: true}, {Id: partners, Authorized: false}, {Id: legal, Authorized: false}, {Id: foreign.Items[0].Id, Authorized: true},
	}}).Into(http.StatusOK, &done)
	var codes []string
	for _, item := range done.Items {
		codes = append(codes, item.Id+" "+string(item.Code))
	}
	want := []string{news + " changed", partners + " unchanged", legal + " locked", foreign.Items[0].Id + " unknown"}
	if strings.Join(codes, ", ") != strings.Join(want, ", ") {
		t.Errorf("the items came to %v, want %v", codes, want)
	}
	if done.Receipt == nil || value(done.Receipt.Wording) != wording || len(done.Receipt.Items) != 1 || done.Receipt.Items[0].Id != news || time.Since(done.Receipt.At) > time.Hour {
		t.Errorf("the receipt is %+v", done.Receipt)
	}
	writes := 0
	for _, call := range c.Calls()[before:] {
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
	c.As("debtor").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &foreign)
	if foreign.Items[0].Authorized || len(foreign.Receipts) != 0 {
		t.Errorf("somebody else changed: %+v", foreign)
	}

	// One that fails leaves the other; one whose answer got lost is read again.
	c.Control("PUT", "faults", `[{"match":{"method":"PUT","path":"/optins/`+partners+`"},"kind":"error_before","status":500},
		{"match":{"method":"PUT","path":"/optins/`+news+`"},"kind":"drop_after"}]`).Into(http.StatusOK, nil)
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Items: []api.ConsentWish{
		{Id: partners, Authorized: true}, {Id: news, Authorized: false}, {Id: byName["news text_message"].Id, Authorized: true},
	}}).Into(http.StatusOK, &done)
	if done.Items[0].Code != api.Failed || done.Items[0].Consent.Authorized || done.Items[1].Code != api.Changed || done.Items[2].Code != api.Changed {
		t.Errorf("with faults: %+v", done.Items)
	}
	c.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
	for _, consent := range read().Items {
		if wanted := consent.Locked || consent.Id == byName["news text_message"].Id; consent.Authorized != wanted {
			t.Errorf("in the end %+v", consent)
		}
	}
	customer.Do("PATCH", "/v1/me/consents", api.ChangeConsents{Items: []api.ConsentWish{{Id: news, Authorized: true}, {Id: news, Authorized: false}}}).Problem(api.InvalidRequest)
	customer.Do("PATCH", "/v1/me/consents", `{"items":[]}`).Problem(api.InvalidRequest)
	customer.Do("PATCH", "/v1/me/consents", `{"items":[{"id":"1","authorized":true,"type":"news"}]}`).Problem(api.InvalidRequest)
}
