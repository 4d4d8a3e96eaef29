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
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	due, registration := visitor.due(), visitor.Registration()
	visitor.goTo("/")
	visitor.Click(`[data-resume] a`) // from here on, the page knows it as unfinished
	visitor.setFault(clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: http.StatusServiceUnavailable})
	visitor.payByCard()
	visitor.WaitVisible(`main[data-state="attention"]`)

	visitor.Click(`.brand`)
	visitor.chooseClub()
	visitor.chooseOffer("subscription", cardOffer)
	visitor.WaitVisible(`[data-check-first]`)
	visitor.Screenshot("another")
	visitor.Click(`[data-check-first]`)
	visitor.WaitVisible(`main[data-state="attention"]`)
	if visitor.Registration() != registration {
		t.Errorf("the page shows %s", visitor.URL())
	}

	visitor.Open(visitor.invited("1001"))
	visitor.Click(`[data-check-first]`)
	visitor.WaitVisible(`main[data-state="attention"]`)

	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.fillDetails()
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.Click(`dialog [data-confirm]`)
	visitor.WaitVisible(`[data-pay]`)
	another := visitor.Registration()
	if another == registration {
		t.Error("no other registration was started")
	}

	visitor.Click(`.brand`)
	visitor.WaitVisible(`[data-resume="` + another + `"]`)
	if first := visitor.Attribute(`[data-resume]`, "data-resume"); first != registration {
		t.Errorf("the first is %s", first)
	}
	visitor.Click(`[data-resume="` + registration + `"] a`)
	visitor.Click(`[data-sign-off]`)
	visitor.Click(`dialog [data-confirm]`)
	visitor.WaitVisible(`[data-club]`)
	visitor.Reload()
	visitor.WaitVisible(`[data-club]`)
	if visitor.Count(`[data-resume]`) != 0 {
		t.Error("after signing out, the next visitor is offered another one's sign-up")
	}
	visitor.ExpectConsole("status of 401")
	visitor.goTo("/?registration=" + another)
	visitor.WaitVisible(`main[data-state="missing"]`)
	visitor.expectRecords(registration, expectedRecords{captured: due})
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
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart() // at club 11
	registration := visitor.Registration()
	visitor.goTo("/?club=12")
	visitor.WaitVisible(`[data-offer]`)
	response := visitor.HoldResponses("*/v1/registrations/" + registration)
	visitor.Click(`[data-resume] a`)
	response.Await()
	visitor.Back()
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	response.Release()
	visitor.Await(
		"the response has arrived",
		`performance.getEntriesByType("resource")
			.filter(({name, responseEnd}) => name.endsWith("`+registration+`") && responseEnd > 0).length > 2`,
	) // after those about the notice
	visitor.Eval(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(""))))`)
	state, lead := visitor.Attribute(`main`, "data-state"), visitor.TextOf(`[data-view] .lead`)
	if state != "" || !strings.Contains(lead, "Batignolles") {
		t.Errorf("the page of club 12 is about a registration that is %q, and says %q", state, lead)
	}
}

// TestAnotherOfferInstead checks that the cart keeps its offer until another one has been chosen and accepted.
func TestAnotherOfferInstead(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.Click(`[data-instead]`)
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-item="` + cardOffer + `"]`)
	visitor.Click(`[data-instead]`)
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	visitor.setFault(
		clubsim.Fault{
			Match:  clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"},
			Kind:   "error_before",
			Status: http.StatusUnprocessableEntity,
		},
	)
	visitor.ExpectConsole("status of 422")
	visitor.chooseOffer("subscription", "201")
	visitor.WaitVisible(`[data-error="offer_not_available"]`)
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-item="` + cardOffer + `"]`)

	visitor.Click(`[data-instead]`)
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	visitor.chooseOffer("subscription", "201")
	visitor.WaitVisible(`[data-item="201"]`)
	if visitor.Count(`[data-item="`+cardOffer+`"]`) != 0 {
		t.Error("the cart holds the old offer, too")
	}
}

// TestReloadKeepsDetails checks that a reload of the form loses nothing, and that nothing personal is kept once
// it has been sent.
func TestReloadKeepsDetails(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.fillDetails()
	visitor.Reload()
	visitor.WaitVisible(`form[data-form="person"] [data-continue]`)
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`[data-pay]`)
	visitor.Await("nothing personal is kept", `!JSON.stringify(sessionStorage).includes("`+frontdesktest.Person().Email+`")`)
}

// TestUnsentDetailsExpire checks that details whose sending got no response are in the form after a reload, and half an
// hour later neither there nor in the browser.
func TestUnsentDetailsExpire(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	form := "/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow()
	visitor.goTo(form)
	visitor.fillDetails()
	start := visitor.HoldRequests("*/v1/registrations")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	start.Await()
	visitor.Reload()
	start.Release()
	visitor.WaitVisible(`[data-notice]`)
	email := frontdesktest.Person().Email
	if typed := visitor.Value(`[data-field="email"]`); typed != email {
		t.Errorf("after a reload the form has the address %q", typed)
	}
	visitor.Eval(`(() => {
		for (const name of ["frontdesk.details", "frontdesk.intention.start"]) {
			const kept = JSON.parse(sessionStorage.getItem(name));
			sessionStorage.setItem(name, JSON.stringify({...kept, at: Date.now() - 31 * 60_000}));
		}
		return "";
	})()`)
	visitor.goTo(form)
	visitor.WaitVisible(`form[data-form="person"] [data-continue]`)
	if typed, notices := visitor.Value(`[data-field="email"]`), visitor.Count(`[data-notice]`); typed != "" || notices != 0 {
		t.Errorf("half an hour later the form has the address %q and %d notices", typed, notices)
	}
	visitor.Await("nothing personal is kept", `!JSON.stringify(sessionStorage).includes("`+email+`")`)
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
