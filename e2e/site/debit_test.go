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
			visitor := newSiteVisitor(t, device)
			visitor.goTo("/?club=11")
			visitor.Click(`[data-offer="901"] [data-choose]`)
			visitor.WaitVisible(`dialog [data-debit-days="3"]`)
			visitor.Fill(`dialog [data-field="startDate"]`, "2031-03-01")
			visitor.Click(`dialog label:has([data-debit-day="20"])`)
			visitor.Click(`dialog [data-continue]`)
			visitor.giveDetails()
			visitor.WaitVisible(`[data-form="mandate"]`)
			visitor.Click(`.back`)

			var schedule api.Schedule
			visitor.c.Do("GET", "/v1/clubs/11/offers/901/schedule?startDate=2031-03-01&debitDay=20", nil).Into(http.StatusOK, &schedule)
			plan := `[data-plan="901"][data-basis="exact"] [data-movement="` + schedule.FirstStatement[1].Date + `"]`
			for range 2 {
				visitor.WaitVisible(`[data-debits-on="20"]`)
				visitor.WaitVisible(plan)
				visitor.Reload()
			}
			visitor.WaitVisible(plan) // it arrives after the page, and moves what is below it
			visitor.Click(`a[data-mandate]`)
			for range 2 {
				visitor.unfoldDebits()
				visitor.WaitVisible(`[data-form="mandate"] ` + plan)
				visitor.Reload()
			}
			visitor.WaitVisible(`[data-form="mandate"]`)
			state := string(visitor.c.Control("GET", "state", nil).Body)
			if !strings.Contains(state, `"specificDay":true,"debitDay":20,`) || !strings.Contains(state, `"startDate":"2031-03-20"`) {
				t.Error("the club system did not get the day")
			}

			visitor.Click(`.back`)
			visitor.WaitVisible(plan)
			other := visitor.continueOn(phone)
			other.unfoldDebits()
			other.WaitVisible(plan)
			visitor.expectRecords(visitor.Registration(), expectedRecords{})
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
			visitor := newSiteVisitor(t, phone)
			open(visitor)
			visitor.WaitVisible(`[data-offer="1801"] [data-choose], form[data-form="person"]`)
			if visitor.Count(`form[data-form="person"]`) != 0 {
				t.Fatal("personal details are asked for before the debit day")
			}
			visitor.Click(`[data-offer="1801"] [data-choose]`)
			visitor.WaitVisible(`dialog [data-debit-days="3"]`)
			if visitor.Count(`dialog [data-field="startDate"]`) != 0 {
				t.Error("an offer without a start date asks for one")
			}
			visitor.Screenshot("day")
			visitor.Click(`dialog label:has([data-debit-day="20"])`)
			visitor.Click(`dialog [data-continue]`)
			visitor.giveDetails()
			visitor.Click(`.back`)
			visitor.WaitVisible(`[data-item="1801"] [data-debits-on="20"]`)
		})
	}
}

// TestDebitDayLeftToTheClub checks that a visitor continues without a debit day if the page cannot list any.
func TestDebitDayLeftToTheClub(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=1801")
	days := visitor.HoldRequests("*/debit-days*")
	visitor.Click(`[data-offer="1801"] [data-choose]`)
	const tooLong = 60 // seconds that the page does not wait
	visitor.ExpectConsole("status of 503")
	days.Refuse(api.ClubSystemUnavailable, http.StatusServiceUnavailable, tooLong)
	visitor.WaitVisible(`dialog [data-debit-days="0"] p`)
	visitor.says("The club chooses the day of the debits.")
	days.Release()
	visitor.Click(`dialog [data-continue]`)
	visitor.giveDetails()
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-item="1801"]`)
	if visitor.Count(`[data-debits-on]`) != 0 {
		t.Errorf("the cart names a debit day that was not chosen:\n%s", visitor.Text())
	}
}

// TestJoinBeforeTheDaysAreRead checks that a visitor who joins from the plan at once has the debit day that it
// suggests.
func TestJoinBeforeTheDaysAreRead(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.goTo("/?club=11")
	days := visitor.HoldRequests("*/debit-days*")
	visitor.Click(`[data-offer="901"] [data-show-plan]`)
	days.Await()
	visitor.Click(`dialog [data-join]`)
	days.Release()
	visitor.WaitVisible(`form[data-form="person"]`)
	if address := visitor.URL(); !strings.Contains(address, "debitDay=") {
		t.Errorf("the visitor joins at %s", address)
	}
}

// TestWeeklyDebits checks that the chosen day is that of the first debit, and that the others do not
// follow the month.
func TestWeeklyDebits(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	for offer, texts := range map[string]map[string]string{
		"902": {"en": "First debit on the", "fr": "Premier prélèvement le"},
		"901": {"en": "Debits on the", "fr": "Prélèvement le"},
	} {
		for language, wanted := range texts {
			visitor.goTo("/?club=11&lang=" + language)
			visitor.showVariant(offer)
			visitor.Click(`[data-offer="` + offer + `"] [data-choose]`)
			visitor.WaitVisible(`dialog [data-debit-days="3"]`)
			if !strings.Contains(visitor.Text(), wanted) {
				t.Errorf("the days of %s are not headed %q:\n%s", offer, wanted, visitor.Text())
			}
		}
	}
	visitor.goTo("/?club=11&lang=en")
	visitor.showVariant("902")
	visitor.Click(`[data-offer="902"] [data-show-plan]`)
	visitor.WaitVisible(`dialog [data-plan="902"]`)
	visitor.Click(`dialog label:has([data-debit-day="20"])`)
	visitor.Click(`dialog [data-join]`)
	visitor.giveDetails()
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-debits-on="20"]`)
	visitor.Await(
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
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	due := visitor.due()
	visitor.Click(`[data-add]`)
	visitor.chooseOffer("badge", "2501")
	visitor.WaitVisible(`[data-item="2501"]`)
	visitor.Click(`[data-item="2501"] [data-remove]`)
	visitor.WaitVisible(`[data-due="` + strconv.FormatInt(due, 10) + `"]`)
	visitor.Await("the only item cannot be removed", `!document.querySelector("[data-remove]")`)
	visitor.Await("the keyboard keeps its place", `document.activeElement !== document.body`)
	visitor.payByCard()
	visitor.expectMember()
	visitor.expectRecords(visitor.Registration(), expectedRecords{recorded: due, captured: due})
}

// TestEditDaysInBrowser changes the start date and the debit day of an offer in a cart of two, on the review.
func TestEditDaysInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	visitor.Click(`[data-add]`)
	visitor.chooseOffer("subscription", "901")
	visitor.WaitVisible(`[data-item="901"]`)
	day := visitor.Attribute(`[data-item="901"] [data-debits-on]`, "data-debits-on")
	later := time.Now().AddDate(0, 0, 9)
	visitor.Click(`[data-item="901"] [data-edit]`)
	visitor.WaitVisible(`dialog [data-debit-day="` + day + `"]:checked`)
	visitor.Fill(`dialog [data-field="startDate"]`, later.Format(time.DateOnly))
	visitor.Await("another day can be chosen", `!!document.querySelector("dialog [data-debit-day]:not(:checked)")`)
	other := visitor.Attribute(`dialog [data-debit-day]:not(:checked)`, "data-debit-day")
	visitor.Click(`dialog label:has([data-debit-day="` + other + `"])`)
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`[data-item="901"] [data-debits-on="` + other + `"]`)
	visitor.says(later.Format("2 January 2006"), "Year Pass")
	if n := visitor.Count(`[data-item]`); n < 2 {
		t.Errorf("the cart has %d lines", n)
	}
	visitor.expectFits()
}

// TestAddAgain checks that an offer is in the club's cart after it was added without a response, removed, and added
// again.
func TestAddAgain(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart()
	visitor.AllowConsole("ERR_CONNECTION_RESET")
	visitor.Click(`[data-add]`)
	response := visitor.HoldResponses("*/items")
	visitor.Click(`label:has([data-category="badge"])`)
	visitor.Click(`[data-offer="2501"] [data-choose]`)
	response.Await()
	visitor.Offline()
	response.Drop()
	visitor.WaitVisible(`[data-error="offline"]`)
	visitor.Online()
	visitor.Click(`.back`)
	visitor.Click(`[data-item="2501"] [data-remove]`)
	visitor.Await("the offer is removed", `document.querySelector("[data-item]") && !document.querySelector('[data-item="2501"]')`)

	added := visitor.calls("addArticle")
	visitor.Click(`[data-add]`)
	visitor.chooseOffer("badge", "2501")
	visitor.WaitVisible(`[data-item="2501"]`)
	if n := visitor.calls("addArticle") - added; n != 1 {
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
			visitor := newSiteVisitor(t, device)
			due := visitor.changed()
			visitor.WaitVisible(`[data-change="removed"]`)
			visitor.WaitVisible(`[data-due="` + strconv.FormatInt(due, 10) + `"]`)
			registration := visitor.Registration()
			visitor.expectRecords(registration, expectedRecords{}) // before the visitor agreed to the new amount
			visitor.payByCard()
			visitor.expectMember()
			visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
		})
	}
}

// TestChangedCartAtTheMandate checks that a visitor who continues on another device sees what the club has
// changed before they sign, and again before they pay.
func TestChangedCartAtTheMandate(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.goToMandate()
	visitor.Click(`.back`)
	visitor.Click(`[data-add]`)
	visitor.chooseOffer("badge", "2501")
	visitor.WaitVisible(`[data-item="2501"]`)
	visitor.Click(`[data-more] summary`)
	visitor.Click(`[data-elsewhere]`)
	visitor.WaitVisible(`[data-resume-link]`)
	visitor.removeLastArticle()
	other := visitor.onAnotherDevice(phone)
	other.Open(visitor.Value(`[data-resume-link]`))
	other.WaitVisible(`[data-change="removed"]`)
	other.Screenshot("changed")
	other.setUpDirectDebit()
	other.WaitVisible(`main[data-step="cart"] [data-change="removed"]`)
}
