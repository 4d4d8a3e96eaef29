package journey_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestOneEndpointReplacesAnother: the account has two webhook endpoints at once, each with its secret and the old one with an older
// release's events, and two gateways have both secrets. Each gateway accepts an event that either secret signed, and none of another
// endpoint. A gateway that has only the new secret accepts no event of the old endpoint.
func TestOneEndpointReplacesAnother(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	gateway := func(secrets string) *frontdesktest.Client {
		_, c := env.Gateway(t, "FRONTDESK_SEAL_KEYS="+frontdesktest.SealKey, "FRONTDESK_STRIPE_URL="+processor.URL,
			"FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey,
			"FRONTDESK_STRIPE_WEBHOOK_SECRET="+secrets)
		return c
	}
	type arrival struct {
		endpoint string
		delivery
	}
	arrived := make(chan arrival, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && strings.Contains(string(body), `"payment_intent.amount_capturable_updated"`) {
			arrived <- arrival{r.URL.Path, delivery{string(body), r.Header.Get(cards.SignatureHeader)}}
		}
	}))
	t.Cleanup(receiver.Close)
	processor.SetEndpoints(
		sandbox.Endpoint{URL: receiver.URL + "/old", Secrets: []string{"whsec_old"}, APIVersion: "2024-06-20"},
		sandbox.Endpoint{URL: receiver.URL + "/new", Secrets: []string{"whsec_new"}},
		sandbox.Endpoint{URL: receiver.URL + "/other", Secrets: []string{"whsec_other"}})
	first, second, after := gateway("whsec_old,whsec_new"), gateway("whsec_old,whsec_new"), gateway("whsec_new")
	registration := first.Register()
	payment := first.Pay(registration.Id)
	if _, err := processor.Confirm(processor.Payments()[0].ID, "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	for seen := map[string]bool{}; len(seen) < 3; {
		select {
		case a := <-arrived:
			seen[a.endpoint] = true
			for name, c := range map[string]*frontdesktest.Client{"first": first, "second": second, "after": after} {
				accepted := a.endpoint == "/new" || a.endpoint == "/old" && name != "after"
				if response := a.to(c); accepted {
					response.Into(http.StatusNoContent, nil)
				} else {
					response.Problem(api.WebhookUntrusted)
				}
			}
		case <-time.After(frontdesktest.Patience):
			t.Fatalf("only %v received the event", seen)
		}
	}
	first.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}
