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
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.fillDetails()
	visitor.AllowConsole("503")
	crowd := visitor.HoldRequests("*/v1/registrations")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	for range 2 {
		crowd.Refuse(api.Overloaded, http.StatusServiceUnavailable, 1)
		visitor.Await(
			"the visitor reads that there is a crowd",
			`document.querySelector("[data-status]").textContent.includes("Many people are signing up")`,
		)
	}
	if typed := visitor.Value(`[data-field="familyName"]`); typed != frontdesktest.Person().FamilyName {
		t.Errorf("the form has %q", typed)
	}
	crowd.Await() // the third attempt
	crowd.Release()
	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
	if said := visitor.TextOf(`[data-status]`); said != "" {
		t.Errorf("the page still says %q", said)
	}
	due, registration := visitor.due(), visitor.Registration()
	visitor.payByCard()
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
	if made := visitor.calls("createContact"); made != 1 {
		t.Errorf("%d contacts were made", made)
	}
}
