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
			g := newSiteVisitor(t, device)
			g.goTo("/?club=11")
			g.Click(`[data-offer="901"] [data-show-plan]`)
			g.WaitVisible(`dialog [data-plan="901"]`)
			g.expectSchedule("/v1/clubs/11/offers/901/schedule?debitDay="+g.Attribute(`dialog input:checked`, "data-debit-day"), false)
			later := time.Now().AddDate(0, 2, 0).Format(time.DateOnly)
			g.Fill(`dialog [data-field="startDate"]`, later)
			g.Click(`dialog label:has([data-debit-day="20"])`)
			var s api.Schedule
			path := "/v1/clubs/11/offers/901/schedule?debitDay=20&startDate=" + later
			g.c.Do("GET", path, nil).Into(http.StatusOK, &s)
			g.WaitVisible(`dialog [data-movement="` + s.Recurrence.From + `"]`)
			g.expectSchedule(path, false)
			g.Fill(`dialog [data-field="startDate"]`, "2020-01-01")
			if g.Attribute(`dialog [data-field="startDate"]`, "aria-invalid") != "true" {
				t.Error("a start in the past is taken")
			}
			g.expectFits()
			g.Click(`dialog [data-close]`)

			if shown, due := g.Attribute(`[data-offer="1301"] [data-due-today]`, "data-due-today"), g.dueToday("1301"); shown != due {
				t.Errorf("the card says that %s is due today, and the API %s", shown, due)
			}
			if text := g.Text(); !strings.Contains(text, "11 × €29.90, one per month") || !strings.Contains(text, "€377.80") {
				t.Errorf("the offers do not say how often is debited after today:\n%s", text)
			}
			if terms := g.TextOf(`[data-offer="1201"] .offer-terms`); !strings.Contains(terms, "€377.80") {
				t.Errorf("the offer that is priced by the week and debited every four weeks has no total:\n%s", terms)
			}
			g.Click(`[data-offer="5001"] [data-show-plan]`)
			g.WaitVisible(`dialog [data-plan="5001"]`)
			if text := g.Text(); !strings.Contains(text, "Then 9 debits of €29.90 each") {
				t.Errorf("the amount that changes is not named:\n%s", text)
			}
			g.Click(`dialog [data-close]`)

			g.showVariant("1202")
			g.Click(`[data-offer="1202"] [data-show-plan]`)
			g.WaitVisible(`dialog [data-plan-all="52"]`)
			g.Click(`dialog [data-plan-all] summary`)
			if n := g.Count(`dialog [data-debit]`); n != 52 {
				t.Errorf("%d of 52 debits are listed", n)
			}
			g.Click(`dialog [data-close]`)

			g.Click(`[data-offer="1701"] [data-show-plan]`)
			g.WaitVisible(`dialog [data-plan-rules="months_as_weeks rounded"]`)
			if n := g.Count(`dialog [data-estimated]`); n != 2 {
				t.Errorf("%d of 2 lines are marked as estimated", n)
			}
			g.expectFits()
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
	var s api.Schedule
	g.c.Do("GET", path, nil).Into(http.StatusOK, &s)
	if inCart {
		s.FirstStatement = slices.DeleteFunc(
			s.FirstStatement, func(m api.ScheduleMovement) bool { return m.Kind == api.ScheduleMovementKindDueNow },
		)
		after := s.Total.Amount - s.DueNow.Price.Amount
		g.says(fmt.Sprintf("€%d.%02d in total", after/100, after%100))
	}
	if n := g.Count(`[data-plan="` + s.OfferId + `"] [data-movement]`); n != len(s.FirstStatement) {
		g.t.Errorf("%s: %d lines, want %d", path, n, len(s.FirstStatement))
	}
	text := g.Text()
	for _, movement := range s.FirstStatement {
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
	g := newSiteVisitor(t, phone)
	g.fillCart()
	id := g.Registration()
	start := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	item := api.NewItem{OfferId: "1101", StartDate: &start}
	if status := g.Fetch("POST", "/v1/registrations/"+id+"/items", item, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	g.unfoldDebits()
	g.WaitVisible(`[data-debits] [data-plan="1101"]`)
	g.WaitVisible(`.foot [data-legal="terms"]`) // hidden while something is read
	for range 2 {
		g.goTo("/?registration=" + id + "&step=cart")
		g.WaitVisible(`main[data-step="cart"] [data-plan="1101"]`)
		g.expectSchedule("/v1/clubs/11/offers/1101/schedule?startDate="+start, true)
	}
	if n := g.Count(`[data-plan-then]`); n != 1 {
		t.Errorf("the cart shows %d schedules", n)
	}
	g.expectFits()
	g.expectRecords(id, expectedRecords{})
}

// TestWelcomeWithTwoPlans checks that a cart with two plans says what each price consists of, and that the last page
// names the plan of each schedule and keeps its two columns on a desktop.
func TestWelcomeWithTwoPlans(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.goTo("/?club=11&offer=902&startDate=" + tomorrow())
	g.giveDetails()
	item := api.NewItem{OfferId: "1801"}
	if status := g.Fetch("POST", "/v1/registrations/"+g.Registration()+"/items", item, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	g.unfoldDebits()
	g.WaitVisible(`[data-debits] [data-plan="1801"]`)
	g.setUpDirectDebit()
	g.WaitVisible(`main[data-step="cart"] [data-plan="1801"]`)
	g.WaitVisible(`[data-tax="20"]`)
	g.WaitVisible(`[data-item="902"] [data-parts]`)
	g.says("first instalment €36.90", "After today")
	g.Click(`[data-later] summary`)
	g.Click(`[data-pay-later]`)
	g.expectMember()
	for offer, name := range map[string]string{"902": "Flex", "1801": "All Classes"} {
		plan := `[data-coming="` + offer + `"]`
		g.WaitVisible(plan)
		if says := g.TextOf(plan + ` h3`); says != name {
			t.Errorf("the plan of %s is named %q", offer, says)
		}
	}
	g.WaitVisible(`[data-consents-offer] [data-channel]`)
	g.Screenshot("welcome")
	for what, places := range map[string]string{
		"headings of the panels": `[...document.querySelectorAll(".welcome > .panel")].map((panel) =>
			panel.querySelector("h2").getBoundingClientRect().y - panel.getBoundingClientRect().y)`,
		"channels in a row": `[...document.querySelectorAll('[data-consents-offer] [data-channel="email"]')].map((box) =>
			box.getBoundingClientRect().y)`,
	} {
		if at := g.Eval(`[...new Set(` + places + `.map(Math.round))].join(", ")`); strings.Contains(at, ",") {
			t.Errorf("the %s are at %s", what, at)
		}
	}
	g.Await("the welcome has room", `document.querySelector(".welcome-words").offsetWidth > 300`)
	g.expectFits()
}
