package e2e_test

import (
	"strings"
	"testing"
)

// toTheMandate goes to a cart whose offer is debited later, and asks to set that up.
func (g *guest) toTheMandate() {
	g.t.Helper()
	g.goTo("/?club=11&offer=" + directDebit + "&startDate=2031-03-01")
	g.giveDetails()
	g.Click(`a[data-mandate]`)
	g.See(`form[data-form="mandate"]`)
}

// TestSlipsInTheMandate: an account number and a code with a slip in them are
// corrected where they stand, and the account is never shown in full again.
func TestSlipsInTheMandate(t *testing.T) {
	t.Parallel()
	g := newGuest(t, phone)
	g.Expect("status of 422")
	g.toTheMandate()
	g.giveAccount(strings.Replace(goodIBAN, "606", "607", 1))
	g.See(`[data-field="iban"][aria-invalid="true"]`)
	g.giveAccount(goodIBAN)
	g.See(`[data-attempts="5"]`)
	g.See(`[data-resend="later"]`)
	if text := g.Text(); !strings.Contains(text, "ends in 78") {
		t.Errorf("it is not said where the code went:\n%s", text)
	}
	g.enterCode("abcdef")
	g.See(`[data-field="code"][aria-invalid="true"]`)
	g.See(`[data-attempts="5"]`)
	g.enterCode(wrong(g.code()))
	g.See(`[data-attempts="4"]`)
	g.Reload()
	g.See(`[data-attempts="4"]`)
	if text := g.Text(); strings.Contains(text, "2004 1010") || !strings.Contains(text, "FR** **** 2606") {
		t.Errorf("the account is shown as:\n%s", text)
	}
	g.enterCode(g.code())
	g.See(`[data-mandate="signed"]`)
	g.leaves(g.Registration(), trace{codes: 1})
}

// TestOtherAccount gives an account up for another one, sooner than one may ask for a code again.
func TestOtherAccount(t *testing.T) {
	t.Parallel()
	g := newGuest(t, phone)
	g.Expect("status of 429")
	g.toTheMandate()
	g.giveAccount(goodIBAN)
	g.Click(`[data-cancel]`)
	g.See(`form[data-form="mandate"]`)
	g.giveAccount("DE89 3704 0044 0532 0130 00")
	g.See(`[data-error="sms_limited"]`)
	g.leaves(g.Registration(), trace{codes: 1})
}

// TestRefusedAccount: what is no access token of an account brings nobody along.
func TestRefusedAccount(t *testing.T) {
	t.Parallel()
	g := newGuest(t, desktop)
	g.Expect("status of 422")
	g.fillCart()
	g.Click(`[data-prospect]`)
	g.Fill(`[data-field="accessToken"]`, "not.mine")
	g.Click(`form[data-form="prospect"] [data-continue]`)
	g.See(`[data-field="accessToken"][aria-invalid="true"]`)
	if g.calls("migrateContact") != 0 {
		t.Error("somebody was migrated")
	}
}
