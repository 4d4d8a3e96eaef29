package site_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestTermsBeforePayingAndSigning checks that the club's terms are in the footer, and above the buttons
// that sign and pay. A document without a configured address has no link.
func TestTermsBeforePayingAndSigning(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goToMandate()
	g.WaitVisible(`.foot [data-legal="terms"]`)
	if g.Count(`[data-legal="privacy"], [data-legal="legal"]`) != 0 {
		t.Error("pages are linked that the club has not named")
	}
	g.WaitVisible(`[data-accept="sign"] [data-legal="terms"]`)
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`form[data-form="signature"]`)
	if says := g.TextOf(`[data-consent-to-debit]`); !strings.Contains(says, "eight weeks") {
		t.Errorf("the page of the code says %q", says)
	}
	g.WaitVisible(`[data-accept="sign"]`)
	g.enterCode(g.code())
	g.WaitVisible(`[data-accept="pay"] [data-legal="terms"]`)
}

// TestUnknownClubInBrowser checks that the page shows the list of clubs, because trying again would not help.
func TestUnknownClubInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 404")
	g.goTo("/?club=99")
	g.WaitVisible(`[data-error="club_not_found"] [data-to-clubs]`)
	g.WaitVisible(`main[data-step="club"] [data-club="11"]`)
	if g.Count(`[data-retry]`) != 0 {
		t.Error("it offers to try again")
	}
	g.Click(`[data-to-clubs]`)
	g.WaitVisible(`[data-club="11"]`)
}

// TestInvitationReopened checks that following the link again leads to the registration that it
// started.
func TestInvitationReopened(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 422")
	link := g.invited("1001")
	g.Open(link)
	g.WaitVisible(`main[data-state="open"]`)
	g.Open(link)
	g.WaitVisible(`[data-error="invitation_invalid"]`)
	g.WaitVisible(`a.button[href*="registration="]`)
	if says := g.TextOf(`[data-error]`); !strings.Contains(says, "continue it below") || strings.Contains(says, "no longer valid") {
		t.Errorf("it says %q", says)
	}
}
