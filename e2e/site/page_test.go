package site_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestPagesOfTheirOwn: the terms, and the page at an unknown address, show their words in both languages.
func TestPagesOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	for address, words := range map[string][]string{
		"/terms.html":   {"Sample terms", "Conditions d’exemple", "Back to the sign-up"},
		"/no-such-page": {"Page not found", "Page introuvable", "Go to the sign-up"},
	} {
		if address != "/terms.html" {
			g.ExpectConsole("status of 404")
		}
		g.goTo(address)
		for _, selector := range []string{"h1", "h2", "section:first-child a"} {
			g.WaitVisible(`main ` + selector)
		}
		for _, word := range words {
			if !strings.Contains(g.Text(), word) { // what is hidden is not in it
				t.Errorf("%s shows %q, without %q", address, g.Text(), word)
			}
		}
		g.Screenshot(strings.Trim(strings.TrimSuffix(address, ".html"), "/"))
		g.Await("the text keeps off the edges", `document.querySelector("main h1").getBoundingClientRect().left >= 12`)
	}
	g.Click(`section:first-child a`)
	g.WaitVisible(`[data-club="11"]`)
}

// TestScreensStartAtTheirHeading: a new screen begins at its top, with the focus on its heading or on the field
// that is filled in next.
func TestScreensStartAtTheirHeading(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	begins := func(screen, focused string) {
		t.Helper()
		g.Await(screen+" begins at its top", `scrollY === 0`)
		g.Await("the focus of "+screen, `document.activeElement.matches(`+"`"+focused+"`"+`)`)
	}
	g.goToMandate()
	begins("the direct debit", `[data-heading]`)
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`form[data-form="signature"]`)
	begins("the code", `[data-field="code"]`)
	g.enterCode(g.code())
	g.WaitVisible(`[data-pay]`)
	begins("the review", `[data-heading]`)
	g.payByCard()
	g.WaitVisible(`[data-member]`)
	begins("the welcome", `[data-heading], body`)
}

// TestCorrectOneField: after a reload the page knows none of the details. The visitor types only what changes, and
// is asked about a slip in the domain of the e-mail address.
func TestCorrectOneField(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	due := g.due()
	g.Reload()
	g.Click(`[data-correct]`)
	g.WaitVisible(`[data-notice]`)
	g.Screenshot("correct-one")
	g.Fill(`[data-field="email"]`, "ada@gmial.com")
	g.Click(`[data-field="mobile"]`)
	g.Click(`[data-meant="ada@gmail.com"]`)
	if typed := g.Value(`[data-field="email"]`); typed != "ada@gmail.com" {
		t.Errorf("the address is %q after the correction", typed)
	}
	g.Fill(`[data-field="mobile"]`, "06 87")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`[data-field-error="mobile"]:not(:empty)`)
	g.Fill(`[data-field="mobile"]`, "06 87 65 43 21")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`main[data-step="cart"] [data-due]`)
	registration := g.Registration()
	var snapshot struct {
		State struct {
			Contacts struct {
				Rows []struct{ GivenName, Email, Mobile string }
			}
		}
	}
	g.c.Control("GET", "state", nil).Into(http.StatusOK, &snapshot)
	contacts, person := snapshot.State.Contacts.Rows, frontdesktest.Person()
	if last := contacts[len(contacts)-1]; last.GivenName != person.GivenName || last.Email != "ada@gmail.com" || last.Mobile != "+33687654321" {
		t.Errorf("the club has %+v", last)
	}
	g.Click(`[data-correct]`)
	g.Click(`form[data-form="person"] [data-continue]`) // nothing changes
	g.WaitVisible(`main[data-step="cart"] [data-pay]`)
	if g.c.Control("GET", "state", nil).Into(http.StatusOK, &snapshot); len(snapshot.State.Contacts.Rows) != len(contacts) {
		t.Error("a correction of nothing made a contact")
	}
	g.payByCard()
	g.expectMember()
	g.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}
