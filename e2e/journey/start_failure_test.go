package journey_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestStartFails makes each call of a start fail in each way. The response says which part failed, the
// same key can be sent again and then succeeds, and nothing that the first try left behind is ever
// paid.
func TestStartFails(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	for name, call := range map[string]struct {
		persona      string // who starts; empty: a new person
		method, path string
		passes       int  // calls that succeed before
		read         bool // it is retried, so it must fail each time
		words        string
		pointer      string
	}{
		"clubs":       {"", "GET", "/network_nodes", 0, true, "clubs of the chain", ""},
		"club":        {"", "GET", "/clubs/*", 0, true, "club could not be read", ""},
		"catalogue":   {"", "GET", "/products", 0, true, "catalogue", ""},
		"offers":      {"", "GET", "/offers", 0, true, "catalogue", ""}, // many failures keep the next page of products from being requested
		"person":      {"", "POST", "/contacts", 0, false, "buyer's details", ""},
		"contact":     {"customer", "GET", "/contacts/*", 0, true, "contact could not be read", ""},
		"account":     {"customer", "GET", "/stats/accounts/contacts/*", 0, true, "account could not be read", ""},
		"cart":        {"", "POST", "/sales", 0, false, "cart could not be created", ""},
		"first item":  {"", "POST", "/sales/*/articles", 0, false, "Item 1", "/items/0"},
		"second item": {"", "POST", "/sales/*/articles", 1, false, "Item 2", "/items/1"},
		"sale":        {"", "GET", "/sales/*", 0, true, "cart could not be read", ""},
		"check":       {"", "GET", "/sales/*/check", 0, true, "cart could not be read", ""},
	} {
		for _, kind := range []string{`"error_before","status":500`, `"error_before","status":503`, `"drop_after"`, `"malformed"`, `"too_many"`,
			`"foreign_page"`, `"foreign_json"`, `"empty_success"`} {
			if call.pointer != "" && (strings.Contains(kind, "foreign") || strings.Contains(kind, "empty")) {
				continue // the article may be on its way, and the repetition waits for it
			}
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				client := frontdesktest.NewClient(t, mock.URL)
				client.World = "demo-start-" + strings.NewReplacer(" ", "-", `"`, "", ",", "-", ":", "-").Replace(name+kind)
				body := api.StartRegistration{
					ClubId: "11",
					Person: frontdesktest.Person(),
					Items:  &[]api.NewItem{{OfferId: cardOnlyOffer}, {OfferId: cardOnlyOffer}},
				}
				starter := client
				if call.persona != "" {
					starter, body.Person = client.As(call.persona), nil
				}
				match := fmt.Sprintf(`"match":{"method":%q,"path":%q}`, call.method, call.path)
				faults := fmt.Sprintf(`{%s,"kind":%s}`, match, kind)
				if !call.read {
					faults = fmt.Sprintf(`{%s,"kind":%s,"times":1}`, match, kind)
				}
				if call.passes > 0 {
					faults = fmt.Sprintf(`{%s,"kind":"delay","times":%d},`, match, call.passes) + faults
				}
				client.Control("PUT", "faults", "["+faults+"]").Into(http.StatusOK, nil)
				key := frontdesktest.Key("")
				first := starter.Do("POST", "/v1/registrations", body, key)
				client.Control("PUT", "faults", "[]").Into(http.StatusOK, nil)

				// What became of an item can be looked up.
				healed := call.pointer != "" && (kind == `"drop_after"` || kind == `"malformed"`)
				if !healed {
					expectPart(t, first, call.words, call.pointer)
				}
				var again *frontdesktest.Response
				frontdesktest.Eventually(t, "calls are made again, after many have failed", func() bool {
					again = starter.Do("POST", "/v1/registrations", body, key)
					return again.Status != http.StatusServiceUnavailable
				})
				var registration api.Registration
				again.Into(http.StatusCreated, &registration)
				if replayed := again.Header.Get("Idempotent-Replayed") == "true"; replayed != healed {
					t.Errorf("replayed: %t, after %s", replayed, first.Body)
				}
				if len(registration.Cart.Items) != 2 || !registration.Cart.Valid {
					t.Errorf("the cart holds %+v", registration.Cart)
				}
				client.Token = *registration.Token
				client.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"},
					frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
				client.Records().ExpectOnePayment(t, registration.Cart.DueNow.Amount)
			})
		}
	}
}

// expectPart checks what a failure must say: which part failed, that the same request may be sent
// again, and nothing in the club system's own words.
func expectPart(t *testing.T, response *frontdesktest.Response, words, pointer string) {
	t.Helper()
	var problem api.Problem
	response.Into(response.Status, &problem)
	if problem.Code != api.ClubSystemFailed && problem.Code != api.ClubSystemUnavailable || problem.Retry == api.ProblemRetryNever {
		t.Fatalf("status %d: %s", response.Status, response.Body)
	}
	if !strings.Contains(frontdesktest.Value(problem.Detail), words) {
		t.Errorf("%q does not name %q", frontdesktest.Value(problem.Detail), words)
	}
	fields := frontdesktest.Value(problem.Errors)
	if pointer != "" && (len(fields) != 1 || frontdesktest.Place(fields[0]) != pointer) {
		t.Errorf("it points at %+v, not at %s", problem.Errors, pointer)
	}
	if problem.Retry == api.ProblemRetryAfter && response.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
}
