package security_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestAPI7ServerSideRequestForgery checks that the gateway never calls an address from a visitor, a
// token or a redirect, and sends buyers only to the club's own pages.
func TestAPI7ServerSideRequestForgery(t *testing.T) {
	t.Parallel()
	lure := newTrapServer(t)
	redirector := httptest.NewServer(http.RedirectHandler(lure.URL+"/keys", http.StatusTemporaryRedirect))
	t.Cleanup(redirector.Close)
	gateway := frontdesktest.Start(t, "FRONTDESK_ALLOWED_ORIGINS=https://signup.club.example",
		"FRONTDESK_RETURN_SCHEMES=com.example.club", "FRONTDESK_IDENTITY_JWKS_URL="+redirector.URL+"/jwks",
		"FRONTDESK_CAPTCHA_URL="+redirector.URL+"/verify", "FRONTDESK_CAPTCHA_SECRET=secret")
	client := frontdesktest.NewClient(t, gateway.URL)
	answered := [2]string{"X-Frontdesk-Challenge", lure.URL}
	var r api.Registration
	client.Do("POST", "/v1/registrations", requestBodies["startRegistration"], frontdesktest.Key(""), answered).Into(http.StatusCreated, &r)
	client.Token = *r.Token
	quiet := expectUnchanged(t, client)
	path := "/v1/registrations/" + r.Id + "/payment"
	for _, address := range []string{
		lure.URL, "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]/", "http://localhost:6379/",
		"file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL", "javascript:alert(1)", "data:text/html,x",
		"//evil.example", "/\\evil.example", "https:evil.example", "https://signup.club.example@evil.example/",
		"https://signup.club.example.evil.example/", "https://evil.example/https://signup.club.example",
		"https://signup.club.example:444/", "http://signup.club.example/",
		"https://signup.club.example\\@evil.example/", "https://evil.example#@signup.club.example/",
		" https://signup.club.example/", "https://SIGNUP.club.example%00.evil.example/", "",
		"com.example.evil://paid", "com.example.club.evil://paid", "com.example.club://evil@paid",
		"com.example.club:alert(1)", "intent://paid#Intent;scheme=com.example.club;end",
	} {
		response := client.Do("POST", path, map[string]string{"method": "card", "returnUrl": address}, frontdesktest.Key(""))
		if response.Status != http.StatusUnprocessableEntity {
			t.Errorf("returnUrl %q is answered with %d %s", address, response.Status, response.Body)
		}
	}
	client.As("customer").Do("GET", "/v1/me", nil).Problem(api.IdentityUnavailable)
	quiet("an address")
	if came := lure.requests.Load(); came > 0 {
		t.Errorf("%d requests were made to where the attacker wished", came)
	}
	var payment api.Payment
	client.Do("POST", path, `{"method":"card","returnUrl":"https://signup.club.example/?registration=mine"}`, frontdesktest.Key("")).
		Into(http.StatusCreated, &payment)
}

// TestAPI8SecurityMisconfiguration checks that every response has its headers, no error shows
// internals, and no developer page shows a secret.
func TestAPI8SecurityMisconfiguration(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	for what, response := range map[string]*frontdesktest.Response{
		"a page":                client.Do("GET", "/", nil),
		"the documentation":     client.Do("GET", "/docs/api?url=https://evil.example/openapi.yaml&configUrl=https://evil.example/c.json", nil),
		"a document":            client.Do("GET", "/v1/clubs", nil),
		"no path":               client.Do("GET", "/v1/nothing/%3Cscript%3Ealert(1)%3C/script%3E", nil),
		"no method":             client.Do("TRACE", "/v1/clubs", nil, [2]string{"Cookie", "secret=1"}),
		"a broken body":         client.Do("POST", "/v1/registrations", `{"clubId":`, frontdesktest.Key("")),
		"a body that is a page": client.Do("POST", "/v1/registrations", `<script>alert(1)</script>`, frontdesktest.Key("")),
		"a big body":            client.Do("POST", "/v1/registrations", strings.Repeat("x", 70<<10), frontdesktest.Key("")),
		"no proof":              client.Do("GET", "/v1/me", nil),
		"a webhook":             client.Do("POST", "/v1/webhooks/card", `{}`),
		"a script in a field": client.Do(
			"POST", "/v1/registrations", `{"clubId":"<script>alert(1)</script>","<img src=x>":1}`, frontdesktest.Key(""),
		),
	} {
		header := response.Header
		for name, want := range map[string]string{
			"X-Content-Type-Options":      "nosniff",
			"X-Frame-Options":             "DENY",
			"Referrer-Policy":             "same-origin",
			"Cross-Origin-Opener-Policy":  "same-origin",
			"Server":                      "",
			"X-Powered-By":                "",
			"Access-Control-Allow-Origin": "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q", what, name, got)
			}
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src '") || strings.Contains(policy, "evil") {
			t.Errorf("%s has the policy %q", what, policy)
		}
		if response.Status >= 400 && header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is answered with %q", what, header.Get("Content-Type"))
		}
		for _, leak := range []string{
			"goroutine", ".go:", "panic", "redis", "echo", "openapi3", "/sim/", "<script>alert", "secret=1", "127.0.0.1",
			"unexpected end of JSON",
		} {
			if response.Status >= 400 && strings.Contains(string(response.Body), leak) {
				t.Errorf("%s holds %q: %s", what, leak, response.Body)
			}
		}
	}
	for what, text := range map[string]string{
		"endless headers": "GET /healthz HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("c", 64<<10) + "\r\n\r\n",
		"no host":         "GET /healthz HTTP/1.1\r\n\r\n",
		"no HTTP":         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"another version": "GET /healthz HTTP/3.7\r\nHost: x\r\n\r\n",
	} { // net/http answers these itself, in plain text
		response := dial(t, client, text)
		status := strings.TrimPrefix(response, "HTTP/1.1 ")
		if response != "" && (!strings.HasPrefix(status, "4") && !strings.HasPrefix(status, "505") || len(response) > 200) {
			t.Errorf("%s: %q", what, response)
		}
	}
}

// TestAPI9ImproperInventoryManagement checks that paths outside the contract are not served, in any
// spelling or version.
func TestAPI9ImproperInventoryManagement(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	client.Club()
	quiet := expectUnchanged(t, client)
	for _, path := range []string{
		"/v0/clubs", "/v2/clubs", "/v1.0/clubs", "/v1beta/clubs", "/api/v1/clubs", "/api/clubs", "/clubs", "/v1",
		"/v1/", "/beta/v1/clubs", "/internal/v1/clubs",
		"/admin", "/swagger.json", "/v1/openapi.json", "/openapi.yml", "/v1/openapi.yaml", "/api-docs", "/graphql",
		"/actuator/health", "/server-status", "/status", "/health",
		"/.env", "/.git/config", "/go.mod", "/main.go", "/Dockerfile", "/config.yaml", "/README.md", "/jsconfig.json",
		"/contract.d.ts", "/client/openapi.d.ts", "/client/package.json", "/client/", "/web-example/", "/views/",
		"/docs/../main.go", "/docs/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cmain.go", "/%2e%2e/main.go",
		"/v1/registrations", "/v1/me/", "/v1/webhooks", "/v1/webhooks/club", "/v1/webhooks/club/",
		"/v1/webhooks/club/demo-webhook-secre", "/V1/clubs", "/v1/CLUBS", "/v1/clubs;x=1", "/v1/clubs.json",
		"/v1/clubs%20", "/v1/clubs%00", "/v1/clubs/11/products/", "/v1/clubs/11/../11/products",
	} {
		response := client.Do("GET", path, nil)
		if response.Status != http.StatusNotFound && response.Status != http.StatusMethodNotAllowed ||
			response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is answered with %d %s", path, response.Status, response.Header.Get("Content-Type"))
		}
	}
	for _, route := range routes(t) {
		if strings.Contains(route.path, "{secret}") {
			continue
		}
		for _, path := range []string{route.pathFor("x") + "/", "/" + route.pathFor("x"), strings.ToUpper(route.pathFor("x")),
			"/v2" + route.pathFor("x")} {
			response := client.Do(route.method, path, route.body(), frontdesktest.Key(""))
			if response.Status != http.StatusNotFound && (path != "/docs/" || response.Status != http.StatusOK) {
				t.Errorf("%s %s is answered with %d", route.method, path, response.Status)
			}
		}
	}
	quiet("a path that is not there")
}
