package privacy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/registration"
)

// TestErasure registers two people, one of them three times, and erases her: what is still needed for
// money waits, the rest is gone, and the other person loses nothing.
func TestErasure(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	ada, bob := campaign.NewCanary(31415926), campaign.NewCanary(27182818)
	paid := register(client, person(ada), cardItem())
	pay(client, paid.Id)
	paidToken := client.Token
	open := register(client, person(ada), cardItem())
	openToken := client.Token
	paying := register(client, person(ada), cardItem())
	payment := client.Pay(paying.Id)
	payingToken := client.Token
	other := register(client, person(bob), cardItem())
	otherToken := client.Token

	report := env.erase(gateway, "--email", strings.ToUpper(ada.Email))
	if len(report.Erased) != 2 || deferred(report) != paying.Id {
		t.Errorf("erased %+v, kept %+v", report.Erased, report.Kept)
	}
	for id, token := range map[string]string{paid.Id: paidToken, open.Id: openToken} {
		client.Token = token
		client.Do("GET", "/v1/registrations/"+id, nil).Problem(api.RegistrationNotFound)
		client.Do("POST", "/v1/registrations/"+id+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Problem(api.RegistrationNotFound)
	}
	if again := env.erase(gateway, "--email", ada.Email); len(again.Erased) != 0 || deferred(again) != paying.Id {
		t.Errorf("again: erased %+v, kept %+v", again.Erased, again.Kept)
	}

	// The deferred registration can still be paid, and is erased then, even with the phone number in
	// another format.
	client.Token = payingToken
	client.Confirm(payment, goodCard)
	client.Await(paying.Id, api.Completed)
	later := env.erase(gateway, "--mobile", "0033 "+strings.TrimPrefix(ada.Mobile, "+33"))
	if len(later.Erased) != 1 || later.Erased[0].Registration != paying.Id || deferred(later) != "" {
		t.Errorf("later: erased %+v, kept %+v", later.Erased, later.Kept)
	}
	if ledger := env.upstreams.Sim.Ledger(); len(ledger) != 2 {
		t.Errorf("the club holds %d payments", len(ledger))
	}

	client.Token = otherToken
	if left := client.Registration(other.Id); left.State != api.Open || left.Contact == nil {
		t.Errorf("another person's registration is %+v", left)
	}
	if own := env.erase(gateway, "--registration", other.Id); len(own.Erased) != 1 {
		t.Errorf("by registration: %+v", own)
	}
	for _, line := range env.redis.XRange(t.Context(), "fd:audit", "-", "+").Val() {
		if line.Values["what"] != "erase" || line.Values["by"] != "demo" || len(ada.FoundIn(line.ID+line.Values["payment"].(string))) > 0 {
			t.Errorf("the audit stream says %v", line.Values)
		}
	}
	if left := env.redis.Keys(t.Context(), "fd:person:*").Val(); len(left) != 0 {
		t.Errorf("%v still lead to a person", left)
	}
}

// TestStartAfterErasure repeats a request that started a registration which was erased meanwhile, whether its response
// was stored or lost. The repetition says so, without anything of the person, and makes nothing; a new key starts another registration.
func TestStartAfterErasure(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	ada := campaign.NewCanary(14142135)
	body := api.StartRegistration{ClubId: "11", Person: person(ada), Items: &[]api.NewItem{cardItem()}}
	for name, lose := range map[string]func(){
		"stored": func() {},
		"lost":   func() { env.redis.Del(t.Context(), env.redis.Keys(t.Context(), "fd:response:*").Val()...) },
	} {
		key := frontdesktest.Key("")
		client.Token = ""
		var first api.Registration
		client.Do("POST", "/v1/registrations", body, key).Into(http.StatusCreated, &first)
		if report := env.erase(gateway, "--registration", first.Id); len(report.Erased) != 1 {
			t.Fatalf("%s: erased %+v", name, report.Erased)
		}
		lose()
		before, _ := env.redis.Dump(t.Context(), "fd:{"+first.Id+"}:registration").Result()
		for range 2 {
			again := client.Do("POST", "/v1/registrations", body, key)
			if found := ada.FoundIn(string(again.Body)); len(found) > 0 || again.Code() != string(api.RegistrationClosed) {
				t.Errorf("%s: status %d, %s, with %v", name, again.Status, again.Body, found)
			}
		}
		if after, _ := env.redis.Dump(t.Context(), "fd:{"+first.Id+"}:registration").Result(); before == "" || after != before {
			t.Errorf("%s: the erased registration has changed", name)
		}
		other := body
		other.Person = person(campaign.NewCanary(17320508))
		client.Do("POST", "/v1/registrations", other, key).Problem(api.KeyReused)
		var fresh api.Registration
		client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &fresh)
		if fresh.Id == first.Id {
			t.Errorf("%s: a new key starts the erased registration", name)
		}
	}
}

// TestErasureOfAGuardian: a registration is found by its guardian's phone or e-mail address as well, and answers nothing afterwards.
func TestErasureOfAGuardian(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	of := campaign.NewCanary(14142135)
	for flag, value := range map[string]string{"--mobile": of.Mobile, "--email": of.Email} {
		who := person(campaign.NewCanary(31415926))
		who.Guardian = &api.Guardian{GivenName: of.GivenName, FamilyName: of.FamilyName, Relation: api.Parent, Phone: of.Mobile, Email: &of.Email}
		registered := register(client, who, cardItem())
		if report := env.erase(gateway, flag, value); len(report.Erased) != 1 || report.Erased[0].Registration != registered.Id {
			t.Errorf("by %s: erased %+v", flag, report.Erased)
		}
		client.Do("GET", "/v1/registrations/"+registered.Id, nil).Problem(api.RegistrationNotFound)
	}
}

// TestErasureKeepsTheConfirmation: the confirmation of a paid order stays, for its buyer and for its guardian, and the report says why.
func TestErasureKeepsTheConfirmation(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	ada, of := campaign.NewCanary(17320508), campaign.NewCanary(14142135)
	who := person(ada)
	who.Guardian = &api.Guardian{GivenName: of.GivenName, FamilyName: of.FamilyName, Relation: api.Parent, Phone: of.Mobile, Email: &of.Email}
	bought := register(client, who, cardItem())
	pay(client, bought.Id)
	client.Do("GET", "/v1/registrations/"+bought.Id+"/confirmation", nil).Into(http.StatusOK, nil)
	for _, email := range []string{of.Email, ada.Email} {
		report := env.erase(gateway, "--email", email)
		isKept := func(item registration.KeptItem) bool {
			return item.Registration == bought.Id && strings.Contains(item.Why, "FRONTDESK_PROOFS_KEPT")
		}
		if !slices.ContainsFunc(report.Kept, isKept) {
			t.Errorf("by %s: kept %+v", email, report.Kept)
		}
	}
	if keys := env.redis.Keys(t.Context(), "fd:{"+bought.Id+"}:confirmation").Val(); len(keys) != 1 {
		t.Errorf("Redis has the confirmations %q", keys)
	}
}

// erase runs the command, and reads its report.
func (s *testEnv) erase(gateway *frontdesktest.Process, args ...string) registration.ErasureReport {
	s.t.Helper()
	out, err := s.runCLI(gateway, append([]string{"erase", "--json"}, args...)...)
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return decoded[registration.ErasureReport](s.t, out)
}

// deferred returns the only registration that was left for later.
func deferred(report registration.ErasureReport) (id string) {
	for _, kept := range report.Kept {
		if kept.Deferred {
			id += kept.Registration
		}
	}
	return id
}

// TestErasureRefused checks that a person without a clear name is not searched for, and nothing is
// written.
func TestErasureRefused(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	register(client, person(campaign.NewCanary(16180339)), cardItem())
	client.Token = ""
	for _, body := range []string{
		`{}`, `{"email":"a@b.example","mobile":"+33612345678"}`, `{"email":"nobody"}`,
		`{"mobile":"12"}`, `{"registration":"x"}`, `{"contact":"/demo/contacts/7"}`,
	} {
		client.Do("POST", "http://"+gateway.OpsAddress()+"/ops/erasures", body).Problem(api.InvalidRequest)
	}
	client.Do("POST", "http://"+gateway.OpsAddress()+"/ops/erasures", `{"name":"Martin"}`).Problem(api.MalformedRequest)
	if n := env.redis.XLen(t.Context(), "fd:audit").Val(); n != 0 {
		t.Errorf("the audit stream has %d lines", n)
	}
	client.Do("POST", "http://"+gateway.OpsAddress()+"/ops/erasures", `{"email":"nobody@example.com"}`).Into(http.StatusOK, nil)
	if out, err := env.runCLI(gateway, "erase", "--email", "a@b.example", "--contact", "7"); err == nil {
		t.Errorf("two people at once: %s", out)
	}
	out, err := env.runCLI(gateway, "erase", "--contact", "7")
	if err != nil || !strings.Contains(out, "Nothing was found") || !strings.Contains(out, "Elsewhere") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestErasureOfStatements: what a person declared and confirmed is a proof. It is kept, and the report says why; what was not confirmed is
// erased.
func TestErasureOfStatements(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	gateway, client := env.gateway()
	ada, bob := campaign.NewCanary(22360679), campaign.NewCanary(26457513)
	state := func(who campaign.Canary) (confirm string) {
		body := map[string]any{"name": who.GivenName, "email": who.Email}
		var statement api.Statement
		client.Do("POST", "/v1/withdrawals", body, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
		return "/v1/withdrawals/" + statement.Id + "/confirm"
	}
	confirmed, open, others := state(ada), state(ada), state(bob)
	first := client.Do("POST", confirmed, nil)
	first.Into(http.StatusOK, nil)

	report := env.erase(gateway, "--email", strings.ToUpper(ada.Email))
	var kept []string
	for _, item := range report.Kept {
		if item.Statement != "" {
			kept = append(kept, item.Why)
		}
	}
	if len(report.Erased) != 1 || !strings.Contains(report.Erased[0].What, "withdrawal that was not confirmed") ||
		len(kept) != 1 || !strings.Contains(kept[0], "FRONTDESK_PROOFS_KEPT") {
		t.Errorf("erased %+v, kept %+v", report.Erased, report.Kept)
	}
	client.Do("POST", open, nil).Problem(api.NotFound)
	if again := client.Do("POST", confirmed, nil); string(again.Body) != string(first.Body) {
		t.Errorf("the proof became %s", again.Body)
	}
	client.Do("POST", others, nil).Into(http.StatusOK, nil)
	if again := env.erase(gateway, "--email", ada.Email); len(again.Erased) != 0 {
		t.Errorf("again: erased %+v", again.Erased)
	}
}
