package site_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// TestLinkToAnOffer checks that a link to an offer without a start shows that offer, without reading
// the others. The cart then shows the details as given, until a reload.
func TestLinkToAnOffer(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=2020-01-01")
	g.WaitVisible(`[data-linked] [data-offer="` + cardOffer + `"]`)
	for _, words := range []string{"Your offer", "Year Pass", "€459.00", "Twelve months of training"} {
		if text := g.Text(); !strings.Contains(text, words) {
			t.Errorf("%q is not there, but:\n%s", words, text)
		}
	}
	g.Screenshot("linked")
	g.Click(`[data-linked] [data-choose]`)
	g.Fill(`dialog [data-field="startDate"]`, tomorrow())
	g.Click(`dialog [data-continue]`)
	g.WaitVisible(`form[data-form="person"]`)
	if frontdesktest.Eval[bool](g.Browser, `performance.getEntriesByType("resource").some(({ name }) => name.includes("/products"))`) {
		t.Error("the whole catalogue was read for one offer")
	}
	g.giveDetails()
	g.WaitVisible(`[data-details="entered"]`)
	if text := g.Text(); !strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number is not shown:\n%s", text)
	}
	g.Reload()
	g.WaitVisible(`[data-details="masked"]`)
	if text := g.Text(); strings.Contains(text, "+33612345678") || !strings.Contains(text, "••• 78") {
		t.Errorf("after a reload, the page shows:\n%s", text)
	}
	g.expectFits()
	g.expectRecords(g.Registration(), expectedRecords{})
}

// TestStepsOfALinkedOffer: the progress counts the direct debit as soon as the offer has been read.
func TestStepsOfALinkedOffer(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=902&startDate=" + time.Now().AddDate(0, 0, 7).Format(time.DateOnly) + "&debitDay=20")
	g.WaitVisible(`form[data-form="person"]`)
	g.Await("the steps include the direct debit", `document.querySelector(".progress-position").textContent.includes("Step 3 of 6")`)
}

// TestLinkWithImpossibleDays: the page asks for the days before the visitor types anything.
func TestLinkWithImpossibleDays(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.AllowConsole("status of 422")
	for _, days := range []string{
		"&startDate=" + time.Now().AddDate(0, 0, 7).Format(time.DateOnly) + "&debitDay=99",
		"&startDate=2999-01-01&debitDay=5",
	} {
		g.goTo("/?club=11&offer=902" + days)
		g.WaitVisible(`[data-linked] [data-offer="902"] [data-choose]`)
		g.Await("the address has no days", `!location.search.includes("Da")`)
	}
	g.Click(`[data-linked] [data-choose]`)
	g.Click(`dialog [data-continue]`)
	g.WaitVisible(`form[data-form="person"]`)
}

// TestInvalidLinks checks that the page says that a link is invalid, and how to continue.
func TestInvalidLinks(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 4")
	g.goTo("/?club=11&invitation=rubbish")
	g.WaitVisible(`[data-error]:not([hidden])`)
	if text := g.Text(); strings.Count(text, "This link is no longer valid") != 1 || strings.Contains(text, "no longer valid.\n") {
		t.Errorf("of the invitation it says:\n%s", text)
	}
	g.goTo("/?me#identityToken=rubbish")
	g.WaitVisible(`[data-logged-out="refused"]`)
}

// TestMidnightPasses: the page was opened before the club's midnight, with that day in its address. It asks for another
// day, says why at the field, and keeps what was typed.
func TestMidnightPasses(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.AllowConsole("status of 422")
	yesterday := frontdesktest.Day(-1)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + yesterday)
	g.WaitVisible(`[data-linked] [data-choose]`)
	g.Eval(
		`import("/store.js").then(({ get, set }) => set({ details: { ...get().details, startDates: { earliest: "` +
			yesterday + `" } } })).then(() => "")`,
	)
	g.fillDetails()
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`dialog [data-field="startDate"][aria-invalid="true"]`)
	if said := g.TextOf(`#start-error`); said != "Choose today or a later day." {
		t.Errorf("at the field it says %q", said)
	}
	g.WaitVisible(`[data-error="invalid_request"]`)
	g.Await("the date has the focus", `document.activeElement.matches('[data-field="startDate"]')`)
	g.Screenshot("refused")
	for what, day := range map[string]string{
		"earliest":  g.Attribute(`dialog [data-field="startDate"]`, "min"),
		"suggested": g.Value(`dialog [data-field="startDate"]`),
	} {
		if day <= yesterday {
			t.Errorf("the %s day is %s", what, day)
		}
	}
	g.Fill(`dialog [data-field="startDate"]`, tomorrow())
	g.Click(`dialog [data-continue]`)
	g.WaitVisible(`form[data-form="person"]`)
	if typed := g.Value(`[data-field="email"]`); typed != frontdesktest.Person().Email {
		t.Errorf("the e-mail address is now %q", typed)
	}
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`[data-pay]`)
	if r := g.Registration(); r == "" {
		t.Error("the address names no registration")
	}
	g.expectRecords(g.Registration(), expectedRecords{})
}
