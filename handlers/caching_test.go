package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// keptForAll is the Cache-Control of a response that caches may share.
var keptForAll = regexp.MustCompile(`^public, max-age=\d+, s-maxage=\d+, stale-while-revalidate=\d+, stale-if-error=\d+$`)

// inTwoLanguages are the operations whose shared responses have texts of the gateway or the operator.
var inTwoLanguages = []string{"listDocuments", "getClub", "listProducts", "getOffer", "getSchedule"}

// TestCaching calls every operation of the contract as every kind of caller. A response that is the same for every
// anonymous visitor can be shared, with a validator, the right Vary and no limit of one visitor. No other response is kept.
func TestCaching(t *testing.T) {
	t.Parallel()
	outside := frontdesktest.NewUpstreams(t)
	client := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox", "FRONTDESK_REDIS_URL="+frontdesktest.NewRedis(t),
		"FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1", "FRONTDESK_STAFF_KEYS=demo-staff-key-1").URL)
	client.UpstreamsURL = outside.URL
	callers, address := callersOf(t, client), 0
	for path, item := range frontdesktest.Document(t).Paths.Map() {
		for method, op := range item.Operations() {
			shared := op.Responses.Status(http.StatusOK) != nil && op.Responses.Status(http.StatusOK).Value.Headers["Cache-Control"] != nil
			address++ // a new address for each operation, so that no limit applies
			from := [2]string{"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", address)}
			own, at := take(t, client, from), path
			if op.OperationID == "followRegistration" { // its stream of an ended registration ends, and is not JSON
				client.Do("DELETE", "/v1/registrations/"+own.id, nil, bearer(own.token), from).Into(http.StatusOK, nil)
				at = client.URL + path
			}
			for caller, credentials := range callers {
				sent := append(credentials(own), from)
				known := slices.ContainsFunc(sent, func(h [2]string) bool { // a contact by a token of the club's login, or staff
					return h[0] == "Authorization" && strings.Count(h[1], ".") == 2 || h[0] == "X-Frontdesk-Staff-Key"
				})
				for range 2 { // the second one may come from memory
					response, what := asked(client, method, at, op.OperationID, own.id, sent), fmt.Sprintf("%s %s as %s", method, path, caller)
					switch {
					case shared && !known && response.Status == http.StatusOK:
						expectShared(t, what, op.OperationID, response)
					case !strings.HasPrefix(response.Header.Get("Cache-Control"), "no-store"):
						t.Errorf("%s: status %d, kept by %q", what, response.Status, response.Header.Get("Cache-Control"))
					case shared && !known:
						t.Errorf("%s: status %d %s", what, response.Status, response.Body)
					}
				}
			}
		}
	}
}

func expectShared(t *testing.T, what, operation string, response *frontdesktest.Response) {
	t.Helper()
	header, vary := response.Header, strings.Join(response.Header.Values("Vary"), ", ")
	kept := keptForAll.MatchString(header.Get("Cache-Control"))
	if operation == "getDocument" {
		kept = header.Get("Cache-Control") == "public, max-age=31536000, immutable"
	}
	if !kept || len(header.Get("ETag")) < 20 {
		t.Errorf("%s: kept by %q, tag %q", what, header.Get("Cache-Control"), header.Get("ETag"))
	}
	if header.Get("RateLimit") != "" || header.Get("RateLimit-Policy") != "" || header.Get("Set-Cookie") != "" {
		t.Errorf("%s: shows what one visitor has left, %v", what, header)
	}
	inLanguage := slices.Contains(inTwoLanguages, operation)
	if strings.Contains(vary, "Accept-Language") != inLanguage || (header.Get("Content-Language") != "") != inLanguage {
		t.Errorf("%s: Vary %q, Content-Language %q", what, vary, header.Get("Content-Language"))
	}
	for name, depends := range map[string]bool{
		"Origin": true, "Accept-Encoding": true, "Cookie": false,
		"Authorization": strings.Contains(what, "/v1/clubs/"), "X-Frontdesk-Staff-Key": strings.Contains(what, "/v1/clubs/"),
	} {
		if depends && !strings.Contains(vary, name) || name == "Cookie" && strings.Contains(vary, name) {
			t.Errorf("%s: Vary %q, %s changes the response: %t", what, vary, name, depends)
		}
	}
}

// TestLanguageParameter: with ?lang= the language is part of the address, so that a shared cache need not read
// Accept-Language.
func TestLanguageParameter(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for _, path := range []string{"/v1/config", "/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/offers/901",
		"/v1/clubs/11/offers/901/schedule", "/v1/clubs/11/debit-days"} {
		french := c.Do("GET", path+"?lang=fr", nil, [2]string{"Accept-Language", "en"})
		french.Into(http.StatusOK, nil)
		header := c.Do("GET", path, nil, [2]string{"Accept-Language", "fr"})
		if header.Header.Get("ETag") != french.Header.Get("ETag") ||
			header.Header.Get("Content-Language") != french.Header.Get("Content-Language") {
			t.Errorf("%s in French: %v by the parameter, %v by the header", path, french.Header, header.Header)
		}
		if strings.Contains(french.Header.Get("Vary"), "Accept-Language") {
			t.Errorf("%s?lang=fr varies by %q", path, french.Header.Get("Vary"))
		}
	}
}

// TestNothingIsKeptPastMidnight: what changes with the club's day is kept until that day ends, and no longer.
func TestNothingIsKeptPastMidnight(t *testing.T) {
	t.Parallel()
	midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) // of clubs without a time zone
	for before, want := range map[time.Duration]string{
		time.Hour:               "public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600",
		5 * time.Minute:         "public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=240",
		90 * time.Second:        "public, max-age=60, s-maxage=60, stale-while-revalidate=30, stale-if-error=30",
		7500 * time.Millisecond: "public, max-age=7, s-maxage=7, stale-while-revalidate=0, stale-if-error=0",
	} {
		now := func() time.Time { return midnight.Add(-before) }
		edge := newEdge(t, now, now)
		for _, path := range []string{"/v1/clubs/11/products", "/v1/clubs/11/offers/2501/schedule"} {
			for range 2 {
				response := httptest.NewRecorder()
				edge.ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, nil))
				if got := response.Header().Get("Cache-Control"); response.Code != http.StatusOK || got != want {
					t.Errorf("%s %s before midnight: %d, kept by %q, want %q", path, before, response.Code, got, want)
				}
			}
		}
	}
}

// TestPagesAreCompressed: the contract and its reference are sent compressed, and not again to readers who have them.
func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for _, path := range []string{
		"/openapi.yaml", "/openapi.json", "/asyncapi.yaml", "/docs", "/docs/api", "/docs/swagger-ui-bundle.js", "/docs/reference/limits.md",
	} {
		plain := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		packed := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip"})
		if len(plain.Body) >= 1400 && (packed.Header.Get("Content-Encoding") != "gzip" || string(unpack(t, packed.Body)) != string(plain.Body)) {
			t.Errorf("%s, %d bytes: %v", path, len(plain.Body), maps.Clone(packed.Header))
		}
		again := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "gzip"}, [2]string{"If-None-Match", packed.Header.Get("ETag")})
		if packed.Header.Get("ETag") == "" || again.Status != http.StatusNotModified || len(again.Body) > 0 {
			t.Errorf("%s is sent again: %d, tag %q", path, again.Status, packed.Header.Get("ETag"))
		}
	}
}

// TestStaleIsNotKeptPastMidnight: nor is what the club system could not say again, although it is shown while the gateway fails.
func TestStaleIsNotKeptPastMidnight(t *testing.T) {
	t.Parallel()
	midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	for before, want := range map[time.Duration]string{
		time.Hour:               "public, max-age=5, stale-if-error=600",
		65 * time.Second:        "public, max-age=5, stale-if-error=60",
		3500 * time.Millisecond: "public, max-age=3, stale-if-error=0",
	} {
		now := midnight.Add(-before)
		edge := newEdge(t, func() time.Time { return now }, func() time.Time { return now.Add(-3 * time.Minute) })
		response := httptest.NewRecorder()
		edge.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/v1/clubs/11/products", nil))
		if got := response.Header().Get("Cache-Control"); response.Code != http.StatusOK || got != want {
			t.Errorf("%s before midnight: %d, kept by %q, want %q", before, response.Code, got, want)
		}
	}
}
