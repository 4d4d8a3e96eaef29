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
		g.DoubleClick(`[data-pay]`)
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they reload wherever they are": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.Reload()
		g.pay()
		g.Reload()
		g.WaitVisible(`[data-payment="requires_action"]`)
		if g.Count(`[data-pay]`) != 0 {
			g.t.Error("the page offers to pay again while a payment waits")
		}
		g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 1500})
		g.enterCard(frontdesktest.ApprovedCard)
		g.WaitVisible(`[data-payment="processing"], [data-member]`)
		g.Reload()
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they go back from the bank's page": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.enterCard(challengeCard)
		g.WaitVisible(`[data-answer="true"]`)
		g.Back()
		g.WaitVisible(`[data-payment="requires_action"]`)
		if g.Count(`[data-pay]`) != 0 || g.Registration() != registration {
			g.t.Errorf("the page offers to pay again at %s", g.URL())
		}
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they stop the browser on its way to the bank": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		way := g.HoldRequests("*/v3/challenge/*")
		g.pay()
		g.enterCard(challengeCard)
		way.Await()
		frontdesktest.Command(g.Browser, page.StopLoading, cdp.Empty{})
		way.Release()
		g.Reload()
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they have two tabs": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		other := g.inAnotherTab()
		other.HoldRequests("*/v1/registrations/*/events*") // otherwise it would see the payment start, and its button would be gone
		other.Open(g.URL())
		other.WaitVisible(`[data-pay]`)
		g.Click(`[data-pay]`)
		other.Click(`[data-pay]`)
		g.WaitVisible(cardFields)
		other.WaitVisible(cardFields)
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		other.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"the answer to the recording is lost": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "drop_after"})
		g.payByCard()
		g.WaitVisible(`main[data-state="attention"] [data-payment="in_doubt"], main[data-state="attention"] [data-message]`)
		g.Reload()
		g.WaitVisible(`main[data-state="attention"]`)
		if g.Count(`[data-pay], main [data-continue]`) != 0 || !strings.Contains(strings.ToLower(g.Text()), "not pay again") {
			g.t.Errorf("in doubt the page says:\n%s", g.Text())
		}
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"the answer to their pay button is lost": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.ExpectConsole("ERR_CONNECTION_RESET")
		answer := g.HoldResponses("*/v1/registrations/*/payment")
		g.Click(`[data-pay]`)
		answer.Drop()
		g.enterCard(frontdesktest.ApprovedCard)
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"they close the laptop": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.Sleep()
		g.c.AtProcessor(g.payments(registration)[0].ID, "confirm", map[string]string{"card": frontdesktest.ApprovedCard}).Into(http.StatusOK, nil)
		frontdesktest.Eventually(g.t, "it is recorded", func() bool { return g.calls("createPayment") == 1 })
		g.Wake()
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"their card is declined, and the next one's bank asks first": func(g *siteVisitor) {
		due, registration := g.due(), g.Registration()
		g.pay()
		g.enterDeclined()
		g.enterCard(challengeCard)
		g.approve()
		g.expectMember()
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
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
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	g.c.SetProcessor(map[string]string{"webhooks": "drop"})
	g.fillCart()
	due, registration := g.due(), g.Registration()
	g.pay()
	g.enterDeclined()
	g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 3000})
	g.enterCard(frontdesktest.ApprovedCard)
	g.WaitVisible(`[data-payment="processing"]`)
	frontdesktest.Eventually(t, "it is recorded", func() bool {
		if text := g.Text(); strings.Contains(text, "declined") {
			t.Fatalf("after another card was authorised, the page says:\n%s", text)
		}
		return g.calls("createPayment") == 1
	})
	g.expectMember()
	g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// newDeclinedVisitor returns a visitor on a phone whose card the processor has declined, and the registration.
func newDeclinedVisitor(t *testing.T) (g *siteVisitor, registration string) {
	t.Helper()
	g = newSiteVisitor(t, phone)
	g.fillCart()
	registration = g.Registration()
	g.pay()
	g.enterDeclined()
	return g, registration
}

// TestAnotherWayAfterDecline returns to the cart after a decline, and pays at the club instead. Other pages do not say
// meanwhile that a payment is in progress.
func TestAnotherWayAfterDecline(t *testing.T) {
	t.Parallel()
	g, registration := newDeclinedVisitor(t)
	g.WaitVisible(`[data-payment="declined"] [data-attempts="4"]`)
	g.goTo("/?club=11")
	g.WaitVisible(`[data-resume="` + registration + `"]`)
	g.says("your card was declined")
	g.Click(`[data-resume] a`)
	g.Click(`[data-step-back]`)
	g.WaitVisible(`[data-step="cart"] [data-payment="cancelled"]`)
	g.WaitVisible(`[data-later][open]`) // without a click
	g.Click(`[data-pay-later]`)
	g.expectMember()
	g.expectRecords(registration, expectedRecords{deferred: 1, unfinished: 1})
}

// TestNoCardInBrowser checks that where no card is accepted, the only way to pay is open.
func TestNoCardInBrowser(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_METHODS=visitor:later")
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	registration := g.createRegistration(cardOffer, frontdesktest.Person()).Id
	g.goTo("/?registration=" + registration)
	g.WaitVisible(`[data-later][open]`)
	if g.Count(`[data-pay]`) != 0 {
		t.Errorf("a card is accepted:\n%s", g.Text())
	}
	g.Click(`[data-pay-later]`)
	g.expectMember()
	g.expectRecords(registration, expectedRecords{deferred: 1})
}

// TestPendingRefundInBrowser checks that the page does not promise seconds while a refund is pending,
// which can take days.
func TestPendingRefundInBrowser(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	g := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	g.c.SetProcessor(map[string]string{"refunds": "pending"})
	g.fillCart()
	g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 422})
	g.payByCard()
	g.WaitVisible(`[data-payment="refunding"]`)
	g.Inspect("refunding")
	if text := g.Text(); !strings.Contains(text, "on its way back") || strings.Contains(text, "seconds") {
		t.Errorf("the page says:\n%s", text)
	}
}

// TestCardTestingInBrowser checks that after the fifth decline the page says so and offers the
// other payment methods.
func TestCardTestingInBrowser(t *testing.T) {
	t.Parallel()
	g, registration := newDeclinedVisitor(t)
	for range 4 {
		g.c.AtProcessor(g.payments(registration)[0].ID, "confirm", map[string]string{"card": declinedCard})
	}
	g.goTo("/?registration=" + registration)
	g.WaitVisible(`main[data-step="cart"] [data-payment="cancelled"]`)
	g.Inspect("declined-too-often")
	if text := g.Text(); !strings.Contains(text, "Your card was declined too many times") || g.Count(`[data-pay]`) != 0 ||
		g.Count(`[data-later]`) == 0 {
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
			g := newSiteVisitor(t, device)
			clubs := g.HoldRequests("*/v1/clubs")
			g.goTo("/")
			clubs.Await()
			g.WaitVisible(`[data-log-in]`)
			before := g.Eval(clickablePlaces)
			clubs.Release()
			g.WaitVisible(`[data-club]`)
			if after := g.Eval(clickablePlaces); after != before {
				t.Errorf("there was\n%s\nand there is\n%s", before, after)
			}
			if shift, parts := g.LayoutShift(); shift >= maxLayoutShift {
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
			g := newSiteVisitor(t, device)
			g.logIn("/?me", "former")
			g.WaitVisible(`[data-way]`)
			g.SlowNetwork()
			registration := g.createRegistration(frontdesktest.DirectDebit, frontdesktest.Person())
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
				answers := g.HoldRequests("*/v1/*")
				g.goTo(page.place)
				g.WaitVisible(`.bone`)
				g.Screenshot(page.name + "-waiting")
				answers.Release()
				g.WaitVisible(page.seen)
				if shift, parts := g.LayoutShift(); shift >= maxLayoutShift {
					t.Errorf("%s jumps by %d thousandths:\n%s", page.name, shift, parts)
				}
			}
		})
	}
}
