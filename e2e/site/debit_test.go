package site_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestDebitDayInBrowser chooses the debit day together with the start, and sees the exact dates from
// then on: before the signature, after a reload, and on another device.
func TestDebitDayInBrowser(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := newSiteVisitor(t, device)
			g.goTo("/?club=11")
			g.Click(`[data-offer="901"] [data-choose]`)
			g.WaitVisible(`dialog [data-debit-days="3"]`)
			g.Fill(`dialog [data-field="startDate"]`, "2031-03-01")
			g.Click(`dialog label:has([data-debit-day="20"])`)
			g.Click(`dialog [data-continue]`)
			g.giveDetails()
			g.WaitVisible(`[data-form="mandate"]`)
			g.Click(`.back`)

			var schedule api.Schedule
			g.c.Do("GET", "/v1/clubs/11/offers/901/schedule?startDate=2031-03-01&debitDay=20", nil).Into(http.StatusOK, &schedule)
			plan := `[data-plan="901"][data-basis="exact"] [data-movement="` + schedule.FirstStatement[1].Date + `"]`
			for range 2 {
				g.WaitVisible(`[data-debits-on="20"]`)
				g.WaitVisible(plan)
				g.Reload()
			}
			g.WaitVisible(plan) // it arrives after the page, and moves what is below it
			g.Click(`a[data-mandate]`)
			for range 2 {
				g.unfoldDebits()
				g.WaitVisible(`[data-form="mandate"] ` + plan)
				g.Reload()
			}
			g.WaitVisible(`[data-form="mandate"]`)
			state := string(g.c.Control("GET", "state", nil).Body)
			if !strings.Contains(state, `"specificDay":true,"debitDay":20,`) || !strings.Contains(state, `"startDate":"2031-03-20"`) {
				t.Error("the club system did not get the day")
			}

			g.Click(`.back`)
			g.WaitVisible(plan)
			other := g.continueOn(phone)
			other.unfoldDebits()
			other.WaitVisible(plan)
			g.expectRecords(g.Registration(), expectedRecords{})
		})
	}
}

// TestDebitDayWithoutAStart checks that an extra that is debited and starts with its subscription asks for the debit
// day alone, whether it is chosen among the offers or a link names it.
func TestDebitDayWithoutAStart(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*siteVisitor){
		"among the offers": func(g *siteVisitor) {
			g.goTo("/?club=11")
			g.Click(`label:has([data-category="subscription_option"])`)
		},
		"by a link": at("/?club=11&offer=1801"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newSiteVisitor(t, phone)
			open(g)
			g.WaitVisible(`[data-offer="1801"] [data-choose], form[data-form="person"]`)
			if g.Count(`form[data-form="person"]`) != 0 {
				t.Fatal("personal details are asked for before the debit day")
			}
			g.Click(`[data-offer="1801"] [data-choose]`)
			g.WaitVisible(`dialog [data-debit-days="3"]`)
			if g.Count(`dialog [data-field="startDate"]`) != 0 {
				t.Error("an offer without a start date asks for one")
			}
			g.Screenshot("day")
			g.Click(`dialog label:has([data-debit-day="20"])`)
			g.Click(`dialog [data-continue]`)
			g.giveDetails()
			g.Click(`.back`)
			g.WaitVisible(`[data-item="1801"] [data-debits-on="20"]`)
		})
	}
}

// TestDebitDayLeftToTheClub checks that a visitor continues without a debit day if the page cannot list any.
func TestDebitDayLeftToTheClub(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=1801")
	days := g.HoldRequests("*/debit-days*")
	g.Click(`[data-offer="1801"] [data-choose]`)
	const tooLong = 60 // seconds that the page does not wait
	g.ExpectConsole("status of 503")
	days.Refuse(api.ClubSystemUnavailable, http.StatusServiceUnavailable, tooLong)
	g.WaitVisible(`dialog [data-debit-days="0"] p`)
	g.says("The club chooses the day of the debits.")
	days.Release()
	g.Click(`dialog [data-continue]`)
	g.giveDetails()
	g.Click(`.back`)
	g.WaitVisible(`[data-item="1801"]`)
	if g.Count(`[data-debits-on]`) != 0 {
		t.Errorf("the cart names a debit day that was not chosen:\n%s", g.Text())
	}
}

// TestJoinBeforeTheDaysAreRead checks that a visitor who joins from the plan at once has the debit day that it
// suggests.
func TestJoinBeforeTheDaysAreRead(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.goTo("/?club=11")
	days := g.HoldRequests("*/debit-days*")
	g.Click(`[data-offer="901"] [data-show-plan]`)
	days.Await()
	g.Click(`dialog [data-join]`)
	days.Release()
	g.WaitVisible(`form[data-form="person"]`)
	if address := g.URL(); !strings.Contains(address, "debitDay=") {
		t.Errorf("the visitor joins at %s", address)
	}
}

// TestWeeklyDebits checks that the chosen day is that of the first debit, and that the others do not
// follow the month.
func TestWeeklyDebits(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	for offer, texts := range map[string]map[string]string{
		"902": {"en": "First debit on the", "fr": "Premier prélèvement le"},
		"901": {"en": "Debits on the", "fr": "Prélèvement le"},
	} {
		for language, wanted := range texts {
			g.goTo("/?club=11&lang=" + language)
			g.showVariant(offer)
			g.Click(`[data-offer="` + offer + `"] [data-choose]`)
			g.WaitVisible(`dialog [data-debit-days="3"]`)
			if !strings.Contains(g.Text(), wanted) {
				t.Errorf("the days of %s are not headed %q:\n%s", offer, wanted, g.Text())
			}
		}
	}
	g.goTo("/?club=11&lang=en")
	g.showVariant("902")
	g.Click(`[data-offer="902"] [data-show-plan]`)
	g.WaitVisible(`dialog [data-plan="902"]`)
	g.Click(`dialog label:has([data-debit-day="20"])`)
	g.Click(`dialog [data-join]`)
	g.giveDetails()
	g.Click(`.back`)
	g.WaitVisible(`[data-debits-on="20"]`)
	g.Await(
		"the cart says when the first debit is",
		`/First debit on 20 [A-Z][a-z]+ 20\d\d, then every 4 weeks/.test(document.body.innerText)`,
	)
}

// TestLiveUpdatesInBrowser checks that a change on one device shows on the other at once, without a
// reload, and keeps what the visitor is typing.
func TestLiveUpdatesInBrowser(t *testing.T) {
	t.Parallel()
	desk := newSiteVisitor(t, desktop)
	desk.goTo("/?club=11&offer=" + frontdesktest.DirectDebit + "&startDate=2031-03-01")
	desk.giveDetails()
	due, registration := desk.due(), desk.Registration()
	desk.Click(`.back`)
	mobile := desk.continueOn(phone)
	mobile.giveAccount(frontdesktest.GoodIBAN)
	mobile.WaitVisible(`[data-attempts="5"]`)

	desk.WaitVisible(`a[data-mandate="awaiting_code"]`)
	desk.Click(`a[data-mandate]`)
	desk.WaitVisible(`[data-attempts="5"]`)
	mobile.Fill(`[data-field="code"]`, "12")
	desk.ExpectConsole("status of 422")
	desk.enterCode(frontdesktest.WrongCode(desk.code()))
	mobile.WaitVisible(`[data-attempts="4"]`)
	if typed := mobile.Value(`[data-field="code"]`); typed != "12" {
		t.Errorf("what was typed became %q", typed)
	}
	mobile.enterCode(mobile.code())
	mobile.WaitVisible(`[data-mandate="signed"]`)
	desk.WaitVisible(`[data-mandate="signed"]`)
	mobile.pay()
	desk.WaitVisible(`main[data-state="paying"]`)
	if desk.Count(`[data-pay]`) != 0 {
		t.Error("the other device can pay as well")
	}
	mobile.enterCard(frontdesktest.ApprovedCard)
	mobile.expectMember()
	desk.WaitVisible(`[data-member]`)
	desk.expectRecords(registration, expectedRecords{recorded: due, captured: due, codes: 1})
}

// removeLastArticle makes the club's staff remove the last article from the only sale.
func (g *siteVisitor) removeLastArticle() {
	g.t.Helper()
	state := g.c.Control("GET", "state", nil).Body
	changed := regexp.MustCompile(`("articles":\[\d+),\d+\]`).ReplaceAll(state, []byte("$1]"))
	if bytes.Equal(state, changed) {
		g.t.Fatal("no sale of two articles")
	}
	g.c.Control("PUT", "state", string(changed)).Into(http.StatusNoContent, nil)
}

// changed goes to a cart of two offers. Before it is paid, the club makes one of them seven euros
// dearer and removes the other.
func (g *siteVisitor) changed() (due int64) {
	g.t.Helper()
	g.fillCart()
	due = g.due()
	g.Click(`[data-add]`)
	g.chooseOffer("badge", "2501")
	g.WaitVisible(`[data-item="2501"]`)
	g.reprices(due, due+700)
	g.removeLastArticle()
	g.ExpectConsole("status of 409")
	g.Click(`[data-pay]`)
	g.WaitVisible(`[data-error="cart_changed"]`)
	g.WaitVisible(`[data-change="price"]`)
	return due + 700
}

// TestRemoveItemInBrowser removes one of two offers in the cart, and pays for the other.
func TestRemoveItemInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	due := g.due()
	g.Click(`[data-add]`)
	g.chooseOffer("badge", "2501")
	g.WaitVisible(`[data-item="2501"]`)
	g.Click(`[data-item="2501"] [data-remove]`)
	g.WaitVisible(`[data-due="` + strconv.FormatInt(due, 10) + `"]`)
	g.Await("the only item cannot be removed", `!document.querySelector("[data-remove]")`)
	g.Await("the keyboard keeps its place", `document.activeElement !== document.body`)
	g.payByCard()
	g.expectMember()
	g.expectRecords(g.Registration(), expectedRecords{recorded: due, captured: due})
}

// TestEditDaysInBrowser changes the start date and the debit day of an offer in a cart of two, on the review.
func TestEditDaysInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	g.Click(`[data-add]`)
	g.chooseOffer("subscription", "901")
	g.WaitVisible(`[data-item="901"]`)
	day := g.Attribute(`[data-item="901"] [data-debits-on]`, "data-debits-on")
	later := time.Now().AddDate(0, 0, 9)
	g.Click(`[data-item="901"] [data-edit]`)
	g.WaitVisible(`dialog [data-debit-day="` + day + `"]:checked`)
	g.Fill(`dialog [data-field="startDate"]`, later.Format(time.DateOnly))
	g.Await("another day can be chosen", `!!document.querySelector("dialog [data-debit-day]:not(:checked)")`)
	other := g.Attribute(`dialog [data-debit-day]:not(:checked)`, "data-debit-day")
	g.Click(`dialog label:has([data-debit-day="` + other + `"])`)
	g.Click(`dialog [data-continue]`)
	g.WaitVisible(`[data-item="901"] [data-debits-on="` + other + `"]`)
	g.says(later.Format("2 January 2006"), "Year Pass")
	if n := g.Count(`[data-item]`); n < 2 {
		t.Errorf("the cart has %d lines", n)
	}
	g.expectFits()
}

// TestAddAgain checks that an offer is in the club's cart after it was added without a response, removed, and added
// again.
func TestAddAgain(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.fillCart()
	g.AllowConsole("ERR_CONNECTION_RESET")
	g.Click(`[data-add]`)
	response := g.HoldResponses("*/items")
	g.Click(`label:has([data-category="badge"])`)
	g.Click(`[data-offer="2501"] [data-choose]`)
	response.Await()
	g.Offline()
	response.Drop()
	g.WaitVisible(`[data-error="offline"]`)
	g.Online()
	g.Click(`.back`)
	g.Click(`[data-item="2501"] [data-remove]`)
	g.Await("the offer is removed", `document.querySelector("[data-item]") && !document.querySelector('[data-item="2501"]')`)

	added := g.calls("addArticle")
	g.Click(`[data-add]`)
	g.chooseOffer("badge", "2501")
	g.WaitVisible(`[data-item="2501"]`)
	if n := g.calls("addArticle") - added; n != 1 {
		t.Errorf("the offer was added %d times at the club", n)
	}
}

// TestChangedCartInBrowser checks that a visitor about to pay another amount than the page showed sees
// which price has changed and which line is gone. They pay only by confirming.
func TestChangedCartInBrowser(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := newSiteVisitor(t, device)
			due := g.changed()
			g.WaitVisible(`[data-change="removed"]`)
			g.WaitVisible(`[data-due="` + strconv.FormatInt(due, 10) + `"]`)
			registration := g.Registration()
			g.expectRecords(registration, expectedRecords{}) // before the visitor agreed to the new amount
			g.payByCard()
			g.expectMember()
			g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
		})
	}
}

// TestChangedCartAtTheMandate checks that a visitor who continues on another device sees what the club has
// changed before they sign, and again before they pay.
func TestChangedCartAtTheMandate(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.goToMandate()
	g.Click(`.back`)
	g.Click(`[data-add]`)
	g.chooseOffer("badge", "2501")
	g.WaitVisible(`[data-item="2501"]`)
	g.Click(`[data-more] summary`)
	g.Click(`[data-elsewhere]`)
	g.WaitVisible(`[data-resume-link]`)
	g.removeLastArticle()
	other := g.onAnotherDevice(phone)
	other.Open(g.Value(`[data-resume-link]`))
	other.WaitVisible(`[data-change="removed"]`)
	other.Screenshot("changed")
	other.setUpDirectDebit()
	other.WaitVisible(`main[data-step="cart"] [data-change="removed"]`)
}
