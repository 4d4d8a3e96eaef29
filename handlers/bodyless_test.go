package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestUnexpectedBodies: a route without a body refuses one before it does anything, so that callers do
// not assume it was read. An empty body, which intermediaries may add, and an empty object, which common
// clients send, count as no body.
func TestUnexpectedBodies(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	document := frontdesktest.Document(t)
	customer, tried := client.Persona("customer"), 0
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	for route, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil || strings.HasPrefix(route, "/pay/") { // a page, which has no body to refuse
				continue
			}
			tried++
			own := take(t, client)
			proof, refused := bearer(own.token), map[string]bool{}
			if kindOf(route, op) == "identified" {
				proof = bearer(customer.IdentityToken)
			}
			path := strings.NewReplacer("{clubId}", "11", "{id}", own.id, "{offerId}", "2501", "{itemId}", "no-such-item").Replace(route)
			send := func(body string) *frontdesktest.Response {
				return client.Do(method, path, body, proof, frontdesktest.Key(""), [2]string{"Accept", "application/json"})
			}
			if !strings.HasPrefix(route, "/v1/") {
				send("{}").Into(http.StatusOK, nil) // health accepts any request
				continue
			}
			for _, body := range []string{`{"clubId":"11"}`, "[]", "clubId=11", "{}" + strings.Repeat(" ", 20) + "x", strings.Repeat("x", 60<<10)} {
				problem := send(body).Problem(api.MalformedRequest)
				if problem.Status != http.StatusBadRequest || problem.Detail == nil || value(problem.TraceId) == "" {
					t.Errorf("%s %s with the body %.10q is answered with %+v", method, route, body, problem)
				}
				refused[value(problem.TraceId)] = true
			}
			refused[value(send(strings.Repeat("x", 65<<10)).Problem(api.TooLarge).TraceId)] = true
			if calls := callsOf(client, refused); len(calls) > 0 {
				t.Errorf("%s %s: refused, after the club system was asked for %+v", method, route, calls)
			}
			if op.OperationID == "followRegistration" {
				continue // an endless stream; TestEvents follows one
			}
			for _, body := range []string{"", "{}", " {}\n"} {
				if response := send(body); response.Status == http.StatusBadRequest {
					t.Errorf("%s %s with the body %q is answered with %d %s", method, route, body, response.Status, response.Body)
				}
			}
		}
	}
	if tried < 18 {
		t.Errorf("%d routes take no body", tried)
	}
}

// TestFullCart: the limit of items is the same one by one as in a single request.
func TestFullCart(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	var registration api.Registration
	nineteen := strings.Repeat(`{"offerId":"2501"},`, 18) + `{"offerId":"2501"}`
	client.Do("POST", "/v1/registrations", `{"clubId":"11","person":`+person+`,"items":[`+nineteen+`]}`, frontdesktest.Key("")).
		Into(http.StatusCreated, &registration)
	items := "/v1/registrations/" + registration.Id + "/items"
	add := func() *frontdesktest.Response {
		return client.Do("POST", items, `{"offerId":"2501"}`, bearer(*registration.Token), frontdesktest.Key(""))
	}
	add().Into(http.StatusCreated, &registration)
	if len(registration.Cart.Items) < 20 {
		t.Fatalf("the cart holds %d lines", len(registration.Cart.Items))
	}
	problem := add().Problem(api.InvalidRequest)
	if calls := callsOf(client, map[string]bool{value(problem.TraceId): true}); pointers(problem) != "/offerId" || len(calls) > 0 {
		t.Errorf("the 21st item is answered with %+v, after %+v", problem, calls)
	}
}
