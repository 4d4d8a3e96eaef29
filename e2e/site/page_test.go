package site_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestPagesOfTheirOwn checks that the terms and the page at an unknown address show their texts in both
// languages.
func TestPagesOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	for address, words := range map[string][]string{
		"/terms.html":   {"Sample terms", "Conditions d’exemple", "Close this tab"},
		"/no-such-page": {"Page not found", "Page introuvable", "Go to the sign-up"},
	} {
		if address != "/terms.html" {
			g.ExpectConsole("status of 404")
		}
		g.goTo(address)
		for _, selector := range []string{"h1", "h2", "section:first-child p:last-child"} {
			g.WaitVisible(`main ` + selector)
		}
		for _, word := range words {
			if !strings.Contains(g.Text(), word) { // hidden text is not in it
				t.Errorf("%s shows %q, without %q", address, g.Text(), word)
			}
		}
		g.Screenshot(strings.Trim(strings.TrimSuffix(address, ".html"), "/"))
		g.Await("the text keeps off the edges", `document.querySelector("main h1").getBoundingClientRect().left >= 12`)
	}
	g.Click(`.brand`)
	g.WaitVisible(`[data-club="11"]`)
}

// TestSelectedTextInTheDark checks that selected text, such as a wrong code, has the site's own colours, because a
// browser's own can hide it in the dark.
func TestSelectedTextInTheDark(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.SetColorScheme(true)
	g.goTo("/?club=11")
	g.WaitVisible(`.offer .button`)
	colours := func(element string) string {
		return g.Eval(`(({backgroundColor, color}) => color + " on " + backgroundColor)(getComputedStyle(` + element + `))`)
	}
	selected, button := colours(`document.body, "::selection"`), colours(`document.querySelector(".offer .button:not(.button-soft)")`)
	if selected != button {
		t.Errorf("selected text is %s, unlike a button, %s", selected, button)
	}
}

// TestScreensStartAtTheirHeading checks that a new screen starts at its top, with the focus on its
// heading or on the next field to fill in.
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

// TestScreensStartAtTheirTopAfterASkip checks that a new screen starts at its top even if the visitor has just used
// the link to the content, which is a step in the browser's history.
func TestScreensStartAtTheirTopAfterASkip(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, device{320, 640}) // where every screen has to be scrolled
	g.goToMandate()
	g.WaitVisible(`[data-debits]`)
	g.Eval(`(document.querySelector(".skip").click(), "")`)
	g.Await("the skip is over", `location.hash === "#main"`)
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`form[data-form="signature"]`)
	g.Await("the code begins at its top", `scrollY === 0 && document.documentElement.scrollHeight > innerHeight`)
}

// TestCorrectOneField checks that after a reload, when the page knows none of the details, the visitor
// types only what changes. The page asks about a typo in the domain of the e-mail address.
func TestCorrectOneField(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	due := g.due()
	g.Reload()
	g.Click(`[data-correct]`)
	g.WaitVisible(`[data-notice]`)
	for field, masked := range map[string]string{
		"familyName": "M•••",
		"email":      "a•••@example.com",
		"mobile":     "••• 78",
		"postalCode": "7•••",
	} {
		if hint := g.TextOf(`#` + field + `-hint`); !strings.Contains(hint, masked) {
			t.Errorf("%s has the hint %q", field, hint)
		}
	}
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
	if typed := g.Value(`[data-field="mobile"]`); typed != "+33687654321" {
		t.Errorf("the number is shown as %q before it is sent", typed)
	}
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
	if last := contacts[len(contacts)-1]; last.GivenName != person.GivenName || last.Email != "ada@gmail.com" ||
		last.Mobile != "+33687654321" {
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

// TestNextOnAPhone checks that the key of a phone's keyboard that says "next" goes to the next empty field, and does
// not send the form.
func TestNextOnAPhone(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.Fill(`[data-field="familyName"]`, "Martin")
	g.Fill(`[data-field="givenName"]`, "Ada") // and has the focus
	g.PressEnter()
	g.WaitVisible(`[data-field="birthDate"]:focus`)
	if wrong := g.Count(`[aria-invalid="true"]`); wrong != 0 {
		t.Errorf("%d fields are called wrong before the visitor has come to them", wrong)
	}
}

// TestNumberOfAnotherCountry checks that a number in national form is read as one of the country that is chosen
// after it, and that one in international form stays as it is.
func TestNumberOfAnotherCountry(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	for _, step := range []struct{ field, value, number string }{
		{"mobile", "621 123 456", "+33621123456"},
		{"country", "LU", "+352621123456"},
		{"country", "CH", "+41621123456"},
		{"mobile", "+33612345678", "+33612345678"},
		{"country", "LU", "+33612345678"},
	} {
		g.Fill(`[data-field="`+step.field+`"]`, step.value)
		if number := g.Value(`[data-field="mobile"]`); number != step.number {
			t.Errorf("after %s in %s, the number is %q", step.value, step.field, number)
		}
	}
}

// TestLandline checks that a French landline, which receives no SMS, is refused as a mobile number: in the details, and
// in a correction that the page knows none of the details for.
func TestLandline(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	refused := func(number string) {
		t.Helper()
		g.Fill(`[data-field="mobile"]`, number)
		g.Click(`form[data-form="person"] [data-continue]`)
		g.WaitVisible(`[data-field="mobile"][aria-invalid="true"]`)
	}
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.fillDetails()
	refused("01 42 68 53 00")
	if g.calls("createContact") != 0 {
		t.Error("the club got a contact with a landline")
	}
	g.giveDetails()
	g.Reload()
	g.Click(`[data-correct]`)
	g.WaitVisible(`[data-notice]`)
	refused("+33 9 70 00 00 00")
}

// TestDetailsOfTwoSignUps checks that the details of one sign-up never fill the form of another one that this page
// has begun as well.
func TestDetailsOfTwoSignUps(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.fillCart()
	first := g.Registration()
	g.Click(`.brand`)
	g.chooseClub()
	g.chooseOffer("subscription", cardOffer)
	g.WaitVisible(`form[data-form="person"]`)
	if typed := g.Value(`[data-field="email"]`); typed != "" {
		t.Errorf("the form of a new sign-up is filled with %q", typed)
	}
	g.fillDetails()
	for field, text := range map[string]string{"givenName": "Bea", "email": "bea@example.com", "mobile": "+33687654321"} {
		g.Fill(`[data-field="`+field+`"]`, text)
	}
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`[data-pay]`)
	second := g.Registration()

	g.Click(`.brand`)
	g.Click(`[data-resume="` + first + `"] a`)
	g.WaitVisible(`[data-details="masked"]`)
	g.Click(`[data-correct]`)
	g.WaitVisible(`[data-notice]`)
	for _, field := range []string{"givenName", "familyName", "birthDate", "email", "mobile", "street", "postalCode", "city", "country"} {
		if typed := g.Value(`[data-field="` + field + `"]`); typed != "" {
			t.Errorf("%s of the first sign-up is filled with %q", field, typed)
		}
	}

	g.Click(`.brand`)
	g.Click(`[data-resume="` + second + `"] a`)
	g.WaitVisible(`[data-details="entered"]`)
	g.Click(`[data-correct]`)
	g.WaitVisible(`form[data-form="person"]`)
	if typed := g.Value(`[data-field="givenName"]`); typed != "Bea" {
		t.Errorf("the form of the second sign-up has the name %q", typed)
	}
}

// TestAgeIsJudgedAtTheBirthDate checks that the page says at the birth date, and at the top of the
// cart, that an offer is not for the buyer's age.
func TestAgeIsJudgedAtTheBirthDate(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=501&startDate=" + tomorrow()) // from 60 years on
	g.fillDetails()
	stopped := func(step, place string) {
		t.Helper()
		g.Click(`form[data-form="person"] [data-continue]`)
		g.Await(
			"the "+step+" is stopped at the birth date",
			`(new URLSearchParams(location.search).get("step") ?? "") === "`+place+`" && document.activeElement.name === "birthDate"`,
		)
		if said := g.TextOf(`[data-field-error="birthDate"]`); !strings.Contains(said, "not for your age") {
			t.Errorf("%q is said at the birth date after the %s", said, step)
		}
		g.Screenshot("age-" + step)
	}
	stopped("form", "")
	if g.calls("createContact") != 0 {
		t.Error("the club got a contact whose age does not suit the offer")
	}
	g.Fill(`[data-field="birthDate"]`, "1950-01-01")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`main[data-step="cart"] [data-pay]`)
	g.Click(`[data-correct]`)
	g.Fill(`[data-field="birthDate"]`, "1999-01-01")
	stopped("correction", "person")
	g.WaitVisible(`[data-instead]`)
	g.Click(`.back`)
	g.Await(
		"the cart begins with what is wrong",
		`document.querySelector('[data-problem="age_restricted"]').getBoundingClientRect().bottom < innerHeight`,
	)
	g.Click(`[data-cart-problems] a`)
	g.Fill(`[data-field="birthDate"]`, "1950-01-01")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`main[data-step="cart"] [data-pay]`)
}

// TestBirthYearIsAskedAbout checks that the page asks about the birth year of a child who buys an offer for any age, and
// does not refuse it.
func TestBirthYearIsAskedAbout(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	g.WaitVisible(`[data-summary]`) // the offer is read
	g.fillDetails()
	g.Fill(`[data-field="birthDate"]`, frontdesktest.Day(-400))
	g.Click(`[data-field="email"]`)
	g.Await("the year is asked about", `document.querySelector('[data-field-error="birthDate"]').textContent.includes("Check the year")`)
	g.Screenshot("birth-year")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`main[data-step="cart"] [data-due]`)
}

// TestCartSettledAtTheClub checks that the page of a cart that staff have settled meanwhile says only that, and how to
// reach the club, and offers nothing that is not possible any more.
func TestCartSettledAtTheClub(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.fillCart()
	state := string(g.c.Control("GET", "state", nil).Body)
	open, settled := `"state":"building"`, `"state":"settled"`
	if n := strings.Count(state, open); n != 1 {
		t.Fatalf("%d sales are open", n)
	}
	g.c.Control("PUT", "state", strings.Replace(state, open, settled, 1)).Into(http.StatusNoContent, nil)
	g.ExpectConsole("status of 409")
	g.Click(`[data-pay]`)
	g.WaitVisible(`main[data-busy=""] [data-problem="settled"]`)
	g.WaitVisible(`[data-contact="11"]`)
	g.says("Already settled at the club")
	g.Screenshot("settled")
	const outdated = `[data-check], [data-correct], [data-pay], [data-due], [data-abandon], [data-cart-problems], [data-error]:not([hidden])`
	if text := g.Text(); g.Count(outdated) != 0 || strings.Contains(text, "Correct your details") || strings.Contains(text, "charged") {
		t.Errorf("the page says:\n%s", text)
	}
	g.Eval(
		`fetch("/v1/registrations/` + g.Registration() + `", {method: "DELETE"}).then((response) => response.text())`,
	) // as another client may
	g.WaitVisible(`main[data-state="abandoned"] [data-charged]`)
	if says := g.TextOf(`[data-charged]`); !strings.Contains(says, "already been settled") {
		t.Errorf("a settled sign-up that was cancelled says %q", says)
	}
}

// TestCartExplainsItsAmounts checks that a line that the club adds says why it is there, and that
// paying later says how much and when.
func TestCartExplainsItsAmounts(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	says := func(words ...string) {
		t.Helper()
		for _, word := range words {
			if text := g.Text(); !strings.Contains(text, word) {
				t.Errorf("the cart does not say %q, but:\n%s", word, text)
			}
		}
	}
	g.goTo("/?club=11&offer=1301&startDate=2031-03-10&debitDay=5")
	g.giveDetails()
	g.Click(`.back`)
	g.WaitVisible(`[data-prorata]`)
	says("Part of March (", "you pay only for these days")
	g.WaitVisible(`[data-kind="due_now"]`)
	g.Click(`[data-add]`)
	g.chooseOffer("badge", "2501")
	g.WaitVisible(`[data-item="2501"]`)
	g.WaitVisible(`[data-movement]`)
	if g.Count(`[data-kind="due_now"]`) != 0 {
		t.Errorf("one item's part of today's payment is shown as what the bank will show:\n%s", g.Text())
	}
	g.goTo("/?club=11&offer=1401&startDate=2031-03-10&debitDay=5")
	g.giveDetails()
	g.Click(`.back`)
	g.WaitVisible(`[data-prorata]`)
	says("Deducted for March (", "you do not pay for these days")
	g.goTo("/?club=11&offer=301&startDate=" + tomorrow())
	g.giveDetails()
	g.WaitVisible(`[data-added]`)
	says("Required with your plan")
	g.Click(`[data-later] summary`)
	g.Fill(`[data-field="dueDate"]`, tomorrow())
	says("Join now and pay €704.00 at the club by ")
	lead := g.TextOf(`[data-form="later"] .fine`)
	g.Click(`[data-language="fr"]`)
	g.Click(`[data-language="en"]`)
	g.WaitVisible(`[data-language="fr"]`)
	if again := g.TextOf(`[data-form="later"] .fine`); again != lead {
		t.Errorf("shown again, the cart says %q", again)
	}
}
