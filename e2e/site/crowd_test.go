package site_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestTurnedAwayVisitorContinues checks that a visitor refused twice sees why, and becomes a
// member without typing or clicking again.
func TestTurnedAwayVisitorContinues(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.fillDetails()
	g.AllowConsole("503")
	crowd := g.HoldRequests("*/v1/registrations")
	g.Click(`form[data-form="person"] [data-continue]`)
	for range 2 {
		crowd.Refuse(api.Overloaded, http.StatusServiceUnavailable, 1)
		g.Await(
			"the visitor reads that there is a crowd",
			`document.querySelector("[data-status]").textContent.includes("Many people are signing up")`,
		)
	}
	if typed := g.Value(`[data-field="familyName"]`); typed != frontdesktest.Person().FamilyName {
		t.Errorf("the form has %q", typed)
	}
	crowd.Await() // the third attempt
	crowd.Release()
	g.WaitVisible(`main[data-step="cart"] [data-pay]`)
	if said := g.TextOf(`[data-status]`); said != "" {
		t.Errorf("the page still says %q", said)
	}
	due, registration := g.due(), g.Registration()
	g.payByCard()
	g.expectMember()
	g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	if made := g.calls("createContact"); made != 1 {
		t.Errorf("%d contacts were made", made)
	}
}
