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
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for range 2 {
		client.Do("POST", "/sim/demo/_control/reset", nil).Into(http.StatusNoContent, nil)
		registration := client.Register()
		payment := client.Pay(registration.Id)
		client.Confirm(payment, "4242424242424242")
		client.Await(registration.Id, api.Completed)
		client.Records().ExpectOnePayment(t, payment.Total.Amount)
	}
}
