package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// TestStaleCatalogue: a catalogue past its refresh time is marked as stale, and clients may cache it only
// briefly.
func TestStaleCatalogue(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	edge := newEdge(t, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, time.Now)
	read := func(path string) *httptest.ResponseRecorder {
		response := httptest.NewRecorder()
		edge.ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, nil))
		return response
	}
	for _, path := range []string{
		"/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/offers/2501", "/v1/clubs/11/debit-days",
	} {
		frontdesktest.Eventually(t, path+" is read", func() bool { return read(path).Code == http.StatusOK })
		for _, age := range []time.Duration{0, 3 * time.Minute, 0} {
			ahead.Store(int64(age))
			response, stale := read(path), age > 0
			if response.Code != http.StatusOK || strings.Contains(response.Body.String(), `"stale":true`) != stale ||
				strings.Contains(response.Header().Get("Cache-Control"), "max-age=5,") != stale {
				t.Errorf("%s, %s old: %d %s %.80s", path, age, response.Code, response.Header().Get("Cache-Control"), response.Body)
			}
		}
	}
}
