package site_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// contentPolicy returns the content security policy of the site's first page.
func contentPolicy(t *testing.T, c *frontdesktest.Client) string {
	t.Helper()
	response, err := http.Get(c.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.Header.Get("Content-Security-Policy")
}

// awayOnce makes the first request fail, as a network does.
func awayOnce(next http.Handler) http.Handler {
	var asked atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.CompareAndSwap(false, true) {
			w.Header().Set("Content-Type", "text/javascript")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// newCardFieldsVisitor returns a guest of a gateway with the processor's own card fields on the page:
// the real library of that processor, with doubles of its script and of its API.
func newCardFieldsVisitor(t *testing.T, with device) (*siteVisitor, frontdesktest.Env, *sandbox.Server) {
	t.Helper()
	env := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	gateway, c := env.StripeGateway(t, processor, sandbox.Normal, "FRONTDESK_STRIPE_SCRIPT_URL=https://js.stripe.com/v3/")
	g := newSiteVisitorAt(t, with, c, gateway)
	g.InterceptHosts(map[string]http.Handler{"js.stripe.com": awayOnce(processor), "api.stripe.com": processor})
	for _, meant := range []string{"asked js.stripe.com", "asked api.stripe.com", "status of 402", "status of 503"} {
		g.ExpectConsole(meant)
	}
	return g, env, processor
}

// TestCardFieldsInBrowser pays with the processor's own card fields on the page, which load late. The
// first card is declined, and the second one's bank asks on a page of its own.
func TestCardFieldsInBrowser(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor, env, processor := newCardFieldsVisitor(t, device)
			visitor.fillCart()
			visitor.Click(`[data-pay]`)
			visitor.WaitVisible(`[data-card-error="unloaded"]`)
			visitor.Inspect("unloaded")
			visitor.Click(`[data-card-again]`)
			visitor.WaitVisible(`[data-card-fields="ready"] iframe`)
			visitor.Inspect("fields")
			if visitor.Count(`[data-pay]`) != 0 {
				t.Errorf("there are two ways to pay:\n%s", visitor.Text())
			}
			visitor.Click(`[data-pay-card]`)
			visitor.WaitVisible(`[data-card-error] svg`)
			if text := visitor.Text(); !strings.Contains(text, "Your card number is incomplete.") {
				t.Errorf("the processor's words are missing in:\n%s", text)
			}

			visitor.inFrame(frontdesktest.CardFields).Click(`[data-card="` + declinedCard + `"]`)
			visitor.Click(`[data-pay-card]`)
			visitor.WaitVisible(`[data-payment="declined"]`)
			visitor.WaitVisible(`[data-card-error] svg`)
			visitor.Inspect("declined")
			if text := visitor.Text(); strings.Count(text, "Your card was declined") != 1 {
				t.Errorf("it should say once that the card was declined:\n%s", text)
			}
			if typed := visitor.inFrame(frontdesktest.CardFields).Value(`#number`); typed == "" || visitor.Count(`[data-pay]`) != 0 {
				t.Errorf("the fields were recreated, or there are two ways to pay:\n%s", visitor.Text())
			}

			visitor.Reload()
			visitor.WaitVisible(`[data-card-fields="ready"] iframe`)
			visitor.FillCard(challengeCard)
			visitor.Click(`[data-pay-card]`)
			visitor.WaitVisible(`[data-answer="true"]`)
			visitor.Inspect("bank")
			visitor.Click(`[data-answer="true"]`)
			visitor.expectMember()
			if address := visitor.URL(); strings.Contains(address, "payment_intent") || visitor.Count(`[data-card-fields]`) != 0 {
				t.Errorf("the browser is at %s", address)
			}
			held := processor.Payments()
			if len(held) != 1 || held[0].Charges != 2 {
				t.Fatalf("the processor holds %+v", held)
			}
			env.ExpectOnePayment(t, held[0].Amount)
		})
	}
}

// TestContentPolicyAllowsProcessorOnlyForCardFields checks that a page with card fields may load from
// the processor, and other pages from no other host.
func TestContentPolicyAllowsProcessorOnlyForCardFields(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, plain := env.Gateway(t, "FRONTDESK_SEAL_KEYS="+frontdesktest.SealKey)
	if policy := contentPolicy(t, plain); strings.Contains(policy, "https:") || !strings.Contains(policy, "default-src 'self'") {
		t.Errorf("with a page of the processor: %s", policy)
	}
	for _, path := range []string{"/client/openapi.d.ts", "/contract.d.ts", "/jsconfig.json", "/README.md"} {
		plain.Do("GET", path, nil).Problem("not_found")
	}
	gateway := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+env.Upstreams.URL+"/sim", "FRONTDESK_REDIS_URL="+env.Redis,
		"FRONTDESK_SEAL_KEYS="+frontdesktest.SealKey, "FRONTDESK_STRIPE_SECRET_KEY=sk_test_x",
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY=pk_test_x", "FRONTDESK_STRIPE_WEBHOOK_SECRET=whsec_x",
	)
	policy := contentPolicy(t, frontdesktest.NewClient(t, gateway.URL))
	for _, directive := range []string{
		"default-src 'self'", "script-src 'self' https://js.stripe.com https://*.js.stripe.com;",
		"frame-src 'self' https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com;",
		"connect-src 'self' https://api.stripe.com",
	} {
		if !strings.Contains(policy, directive) {
			t.Errorf("%q is missing in %s", directive, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}
