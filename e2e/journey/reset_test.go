package journey_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestPaymentAfterReset pays after a reset, when a world reuses sale numbers that the card processor
// has seen before.
func TestPaymentAfterReset(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for range 2 {
		c.Do("POST", "/sim/demo/_control/reset", nil).Into(http.StatusNoContent, nil)
		registration := c.Register()
		payment := c.Pay(registration.Id)
		c.Confirm(payment, "4242424242424242")
		c.Await(registration.Id, api.Completed)
		c.Records().ExpectOnePayment(t, payment.Total.Amount)
	}
}
