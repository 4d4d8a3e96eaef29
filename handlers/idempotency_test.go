package handlers_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// newCountedGateway starts a gateway in test mode with limits, behind a trusted proxy, and also returns its
// Redis.
func newCountedGateway(t *testing.T, environment ...string) (*frontdesktest.Client, *redis.Client) {
	t.Helper()
	upstreams, redisURL := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)
	environment = append([]string{
		"FRONTDESK_MODE=test",
		"FRONTDESK_CLUB_URL=" + upstreams.URL + "/sim",
		"FRONTDESK_SANDBOX_URL=" + upstreams.URL + "/sandbox",
		"FRONTDESK_REDIS_URL=" + redisURL,
		"FRONTDESK_RATE_LIMITS=on",
		"FRONTDESK_TRUSTED_PROXIES=127.0.0.1",
	}, environment...)
	gateway := frontdesktest.Start(t, environment...)
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	stored := redis.NewClient(options)
	t.Cleanup(func() { stored.Close() })
	c := frontdesktest.NewClient(t, gateway.URL)
	c.UpstreamsURL = upstreams.URL
	return c, stored
}

// forwardedFor is the header in which the trusted proxy sends the caller's address.
func forwardedFor(address string) [2]string { return [2]string{"X-Forwarded-For", address} }

// storedResponses lists the responses that Redis keeps for repeated requests.
func storedResponses(t *testing.T, stored *redis.Client) []string {
	t.Helper()
	keys, err := stored.Keys(t.Context(), "fd:response:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

// TestStrangersStoreNothing: requests without a registration's token leave nothing in Redis.
func TestStrangersStoreNothing(t *testing.T) {
	t.Parallel()
	client, stored := newCountedGateway(t)
	registration := client.Register()
	stranger := *client
	stranger.Token = newOther(client)
	before := storedResponses(t, stored)
	for i, path := range []string{
		"/items", "/payment", "/mandate", "/mandate/signature", "/mandate/signature/resend", "/resume-link", "/prospect",
	} {
		for j, token := range []string{"", "nonsense", stranger.Token, strings.Repeat("A", 86)} {
			for _, id := range []string{registration.Id, "00000000-0000-4000-8000-000000000000"} {
				bodies := map[string]string{
					"/items":             `{"offerId":"2501"}`,
					"/payment":           `{"method":"card"}`,
					"/mandate":           `{"holder":"Ada Martin","iban":"FR1420041010050500013M02606"}`,
					"/mandate/signature": `{"code":"123456"}`,
					"/prospect":          `{"accessToken":"a"}`,
				}
				anonymous := *client
				anonymous.Token = token
				missing := cmp.Or(map[string]api.ProblemCode{"": api.TokenRequired}[token], api.RegistrationNotFound)
				var body any
				if text := bodies[path]; text != "" {
					body = text
				}
				anonymous.Do("POST", "/v1/registrations/"+id+path, body, frontdesktest.Key(""), forwardedFor(fmt.Sprintf("203.0.%d.%d", i, j))).
					Problem(missing)
			}
		}
	}
	if after := storedResponses(t, stored); !slices.Equal(before, after) {
		t.Errorf("strangers left %d responses in Redis", len(after)-len(before))
	}
}

// TestRefusalsAreKeptForSeconds: a refusal is replayed to a client that lost it, and then forgotten.
func TestRefusalsAreKeptForSeconds(t *testing.T) {
	t.Parallel()
	client, stored := newCountedGateway(t)
	registration := client.Register()
	before := storedResponses(t, stored)
	const seconds = time.Minute
	for path, body := range map[string]string{
		"/v1/registrations": `{"clubId":"no-such-club"}`,
		"/v1/resumptions":   `{"resume":"no such code"}`,
		"/v1/registrations/" + registration.Id + "/mandate/signature": `{"code":"123456"}`,
	} {
		key := frontdesktest.Key("")
		refused := client.Do("POST", path, body, key)
		if refused.Status < 400 || refused.Status >= 500 {
			t.Fatalf("%s: %d %s", path, refused.Status, refused.Body)
		}
		if again := client.Do("POST", path, body, key); again.Status != refused.Status || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s is not replayed: %d, %v", path, again.Status, again.Header)
		}
	}
	after := storedResponses(t, stored)
	if len(after) != len(before)+3 {
		t.Errorf("%d refusals are stored", len(after)-len(before))
	}
	for _, key := range after {
		left := stored.PTTL(t.Context(), key).Val()
		if kept := slices.Contains(before, key); kept != (left > seconds) {
			t.Errorf("%s is kept for another %s; is an answer: %t", key, left, kept)
		}
	}
}

// TestStartContinues repeats a start with its key while the club system cannot create the sale: each attempt continues with
// the first one's contact. The same key with other details is refused, and so is a stranger who guesses the key alone.
func TestStartContinues(t *testing.T) {
	t.Parallel()
	client, stored := newCountedGateway(t, "FRONTDESK_RATE_LIMITS=off")
	made := func(operation string) (n int) {
		for _, call := range client.Calls() {
			if call.Operation == operation {
				n++
			}
		}
		return n
	}
	contacts := made("createContact")
	client.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/sales"},"kind":"error_before","status":500}]`).Into(http.StatusOK,
		nil)
	body := api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: "2501"}}}
	key := frontdesktest.Key("")
	for range 4 {
		client.Do("POST", "/v1/registrations", body, key).Problem(api.ClubSystemFailed)
	}
	other := body
	other.Person = frontdesktest.Person()
	other.Person.FamilyName = "Lovelace"
	client.Do("POST", "/v1/registrations", other, key).Problem(api.KeyReused)
	stranger := body
	stranger.Person = nil
	stranger.Items = nil
	client.Do("POST", "/v1/registrations", stranger, key).Problem(api.KeyReused)

	client.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
	var registration api.Registration
	client.Do("POST", "/v1/registrations", body, key).Into(http.StatusCreated, &registration)
	if n := made("createContact") - contacts; n != 1 || len(registration.Cart.Items) != 1 {
		t.Errorf("%d contacts were created, and the cart has %+v", n, registration.Cart.Items)
	}

	// The gateway died before it stored the response: the repetition gets the same registration.
	if err := stored.Del(t.Context(), storedResponses(t, stored)...).Err(); err != nil {
		t.Fatal(err)
	}
	var again api.Registration
	client.Do("POST", "/v1/registrations", body, key).Into(http.StatusCreated, &again)
	if n := made("createContact") - contacts; again.Id != registration.Id || *again.Token == *registration.Token || n != 1 {
		t.Errorf("the repetition made %s besides %s, and %d contacts", again.Id, registration.Id, n)
	}
	// A request that makes nothing leaves nothing.
	before := stored.Keys(t.Context(), "fd:attempt:*").Val()
	client.Do("POST", "/v1/registrations", `{"clubId":"no-such-club"}`, frontdesktest.Key("")).Problem(api.InvalidRequest)
	if after := stored.Keys(t.Context(), "fd:attempt:*").Val(); len(after) != len(before) {
		t.Errorf("a refused start leaves %d attempts", len(after)-len(before))
	}
}
