package site_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// TestKeyboardOnly goes from the first page to the welcome with Tab, Enter, Space and the arrows, with
// the focus always visible.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, desktop)
	visitor.goTo("/")
	visitor.press(`[data-club="11"]`, enterKey)
	visitor.WaitVisible(`main[data-step="offer"] [data-offer]`)
	visitor.TabTo(`[data-category]:checked`)
	visitor.Press(rightKey)
	visitor.WaitVisible(`[data-category]:checked:focus:not([data-category="subscription"])`)
	visitor.Press(leftKey)
	visitor.WaitVisible(`[data-category="subscription"]:checked:focus`)
	visitor.press(`[data-offer="`+cardOffer+`"] [data-choose]`, spaceKey)
	visitor.WaitVisible(`dialog [data-continue]`)
	visitor.press(`dialog [data-continue]`, enterKey)

	visitor.WaitVisible(`form[data-form="person"]`)
	person := frontdesktest.Person()
	person.BirthDate = "1990-05-05" // typed the same whether the day or the month comes first
	for _, field := range [][2]string{
		{"givenName", person.GivenName}, {"familyName", person.FamilyName}, {"birthDate", "05051990"}, {"email", person.Email},
		{"mobile", person.Mobile}, {"street", person.Address.Street}, {"postalCode", person.Address.PostalCode}, {"city", person.Address.City},
	} {
		visitor.press(`[data-field="`+field[0]+`"]`, field[1])
	}
	if got := visitor.Value(`[data-field="birthDate"]`); got != person.BirthDate {
		t.Errorf("the date of birth was typed as %q", got)
	}
	visitor.Press(enterKey)
	visitor.WaitVisible(`main[data-step="cart"] [data-pay]`)
	if !visitor.Focused(`[data-heading]`) {
		t.Error("the new step's heading has not got the focus")
	}
	due, registration := visitor.due(), visitor.Registration()
	visitor.press(`[data-agree]`, spaceKey)
	visitor.press(`[data-pay]`, enterKey)
	visitor.typeCard(frontdesktest.ApprovedCard)
	visitor.press(`[data-pay-card]`, enterKey)
	visitor.expectMember()
	visitor.expectRecords(registration, expectedRecords{recorded: due, captured: due})
}

// typeCard goes through the processor's card fields with Tab, types a card there and goes to the last element of their frame.
func (g *siteVisitor) typeCard(number string) {
	g.t.Helper()
	g.WaitVisible(cardFields)
	inside := browser{g.Frame(frontdesktest.CardFields), g.device, g.t}
	for _, field := range [][2]string{{`#number`, number}, {`#expiry`, time.Now().AddDate(2, 0, 0).Format("0106")}, {`#cvc`, "123"}} {
		inside.TabTo(field[0])
		inside.Press(field[1])
	}
	inside.TabTo(`[data-card]:last-child`)
	if typed := inside.Value(`#number`); strings.ReplaceAll(typed, " ", "") != number {
		g.t.Errorf("the card was typed as %q", typed)
	}
}

// press goes to an element with Tab, and presses keys there.
func (g *siteVisitor) press(selector, keys string) {
	g.t.Helper()
	g.TabTo(selector)
	g.Press(keys)
}

// TestWithoutScript checks that without JavaScript the page says what to do, and warns the visitor not
// to pay again.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.WithoutScript()
			visitor.goTo("/")
			visitor.WaitVisible(`noscript h1`)
			visitor.Screenshot("no-script")
			for _, word := range []string{"JavaScript", "front desk", "do not pay again"} {
				if !strings.Contains(visitor.Text(), word) {
					t.Errorf("nothing is said of %q:\n%s", word, visitor.Text())
				}
			}
			if strings.Contains(visitor.Text(), "Loading") || visitor.Overflow() > 0 {
				t.Errorf("the page waits for something, or is %d too wide:\n%s", visitor.Overflow(), visitor.Text())
			}
		})
	}
}
