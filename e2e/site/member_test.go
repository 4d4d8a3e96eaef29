package site_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// logIn opens a place of the site as the club's login does for a persona.
func (g *siteVisitor) logIn(place, persona string) {
	g.t.Helper()
	g.goTo(place + "#identityToken=" + g.c.Persona(persona).IdentityToken)
}

// expectNoStoredToken checks that nothing of a login is left in the address.
func (g *siteVisitor) expectNoStoredToken() {
	g.t.Helper()
	if address := g.URL(); strings.ContainsAny(address, "#") || strings.Contains(address, "oken") {
		g.t.Errorf("the browser is at %s", address)
	}
}

// memberJourneys are the journeys of known contacts.
var memberJourneys = map[string]func(*siteVisitor){
	"a member buys at their own prices": func(g *siteVisitor) {
		g.logIn("/?me&club=11", "customer")
		g.WaitVisible(`[data-own]`)
		g.Click(`[data-offer="201"] [data-choose]`)
		g.Fill(`dialog [data-field="startDate"]`, tomorrow())
		g.Click(`dialog [data-continue]`)
		g.WaitVisible(`[data-pay]`)
		if g.Count(`[data-correct]`) != 0 || g.Count(`[data-prospect]`) != 0 {
			g.t.Error("the club's own member is asked who they are")
		}
		due, registration := g.due(), g.Registration()
		g.payByCard()
		if number := g.expectMember(); number != "11-001001" {
			g.t.Errorf("the member is %s, not who logged in", number)
		}
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
		g.Click(`[data-sign-off]`)
		g.Click(`main[data-step="club"] [data-log-in]`)
		g.WaitVisible(`[data-logged-out=""]`)
	},
	"a former member moves to another club": func(g *siteVisitor) {
		g.logIn("/?me", "former")
		g.Click(`[data-way="transfer"]`)
		g.Click(`label:has([data-to="13"])`)
		if g.Count(`[data-to="12"]`) != 0 || g.Count(`[data-to]`) != 2 {
			g.t.Errorf("one can move to where one is, or to another chain:\n%s", g.Text())
		}
		g.Click(`[data-form="transfer"] [data-continue]`)
		g.WaitVisible(`[data-transfer="awaiting_code"] [data-attempts="5"]`)
		g.Await("the code can be typed at once", `document.activeElement.dataset.field === "code"`)
		g.WaitVisible(`[data-resend="later"]`)
		g.ExpectConsole("status of 422")
		g.enterCode(frontdesktest.WrongCode(g.code()))
		g.WaitVisible(`[data-field="code"][aria-invalid="true"]`)
		g.WaitVisible(`[data-attempts="4"]`)
		g.Reload()
		g.WaitVisible(`[data-transfer="awaiting_code"] [data-attempts="4"]`)
		g.enterCode(g.code())
		g.WaitVisible(`[data-moved="13"]`)
		if club := g.c.Persona("former").ClubID; !strings.HasSuffix(club, "/clubs/13") {
			g.t.Errorf("the club system has them in %s", club)
		}
		g.logIn("/?me", "former")
		g.WaitVisible(`[data-me="12-001004"] [data-status-of-me="former_customer"]`)
		if text := g.Text(); !strings.Contains(text, "Lyon") {
			g.t.Errorf("the new club is not shown:\n%s", text)
		}
	},
	"a prospect's account comes by the club's login": func(g *siteVisitor) {
		g.fillCart()
		due, registration := g.due(), g.Registration()
		g.Click(`[data-prospect]`)
		g.WaitVisible(`[data-form="prospect"]`)
		g.ExpectConsole("status of 422")
		g.Open(g.URL() + "#accessToken=not.mine")
		g.Click(`[data-bring]`)
		g.WaitVisible(`[data-error="access_token_refused"]`)
		g.WaitVisible(`[data-form="prospect"]`) // to be logged in to again
		g.Open(g.URL() + "#accessToken=" + g.c.Persona("prospect").AccessToken)
		g.WaitVisible(`[data-logged-in]`)
		g.expectNoStoredToken()
		g.Click(`[data-bring]`)
		g.payByCard()
		if number := g.expectMember(); number != "13-001003" {
			g.t.Errorf("the member is %s, not the contact of the chain", number)
		}
		g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a member says what they may be sent": func(g *siteVisitor) {
		g.logIn("/?me", "customer")
		g.Click(`[data-way="consents"]`)
		byMail, bySMS := `[data-consents="news"] [data-channel="email"]`, `[data-consents="partners"] [data-channel="text_message"]`
		g.WaitVisible(byMail)
		if locked := g.Count(`[data-consents="legal"] input:disabled:checked`); locked != 3 {
			g.t.Errorf("%d of 3 mandatory consents cannot be changed", locked)
		}
		news, partners := g.Attribute(byMail, "data-consent"), g.Attribute(bySMS, "data-consent")
		g.Click(byMail)
		g.Click(bySMS)
		g.setFault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/optins/" + partners}, Kind: "error_before", Status: 500})
		g.Click(`[data-form="consents"] [data-continue]`)
		g.WaitVisible(`[data-saved="1"][data-failed="1"]`)
		g.WaitVisible(`#consent-` + news + `-answer[data-answer="changed"]`)
		g.WaitVisible(`#consent-` + partners + `-answer[data-answer="failed"]`)
		g.Click(`[data-form="consents"] [data-continue]`)
		g.WaitVisible(`#consent-` + partners + `-answer[data-answer="changed"]`)
		g.WaitVisible(`[data-receipts="2"]`)
		g.Reload()
		g.WaitVisible(byMail + `:checked`)
		g.WaitVisible(bySMS + `:checked`)
		g.Click(byMail)
		g.Click(`[data-form="consents"] [data-continue]`)
		g.WaitVisible(`#consent-` + news + `-answer[data-answer="changed"]`)
		g.consentsTo(map[string]bool{news: false, partners: true})
	},
}

// consentsTo checks the customer's latest consents in the club system, with a receipt for each change.
func (g *siteVisitor) consentsTo(want map[string]bool) {
	g.t.Helper()
	var list api.ConsentList
	g.c.As("customer").Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &list)
	for _, consent := range list.Items {
		if consent.Authorized != (want[consent.Id] || consent.Locked) {
			g.t.Errorf("the club system holds %+v", consent)
		}
	}
	if len(list.Receipts) != 3 {
		g.t.Errorf("there are %d receipts, want 3", len(list.Receipts))
	}
	writes := 0
	for _, call := range g.c.Calls() {
		if call.Method == "PUT" && strings.Contains(call.Path, "/optins/") && call.Status < http.StatusBadRequest {
			writes++
		}
	}
	if writes != 3 {
		g.t.Errorf("the club system was written to %d times, want 3", writes)
	}
}

// TestMemberJourneys runs every journey of a member through the site, on a phone and on a desktop.
func TestMemberJourneys(t *testing.T) {
	t.Parallel()
	for name, walk := range memberJourneys {
		for kind, device := range devices {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				walk(newSiteVisitor(t, device))
			})
		}
	}
}

// TestDebitsOfAMembersOwnOffer checks that an offer of the member's own price list shows its debits while the login
// lasts, and that without it the page says neither that nothing follows nor that there is nothing to pay at all.
func TestDebitsOfAMembersOwnOffer(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.logIn("/?me&club=11", "customer")
	g.WaitVisible(`[data-own]`)
	g.chooseOffer("subscription", "1601")
	g.unfoldDebits()
	g.WaitVisible(`[data-debits] [data-plan="1601"]`)
	cart := "/?registration=" + g.Registration() + "&step=cart"
	g.Eval(`(sessionStorage.clear(), "")`) // as after ten minutes
	g.goTo(cart)
	g.WaitVisible(`[data-plan-failed]`)
	g.Click(`a[data-mandate]`)
	g.setUpDirectDebit()
	g.WaitVisible(`[data-plan-failed]`)
	g.says("There is nothing to pay today.")
	if text := g.Text(); strings.Contains(text, "Nothing more to pay later") {
		t.Errorf("the cart says:\n%s", text)
	}
	if says := g.TextOf(`[data-pay]`); says != "Order with obligation to pay" {
		t.Errorf("the button says %q", says)
	}
}

// TestMemberOpensAnOffersLink checks that a logged-in member can buy the offer of a link without typing any details,
// unless the login is of another club.
func TestMemberOpensAnOffersLink(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.logIn("/?club=12&offer="+cardOffer+"&startDate="+tomorrow(), "customer")
	g.WaitVisible(`form[data-form="person"]`)
	if g.Count(`[data-as-member]`) != 0 {
		t.Error("a member of another club is offered what the club refuses")
	}
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=2031-03-01")
	g.WaitVisible(`form[data-form="person"]`)
	g.Inspect("as-member")
	g.Click(`[data-as-member] a`)
	g.WaitVisible(`[data-own]`)
	g.Click(`[data-linked] [data-choose]`)
	if start := g.Value(`dialog [data-field="startDate"]`); start != "2031-03-01" {
		t.Errorf("the link's start date is now %s", start)
	}
	g.Click(`dialog [data-continue]`)
	g.WaitVisible(`[data-pay]`)
	if g.Count(`[data-correct]`) != 0 {
		t.Error("the member's details can be typed again")
	}
	g.expectRecords(g.Registration(), expectedRecords{})
}

// TestMembersOwnOfferOnAPublicPage: a link to an offer that only the member's price list has leads there, and the way back
// shows the public catalogue again.
func TestMembersOwnOfferOnAPublicPage(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.AllowConsole("status of 404")
	g.logIn("/?club=11&offer=1601", "customer")
	g.Click(`[data-as-member] a`)
	g.WaitVisible(`[data-linked="1601"] [data-choose]`)
	g.Back()
	g.WaitVisible(`[data-as-member] a`)
	if g.Count(`[data-own], [data-choose]`) != 0 {
		t.Errorf("the public page shows the member's prices:\n%s", g.Text())
	}
}

// TestMembersLinkToAMissingOffer: an offer that is not in the member's price list is not waited for.
func TestMembersLinkToAMissingOffer(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.logIn("/?me&club=11&offer=99999", "customer")
	g.WaitVisible(`[data-own]`)
	g.WaitVisible(`[data-choose]`)
	g.says("This offer is not available to you at the moment.")
}

// TestMemberInBrowser checks that a logged-in member sees the club's data about them, until they log
// out.
func TestMemberInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/")
	g.Click(`[data-log-in]`)
	g.WaitVisible(`[data-form="login"]`)
	g.logIn("/?me", "debtor") // on the page that is already open: only the fragment changes
	g.WaitVisible(`[data-me="11-001002"]`)
	g.expectNoStoredToken()
	debt := g.Attribute(`[data-debt]`, "data-debt")
	if debt != "12400" || g.Attribute(`[data-status-of-me]`, "data-status-of-me") != "customer" {
		t.Errorf("the debt is %s:\n%s", debt, g.Text())
	}
	g.Click(`[data-way="buy"]`)
	g.WaitVisible(`[data-own]`)
	g.WaitVisible(`[data-choose]`)
	if g.Count(`[data-category="subscription"]`) != 0 && g.Count(`[data-offer="201"]`) != 0 {
		t.Error("a debtor is offered what the club does not sell to debtors")
	}
	g.goTo("/?me")
	g.Reload()
	g.WaitVisible(`[data-me="11-001002"]`)
	g.Click(`[data-log-out]`)
	g.WaitVisible(`[data-logged-out="left"]`)
	g.Reload()
	g.WaitVisible(`[data-logged-out=""] [data-form="login"]`)
	if strings.Contains(g.Text(), "11-001002") {
		t.Errorf("a member is still shown after the logout:\n%s", g.Text())
	}
}

// TestMyMembership checks that the member's page says the status and the balance in words, and shows no tag of the club
// system.
func TestMyMembership(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.logIn("/?me", "customer")
	g.WaitVisible(`[data-me="11-001001"]`)
	g.says("My membership", "Status\nMember", "Balance\n€0.00")
	for _, tag := range []string{"corporate", "member"} {
		if text := g.TextOf(`[data-me]`); strings.Contains(text, tag) {
			t.Errorf("the club system's tag %q is shown:\n%s", tag, text)
		}
	}
}

// TestMoveWithoutAClub checks that the page itself says that no club has been chosen for a move, and that
// neither that nor the choice is lost when the page is drawn again.
func TestMoveWithoutAClub(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	details := g.HoldRequests("*/v1/clubs/12")
	g.logIn("/?me&step=transfer", "former")
	details.Await()
	g.Click(`[data-form="transfer"] [data-continue]`)
	g.says("Choose a club.")
	details.Release()
	g.Await(
		"the club's details have arrived",
		`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.endsWith("/v1/clubs/12") && responseEnd > 0)`,
	)
	g.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	g.says("Choose a club.")
	if !g.Focused(`[data-to]`) {
		t.Error("the focus is not on the clubs")
	}
	g.Inspect("transfer-missing")
	g.Click(`[data-language="fr"]`)
	g.WaitVisible(`html[lang="fr"]`)
	g.says("Choisissez un club.")
	g.Click(`label:has([data-to="13"])`)
	g.WaitVisible(`[data-to="13"]:checked`)
	if said := g.TextOf(`[data-field-error="club"]`); said != "" {
		t.Errorf("although a club is chosen, the page says %q", said)
	}
	g.Click(`[data-language="en"]`)
	g.WaitVisible(`html[lang="en"] [data-to="13"]:checked`)
	g.Click(`[data-form="transfer"] [data-continue]`)
	g.WaitVisible(`[data-transfer="awaiting_code"]`)
	if sent := len(g.messages()); sent != 1 {
		t.Errorf("%d codes were sent", sent)
	}
}

// TestLogOutEndsSessions checks that the next person at a browser cannot continue the sign-up of a member after
// the logout.
func TestLogOutEndsSessions(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.logIn("/?me&club=11", "customer")
	g.WaitVisible(`[data-own]`)
	g.chooseOffer("subscription", "201")
	g.WaitVisible(`[data-pay]`)
	registration := g.Registration()
	g.goTo("/?me&club=11")
	g.WaitVisible(`[data-resume="` + registration + `"]`)
	g.goTo("/?me")
	g.Click(`[data-log-out]`)
	g.WaitVisible(`[data-logged-out="left"]`)
	g.goTo("/?club=11")
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
	if g.Count(`[data-resume]`) != 0 || g.Eval(`localStorage.getItem("frontdesk.registrations")`) != "[]" {
		t.Error("after the logout, the next visitor is offered the member's sign-up")
	}
	g.ExpectConsole("status of 401")
	g.goTo("/?registration=" + registration)
	g.WaitVisible(`main[data-state="missing"]`)
}

// TestAnotherPersonLogsIn checks that the sign-up of a member cannot be continued once another person has logged in, even
// if the member has not logged out, and that it can after the member's own next login.
func TestAnotherPersonLogsIn(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*siteVisitor){
		"on a new page":    func(g *siteVisitor) { g.Open("about:blank") },
		"on the open page": func(*siteVisitor) {}, // only the fragment changes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newSiteVisitor(t, phone)
			g.logIn("/?me&club=11", "customer")
			g.WaitVisible(`[data-own]`)
			g.chooseOffer("subscription", "201")
			g.WaitVisible(`[data-pay]`)
			registration := g.Registration()
			g.goTo("/?me")
			g.WaitVisible(`[data-me="11-001001"]`)
			leave(g)
			g.logIn("/?me", "customer")
			g.Await("the member has logged in again", `location.hash === "" && !!document.querySelector('[data-me="11-001001"]')`)
			g.goTo("/?me&club=11")
			g.WaitVisible(`[data-resume="` + registration + `"]`)

			g.goTo("/?me")
			g.WaitVisible(`[data-me="11-001001"]`)
			leave(g)
			g.logIn("/?me", "debtor")
			g.WaitVisible(`[data-me="11-001002"]`)
			if kept := g.Eval(`localStorage.getItem("frontdesk.registrations")`); kept != "[]" {
				t.Fatalf("of the other person's sign-ups the browser keeps %s", kept)
			}
			g.Await(
				"the session has ended",
				`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.endsWith("`+registration+`/session") && responseEnd > 0)`,
			)
			g.goTo("/?me&club=11")
			g.WaitVisible(`[data-own]`)
			g.WaitVisible(`[data-offer]`)
			if g.Count(`[data-resume]`) != 0 {
				t.Errorf("one is offered another person's sign-up:\n%s", g.Text())
			}
			g.ExpectConsole("status of 401")
			g.goTo("/?registration=" + registration)
			g.WaitVisible(`main[data-state="missing"]`)
		})
	}
}

// TestLoginEndsInBrowser checks that the page forgets the visitor's identity when the login expires,
// and says so.
func TestLoginEndsInBrowser(t *testing.T) {
	t.Parallel()
	const secret = "a secret that is long enough for anybody"
	gateway := frontdesktest.Start(t, "FRONTDESK_IDENTITY_SECRET="+secret)
	g := newSiteVisitorAt(t, desktop, frontdesktest.NewClient(t, gateway.URL), gateway)
	for life := 12 * time.Second; ; life *= 2 { // until the page is open before the login expires
		now := time.Now()
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(life).Unix(),
		}).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		g.goTo("/?me&step=consents#identityToken=" + token)
		g.WaitVisible(`[data-consents="news"], [data-logged-out]`)
		if g.Count(`[data-consents="news"]`) > 0 {
			break
		}
		g.Open("about:blank") // a change of the fragment alone loads nothing
	}
	g.WaitVisible(`[data-logged-out="expired"]`)
	if g.Count(`[data-consent]`) != 0 {
		t.Error("consents are shown without a login")
	}
}
