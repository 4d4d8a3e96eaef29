package privacy_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// webhookProxy is between a card processor and a gateway. It adds to each webhook what real ones say
// about the buyer: billing details, in the processor's own words, in metadata and in the texts of
// refusals. It signs as the processor does.
type webhookProxy struct {
	*httptest.Server
	t      *testing.T
	to     string // the gateway
	secret string // key of the signatures
	who    campaign.Canary
	taken  atomic.Int64 // accepted by the gateway, signed
}

func (w *canaryRun) newWebhookProxy(gateway *frontdesktest.Process, secret string) *webhookProxy {
	b := &webhookProxy{t: w.t, to: gateway.URL + "/v1/webhooks/card", secret: secret, who: w.newCanary()}
	b.Server = httptest.NewServer(b)
	w.t.Cleanup(b.Close)
	return b
}

// ServeHTTP forwards a webhook, and an unsigned one before it.
func (b *webhookProxy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var event map[string]any
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		b.t.Errorf("the processor sent no JSON: %v", err)
		return
	}
	data, _ := event["data"].(map[string]any)
	payment, _ := data["object"].(map[string]any)
	if payment == nil {
		b.t.Errorf("the event has no object: %v", event)
		return
	}
	about := map[string]any{
		"name":       b.who.GivenName + " " + b.who.FamilyName,
		"email":      b.who.Email,
		"phone":      b.who.Mobile,
		"address":    map[string]string{"line1": b.who.Street},
		"card":       map[string]string{"number": foreignCard},
		"sepa_debit": map[string]string{"iban": canaryIBAN},
	}
	for _, member := range []string{"billing_details", "shipping", "customer", "payment_method_details"} {
		payment[member] = about
	}
	payment["receipt_email"], payment["description"] = b.who.Email, b.who.FamilyName
	payment["last_payment_error"] = map[string]any{"message": b.who.FamilyName + " has no money on " + foreignCard, "payment_method": about}
	if metadata, ok := payment["metadata"].(map[string]any); ok {
		metadata["buyer"] = b.who.Email
	}
	body, _ := json.Marshal(event)
	b.post(body, "not the secret")
	status := b.post(body, b.secret)
	if status < 300 {
		b.taken.Add(1)
	}
	rw.WriteHeader(status)
}

// post sends a body to the gateway, signed as the processor does.
func (b *webhookProxy) post(body []byte, secret string) int {
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.to, bytes.NewReader(body))
	if err != nil {
		b.t.Error(err)
		return http.StatusBadGateway
	}
	at := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at, body)
	request.Header.Set(cards.SignatureHeader, fmt.Sprintf("t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway // the gateway has stopped
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// throughSandbox makes the sandbox processor's webhooks say everything about a buyer.
func (w *canaryRun) throughSandbox() *webhookProxy {
	b := w.newWebhookProxy(w.gateways[0], sandbox.DemoWebhookSecret)
	w.c.SetProcessor(map[string]string{"webhooks": "duplicate", "webhookUrl": b.URL})
	return b
}

// byStripe pays through the other processor, after a decline, in an environment of its own: gateways
// that share a Redis have one processor.
func (w *canaryRun) byStripe(environment ...string) *webhookProxy {
	processor := sandbox.New(sandbox.Config{})
	w.t.Cleanup(processor.Close)
	env := newTestEnv(w.t)
	gateway, client := env.gateway(
		append(
			environment, "FRONTDESK_SEAL_KEYS="+frontdesktest.SealKey, "FRONTDESK_STRIPE_URL="+processor.URL,
			"FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey,
			"FRONTDESK_STRIPE_WEBHOOK_SECRET="+processor.WebhookSecret,
		)...)
	w.gateways = append(w.gateways, gateway)
	proxy := w.newWebhookProxy(gateway, processor.WebhookSecret)
	processor.SetWebhooks(sandbox.Duplicate, proxy.URL)
	registration := register(client, w.newPerson(), cardItem())
	w.secrets.add("a registration's token", client.Token)
	payment := client.Pay(registration.Id)
	w.secrets.add("a payment's secret of the processor", *payment.Card.ClientSecret)
	page, err := url.Parse(*payment.Card.RedirectUrl)
	if err != nil {
		w.t.Fatal(err)
	}
	w.secrets.add("the proof of a payment's page", path.Base(page.Path))
	client.Do("GET", page.Path, nil, [2]string{"Accept", "text/html"}).Into(http.StatusOK, nil)
	client.Do("GET", path.Dir(page.Path)+"/"+strings.Repeat("A", len(path.Base(page.Path))), nil).Problem(api.NotFound)
	held := processor.Payments()[0].ID
	for _, card := range []string{refusedCard, goodCard} {
		if _, err := processor.Confirm(held, card); err != nil {
			w.t.Fatal(err)
		}
	}
	client.Await(registration.Id, api.Completed)
	w.recordRedisOf(env)
	return proxy
}
