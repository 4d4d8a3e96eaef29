package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
)

// TestParametersAreNamed: an error outside the body names its parameter or header. The
// detail describes one error and says how many there are.
func TestParametersAreNamed(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	one := c.Do("GET", "/v1/clubs/11/products?typ=bogus", nil).Problem(api.InvalidRequest)
	if first := value(one.Errors)[0]; value(first.Parameter) != "typ" || first.Header != nil || !strings.Contains(first.Message, "type") || !strings.HasPrefix(value(one.Detail), "typ: ") {
		t.Errorf("%q, %+v", value(one.Detail), first)
	}
	two := c.Do("POST", "/v1/registrations?dry=run", `{"clubId":"11"}`).Problem(api.MalformedRequest)
	if both := value(two.Errors); len(both) != 2 || value(both[0].Header) != "Idempotency-Key" || value(both[1].Parameter) != "dry" || !strings.HasPrefix(value(two.Detail), "2 things are wrong") {
		t.Errorf("%q, %+v", value(two.Detail), both)
	}
	c.Do("GET", "/healthz?at=7", nil).Into(http.StatusOK, nil)
}
