package handlers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestMistakesGetAnAnswer: the typical first mistakes of developers get a detail or a message that says what
// to do.
func TestMistakesGetAnAnswer(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration, stranger := client.Register(), *client
	stranger.Token = ""
	own, key := "/v1/registrations/"+registration.Id, frontdesktest.Key("")
	tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	for name, test := range map[string]struct {
		response *frontdesktest.Response
		code     api.ProblemCode
		says     string
	}{
		"no key": {client.Do("POST", "/v1/registrations", `{"clubId":"11"}`), api.MalformedRequest, "Send the header Idempotency-Key"},
		"no content type": {
			client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, key, [2]string{"Content-Type", ""}),
			api.UnsupportedMediaType, "Content-Type: application/json",
		},
		"no token": {stranger.Do("GET", own, nil), api.TokenRequired, "Send the registration's token"},
		"another's token": {
			stranger.Do("GET", own, nil, bearer(strings.Repeat("A", 43))),
			api.RegistrationNotFound, "is not, or no longer, one of its own",
		},
		"a date of a form": {
			client.Do("POST", own+"/items", `{"offerId":"201","startDate":"15/01/2030"}`, frontdesktest.Key("")),
			api.InvalidRequest, "YYYY-MM-DD, such as 2030-01-15",
		},
		"an unknown offer": {
			client.Do("POST", own+"/items", `{"offerId":"99999","startDate":"`+tomorrow+`"}`, frontdesktest.Key("")),
			api.OfferNotAvailable,
			"Club " + registration.ClubId + " has no offer 99999 for this visitor; see GET /v1/clubs/" + registration.ClubId + "/products.",
		},
		"an unknown address": {
			client.Do("GET", "/clubs", nil, [2]string{"Accept", "application/json"}),
			api.NotFound, "its reference at /docs/api",
		},
		"a trailing slash": {client.Do("GET", "/v1/clubs/", nil), api.NotFound, "Addresses have no trailing slash"},
		"a wrong method":   {client.Do("PUT", "/v1/clubs", `{}`), api.MethodNotAllowed, "accepts only OPTIONS, GET"},
		"broken JSON": {client.Do("POST", "/v1/registrations", `{"clubId":"11",}`, key), api.MalformedRequest,
			`unexpected \"}\" at byte 16`},
	} {
		t.Run(name, func(t *testing.T) {
			problem := test.response.Problem(test.code)
			if !strings.Contains(string(test.response.Body), test.says) {
				t.Errorf("%d %s does not say %q", problem.Status, test.response.Body, test.says)
			}
		})
	}
	client.Do("GET", own, nil).Into(http.StatusOK, nil)
}
