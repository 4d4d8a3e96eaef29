package site_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestScheduleInBrowser checks the displayed cost of an offer, and its dates, on the smallest phone and
// on a desktop, against the API.
func TestScheduleInBrowser(t *testing.T) {
	t.Parallel()
	for name, device := range map[string]device{"desktop": desktop, "small phone": {320, 640}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.goTo("/?club=11")
			visitor.Click(`[data-offer="901"] [data-show-plan]`)
			visitor.WaitVisible(`dialog [data-plan="901"]`)
			visitor.expectSchedule("/v1/clubs/11/offers/901/schedule?debitDay="+visitor.Attribute(`dialog input:checked`, "data-debit-day"), false)
			later := time.Now().AddDate(0, 2, 0).Format(time.DateOnly)
			visitor.Fill(`dialog [data-field="startDate"]`, later)
			visitor.Click(`dialog label:has([data-debit-day="20"])`)
			var s api.Schedule
			path := "/v1/clubs/11/offers/901/schedule?debitDay=20&startDate=" + later
			visitor.c.Do("GET", path, nil).Into(http.StatusOK, &s)
			visitor.WaitVisible(`dialog [data-movement="` + s.Recurrence.From + `"]`)
			visitor.expectSchedule(path, false)
			visitor.Fill(`dialog [data-field="startDate"]`, "2020-01-01")
			if visitor.Attribute(`dialog [data-field="startDate"]`, "aria-invalid") != "true" {
				t.Error("a start in the past is taken")
			}
			visitor.expectFits()
			visitor.Click(`dialog [data-close]`)

			if shown, due := visitor.Attribute(`[data-offer="1301"] [data-due-today]`, "data-due-today"), visitor.dueToday("1301"); shown != due {
				t.Errorf("the card says that %s is due today, and the API %s", shown, due)
			}
			if text := visitor.Text(); !strings.Contains(text, "11 × €29.90, one per month") || !strings.Contains(text, "€377.80") {
				t.Errorf("the offers do not say how often is debited after today:\n%s", text)
			}
			if terms := visitor.TextOf(`[data-offer="1201"] .offer-terms`); !strings.Contains(terms, "€377.80") {
				t.Errorf("the offer that is priced by the week and debited every four weeks has no total:\n%s", terms)
			}
			visitor.Click(`[data-offer="5001"] [data-show-plan]`)
			visitor.WaitVisible(`dialog [data-plan="5001"]`)
			if text := visitor.Text(); !strings.Contains(text, "Then 9 debits of €29.90 each") {
				t.Errorf("the amount that changes is not named:\n%s", text)
			}
			visitor.Click(`dialog [data-close]`)

			visitor.showVariant("1202")
			visitor.Click(`[data-offer="1202"] [data-show-plan]`)
			visitor.WaitVisible(`dialog [data-plan-all="52"]`)
			visitor.Click(`dialog [data-plan-all] summary`)
			if n := visitor.Count(`dialog [data-debit]`); n != 52 {
				t.Errorf("%d of 52 debits are listed", n)
			}
			visitor.Click(`dialog [data-close]`)

			visitor.Click(`[data-offer="1701"] [data-show-plan]`)
			visitor.WaitVisible(`dialog [data-plan-rules="months_as_weeks rounded"]`)
			if n := visitor.Count(`dialog [data-estimated]`); n != 2 {
				t.Errorf("%d of 2 lines are marked as estimated", n)
			}
			visitor.expectFits()
		})
	}
}

// dueToday returns the amount that is due today for an offer, from the API.
func (g *siteVisitor) dueToday(id string) string {
	g.t.Helper()
	var page api.ProductList
	g.c.Do("GET", "/v1/clubs/11/products?type=subscription", nil).Into(http.StatusOK, &page)
	for _, product := range page.Items {
		for _, offer := range product.Offers {
			if offer.Id == id {
				return strconv.FormatInt(offer.DueToday.Price.Amount, 10)
			}
		}
	}
	g.t.Fatalf("the club does not sell %s", id)
	return ""
}

// expectFits checks that the page fits its window's width.
func (g *siteVisitor) expectFits() {
	g.t.Helper()
	if over := g.Overflow(); over > 0 {
		g.t.Errorf("the page is %d pixels too wide", over)
	}
}

// expectSchedule compares the lines on the page with the first statement of the API. In a cart with
// other items, today's line is missing, because the bank shows one payment for all of them.
func (g *siteVisitor) expectSchedule(path string, inCart bool) {
	g.t.Helper()
	var schedule api.Schedule
	g.c.Do("GET", path, nil).Into(http.StatusOK, &schedule)
	if inCart {
		schedule.FirstStatement = slices.DeleteFunc(
			schedule.FirstStatement, func(m api.ScheduleMovement) bool { return m.Kind == api.ScheduleMovementKindDueNow },
		)
		after := schedule.Total.Amount - schedule.DueNow.Price.Amount
		g.says(fmt.Sprintf("€%d.%02d in total", after/100, after%100))
	}
	if n := g.Count(`[data-plan="` + schedule.OfferId + `"] [data-movement]`); n != len(schedule.FirstStatement) {
		g.t.Errorf("%s: %d lines, want %d", path, n, len(schedule.FirstStatement))
	}
	text := g.Text()
	for _, movement := range schedule.FirstStatement {
		if g.Count(`[data-movement="`+movement.Date+`"][data-kind="`+string(movement.Kind)+`"]`) != 1 {
			g.t.Errorf("%s: %s is not there", path, movement.Date)
		}
		if amount := money(movement.Price.Amount); !strings.Contains(text, amount) {
			g.t.Errorf("%s: %s is not there", path, amount)
		}
	}
}

// TestScheduleInCart checks that the cart shows when later debits are due, before anything is paid and
// after a reload, even if the offer was added elsewhere.
func TestScheduleInCart(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	id := visitor.Registration()
	start := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	item := api.NewItem{OfferId: "1101", StartDate: &start}
	if status := visitor.Fetch("POST", "/v1/registrations/"+id+"/items", item, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	visitor.unfoldDebits()
	visitor.WaitVisible(`[data-debits] [data-plan="1101"]`)
	visitor.WaitVisible(`.foot [data-legal="terms"]`) // hidden while something is read
	for range 2 {
		visitor.goTo("/?registration=" + id + "&step=cart")
		visitor.WaitVisible(`main[data-step="cart"] [data-plan="1101"]`)
		visitor.expectSchedule("/v1/clubs/11/offers/1101/schedule?startDate="+start, true)
	}
	if n := visitor.Count(`[data-plan-then]`); n != 1 {
		t.Errorf("the cart shows %d schedules", n)
	}
	visitor.expectFits()
	visitor.expectRecords(id, expectedRecords{})
}

// TestWelcomeWithTwoPlans checks that a cart with two plans says what each price consists of, and that the last page
// names the plan of each schedule and keeps its two columns on a desktop.
func TestWelcomeWithTwoPlans(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.goTo("/?club=11&offer=902&startDate=" + tomorrow())
	visitor.giveDetails()
	item := api.NewItem{OfferId: "1801"}
	status := visitor.Fetch("POST", "/v1/registrations/"+visitor.Registration()+"/items", item, frontdesktest.Key(""))
	if status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	visitor.unfoldDebits()
	visitor.WaitVisible(`[data-debits] [data-plan="1801"]`)
	visitor.setUpDirectDebit()
	visitor.WaitVisible(`main[data-step="cart"] [data-plan="1801"]`)
	visitor.WaitVisible(`[data-tax="20"]`)
	visitor.WaitVisible(`[data-item="902"] [data-parts]`)
	visitor.says("first instalment €36.90", "After today")
	visitor.Click(`[data-later] summary`)
	visitor.Click(`[data-pay-later]`)
	visitor.expectMember()
	for offer, name := range map[string]string{"902": "Flex", "1801": "All Classes"} {
		plan := `[data-coming="` + offer + `"]`
		visitor.WaitVisible(plan)
		if says := visitor.TextOf(plan + ` h3`); says != name {
			t.Errorf("the plan of %s is named %q", offer, says)
		}
	}
	visitor.WaitVisible(`[data-consents-offer] [data-channel]`)
	visitor.Screenshot("welcome")
	for what, places := range map[string]string{
		"headings of the panels": `[...document.querySelectorAll(".welcome > .panel")].map((panel) =>
			panel.querySelector("h2").getBoundingClientRect().y - panel.getBoundingClientRect().y)`,
		"channels in a row": `[...document.querySelectorAll('[data-consents-offer] [data-channel="email"]')].map((box) =>
			box.getBoundingClientRect().y)`,
	} {
		if at := visitor.Eval(`[...new Set(` + places + `.map(Math.round))].join(", ")`); strings.Contains(at, ",") {
			t.Errorf("the %s are at %s", what, at)
		}
	}
	visitor.Await("the welcome has room", `document.querySelector(".welcome-words").offsetWidth > 300`)
	visitor.expectFits()
}
