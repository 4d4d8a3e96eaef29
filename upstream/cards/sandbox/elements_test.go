package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"frontdesk/upstream/cards/sandbox"
)

// mounts are the two places of a double: a server of its own, and a path of another server.
func mounts(t *testing.T, s *sandbox.Server) map[string]string {
	t.Helper()
	other := httptest.NewServer(http.StripPrefix("/sandbox", s))
	t.Cleanup(other.Close)
	return map[string]string{"alone": s.URL, "below a path": other.URL + "/sandbox"}
}

// load gets a file as a browser does.
func load(t *testing.T, address string) (answer *http.Response, body string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(content)
}

// TestPagesLoadTheirOwnFiles checks both pages, the library and every file that they name, in both places of a double.
func TestPagesLoadTheirOwnFiles(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	reference := regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	for place, address := range mounts(t, s) {
		seen := map[string]bool{}
		var visit func(address string)
		visit = func(address string) {
			if seen[address] {
				return
			}
			seen[address] = true
			answer, body := load(t, address)
			if answer.StatusCode != http.StatusOK || answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s: %s answers %d, %v", place, address, answer.StatusCode, answer.Header)
			}
			base, _ := url.Parse(address)
			for _, found := range reference.FindAllStringSubmatch(body, -1) {
				visit(base.ResolveReference(&url.URL{Path: found[1]}).String())
			}
		}
		for _, path := range []string{"/v3/", "/v3/element", "/v3/challenge/pi_1"} {
			visit(address + path)
		}
		if len(seen) != 9 {
			t.Errorf("%s: the pages load %v", place, seen)
		}
	}
	for _, path := range []string{"/v3/element.html", "/v3/web/element.js", "/v3/challenge/", "/v3/x.js"} {
		if answer, _ := load(t, s.URL+path); answer.StatusCode == http.StatusOK || answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s answers %d, %v", path, answer.StatusCode, answer.Header)
		}
	}
}

// TestPagePolicies checks that any page may frame the two pages, and that these load nothing but their own files.
func TestPagePolicies(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	for path, connects := range map[string]bool{"/v3/element": false, "/v3/challenge/pi_1": true} {
		answer, _ := load(t, s.URL+path)
		policy := answer.Header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors *"} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s: %q is missing in %q", path, directive, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "connect-src") != connects {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		if referrer := answer.Header.Get("Referrer-Policy"); referrer != "no-referrer" {
			t.Errorf("%s: the address, which may hold a secret, is given away: %q", path, referrer)
		}
	}
	for _, path := range []string{"/v3/", "/v3/element.js", "/v1/account"} {
		if answer, _ := load(t, s.URL+path); answer.Header.Get("Content-Security-Policy") != "" {
			t.Errorf("%s has a policy, which admits frames: %v", path, answer.Header)
		}
	}
}

// TestOtherOriginsReadOnlyBuyersCalls checks that only calls with a publishable key can be read by pages of other
// origins: not the merchant's, nor calls without a key.
func TestOtherOriginsReadOnlyBuyersCalls(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	id := newPayment(t, s)
	held, _ := s.Payment(id)
	for key, c := range map[string]struct {
		status  int
		allowed string
	}{
		s.PublishableKey: {http.StatusOK, "*"}, "pk_test_other": {http.StatusUnauthorized, "*"},
		s.SecretKey: {http.StatusOK, ""}, "": {http.StatusUnauthorized, ""},
	} {
		answer, _ := load(t, s.URL+"/v1/payment_intents/"+id+"?"+url.Values{"key": {key}, "client_secret": {held.ClientSecret}}.Encode())
		if allowed := answer.Header.Get("Access-Control-Allow-Origin"); answer.StatusCode != c.status || allowed != c.allowed {
			t.Errorf("with the key %q: %d, origins %q", key, answer.StatusCode, allowed)
		}
	}
	preflight, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.URL+"/v1/payment_intents/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	preflight.Header.Set("Access-Control-Request-Headers", "authorization")
	answer, err := http.DefaultClient.Do(preflight)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.Header.Get("Access-Control-Allow-Origin") != "" || answer.Header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a page may send the merchant's key: %v", answer.Header)
	}
}

// TestNextAction checks how a buyer is led to the bank, and that no address leads a browser elsewhere than to a page.
func TestNextAction(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	id := newPayment(t, s)
	held, _ := s.Payment(id)
	confirm := func(back string) response {
		params := []string{"client_secret", held.ClientSecret, "payment_method", "pm_card_authenticationRequired"}
		if back != "" {
			params = append(params, "return_url", back)
		}
		return do(t, s, s.PublishableKey, "", "POST /v1/payment_intents/"+id+"/confirm", params...)
	}
	for _, wrong := range []string{"javascript:alert(1)", "javascript://shop/%0aalert(1)", "data:text/html,x", "/shop", "shop", "https:shop"} {
		if r := confirm(wrong); r.status != http.StatusBadRequest || r.text("error", "code") != "url_invalid" {
			t.Errorf("%s: %+v", wrong, r)
		}
	}
	const shop = "https://shop.example/return?order=1"
	redirect := confirm(shop)
	address := redirect.text("next_action", "redirect_to_url", "url")
	if redirect.text("next_action", "type") != "redirect_to_url" || redirect.text("next_action", "redirect_to_url", "return_url") != shop {
		t.Errorf("%+v", redirect)
	}
	answer, body := load(t, address)
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "challenge.js") || !strings.Contains(address, url.QueryEscape(held.ClientSecret)) {
		t.Errorf("%s answers %d", address, answer.StatusCode)
	}
	if err := s.Configure("demo", sandbox.Settings{Challenges: "modal"}); err != nil {
		t.Fatal(err)
	}
	for _, back := range []string{shop, ""} {
		if r := confirm(back); r.text("next_action", "type") != "use_stripe_sdk" {
			t.Errorf("in a frame: %+v", r)
		}
	}
	if r := do(t, s, s.PublishableKey, "", "POST /v3/challenge/"+id, "client_secret", held.ClientSecret, "approve", "true"); r.body["next_action"] != nil {
		t.Errorf("after the challenge: %+v", r)
	}
}
