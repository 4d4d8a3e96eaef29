package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestResumeInBrowser checks that a visitor who continues on another device sees what has changed, and
// that the link works once.
func TestResumeInBrowser(t *testing.T) {
	t.Parallel()
	desk := newSiteVisitor(t, desktop)
	desk.fillCart()
	due, registration := desk.due(), desk.Registration()
	link := desk.resumeLink()
	if !strings.HasPrefix(link, desk.home+"/?resume=") {
		t.Fatalf("the link is %q", link)
	}
	desk.Click(`[data-copy]`)
	desk.WaitVisible(`[data-copy="done"], [data-copy="by-hand"]`)
	desk.Await("the step to be shown again", `(async () => {
		const before = document.querySelector("[data-copy]"), { get, set } = await import("/store.js");
		set({ registration: { ...get().registration } });
		return !before.isConnected;
	})()`)
	desk.WaitVisible(`[data-copy="done"], [data-copy="by-hand"]`)
	desk.reprices(due, due+1000)

	mobile := desk.onAnotherDevice(phone)
	mobile.Open(link)
	mobile.WaitVisible(`[data-change="price"]`)
	mobile.payByCard()
	mobile.expectMember()
	desk.Reload()
	desk.expectMember()
	desk.expectRecords(registration, expectedRecords{recorded: due + 1000, captured: due + 1000})

	mobile.ExpectConsole("status of 422")
	mobile.Open(link)
	mobile.WaitVisible(`[data-error="resumption_invalid"]`)
	if strings.Contains(mobile.URL(), "resume") {
		t.Errorf("the phone is at %s", mobile.URL())
	}
}

// TestNewSignupBesideAPayment checks that a browser with a payment in doubt asks before it starts another
// sign-up, wherever that begins, that it shows both afterwards, and that signing out forgets both.
func TestNewSignupBesideAPayment(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	due, registration := g.due(), g.Registration()
	g.goTo("/")
	g.Click(`[data-resume] a`) // from here on, the page knows it as unfinished
	g.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: http.StatusServiceUnavailable})
	g.payByCard()
	g.WaitVisible(`main[data-state="attention"]`)

	g.Click(`.brand`)
	g.chooseClub()
	g.chooseOffer("subscription", cardOffer)
	g.WaitVisible(`[data-check-first]`)
	g.Screenshot("another")
	g.Click(`[data-check-first]`)
	g.WaitVisible(`main[data-state="attention"]`)
	if g.Registration() != registration {
		t.Errorf("the page shows %s", g.URL())
	}

	g.Open(g.invited("1001"))
	g.Click(`[data-check-first]`)
	g.WaitVisible(`main[data-state="attention"]`)

	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.fillDetails()
	g.Click(`form[data-form="person"] [data-continue]`)
	g.Click(`dialog [data-confirm]`)
	g.WaitVisible(`[data-pay]`)
	another := g.Registration()
	if another == registration {
		t.Error("no other registration was started")
	}

	g.Click(`.brand`)
	g.WaitVisible(`[data-resume="` + another + `"]`)
	if first := g.Attribute(`[data-resume]`, "data-resume"); first != registration {
		t.Errorf("the first is %s", first)
	}
	g.Click(`[data-resume="` + registration + `"] a`)
	g.Click(`[data-sign-off]`)
	g.Click(`dialog [data-confirm]`)
	g.WaitVisible(`[data-club]`)
	g.Reload()
	g.WaitVisible(`[data-club]`)
	if g.Count(`[data-resume]`) != 0 {
		t.Error("after signing out, the next visitor is offered another one's sign-up")
	}
	g.ExpectConsole("status of 401")
	g.goTo("/?registration=" + another)
	g.WaitVisible(`main[data-state="missing"]`)
	g.expectRecords(registration, expectedRecords{captured: due})
}

// TestCorrectedOnAnotherDevice checks that a page no longer shows, and never sends back, details that were corrected
// on another device, even if its form is open.
func TestCorrectedOnAnotherDevice(t *testing.T) {
	t.Parallel()
	desk := newSiteVisitor(t, desktop)
	desk.fillCart()
	desk.WaitVisible(`[data-details="entered"]`)
	mobile := desk.continueOn(phone)
	desk.Click(`[data-correct]`)
	desk.Fill(`[data-field="city"]`, "Lyon")
	mobile.Click(`[data-correct]`)
	mobile.Fill(`[data-field="mobile"]`, "+33687654378") // whose last digits, which the page knows, are the same
	mobile.Click(`form[data-form="person"] [data-continue]`)
	desk.WaitVisible(`[data-notice]`)
	if number, city := desk.Value(`[data-field="mobile"]`), desk.Value(`[data-field="city"]`); number != "" || city != "Lyon" {
		t.Errorf("the open form has the number %q and the city %q", number, city)
	}
	desk.Click(`form[data-form="person"] [data-continue]`)
	desk.WaitVisible(`[data-details="masked"]`)
	desk.says("••• 78")
	desk.expectRecords(desk.Registration(), expectedRecords{})
}

// TestLeftBeforeItWasRead checks that a response about a sign-up that the visitor has left meanwhile changes nothing
// on the page of another club.
func TestLeftBeforeItWasRead(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.fillCart() // at club 11
	registration := g.Registration()
	g.goTo("/?club=12")
	g.WaitVisible(`[data-offer]`)
	response := g.HoldResponses("*/v1/registrations/" + registration)
	g.Click(`[data-resume] a`)
	response.Await()
	g.Back()
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
	response.Release()
	g.Await(
		"the response has arrived",
		`performance.getEntriesByType("resource")
			.filter(({name, responseEnd}) => name.endsWith("`+registration+`") && responseEnd > 0).length > 2`,
	) // after those about the notice
	g.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	if state, lead := g.Attribute(`main`, "data-state"), g.TextOf(`[data-view] .lead`); state != "" || !strings.Contains(lead, "Batignolles") {
		t.Errorf("the page of club 12 is about a registration that is %q, and says %q", state, lead)
	}
}

// TestAnotherOfferInstead checks that the cart keeps its offer until another one has been chosen and accepted.
func TestAnotherOfferInstead(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	g.Click(`[data-instead]`)
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
	g.Click(`.back`)
	g.WaitVisible(`[data-item="` + cardOffer + `"]`)
	g.Click(`[data-instead]`)
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
	g.setFault(
		clubsim.Fault{
			Match:  clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"},
			Kind:   "error_before",
			Status: http.StatusUnprocessableEntity,
		},
	)
	g.ExpectConsole("status of 422")
	g.chooseOffer("subscription", "201")
	g.WaitVisible(`[data-error="offer_not_available"]`)
	g.Click(`.back`)
	g.WaitVisible(`[data-item="` + cardOffer + `"]`)

	g.Click(`[data-instead]`)
	g.WaitVisible(`main[data-step="offer"] [data-offer]`)
	g.chooseOffer("subscription", "201")
	g.WaitVisible(`[data-item="201"]`)
	if g.Count(`[data-item="`+cardOffer+`"]`) != 0 {
		t.Error("the cart holds the old offer, too")
	}
}

// TestReloadKeepsDetails checks that a reload of the form loses nothing, and that nothing personal is kept once
// it has been sent.
func TestReloadKeepsDetails(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.fillDetails()
	g.Reload()
	g.WaitVisible(`form[data-form="person"] [data-continue]`)
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`[data-pay]`)
	g.Await("nothing personal is kept", `!JSON.stringify(sessionStorage).includes("`+frontdesktest.Person().Email+`")`)
}

// TestUnsentDetailsExpire checks that details whose sending got no response are in the form after a reload, and half an
// hour later neither there nor in the browser.
func TestUnsentDetailsExpire(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	form := "/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow()
	g.goTo(form)
	g.fillDetails()
	start := g.HoldRequests("*/v1/registrations")
	g.Click(`form[data-form="person"] [data-continue]`)
	start.Await()
	g.Reload()
	start.Release()
	g.WaitVisible(`[data-notice]`)
	email := frontdesktest.Person().Email
	if typed := g.Value(`[data-field="email"]`); typed != email {
		t.Errorf("after a reload the form has the address %q", typed)
	}
	g.Eval(`(() => {
		for (const name of ["frontdesk.details", "frontdesk.intention.start"]) {
			const kept = JSON.parse(sessionStorage.getItem(name));
			sessionStorage.setItem(name, JSON.stringify({...kept, at: Date.now() - 31 * 60_000}));
		}
		return "";
	})()`)
	g.goTo(form)
	g.WaitVisible(`form[data-form="person"] [data-continue]`)
	if typed, notices := g.Value(`[data-field="email"]`), g.Count(`[data-notice]`); typed != "" || notices != 0 {
		t.Errorf("half an hour later the form has the address %q and %d notices", typed, notices)
	}
	g.Await("nothing personal is kept", `!JSON.stringify(sessionStorage).includes("`+email+`")`)
}

// reprices changes the price of the only article that has one, in cents.
func (g *siteVisitor) reprices(from, to int64) {
	g.t.Helper()
	old, changed := fmt.Sprintf(`"price":%d,`, from), fmt.Sprintf(`"price":%d,`, to)
	state := string(g.c.Control("GET", "state", nil).Body)
	if !strings.Contains(state, old) {
		g.t.Fatalf("no article costs %d", from)
	}
	g.c.Control("PUT", "state", strings.Replace(state, old, changed, 1)).Into(http.StatusNoContent, nil)
}
