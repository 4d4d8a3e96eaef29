package site_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestTermsBeforePayingAndSigning checks that the club's terms are in the footer, and above the button
// that orders, and that signing the mandate asks for no other ones. A document without a configured address has no link.
func TestTermsBeforePayingAndSigning(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	visitor.WaitVisible(`.foot [data-legal="terms"]`)
	if visitor.Count(`[data-legal="privacy"], [data-legal="legal"]`) != 0 {
		t.Error("pages are linked that the club has not named")
	}
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`form[data-form="signature"]`)
	if says := visitor.TextOf(`[data-consent-to-debit]`); !strings.Contains(says, "8 weeks") || !strings.Contains(says, "FR49ZZZ000001") {
		t.Errorf("the page of the code says %q", says)
	}
	if visitor.Count(`[data-accept="sign"]`) != 0 {
		t.Error("the mandate asks for terms that are not those of the order")
	}
	visitor.enterCode(visitor.code())
	visitor.WaitVisible(`[data-accept="pay"] [data-document="terms"]`)
}

// TestUnknownClubInBrowser checks that the page shows the list of clubs, because trying again would not help.
func TestUnknownClubInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 404")
	visitor.goTo("/?club=99")
	visitor.WaitVisible(`[data-error="club_not_found"] [data-to-clubs]`)
	visitor.WaitVisible(`main[data-step="club"] [data-club="11"]`)
	if visitor.Count(`[data-retry]`) != 0 {
		t.Error("it offers to try again")
	}
	visitor.Click(`[data-to-clubs]`)
	visitor.WaitVisible(`[data-club="11"]`)
}

// TestInvitationReopened checks that following the link again leads to the registration that it
// started.
func TestInvitationReopened(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 422")
	link := visitor.invited("1001")
	visitor.Open(link)
	visitor.WaitVisible(`main[data-state="open"]`)
	visitor.Open(link)
	visitor.WaitVisible(`[data-error="invitation_invalid"]`)
	visitor.WaitVisible(`a.button[href*="registration="]`)
	if says := visitor.TextOf(`[data-error]`); !strings.Contains(says, "continue it below") || strings.Contains(says, "no longer valid") {
		t.Errorf("it says %q", says)
	}
}

// TestAccessibilityStatement checks that the footer of every step and of the statements' pages links to the accessibility statement, and
// that this page says in both languages what the club must complete, and is accessible itself.
func TestAccessibilityStatement(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	const link = `.foot [data-legal="accessibility"]`
	for name, place := range map[string]string{
		"clubs": "/", "offers": "/?club=11", "me": "/?me", "withdrawal": "/?statement=withdrawal", "cancellation": "/?statement=cancellation",
	} {
		visitor.goTo(place)
		visitor.WaitVisible(`main[data-step] h1`)
		visitor.WaitVisible(link)
		visitor.Inspect("statement-from-" + name)
	}
	visitor.TabTo(link)
	visitor.goTo("/" + visitor.Attribute(link, "href"))
	expectParts(t, visitor.TextOf(`main section:not([lang])`), "Accessibility statement", "Sample", "EN 301 549", "[Name of the club]")
	expectParts(t, visitor.TextOf(`main section[lang="fr"]`), "Déclaration d’accessibilité", "Exemple", "EN 301 549", "[Nom du club]")
	visitor.Inspect("accessibility")
	visitor.press(`a[href="#fr"]`, enterKey)
	visitor.press(`.brand`, enterKey)
	visitor.WaitVisible(`[data-club="11"]`)
}
