package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestResumeInBrowser checks that a visitor who continues on another device sees what has changed, and
// that the link works once.
func TestResumeInBrowser(t *testing.T) {
	t.Parallel()
	desk := newSiteVisitor(t, desktop)
	desk.fillCart()
	due, registration := desk.due(), desk.Registration()
	desk.Click(`[data-more] summary`)
	desk.Click(`[data-elsewhere]`)
	desk.WaitVisible(`[data-resume-link]`)
	link := desk.Value(`[data-resume-link]`)
	if !strings.HasPrefix(link, desk.home+"/?resume=") {
		t.Fatalf("the link is %q", link)
	}
	desk.Click(`[data-copy]`)
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
