package site_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestBoughtTwiceInBrowser: a visitor who bought an offer and fills the same cart on another device is asked once.
// "No" leads back to the cart; after a "yes", the order button leads to the processor.
func TestBoughtTwiceInBrowser(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_ASK_REPEATS=all")
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	g.fillCart()
	g.payByCard()
	g.expectMember()
	other := g.onAnotherDevice(desktop)
	other.ExpectConsole("status of 409")
	other.fillCart()
	registration := other.Registration()
	other.expectQuestion()
	other.Inspect("repeat")
	if other.Count(`[data-pay]`) != 0 || len(other.payments(registration)) != 0 ||
		!strings.Contains(other.Text(), "Buy it a second time?") {
		t.Errorf("the page says:\n%s", other.Text())
	}
	other.Click(`[data-keep-one]`)
	other.WaitVisible(`[data-pay]`)
	other.expectFocus(`[data-pay]`)
	other.Resize(int64(phone.width), int64(phone.height))
	other.expectQuestion()
	if held := other.payments(registration); len(held) != 0 {
		t.Errorf("before the yes the processor has %+v", held)
	}
	other.Click(`[data-pay-again]`)
	other.WaitVisible(`[data-pay]`)
	other.expectOrder("en")
	other.pay()
	other.enterCard(frontdesktest.ApprovedCard)
	other.expectMember()
	if calls := other.calls("createPayment"); calls != 2 {
		t.Errorf("the club system was asked to record %d payments", calls)
	}
}

// TestQuestionIsAboutACart: when a visitor puts another offer into the cart, the question about the earlier one ends.
func TestQuestionIsAboutACart(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_ASK_REPEATS=all")
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	g.fillCart()
	g.payByCard()
	g.expectMember()
	other := g.onAnotherDevice(desktop)
	other.ExpectConsole("status of 409")
	other.fillCart()
	other.expectQuestion()
	other.Click(`[data-instead]`)
	other.chooseOffer("badge", "2501")
	other.WaitVisible(`main[data-step="cart"] [data-item="2501"]`)
	if other.Count(`[data-repeat]`) != 0 || other.Count(`[data-pay]`) != 1 {
		t.Errorf("the page says:\n%s", other.Text())
	}
}

// expectQuestion presses the pay button and expects the question before a repeated purchase. The keyboard is on "no", and
// "yes" is not where the pay button was: a second press of either buys nothing.
func (g *siteVisitor) expectQuestion() {
	g.t.Helper()
	const bottom, top = `.getBoundingClientRect().bottom + scrollY`, `.getBoundingClientRect().top + scrollY`
	g.WaitClickable(`[data-pay]`)
	pressed := frontdesktest.Eval[float64](g.Browser, `document.querySelector("[data-pay]")`+bottom)
	g.Click(`[data-pay]`)
	g.WaitVisible(`[data-repeat]`)
	g.expectFocus(`[data-keep-one]`)
	if yes := frontdesktest.Eval[float64](g.Browser, `document.querySelector("[data-pay-again]")`+top); yes < pressed {
		g.t.Errorf("the pay button ended at %.0f, and yes begins at %.0f: a double click buys it again", pressed, yes)
	}
}

// expectFocus waits until the focus is on an element.
func (g *siteVisitor) expectFocus(selector string) {
	g.t.Helper()
	g.Await("the focus is on "+selector, `document.activeElement.matches(`+frontdesktest.Quote(selector)+`)`)
}
