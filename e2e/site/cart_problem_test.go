package site_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// adultsOnly is an offer from 18 years.
const adultsOnly = "401"

// TestRestrictedPurchase has a child pay for an offer from 18 years, which the club system refuses at the payment. The page says what the
// gateway says, offers what helps, and no check, which would not.
func TestRestrictedPurchase(t *testing.T) {
	t.Parallel()
	for kind, device := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			visitor := newSiteVisitor(t, device)
			visitor.c.Control("PUT", "settings", map[string]bool{"restrictionsAtPayment": true}).Into(http.StatusOK, nil)
			child := frontdesktest.Person()
			child.BirthDate = frontdesktest.Day(-15 * 366)
			visitor.goTo("/?registration=" + visitor.createRegistration(adultsOnly, child).Id)
			visitor.Click(`[data-add]`)
			visitor.chooseOffer("badge", "2501")
			visitor.WaitVisible(`[data-item="2501"]`)
			visitor.payByCard()
			visitor.WaitVisible(`main[data-step="cart"] [data-payment="refunded"]`)
			visitor.WaitVisible(`[data-cart-problems] [data-problem="age_restricted"]`)
			visitor.says("Your payment was refunded", "you do not meet a condition of an offer. Your money was refunded.")
			visitor.Inspect("restricted")
			if visitor.Count(`[data-check]`) != 0 || visitor.Count(`[data-cart-problems] [data-instead]`) != 1 {
				t.Errorf("the page says:\n%s", visitor.Text())
			}
			visitor.Click(`[data-cart-problems] [data-remove-wrong]`)
			visitor.WaitVisible(`[data-pay]`)
			if visitor.Count(`[data-item="`+adultsOnly+`"], [data-cart-problems]`) != 0 {
				t.Errorf("without the offer, the page says:\n%s", visitor.Text())
			}
			visitor.payByCard()
			visitor.expectMember()
		})
	}
}

// TestProblemAtItsField checks that a problem of an item's start date is shown at the item, where another date can be chosen.
func TestProblemAtItsField(t *testing.T) {
	t.Parallel()
	visitor := newSiteVisitor(t, phone)
	hidden := map[string]map[string]map[string]string{"members": {"GET products": {"member[].productBehaviors": "absent"}}}
	visitor.c.Control("PUT", "settings", hidden).Into(http.StatusOK, nil)
	body := api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: "201"}}}
	var registration api.Registration
	visitor.c.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	visitor.SetCookie(visitor.home, "frontdesk-"+registration.Id, *registration.Token)
	visitor.goTo("/?registration=" + registration.Id)
	visitor.WaitVisible(`[data-item="201"] [data-problem-at="startDate"]`)
	visitor.Inspect("problem-at-field")
	if visitor.Count(`[data-check]`) != 0 {
		t.Errorf("a check is offered, which cannot help:\n%s", visitor.Text())
	}
	visitor.Click(`[data-item="201"] [data-edit]`)
	visitor.WaitVisible(`dialog [data-field="startDate"][aria-invalid="true"]`)
	visitor.Fill(`dialog [data-field="startDate"]`, tomorrow())
	visitor.Click(`dialog [data-continue]`)
	visitor.WaitVisible(`[data-pay]`)
	if text := visitor.Text(); visitor.Count(`[data-problem-at]`) != 0 || !strings.Contains(text, "Review and pay") {
		t.Errorf("with a start date, the page says:\n%s", text)
	}
}
