package site_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestBoughtTwiceInBrowser: a visitor who bought an offer and fills the same cart on another device is asked once.
// "No" leads back to the cart, and only "yes" leads to the processor.
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
	other.Click(`[data-pay]`)
	other.WaitVisible(`[data-repeat]`)
	other.Inspect("repeat")
	if other.Count(`[data-pay]`) != 0 || len(other.payments(registration)) != 0 ||
		!strings.Contains(other.Text(), "You have just bought this") {
		t.Errorf("the page says:\n%s", other.Text())
	}
	other.Click(`[data-keep-one]`)
	other.WaitVisible(`[data-pay]`)
	other.Click(`[data-pay]`)
	other.WaitVisible(`[data-repeat]`)
	if held := other.payments(registration); len(held) != 0 {
		t.Errorf("before the yes the processor has %+v", held)
	}
	other.Click(`[data-pay-again]`)
	other.WaitVisible(`#card`)
	other.enterCard(frontdesktest.ApprovedCard)
	other.expectMember()
	if calls := other.calls("createPayment"); calls != 2 {
		t.Errorf("the club system was asked to record %d payments", calls)
	}
}
