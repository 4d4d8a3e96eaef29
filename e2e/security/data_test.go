package security_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// internal are fields that the gateway, the club system or a library knows, and that a visitor may not
// set.
var internal = map[string]any{
	"@id":         "/demo/contacts/1001",
	"contactId":   "/demo/contacts/1001",
	"contact":     map[string]any{"status": "customer"},
	"clientToken": "demo-other",
	"token":       "chosen",
	"tokenHash":   "00",
	"state":       "completed",
	"status":      "customer",
	"valid":       true,
	"dueNow":      map[string]any{"amount": 0, "currency": "EUR"},
	"totalTI":     0,
	"price":       0,
	"discount":    100,
	"staff":       true,
	"role":        "admin",
	"sale":        "/demo/sales/1",
	"version":     99,
	"expiresAt":   "2099-01-01T00:00:00Z",
	"captured":    4990,
	"recorded":    true,
	"debt":        nil,
	"__proto__":   map[string]any{"staff": true},
	"constructor": map[string]any{},
	"ClubId":      "12",
	"club_id":     "12",
}

// TestAPI3MassAssignment checks that a field that the caller may not set is an error in every body, at
// every depth, and that the request then has no effect.
func TestAPI3MassAssignment(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	customer := client.Persona("customer")
	quiet := expectUnchanged(t, client)
	tried := 0
	for _, route := range routes(t) {
		text, ok := requestBodies[route.op.OperationID]
		if !ok {
			continue
		}
		proof := bearerHeader(*registration.Token)
		if strings.HasPrefix(route.path, "/v1/me") {
			proof = bearerHeader(customer.IdentityToken)
		}
		if !strings.Contains(route.path, "{id}") && !strings.HasPrefix(route.path, "/v1/me") {
			proof = [2]string{"Accept", "application/json"}
		}
		for name, value := range internal {
			for at, body := range assigned(t, text, name, value) {
				response := attacker(client).Do(route.method, route.pathFor(registration.Id), body, proof, frontdesktest.Key(""))
				problem := response.Problem(api.InvalidRequest)
				if !slices.ContainsFunc(*problem.Errors, func(e api.FieldProblem) bool { return strings.HasPrefix(frontdesktest.Place(e), at) }) {
					t.Errorf("%s %s with %s: %s", route.method, route.path, at, response.Body)
				}
				tried++
			}
		}
	}
	if tried < len(requestBodies)*len(internal) {
		t.Errorf("only %d assignments were tried", tried)
	}
	quiet("a body with more than is asked for")
}

// assigned returns copies of a body with a member added to one of its objects each, by the member's
// pointer.
func assigned(t *testing.T, text, name string, value any) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	var walk func(path []string)
	read := func(path []string) (document any, at any) {
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		at = document
		for _, step := range path {
			if list, ok := at.([]any); ok {
				at = list[0]
				continue
			}
			at = at.(map[string]any)[step]
		}
		return document, at
	}
	walk = func(path []string) {
		document, at := read(path)
		switch v := at.(type) {
		case []any:
			walk(append(slices.Clone(path), "0"))
		case map[string]any:
			members := slices.Sorted(maps.Keys(v))
			v[name] = value
			changed, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			bodies["/"+strings.Join(append(slices.Clone(path), name), "/")] = string(changed)
			for _, member := range members {
				walk(append(slices.Clone(path), member))
			}
		}
	}
	walk(nil)
	return bodies
}

// TestAPI3ExcessiveData checks that responses contain only what the contract defines. The club system's
// names never leave the gateway.
func TestAPI3ExcessiveData(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	hold := func(what string, response *frontdesktest.Response, into any) {
		t.Helper()
		decoder := json.NewDecoder(bytes.NewReader(response.Body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil || response.Status >= 300 {
			t.Errorf("%s: %d, %v: %s", what, response.Status, err, response.Body)
		}
		for _, name := range []string{
			"/" + client.World + "/", `\/` + client.World + `\/`, `"@`, "/demo/", client.World, clubsim.DemoClientSecret,
			clubsim.DemoGatewayKey, "clientToken", "tokenHash", "fd_", "/sales/", "/contacts/", "checkout",
		} {
			if strings.Contains(string(response.Body), name) {
				t.Errorf("%s holds %s: %s", what, name, response.Body)
			}
		}
		for name, values := range response.Header {
			if text := strings.Join(values, " "); strings.Contains(text, client.World) {
				t.Errorf("%s: the header %s holds %s", what, name, text)
			}
		}
	}
	path := "/v1/registrations/" + registration.Id
	visitor, customer := attacker(client), client.As("customer")
	hold("clubs", visitor.Do("GET", "/v1/clubs", nil), new(api.ClubList))
	hold("products", visitor.Do("GET", "/v1/clubs/11/products", nil), new(api.ProductList))
	hold("products of a contact", customer.Do("GET", "/v1/clubs/11/products", nil), new(api.ProductList))
	hold("schedule", visitor.Do("GET", "/v1/clubs/11/offers/901/schedule", nil), new(api.Schedule))
	hold("registration", client.Do("GET", path, nil), new(api.Registration))
	hold("me", customer.Do("GET", "/v1/me", nil), new(api.Me))
	hold("consents", customer.Do("GET", "/v1/me/consents", nil), new(api.ConsentList))
	hold(
		"start",
		customer.Do("POST", "/v1/registrations", `{"clubId":"11","items":[{"offerId":"2501"}]}`, frontdesktest.Key("")),
		new(api.Registration),
	)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	done := client.Do("GET", path, nil)
	hold("what is completed", done, new(api.Registration))
	var r api.Registration
	done.Into(http.StatusOK, &r)
	if r.Token != nil || r.Payment.Card.ClientSecret != nil {
		t.Errorf("secrets are sent again: %s", done.Body)
	}
	for _, word := range []string{"Martin", "ada@example.com", "33612345678", "1990-05-17", "Lilas"} {
		if strings.Contains(string(done.Body), word) {
			t.Errorf("the registration shows %s, which is write-only", word)
		}
	}
}
