package site_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// screen is a screen that a visitor can reach.
type screen struct {
	name     string
	open     func(*siteVisitor) // goes there
	selector string             // shows that the screen is reached
}

// allScreens are all screens of the site, in the order of a visit. Each group is its own visit.
var allScreens = map[string][]screen{
	"before there is a registration": {
		{"clubs", at("/"), `[data-club]`},
		{"offers", at("/?club=11"), `[data-offer]`},
		{"start", click(`[data-offer="` + cardOffer + `"] [data-choose]`), `dialog [data-continue]`},
		{"start-wrong", func(g *siteVisitor) {
			g.Fill(`dialog [data-field="startDate"]`, "2020-01-01")
			g.Click(`dialog [data-continue]`)
		}, `dialog [aria-invalid="true"]`},
		{"plan", func(g *siteVisitor) {
			g.goTo("/?club=11")
			g.Click(`[data-offer="` + frontdesktest.DirectDebit + `"] [data-show-plan]`)
		}, `dialog [data-movement]`},
		{"plan-estimated", func(g *siteVisitor) {
			g.goTo("/?club=11")
			g.Click(`[data-offer="1701"] [data-show-plan]`)
		}, `dialog [data-estimated]`},
		{"person", at("/?club=11&offer=" + frontdesktest.DirectDebit + "&startDate=2031-03-01"), `[data-side] [data-movement]`},
		{"person-wrong", click(`form[data-form="person"] [data-continue]`), `[data-field="email"][aria-invalid="true"]`},
		{"offer-gone", func(g *siteVisitor) {
			g.ExpectConsole("status of 404")
			g.goTo("/?club=11&offer=999999")
		}, `main[data-step="person"] .actions a`},
		{"missing", func(g *siteVisitor) {
			g.ExpectConsole("status of 401")
			g.goTo("/?registration=7a0f2c1e-0000-4000-8000-000000000000")
		}, `main[data-state="missing"]`},
		{"problem", at("/?club=99"), `[data-error="club_not_found"]`},
	},
	"while a club's answer is awaited": {
		{"waiting", func(g *siteVisitor) {
			g.HoldRequests("*/v1/*")
			g.goTo("/?club=11")
		}, `main .bone-offer`},
	},
	"an open cart": {
		{"cart", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration(cardOffer, frontdesktest.Person()).Id)
		}, `[data-pay]`},
		{"cart-later", click(`[data-later] summary`), `[data-pay-later]`},
		{"cart-too-late", func(g *siteVisitor) {
			g.Fill(`[data-field="dueDate"]`, "2099-01-01")
			g.Click(`[data-pay-later]`)
		}, `[data-field="dueDate"][aria-invalid="true"]`},
		{"cart-link", func(g *siteVisitor) {
			g.Click(`[data-more] summary`)
			g.Click(`[data-elsewhere]`)
		}, `[data-resume-link]`},
		{"correct", click(`[data-correct]`), `form[data-form="person"]`},
		{"add", func(g *siteVisitor) { g.goTo("/?registration=" + g.Registration() + "&step=offer") }, `[data-offer]`},
		{"instead", func(g *siteVisitor) { g.goTo("/?registration=" + g.Registration() + "&step=instead") }, `[data-offer]`},
		{"prospect", func(g *siteVisitor) { g.goTo("/?registration=" + g.Registration() + "&step=prospect") }, `[data-field="accessToken"]`},
		{"give-up", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.Registration())
			g.Click(`[data-more] summary`)
			g.Click(`[data-abandon]`)
		}, `dialog [data-confirm]`},
		{"given-up", click(`dialog [data-confirm]`), `main[data-state="abandoned"]`},
		{"cart-changed", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration("301", frontdesktest.Person()).Id)
		}, `[data-added]`},
		{"cart-invalid", func(g *siteVisitor) {
			young := frontdesktest.Person()
			young.BirthDate = "2015-05-17"
			g.goTo("/?registration=" + g.createRegistration("401", young).Id)
		}, `[data-problem="age_restricted"]`},
		{"cart-free", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration(frontdesktest.FreeTrial, frontdesktest.Person()).Id)
		}, `[data-due="0"]`},
		{"welcome-free", click(`[data-pay]`), `[data-settled="free"]`},
	},
	"a cart that the club changes": {
		{"cart-repriced", func(g *siteVisitor) { g.changed() }, `[data-change="removed"]`},
	},
	"the day of the debits": {
		{"debit-day", func(g *siteVisitor) {
			g.goTo("/?club=11")
			g.Click(`[data-offer="901"] [data-choose]`)
		}, `dialog [data-debit-days="3"]`},
		{"person-debit-day", click(`dialog [data-continue]`), `form[data-form="person"]`},
		{"cart-debit-day", func(g *siteVisitor) {
			g.giveDetails()
			g.Click(`.back`)
		}, `[data-debits-on]`},
	},
	"a member": {
		{"log-in", at("/?me"), `[data-form="login"]`},
		{"me", loggedIn("/?me", "debtor"), `[data-me="11-001002"]`},
		{"me-member", loggedIn("/?me", "committed"), `[data-membership] [data-remaining]`},
		{"me-former", loggedIn("/?me", "former"), `[data-me="12-001004"]`},
		{"own-offers", loggedIn("/?me&club=11", "customer"), `[data-own]`},
		{"transfer-at-club", at("/?me&step=transfer"), `[data-at-club] + [data-contact="11"]`},
		{"consents", at("/?me&step=consents"), `[data-consents="news"]`},
		{"consents-wished", click(`[data-consents="news"] [data-channel="email"]`), `[data-consents="news"] :checked`},
		{"consents-failed", func(g *siteVisitor) {
			g.setFault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/optins/*"}, Kind: "error_before", Status: 500})
			g.Click(`[data-form="consents"] [data-continue]`)
		}, `[data-failed="1"]`},
		{"consents-saved", click(`[data-form="consents"] [data-continue]`), `[data-saved="1"][data-failed="0"]`},
		{"logged-out", func(g *siteVisitor) {
			g.goTo("/?me")
			g.Click(`[data-log-out]`)
		}, `[data-logged-out="left"]`},
		{"login-refused", func(g *siteVisitor) {
			g.ExpectConsole("status of 401")
			g.goTo("/?me#identityToken=" + strings.Replace(g.c.Persona("customer").IdentityToken, ".", ".x", 1))
		}, `[data-logged-out="refused"]`},
	},
	"a move to another club": {
		{"transfer", loggedIn("/?me&step=transfer", "former"), `[data-to="13"]`},
		{"transfer-code", func(g *siteVisitor) {
			g.Click(`label:has([data-to="13"])`)
			g.Click(`[data-form="transfer"] [data-continue]`)
		}, `[data-transfer="awaiting_code"] [data-attempts="5"]`},
		{"transfer-code-wrong", func(g *siteVisitor) {
			g.ExpectConsole("status of 422")
			g.enterCode(frontdesktest.WrongCode(g.code()))
		}, `[data-field="code"][aria-invalid="true"]`},
		{"moved", func(g *siteVisitor) { g.enterCode(g.code()) }, `[data-moved="13"]`},
	},
	"what does not answer": {
		{"club-system-away", func(g *siteVisitor) {
			g.ExpectConsole("status of 50")
			g.setFault(clubsim.Fault{Kind: "error_before", Status: 503, Times: frontdesktest.Times(99)})
			g.goTo("/?club=11")
		}, `[data-error] [data-retry]`},
		{"connection-lost", func(g *siteVisitor) {
			g.c.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
			g.goTo("/")
			g.WaitVisible(`[data-club]`)
			g.Offline()
		}, `[data-status]:not(:empty)`},
		{"offline", click(`[data-club="11"]`), `[data-error="offline"] [data-retry]`},
	},
	"a mandate": {
		{"cart-to-sign", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration(frontdesktest.DirectDebit, frontdesktest.Person()).Id + "&step=cart")
			g.WaitVisible(`[data-plan]`)
		}, `a[data-mandate]`},
		{"account", click(`a[data-mandate]`), `form[data-form="mandate"]`},
		{"account-wrong", click(`form[data-form="mandate"] [data-continue]`), `[data-field="iban"][aria-invalid="true"]`},
		{"code", func(g *siteVisitor) { g.giveAccount(frontdesktest.GoodIBAN) }, `[data-attempts="5"]`},
		{"code-wrong", func(g *siteVisitor) {
			g.ExpectConsole("status of 422")
			g.enterCode(frontdesktest.WrongCode(g.code()))
		}, `[data-attempts="4"]`},
		{"cart-signed", func(g *siteVisitor) { g.enterCode(g.code()) }, `[data-mandate="signed"]`},
	},
	"a payment that ends well": {
		{"requires-action", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration(cardOffer, frontdesktest.Person()).Id)
			g.pay()
		}, cardFields},
		{"declined", (*siteVisitor).enterDeclined, `[data-payment="declined"]`},
		{"bank", func(g *siteVisitor) { g.enterCard(challengeCard) }, `[data-answer="true"]`},
		{"processing", func(g *siteVisitor) {
			g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 20_000})
			g.approve()
		}, `[data-payment="processing"]`},
	},
	"payments that end otherwise": {
		{
			"welcome",
			paid(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 1}),
			`main[data-state="completed"] [data-member]`,
		},
		{"in-doubt", paid(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "drop_after"}), `main[data-state="attention"]`},
		{
			"cancelled",
			paid(
				clubsim.Fault{
					Match:  clubsim.FaultMatch{Method: "GET", Path: "/sales/*"},
					Kind:   "error_before",
					Status: 503,
					Times:  frontdesktest.Times(9),
				},
			),
			`[data-payment="cancelled"] ~ * [data-pay]`,
		},
		{"in-doubt-later", func(g *siteVisitor) {
			g.goTo("/?registration=" + g.createRegistration(cardOffer, frontdesktest.Person()).Id)
			g.Click(`[data-later] summary`)
			g.setFault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/postpone_due"}, Kind: "drop_after"})
			g.Click(`[data-pay-later]`)
		}, `main[data-state="attention"]`},
		{"refunded", paid(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 422}), `[data-payment="refunded"]`},
	},
}

// at opens a screen by its address.
func at(place string) func(*siteVisitor) {
	return func(g *siteVisitor) { g.goTo(place) }
}

// loggedIn opens an address as a persona that has just logged in.
func loggedIn(place, persona string) func(*siteVisitor) {
	return func(g *siteVisitor) { g.logIn(place, persona) }
}

// click clicks an element on the previous screen.
func click(selector string) func(*siteVisitor) {
	return func(g *siteVisitor) { g.Click(selector) }
}

// paid is a registration that the buyer has paid while the club system has a fault.
func paid(fault clubsim.Fault) func(*siteVisitor) {
	return func(visitor *siteVisitor) {
		registration := visitor.createRegistration(cardOffer, frontdesktest.Person())
		payment := visitor.c.Pay(registration.Id)
		visitor.setFault(fault)
		visitor.c.Confirm(payment, frontdesktest.ApprovedCard)
		frontdesktest.Eventually(visitor.t, "the payment has ended", func() bool {
			seen := visitor.c.Registration(registration.Id)
			return seen.State != api.Paying
		})
		visitor.c.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
		visitor.goTo("/?registration=" + registration.Id)
	}
}

// TestScreens checks all screens against the rules of accessibility, in light and dark, and on the smallest phone. They
// are in French, whose words are longer, and contain no English.
func TestScreens(t *testing.T) {
	t.Parallel()
	for name, screens := range allScreens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, desktop)
			visitor.SetLanguage("fr-FR")
			for _, screen := range screens {
				screen.open(visitor)
				visitor.WaitVisible(screen.selector)
				visitor.expectFrench(screen.name)
				visitor.Inspect(screen.name)
				visitor.Screenshot(screen.name)
			}
		})
	}
}

// TestExpiredScreen checks that the page says that nothing was charged when the payment was cancelled
// and the registration has expired in Redis.
func TestExpiredScreen(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	gateway, client := env.Gateway(t)
	client.UpstreamsURL = env.Upstreams.URL
	visitor := newSiteVisitorAt(t, desktop, client, gateway)
	registration := visitor.createRegistration(cardOffer, frontdesktest.Person())
	payment := client.Pay(registration.Id)
	visitor.setFault(
		clubsim.Fault{
			Match:  clubsim.FaultMatch{Method: "GET", Path: "/sales/*"},
			Kind:   "error_before",
			Status: 503,
			Times:  frontdesktest.Times(9),
		},
	)
	client.Confirm(payment, frontdesktest.ApprovedCard)
	client.AwaitPayment(registration.Id, api.Cancelled)
	frontdesktest.FlushRedis(t, env.Redis)
	visitor.goTo("/?registration=" + registration.Id)
	visitor.WaitVisible(`main[data-state="expired"] [data-charged]`)
	visitor.Inspect("expired")
}
