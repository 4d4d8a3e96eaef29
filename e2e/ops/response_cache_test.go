package ops_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestSlowCatalogueReader checks that a client that requests a cached response again and again, and
// reads nothing, loses the connection like any other. Other clients are served meanwhile.
func TestSlowCatalogueReader(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewGateway(t, frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t))
	client := frontdesktest.NewClient(t, gateway.URL)
	client.Do("GET", "/v1/clubs/11/products", nil).Into(http.StatusOK, nil)
	const more = 400 // more than the buffers of both sides hold
	requests := strings.Repeat("GET /v1/clubs/11/products HTTP/1.1\r\nHost: x\r\n\r\n", more)
	if _, err := io.WriteString(slowly(t, gateway.URL), requests); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Eventually(t, "an answer waits to be taken", func() bool { return working(t, gateway, "encodings.write") == 1 })
	client.Do("GET", "/v1/clubs/11/products", nil).Into(http.StatusOK, nil)
	frontdesktest.Eventually(
		t, "no goroutine works for the slow client any more",
		func() bool { return working(t, gateway, "encodings.write") == 0 },
	)
}

// TestCachedResponsesAreLogged checks that in live mode a response from the cache is logged like any
// other.
func TestCachedResponsesAreLogged(t *testing.T) {
	t.Parallel()
	process, c := frontdesktest.NewLive(t).Start(t)
	const asked = 5
	for range asked {
		c.Do("GET", "/v1/clubs/11/debit-days", nil).Into(http.StatusOK, nil)
	}
	c.Do("GET", "/v1/clubs/11/debit-days?day=1", nil).Problem("invalid_request")
	expectLogged(t, process, `"route":"/v1/clubs/:clubId/debit-days","status":422`)
	if strings.Count(process.Log(), `"msg":"request","method":"GET","route":"/v1/clubs/:clubId/debit-days","status":200`) != asked {
		t.Errorf("the log says:\n%s", process.Log())
	}
}
