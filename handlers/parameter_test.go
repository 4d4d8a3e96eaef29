package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
)

// TestParametersAreNamed: what is wrong outside the body is told by its own name, and
// the detail tells of one thing without hiding that there are more.
func TestParametersAreNamed(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	one := c.Do("GET", "/v1/clubs/11/products?typ=bogus", nil).Problem(api.InvalidRequest)
	if told := value(one.Errors)[0]; value(told.Parameter) != "typ" || told.Header != nil || !strings.Contains(told.Message, "type") || !strings.HasPrefix(value(one.Detail), "typ: ") {
		t.Errorf("%q, %+v", value(one.Detail), told)
	}
	two := c.Do("POST", "/v1/registrations?dry=run", `{"clubId":"11"}`).Problem(api.MalformedRequest)
	if told := value(two.Errors); len(told) != 2 || value(told[0].Header) != "Idempotency-Key" || value(told[1].Parameter) != "dry" || !strings.HasPrefix(value(two.Detail), "2 things are wrong") {
		t.Errorf("%q, %+v", value(two.Detail), told)
	}
	c.Do("GET", "/healthz?at=7", nil).Into(http.StatusOK, nil)
}
