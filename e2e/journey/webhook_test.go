package journey_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// delivery is a webhook from the card processor, or from an impostor.
type delivery struct {
	body, signature string
}

// signed is a delivery as the processor would send it at an instant.
func signed(at time.Time, secret, body string) delivery {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%d.%s", at.Unix(), body)
	return delivery{body, fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(h.Sum(nil)))}
}

func (d delivery) to(c *frontdesktest.Client) *frontdesktest.Response {
	return c.Do(
		"POST", "/v1/webhooks/card", d.body, [2]string{"Content-Type", "application/json"},
		[2]string{cards.SignatureHeader, d.signature},
	)
}

// paymentEvent is an event that claims that a payment was captured.
func paymentEvent(payment sandbox.Payment) string {
	payment.Status = "succeeded"
	return string(frontdesktest.CardEvent("payment_intent.succeeded", payment))
}

// TestForgedWebhooks checks that forged webhooks are refused, whatever they claim, and change nothing.
func TestForgedWebhooks(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	client.Pay(registration.Id)
	claims := payment(t, env)
	claims.Captured = claims.Amount
	body := paymentEvent(claims)
	now := time.Now()
	right := signed(now, sandbox.DemoWebhookSecret, body)
	before := client.Registration(registration.Id)
	for name, forged := range map[string]delivery{
		"no signature":              {body, ""},
		"another secret":            signed(now, "whsec_guessed", body),
		"another body":              {strings.Replace(right.body, "evt_", "evt_1", 1), right.signature},
		"recorded ten minutes ago":  signed(now.Add(-10*time.Minute), sandbox.DemoWebhookSecret, body),
		"of the future":             signed(now.Add(10*time.Minute), sandbox.DemoWebhookSecret, body),
		"a signature of no time":    {body, "v1=" + right.signature[strings.Index(right.signature, "v1=")+3:]},
		"another processor's words": {body, "t=1492774577,v0=" + strings.Repeat("ab", 32)},
		"no event":                  signed(now, sandbox.DemoWebhookSecret, `{"hello": "world"}`),
		"no JSON":                   signed(now, sandbox.DemoWebhookSecret, "payment.captured"),
	} {
		problem := forged.to(client).Problem(api.WebhookUntrusted)
		if strings.Contains(frontdesktest.Value(problem.Detail), "secret") {
			t.Errorf("%s: %+v", name, problem)
		}
	}
	signed(now, sandbox.DemoWebhookSecret, `{"padding": "`+strings.Repeat("x", 1<<20)+`"}`).to(client).Problem(api.TooLarge)
	if after := client.Registration(registration.Id); !reflect.DeepEqual(before, after) {
		t.Errorf("the registration was\n%+v\nand is\n%+v", before, after)
	}
	expectUntouched(t, env)
}

// TestFalseWebhooks checks that correctly signed events with wrong contents, or of other accounts, are
// accepted, so that they are not repeated, and have no effect.
func TestFalseWebhooks(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	client.Pay(registration.Id)
	held := payment(t, env)
	meddle := func(change func(p *sandbox.Payment)) sandbox.Payment {
		payment := held
		payment.Metadata = map[string]string{}
		for key, value := range held.Metadata {
			payment.Metadata[key] = value
		}
		change(&payment)
		return payment
	}
	before := client.Registration(registration.Id)
	for _, lie := range map[string]sandbox.Payment{
		"captured already":        meddle(func(p *sandbox.Payment) { p.Captured = p.Amount }),
		"another amount":          meddle(func(p *sandbox.Payment) { p.Amount = 1 }),
		"another environment":     meddle(func(p *sandbox.Payment) { p.Metadata["fd_environment"] = "live" }),
		"another shop's":          meddle(func(p *sandbox.Payment) { clear(p.Metadata) }),
		"an unknown registration": meddle(func(p *sandbox.Payment) { p.Metadata["fd_registration"] = "00000000-0000-4000-8000-000000000000" }),
		"a generation to come":    meddle(func(p *sandbox.Payment) { p.Metadata["fd_generation"] = "2" }),
		"an invalid generation":   meddle(func(p *sandbox.Payment) { p.Metadata["fd_generation"] = "-1" }),
		"unexpected fields":       meddle(func(p *sandbox.Payment) { p.Metadata["fd_post_1"] = "claimed" }),
	} {
		event := paymentEvent(lie)
		for range 2 { // and is sent again
			signed(time.Now(), sandbox.DemoWebhookSecret, event).to(client).Into(http.StatusNoContent, nil)
		}
	}
	// The true event that follows is processed normally.
	client.Confirm(*before.Payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, before.Payment.Total.Amount)
}

// payment returns the payment that the processor holds.
func payment(t *testing.T, s frontdesktest.Env) sandbox.Payment {
	t.Helper()
	held := s.Upstreams.Cards.Payments()
	if len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	return held[0]
}

// expectUntouched checks that no money moved anywhere.
func expectUntouched(t *testing.T, s frontdesktest.Env) {
	t.Helper()
	if held := payment(t, s); held.State != cards.RequiresAction || held.Captured != 0 || held.Metadata["fd_post_1"] != "" {
		t.Errorf("the processor holds %+v", held)
	}
	if booked := s.Upstreams.Sim.Ledger(); len(booked) != 0 {
		t.Errorf("the club system booked %+v", booked)
	}
}
