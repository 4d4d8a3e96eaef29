package site_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// goToMandate chooses an offer that is debited later, and goes to the mandate.
func (g *siteVisitor) goToMandate() {
	g.t.Helper()
	g.goTo("/?club=11&offer=" + frontdesktest.DirectDebit + "&startDate=2031-03-01")
	g.giveDetails()
}

// TestFirstDebitOfTwoPlans checks that the mandate names every amount of the first debit day before the plans are unfolded.
func TestFirstDebitOfTwoPlans(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	start := "2031-03-01"
	item := api.NewItem{OfferId: "1501", StartDate: &start}
	status := visitor.Fetch("POST", "/v1/registrations/"+visitor.Registration()+"/items", item, frontdesktest.Key(""))
	if status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	visitor.Await("both amounts are named", `document.querySelector("[data-debits] small")?.textContent.includes("€39.90 + €59.90")`)
	visitor.expectRecords(visitor.Registration(), expectedRecords{})
}

// TestMandateInputErrorsInBrowser checks that errors in the account number and the code are corrected
// in place, and that the account is never shown in full again.
func TestMandateInputErrorsInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 422")
	visitor.goToMandate()
	visitor.WaitVisible(`[data-debits] small`) // the last part of the page
	mistyped := strings.Replace(frontdesktest.GoodIBAN, "606", "607", 1)
	visitor.Fill(`[data-field="iban"]`, mistyped)
	visitor.Fill(`[data-field="bic"]`, "")
	visitor.WaitVisible(`[data-field="iban"][aria-invalid="true"]`) // at once
	visitor.giveAccount(mistyped)
	visitor.WaitVisible(`[data-field="iban"][aria-invalid="true"]`)
	visitor.Await("the error is explained",
		`document.querySelector('[data-field-error="iban"]').textContent.includes("This IBAN isn’t valid")`)
	visitor.giveAccount("FR23 3000 6000 0112 3456 7890") // its check digits are right
	visitor.Await("the gateway's error is at the field", `document.querySelector('[data-field-error="iban"]').textContent.includes("27")`)
	visitor.Type(`[data-field="iban"]`, "0")
	visitor.Await("the error goes while the visitor types", `document.querySelector('[data-field-error="iban"]').textContent === ""`)
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`[data-attempts="5"]`)
	visitor.WaitVisible(`[data-resend="later"]`)
	if text := visitor.Text(); !strings.Contains(text, "ending in 78") {
		t.Errorf("it is not said where the code went:\n%s", text)
	}
	visitor.enterCode("abcdef")
	visitor.WaitVisible(`[data-field="code"][aria-invalid="true"]`)
	visitor.WaitVisible(`[data-attempts="5"]`)
	visitor.enterCode(frontdesktest.WrongCode(visitor.code()))
	visitor.WaitVisible(`[data-attempts="4"]`)
	visitor.Reload()
	visitor.WaitVisible(`[data-attempts="4"]`)
	if text := visitor.Text(); strings.Contains(text, "2004 1010") || !strings.Contains(text, "FR**\u00a0****\u00a02606") {
		t.Errorf("the account is shown as:\n%s", text)
	}
	visitor.enterCode(visitor.code())
	visitor.WaitVisible(`[data-mandate="signed"]`)
	visitor.expectRecords(visitor.Registration(), expectedRecords{codes: 1})
}

// TestCorrectMobileInBrowser corrects the mobile number instead of entering the code: the link leads to that field, and
// the visitor then continues with the direct debit.
func TestCorrectMobileInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	visitor.giveAccount(frontdesktest.GoodIBAN)
	visitor.WaitVisible(`[data-attempts="5"]`)
	visitor.Click(`[data-correct]`)
	visitor.WaitVisible(`[data-field="mobile"]:focus`)
	visitor.Await(
		"the field to correct is in view",
		`(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`,
	)
	visitor.Fill(`[data-field="mobile"]`, "06 87 65 43 21")
	visitor.Click(`form[data-form="person"] [data-continue]`)
	visitor.WaitVisible(`form[data-form="mandate"]`)
	if text := visitor.Text(); !strings.Contains(text, "ending in 21") {
		t.Errorf("the code goes to another number:\n%s", text)
	}
	if iban := visitor.Value(`[data-field="iban"]`); iban != strings.ToUpper(frontdesktest.GoodIBAN) {
		t.Errorf("the account to be confirmed is %q", iban)
	}
	kept := visitor.Eval(`JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href])`)
	if strings.Contains(strings.ReplaceAll(kept, " ", ""), "05050001") {
		t.Errorf("the browser keeps %s", kept)
	}
	visitor.Reload()
	visitor.WaitVisible(`form[data-form="mandate"]`)
	if iban := visitor.Value(`[data-field="iban"]`); iban != "" {
		t.Errorf("after a reload, the account is still %q", iban)
	}
}

// TestCorrectNameBeforeTheMandate: the name on the account follows a correction of the buyer's, unless another one was
// typed.
func TestCorrectNameBeforeTheMandate(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.goToMandate()
	correct := func(familyName string) {
		visitor.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
		visitor.Click(`.back`)
		visitor.Click(`[data-details] [data-correct]`)
		visitor.Fill(`[data-field="familyName"]`, familyName)
		visitor.Click(`form[data-form="person"] [data-continue]`)
		visitor.Click(`a[data-mandate]`)
		visitor.WaitVisible(`form[data-form="mandate"]`)
	}
	correct("Corrected")
	if holder := visitor.Value(`[data-field="holder"]`); holder != frontdesktest.Person().GivenName+" Corrected" {
		t.Errorf("the account holder is %q", holder)
	}
	visitor.Fill(`[data-field="holder"]`, "Grace Martin")
	correct("Again")
	if holder := visitor.Value(`[data-field="holder"]`); holder != "Grace Martin" {
		t.Errorf("the account holder is %q", holder)
	}
}

// TestAccountAfterAChangeElsewhere: after a change on another device, this one does not show the account that was typed.
func TestAccountAfterAChangeElsewhere(t *testing.T) {
	t.Parallel()
	desk := newSiteVisitor(t, desktop)
	desk.goToMandate()
	desk.Click(`.back`)
	mobile := desk.continueOn(phone)
	desk.Click(`a[data-mandate]`)
	desk.giveAccount(frontdesktest.GoodIBAN)
	desk.WaitVisible(`[data-attempts="5"]`)
	mobile.WaitVisible(`[data-attempts="5"]`)
	mobile.Click(`[data-cancel]`)
	desk.WaitVisible(`form[data-form="mandate"]`)
	if iban := desk.Value(`[data-field="iban"]`); iban != "" {
		t.Errorf("the account is shown as %q", iban)
	}
}

// TestReplaceAccountInBrowser replaces the account by another one, before a new code may be requested.
func TestReplaceAccountInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	visitor.ExpectConsole("status of 429")
	visitor.goToMandate()
	visitor.Fill(`[data-field="holder"]`, "Grace Hopper")
	visitor.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
	visitor.Click(`form[data-form="mandate"] [data-continue]`)
	visitor.Click(`[data-cancel]`)
	visitor.WaitVisible(`form[data-form="mandate"]`)
	if holder := visitor.Value(`[data-field="holder"]`); holder != "Grace Hopper" {
		t.Errorf("the account holder is now %q", holder)
	}
	if iban := visitor.Value(`[data-field="iban"]`); iban != "" {
		t.Errorf("the account to be replaced is still %q", iban)
	}
	visitor.giveAccount("DE89 3704 0044 0532 0130 00")
	visitor.WaitVisible(`[data-error="sms_limited"]`)
	visitor.says("less than a minute ago")
	visitor.expectRecords(visitor.Registration(), expectedRecords{codes: 1})
}

// TestInvalidAccessTokenInBrowser: an invalid access token attaches no contact.
func TestInvalidAccessTokenInBrowser(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.ExpectConsole("status of 422")
	visitor.fillCart()
	visitor.Click(`[data-prospect]`)
	visitor.Fill(`[data-field="accessToken"]`, "not.mine")
	visitor.Click(`form[data-form="prospect"] [data-continue]`)
	visitor.WaitVisible(`[data-field="accessToken"][aria-invalid="true"]`)
	visitor.Await("the problem is said once", `document.querySelector("[data-error]").hidden`)
	if visitor.calls("migrateContact") != 0 {
		t.Error("a contact was migrated")
	}
}
