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
	buyer := &cardPageBuyer{s: frontdesktest.NewEnv(t), processor: sandbox.New(sandbox.Config{})}
	t.Cleanup(buyer.processor.Close)
	var environment []string
	if serve != nil {
		changed := httptest.NewServer(serve(buyer.processor))
		t.Cleanup(changed.Close)
		environment = append(environment, "FRONTDESK_STRIPE_SCRIPT_URL="+changed.URL+"/v3/")
	}
	gateway, c := buyer.s.StripeGateway(t, buyer.processor, sandbox.Normal, environment...)
	buyer.siteVisitor = newSiteVisitorAt(t, with, c, gateway)
	buyer.back = buyer.home + "/terms.html?from=app&a=%20b"
	buyer.registration = c.Register()
	c.RequestPayment(buyer.registration.Id, map[string]string{"method": "card", "returnUrl": buyer.back}).
		Into(http.StatusCreated, &buyer.payment)
	return buyer
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
			buyer := newCardPageBuyer(t, device, awayOnce)
			buyer.ExpectConsole("status of 402")
			buyer.ExpectConsole("status of 503")
			buyer.Open(*buyer.payment.Card.RedirectUrl)
			buyer.WaitVisible(`[data-card-error="unloaded"]`)
			buyer.Inspect("unloaded")
			buyer.Click(`[data-card-again]`)
			buyer.waitForFields()
			buyer.Inspect("fields")
			says := func(words string) string {
				return `document.querySelector("[data-card-error]").textContent.includes("` + words + `")`
			}
			buyer.Click(`[data-pay-card]`)
			buyer.Await("the processor's words", says("Your card number is incomplete."))

			buyer.pay(declinedCard)
			buyer.Await("the decline", says("declined")+` && !document.querySelector("main").dataset.busy`)
			buyer.Inspect("declined")
			if typed := buyer.inFrame(frontdesktest.CardFields).Value(`#number`); typed == "" {
				t.Error("the fields were recreated")
			}
			buyer.Reload()
			buyer.WaitVisible(`main[data-pay="declined"]`)
			buyer.waitForFields()
			buyer.pay(challengeCard)
			buyer.Click(`[data-answer="true"]`)
			buyer.expectReturned()

			buyer.c.Await(buyer.registration.Id, api.Completed)
			if held := buyer.processor.Payments(); len(held) != 1 || held[0].Charges != 2 {
				t.Fatalf("the processor holds %+v", held)
			}
			buyer.s.ExpectOnePayment(t, buyer.payment.Total.Amount)
			buyer.Open(*buyer.payment.Card.RedirectUrl + "?lang=fr")
			buyer.WaitVisible(`html[lang="fr"] main[data-pay="recorded"] [data-return]`)
			buyer.Inspect("recorded")
			if text := buyer.Text(); buyer.Count("form") != 0 || !strings.Contains(text, "Paiement reçu") || strings.Contains(text, "Ada") {
				t.Errorf("the page shows:\n%s", text)
			}
			buyer.Click(`[data-return]`)
			buyer.expectReturned()
		})
	}
}

// TestCardPageBehindABlocker replaces the processor's script by an empty one, as blockers of advertisements do. The page says that
// the fields did not load, and shows them once the blocker is off.
func TestCardPageBehindABlocker(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	buyer := newCardPageBuyer(t, phone, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if off.Load() {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/javascript")
		})
	})
	buyer.Open(*buyer.payment.Card.RedirectUrl)
	buyer.WaitVisible(`[data-card-error="unloaded"]`)
	off.Store(true)
	buyer.Click(`[data-card-again]`)
	buyer.waitForFields()
	buyer.pay(frontdesktest.ApprovedCard)
	buyer.expectReturned()
	buyer.c.Await(buyer.registration.Id, api.Completed)
	buyer.s.ExpectOnePayment(t, buyer.payment.Total.Amount)
}

// TestCardPageInTwoTabs pays in two tabs of one payment: the second card is not charged.
func TestCardPageInTwoTabs(t *testing.T) {
	t.Parallel()
	buyer := newCardPageBuyer(t, desktop, nil)
	buyer.openPage()
	// The processor refuses the second tab's confirmation.
	buyer.ExpectConsole("status of 400")
	if _, err := buyer.processor.Confirm(buyer.processor.Payments()[0].ID, frontdesktest.ApprovedCard); err != nil {
		t.Fatal(err)
	}
	buyer.pay(frontdesktest.ApprovedCard)
	buyer.expectReturned()
	buyer.c.Await(buyer.registration.Id, api.Completed)
	if held := buyer.processor.Payments(); len(held) != 1 || held[0].Charges != 1 {
		t.Errorf("the processor holds %+v", held)
	}
	buyer.s.ExpectOnePayment(t, buyer.payment.Total.Amount)
}

// TestCardPageOfACancelledPayment: the holder cancels while the page is open. The page shows it when the buyer looks at it again, with
// the focus on its heading.
func TestCardPageOfACancelledPayment(t *testing.T) {
	t.Parallel()
	buyer := newCardPageBuyer(t, phone, nil)
	buyer.openPage()
	buyer.c.Do("DELETE", "/v1/registrations/"+buyer.registration.Id+"/payment", nil).Into(http.StatusOK, nil)
	buyer.Eval(`document.dispatchEvent(new Event("visibilitychange")) + ""`)
	buyer.WaitVisible(`main[data-pay="cancelled"] h1`)
	if !buyer.Focused(`h1`) || !strings.Contains(buyer.TextOf(`[data-announce]`), "nothing was charged") || buyer.Count("form") != 0 {
		t.Errorf("the page says %q, and shows:\n%s", buyer.TextOf(`[data-announce]`), buyer.Text())
	}
	buyer.Inspect("cancelled")
}

// TestCardPageKeyboardOnly pays with Tab and Enter.
func TestCardPageKeyboardOnly(t *testing.T) {
	t.Parallel()
	buyer := newCardPageBuyer(t, desktop, nil)
	buyer.openPage()
	buyer.FillCard(frontdesktest.ApprovedCard)
	for tries := 0; !buyer.Focused(`[data-pay-card]`) && tries < 20; tries++ { // through the fields, which are another page
		buyer.Press(tabKey)
	}
	buyer.Press(enterKey)
	buyer.expectReturned()
	buyer.c.Await(buyer.registration.Id, api.Completed)
}

// TestCardPageWithoutScript: without JavaScript the page says what to do, and leads back.
func TestCardPageWithoutScript(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	_, c := s.StripeGateway(t, processor, sandbox.Normal)
	payment := c.Pay(c.Register().Id)
	browser := newBrowser(t, phone, c).WithoutScript()
	browser.Open(*payment.Card.RedirectUrl)
	browser.WaitVisible(`noscript p`)
	browser.WaitVisible(`[data-return]`)
	browser.Screenshot("no-script")
	if text := browser.Text(); !strings.Contains(text, "JavaScript") || !strings.Contains(text, "Nothing has been charged") ||
		browser.Overflow() > 0 {
		t.Errorf("the page is %d too wide, or shows:\n%s", browser.Overflow(), text)
	}
}
