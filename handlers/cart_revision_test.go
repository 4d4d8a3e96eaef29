package handlers_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestPaymentNamesItsCart: a payment names the cart that the buyer saw, unless the operator lets scripts leave it out.
func TestPaymentNamesItsCart(t *testing.T) {
	t.Parallel()
	for setting, required := range map[string]bool{
		"":                                 true,
		"FRONTDESK_CART_REVISION=required": true,
		"FRONTDESK_CART_REVISION=optional": false,
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			var environment []string
			if setting != "" {
				environment = []string{setting}
			}
			c := frontdesktest.NewClient(t, frontdesktest.Start(t, environment...).URL)
			registration := c.Register()
			holder := [2]string{"Authorization", "Bearer " + c.Token}
			script := frontdesktest.NewClient(t, c.URL) // which adds no revision of its own
			pay := func(body string, headers ...[2]string) *frontdesktest.Response {
				return script.RequestPayment(registration.Id, body, headers...)
			}
			pay(`{"method":"card"}`).Problem(api.TokenRequired)
			pay(`{"method":"card","cart":"q0WDkV3nUf7s2aYH"}`, holder).Problem(api.CartChanged)
			if !required {
				pay(`{"method":"card"}`, holder).Into(http.StatusCreated, nil)
				return
			}
			problem := pay(`{"method":"card"}`, holder).Problem(api.InvalidRequest)
			if errors := value(problem.Errors); len(errors) != 1 || frontdesktest.Place(errors[0]) != "/cart" || errors[0].Code != "required" {
				t.Errorf("the problem is about %+v", errors)
			}
			pay(`{"method":"card","cart":"`+registration.Cart.Revision+`"}`, holder).Into(http.StatusCreated, nil)
		})
	}
}
