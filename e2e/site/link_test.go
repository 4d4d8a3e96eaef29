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
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=2020-01-01")
	visitor.WaitVisible(`[data-linked] [data-offer="` + cardOffer + `"]`)
	for _, words := range []string{"Your offer", "Year Pass", "€459.00", "Twelve months of training"} {
		if text := visitor.Text(); !strings.Contains(text, words) {
			t.Errorf("%q is not there, but:\n%s", words, text)
		}
	}
	visitor.Screenshot("linked")
	visitor.Click(`[data-linked] [data-choose]`)
	visitor.Fill(`dialog [data-field="startDate"]`, tomorrow())
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`form[data-form="person"]`)
	if frontdesktest.Eval[bool](visitor.Browser, `performance.getEntriesByType("resource").some(({ name }) => name.includes("/products"))`) {
		t.Error("the whole catalogue was read for one offer")
	}
	visitor.giveDetails()
	visitor.WaitVisible(`[data-details="entered"]`)
	if text := visitor.Text(); !strings.Contains(text, "+33612345678") {
		t.Errorf("the mobile number is not shown:\n%s", text)
	}
	visitor.Reload()
	visitor.WaitVisible(`[data-details="masked"]`)
	if text := visitor.Text(); strings.Contains(text, "+33612345678") || !strings.Contains(text, "••• 78") {
		t.Errorf("after a reload, the page shows:\n%s", text)
	}
	visitor.expectFits()
	visitor.expectRecords(visitor.Registration(), expectedRecords{})
}

// TestLinkToAnOfferWithoutDays: an offer that needs no day is shown before anything is entered, with its description and with who sells it.
// Once it is chosen, a reload shows it again only if the visitor goes back. The order names the seller, too.
func TestLinkToAnOfferWithoutDays(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	for offer, about := range map[string]string{"3801": "with a coach", "4001": "750 ml"} {
		visitor.goTo("/?club=11&offer=" + offer)
		visitor.WaitVisible(`[data-linked] [data-offer="` + offer + `"]`)
		visitor.WaitVisible(`[data-trader]`)
		visitor.says(about, "Sold by Lumen Fitness")
		visitor.Click(`[data-linked] [data-choose]`)
		visitor.WaitVisible(`form[data-form="person"]`)
		visitor.Reload()
		visitor.WaitVisible(`form[data-form="person"]`)
	}
	visitor.giveDetails()
	visitor.WaitVisible(`[data-pay]`)
	visitor.WaitVisible(`[data-seller]`)
	if said := visitor.TextOf(`[data-seller]`); said != "Sold by Lumen Fitness, for Lumen Bastille" {
		t.Errorf("above the order it says %q", said)
	}
	if frontdesktest.Eval[bool](visitor.Browser, `!(document.querySelector("[data-seller]").compareDocumentPosition(`+
		`document.querySelector("[data-agreements]")) & Node.DOCUMENT_POSITION_FOLLOWING)`) {
		t.Error("the seller is not above the agreements")
	}
	visitor.Click(`[data-language="fr"]`)
	visitor.Await("the seller in French",
		`document.querySelector("[data-seller]").textContent === "Vendu par Lumen Fitness, pour Lumen Bastille"`)
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
	visitor := newSiteVisitor(t, phone)
	visitor.AllowConsole("status of 422")
	for _, days := range []string{
		"&startDate=" + time.Now().AddDate(0, 0, 7).Format(time.DateOnly) + "&debitDay=99",
		"&startDate=2999-01-01&debitDay=5",
	} {
		visitor.goTo("/?club=11&offer=902" + days)
		visitor.WaitVisible(`[data-linked] [data-offer="902"] [data-choose]`)
		visitor.Await("the address has no days", `!location.search.includes("Da")`)
	}
	visitor.Click(`[data-linked] [data-choose]`)
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`form[data-form="person"]`)
}

// TestInvalidLinks checks that the page says that a link is invalid, and how to continue.
func TestInvalidLinks(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 4")
	visitor.goTo("/?club=11&invitation=rubbish")
	visitor.WaitVisible(`[data-error]:not([hidden])`)
	if text := visitor.Text(); strings.Count(text, "This link is no longer valid") != 1 || strings.Contains(text, "no longer valid.\n") {
		t.Errorf("of the invitation it says:\n%s", text)
	}
	visitor.goTo("/?me#identityToken=rubbish")
	visitor.WaitVisible(`[data-logged-out="refused"]`)
}

// TestMidnightPasses: the page was opened before the club's midnight, with that day in its address. It asks for another
// day, says why at the field, and keeps what was typed.
func TestMidnightPasses(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.AllowConsole("status of 422")
	yesterday := frontdesktest.Day(-1)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + yesterday)
	visitor.WaitVisible(`[data-linked] [data-choose]`)
	visitor.Eval(
		`import("/store.js").then(({ get, set }) => set({ details: { ...get().details, startDates: { earliest: "` +
			yesterday + `" } } })).then(() => "")`,
	)
	visitor.fillDetails()
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`dialog [data-field="startDate"][aria-invalid="true"]`)
	if said := visitor.TextOf(`#start-error`); said != "Choose today or a later day." {
		t.Errorf("at the field it says %q", said)
	}
	visitor.WaitVisible(`[data-error="invalid_request"]`)
	visitor.Await("the date has the focus", `document.activeElement.matches('[data-field="startDate"]')`)
	visitor.Screenshot("refused")
	for what, day := range map[string]string{
		"earliest":  visitor.Attribute(`dialog [data-field="startDate"]`, "min"),
		"suggested": visitor.Value(`dialog [data-field="startDate"]`),
	} {
		if day <= yesterday {
			t.Errorf("the %s day is %s", what, day)
		}
	}
	visitor.Fill(`dialog [data-field="startDate"]`, tomorrow())
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`form[data-form="person"]`)
	if typed := visitor.Value(`[data-field="email"]`); typed != frontdesktest.Person().Email {
		t.Errorf("the e-mail address is now %q", typed)
	}
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`[data-pay]`)
	if r := visitor.Registration(); r == "" {
		t.Error("the address names no registration")
	}
	visitor.expectRecords(visitor.Registration(), expectedRecords{})
}
