package handlers_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestUnsafeBodies: invalid text, and JSON that parsers interpret differently, is refused with its location,
// on any route and at any depth.
func TestUnsafeBodies(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for body, pointer := range map[string]string{
		`{"clubId":"11","clubId":"12"}`:                                           "/clubId",
		`{"clubId":"11","club\u0049d":"12"}`:                                      "/clubId",
		`{"clubId":"11","person":{"address":{"city":"Paris","city":"Lyon"}}}`:     "/person/address/city",
		`{"clubId":"11","items":[{"offerId":"1"},{"offerId":"1","offerId":"2"}]}`: "/items/1/offerId",
		`{"unknown":{"a":1,"a":1}}`:                                               "/unknown/a",
		"{\"person\":{\"givenName\":\"A\xff\"}}":                                  "/person/givenName",
		"{\"person\":{\"A\xc3\":\"\"}}":                                           "/person",
		`{"person":{"givenName":"\ud800"}}`:                                       "/person/givenName",
		`{"person":{"givenName":"\udc00\ud800"}}`:                                 "/person/givenName",
		`{"person":{"givenName":"Ada\u0000"}}`:                                    "/person/givenName",
		`{"person":{"given\u0000Name":"Ada"}}`:                                    "/person",
		`"\u0000"`:                                                                "",
	} {
		problem := client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.MalformedRequest)
		if problem.Status != http.StatusBadRequest || problem.Errors == nil || len(*problem.Errors) != 1 ||
			frontdesktest.Place((*problem.Errors)[0]) != pointer {
			t.Errorf("%q: points at %q, want %q", body, pointers(problem), pointer)
		}
		client.Do("PUT", unknownRegistration+"/person", body).Problem(api.MalformedRequest)
	}
	body := `{"clubId":"11","person":{"givenName":"\ud83c\udfcb","familyName":"李明 Ñandú","birthDate":"1990-05-17",
		"email":"ada@example.com","mobile":"+33612345678",
		"address":{"street":"12 rue des Lilas","postalCode":"75011","city":"Paris","country":"FR"}}}`
	client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, nil)
}

// TestGuessableKeys: an idempotency key that two anonymous callers could both choose is refused. A holder's keys may count.
func TestGuessableKeys(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	const nobody, holder = false, true
	for key, takenOf := range map[string]map[bool]bool{
		"1":                                    {},
		"123456789012345":                      {},
		"0000000000000001":                     {holder: true},
		"1212121212121212":                     {holder: true},
		"6f1d0c0e-8a55-4d3c-9d53-0f2b7a3f9c11": {nobody: true, holder: true},
		"fedcba9876543210":                     {nobody: true, holder: true},
	} {
		for path, body := range map[string]string{
			"/v1/registrations": `{"clubId":"11"}`, "/v1/resumptions": `{"resume":"no such code"}`,
			"/v1/registrations/" + registration.Id + "/check": "",
		} {
			taken := takenOf[strings.HasSuffix(path, "/check")]
			response := client.Do("POST", path, body, frontdesktest.Key(key))
			if taken == (response.Status == http.StatusBadRequest) {
				t.Errorf("%s with the key %q: %s", path, key, response.Body)
			}
			if !taken && pointers(response.Problem(api.MalformedRequest)) != "header/Idempotency-Key" {
				t.Errorf("%s with the key %q: %s", path, key, response.Body)
			}
		}
	}
}

// TestChannelNeedsStaff: only staff can state that a visitor is at the club.
func TestChannelNeedsStaff(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for _, channel := range []string{"club", "terminal"} {
		body := `{"clubId":"11","channel":"` + channel + `"}`
		problem := client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.StaffOnly)
		if pointers(problem) != "/channel" {
			t.Errorf("points at %q", pointers(problem))
		}
		customer := client.As("customer")
		customer.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.StaffOnly)
		client.Do("POST", "/v1/registrations", body, frontdesktest.Key(""), frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	}
	client.Do("POST", "/v1/registrations", `{"clubId":"11","channel":"web"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
}

// TestCardNumbersAreRefused puts a card number into every text, and into a name of every object, of every body
// of the contract. The number is never stored, forwarded, logged or repeated.
func TestCardNumbersAreRefused(t *testing.T) {
	t.Parallel()
	outside, redisURL := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)
	gateway := frontdesktest.NewGateway(t, outside, redisURL)
	client := frontdesktest.NewClient(t, gateway.URL)
	client.UpstreamsURL = outside.URL
	own, identity := start(t, client), client.Persona("customer").IdentityToken
	document := frontdesktest.Document(t)
	kept, calls, sent := keysOf(t, redisURL), len(outside.Sim.Requests()), 0
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || strings.HasPrefix(path, "/v1/webhooks/") {
				continue
			}
			for _, place := range jsonPaths(op.RequestBody.Value.Content.Get("application/json").Schema.Value) {
				for _, number := range []string{"4242424242424242", "5555 5555 5555 4444", "3782-822463-10005"} {
					sent++
					body, pointer := place.with(number)
					response := client.Do(method, strings.ReplaceAll(path, "{id}", own.Id), body, frontdesktest.Key(""),
						bearer(tokenFor(path, own, identity)))
					problem := response.Problem(api.CardNumberRefused)
					if pointers(problem) != pointer || strings.Contains(string(response.Body), number) {
						t.Errorf("%s %s with %v: %s", method, path, body, response.Body)
					}
				}
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d bodies were sent", sent)
	}
	if now := keysOf(t, redisURL); !slices.Equal(now, kept) || len(outside.Sim.Requests()) != calls {
		t.Errorf("something was kept or passed on: %v instead of %v", now, kept)
	}
	client.Do("GET", "/v1/clubs/4242424242424242/products?cursor=4242424242424242", nil)
	client.Do("GET", "/v1/registrations/4242424242424242", nil, bearer(*own.Token))
	log := strings.NewReplacer(" ", "", "-", "").Replace(gateway.Log())
	for _, digits := range []string{"42424242", "55555555", "37828224"} { // longer than a port
		if strings.Contains(log, digits) {
			t.Errorf("the log holds %s:\n%s", digits, log)
		}
	}
}

// tokenFor returns the token that a route requires.
func tokenFor(path string, own api.Registration, identity string) string {
	if strings.HasPrefix(path, "/v1/me") {
		return identity
	}
	return *own.Token
}

// keysOf lists what Redis holds of requests and registrations.
func keysOf(t *testing.T, url string) []string {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	keys, err := client.Keys(t.Context(), "fd:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	keys = slices.DeleteFunc(keys, func(key string) bool {
		return strings.HasPrefix(key, "fd:heartbeat:") || strings.HasPrefix(key, "fd:once:")
	})
	slices.Sort(keys)
	return keys
}

// jsonPath is the location of a text in a body: the names that lead to it. An empty last name means a name in
// the object itself.
type jsonPath []string

// jsonPaths lists every text of a schema, and every object.
func jsonPaths(schema *openapi3.Schema) (found []jsonPath) {
	below := func(name string, schema *openapi3.Schema) {
		for _, p := range jsonPaths(schema) {
			found = append(found, append(jsonPath{name}, p...))
		}
	}
	switch {
	case len(schema.OneOf) > 0:
		for _, variant := range schema.OneOf {
			found = append(found, jsonPaths(variant.Value)...)
		}
	case schema.Type.Is("array"):
		below("0", schema.Items.Value)
	case schema.Type.Is("string"):
		found = append(found, nil)
	case schema.Type.Is("object"):
		found = append(found, jsonPath{""})
		for name, member := range schema.Properties {
			below(name, member.Value)
		}
	}
	return found
}

// with makes a body with a text at this location, and returns the pointer to it.
func (p jsonPath) with(text string) (body any, pointer string) {
	body = text
	for i := len(p) - 1; i >= 0; i-- {
		switch p[i] {
		case "0":
			body = []any{body}
		case "":
			body = map[string]any{text: "x"}
		default:
			body = map[string]any{p[i]: body}
		}
	}
	return body, strings.TrimSuffix("/"+strings.Join(p, "/"), "/")
}

// cardTexts are texts with and without a card number.
var cardTexts = map[string]bool{
	"4242424242424242":                           true,
	"4242 4242 4242 4242":                        true,
	"4242-4242-4242-4242":                        true,
	"4242 - 4242 - 4242 - 4242":                  true,
	"4242.4242.4242.4242":                        true,
	"4242\u00a04242\u00a04242\u00a04242":         true,
	"42 42 42 42 42 42 42 42":                    true,
	" 4242424242424242 ":                         true,
	"CB 4242 4242 4242 4242":                     true,
	"VISA4242424242424242":                       true,
	"card: 4242 4242 4242 4242, exp. 12/27, 123": true,
	"4242424242424242 12/27":                     true,
	"5555555555554444":                           true,
	"2223003122003222":                           true,
	"378282246310005":                            true,
	"3782 822463 10005":                          true,
	"30569309025904":                             true,
	"3056 930902 5904":                           true,
	"6011111111111117":                           true,
	"3566002020360505":                           true,
	"6205500000000000004":                        true,
	"6759649826438453":                           true,
	"4222222222222":                              true,
	"4242424242424243":                           false,
	"1234567890123456":                           false,
	"0000000000000000":                           false,
	"9242424242424242":                           false,
	"4242":                                       false,
	"424242424242424242424242":                   false,
	"06 12 34 56 78":                             false,
	"0033612345678":                              false,
	"+33 6 12 34 56 78":                          false,
	"+491751234567890":                           false,
	"2030-01-15 2030-01-16":                      false,
	"7001234 123456789012 123456789012":          false,
	"4d42424242424242424242424242424242ab":       false,
	"4242424242424242ab4242424242424242cd":       false,
	"12345678-1234-4123-8123-123456789012":       false,
	"12 rue des Lilas, 75011 Paris":              false,
	"FR76 3000 6000 0112 3456 7890 189":          false,
}

func TestWhatLooksLikeACard(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for text, is := range cardTexts {
		if refused := refusedAsCard(client, "street", text); refused != is {
			t.Errorf("%q is refused as a card: %t", text, refused)
		}
	}
	// An account number is checked as one, typing errors included; a card number in its place is still refused as
	// a card.
	for text, is := range map[string]bool{
		"FR76 3000 6000 0112 3456 7890 188": false,
		"FR7630569309025904":                false,
		"4242 4242 4242 4242":               true,
	} {
		response := client.Do("POST", unknownRegistration+"/mandate", map[string]string{"holder": "Ada", "iban": text}, frontdesktest.Key(""))
		if refused := strings.Contains(string(response.Body), string(api.CardNumberRefused)); refused != is {
			t.Errorf("%q as an account is refused as a card: %t", text, refused)
		}
	}
	client.Do("PUT", unknownRegistration+"/person", `{"amount":4242424242424242}`).Problem(api.CardNumberRefused)
}

// refusedAsCard sends a text as part of an address, and reports whether it is refused as a card number.
func refusedAsCard(c *frontdesktest.Client, member, text string) bool {
	body := map[string]any{"address": map[string]string{member: text}}
	var problem api.Problem
	response := c.Do("PUT", unknownRegistration+"/person", body)
	if err := json.Unmarshal(response.Body, &problem); err != nil {
		panic(err)
	}
	return problem.Code == api.CardNumberRefused
}
