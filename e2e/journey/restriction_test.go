package journey_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// adultsOnly is an offer from 18 years.
const adultsOnly = "401"

// child is a person of 15 years.
func child() *api.Person {
	person := frontdesktest.Person()
	person.BirthDate = time.Now().AddDate(-15, 0, 0).Format(time.DateOnly)
	return person
}

// TestRestrictionsAtPayment has children pay for an offer from 18 years, where the club system refuses that only at the first payment.
// Their money goes back once, nothing is in doubt, and the same cart cannot be paid again. Another cart can, and other buyers can pay
// however many were refused.
func TestRestrictionsAtPayment(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RestrictionsAtPayment = true })
	_, client := env.Gateway(t)
	start := frontdesktest.Day(10)
	for refused := range 4 { // one more than the brake needs
		registration := client.RegisterWith("11", child(), api.NewItem{OfferId: adultsOnly, StartDate: &start})
		if !registration.Cart.Valid {
			t.Fatalf("the cart is refused before the payment: %+v", registration.Cart)
		}
		client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
		ended := client.AwaitPayment(registration.Id, api.Refunded)
		held := env.Upstreams.Cards.Payments()
		if len(held) != refused+1 || held[0].Captured != 39900 || held[0].Refunded != 39900 || held[0].Refunds != 1 {
			t.Fatalf("the processor has %+v", held)
		}
		expectRestricted(t, ended, "payment_restricted_refunded")
		client.RequestPayment(registration.Id, map[string]string{"method": "card"}).Problem(api.CartInvalid)
		var checked api.Registration
		client.Do("POST", "/v1/registrations/"+registration.Id+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, &checked)
		expectRestricted(t, checked, "payment_restricted_refunded")
	}
	if ledger := env.Upstreams.Sim.Ledger(); len(ledger) != 0 {
		t.Errorf("the club system has booked %+v", ledger)
	}

	registration := client.RegisterWith("11", child(), api.NewItem{OfferId: adultsOnly, StartDate: &start})
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	ended := client.AwaitPayment(registration.Id, api.Refunded)
	path := "/v1/registrations/" + registration.Id + "/items"
	client.Do("DELETE", path+"/"+ended.Cart.Items[0].Id, nil).Into(http.StatusOK, nil)
	client.Do("POST", path, api.NewItem{OfferId: "201", StartDate: &start}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	if !registration.Cart.Valid {
		t.Errorf("another cart is not accepted: %+v", registration.Cart)
	}
	payment := client.Pay(registration.Id)
	client.Confirm(payment, frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

// expectRestricted expects an open registration whose cart has the problem of an offer's age at its line.
func expectRestricted(t *testing.T, registration api.Registration, message string) {
	t.Helper()
	problems := registration.Cart.Problems
	if len(problems) != 1 || problems[0].Code != "age_restricted" ||
		frontdesktest.Value(problems[0].ItemId) != registration.Cart.Items[0].Id {
		t.Errorf("the cart's problems are %+v", problems)
	}
	canPay := slices.ContainsFunc(registration.Next, func(action api.Action) bool { return action.Action == "pay" })
	if registration.State != api.Open || registration.Step != "fix_cart" || registration.Cart.Valid || canPay {
		t.Errorf("the registration is %s at %s, and offers %+v", registration.State, registration.Step, registration.Next)
	}
	canCheck := slices.ContainsFunc(registration.Next, func(action api.Action) bool { return action.Action == "check" })
	if canCheck || registration.Next[0].Action != "clear_items" {
		t.Errorf("no check helps, and the registration offers %+v", registration.Next)
	}
	if code := string(registration.Message.Code); code != message {
		t.Errorf("the message is %s, want %s", code, message)
	}
}

// TestRestrictionsOfSettlements has a child pay in other ways, where the club system refuses only then what the child may not buy.
func TestRestrictionsOfSettlements(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RestrictionsAtPayment = true })
	_, client := env.Gateway(t)
	start := frontdesktest.Day(10)
	for name, test := range map[string]struct {
		body    map[string]string
		message string
	}{
		"later": {map[string]string{"method": "later", "dueDate": frontdesktest.Day(20)}, "settlement_restricted"},
		"desk":  {map[string]string{"method": "desk", "mean": "cash"}, "desk_restricted"},
	} {
		client := client.WithT(t)
		registration := client.RegisterWith("11", child(), api.NewItem{OfferId: adultsOnly, StartDate: &start})
		client.RequestPayment(registration.Id, test.body, frontdesktest.StaffKey()).Into(http.StatusCreated, &registration)
		if registration.Payment.State != api.Cancelled {
			t.Errorf("%s: the payment is %+v", name, registration.Payment)
		}
		expectRestricted(t, client.Registration(registration.Id), test.message)
		client.RequestPayment(registration.Id, test.body, frontdesktest.StaffKey()).Problem(api.CartInvalid)
	}
	for _, sale := range env.Upstreams.Sim.Sales() {
		if sale.Total == 39900 && sale.State != "building" {
			t.Errorf("the club system has settled %+v", sale)
		}
	}
}

// TestRefusedItem adds what the buyer may not buy, where the club system refuses that at once. The problem is at the item's field; an
// option that needs the tag of a subscription is accepted with one, and goes when the buyer removes the subscription.
func TestRefusedItem(t *testing.T) {
	t.Parallel()
	const option, subscription, towel = "1901", "201", "4101"
	env := frontdesktest.NewEnv(t)
	env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RefuseAtAdd = true })
	_, client := env.Gateway(t)
	start := frontdesktest.Day(10)
	items := []api.NewItem{{OfferId: towel}, {OfferId: adultsOnly, StartDate: &start}}
	body := api.StartRegistration{ClubId: "11", Person: child(), Items: &items}
	problem := client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.OfferNotAvailable)
	expectField(t, problem, "/items/1/offerId", "age_restricted")

	registration := client.RegisterWith("11", child(), api.NewItem{OfferId: towel})
	path := "/v1/registrations/" + registration.Id + "/items"
	add := func(offer string) *frontdesktest.Response {
		return client.Do("POST", path, api.NewItem{OfferId: offer, StartDate: &start}, frontdesktest.Key(""))
	}
	expectField(t, add(adultsOnly).Problem(api.OfferNotAvailable), "/offerId", "age_restricted")
	expectField(t, add(option).Problem(api.OfferNotAvailable), "/offerId", "not_for_buyer")
	add(subscription).Into(http.StatusCreated, nil)
	add(option).Into(http.StatusCreated, &registration)
	if len(registration.Cart.Items) != 3 || !registration.Cart.Valid {
		t.Fatalf("the cart is %+v", registration.Cart)
	}

	client.Do("DELETE", path+"/"+itemOf(registration, subscription).Id, nil).Into(http.StatusOK, &registration)
	if left := registration.Cart; len(left.Items) != 1 || itemOf(registration, towel) == nil || len(left.Changes) != 1 || !left.Valid {
		t.Errorf("the cart is %+v", left)
	}
	sales := env.Upstreams.Sim.Sales()
	if sale := sales[len(sales)-1]; len(sale.Lines) != 1 || int64(sale.Total) != registration.Cart.DueNow.Amount {
		t.Errorf("the sale is %+v", sale)
	}
	payment := client.Pay(registration.Id)
	client.Confirm(payment, frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

// TestDependentsRemovedByStaff has staff remove a subscription in the club's own screens, with which an option goes. Neither comes back
// with a later change of the buyer's.
func TestDependentsRemovedByStaff(t *testing.T) {
	t.Parallel()
	const option, subscription, towel, bottle = "1901", "201", "4101", "4001"
	env := frontdesktest.NewEnv(t)
	env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.RemoveDependents = true })
	_, client := env.Gateway(t)
	start := frontdesktest.Day(10)
	registration := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: subscription, StartDate: &start},
		api.NewItem{OfferId: option, StartDate: &start}, api.NewItem{OfferId: towel}, api.NewItem{OfferId: bottle})
	sales := env.Upstreams.Sim.Sales()
	removeFirstArticle(t, env, sales[len(sales)-1].ID)
	path := "/v1/registrations/" + registration.Id
	client.Do("POST", path+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, &registration)
	if cart := registration.Cart; len(cart.Items) != 2 || len(cart.Changes) != 2 {
		t.Fatalf("the cart is %+v", cart)
	}
	client.Do("DELETE", path+"/items/"+itemOf(registration, bottle).Id, nil).Into(http.StatusOK, &registration)
	if cart := registration.Cart; len(cart.Items) != 1 || itemOf(registration, towel) == nil {
		t.Errorf("after another removal, the cart is %+v", cart)
	}
}

// removeFirstArticle removes the first article of a sale, as staff do in the club's own screens.
func removeFirstArticle(t *testing.T, env frontdesktest.Env, sale string) {
	t.Helper()
	desk := frontdesktest.NewClient(t, env.Upstreams.URL)
	var read struct {
		Articles []struct {
			ID string `json:"@id"`
		} `json:"articles"`
	}
	sim(desk, "GET", sale).Into(http.StatusOK, &read)
	sim(desk, "DELETE", read.Articles[0].ID).Into(http.StatusNoContent, nil)
}

func itemOf(registration api.Registration, offer string) *api.CartItem {
	for i, item := range registration.Cart.Items {
		if frontdesktest.Value(item.OfferId) == offer {
			return &registration.Cart.Items[i]
		}
	}
	return nil
}

// expectField expects one field in a problem, with its code.
func expectField(t *testing.T, problem api.Problem, pointer, code string) {
	t.Helper()
	fields := frontdesktest.Value(problem.Errors)
	if len(fields) != 1 || frontdesktest.Place(fields[0]) != pointer || string(fields[0].Code) != code {
		t.Errorf("the fields are %+v, want %s at %s", fields, code, pointer)
	}
}
