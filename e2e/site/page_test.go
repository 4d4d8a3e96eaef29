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
	visitor := newSiteVisitor(t, phone)
	for address, words := range map[string][]string{
		"/terms.html":   {"Sample terms", "Conditions d’exemple", "Close this tab"},
		"/no-such-page": {"Page not found", "Page introuvable", "Go to the sign-up"},
	} {
		if address != "/terms.html" {
			visitor.ExpectConsole("status of 404")
		}
		visitor.goTo(address)
		for _, selector := range []string{"h1", "h2", "section:first-child p:last-child"} {
			visitor.WaitVisible(`main ` + selector)
		}
		for _, word := range words {
			if !strings.Contains(visitor.Text(), word) { // hidden text is not in it
				t.Errorf("%s shows %q, without %q", address, visitor.Text(), word)
			}
		}
		visitor.Screenshot(strings.Trim(strings.TrimSuffix(address, ".html"), "/"))
		visitor.Await("the text keeps off the edges", `document.querySelector("main h1").getBoundingClientRect().left >= 12`)
	}
	visitor.Click(`.brand`)
	visitor.WaitVisible(`[data-club="11"]`)
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
	visitor := newSiteVisitor(t, phone)
	begins := func(screen, focused string) {
		t.Helper()
		visitor.Await(screen+" begins at its top", `scrollY === 0`)
		visitor.Await("the focus of "+screen, `document.activeElement.matches(`+"`"+focused+"`"+`)`)
	}
	visitor.goToMandate()
	begins("the direct debit", `[data-heading]`)
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`form[data-form="signature"]`)
	begins("the code", `[data-field="code"]`)
	visitor.enterCode(visitor.code())
	visitor.WaitVisible(`[data-pay]`)
	begins("the review", `[data-heading]`)
	visitor.payByCard()
	visitor.WaitVisible(`[data-member]`)
	begins("the welcome", `[data-heading], body`)
}

// TestScreensStartAtTheirTopAfterASkip checks that a new screen starts at its top even if the visitor has just used
// the link to the content, which is a step in the browser's history.
func TestScreensStartAtTheirTopAfterASkip(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, device{320, 640}) // where every screen has to be scrolled
	visitor.goToMandate()
	visitor.WaitVisible(`[data-debits]`)
	visitor.Eval(`(document.querySelector(".skip").click(), "")`)
	visitor.Await("the skip is over", `location.hash === "#main"`)
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`form[data-form="signature"]`)
	visitor.Await("the code begins at its top", `scrollY === 0 && document.documentElement.scrollHeight > innerHeight`)
}

// TestCorrectOneField checks that after a reload, when the page knows none of the details, the visitor
// types only what changes. The page asks about a typo in the domain of the e-mail address.
func TestCorrectOneField(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	due := visitor.due()
	visitor.Reload()
	visitor.Click(`[data-correct]`)
	visitor.WaitVisible(`[data-notice]`)
	for field, masked := range map[string]string{
		"familyName": "M•••",
		"email":      "a•••@example.com",
		"mobile":     "••• 78",
		"postalCode": "7•••",
	} {
		if hint := visitor.TextOf(`#` + field + `-hint`); !strings.Contains(hint, masked) {
			t.Errorf("%s has the hint %q", field, hint)
		}
	}
	visitor.Screenshot("correct-one")
	visitor.Fill(`[data-field="email"]`, "ada@gmial.com")
	visitor.Click(`[data-field="mobile"]`)
	visitor.Click(`[data-meant="ada@gmail.com"]`)
	if typed := visitor.Value(`[data-field="email"]`); typed != "ada@gmail.com" {
		t.Errorf("the address is %q after the correction", typed)
	}
	visitor.Fill(`[data-field="mobile"]`, "06 87")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`[data-field-error="mobile"]:not(:empty)`)
	visitor.Fill(`[data-field="mobile"]`, "06 87 65 43 21")
	if typed := visitor.Value(`[data-field="mobile"]`); typed != "+33687654321" {
		t.Errorf("the number is shown as %q before it is sent", typed)
	}
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`main[data-step="cart"] [data-due]`)
	registration := visitor.Registration()
	var snapshot struct {
		State struct {
			Contacts struct {
				Rows []struct{ GivenName, Email, Mobile string }
			}
		}
	}
	visitor.c.Control("GET", "state", nil).Into(http.StatusOK, &snapshot)
	contacts, person := snapshot.State.Contacts.Rows, frontdesktest.Person()
	if last := contacts[len(contacts)-1]; last.GivenName != person.GivenName || last.Email != "ada@gmail.com" ||
		last.Mobile != "+33687654321" {
		t.Errorf("the club has %+v", last)
	}
	visitor.Click(`[data-correct]`)
	visitor.Click(`form[data-form="person"] [data-continue]`) // nothing changes
	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
	visitor.c.Control("GET", "state", nil).Into(http.StatusOK, &snapshot)
	if len(snapshot.State.Contacts.Rows) != len(contacts) {
		t.Error("a correction of nothing made a contact")
	}
	visitor.payByCard()
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// TestNextOnAPhone checks that the key of a phone's keyboard that says "next" goes to the next empty field, and does
// not send the form.
func TestNextOnAPhone(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.Fill(`[data-field="familyName"]`, "Martin")
	visitor.Fill(`[data-field="givenName"]`, "Ada") // and has the focus
	visitor.PressEnter()
	visitor.WaitVisible(`[data-field="birthDate"]:focus`)
	if wrong := visitor.Count(`[aria-invalid="true"]`); wrong != 0 {
		t.Errorf("%d fields are called wrong before the visitor has come to them", wrong)
	}
}

// TestNumberOfAnotherCountry checks that a number in national form is read as one of the country that is chosen
// after it, and that one in international form stays as it is.
func TestNumberOfAnotherCountry(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	for _, step := range []struct{ field, value, number string }{
		{"mobile", "621 123 456", "+33621123456"},
		{"country", "LU", "+352621123456"},
		{"country", "CH", "+41621123456"},
		{"mobile", "+33612345678", "+33612345678"},
		{"country", "LU", "+33612345678"},
	} {
		visitor.Fill(`[data-field="`+step.field+`"]`, step.value)
		if number := visitor.Value(`[data-field="mobile"]`); number != step.number {
			t.Errorf("after %s in %s, the number is %q", step.value, step.field, number)
		}
	}
}

// TestLandline checks that a French landline, which receives no SMS, is refused as a mobile number: in the details, and
// in a correction that the page knows none of the details for.
func TestLandline(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	refused := func(number string) {
		t.Helper()
		visitor.Fill(`[data-field="mobile"]`, number)
		visitor.Click(`form[data-form="person"] [data-continue]`)
		visitor.WaitVisible(`[data-field="mobile"][aria-invalid="true"]`)
	}
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.fillDetails()
	refused("01 42 68 53 00")
	if visitor.calls("createContact") != 0 {
		t.Error("the club got a contact with a landline")
	}
	visitor.giveDetails()
	visitor.Reload()
	visitor.Click(`[data-correct]`)
	visitor.WaitVisible(`[data-notice]`)
	refused("+33 9 70 00 00 00")
}

// TestDetailsOfTwoSignUps checks that the details of one sign-up never fill the form of another one that this page
// has begun as well.
func TestDetailsOfTwoSignUps(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.fillCart()
	first := visitor.Registration()
	visitor.Click(`.brand`)
	visitor.chooseClub()
	visitor.chooseOffer("subscription", cardOffer)
	visitor.WaitVisible(`form[data-form="person"]`)
	if typed := visitor.Value(`[data-field="email"]`); typed != "" {
		t.Errorf("the form of a new sign-up is filled with %q", typed)
	}
	visitor.fillDetails()
	for field, text := range map[string]string{"givenName": "Bea", "email": "bea@example.com", "mobile": "+33687654321"} {
		visitor.Fill(`[data-field="`+field+`"]`, text)
	}
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`[data-pay]`)
	second := visitor.Registration()

	visitor.Click(`.brand`)
	visitor.Click(`[data-resume="` + first + `"] a`)
	visitor.WaitVisible(`[data-details="masked"]`)
	visitor.Click(`[data-correct]`)
	visitor.WaitVisible(`[data-notice]`)
	for _, field := range []string{"givenName", "familyName", "birthDate", "email", "mobile", "street", "postalCode", "city", "country"} {
		if typed := visitor.Value(`[data-field="` + field + `"]`); typed != "" {
			t.Errorf("%s of the first sign-up is filled with %q", field, typed)
		}
	}

	visitor.Click(`.brand`)
	visitor.Click(`[data-resume="` + second + `"] a`)
	visitor.WaitVisible(`[data-details="entered"]`)
	visitor.Click(`[data-correct]`)
	visitor.WaitVisible(`form[data-form="person"]`)
	if typed := visitor.Value(`[data-field="givenName"]`); typed != "Bea" {
		t.Errorf("the form of the second sign-up has the name %q", typed)
	}
}

// TestAgeIsJudgedAtTheBirthDate checks that the page says at the birth date, and at the top of the
// cart, that an offer is not for the buyer's age.
func TestAgeIsJudgedAtTheBirthDate(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=501&startDate=" + tomorrow()) // from 60 years on
	visitor.fillDetails()
	stopped := func(step, place string) {
		t.Helper()
		visitor.Click(`form[data-form="person"] [data-continue]`)
		visitor.Await(
			"the "+step+" is stopped at the birth date",
			`(new URLSearchParams(location.search).get("step") ?? "") === "`+place+`" && document.activeElement.name === "birthDate"`,
		)
		if said := visitor.TextOf(`[data-field-error="birthDate"]`); !strings.Contains(said, "not for your age") {
			t.Errorf("%q is said at the birth date after the %s", said, step)
		}
		visitor.Screenshot("age-" + step)
	}
	stopped("form", "")
	if visitor.calls("createContact") != 0 {
		t.Error("the club got a contact whose age does not suit the offer")
	}
	visitor.Fill(`[data-field="birthDate"]`, "1950-01-01")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
	visitor.Click(`[data-correct]`)
	visitor.Fill(`[data-field="birthDate"]`, "1999-01-01")
	stopped("correction", "person")
	visitor.WaitVisible(`[data-instead]`)
	visitor.Click(`.back`)
	visitor.Await(
		"the cart begins with what is wrong",
		`document.querySelector('[data-problem="age_restricted"]').getBoundingClientRect().bottom < innerHeight`,
	)
	visitor.Click(`[data-cart-problems] a`)
	visitor.Fill(`[data-field="birthDate"]`, "1950-01-01")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
}

// TestBirthYearIsAskedAbout checks that the page asks about the birth year of a child who buys an offer for any age, and
// does not refuse it.
func TestBirthYearIsAskedAbout(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goTo("/?club=11&offer=" + cardOffer + "&startDate=" + tomorrow())
	visitor.WaitVisible(`[data-summary]`) // the offer is read
	visitor.fillDetails()
	visitor.Fill(`[data-field="birthDate"]`, frontdesktest.Day(-400))
	visitor.Click(`[data-field="email"]`)
	visitor.Await("the year is asked about", `document.querySelector('[data-field-error="birthDate"]').textContent.includes("Check the year")`)
	visitor.Screenshot("birth-year")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`main[data-step="cart"] [data-due]`)
}

// TestCartSettledAtTheClub checks that the page of a cart that staff have settled meanwhile says only that, and how to
// reach the club, and offers nothing that is not possible any more.
func TestCartSettledAtTheClub(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.fillCart()
	state := string(visitor.c.Control("GET", "state", nil).Body)
	open, settled := `"state":"building"`, `"state":"settled"`
	if n := strings.Count(state, open); n != 1 {
		t.Fatalf("%d sales are open", n)
	}
	visitor.c.Control("PUT", "state", strings.Replace(state, open, settled, 1)).Into(http.StatusNoContent, nil)
	visitor.ExpectConsole("status of 409")
	visitor.Click(`[data-pay]`)
	visitor.WaitVisible(`main[data-busy=""] [data-problem="settled"]`)
	visitor.WaitVisible(`[data-contact="11"]`)
	visitor.says("Already settled at the club")
	visitor.Screenshot("settled")
	const outdated = `[data-check], [data-correct], [data-pay], [data-due], [data-abandon], [data-cart-problems], [data-error]:not([hidden])`
	if text := visitor.Text(); visitor.Count(outdated) != 0 || strings.Contains(text, "Correct your details") ||
		strings.Contains(text, "charged") {
		t.Errorf("the page says:\n%s", text)
	}
	visitor.Eval(
		`fetch("/v1/registrations/` + visitor.Registration() + `", {method: "DELETE"}).then((response) => response.text())`,
	) // as another client may
	visitor.WaitVisible(`main[data-state="abandoned"] [data-charged]`)
	if says := visitor.TextOf(`[data-charged]`); !strings.Contains(says, "already been settled") {
		t.Errorf("a settled sign-up that was cancelled says %q", says)
	}
}

// TestCartExplainsItsAmounts checks that a line that the club adds says why it is there, and that
// paying later says how much and when.
func TestCartExplainsItsAmounts(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	says := func(words ...string) {
		t.Helper()
		for _, word := range words {
			if text := visitor.Text(); !strings.Contains(text, word) {
				t.Errorf("the cart does not say %q, but:\n%s", word, text)
			}
		}
	}
	visitor.goTo("/?club=11&offer=1301&startDate=2031-03-10&debitDay=5")
	visitor.giveDetails()
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-prorata]`)
	says("Part of March (", "you pay only for these days")
	visitor.WaitVisible(`[data-kind="due_now"]`)
	visitor.Click(`[data-add]`)
	visitor.chooseOffer("badge", "2501")
	visitor.WaitVisible(`[data-item="2501"]`)
	visitor.WaitVisible(`[data-movement]`)
	if visitor.Count(`[data-kind="due_now"]`) != 0 {
		t.Errorf("one item's part of today's payment is shown as what the bank will show:\n%s", visitor.Text())
	}
	visitor.goTo("/?club=11&offer=1401&startDate=2031-03-10&debitDay=5")
	visitor.giveDetails()
	visitor.Click(`.back`)
	visitor.WaitVisible(`[data-prorata]`)
	says("Deducted for March (", "you do not pay for these days")
	visitor.goTo("/?club=11&offer=301&startDate=" + tomorrow())
	visitor.giveDetails()
	visitor.WaitVisible(`[data-added]`)
	says("Required with your plan")
	visitor.Click(`[data-later] summary`)
	visitor.Fill(`[data-field="dueDate"]`, tomorrow())
	says("Join now and pay €704.00 at the club.", "Due at the club by ")
	lead := visitor.TextOf(`[data-form="later"] .due-total`)
	visitor.Click(`[data-language="fr"]`)
	visitor.Click(`[data-language="en"]`)
	visitor.WaitVisible(`[data-language="fr"]`)
	if again := visitor.TextOf(`[data-form="later"] .due-total`); again != lead {
		t.Errorf("shown again, the cart says %q", again)
	}
}
