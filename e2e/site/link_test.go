package site_test

import (
	"strings"
	"testing"
)

// TestLinkToAnOffer: a link that names an offer without its start asks for that
// first; then the cart shows the details as they were given, until a reload.
func TestLinkToAnOffer(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=2020-01-01")
	g.WaitVisible(`dialog [data-field="startDate"]`)
	g.Click(`dialog [data-continue]`)
	g.giveDetails()
	g.WaitVisible(`[data-details="known"]`)
	if text := g.Text(); !strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number is not shown:\n%s", text)
	}
	g.Reload()
	g.WaitVisible(`[data-details="unknown"]`)
	if text := g.Text(); strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number outlives the page:\n%s", text)
	}
	g.expectFits()
	g.expectRecords(g.Registration(), expectedRecords{})
}

// TestInvalidLinks: for an invalid link the page says so, and how to continue.
func TestInvalidLinks(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 4")
	g.goTo("/?club=11&invitation=rubbish")
	g.WaitVisible(`[data-error]:not([hidden])`)
	if text := g.Text(); !strings.Contains(text, "This link is not valid") || strings.Contains(text, "is not valid\n") {
		t.Errorf("of the invitation it says:\n%s", text)
	}
	g.goTo("/?me#identityToken=rubbish")
	g.WaitVisible(`[data-logged-out="refused"]`)
}
