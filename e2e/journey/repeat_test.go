package journey_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestWorldAsksRepeats: in mock mode, the buyers of a world that asks for the question are asked before they buy the same
// again, and only they. The setting ends with a reset of the world.
func TestWorldAsksRepeats(t *testing.T) {
	t.Parallel()
	url := frontdesktest.NewMock(t).URL
	// buyTwice buys the same offer twice, and returns the response to the second payment and its registration.
	buyTwice := func(c *frontdesktest.Client) (*frontdesktest.Response, string) {
		first := c.Register()
		c.Confirm(c.Pay(first.Id), "4242424242424242")
		c.Await(first.Id, api.Completed)
		second := c.Register().Id
		return c.RequestPayment(second, `{"method":"card"}`), second
	}
	for world, asks := range map[string]bool{"demo": false, "demo-asks": true, "demo-asks-no-more": false, "demo-other": false} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			client := frontdesktest.NewClient(t, url)
			client.World = world
			if asks || world == "demo-asks-no-more" {
				client.Control("PUT", "settings", `{"askRepeats": true}`).Into(http.StatusOK, nil)
			}
			if world == "demo-asks-no-more" {
				client.Control("POST", "reset", nil).Into(http.StatusNoContent, nil)
			}
			response, second := buyTwice(client)
			if !asks {
				response.Into(http.StatusCreated, nil)
				return
			}
			response.Problem(api.PossibleDuplicatePurchase)
			var payment api.Payment
			client.RequestPayment(second, `{"method":"card","again":true}`).Into(http.StatusCreated, &payment)
			client.Confirm(payment, "4242424242424242")
			client.Await(second, api.Completed)
			if ledger := client.Records().Ledger; len(ledger) != 2 {
				t.Errorf("after a yes the ledger holds %+v", ledger)
			}
		})
	}
}
