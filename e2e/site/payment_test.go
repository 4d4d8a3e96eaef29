package site_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// interruptions are events in the middle of a payment. Each ends with one payment, or with the page
// saying that there is a doubt.
var interruptions = map[string]func(*siteVisitor){
	"they press pay twice": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.agree(`[data-pay]`)
		g.DoubleClick(`[data-pay]`)
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they reload wherever they are": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.Reload()
		visitor.pay()
		visitor.Reload()
		visitor.WaitVisible(`[data-payment="requires_action"]`)
		if visitor.Count(`[data-pay]`) != 0 {
			visitor.t.Error("the page offers to pay again while a payment waits")
		}
		visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 1500})
		visitor.enterCard(frontdesktest.ApprovedCard)
		visitor.WaitVisible(`[data-payment="processing"], [data-member]`)
		visitor.Reload()
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they go back from the bank's page": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.pay()
		visitor.enterCard(challengeCard)
		visitor.WaitVisible(`[data-answer="true"]`)
		visitor.Back()
		visitor.WaitVisible(`[data-payment="requires_action"]`)
		if visitor.Count(`[data-pay]`) != 0 || visitor.Registration() != registration {
			visitor.t.Errorf("the page offers to pay again at %s", visitor.URL())
		}
		visitor.enterCard(frontdesktest.ApprovedCard)
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they stop the browser on its way to the bank": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		way := visitor.HoldRequests("*/v3/challenge/*")
		visitor.pay()
		visitor.enterCard(challengeCard)
		way.Await()
		frontdesktest.Command(visitor.Browser, page.StopLoading, cdp.Empty{})
		way.Release()
		visitor.Reload()
		visitor.enterCard(frontdesktest.ApprovedCard)
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they have two tabs": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		other := visitor.inAnotherTab()
		other.HoldRequests("*/v1/registrations/*/events*") // otherwise it would see the payment start, and its button would be gone
		other.Open(visitor.URL())
		other.WaitVisible(`[data-pay]`)
		visitor.Click(`[data-pay]`)
		other.Click(`[data-pay]`)
		visitor.WaitVisible(cardFields)
		other.WaitVisible(cardFields)
		visitor.enterCard(frontdesktest.ApprovedCard)
		visitor.expectMember()
		other.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"the answer to the recording is lost": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "drop_after"})
		visitor.payByCard()
		visitor.WaitVisible(`main[data-state="attention"] [data-payment="in_doubt"], main[data-state="attention"] [data-message]`)
		visitor.Reload()
		visitor.WaitVisible(`main[data-state="attention"]`)
		if visitor.Count(`[data-pay], main [data-continue]`) != 0 || !strings.Contains(strings.ToLower(visitor.Text()), "not pay again") {
			visitor.t.Errorf("in doubt the page says:\n%s", visitor.Text())
		}
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"the answer to their pay button is lost": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.ExpectConsole("ERR_CONNECTION_RESET")
		answer := visitor.HoldResponses("*/v1/registrations/*/payment")
		visitor.Click(`[data-pay]`)
		answer.Drop()
		visitor.enterCard(frontdesktest.ApprovedCard)
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they close the laptop": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.pay()
		visitor.Sleep()
		visitor.c.AtProcessor(visitor.payments(registration)[0].ID, "confirm",
			map[string]string{"card": frontdesktest.ApprovedCard}).Into(http.StatusOK, nil)
		frontdesktest.Eventually(visitor.t, "it is recorded", func() bool { return visitor.calls("createPayment") == 1 })
		visitor.Wake()
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"their card is declined, and the next one's bank asks first": func(visitor *siteVisitor) {
		due, registration := visitor.due(), visitor.Registration()
		visitor.pay()
		visitor.enterDeclined()
		visitor.enterCard(challengeCard)
		visitor.approve()
		visitor.expectMember()
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
}

// TestInterruptedPayment checks that no interruption makes a visitor pay twice or without getting a
// membership.
func TestInterruptedPayment(t *testing.T) {
	t.Parallel()
	for name, happens := range interruptions {
		for kind, device := range devices {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				g := newSiteVisitor(t, device)
				g.fillCart()
				happens(g)
			})
		}
	}
}

// TestSecondCard checks that the decline of a first card is not shown after the visitor has paid with another
// one and comes back, although no webhook arrives and the club system is slow.
func TestSecondCard(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	visitor.c.SetProcessor(map[string]string{"webhooks": "drop"})
	visitor.fillCart()
	due, registration := visitor.due(), visitor.Registration()
	visitor.pay()
	visitor.enterDeclined()
	visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 3000})
	visitor.enterCard(frontdesktest.ApprovedCard)
	visitor.WaitVisible(`[data-payment="processing"]`)
	frontdesktest.Eventually(t, "it is recorded", func() bool {
		if text := visitor.Text(); strings.Contains(text, "declined") {
			t.Fatalf("after another card was authorised, the page says:\n%s", text)
		}
		return visitor.calls("createPayment") == 1
	})
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// newDeclinedVisitor returns a visitor on a phone whose card the processor has declined, and the registration.
func newDeclinedVisitor(t *testing.T) (visitor *siteVisitor, registration string) {
	t.Helper()
	visitor = newSiteVisitor(t, phone)
	visitor.fillCart()
	registration = visitor.Registration()
	visitor.pay()
	visitor.enterDeclined()
	return visitor, registration
}

// TestAnotherWayAfterDecline returns to the cart after a decline, and pays at the club instead. Other pages do not say
// meanwhile that a payment is in progress.
func TestAnotherWayAfterDecline(t *testing.T) {
	t.Parallel()
	visitor, registration := newDeclinedVisitor(t)
	visitor.WaitVisible(`[data-payment="declined"] [data-attempts="4"]`)
	visitor.goTo("/?club=11")
	visitor.WaitVisible(`[data-resume="` + registration + `"]`)
	visitor.says("your card was declined")
	visitor.Click(`[data-resume] a`)
	visitor.Click(`[data-step-back]`)
	visitor.WaitVisible(`[data-step="cart"] [data-payment="cancelled"]`)
	visitor.WaitVisible(`[data-later][open]`) // without a click
	visitor.Click(`[data-pay-later]`)
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{deferred: 1, unfinished: 1})
}

// TestNoCardInBrowser checks that where no card is accepted, the only way to pay is open.
func TestNoCardInBrowser(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_METHODS=visitor:later")
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	registration := visitor.createRegistration(cardOffer, frontdesktest.Person()).Id
	visitor.goTo("/?registration=" + registration)
	visitor.WaitVisible(`[data-later][open]`)
	if visitor.Count(`[data-pay]`) != 0 {
		t.Errorf("a card is accepted:\n%s", visitor.Text())
	}
	visitor.Click(`[data-pay-later]`)
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{deferred: 1})
}

// TestPendingRefundInBrowser checks that the page does not promise seconds while a refund is pending,
// which can take days.
func TestPendingRefundInBrowser(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	visitor.c.SetProcessor(map[string]string{"refunds": "pending"})
	visitor.fillCart()
	visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 422})
	visitor.payByCard()
	visitor.WaitVisible(`[data-payment="refunding"]`)
	visitor.Inspect("refunding")
	if text := visitor.Text(); !strings.Contains(text, "on its way back") || strings.Contains(text, "seconds") {
		t.Errorf("the page says:\n%s", text)
	}
}

// TestCardTestingInBrowser checks that after the fifth decline the page says so and offers the
// other payment methods.
func TestCardTestingInBrowser(t *testing.T) {
	t.Parallel()
	visitor, registration := newDeclinedVisitor(t)
	for range 4 {
		visitor.c.AtProcessor(visitor.payments(registration)[0].ID, "confirm", map[string]string{"card": declinedCard})
	}
	visitor.goTo("/?registration=" + registration)
	visitor.WaitVisible(`main[data-step="cart"] [data-payment="cancelled"]`)
	visitor.Inspect("declined-too-often")
	if text := visitor.Text(); !strings.Contains(text, "Your card was declined too many times") || visitor.Count(`[data-pay]`) != 0 ||
		visitor.Count(`[data-later]`) == 0 {
		t.Errorf("the page says:\n%s", text)
	}
}

// maxLayoutShift is how far the parts of a page may move on their own, in thousandths of its size: half
// of what is considered good, because people press buttons that cost money.
const maxLayoutShift = 50

// clickablePlaces tells, after all animations, where the headings and links are that do not come with the clubs.
const clickablePlaces = `(() => {
	for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish();
	return [...document.querySelectorAll("header :is(a, button), main :is(h1, h2, a:not([data-club]))")].map((element) => {
		const {x, y} = element.getBoundingClientRect();
		return element.textContent + " at " + Math.round(x) + ", " + Math.round(y);
	}).join("\n");
})()`

// TestClubsArriveLate checks that on the first page nothing that can be clicked moves when the clubs arrive.
func TestClubsArriveLate(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			clubs := visitor.HoldRequests("*/v1/clubs")
			visitor.goTo("/")
			clubs.Await()
			visitor.WaitVisible(`[data-log-in]`)
			before := visitor.Eval(clickablePlaces)
			clubs.Release()
			visitor.WaitVisible(`[data-club]`)
			if after := visitor.Eval(clickablePlaces); after != before {
				t.Errorf("there was\n%s\nand there is\n%s", before, after)
			}
			if shift, parts := visitor.LayoutShift(); shift >= maxLayoutShift {
				t.Errorf("the page jumps by %d thousandths:\n%s", shift, parts)
			}
		})
	}
}

// TestSlowNetwork checks that on a slow network placeholders are shown first, and nothing jumps when
// the content arrives.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.logIn("/?me", "former")
			visitor.WaitVisible(`[data-way]`)
			visitor.SlowNetwork()
			registration := visitor.createRegistration(frontdesktest.DirectDebit, frontdesktest.Person())
			for _, page := range []struct{ name, place, seen string }{
				{"clubs", "/", `[data-club]`},
				{"offers", "/?club=11", `[data-offer]`},
				{"person", "/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow(), `[data-summary]`},
				{"mandate", "/?registration=" + registration.Id, `[data-debits]`},
				{"cart", "/?registration=" + registration.Id + "&step=cart", `[data-plan]`},
				{"me", "/?me", `[data-way]`},
				{"consents", "/?me&step=consents", `[data-consent]`},
				{"transfer", "/?me&step=transfer", `[data-to]`},
			} {
				answers := visitor.HoldRequests("*/v1/*")
				visitor.goTo(page.place)
				visitor.WaitVisible(`.bone`)
				visitor.Screenshot(page.name + "-waiting")
				answers.Release()
				visitor.WaitVisible(page.seen)
				if shift, parts := visitor.LayoutShift(); shift >= maxLayoutShift {
					t.Errorf("%s jumps by %d thousandths:\n%s", page.name, shift, parts)
				}
			}
		})
	}
}
