package privacy_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
)

// TestRotation changes the keys in the middle of journeys, gateway by gateway: a
// payment that was begun under the old key is the same payment under the new one,
// and a journey that began during the rotation ends after the old key was dropped.
func TestRotation(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	key := func(letter string) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(letter), 32)) }
	with := func(keys ...string) string { return "FRONTDESK_SEAL_KEYS=" + strings.Join(keys, ",") }
	before, c := s.gateway(with(key("o")))
	who := campaign.NewCanary(14142135)
	first := register(c, person(who), cardItem())
	token := c.Token
	same := frontdesktest.Key("")
	var begun api.Payment
	c.Do("POST", "/v1/registrations/"+first.Id+"/payment", map[string]string{"method": "card"}, same).Into(http.StatusCreated, &begun)
	before.Kill()

	during, c := s.gateway(with(key("n"), key("o")))
	c.Token = token
	var again api.Payment
	replayed := c.Do("POST", "/v1/registrations/"+first.Id+"/payment", map[string]string{"method": "card"}, same)
	replayed.Into(http.StatusCreated, &again)
	if again.Id != begun.Id || *again.Card.RedirectUrl != *begun.Card.RedirectUrl || replayed.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("after the rotation the payment is %+v, before it %+v", again, begun)
	}
	c.Confirm(begun, goodCard)
	c.Await(first.Id, api.Completed)
	second := register(c, person(who), cardItem())
	secondToken, payment := c.Token, c.Pay(second.Id)
	during.Kill()

	after, c := s.gateway(with(key("n")))
	c.Token = secondToken
	c.Confirm(payment, goodCard)
	c.Await(second.Id, api.Completed)
	if ledger := s.outside.Sim.Ledger(); len(ledger) != 2 {
		t.Errorf("two purchases were recorded %d times", len(ledger))
	}
	if audit := s.outside.Sim.Audit(); len(audit.SalesPaidTwice) != 0 {
		t.Errorf("paid twice: %+v", audit.SalesPaidTwice)
	}
	if report := s.erase(after, "--registration", second.Id); len(report.Erased) != 1 {
		t.Errorf("what was sealed during the rotation is not erased after it: %+v", report)
	}
}
