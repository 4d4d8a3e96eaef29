package sandbox_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"frontdesk/upstream/cards/sandbox"
)

// TestPagesLoadTheirOwnFiles checks both pages, the library and every file that they name, in both places of a double.
func TestPagesLoadTheirOwnFiles(t *testing.T) {
	reference := regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	eachMount(t, func(door testDoor) {
		seen := map[string]bool{}
		var visit func(path string)
		visit = func(path string) {
			if seen[path] {
				return
			}
			seen[path] = true
			r := door.send("GET "+path, "")
			if r.status != http.StatusOK || r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cache-Control") != "no-cache" {
				door.Errorf("%s answers %d, %v", path, r.status, r.header)
			}
			base, _ := url.Parse(path)
			for _, found := range reference.FindAllStringSubmatch(r.raw, -1) {
				visit(base.ResolveReference(&url.URL{Path: found[1]}).String())
			}
		}
		for _, path := range []string{"/v3/", "/v3/element", "/v3/challenge/pi_1"} {
			visit(path)
		}
		if len(seen) != 9 {
			door.Errorf("the pages load %v", seen)
		}
		for _, path := range []string{"/v3/element.html", "/v3/web/element.js", "/v3/challenge/", "/v3/x.js"} {
			if r := door.send("GET "+path, ""); r.status == http.StatusOK || r.code() == "" {
				door.Errorf("%s answers %d, %s", path, r.status, r.raw)
			}
		}
	})
}

// TestPagePolicies checks that any page may frame the two pages, and that these load nothing but their own files.
func TestPagePolicies(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	for path, connects := range map[string]bool{"/v3/element": false, "/v3/challenge/pi_1": true} {
		header := door.send("GET "+path, "").header
		policy := header.Get("Content-Security-Policy")
		for _, directive := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors *",
		} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s: %q is missing in %q", path, directive, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "connect-src") != connects {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		if referrer := header.Get("Referrer-Policy"); referrer != "no-referrer" {
			t.Errorf("%s: the address, which may hold a secret, is given away: %q", path, referrer)
		}
	}
	for _, path := range []string{"/v3/", "/v3/element.js", "/v1/account"} {
		if header := door.send("GET "+path, "").header; header.Get("Content-Security-Policy") != "" {
			t.Errorf("%s has a policy, which admits frames: %v", path, header)
		}
	}
}

// TestOtherOriginsReadOnlyBuyersCalls checks that only calls with a publishable key can be read by pages of other
// origins: not the merchant's, nor calls without a key.
func TestOtherOriginsReadOnlyBuyersCalls(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	id := newPayment(t, door.Server)
	held, _ := door.Payment(id)
	for key, test := range map[string]struct {
		status  int
		allowed string
	}{
		door.PublishableKey: {http.StatusOK, "*"},
		"pk_test_other":     {http.StatusUnauthorized, "*"},
		door.SecretKey:      {http.StatusOK, ""},
		"":                  {http.StatusUnauthorized, ""},
	} {
		r := do(t, door.Server, "", "", "GET /v1/payment_intents/"+id, "key", key, "client_secret", held.ClientSecret)
		if allowed := r.header.Get("Access-Control-Allow-Origin"); r.status != test.status || allowed != test.allowed {
			t.Errorf("with the key %q: %d, origins %q", key, r.status, allowed)
		}
	}
	for _, path := range []string{"/v1/payment_intents/" + id, "/v3/challenge/" + id} {
		preflight := door.send("OPTIONS "+path, "", "Access-Control-Request-Headers", "x-frontdesk-world")
		origin, headers := preflight.header.Get("Access-Control-Allow-Origin"), preflight.header.Get("Access-Control-Allow-Headers")
		if preflight.status != http.StatusNoContent || origin != "*" || headers != "X-Frontdesk-World" { // above all, not the merchant's key
			t.Errorf("%s: %d: pages of the origins %q may send %q", path, preflight.status, origin, headers)
		}
	}
}

// TestNextAction checks how a buyer is led to the bank, and that no address leads a browser elsewhere than to a page.
func TestNextAction(t *testing.T) {
	t.Parallel()
	server := startServer(t, sandbox.Config{})
	id := newPayment(t, server)
	held, _ := server.Payment(id)
	confirm := func(back string) response {
		params := []string{"client_secret", held.ClientSecret, "payment_method", "pm_card_authenticationRequired"}
		if back != "" {
			params = append(params, "return_url", back)
		}
		return do(t, server, server.PublishableKey, "", "POST /v1/payment_intents/"+id+"/confirm", params...)
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
	page := send(t, server, "GET "+strings.TrimPrefix(address, server.URL), "")
	if page.status != http.StatusOK || !strings.Contains(page.raw, "challenge.js") ||
		!strings.Contains(address, url.QueryEscape(held.ClientSecret)) {
		t.Errorf("%s answers %d", address, page.status)
	}
	if err := server.Configure("demo", sandbox.Settings{Challenges: "modal"}); err != nil {
		t.Fatal(err)
	}
	for _, back := range []string{shop, ""} {
		if r := confirm(back); r.text("next_action", "type") != "use_stripe_sdk" {
			t.Errorf("in a frame: %+v", r)
		}
	}
	r := do(t, server, server.PublishableKey, "", "POST /v3/challenge/"+id, "client_secret", held.ClientSecret, "approve", "true")
	if r.body["next_action"] != nil {
		t.Errorf("after the challenge: %+v", r)
	}
}
