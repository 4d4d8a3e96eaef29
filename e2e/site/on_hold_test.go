package site_test

import (
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// TestPaymentOnHoldInBrowser: while the club system records no payment, the buyer reads that nothing was charged and that
// it can take an hour, not that it takes a few seconds.
func TestPaymentOnHoldInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	registration := g.Registration()
	g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "foreign_page", Times: frontdesktest.Times(100)})
	for n := range 4 {
		other := g.c.Register()
		g.c.Confirm(g.c.Pay(other.Id), frontdesktest.ApprovedCard)
		if n < 3 { // the brake engages, and lets the fourth one through
			g.c.AwaitPayment(other.Id, api.InDoubt)
		}
	}
	g.payByCard()
	g.Await("the page says why it waits", `document.body.innerText.includes("Waiting for the club’s system")`)
	if text := g.Text(); !strings.Contains(text, "nothing has been charged") || strings.Contains(text, "seconds") {
		t.Errorf("the page says:\n%s", text)
	}
	if held := g.payments(registration); len(held) != 1 || held[0].State != cards.Authorised {
		t.Errorf("the processor has %+v", held)
	}
	g.Inspect("on-hold")
}
