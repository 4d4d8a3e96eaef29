package ops_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/keyring"
)

// TestStopDuringPayment asks a gateway to end while it waits for the club system's response to a
// payment: it leaves service, has the response recorded, and only then ends.
func TestStopDuringPayment(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	stopping := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+env.Upstreams.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+env.Upstreams.URL+"/sandbox", "FRONTDESK_REDIS_URL="+env.Redis, "FRONTDESK_DRAIN_DELAY=5s",
	)
	client := frontdesktest.NewClient(t, stopping.URL)
	client.UpstreamsURL = env.Upstreams.URL
	registration := client.Register()
	payment := client.Pay(registration.Id)
	reached := env.Upstreams.HoldResponses("POST", "/sales/*/payments")
	client.Confirm(payment, "4242424242424242")
	frontdesktest.Receive(t, reached, "the payment is being recorded")
	stopping.Terminate()
	var health api.Health
	frontdesktest.Eventually(t, "it leaves service", func() bool {
		response := client.Do("GET", "/readyz", nil)
		response.Into(response.Status, &health)
		return response.Status == http.StatusServiceUnavailable
	})
	if frontdesktest.Value(health.Checks)["process"] != "stopping" {
		t.Errorf("%+v", health)
	}
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil) // proxies may not have noticed yet
	client.Do("GET", "/healthz", nil).Into(http.StatusOK, nil)
	env.Upstreams.Release()
	if err := stopping.Wait(); err != nil {
		t.Errorf("it ended with %v:\n%s", err, stopping.Log())
	}
	_, other := env.Gateway(t)
	other.Token = client.Token
	if after := other.Registration(registration.Id); after.State != api.Completed || after.Payment.State != api.Recorded {
		t.Errorf("it is %s, the payment %s", after.State, after.Payment.State)
	}
	env.ExpectOnePayment(t, payment.Total.Amount)
}

// TestMockStopDuringPayment checks that the simulator in the same process answers until the payment
// that it delays is recorded, and that a hanging call does not keep the process from ending.
func TestMockStopDuringPayment(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.Start(t, "FRONTDESK_REDIS_URL=redis://127.0.0.1:1")
	c := frontdesktest.NewClient(t, mock.URL)
	payment := c.Pay(c.Register().Id)
	c.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/sales/*/payments"},"kind":"delay","delayMs":1500,"times":1}]`).
		Into(http.StatusOK, nil)
	c.Confirm(payment, "4242424242424242")
	frontdesktest.Eventually(t, "the payment is on its way", func() bool { return len(c.Records().Ledger) == 1 })
	if err := mock.Stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	expectAll(t, mock.Log(), "to=recorded", "mock mode embeds its own Redis")
	if strings.Contains(mock.Log(), "to=in_doubt") {
		t.Errorf("it is in doubt:\n%s", mock.Log())
	}
}

// TestRegistrationOfNewerVersion checks that an older gateway next to newer ones asks the visitor to
// wait a moment, and changes nothing.
func TestRegistrationOfNewerVersion(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	key := []byte("a key of thirty-two bytes, or so.")
	keys, err := keyring.New(key)
	if err != nil {
		t.Fatal(err)
	}
	gateway := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+env.Upstreams.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+env.Upstreams.URL+"/sandbox", "FRONTDESK_REDIS_URL="+env.Redis,
		"FRONTDESK_SEAL_KEYS="+base64.StdEncoding.EncodeToString(key),
	)
	visitor := frontdesktest.NewClient(t, gateway.URL)
	registration := visitor.Register()
	options, err := redis.ParseURL(env.Redis)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	at := "fd:{" + registration.Id + "}:registration"
	newer := string(keys.Seal(at, fmt.Appendf(nil, `{"id":%q,"schema":%d,"state":["open"]}`, registration.Id, flows.RegistrationSchema+1)))
	client.HSet(t.Context(), at, "body", newer)

	for _, request := range []struct{ method, path, body string }{
		{"GET", "", ""}, {"DELETE", "", ""}, {"POST", "/items", `{"offerId":"101"}`}, {"POST", "/payment", `{"method":"card"}`},
	} {
		refused := visitor.Do(request.method, "/v1/registrations/"+registration.Id+request.path, bodyOf(request.body), frontdesktest.Key(""))
		problem := refused.Problem(api.StorageUnavailable)
		if refused.Header.Get("Retry-After") == "" || problem.Detail == nil {
			t.Errorf("%s %s: %s", request.method, request.path, refused.Body)
		}
	}
	if left := client.HGet(t.Context(), at, "body").Val(); left != newer {
		t.Error("the record was written")
	}
	expectLogged(t, gateway, "written by a newer version")
}

// bodyOf returns nil for an empty text.
func bodyOf(text string) any {
	if text == "" {
		return nil
	}
	return text
}
