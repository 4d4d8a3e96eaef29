package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestParametersAreNamed: an error outside the body names its parameter or header. The
// detail describes one error and says how many there are.
func TestParametersAreNamed(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	one := client.Do("GET", "/v1/clubs/11/products?typ=bogus", nil).Problem(api.InvalidRequest)
	if first := value(one.Errors)[0]; value(first.Parameter) != "typ" || first.Header != nil || !strings.Contains(first.Text, "type") ||
		!strings.HasPrefix(value(one.Detail), "typ: ") {
		t.Errorf("%q, %+v", value(one.Detail), first)
	}
	two := client.Do("POST", "/v1/registrations?dry=run", `{"clubId":"11"}`).Problem(api.MalformedRequest)
	both := value(two.Errors)
	if len(both) != 2 || value(both[0].Header) != "Idempotency-Key" || value(both[1].Parameter) != "dry" ||
		!strings.HasPrefix(value(two.Detail), "2 fields are wrong") {
		t.Errorf("%q, %+v", value(two.Detail), both)
	}
	client.Do("GET", "/healthz?at=7", nil).Into(http.StatusOK, nil)
}

// TestBrokenJSONIsLocated: the detail gives the byte at which the body stops being valid JSON.
func TestBrokenJSONIsLocated(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for body, want := range map[string]string{
		`{"clubId": "11",}`: `The body is not JSON: unexpected "}" at byte 17.`,
		`{"clubId": "11"`:   "The body is not JSON: it ends too early.",
		`{"clubId": "11"}}`: `The body is not JSON: unexpected "}" at byte 17.`,
		"":                  "The body is missing.",
	} {
		broken := client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.MalformedRequest)
		if detail := value(broken.Detail); detail != want {
			t.Errorf("%q: %q, want %q", body, detail, want)
		}
	}
}

// TestDatesAreExplained: the message for a date in another form, or with a time, gives the expected form.
func TestDatesAreExplained(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for _, date := range []string{"15/01/1990", "1990-01-15T00:00:00Z"} {
		wrong := c.Do("PUT", unknownRegistration+"/person", strings.Replace(person, "1990-05-17", date, 1)).Problem(api.InvalidRequest)
		fields := value(wrong.Errors)
		if len(fields) != 1 || frontdesktest.Place(fields[0]) != "/birthDate" ||
			fields[0].Text != "must be a date as YYYY-MM-DD, such as 2030-01-15" {
			t.Errorf("%s: %+v", date, fields)
		}
	}
}
