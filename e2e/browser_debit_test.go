package e2e_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestDebitDayInBrowser chooses the day of the debits with the start, and sees the
// exact dates from then on: before the signature, after a reload, and on another device.
func TestDebitDayInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	b := frontdesktest.NewBrowser(t, 390, 844)
	b.Open(siteOf(c) + "/?club=11")
	b.Click(`[data-offer="901"] [data-choose]`)
	b.See(`dialog [data-debit-days="3"]`)
	b.Fill(`dialog [data-field="startDate"]`, "2031-03-01")
	b.Click(`dialog label:has([data-debit-day="20"])`)
	b.Shot("day")
	b.Click(`dialog [data-continue]`)
	detailsOf(b)
	b.See(`a[data-mandate]`)

	var schedule api.Schedule
	c.Do("GET", "/v1/clubs/11/offers/901/schedule?startDate=2031-03-01&debitDay=20", nil).Into(http.StatusOK, &schedule)
	plan := `[data-plan="901"][data-basis="exact"] [data-movement="` + schedule.FirstStatement[1].Date + `"]`
	for range 2 {
		b.See(`[data-debits-on="20"]`)
		b.See(plan)
		b.Reload()
	}
	b.Shot("cart")
	b.Click(`a[data-mandate]`)
	b.See(`[data-form="mandate"] ` + plan)
	b.Shot("before the signature")
	state := string(c.Control("GET", "state", nil).Body)
	if !strings.Contains(state, `"specificDay":true,"debitDay":20,`) || !strings.Contains(state, `"startDate":"2031-03-20"`) {
		t.Error("the club system was not told the day")
	}

	b.Click(`.back`)
	b.Click(`[data-elsewhere]`)
	b.See(`[data-resume-link]`)
	desk := frontdesktest.NewBrowser(t, 1280, 900)
	desk.Open(b.Value(`[data-resume-link]`))
	desk.See(plan)
}

// TestOthersFollowInBrowser: what happens on one device is seen on the other at
// once, without a reload, and what somebody is typing meanwhile stays.
func TestOthersFollowInBrowser(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	desk, phone := frontdesktest.NewBrowser(t, 1280, 900), frontdesktest.NewBrowser(t, 390, 844)
	desk.Open(siteOf(c) + "/?club=11&offer=" + directDebit + "&startDate=2031-03-01")
	detailsOf(desk)
	desk.Click(`[data-elsewhere]`)
	desk.See(`[data-resume-link]`)
	phone.Open(desk.Value(`[data-resume-link]`))
	phone.Click(`a[data-mandate]`)
	phone.Fill(`[data-field="holder"]`, "Ada Martin")
	phone.Fill(`[data-field="iban"]`, goodIBAN)
	phone.Click(`form[data-form="mandate"] [data-continue]`)
	phone.See(`[data-attempts="5"]`)

	desk.See(`a[data-mandate="awaiting_code"]`)
	desk.Click(`a[data-mandate]`)
	desk.See(`[data-attempts="5"]`)
	phone.Fill(`[data-field="code"]`, "12")
	code := latestCode(c)
	desk.Expect("status of 422")
	desk.Fill(`[data-field="code"]`, slipIn(code))
	desk.Click(`form[data-form="signature"] [data-continue]`)
	phone.See(`[data-attempts="4"]`)
	if typed := phone.Value(`[data-field="code"]`); typed != "12" {
		t.Errorf("what was typed became %q", typed)
	}
	phone.Fill(`[data-field="code"]`, code)
	phone.Click(`form[data-form="signature"] [data-continue]`)
	phone.See(`[data-mandate="signed"]`)
	desk.See(`[data-mandate="signed"]`)
	phone.Click(`[data-pay]`)
	phone.See(`#card`)
	desk.See(`main[data-state="paying"]`)
	if desk.Count(`[data-pay]`) != 0 {
		t.Error("the other device can pay as well")
	}
	phone.Fill(`#card`, "4242424242424242")
	phone.Click(`[data-action="pay"]`)
	phone.See(`[data-member]`)
	desk.See(`[data-member]`)
	r := recordsOf(c)
	if len(r.Ledger.Items) != 1 || !r.Audit.OK {
		t.Errorf("the records are %+v", r)
	}
}

// takesOut lets the club's staff take the last article out of the only sale.
func takesOut(t *testing.T, world *clubsim.World) {
	t.Helper()
	state := world.Snapshot()
	changed := regexp.MustCompile(`("articles":\[\d+),\d+\]`).ReplaceAll(state, []byte("$1]"))
	if bytes.Equal(state, changed) {
		t.Fatal("there is no sale of two articles")
	}
	if err := world.Restore(changed); err != nil {
		t.Fatal(err)
	}
}

// TestChangedCartInBrowser: whoever is about to pay another amount than they were
// shown is told which price has changed and what is gone, and pays only when they
// ask again.
func TestChangedCartInBrowser(t *testing.T) {
	t.Parallel()
	s := newSetting(t)
	_, c := s.gateway(t)
	b := frontdesktest.NewBrowser(t, 1280, 900)
	b.Open(siteOf(c) + "/?club=11&offer=201&startDate=2031-03-01")
	detailsOf(b)
	b.See(`[data-pay]`)
	due, err := strconv.ParseInt(b.Attribute(`[data-due]`, "data-due"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	b.Click(`[data-add]`)
	b.Click(`label:has([data-category="badge"])`)
	b.Click(`[data-offer="2501"] [data-choose]`)
	b.See(`[data-item="2501"]`)
	reprice(t, s.outside.Sim, due, due+700)
	takesOut(t, s.outside.Sim)
	b.Expect("status of 409")
	b.Click(`[data-pay]`)
	b.See(`[data-error="cart_changed"]`)
	b.See(`[data-change="price"]`)
	b.See(`[data-change="removed"]`)
	b.See(`[data-due="` + strconv.FormatInt(due+700, 10) + `"]`)
	b.Shot("changed")
	if len(s.outside.Sim.Ledger()) != 0 {
		t.Error("something was paid before the new amount was agreed to")
	}
	b.Click(`[data-pay]`)
	b.See(`#card`)
	b.Fill(`#card`, "4242424242424242")
	b.Click(`[data-action="pay"]`)
	b.See(`[data-member]`)
	s.expectOnePayment(t, due+700)
}
