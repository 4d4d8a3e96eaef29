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
	g := newSiteVisitor(t, phone)
	g.goToMandate()
	start := "2031-03-01"
	item := api.NewItem{OfferId: "1501", StartDate: &start}
	if status := g.Fetch("POST", "/v1/registrations/"+g.Registration()+"/items", item, frontdesktest.Key("")); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	g.Await("both amounts are named", `document.querySelector("[data-debits] small")?.textContent.includes("€39.90 + €59.90")`)
	g.expectRecords(g.Registration(), expectedRecords{})
}

// TestMandateInputErrorsInBrowser checks that errors in the account number and the code are corrected
// in place, and that the account is never shown in full again.
func TestMandateInputErrorsInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 422")
	g.goToMandate()
	g.WaitVisible(`[data-debits] small`) // the last part of the page
	mistyped := strings.Replace(frontdesktest.GoodIBAN, "606", "607", 1)
	g.Fill(`[data-field="iban"]`, mistyped)
	g.Fill(`[data-field="bic"]`, "")
	g.WaitVisible(`[data-field="iban"][aria-invalid="true"]`) // at once
	g.giveAccount(mistyped)
	g.WaitVisible(`[data-field="iban"][aria-invalid="true"]`)
	g.Await("the error is explained", `document.querySelector('[data-field-error="iban"]').textContent.includes("This IBAN isn’t valid")`)
	g.giveAccount("FR23 3000 6000 0112 3456 7890") // its check digits are right
	g.Await("the gateway's error is at the field", `document.querySelector('[data-field-error="iban"]').textContent.includes("27")`)
	g.Type(`[data-field="iban"]`, "0")
	g.Await("the error goes while the visitor types", `document.querySelector('[data-field-error="iban"]').textContent === ""`)
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`[data-attempts="5"]`)
	g.WaitVisible(`[data-resend="later"]`)
	if text := g.Text(); !strings.Contains(text, "ends in 78") {
		t.Errorf("it is not said where the code went:\n%s", text)
	}
	g.enterCode("abcdef")
	g.WaitVisible(`[data-field="code"][aria-invalid="true"]`)
	g.WaitVisible(`[data-attempts="5"]`)
	g.enterCode(frontdesktest.WrongCode(g.code()))
	g.WaitVisible(`[data-attempts="4"]`)
	g.Reload()
	g.WaitVisible(`[data-attempts="4"]`)
	if text := g.Text(); strings.Contains(text, "2004 1010") || !strings.Contains(text, "FR**\u00a0****\u00a02606") {
		t.Errorf("the account is shown as:\n%s", text)
	}
	g.enterCode(g.code())
	g.WaitVisible(`[data-mandate="signed"]`)
	g.expectRecords(g.Registration(), expectedRecords{codes: 1})
}

// TestCorrectMobileInBrowser corrects the mobile number instead of entering the code: the link leads to that field, and
// the visitor then continues with the direct debit.
func TestCorrectMobileInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goToMandate()
	g.giveAccount(frontdesktest.GoodIBAN)
	g.WaitVisible(`[data-attempts="5"]`)
	g.Click(`[data-correct]`)
	g.WaitVisible(`[data-field="mobile"]:focus`)
	g.Await(
		"the field to correct is in view",
		`(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`,
	)
	g.Fill(`[data-field="mobile"]`, "06 87 65 43 21")
	g.Click(`form[data-form="person"] [data-continue]`)
	g.WaitVisible(`form[data-form="mandate"]`)
	if text := g.Text(); !strings.Contains(text, "ending in 21") {
		t.Errorf("the code goes to another number:\n%s", text)
	}
	if iban := g.Value(`[data-field="iban"]`); iban != strings.ToUpper(frontdesktest.GoodIBAN) {
		t.Errorf("the account to be confirmed is %q", iban)
	}
	kept := g.Eval(`JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href])`)
	if strings.Contains(strings.ReplaceAll(kept, " ", ""), "05050001") {
		t.Errorf("the browser keeps %s", kept)
	}
	g.Reload()
	g.WaitVisible(`form[data-form="mandate"]`)
	if iban := g.Value(`[data-field="iban"]`); iban != "" {
		t.Errorf("after a reload, the account is still %q", iban)
	}
}

// TestCorrectNameBeforeTheMandate: the name on the account follows a correction of the buyer's, unless another one was
// typed.
func TestCorrectNameBeforeTheMandate(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, phone)
	g.goToMandate()
	correct := func(familyName string) {
		g.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
		g.Click(`.back`)
		g.Click(`[data-details] [data-correct]`)
		g.Fill(`[data-field="familyName"]`, familyName)
		g.Click(`form[data-form="person"] [data-continue]`)
		g.Click(`a[data-mandate]`)
		g.WaitVisible(`form[data-form="mandate"]`)
	}
	correct("Corrected")
	if holder := g.Value(`[data-field="holder"]`); holder != frontdesktest.Person().GivenName+" Corrected" {
		t.Errorf("the account holder is %q", holder)
	}
	g.Fill(`[data-field="holder"]`, "Grace Martin")
	correct("Again")
	if holder := g.Value(`[data-field="holder"]`); holder != "Grace Martin" {
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
	g := newSiteVisitor(t, phone)
	g.ExpectConsole("status of 429")
	g.goToMandate()
	g.Fill(`[data-field="holder"]`, "Grace Hopper")
	g.Fill(`[data-field="iban"]`, frontdesktest.GoodIBAN)
	g.Click(`form[data-form="mandate"] [data-continue]`)
	g.Click(`[data-cancel]`)
	g.WaitVisible(`form[data-form="mandate"]`)
	if holder := g.Value(`[data-field="holder"]`); holder != "Grace Hopper" {
		t.Errorf("the account holder is now %q", holder)
	}
	if iban := g.Value(`[data-field="iban"]`); iban != "" {
		t.Errorf("the account to be replaced is still %q", iban)
	}
	g.giveAccount("DE89 3704 0044 0532 0130 00")
	g.WaitVisible(`[data-error="sms_limited"]`)
	g.says("less than a minute ago")
	g.expectRecords(g.Registration(), expectedRecords{codes: 1})
}

// TestInvalidAccessTokenInBrowser: an invalid access token attaches no contact.
func TestInvalidAccessTokenInBrowser(t *testing.T) {
	t.Parallel()
	g := newSiteVisitor(t, desktop)
	g.ExpectConsole("status of 422")
	g.fillCart()
	g.Click(`[data-prospect]`)
	g.Fill(`[data-field="accessToken"]`, "not.mine")
	g.Click(`form[data-form="prospect"] [data-continue]`)
	g.WaitVisible(`[data-field="accessToken"][aria-invalid="true"]`)
	g.Await("the problem is said once", `document.querySelector("[data-error]").hidden`)
	if g.calls("migrateContact") != 0 {
		t.Error("a contact was migrated")
	}
}
