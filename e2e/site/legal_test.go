package site_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestTermsBeforePayingAndSigning checks that the club's terms are in the footer, and above the button
// that orders, and that signing the mandate asks for no other ones. The footer and the order lead to the same documents; where personal
// details are entered, the privacy notice is linked. A document without an address has no link.
func TestTermsBeforePayingAndSigning(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	visitor.WaitVisible(`.foot [data-legal="terms"]`)
	if visitor.Count(`[data-legal="legal"]`) != 0 {
		t.Error("pages are linked that the club has not named")
	}
	visitor.Await("the account's page names the creditor",
		`document.querySelector("[data-consent-to-debit]").textContent.includes("you allow Lumen Fitness to collect")`)
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`form[data-form="signature"]`)
	if says := visitor.TextOf(`[data-consent-to-debit]`); !strings.Contains(says, "8 weeks") || !strings.Contains(says, "Lumen Fitness") ||
		!strings.Contains(says, "FR49ZZZ000001") {
		t.Errorf("the page of the code says %q", says)
	}
	if visitor.Count(`[data-accept="sign"]`) != 0 {
		t.Error("the mandate asks for terms that are not those of the order")
	}
	visitor.enterCode(visitor.code())
	visitor.WaitVisible(`[data-accept="pay"] [data-document="terms"]`)
	for _, document := range []string{"terms", "privacy"} {
		ordered := visitor.Attribute(`main [data-document="`+document+`"]`, "href")
		footer := visitor.Attribute(`.foot [data-legal="`+document+`"]`, "href")
		if ordered != footer || !strings.Contains(ordered, "/v1/clubs/11/documents/") {
			t.Errorf("the order's %s are at %s, the footer's at %s", document, ordered, footer)
		}
	}
}

// TestPrivacyNoticeWhereDetailsAreEntered checks that the club's own notice is linked on each form for personal details, in the language of
// the page, and opens apart.
func TestPrivacyNoticeWhereDetailsAreEntered(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	var listed api.DocumentList
	for _, language := range []string{"en", "fr"} {
		visitor.c.Do("GET", "/v1/clubs/11/documents?language="+language, nil).Into(http.StatusOK, &listed)
		want := listed.Items[slices.IndexFunc(listed.Items, func(one api.Document) bool { return one.Document == "privacy" })].Url
		for _, place := range []string{
			"/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow(), "/?statement=withdrawal&club=11", "/?statement=cancellation&club=11",
		} {
			visitor.goTo(place + "&lang=" + language)
			const link = `main form [data-legal="privacy"]`
			visitor.WaitVisible(link)
			if at := visitor.Attribute(link, "href"); pathOf(at) != pathOf(want) || visitor.Attribute(link, "target") != "_blank" {
				t.Errorf("%s in %s: the privacy notice is at %s instead of %s, or does not open apart", place, language, at, want)
			}
		}
	}
}

// pathOf is what an address says apart from the host, which is that of the page.
func pathOf(address string) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return path
}

// TestMemberFindsPrivacyNotice checks that the club of the login decides which notice is linked, where no address names one.
func TestMemberFindsPrivacyNotice(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.logIn("/?me", "customer")
	visitor.WaitVisible(`.foot [data-legal="privacy"][href*="/v1/clubs/"]`)
	visitor.goTo("/?statement=withdrawal")
	visitor.WaitVisible(`main form [data-legal="privacy"][href*="/v1/clubs/"]`)
	visitor.WaitVisible(`.foot [data-legal="privacy"][href*="/v1/clubs/"]`)
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
