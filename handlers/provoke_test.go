package handlers_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestFaultsBehindCaches: a fault of mock mode shows at once in what the gateway has read before, and its end does, too.
func TestFaultsBehindCaches(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for path, of := range map[string]string{"/v1/clubs/11": "/clubs/*", "/v1/clubs/11/products": "/products",
		"/v1/clubs/11/debit-days": "/allowed_debit_days"} {
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
		client.Control("PUT", "faults", `[{"match":{"path":"`+of+`"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
		client.Do("GET", path, nil).Problem(api.ClubSystemFailed)
		client.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
	}
}
