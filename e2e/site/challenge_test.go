package site_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// captchaScript is a double of a provider's script: its widget is a button that returns one response.
const captchaScript = `
const widgets = { render(place, { sitekey, callback }) {
  const button = document.createElement("button");
  button.textContent = "I am a person";
  button.dataset.solve = sitekey;
  button.type = "button";
  button.onclick = () => callback("right for " + sitekey + " " + Math.random());
  place.append(button);
} };
window.turnstile = widgets;
const ready = new URL(document.currentScript.src).searchParams.get("onload");
setTimeout(() => window[ready]());
`

// TestChallengeInBrowser checks that with a configured captcha, the page shows its widget, sends the
// visitor's response, and continues the visitor's action. The script fails to load once.
func TestChallengeInBrowser(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(
			w, `{"success": %t}`,
			r.PostFormValue("secret") == "the secret" && strings.HasPrefix(r.PostFormValue("response"), "right for site-key-1"),
		)
	}))
	t.Cleanup(service.Close)
	gateway := frontdesktest.Start(t, "FRONTDESK_CAPTCHA_URL="+service.URL, "FRONTDESK_CAPTCHA_SECRET=the secret",
		"FRONTDESK_CAPTCHA_PROVIDER=turnstile", "FRONTDESK_CAPTCHA_SITE_KEY=site-key-1")
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	script := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, captchaScript)
	})
	visitor.InterceptHosts(map[string]http.Handler{"challenges.cloudflare.com": awayOnce(script)})
	for _, meant := range []string{"asked challenges.cloudflare.com", "status of 403", "status of 503"} {
		visitor.ExpectConsole(meant)
	}
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.fillDetails()
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`dialog [data-challenge] [role="alert"]`)
	visitor.Click(`dialog .dialog-actions button`)
	visitor.WaitVisible(`[data-error="challenge_required"]`)
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`dialog [data-solve="site-key-1"]`)
	visitor.Inspect("challenge")
	visitor.Click(`dialog [data-solve]`)
	visitor.WaitVisible(`main[data-step="cart"]`)
	registration, due := visitor.Registration(), visitor.due()
	visitor.pay()
	visitor.enterCard(frontdesktest.ApprovedCard)
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}
