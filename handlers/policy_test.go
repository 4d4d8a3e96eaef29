package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
	"frontdesk/upstream/clubsim"
)

// bodiesOf are requests that can be carried out, or at least be understood.
var bodiesOf = map[string]string{
	"startRegistration":  `{"clubId":"11"}`,
	"resumeRegistration": `{"resume":"of nobody"}`,
	"putPerson":          person,
	"addItem":            `{"offerId":"2501"}`,
	"startPayment":       `{"method":"card"}`,
	"createMandate":      `{"holder":"Ada Martin","iban":"FR7630006000011234567890189"}`,
	"signMandate":        `{"code":"123456"}`,
	"migrateProspect":    `{"accessToken":"of nobody"}`,
	"startTransfer":      `{"clubId":"13"}`,
	"signTransfer":       `{"code":"123456"}`,
	"changeConsents":     `{"items":[{"id":"12012","authorized":true}]}`,
	"receiveCardWebhook": `{}`,
	"receiveClubWebhook": `{}`,
}

// TestWhoMayCallWhat asks for every route of the contract as every kind of
// caller. What is not the caller's is refused before the club system is asked
// for anything.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	document, err := openapi3.NewLoader().LoadFromData(frontdesktest.Contract(t))
	if err != nil {
		t.Fatal(err)
	}
	customer := c.Persona("customer")
	foreign := start(t, c)
	callers := map[string]func(own api.Registration) [2]string{
		"nobody":                         func(api.Registration) [2]string { return [2]string{} },
		"holder":                         func(own api.Registration) [2]string { return bearer(*own.Token) },
		"holder of another registration": func(api.Registration) [2]string { return bearer(*foreign.Token) },
		"identified":                     func(api.Registration) [2]string { return bearer(customer.IdentityToken) },
		"expired":                        func(api.Registration) [2]string { return bearer(forge(t, jwt.SigningMethodHS256, -time.Hour)) },
		"forged":                         func(api.Registration) [2]string { return bearer(forge(t, jwt.SigningMethodHS256, time.Minute)) },
		"none": func(api.Registration) [2]string {
			return bearer(forge(t, jwt.SigningMethodNone, time.Minute))
		},
		"staff key": func(api.Registration) [2]string { return [2]string{"X-Frontdesk-Staff-Key", "demo-staff-key-1"} },
	}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			for name, credentials := range callers {
				if op.OperationID == "followRegistration" && name == "holder" {
					continue // whom a stream without an end answers
				}
				own := start(t, c)
				before := len(c.Calls())
				response := ask(c, method, path, op.OperationID, own, credentials(own))
				refused, code := verdictOn(op, path, name)
				if !refused {
					unpaid := op.OperationID == "getPayment" // there is none yet
					if s := response.Status; s >= 500 || s == 401 || s == 403 || s == 404 && !unpaid {
						t.Errorf("%s %s as %s is refused: %s", method, path, name, response.Body)
					}
					continue
				}
				response.Problem(code)
				if calls := c.Calls()[before:]; len(calls) > 0 {
					t.Errorf("%s %s as %s: refused, after the club system was asked for %+v", method, path, name, calls)
				}
			}
		}
	}
}

func start(t *testing.T, c *frontdesktest.Client) (registration api.Registration) {
	t.Helper()
	c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	return registration
}

func bearer(token string) [2]string { return [2]string{"Authorization", "Bearer " + token} }

// forge signs a token that the club's login did not sign, for a method that it does not use.
func forge(t *testing.T, method jwt.SigningMethod, life time.Duration) string {
	t.Helper()
	var key any = []byte(clubsim.DemoIdentitySecret)
	if method == jwt.SigningMethodNone {
		key = jwt.UnsafeAllowNoneSignatureType
	}
	now := time.Now()
	signed, err := jwt.NewWithClaims(method, jwt.MapClaims{"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(life).Unix()}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// ask sends an operation's request about a registration.
func ask(c *frontdesktest.Client, method, path, operation string, own api.Registration, credentials [2]string) *frontdesktest.Response {
	path = strings.NewReplacer("{clubId}", "11", "{id}", own.Id, "{offerId}", "2501").Replace(path)
	headers := [][2]string{frontdesktest.Key("")}
	if credentials[0] != "" {
		headers = append(headers, credentials)
	}
	var body any
	if text, ok := bodiesOf[operation]; ok {
		body = text
	}
	return c.Do(method, path, body, headers...)
}

// verdictOn reads in the contract whether a caller is refused, and how.
func verdictOn(op *openapi3.Operation, path, caller string) (refused bool, code api.ProblemCode) {
	var schemes []string
	for _, requirement := range value(op.Security) {
		for scheme := range requirement {
			schemes = append(schemes, scheme)
		}
		if len(requirement) == 0 {
			schemes = append(schemes, "anyone")
		}
	}
	token := slices.Contains([]string{"expired", "forged", "none"}, caller)
	switch {
	case strings.HasPrefix(path, "/v1/webhooks/card"):
		return true, api.WebhookUntrusted
	case strings.HasPrefix(path, "/v1/webhooks/club"):
		return true, api.NotFound // nobody here knows the secret
	case slices.Contains(schemes, "token"):
		return caller != "holder", api.NotFound
	case slices.Contains(schemes, "anyone"):
		return token, api.NotIdentified
	case slices.Contains(schemes, "identity"):
		return caller != "identified", api.NotIdentified
	}
	return false, ""
}

// TestPolicyIsTheContracts: the edge does not start when the contract says
// something else about who may call a route.
func TestPolicyIsTheContracts(t *testing.T) {
	t.Parallel()
	contract := string(frontdesktest.Contract(t))
	for said, route := range map[string]string{
		"security: &identified [{identity: []}]":                "GET /v1/me ",
		"security: &holder [{token: []}, {session: []}]":        "GET /v1/registrations/:id ",
		"security: &visitorOrIdentified [{}, {identity: []}]\n": "GET /v1/clubs/:clubId/products ",
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(said, "security: "), " ")
		changed := strings.Replace(contract, said, "security: "+name+" []\n", 1)
		_, err := handlers.New(handlers.Config{Contract: []byte(changed)})
		if err == nil || !strings.Contains(err.Error(), route+"admits") {
			t.Errorf("with %s for anybody, the edge says %v", route, err)
		}
	}
}
