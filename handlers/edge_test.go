package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestUncleanPaths: a path without a route gets a problem document and no redirect.
func TestUncleanPaths(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for _, path := range []string{
		"/v1//clubs", "//v1/clubs", "/v1/../v1/clubs", "/v1/./clubs", "/v1/clubs/",
		"/V1/clubs", "/sim", "/sandbox", "/v1/%2e%2e/clubs",
	} {
		client.Do("GET", path, nil).Problem(api.NotFound)
		client.Do("POST", path, `{}`, frontdesktest.Key("")).Problem(api.NotFound)
	}
}

// TestForgedSessions: the browser's headers about a request's origin must agree, and must name one of our
// front ends.
func TestForgedSessions(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	var registration api.Registration
	started := client.Do(
		"POST", "/v1/registrations", `{"clubId":"`+client.Club()+`"}`, frontdesktest.Key(""),
		[2]string{"X-Frontdesk-Session", "cookie"},
	)
	started.Into(http.StatusCreated, &registration)
	pair, _, _ := strings.Cut(started.Header.Get("Set-Cookie"), ";")
	ours := strings.Replace(client.URL, "127.0.0.1", "localhost", 1)
	for name, test := range map[string]struct {
		origin, site string
		let          bool
	}{
		"our page":                           {ours, "same-origin", true},
		"our page, an old browser":           {ours, "", true},
		"our page, no Origin":                {"", "same-origin", true},
		"a front end that is listed":         {"http://localhost:5173", "same-site", true},
		"one that is listed, from elsewhere": {"http://localhost:5173", "cross-site", true},
		"our name, said from elsewhere":      {ours, "cross-site", true}, // our origin is localhost, which is an allowed origin
		"elsewhere":                          {"https://evil.example", "cross-site", false},
		"elsewhere, an old browser":          {"https://evil.example", "", false},
		"elsewhere, said to be ours":         {"https://evil.example", "same-origin", false},
		"a sandboxed frame":                  {"null", "cross-site", false},
		"elsewhere, no Origin":               {"", "cross-site", false},
		"a neighbour, no Origin":             {"", "same-site", false},
		"typed, which sends no PUT":          {"", "none", false},
	} {
		var headers [][2]string
		for _, header := range [][2]string{{"Cookie", pair}, {"Origin", test.origin}, {"Sec-Fetch-Site", test.site}} {
			if header[1] != "" {
				headers = append(headers, header)
			}
		}
		response := client.Do("PUT", "/v1/registrations/"+registration.Id+"/person", person, headers...)
		if let := response.Status == http.StatusOK; let != test.let {
			t.Errorf("%s: %d %s", name, response.Status, response.Body)
		}
		client.Do("GET", "/v1/registrations/"+registration.Id, nil, headers...).Into(http.StatusOK, nil)
	}
}

// TestSecurityHeaders: each kind of response has its own policy, and all share the other headers.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for path, policy := range map[string]string{
		"/":           "default-src 'self'",
		"/docs":       "default-src 'self'; form-action 'self'",
		"/docs/api":   "default-src 'self'; style-src 'self' 'unsafe-inline'",
		"/v1/clubs":   "default-src 'none'",
		"/v1/nothing": "default-src 'none'",
		"/readyz":     "default-src 'none'",
	} {
		header := client.Do("GET", path, nil).Header
		if got := header.Get("Content-Security-Policy"); !strings.Contains(got, policy) || !strings.Contains(got, "frame-ancestors 'none'") {
			t.Errorf("%s has the policy %q", path, got)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin", "Strict-Transport-Security": "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if !strings.Contains(header.Get("Permissions-Policy"), "camera=()") {
			t.Errorf("%s may use the camera", path)
		}
	}
}

// TestEndlessHeaders: oversized headers are refused before they are read.
func TestEndlessHeaders(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	response := c.Do("GET", "/healthz", nil, [2]string{"Cookie", strings.Repeat("c", 64<<10)})
	if response.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", response.Status)
	}
}
