package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// origins are the origins of pages, and whether mock mode allows them.
var origins = map[string]bool{
	"http://localhost:5173":  true,
	"http://localhost":       true,
	"https://localhost:8443": true,
	"http://127.0.0.1:3000":  true,
	"https://127.0.0.1":      true,
	"http://[::1]:4200":      true,
	"https://[::1]:4200":     true,

	"https://evil.example":          false,
	"http://localhost.evil.example": false,
	"http://evil.example:8080":      false,
	"http://127.0.0.1.evil.example": false,
	"http://evil.example/localhost": false,
	"http://localhost@evil.example": false,
	"ftp://localhost":               false,
	"file://":                       false,
	"null":                          false,
	"chrome-extension://localhost":  false,
	"http://192.168.0.7:5173":       false,
	"http://127.0.0.2":              false,
	"*":                             false,
	"%":                             false,
}

// TestPagesOfThisMachine: in mock mode a page of this machine may call the API
// from any port, with every header and method of the API. No other page may.
func TestPagesOfThisMachine(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for origin, welcome := range origins {
		from := [2]string{"Origin", origin}
		for name, response := range map[string]*frontdesktest.Response{
			"an answer":  client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), from),
			"a problem":  client.Do("POST", "/v1/registrations", `{"clubId":11}`, frontdesktest.Key(""), from),
			"no route":   client.Do("GET", "/v1/nothing", nil, from),
			"a document": client.Do("GET", "/openapi.yaml", nil, from),
		} {
			expectCORS(t, name, origin, welcome, response.Header)
			exposed := response.Header.Get("Access-Control-Expose-Headers")
			for _, header := range []string{"Date", "Location", "Retry-After", "Idempotent-Replayed"} {
				if strings.Contains(exposed, header) != welcome {
					t.Errorf("%s to %s exposes %q", name, origin, exposed)
				}
			}
		}
	}
}

// TestPreflight: a preflight response is cached, and allows every method and header of the contract.
func TestPreflight(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	const headers = "authorization,content-type,idempotency-key,last-event-id,traceparent," +
		"x-frontdesk-session,x-frontdesk-staff-key,x-frontdesk-world"
	for origin, welcome := range origins {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			response := c.Do("OPTIONS", "/v1/registrations/x/items", nil, [2]string{"Origin", origin},
				[2]string{"Access-Control-Request-Method", method}, [2]string{"Access-Control-Request-Headers", headers})
			expectCORS(t, "preflight of "+method, origin, welcome, response.Header)
			if !welcome {
				continue
			}
			if response.Status != http.StatusNoContent || !strings.Contains(response.Header.Get("Access-Control-Allow-Methods"), method) ||
				response.Header.Get("Access-Control-Max-Age") != "600" {
				t.Errorf("the preflight of %s for %s is answered with %d, %v", method, origin, response.Status, response.Header)
			}
			allowed := strings.ToLower(response.Header.Get("Access-Control-Allow-Headers"))
			for header := range strings.SplitSeq(headers, ",") {
				if !strings.Contains(allowed, header) {
					t.Errorf("a page may not send %s, only %s", header, allowed)
				}
			}
		}
	}
}

// TestPreflightOfTracedPages: a page whose libraries add tracing headers passes, and one with further headers that the operator allows.
func TestPreflightOfTracedPages(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_ALLOWED_HEADERS=X-Experiment",
		"FRONTDESK_ALLOWED_ORIGINS=capacitor://localhost,ionic://localhost,https://www.club.example").URL)
	for _, origin := range []string{"capacitor://localhost", "ionic://localhost", "https://www.club.example"} {
		response := c.Do("OPTIONS", "/v1/registrations", nil, [2]string{"Origin", origin}, [2]string{"Access-Control-Request-Method", "POST"})
		expectCORS(t, "preflight", origin, true, response.Header)
		allowed := strings.Split(strings.ToLower(response.Header.Get("Access-Control-Allow-Headers")), ",")
		for _, header := range []string{
			"baggage", "sentry-trace", "traceparent", "tracestate", "x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-origin",
			"x-datadog-sampling-priority", "x-requested-with", "x-b3-traceid", "b3", "x-experiment",
		} {
			if !slices.Contains(allowed, header) {
				t.Errorf("%s may not send %s, only %q", origin, header, allowed)
			}
		}
	}
	for _, origin := range []string{"capacitor://evil.example", "app://localhost", "http://localhost:5173"} {
		response := c.Do("OPTIONS", "/v1/registrations", nil, [2]string{"Origin", origin}, [2]string{"Access-Control-Request-Method", "POST"})
		expectCORS(t, "preflight", origin, false, response.Header)
	}
}

func expectCORS(t *testing.T, name, origin string, welcome bool, header http.Header) {
	t.Helper()
	want, credentials := "", ""
	if welcome {
		want, credentials = origin, "true" // never "*", which browsers reject together with a cookie
	}
	if header.Get("Access-Control-Allow-Origin") != want || header.Get("Access-Control-Allow-Credentials") != credentials {
		t.Errorf("%s for %s has the headers %v", name, origin, header)
	}
	if !strings.Contains(strings.Join(header.Values("Vary"), ","), "Origin") {
		t.Errorf("%s to %s can be cached for other pages", name, origin)
	}
}

// TestCookieOfAnotherOrigin: the session cookie is accepted from this machine's pages and refused from all
// others.
func TestCookieOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	started := client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), [2]string{"X-Frontdesk-Session", "cookie"})
	var registration api.Registration
	started.Into(http.StatusCreated, &registration)
	cookie, _, _ := strings.Cut(started.Header.Get("Set-Cookie"), ";")
	for origin, welcome := range origins {
		response := client.Do(
			"POST", "/v1/registrations/"+registration.Id+"/check", nil, frontdesktest.Key(""),
			[2]string{"Cookie", cookie}, [2]string{"Origin", origin},
		)
		if refused := response.Status == http.StatusForbidden; refused == welcome {
			t.Errorf("%s is answered with %d: %s", origin, response.Status, response.Body)
		}
		if detail := string(response.Body); !welcome && (!strings.Contains(detail, "FRONTDESK_ALLOWED_ORIGINS, which lacks "+origin)) {
			t.Errorf("%s is not told what decides: %s", origin, detail)
		}
	}
}
