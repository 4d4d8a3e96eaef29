package journey_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestMeFailsFast: the gateway sends two reads of a contact in parallel. If one reports that the
// contact does not exist, the gateway does not wait for the other.
func TestMeFailsFast(t *testing.T) {
	t.Parallel()
	const contact, account = "/contacts/*", "/stats/accounts/contacts/*"
	mock := frontdesktest.NewMock(t)
	for world, reads := range map[string]struct{ unknown, silent string }{
		"demo-me-contact": {contact, account},
		"demo-me-account": {account, contact},
	} {
		client := frontdesktest.NewClient(t, mock.URL)
		client.World = world
		customer := client.As("customer")
		customer.Do("GET", "/v1/me", nil).Into(http.StatusOK, nil)
		client.Control("PUT", "faults", []clubsim.Fault{
			{Match: clubsim.FaultMatch{Path: reads.unknown}, Kind: "error_before", Status: http.StatusNotFound},
			{Match: clubsim.FaultMatch{Path: reads.silent}, Kind: "hang"},
		}).Into(http.StatusOK, nil)
		asked, before := map[string]int{}, len(client.Calls())
		customer.Do("GET", "/v1/me", nil).Problem(api.NotIdentified)
		for _, call := range client.Calls()[before:] { // a silent read that is waited for is sent a second time
			asked[call.Operation]++
			if asked[call.Operation] > 1 {
				t.Errorf("with %s silent, %s was sent again", reads.silent, call.Operation)
			}
		}
	}
}
