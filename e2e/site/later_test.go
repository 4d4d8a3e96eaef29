package site_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestSiteMeetsLaterGateway signs up for a direct debit at a gateway that sends values which the site has never heard of. The
// site shows the gateway's messages, offers what it knows, and pays on the card page.
func TestSiteMeetsLaterGateway(t *testing.T) {
	t.Parallel()
	const kind, withBadge = frontdesktest.LaterWord + "_subscription", "301"
	c, gateway := frontdesktest.NewWorld(t)
	later := frontdesktest.NewLaterGateway(t, gateway.URL)
	visitor := newSiteVisitorAt(t, phone, c, gateway)
	visitor.home = strings.Replace(later, "127.0.0.1", "localhost", 1)
	visitor.AllowConsole("club.svg") // its address has the gateway's own host
	visitor.goTo("/?club=11")
	visitor.chooseOffer(kind, frontdesktest.DirectDebit)
	visitor.giveDetails()
	visitor.expectSaid("bank account")
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`form[data-form="signature"]`)
	visitor.expectSaid("code from the SMS")
	visitor.enterCode(visitor.code())

	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
	visitor.Click(`[data-add]`)
	visitor.chooseOffer(kind, withBadge)
	visitor.WaitVisible(`[data-item="` + withBadge + `"]`)
	visitor.expectSaid("Please check your cart")
	if lines, labels := visitor.Count(`[data-item]`), visitor.Count(`[data-item] :is(.tag, button)`); lines < 3 || labels > 0 {
		t.Errorf("%d lines of unknown origin have %d labels and buttons", lines, labels)
	}
	due, registration := visitor.due(), visitor.Registration()
	visitor.ExpectConsole("status of 409")
	visitor.Click(`[data-pay]`)
	visitor.WaitVisible(`[data-error="` + frontdesktest.LaterWord + `"]`)
	if !strings.Contains(visitor.Text(), frontdesktest.LaterDetail) {
		t.Errorf("the page does not say why the payment was refused:\n%s", visitor.Text())
	}
	visitor.Click(`[data-pay]`)
	visitor.WaitVisible(`main[data-step="payment"] [data-continue]`)
	if !strings.Contains(visitor.Text(), "Please complete your payment.") {
		t.Errorf("the page does not show the message:\n%s", visitor.Text())
	}
	visitor.Click(`[data-continue]`)
	visitor.enterCard(frontdesktest.ApprovedCard)
	visitor.WaitVisible(`main[data-step="done"]`)
	visitor.expectSaid("Welcome!")
	if visitor.Count(`[data-restart]`) > 0 {
		t.Error("the page asks a member to start again")
	}
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due, codes: 1})
}

// expectSaid waits until the page shows a message of the gateway.
func (g *siteVisitor) expectSaid(words string) {
	g.t.Helper()
	g.Await("the message", `document.querySelector("[data-message]")?.textContent.includes(`+frontdesktest.Quote(words)+`)`)
}
