package e2e_test

import (
	"strings"
	"testing"
)

// TestLinkToAnOffer: a link that names an offer without its start asks for that
// first; then the cart shows the details as they were given, until a reload.
func TestLinkToAnOffer(t *testing.T) {
	t.Parallel()
	g := newGuest(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=2020-01-01")
	g.See(`dialog [data-field="startDate"]`)
	g.Click(`dialog [data-continue]`)
	g.giveDetails()
	g.See(`[data-details="known"]`)
	if text := g.Text(); !strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number is not shown:\n%s", text)
	}
	g.Reload()
	g.See(`[data-details="unknown"]`)
	if text := g.Text(); strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number outlives the page:\n%s", text)
	}
	g.fits()
	g.leaves(g.Registration(), trace{})
}

// TestRubbishLinks: of a link that is no good the page says so, and how to go on.
func TestRubbishLinks(t *testing.T) {
	t.Parallel()
	g := newGuest(t, phone)
	g.Expect("status of 4")
	g.goTo("/?club=11&invitation=rubbish")
	g.See(`[data-error]:not([hidden])`)
	if text := g.Text(); !strings.Contains(text, "This link is not valid") || strings.Contains(text, "is not valid\n") {
		t.Errorf("of the invitation it says:\n%s", text)
	}
	g.goTo("/?me#identityToken=rubbish")
	g.See(`[data-logged-out="refused"]`)
}
