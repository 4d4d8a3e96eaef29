package journey_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestProblemAtField starts with items, and adds one, for which the club system wants a start date that its catalogue does not ask for.
// Each problem points at the item and its field right away, and is gone with a date.
func TestProblemAtField(t *testing.T) {
	t.Parallel()
	const towel, subscription, pass = "4101", "201", "101"
	env := frontdesktest.NewEnv(t)
	err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) {
		settings.Members = clubsim.Members{"GET products": {"member[].productBehaviors": "absent"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, client := env.Gateway(t)
	registration := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: towel}, api.NewItem{OfferId: subscription})
	expectPointers(t, registration, subscription)
	path := "/v1/registrations/" + registration.Id + "/items"
	client.Do("POST", path, api.NewItem{OfferId: pass}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	expectPointers(t, registration, subscription, pass)

	start := frontdesktest.Day(10)
	for _, offer := range []string{subscription, pass} {
		client.Do("DELETE", path+"/"+itemOf(registration, offer).Id, nil).Into(http.StatusOK, &registration)
		client.Do("POST", path, api.NewItem{OfferId: offer, StartDate: &start}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	}
	if cart := registration.Cart; !cart.Valid || len(cart.Problems) > 0 {
		t.Errorf("with a start date, the cart's problems are %+v", cart.Problems)
	}
}

// expectPointers expects a cart with a problem of each offer's start date, at the item that it points at.
func expectPointers(t *testing.T, registration api.Registration, offers ...string) {
	t.Helper()
	cart := registration.Cart
	if cart.Valid || len(cart.Problems) != len(offers) {
		t.Errorf("the cart's problems are %+v", cart.Problems)
	}
	for _, offer := range offers {
		at := slices.IndexFunc(cart.Items, func(item api.CartItem) bool { return frontdesktest.Value(item.OfferId) == offer })
		pointer := fmt.Sprintf("/items/%d/startDate", at)
		isAtField := func(problem api.CartProblem) bool {
			return problem.Code == "start_date_required" && frontdesktest.Value(problem.Pointer) == pointer &&
				frontdesktest.Value(problem.ItemId) == cart.Items[at].Id
		}
		if !slices.ContainsFunc(cart.Problems, isAtField) {
			t.Errorf("offer %s: no problem at %s in %+v", offer, pointer, cart.Problems)
		}
	}
}
