package site_test

import (
	"net/http"
	"strconv"
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
	"a member buys at their own prices": func(visitor *siteVisitor) {
		visitor.logIn("/?me&club=11", "customer")
		visitor.WaitVisible(`[data-own]`)
		visitor.Click(`[data-offer="201"] [data-choose]`)
		visitor.Fill(`dialog [data-field="startDate"]`, tomorrow())
		visitor.Click(`dialog [data-continue]`)
		visitor.WaitVisible(`[data-pay]`)
		if visitor.Count(`[data-correct]`) != 0 || visitor.Count(`[data-prospect]`) != 0 {
			visitor.t.Error("the club's own member is asked who they are")
		}
		due, registration := visitor.due(), visitor.Registration()
		visitor.payByCard()
		if number := visitor.expectMember(); number != "11-001001" {
			visitor.t.Errorf("the member is %s, not who logged in", number)
		}
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
		visitor.Click(`[data-sign-off]`)
		visitor.Click(`main[data-step="club"] [data-log-in]`)
		visitor.WaitVisible(`[data-logged-out=""]`)
	},
	"a former member moves to another club": func(visitor *siteVisitor) {
		visitor.logIn("/?me", "former")
		visitor.Click(`[data-way="transfer"]`)
		visitor.Click(`label:has([data-to="13"])`)
		if visitor.Count(`[data-to="12"]`) != 0 || visitor.Count(`[data-to]`) != 2 {
			visitor.t.Errorf("one can move to where one is, or to another chain:\n%s", visitor.Text())
		}
		visitor.Click(`[data-form="transfer"] [data-continue]`)
		visitor.WaitVisible(`[data-transfer="awaiting_code"] [data-attempts="5"]`)
		visitor.Await("the code can be typed at once", `document.activeElement.dataset.field === "code"`)
		visitor.WaitVisible(`[data-resend="later"]`)
		visitor.ExpectConsole("status of 422")
		visitor.enterCode(frontdesktest.WrongCode(visitor.code()))
		visitor.WaitVisible(`[data-field="code"][aria-invalid="true"]`)
		visitor.WaitVisible(`[data-attempts="4"]`)
		visitor.Reload()
		visitor.WaitVisible(`[data-transfer="awaiting_code"] [data-attempts="4"]`)
		visitor.enterCode(visitor.code())
		visitor.WaitVisible(`[data-moved="13"]`)
		if club := visitor.c.Persona("former").ClubID; !strings.HasSuffix(club, "/clubs/13") {
			visitor.t.Errorf("the club system has them in %s", club)
		}
		visitor.logIn("/?me", "former")
		visitor.WaitVisible(`[data-me="12-001004"] [data-status-of-me="former_customer"]`)
		if text := visitor.Text(); !strings.Contains(text, "Lyon") {
			visitor.t.Errorf("the new club is not shown:\n%s", text)
		}
	},
	"a prospect's account comes by the club's login": func(visitor *siteVisitor) {
		visitor.fillCart()
		due, registration := visitor.due(), visitor.Registration()
		visitor.Click(`[data-prospect]`)
		visitor.WaitVisible(`[data-form="prospect"]`)
		visitor.ExpectConsole("status of 422")
		visitor.Open(visitor.URL() + "#accessToken=not.mine")
		visitor.Click(`[data-bring]`)
		visitor.WaitVisible(`[data-error="access_token_refused"]`)
		visitor.WaitVisible(`[data-form="prospect"]`) // to be logged in to again
		visitor.Open(visitor.URL() + "#accessToken=" + visitor.c.Persona("prospect").AccessToken)
		visitor.WaitVisible(`[data-logged-in]`)
		visitor.expectNoStoredToken()
		visitor.Click(`[data-bring]`)
		visitor.payByCard()
		if number := visitor.expectMember(); number != "13-001003" {
			visitor.t.Errorf("the member is %s, not the contact of the chain", number)
		}
		visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	},
	"a member says what they may be sent": func(visitor *siteVisitor) {
		visitor.logIn("/?me", "customer")
		visitor.Click(`[data-way="consents"]`)
		byMail, bySMS := `[data-consents="news"] [data-channel="email"]`, `[data-consents="partners"] [data-channel="text_message"]`
		visitor.WaitVisible(byMail)
		if locked := visitor.Count(`[data-consents="legal"] input:disabled:checked`); locked != 3 {
			visitor.t.Errorf("%d of 3 mandatory consents cannot be changed", locked)
		}
		news, partners := visitor.Attribute(byMail, "data-consent"), visitor.Attribute(bySMS, "data-consent")
		visitor.Click(byMail)
		visitor.Click(bySMS)
		visitor.setFault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/optins/" + partners}, Kind: "error_before", Status: 500})
		visitor.Click(`[data-form="consents"] [data-continue]`)
		visitor.WaitVisible(`[data-saved="1"][data-failed="1"]`)
		visitor.WaitVisible(`#consent-` + news + `-answer[data-answer="changed"]`)
		visitor.WaitVisible(`#consent-` + partners + `-answer[data-answer="failed"]`)
		visitor.Click(`[data-form="consents"] [data-continue]`)
		visitor.WaitVisible(`#consent-` + partners + `-answer[data-answer="changed"]`)
		visitor.WaitVisible(`[data-receipts="2"]`)
		visitor.Reload()
		visitor.WaitVisible(byMail + `:checked`)
		visitor.WaitVisible(bySMS + `:checked`)
		visitor.Click(byMail)
		visitor.Click(`[data-form="consents"] [data-continue]`)
		visitor.WaitVisible(`#consent-` + news + `-answer[data-answer="changed"]`)
		visitor.consentsTo(map[string]bool{news: false, partners: true})
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
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me&club=11", "customer")
	visitor.WaitVisible(`[data-own]`)
	visitor.chooseOffer("subscription", "1601")
	visitor.unfoldDebits()
	visitor.WaitVisible(`[data-debits] [data-plan="1601"]`)
	cart := "/?registration=" + visitor.Registration() + "&step=cart"
	visitor.Eval(`(sessionStorage.clear(), "")`) // as after ten minutes
	visitor.goTo(cart)
	visitor.WaitVisible(`[data-plan-failed]`)
	visitor.Click(`a[data-mandate]`)
	visitor.setUpDirectDebit()
	visitor.WaitVisible(`[data-plan-failed]`)
	visitor.says("There is nothing to pay today.")
	if text := visitor.Text(); strings.Contains(text, "Nothing more to pay later") {
		t.Errorf("the cart says:\n%s", text)
	}
	if says := visitor.TextOf(`[data-pay]`); says != "Order with obligation to pay" {
		t.Errorf("the button says %q", says)
	}
}

// TestMemberOpensAnOffersLink checks that a logged-in member can buy the offer of a link without typing any details,
// unless the login is of another club.
func TestMemberOpensAnOffersLink(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?club=12&offer="+cardOffer+"&startDate="+tomorrow(), "customer")
	visitor.WaitVisible(`form[data-form="person"]`)
	if visitor.Count(`[data-as-member]`) != 0 {
		t.Error("a member of another club is offered what the club refuses")
	}
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=2031-03-01")
	visitor.WaitVisible(`form[data-form="person"]`)
	visitor.Inspect("as-member")
	visitor.Click(`[data-as-member] a`)
	visitor.WaitVisible(`[data-own]`)
	visitor.Click(`[data-linked] [data-choose]`)
	if start := visitor.Value(`dialog [data-field="startDate"]`); start != "2031-03-01" {
		t.Errorf("the link's start date is now %s", start)
	}
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`[data-pay]`)
	if visitor.Count(`[data-correct]`) != 0 {
		t.Error("the member's details can be typed again")
	}
	visitor.expectRecords(visitor.Registration(), expectedRecords{})
}

// TestMembersOwnOfferOnAPublicPage: a link to an offer that only the member's price list has leads there, and the way back
// shows the public catalogue again.
func TestMembersOwnOfferOnAPublicPage(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.AllowConsole("status of 404")
	visitor.logIn("/?club=11&offer=1601", "customer")
	visitor.Click(`[data-as-member] a`)
	visitor.WaitVisible(`[data-linked="1601"] [data-choose]`)
	visitor.Back()
	visitor.WaitVisible(`[data-as-member] a`)
	if visitor.Count(`[data-own], [data-choose]`) != 0 {
		t.Errorf("the public page shows the member's prices:\n%s", visitor.Text())
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
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/")
	visitor.Click(`[data-log-in]`)
	visitor.WaitVisible(`[data-form="login"]`)
	visitor.logIn("/?me", "debtor") // on the page that is already open: only the fragment changes
	visitor.WaitVisible(`[data-me="11-001002"]`)
	visitor.expectNoStoredToken()
	debt := visitor.Attribute(`[data-debt]`, "data-debt")
	if debt != "12400" || visitor.Attribute(`[data-status-of-me]`, "data-status-of-me") != "customer" {
		t.Errorf("the debt is %s:\n%s", debt, visitor.Text())
	}
	visitor.Click(`[data-way="buy"]`)
	visitor.WaitVisible(`[data-own]`)
	visitor.WaitVisible(`[data-choose]`)
	if visitor.Count(`[data-category="subscription"]`) != 0 && visitor.Count(`[data-offer="201"]`) != 0 {
		t.Error("a debtor is offered what the club does not sell to debtors")
	}
	visitor.goTo("/?me")
	visitor.Reload()
	visitor.WaitVisible(`[data-me="11-001002"]`)
	visitor.Click(`[data-log-out]`)
	visitor.WaitVisible(`[data-logged-out="left"]`)
	visitor.Reload()
	visitor.WaitVisible(`[data-logged-out=""] [data-form="login"]`)
	if strings.Contains(visitor.Text(), "11-001002") {
		t.Errorf("a member is still shown after the logout:\n%s", visitor.Text())
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

// TestMyMembershipEnds: the member's page says when they can leave at the earliest, and each debit until then; after a cancellation, too.
func TestMyMembershipEnds(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	var list api.MembershipList
	g.c.As("committed").Do("GET", "/v1/me/memberships", nil).Into(http.StatusOK, &list)
	want := list.Items[0]
	g.logIn("/?me", "committed")
	g.WaitVisible(`[data-membership]`)
	g.says("Flex, monthly", "You can leave at the earliest on", "Still debited until then")
	if end := g.Attribute(`[data-membership]`, "data-earliest-end"); end != *want.EarliestEnd {
		t.Errorf("the earliest end is %s, want %s", end, *want.EarliestEnd)
	}
	if total := g.Attribute(`[data-remaining]`, "data-remaining"); total != strconv.FormatInt(want.Remaining.Total.Amount, 10) {
		t.Errorf("%s is still debited, want %d", total, want.Remaining.Total.Amount)
	}
	if n := g.Count(`[data-membership] [data-debit]`); n != len(want.Remaining.Debits) {
		t.Errorf("%d debits, want %d", n, len(want.Remaining.Debits))
	}

	g.Click(`[data-cancel-membership]`)
	g.WaitVisible(`form[data-form="statement"] [data-continue]`)
	g.Click(`[data-continue]`)
	g.WaitVisible(`[data-online="` + *want.EarliestEnd + `"]`)
	g.Click(`[data-confirm-statement]`)
	g.WaitVisible(`[data-received="cancellation"]`)
	expectParts(t, g.TextOf(`[data-acknowledgement]`), "Membership: Flex, monthly", "Your contract ends on")
	g.logIn("/?me", "committed")
	g.WaitVisible(`[data-membership][data-cancellation="cancelled"]`)
	g.says("Cancelled, ends on", "Still debited until then")
	if n := g.Count(`[data-membership] [data-debit]`); n != len(want.Remaining.Debits) || g.Count(`[data-cancel-membership]`) != 0 {
		t.Errorf("after the cancellation, %d debits are shown, want %d:\n%s", n, len(want.Remaining.Debits), g.Text())
	}
}

// TestMoveWithoutAClub checks that the page itself says that no club has been chosen for a move, and that
// neither that nor the choice is lost when the page is drawn again.
func TestMoveWithoutAClub(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	details := visitor.HoldRequests("*/v1/clubs/12")
	visitor.logIn("/?me&step=transfer", "former")
	details.Await()
	visitor.Click(`[data-form="transfer"] [data-continue]`)
	visitor.says("Choose a club.")
	details.Release()
	visitor.Await(
		"the club's details have arrived",
		`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.endsWith("/v1/clubs/12") && responseEnd > 0)`,
	)
	visitor.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	visitor.says("Choose a club.")
	if !visitor.Focused(`[data-to]`) {
		t.Error("the focus is not on the clubs")
	}
	visitor.Inspect("transfer-missing")
	visitor.Click(`[data-language="fr"]`)
	visitor.WaitVisible(`html[lang="fr"]`)
	visitor.says("Choisissez un club.")
	visitor.Click(`label:has([data-to="13"])`)
	visitor.WaitVisible(`[data-to="13"]:checked`)
	if said := visitor.TextOf(`[data-field-error="club"]`); said != "" {
		t.Errorf("although a club is chosen, the page says %q", said)
	}
	visitor.Click(`[data-language="en"]`)
	visitor.WaitVisible(`html[lang="en"] [data-to="13"]:checked`)
	visitor.Click(`[data-form="transfer"] [data-continue]`)
	visitor.WaitVisible(`[data-transfer="awaiting_code"]`)
	if sent := len(visitor.messages()); sent != 1 {
		t.Errorf("%d codes were sent", sent)
	}
}

// TestLogOutEndsSessions checks that the next person at a browser cannot continue the sign-up of a member after
// the logout.
func TestLogOutEndsSessions(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me&club=11", "customer")
	visitor.WaitVisible(`[data-own]`)
	visitor.chooseOffer("subscription", "201")
	visitor.WaitVisible(`[data-pay]`)
	registration := visitor.Registration()
	visitor.goTo("/?me&club=11")
	visitor.WaitVisible(`[data-resume="` + registration + `"]`)
	visitor.goTo("/?me")
	visitor.Click(`[data-log-out]`)
	visitor.WaitVisible(`[data-logged-out="left"]`)
	visitor.goTo("/?club=11")
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	if visitor.Count(`[data-resume]`) != 0 || visitor.Eval(`localStorage.getItem("frontdesk.registrations")`) != "[]" {
		t.Error("after the logout, the next visitor is offered the member's sign-up")
	}
	visitor.ExpectConsole("status of 401")
	visitor.goTo("/?registration=" + registration)
	visitor.WaitVisible(`main[data-state="missing"]`)
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
			visitor := newSiteVisitor(t, phone)
			visitor.logIn("/?me&club=11", "customer")
			visitor.WaitVisible(`[data-own]`)
			visitor.chooseOffer("subscription", "201")
			visitor.WaitVisible(`[data-pay]`)
			registration := visitor.Registration()
			visitor.goTo("/?me")
			visitor.WaitVisible(`[data-me="11-001001"]`)
			leave(visitor)
			visitor.logIn("/?me", "customer")
			visitor.Await("the member has logged in again", `location.hash === "" && !!document.querySelector('[data-me="11-001001"]')`)
			visitor.goTo("/?me&club=11")
			visitor.WaitVisible(`[data-resume="` + registration + `"]`)

			visitor.goTo("/?me")
			visitor.WaitVisible(`[data-me="11-001001"]`)
			leave(visitor)
			visitor.logIn("/?me", "debtor")
			visitor.WaitVisible(`[data-me="11-001002"]`)
			if kept := visitor.Eval(`localStorage.getItem("frontdesk.registrations")`); kept != "[]" {
				t.Fatalf("of the other person's sign-ups the browser keeps %s", kept)
			}
			visitor.Await(
				"the session has ended",
				`performance.getEntriesByType("resource").some(({name, responseEnd}) => name.endsWith("`+registration+`/session") && responseEnd > 0)`,
			)
			visitor.goTo("/?me&club=11")
			visitor.WaitVisible(`[data-own]`)
			visitor.WaitVisible(`[data-offer]`)
			if visitor.Count(`[data-resume]`) != 0 {
				t.Errorf("one is offered another person's sign-up:\n%s", visitor.Text())
			}
			visitor.ExpectConsole("status of 401")
			visitor.goTo("/?registration=" + registration)
			visitor.WaitVisible(`main[data-state="missing"]`)
		})
	}
}

// TestLoginEndsInBrowser checks that the page forgets the visitor's identity when the login expires,
// and says so.
func TestLoginEndsInBrowser(t *testing.T) {
	t.Parallel()
	const secret = "a secret that is long enough for anybody"
	gateway := frontdesktest.Start(t, "FRONTDESK_IDENTITY_SECRET="+secret)
	visitor := newSiteVisitorAt(t, desktop, frontdesktest.NewClient(t, gateway.URL), gateway)
	for life := 12 * time.Second; ; life *= 2 { // until the page is open before the login expires
		now := time.Now()
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(life).Unix(),
		}).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		visitor.goTo("/?me&step=consents#identityToken=" + token)
		visitor.WaitVisible(`[data-consents="news"], [data-logged-out]`)
		if visitor.Count(`[data-consents="news"]`) > 0 {
			break
		}
		visitor.Open("about:blank") // a change of the fragment alone loads nothing
	}
	visitor.WaitVisible(`[data-logged-out="expired"]`)
	if visitor.Count(`[data-consent]`) != 0 {
		t.Error("consents are shown without a login")
	}
}
