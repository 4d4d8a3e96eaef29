package privacy_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/keyring"
)

// TestRotation changes the keys in the middle of journeys, gateway by gateway: a payment that began
// under the old key is the same payment under the new one. A journey that began during the rotation
// ends after the old key is removed.
func TestRotation(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	key := func(letter string) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(letter), 32)) }
	with := func(keys ...string) string { return "FRONTDESK_SEAL_KEYS=" + strings.Join(keys, ",") }
	before, client := env.gateway(with(key("o")))
	who := campaign.NewCanary(14142135)
	first := register(client, person(who), cardItem())
	token := client.Token
	same := frontdesktest.Key("")
	var begun api.Payment
	client.Do("POST", "/v1/registrations/"+first.Id+"/payment", map[string]string{"method": "card"}, same).Into(http.StatusCreated, &begun)
	receipt := env.changeConsent(client)
	before.Kill()

	during, client := env.gateway(with(key("n"), key("o")))
	client.Token = token
	var again api.Payment
	replayed := client.Do("POST", "/v1/registrations/"+first.Id+"/payment", map[string]string{"method": "card"}, same)
	replayed.Into(http.StatusCreated, &again)
	if again.Id != begun.Id || *again.Card.ClientSecret != *begun.Card.ClientSecret || replayed.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("after the rotation the payment is %+v, before it %+v", again, begun)
	}
	page, err := url.Parse(*begun.Card.RedirectUrl)
	if err != nil {
		t.Fatal(err)
	}
	client.Do("GET", page.Path, nil, [2]string{"Accept", "text/html"}).Into(http.StatusOK, nil)
	client.Confirm(begun, goodCard)
	client.Await(first.Id, api.Completed)
	env.awaitResealed(key("n"))
	second := register(client, person(who), cardItem())
	secondToken, payment := client.Token, client.Pay(second.Id)
	during.Kill()

	after, client := env.gateway(with(key("n")), "FRONTDESK_FORGET_SEAL_KEYS=0409636d") // the id of key "o", removed before its 30 days
	if left := env.receipts(client); len(left) != 1 || left[0].Id != receipt {
		t.Errorf("of the receipt %s from before the rotation is left %+v", receipt, left)
	}
	client.Token = secondToken
	client.Confirm(payment, goodCard)
	client.Await(second.Id, api.Completed)
	if ledger := env.upstreams.Sim.Ledger(); len(ledger) != 2 {
		t.Errorf("two purchases were recorded %d times", len(ledger))
	}
	if audit := env.upstreams.Sim.Audit(); len(audit.SalesPaidTwice) != 0 {
		t.Errorf("paid twice: %+v", audit.SalesPaidTwice)
	}
	if report := env.erase(after, "--registration", second.Id); len(report.Erased) != 1 {
		t.Errorf("what was sealed during the rotation is not erased after it: %+v", report)
	}
}

// changeConsent changes a contact's consent, and returns the id of the receipt.
func (s *testEnv) changeConsent(client *frontdesktest.Client) string {
	s.t.Helper()
	own := *client
	own.Token = client.Persona("customer").IdentityToken
	var list api.ConsentList
	own.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	for _, consent := range list.Items {
		if consent.Type == "news" {
			body := map[string]any{"items": []any{map[string]any{"id": consent.Id, "authorized": !consent.Authorized}}}
			own.Do("PATCH", "/v1/me/consents", body).Into(http.StatusOK, nil)
			return s.receipts(client)[0].Id
		}
	}
	s.t.Fatal("there is nothing to consent to")
	return ""
}

// receipts returns the contact's receipts so far.
func (s *testEnv) receipts(c *frontdesktest.Client) []api.ConsentReceipt {
	s.t.Helper()
	own := *c
	own.Token = c.Persona("customer").IdentityToken
	var list api.ConsentList
	own.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	return list.Receipts
}

// awaitResealed waits until every receipt is sealed with one key.
func (s *testEnv) awaitResealed(encoded string) {
	s.t.Helper()
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		s.t.Fatal(err)
	}
	ring, err := keyring.New(secret)
	if err != nil {
		s.t.Fatal(err)
	}
	frontdesktest.Eventually(s.t, "the receipts are sealed again", func() bool {
		for key := range s.redisContents() {
			if !strings.HasPrefix(key, "fd:receipts:") {
				continue
			}
			for _, sealed := range s.redis.LRange(s.t.Context(), key, 0, -1).Val() {
				if !ring.Current([]byte(sealed)) {
					return false
				}
			}
		}
		return true
	})
}
