package e2e_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestScheduleInBrowser looks at what an offer costs, and when, on the smallest
// phone and at a desk, and holds it against the API.
func TestScheduleInBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"desktop": {1280, 900}, "small phone": {320, 640}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
			club := c.Club()
			b := frontdesktest.NewBrowser(t, size[0], size[1])
			b.Open(strings.Replace(c.URL, "127.0.0.1", "localhost", 1) + "/?club=" + club)
			b.Click(`[data-offer="901"] [data-show-plan]`)
			b.See(`dialog [data-plan="901"]`)
			b.Shot("endless")
			expectStatement(t, b, c, "/v1/clubs/"+club+"/offers/901/schedule?debitDay="+b.Attribute(`dialog input:checked`, "data-debit-day"))
			later := time.Now().AddDate(0, 2, 0).Format(time.DateOnly)
			b.Fill(`dialog [data-field="startDate"]`, later)
			b.Click(`dialog label:has([data-debit-day="20"])`)
			var s api.Schedule
			path := "/v1/clubs/" + club + "/offers/901/schedule?debitDay=20&startDate=" + later
			c.Do("GET", path, nil).Into(http.StatusOK, &s)
			b.See(`dialog [data-movement="` + s.Recurrence.From + `"]`)
			expectStatement(t, b, c, path)
			b.Fill(`dialog [data-field="startDate"]`, "2020-01-01")
			if b.Attribute(`dialog [data-field="startDate"]`, "aria-invalid") != "true" {
				t.Error("a start in the past is taken")
			}
			if over := b.Overflow(); over > 0 {
				t.Errorf("the page is %d pixels too wide", over)
			}
			b.Click(`dialog [data-close]`)

			b.Click(`[data-offer="1202"] [data-show-plan]`)
			b.See(`dialog [data-plan-all="52"]`)
			b.Click(`dialog [data-plan-all] summary`)
			b.Shot("limited")
			if n := b.Count(`dialog [data-debit]`); n != 52 {
				t.Errorf("%d of 52 debits are listed", n)
			}
			b.Click(`dialog [data-close]`)

			b.Click(`[data-offer="1701"] [data-show-plan]`)
			b.See(`dialog [data-plan-rules="months_as_weeks rounded"]`)
			b.Shot("estimated")
			if n := b.Count(`dialog [data-estimated]`); n != 2 {
				t.Errorf("%d of 2 lines are marked as estimated", n)
			}
			if over := b.Overflow(); over > 0 {
				t.Errorf("the page is %d pixels too wide", over)
			}
		})
	}
}

// expectStatement holds the lines on the page against the first statement of the API.
func expectStatement(t *testing.T, b *frontdesktest.Browser, c *frontdesktest.Client, path string) {
	t.Helper()
	var s api.Schedule
	c.Do("GET", path, nil).Into(http.StatusOK, &s)
	if n := b.Count(`[data-plan="` + s.OfferId + `"] [data-movement]`); n != len(s.FirstStatement) {
		t.Errorf("%s: %d lines, want %d", path, n, len(s.FirstStatement))
	}
	text := b.Text()
	for _, movement := range s.FirstStatement {
		if b.Count(`[data-movement="`+movement.Date+`"][data-kind="`+string(movement.Kind)+`"]`) != 1 {
			t.Errorf("%s: %s is not there", path, movement.Date)
		}
		amount := strconv.Itoa(int(movement.Amount.Amount/100)) + "." + strconv.Itoa(int(movement.Amount.Amount%100))
		if !strings.Contains(text, amount) {
			t.Errorf("%s: %s is not there", path, amount)
		}
	}
}

// TestScheduleInTheCart: whoever has an offer in the cart that is debited later
// sees when, before anything is paid, and after a reload too.
func TestScheduleInTheCart(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	signUp(b, c, strings.Replace(c.URL, "127.0.0.1", "localhost", 1))
	id := b.Registration()
	start := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	item := api.NewItem{OfferId: "1101", StartDate: &start}
	if status := b.Fetch("POST", "/v1/registrations/"+id+"/items", item, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	for range 2 {
		b.Reload()
		b.See(`main[data-step="cart"] [data-plan="1101"]`)
		expectStatement(t, b, c, "/v1/clubs/"+c.Club()+"/offers/1101/schedule?startDate="+start)
	}
	b.Shot("cart with debits")
	if b.Count(`[data-plan-then]`) != 1 || b.Overflow() > 0 {
		t.Errorf("the cart is %d pixels too wide, and shows %d schedules", b.Overflow(), b.Count(`[data-plan-then]`))
	}
	if r := recordsOf(c); len(r.Ledger.Items) != 0 {
		t.Errorf("looking at it moved money: %+v", r.Ledger.Items)
	}
}
