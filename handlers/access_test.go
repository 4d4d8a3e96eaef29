package handlers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
	"frontdesk/upstream/clubsim"
)

// bodiesOf are valid requests, or at least well-formed ones.
var bodiesOf = map[string]string{
	"startRegistration":    `{"clubId":"11"}`,
	"resumeRegistration":   `{"resume":"no such code"}`,
	"putPerson":            person,
	"correctPerson":        `{"email":"ada@example.org"}`,
	"putGuardian":          `{"givenName":"Anne","familyName":"Martin","relation":"parent","phone":"+33687654321"}`,
	"addItem":              `{"offerId":"2501"}`,
	"startPayment":         `{"method":"card","cart":"q0WDkV3nUf7s2aYH"}`,
	"createMandate":        `{"holder":"Ada Martin","iban":"FR7630006000011234567890189"}`,
	"signMandate":          `{"code":"123456"}`,
	"migrateProspect":      `{"accessToken":"no such token"}`,
	"startTransfer":        `{"clubId":"13"}`,
	"signTransfer":         `{"code":"123456"}`,
	"changeBuyersConsents": `{"items":[{"id":"12012","authorized":true}]}`,
	"changeConsents":       `{"items":[{"id":"12012","authorized":true}]}`,
	"stateWithdrawal":      `{"name":"Ada Martin","email":"ada@example.com"}`,
	"stateCancellation":    `{"name":"Ada Martin","email":"ada@example.com"}`,
	"receiveCardWebhook":   `{}`,
	"receiveClubWebhook":   `{}`,
}

func start(t *testing.T, c *frontdesktest.Client, headers ...[2]string) (registration api.Registration) {
	t.Helper()
	c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, append(headers, frontdesktest.Key(""))...).Into(http.StatusCreated, &registration)
	return registration
}

func bearer(token string) [2]string { return [2]string{"Authorization", "Bearer " + token} }

// forge returns a token that the club's login did not sign, with a method that it does not use.
func forge(t *testing.T, method jwt.SigningMethod, life time.Duration) string {
	t.Helper()
	var key any = []byte(clubsim.DemoIdentitySecret)
	if method == jwt.SigningMethodNone {
		key = jwt.UnsafeAllowNoneSignatureType
	}
	now := time.Now()
	signed, err := jwt.NewWithClaims(method, jwt.MapClaims{"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(life).Unix()}).
		SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// TestPolicyIsTheContracts: the edge does not start if the contract differs from its policy on which callers a
// route admits.
func TestPolicyIsTheContracts(t *testing.T) {
	t.Parallel()
	contract := string(frontdesktest.Contract(t))
	for said, route := range map[string]string{
		"security: &identified [{identity: []}]":                      "GET /v1/me ",
		"security: &holder [{token: []}, {session: []}]":              "POST /v1/registrations/:id/resume-link ",
		"security: &catalogue [{}, {identity: []}, {staffKey: []}]\n": "GET /v1/clubs/:clubId/products ",
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(said, "security: "), " ")
		changed := strings.Replace(contract, said, "security: "+name+" []\n", 1)
		_, err := handlers.New(handlers.Config{Contract: []byte(changed)})
		if err == nil || !strings.Contains(err.Error(), route+"admits") {
			t.Errorf("with %s for anybody, the edge says %v", route, err)
		}
	}
}
