package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// cardPageBuyer is a buyer whose front end has no card fields: it opens the gateway's card page. Its page after the payment is a
// page without scripts.
type cardPageBuyer struct {
	*siteVisitor
	s            frontdesktest.Env
	processor    *sandbox.Server
	registration api.Registration
	payment      api.Payment
	back         string // returnUrl
}

// newCardPageBuyer returns a buyer with a payment. serve changes what the processor serves to the browser; nil: nothing.
func newCardPageBuyer(t *testing.T, with device, serve func(http.Handler) http.Handler) *cardPageBuyer {
	t.Helper()
	b := &cardPageBuyer{s: frontdesktest.NewEnv(t), processor: sandbox.New(sandbox.Config{})}
	t.Cleanup(b.processor.Close)
	var environment []string
	if serve != nil {
		changed := httptest.NewServer(serve(b.processor))
		t.Cleanup(changed.Close)
		environment = append(environment, "FRONTDESK_STRIPE_SCRIPT_URL="+changed.URL+"/v3/")
	}
	gateway, c := b.s.StripeGateway(t, b.processor, sandbox.Normal, environment...)
	b.siteVisitor = newSiteVisitorAt(t, with, c, gateway)
	b.back = b.home + "/terms.html?from=app&a=%20b"
	b.registration = c.Register()
	c.RequestPayment(b.registration.Id, map[string]string{"method": "card", "returnUrl": b.back}).Into(http.StatusCreated, &b.payment)
	return b
}

// openPage opens the card page, and waits for the fields.
func (b *cardPageBuyer) openPage() {
	b.t.Helper()
	b.Open(*b.payment.Card.RedirectUrl)
	b.waitForFields()
}

func (b *cardPageBuyer) waitForFields() {
	b.t.Helper()
	b.WaitVisible(`[data-card-fields="ready"] iframe`)
}

// pay types a card, and presses the button.
func (b *cardPageBuyer) pay(card string) {
	b.t.Helper()
	b.FillCard(card)
	b.Click(`[data-pay-card]`)
}

// expectReturned waits until the browser is back at the front end, at the address as it was sent.
func (b *cardPageBuyer) expectReturned() {
	b.t.Helper()
	b.Await("the return to the front end", `location.href === `+frontdesktest.Quote(b.back))
}

// TestCardPageInBrowser pays on the card page. The processor's script loads late, the first card is declined, and the second one's
// bank asks. The browser then returns to the front end, and the page shows later how the payment ended.
func TestCardPageInBrowser(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newCardPageBuyer(t, device, awayOnce)
			b.ExpectConsole("status of 402")
			b.ExpectConsole("status of 503")
			b.Open(*b.payment.Card.RedirectUrl)
			b.WaitVisible(`[data-card-error="unloaded"]`)
			b.Inspect("unloaded")
			b.Click(`[data-card-again]`)
			b.waitForFields()
			b.Inspect("fields")
			says := func(words string) string {
				return `document.querySelector("[data-card-error]").textContent.includes("` + words + `")`
			}
			b.Click(`[data-pay-card]`)
			b.Await("the processor's words", says("Your card number is incomplete."))

			b.pay(declinedCard)
			b.Await("the decline", says("declined")+` && !document.querySelector("main").dataset.busy`)
			b.Inspect("declined")
			if typed := b.inFrame(frontdesktest.CardFields).Value(`#number`); typed == "" {
				t.Error("the fields were recreated")
			}
			b.Reload()
			b.WaitVisible(`main[data-pay="declined"]`)
			b.waitForFields()
			b.pay(challengeCard)
			b.Click(`[data-answer="true"]`)
			b.expectReturned()

			b.c.Await(b.registration.Id, api.Completed)
			if held := b.processor.Payments(); len(held) != 1 || held[0].Charges != 2 {
				t.Fatalf("the processor holds %+v", held)
			}
			b.s.ExpectOnePayment(t, b.payment.Total.Amount)
			b.Open(*b.payment.Card.RedirectUrl + "?lang=fr")
			b.WaitVisible(`html[lang="fr"] main[data-pay="recorded"] [data-return]`)
			b.Inspect("recorded")
			if text := b.Text(); b.Count("form") != 0 || !strings.Contains(text, "Paiement reçu") || strings.Contains(text, "Ada") {
				t.Errorf("the page shows:\n%s", text)
			}
			b.Click(`[data-return]`)
			b.expectReturned()
		})
	}
}

// TestCardPageBehindABlocker replaces the processor's script by an empty one, as blockers of advertisements do. The page says that
// the fields did not load, and shows them once the blocker is off.
func TestCardPageBehindABlocker(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	b := newCardPageBuyer(t, phone, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if off.Load() {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/javascript")
		})
	})
	b.Open(*b.payment.Card.RedirectUrl)
	b.WaitVisible(`[data-card-error="unloaded"]`)
	off.Store(true)
	b.Click(`[data-card-again]`)
	b.waitForFields()
	b.pay(frontdesktest.ApprovedCard)
	b.expectReturned()
	b.c.Await(b.registration.Id, api.Completed)
	b.s.ExpectOnePayment(t, b.payment.Total.Amount)
}

// TestCardPageInTwoTabs pays in two tabs of one payment: the second card is not charged.
func TestCardPageInTwoTabs(t *testing.T) {
	t.Parallel()
	b := newCardPageBuyer(t, desktop, nil)
	b.openPage()
	// The processor refuses the second tab's confirmation.
	b.ExpectConsole("status of 400")
	if _, err := b.processor.Confirm(b.processor.Payments()[0].ID, frontdesktest.ApprovedCard); err != nil {
		t.Fatal(err)
	}
	b.pay(frontdesktest.ApprovedCard)
	b.expectReturned()
	b.c.Await(b.registration.Id, api.Completed)
	if held := b.processor.Payments(); len(held) != 1 || held[0].Charges != 1 {
		t.Errorf("the processor holds %+v", held)
	}
	b.s.ExpectOnePayment(t, b.payment.Total.Amount)
}

// TestCardPageOfACancelledPayment: the holder cancels while the page is open. The page shows it when the buyer looks at it again, with
// the focus on its heading.
func TestCardPageOfACancelledPayment(t *testing.T) {
	t.Parallel()
	b := newCardPageBuyer(t, phone, nil)
	b.openPage()
	b.c.Do("DELETE", "/v1/registrations/"+b.registration.Id+"/payment", nil).Into(http.StatusOK, nil)
	b.Eval(`document.dispatchEvent(new Event("visibilitychange")) + ""`)
	b.WaitVisible(`main[data-pay="cancelled"] h1`)
	if !b.Focused(`h1`) || !strings.Contains(b.TextOf(`[data-announce]`), "nothing was charged") || b.Count("form") != 0 {
		t.Errorf("the page says %q, and shows:\n%s", b.TextOf(`[data-announce]`), b.Text())
	}
	b.Inspect("cancelled")
}

// TestCardPageKeyboardOnly pays with Tab and Enter.
func TestCardPageKeyboardOnly(t *testing.T) {
	t.Parallel()
	b := newCardPageBuyer(t, desktop, nil)
	b.openPage()
	b.FillCard(frontdesktest.ApprovedCard)
	for tries := 0; !b.Focused(`[data-pay-card]`) && tries < 20; tries++ { // through the fields, which are another page
		b.Press(tabKey)
	}
	b.Press(enterKey)
	b.expectReturned()
	b.c.Await(b.registration.Id, api.Completed)
}

// TestCardPageWithoutScript: without JavaScript the page says what to do, and leads back.
func TestCardPageWithoutScript(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	_, c := s.StripeGateway(t, processor, sandbox.Normal)
	payment := c.Pay(c.Register().Id)
	b := newBrowser(t, phone, c).WithoutScript()
	b.Open(*payment.Card.RedirectUrl)
	b.WaitVisible(`noscript p`)
	b.WaitVisible(`[data-return]`)
	b.Screenshot("no-script")
	if text := b.Text(); !strings.Contains(text, "JavaScript") || !strings.Contains(text, "Nothing has been charged") || b.Overflow() > 0 {
		t.Errorf("the page is %d too wide, or shows:\n%s", b.Overflow(), text)
	}
}
