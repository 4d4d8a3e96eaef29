package site_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// inBothLanguages runs a test as a visitor with a phone, in French, and as one with a desktop, in English, with the words that each
// is shown.
func inBothLanguages(t *testing.T, french, english string, test func(t *testing.T, visitor *siteVisitor, kind, says string)) {
	t.Helper()
	for kind, of := range map[string]struct {
		device
		language, says string
	}{
		"phone":   {phone, "fr-FR", french},
		"desktop": {desktop, "en-GB", english},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, of.device)
			visitor.SetLanguage(of.language)
			test(t, visitor, kind, of.says)
		})
	}
}

// TestGuardianInBrowser: the fields of a guardian appear with a minor's birth date, and tell what is missing. The guardian is the debtor,
// the code goes to the guardian's phone, and the order names who concludes the contract.
func TestGuardianInBrowser(t *testing.T) {
	t.Parallel()
	inBothLanguages(t, "l’autorité parentale", "parental authority", func(t *testing.T, visitor *siteVisitor, kind, says string) {
		t.Helper()
		visitor.goTo("/?club=12&offer=901&startDate=2031-03-01&debitDay=10")
		visitor.WaitVisible(`[data-summary]`) // the club is read
		visitor.fillDetails()
		if visitor.Count(`[data-guardian]:not([hidden])`) != 0 {
			t.Error("an adult is asked for a guardian")
		}
		visitor.Fill(`[data-field="birthDate"]`, time.Now().AddDate(-16, 0, -1).Format(time.DateOnly))
		visitor.WaitVisible(`[data-field="guardianGivenName"]`)
		visitor.Inspect("guardian-" + kind)
		visitor.Click(`form[data-form="person"] [data-continue]`)
		visitor.Await("the first missing field has the focus", `document.activeElement.name === "guardianGivenName"`)
		if visitor.TextOf(`[data-field-error="guardianGivenName"]`) == "" || visitor.TextOf(`[data-field-error="guardianEmail"]`) != "" {
			t.Errorf("the missing fields are not told:\n%s", visitor.Text())
		}
		for field, text := range map[string]string{"GivenName": "Anne", "FamilyName": "Martin", "Phone": "06 87 65 43 21"} {
			visitor.Fill(`[data-field="guardian`+field+`"]`, text)
		}
		visitor.Click(`form[data-form="person"] [data-continue]`)
		visitor.WaitVisible(`form[data-form="mandate"] [data-by-guardian]`)
		if said := visitor.TextOf(`[data-by-guardian]`); !strings.Contains(said, "Anne Martin") || !strings.Contains(said, says) {
			t.Errorf("before the code it says %q", said)
		}
		if said := visitor.Text(); strings.Contains(said, "that person’s phone") || strings.Contains(said, "son téléphone") {
			t.Errorf("the page speaks of the guardian, and not to them:\n%s", said)
		}
		if visitor.Count(`[data-field="holder"]`) != 0 {
			t.Error("another account holder can be entered")
		}
		visitor.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
		visitor.Click(`form[data-form="mandate"] [data-continue]`)
		visitor.WaitVisible(`[data-attempts="5"]`)
		if sent := visitor.messages(); len(sent) != 1 || sent[0].To != "+33687654321" {
			t.Errorf("the code went to %+v", sent)
		}
		code := visitor.code()
		visitor.goTo("/?registration=" + visitor.Registration() + "&step=person&field=guardianPhone") // with what the club has, not this page
		visitor.WaitVisible(`[data-field="guardianPhone"]`)
		phone, own := visitor.TextOf(`#guardianPhone-hint`), visitor.TextOf(`#mobile-hint`)
		if !strings.Contains(phone, "••• 21") || strings.Contains(own, "21") {
			t.Errorf("the guardian's number is hinted at with %q, the minor's own with %q", phone, own)
		}
		visitor.Back()
		visitor.WaitVisible(`[data-attempts="5"]`)
		visitor.enterCode(code)
		visitor.WaitVisible(`[data-party="parent"]`)
		visitor.Inspect("guardian-order-" + kind)
		visitor.payByCard()
		visitor.expectMember()
	})
}

// TestKnownMinorInBrowser: a minor who is logged in is asked for the guardian only, and goes on. The order shows who signs and pays, and
// the guardian can be replaced there.
func TestKnownMinorInBrowser(t *testing.T) {
	t.Parallel()
	inBothLanguages(t, "Signe et paie", "Signs and pays", func(t *testing.T, visitor *siteVisitor, kind, says string) {
		t.Helper()
		visitor.ExpectConsole("status of 422") // the start without a guardian, and with the minor as the guardian
		visitor.ExpectConsole("status of 409") // no code goes to another phone
		visitor.logIn("/?me&club=12&offer=901&startDate=2031-03-01&debitDay=10", "ward")
		visitor.Click(`[data-offer="901"] [data-choose]`)
		visitor.Click(`dialog [data-continue]`)
		visitor.WaitVisible(`form[data-form="guardian"]`)
		if visitor.Count(`[data-field="birthDate"]`)+visitor.Count(`[data-field="street"]`) != 0 {
			t.Error("the known minor is asked for what the club knows")
		}
		visitor.Inspect("known-minor-" + kind)
		fill := func(given, family, phone string) {
			for field, text := range map[string]string{"GivenName": given, "FamilyName": family, "Phone": phone} {
				visitor.Fill(`[data-field="guardian`+field+`"]`, text)
			}
			visitor.Click(`form[data-form="guardian"] [data-continue]`)
		}
		fill("Lou", "Garnier", "06 01 02 03 09")
		visitor.Await("the minor's own name is refused", `document.activeElement.name === "guardianGivenName"`)
		fill("Paul", "Garnier", "06 87 65 43 21")
		giveAccount := func() {
			visitor.Fill(`form[data-form="mandate"] [data-field="iban"]`, frontdesktest.GoodIBAN)
			visitor.Click(`form[data-form="mandate"] [data-continue]`)
		}
		giveAccount()
		visitor.WaitVisible(`[data-error="mobile_unreachable"]`)
		visitor.Click(`[data-correct]`)
		visitor.WaitVisible(`form[data-form="guardian"]`)
		fill("Anne", "Garnier", "06 01 02 03 09")
		giveAccount()
		visitor.WaitVisible(`[data-attempts="5"]`)
		visitor.enterCode(visitor.code())
		visitor.WaitVisible(`[data-mandate="signed"]`)
		if said := visitor.TextOf(`[data-guardian-of-order]`); !strings.Contains(said, says) || !strings.Contains(said, "Anne Garnier") ||
			!strings.Contains(said, "••• 09") {
			t.Errorf("the order says %q", said)
		}
		visitor.Inspect("known-minor-order-" + kind)
		for _, sent := range visitor.messages() {
			if sent.To != "+33601020309" {
				t.Errorf("a code went to %s", sent.To)
			}
		}
		visitor.payByCard()
		visitor.expectMember()
	})
}
