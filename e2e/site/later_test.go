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
	g := newSiteVisitorAt(t, phone, c, gateway)
	g.home = strings.Replace(later, "127.0.0.1", "localhost", 1)
	g.AllowConsole("club.svg") // its address has the gateway's own host
	g.goTo("/?club=11")
	g.chooseOffer(kind, frontdesktest.DirectDebit)
	g.giveDetails()
	g.expectSaid("bank account")
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`form[data-form="signature"]`)
	g.expectSaid("code from the SMS")
	g.enterCode(g.code())

	g.WaitVisible(`main[data-step="cart"] [data-pay]`)
	g.Click(`[data-add]`)
	g.chooseOffer(kind, withBadge)
	g.WaitVisible(`[data-item="` + withBadge + `"]`)
	g.expectSaid("Please check your cart")
	if lines, labels := g.Count(`[data-item]`), g.Count(`[data-item] :is(.tag, button)`); lines < 3 || labels > 0 {
		t.Errorf("%d lines of unknown origin have %d labels and buttons", lines, labels)
	}
	due, registration := g.due(), g.Registration()
	g.ExpectConsole("status of 409")
	g.Click(`[data-pay]`)
	g.WaitVisible(`[data-error="` + frontdesktest.LaterWord + `"]`)
	if !strings.Contains(g.Text(), frontdesktest.LaterDetail) {
		t.Errorf("the page does not say why the payment was refused:\n%s", g.Text())
	}
	g.Click(`[data-pay]`)
	g.WaitVisible(`main[data-step="payment"] [data-continue]`)
	if !strings.Contains(g.Text(), "Please complete your payment.") {
		t.Errorf("the page does not show the message:\n%s", g.Text())
	}
	g.Click(`[data-continue]`)
	g.enterCard(frontdesktest.ApprovedCard)
	g.WaitVisible(`main[data-step="done"]`)
	g.expectSaid("Welcome!")
	if g.Count(`[data-restart]`) > 0 {
		t.Error("the page asks a member to start again")
	}
	g.expectRecords(registration, expectedRecords{recorded: due, captured: due, codes: 1})
}

// expectSaid waits until the page shows a message of the gateway.
func (g *siteVisitor) expectSaid(words string) {
	g.t.Helper()
	g.Await("the message", `document.querySelector("[data-message]")?.textContent.includes(`+frontdesktest.Quote(words)+`)`)
}
