package e2e_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/e2e/stripetest"
)

// siteOf is the site's address as visitors know it.
func siteOf(c *frontdesktest.Client) string {
	return strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
}

// detailsOf gives a newcomer's details on the page that asks for them.
func detailsOf(b *frontdesktest.Browser) {
	person := frontdesktest.Person()
	for field, text := range map[string]string{
		"givenName": person.GivenName, "familyName": person.FamilyName, "birthDate": person.BirthDate, "email": string(person.Email),
		"mobile": person.Mobile, "street": person.Address.Street, "postalCode": person.Address.PostalCode, "city": person.Address.City,
	} {
		b.Fill(`[data-field="`+field+`"]`, text)
	}
	b.Click(`form[data-form="person"] [data-continue]`)
}

// contentPolicyOf is what the site's first page may load.
func contentPolicyOf(t *testing.T, c *frontdesktest.Client) string {
	t.Helper()
	answer, err := http.Get(c.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("Content-Security-Policy")
}

// awayOnce lets the first request fail, as a network does.
func awayOnce(next http.Handler) http.Handler {
	var asked atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.CompareAndSwap(false, true) {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// TestCardFieldsInBrowser pays with the processor's own card fields on the page:
// the library of that processor, before doubles of its script and of its API.
func TestCardFieldsInBrowser(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	processor := stripetest.New(stripetest.Config{})
	t.Cleanup(processor.Close)
	gateway := frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+s.outside.URL+"/sim", "FRONTDESK_REDIS_URL="+s.redis,
		"FRONTDESK_CARD_PROCESSOR=stripe", "FRONTDESK_STRIPE_URL="+processor.URL, "FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey,
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey, "FRONTDESK_STRIPE_WEBHOOK_SECRET="+processor.WebhookSecret)
	processor.SetWebhooks(stripetest.Normal, gateway.URL+"/v1/webhooks/card")
	c := frontdesktest.NewClient(t, gateway.URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	b.Stand(map[string]http.Handler{"js.stripe.com": awayOnce(processor.Script()), "api.stripe.com": processor.FromBrowsers()})
	for _, meant := range []string{"asked js.stripe.com", "asked api.stripe.com", "status of 402", "status of 503"} {
		b.Expect(meant)
	}

	b.Open(siteOf(c) + "/?club=11&offer=201&startDate=2031-03-01")
	detailsOf(b)
	b.Click(`[data-pay]`)
	b.See(`[data-card-error="unloaded"]`)
	b.Shot("unloaded")
	b.Click(`[data-card-again]`)
	b.See(`[data-card-fields="ready"] [data-double-card]`)
	b.Shot("fields")
	if b.Count(`[data-pay]`) != 0 || b.Overflow() > 0 {
		t.Errorf("there are two ways to pay, or the page is %d pixels too wide:\n%s", b.Overflow(), b.Text())
	}
	b.Click(`[data-pay-card]`)
	b.See(`[data-card-error] svg`)
	if text := b.Text(); !strings.Contains(text, "Your card number is incomplete.") {
		t.Errorf("the processor's words are missing in:\n%s", text)
	}

	b.Fill(`[data-double-card]`, "4000000000000002")
	b.Click(`[data-pay-card]`)
	b.See(`[data-payment="declined"]`)
	b.See(`[data-card-error] svg`)
	b.Shot("declined")
	if typed := b.Value(`[data-double-card]`); typed == "" || b.Count(`[data-pay]`) != 0 {
		t.Errorf("the fields were made anew, or there are two ways to pay:\n%s", b.Text())
	}

	b.Reload()
	b.See(`[data-card-fields="ready"] [data-double-card]`)
	b.Fill(`[data-double-card]`, "4000002500003155")
	b.Click(`[data-pay-card]`)
	b.See(`[data-member]`)
	if address := b.Address(); strings.Contains(address, "payment_intent") || b.Count(`[data-card-fields]`) != 0 {
		t.Errorf("the browser is at %s", address)
	}
	held := processor.Payments()
	if len(held) != 1 || held[0].Charges != 2 {
		t.Fatalf("the processor holds %+v", held)
	}
	s.expectOnePayment(t, held[0].Amount)
}

// TestOthersAreAskedOnlyForTheirFields: a page may load from the processor where
// the card is entered in the page, and from nobody otherwise.
func TestOthersAreAskedOnlyForTheirFields(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	_, plain := s.gateway(t)
	if policy := contentPolicyOf(t, plain); strings.Contains(policy, "https:") || !strings.Contains(policy, "default-src 'self'") {
		t.Errorf("with a page of the processor: %s", policy)
	}
	for _, path := range []string{"/openapi.d.ts", "/contract.d.ts", "/jsconfig.json", "/README.md"} {
		plain.Do("GET", path, nil).Problem("not_found")
	}
	gateway := frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+s.outside.URL+"/sim", "FRONTDESK_REDIS_URL="+s.redis,
		"FRONTDESK_CARD_PROCESSOR=stripe", "FRONTDESK_STRIPE_SECRET_KEY=sk_test_x", "FRONTDESK_STRIPE_PUBLISHABLE_KEY=pk_test_x", "FRONTDESK_STRIPE_WEBHOOK_SECRET=whsec_x")
	policy := contentPolicyOf(t, frontdesktest.NewClient(t, gateway.URL))
	for _, directive := range []string{"default-src 'self'", "script-src 'self' https://js.stripe.com;", "frame-src https://js.stripe.com", "connect-src 'self' https://api.stripe.com"} {
		if !strings.Contains(policy, directive) {
			t.Errorf("%q is missing in %s", directive, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}
