package site_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// signUpAs starts the sign-up of a member, who logs in first, and returns its id.
func (g *siteVisitor) signUpAs(persona string) string {
	g.logIn("/?me&club=11", persona)
	return g.signUpLoggedIn()
}

func (g *siteVisitor) signUpLoggedIn() string {
	g.WaitVisible(`[data-own]`)
	g.chooseOffer("subscription", "201")
	g.WaitVisible(`[data-pay]`)
	return g.Registration()
}

// expectNothingOf waits until the browser keeps no sign-up, and expects that this one cannot be opened any more.
func (g *siteVisitor) expectNothingOf(registration string) {
	g.Await("no sign-up is kept", `(localStorage.getItem("frontdesk.registrations") ?? "[]") === "[]"`)
	g.AllowConsole("status of 401")
	g.goTo("/?registration=" + registration)
	g.WaitVisible(`main[data-state="missing"]`)
}

// TestBackAfterSigningOffInAnotherTab: once the buyer has left in another tab, the history of this one shows nothing of them.
func TestBackAfterSigningOffInAnotherTab(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	visitor.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-details]`)
	visitor.Click(`a[data-mandate]`)
	visitor.WaitVisible(`form[data-form="mandate"]`)
	other := visitor.inAnotherTab()
	other.goTo("/?registration=" + visitor.Registration() + "&step=cart")
	other.Click(`[data-more] summary`)
	other.Click(`[data-sign-off]`)
	visitor.AllowConsole("status of 40")
	other.Click(`dialog [data-confirm]`)
	visitor.WaitVisible(`main[data-state="missing"]`)
	for range 2 {
		address := visitor.URL()
		visitor.Back()
		visitor.Await("the history has gone back", `location.href !== `+frontdesktest.Quote(address))
		visitor.WaitVisible(`main[data-state="missing"], [data-form="person"]`)
		if visitor.Count(`[data-details], form[data-form="mandate"]`) != 0 {
			t.Errorf("the page still shows:\n%s", visitor.Text())
		}
	}
}

// TestAnotherPersonAfterExpiry: the sign-up of a member whose login has expired ends when another person logs in.
func TestAnotherPersonAfterExpiry(t *testing.T) {
	t.Parallel()
	const secret = "a secret that is long enough for anybody"
	gateway := frontdesktest.Start(t, "FRONTDESK_IDENTITY_SECRET="+secret)
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	token := func(subject string) string {
		now := time.Now()
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"sub": subject, "club": "11", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		}).SignedString([]byte(secret))
		frontdesktest.Must(t, err)
		return token
	}
	visitor.goTo("/?me&club=11#identityToken=" + token("1001"))
	registration := visitor.signUpLoggedIn()
	visitor.Eval(`(sessionStorage.removeItem("frontdesk.identity"), "")`) // as when it expires
	visitor.goTo("/?me#identityToken=" + token("1002"))
	visitor.WaitVisible(`[data-me="11-001002"]`)
	visitor.expectNothingOf(registration)
}

// TestAnotherPersonInAnotherTab: a login in another tab ends the sign-up of the member logged in here.
func TestAnotherPersonInAnotherTab(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	registration := g.signUpAs("customer")
	other := g.inAnotherTab()
	other.logIn("/?me", "debtor")
	other.WaitVisible(`[data-me="11-001002"]`)
	other.expectNothingOf(registration)
}

// TestAnotherPersonAfterAPurchase: a completed sign-up cannot be opened any more, either.
func TestAnotherPersonAfterAPurchase(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	registration := visitor.signUpAs("customer")
	visitor.payByCard()
	visitor.expectMember()
	visitor.goTo("/?me")
	visitor.WaitVisible(`[data-me="11-001001"]`)
	visitor.logIn("/?me", "debtor")
	visitor.WaitVisible(`[data-me="11-001002"]`)
	visitor.expectNothingOf(registration)
}

// TestLinkWithAMadeUpToken: a link with an unsigned token ends no sign-up.
func TestLinkWithAMadeUpToken(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	registration := visitor.signUpAs("customer")
	visitor.AllowConsole("status of 401")
	for _, token := range []string{"junk", "e30.eyJzdWIiOiJ4In0.x"} {
		visitor.Open("about:blank")
		visitor.goTo("/?me#identityToken=" + token)
		visitor.WaitVisible(`[data-logged-out="refused"]`)
	}
	visitor.goTo("/?registration=" + registration)
	visitor.WaitVisible(`[data-pay]`)
}

// TestBackToAnotherPerson: the back button does not show what the previous person saw.
func TestBackToAnotherPerson(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me", "customer")
	visitor.WaitVisible(`[data-me="11-001001"]`)
	visitor.Open(visitor.home + "/docs/problems")
	visitor.logIn("/?me", "debtor")
	visitor.WaitVisible(`[data-me="11-001002"]`)
	visitor.Eval(`(window.isLater = true, history.go(-2), "")`)
	visitor.Await(
		"the first page is of the second person",
		`!window.isLater && !!document.querySelector('[data-me="11-001002"]') && !document.querySelector('[data-me="11-001001"]')`,
	)
}

// TestLogOutWithoutTheGateway: what a logout cannot end says so, cannot be opened, and ends as soon as that is possible.
func TestLogOutWithoutTheGateway(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	registration := visitor.signUpAs("customer")
	visitor.goTo("/?me")
	visitor.WaitVisible(`[data-me="11-001001"]`)
	visitor.AllowConsole("status of 503")
	ending := visitor.HoldRequests("*/session")
	refuse := func() { ending.Refuse(api.StorageUnavailable, http.StatusServiceUnavailable, 60) } // for longer than the page waits
	visitor.Click(`[data-log-out]`)
	refuse()
	visitor.WaitVisible(`[data-logged-out="unfinished"]`)
	visitor.says("You are not fully logged out")
	refuse() // it tries again at once
	visitor.Click(`[data-end-again]`)
	refuse()
	visitor.WaitVisible(`[data-logged-out="unfinished"] [data-end-again]:not(:disabled)`)
	visitor.goTo("/?registration=" + registration)
	refuse()
	visitor.WaitVisible(`main[data-state="missing"]`)
	ending.Release()
	visitor.goTo("/?me")
	visitor.Await("the session has ended", `!(localStorage.getItem("frontdesk.ending") ?? "[]").includes("-")`)
	visitor.expectNothingOf(registration)
}
