package registration_test

import (
	"encoding/json"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/clubsim"
)

// TestFirewallWhileAnItemIsRemoved: what stands in front of the club system refuses an article of the new sale with a page or JSON of its
// own. That says nothing about what the buyer may buy, so the items that were not removed stay.
func TestFirewallWhileAnItemIsRemoved(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]clubsim.Fault{
		"page": {Kind: "foreign_page", Status: 400},
		"JSON": {Kind: "foreign_json", Status: 422, Body: json.RawMessage(`{"error": "request blocked"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			start := world.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
			view, token, err := gateway.Registrations.Start(t.Context(), registration.StartRequest{
				ClientToken: "demo",
				ClubID:      "11",
				Channel:     "web",
				Person:      &visitor,
				Items:       []flows.NewItem{{OfferID: "201", StartDate: start}, badge},
			})
			if err != nil {
				t.Fatal(err)
			}
			fault.Match = clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}
			world.Fault(fault)
			_, err = gateway.Registrations.RemoveItem(t.Context(), view.ID, token, view.Items[1].ID)
			world.Fault()
			if err == nil {
				t.Error("the removal succeeded")
			}
			if view, err = gateway.Registrations.Get(t.Context(), view.ID, token); err != nil || len(view.Items) != 2 {
				t.Errorf("the cart has %+v, %v", view.Items, err)
			}
		})
	}
}
