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
		answer := httptest.NewRecorder()
		edge.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer
	}
	for _, path := range []string{
		"/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/offers/2501", "/v1/clubs/11/debit-days",
	} {
		frontdesktest.Eventually(t, path+" is read", func() bool { return read(path).Code == http.StatusOK })
		for _, age := range []time.Duration{0, 3 * time.Minute, 0} {
			ahead.Store(int64(age))
			answer, stale := read(path), age > 0
			if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), `"stale":true`) != stale ||
				strings.Contains(answer.Header().Get("Cache-Control"), "max-age=5,") != stale {
				t.Errorf("%s, %s old: %d %s %.80s", path, age, answer.Code, answer.Header().Get("Cache-Control"), answer.Body)
			}
		}
	}
}
