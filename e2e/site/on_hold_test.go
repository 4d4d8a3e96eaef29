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
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	registration := visitor.Registration()
	visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "foreign_page", Times: frontdesktest.Times(100)})
	for n := range 4 {
		other := visitor.c.Register()
		visitor.c.Confirm(visitor.c.Pay(other.Id), frontdesktest.ApprovedCard)
		if n < 3 { // the brake engages, and lets the fourth one through
			visitor.c.AwaitPayment(other.Id, api.InDoubt)
		}
	}
	visitor.payByCard()
	visitor.Await("the page says why it waits", `document.body.innerText.includes("Waiting for the club’s system")`)
	if text := visitor.Text(); !strings.Contains(text, "nothing has been charged") || strings.Contains(text, "seconds") {
		t.Errorf("the page says:\n%s", text)
	}
	if held := visitor.payments(registration); len(held) != 1 || held[0].State != cards.Authorised {
		t.Errorf("the processor has %+v", held)
	}
	visitor.Inspect("on-hold")
}
