// Package journey_test runs whole journeys against the real binary over HTTP, as front
// ends do, and asserts on the simulator's records.
package journey_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

func TestVisitorBecomesMember(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	if !registration.Cart.Valid || len(registration.Cart.Items) != 1 || registration.State != api.Open {
		t.Fatalf("unexpected registration: %+v", registration)
	}
	payment := client.Pay(registration.Id)
	if payment.State != api.RequiresAction || payment.Total != registration.Cart.DueNow {
		t.Fatalf("unexpected payment: %+v", payment)
	}
	if again := client.Pay(registration.Id); again.Id != payment.Id {
		t.Errorf("a second payment request made payment %s besides %s", again.Id, payment.Id)
	}
	client.Confirm(payment, "4242 4242 4242 4242")
	done := client.Await(registration.Id, api.Completed)
	if done.Payment.State != api.Recorded || done.Payment.PayAgain != api.PayAgainNo || len(done.Next) != 0 {
		t.Errorf("unexpected end: %+v", done)
	}
	frontdesktest.Eventually(
		t, "the contact is a customer", func() bool { return client.Registration(registration.Id).Contact.Status == "customer" },
	)
	client.Records().ExpectOnePayment(t, payment.Total.Amount)
}

func TestWorldsAreIsolated(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	one, other := frontdesktest.NewClient(t, mock.URL), frontdesktest.NewClient(t, mock.URL)
	one.World, other.World = "demo-one", "demo-other"
	registration := one.Register()
	payment := one.Pay(registration.Id)
	one.Confirm(payment, "4242424242424242")
	one.Await(registration.Id, api.Completed)
	one.Records().ExpectOnePayment(t, payment.Total.Amount)
	if r := other.Records(); len(r.Ledger) != 0 {
		t.Errorf("the other world's ledger holds %+v", r.Ledger)
	}
}

func TestDeclinedCardThenChallenge(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4000000000000002")
	declined := client.AwaitPayment(registration.Id, api.Declined)
	if declined.Payment.PayAgain != api.PayAgainNewRequest || declined.Payment.Card.DeclineCode == nil {
		t.Errorf("unexpected decline: %+v", declined.Payment)
	}
	again := client.Pay(registration.Id)
	if again.Id != payment.Id || again.State != api.RequiresAction {
		t.Errorf("after the decline came %+v, want the same payment", again)
	}
	client.Confirm(again, "4000002500003155")
	client.AnswerChallenge(again, true)
	client.Await(registration.Id, api.Completed)
	client.Records().ExpectOnePayment(t, payment.Total.Amount)
}

// TestSecondPressAfterDecline checks what the contract says of another press of the pay button after a decline.
func TestSecondPressAfterDecline(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	body := map[string]string{"method": "card", "cart": registration.Cart.Revision}
	press := func(key [2]string) api.Payment {
		t.Helper()
		var shown api.Registration
		client.RequestPayment(registration.Id, body, key).Into(http.StatusCreated, &shown)
		return *shown.Payment
	}
	first := frontdesktest.Key("")
	payment := press(first)
	client.Confirm(payment, frontdesktest.DeclinedCard)
	client.AwaitPayment(registration.Id, api.Declined)
	other := map[string]string{"method": "later", "dueDate": frontdesktest.Day(5), "cart": registration.Cart.Revision}
	client.RequestPayment(registration.Id, other).Problem(api.PaymentExists)
	for _, key := range [][2]string{first, frontdesktest.Key(""), frontdesktest.Key("")} {
		again := press(key)
		if again.Id != payment.Id || again.State != api.RequiresAction || again.Card.DeclineCode != nil ||
			frontdesktest.Value(again.Card.ClientSecret) != frontdesktest.Value(payment.Card.ClientSecret) ||
			frontdesktest.Value(payment.Card.AttemptsLeft) != 5 || frontdesktest.Value(again.Card.AttemptsLeft) != 4 {
			t.Errorf("another press shows %+v, want the same payment for another card", again)
		}
	}
	client.Confirm(payment, frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	client.Records().ExpectOnePayment(t, payment.Total.Amount)
}

// TestSecondCardAfterDecline checks that no response calls the card declined once the buyer has paid
// with another card.
func TestSecondCardAfterDecline(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]bool{"asked for": true, "on the processor's own page": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			_, client := env.Gateway(t)
			registration := client.Register()
			payment := client.Pay(registration.Id)
			client.SetProcessor(sandbox.Settings{Webhooks: sandbox.Drop})
			notDeclined := func(when string) {
				t.Helper()
				for range 3 {
					if now := client.Registration(registration.Id).Payment; now.State == api.Declined || now.PayAgain == api.PayAgainNewRequest {
						t.Fatalf("%s, the payment is %s with retry %s", when, now.State, now.PayAgain)
					}
				}
			}
			for range 2 {
				client.Confirm(payment, frontdesktest.DeclinedCard)
				client.AwaitPayment(registration.Id, api.Declined)
				if !asks {
					continue
				}
				if again := client.Pay(registration.Id); again.Id != payment.Id || again.State != api.RequiresAction {
					t.Fatalf("after the decline came %+v, want the same payment", again)
				}
				notDeclined("after another attempt was asked for")
			}
			client.Confirm(payment, frontdesktest.ApprovedCard)
			notDeclined("after another card was authorised")
			client.Await(registration.Id, api.Completed)
			env.ExpectOnePayment(t, payment.Total.Amount)
		})
	}
}

func TestStepByStep(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	club := client.Club()
	var registration api.Registration
	client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: club}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	client.Token = *registration.Token
	path := "/v1/registrations/" + registration.Id
	offer := client.CardOffer(club)
	start := "2030-01-15"
	item := api.NewItem{OfferId: offer.Id, StartDate: &start}

	client.Do("POST", path+"/items", item, frontdesktest.Key("")).Problem(api.PersonRequired)
	client.Do("POST", path+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Problem(api.PersonRequired)
	client.Do("PUT", path+"/person", frontdesktest.Person()).Into(http.StatusOK, &registration)
	var checked api.Registration
	client.Do("POST", path+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, &checked)
	if checked.Cart.Valid || checked.Step != api.StepItems {
		t.Errorf("the empty cart is checked with %+v", checked)
	}
	client.Do("POST", path+"/items", item, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	if got := registration.Cart.Items[0]; frontdesktest.Value(got.OfferId) != offer.Id || frontdesktest.Value(got.StartDate) != start {
		t.Errorf("the cart holds %+v", got)
	}
	first := registration.Contact.Number
	corrected := frontdesktest.Person()
	corrected.GivenName = "Grace"
	client.Do("PUT", path+"/person", corrected).Into(http.StatusOK, &registration)
	if registration.Contact.Number == first || len(registration.Cart.Items) != 1 {
		t.Errorf("the correction kept contact %s with %d items", first, len(registration.Cart.Items))
	}
	client.Do("DELETE", path+"/items", nil).Into(http.StatusOK, &registration)
	if len(registration.Cart.Items) != 0 {
		t.Errorf("the cart still holds %+v", registration.Cart.Items)
	}
	client.Do("DELETE", path, nil).Into(http.StatusOK, &registration)
	if registration.State != api.Abandoned {
		t.Errorf("state %s after it was abandoned", registration.State)
	}
	client.Do("POST", path+"/items", item, frontdesktest.Key("")).Problem(api.RegistrationClosed)
}

func TestClubSystemAddsToTheCart(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	club := client.Club()
	var list api.ProductList
	client.Do("GET", "/v1/clubs/"+club+"/products", nil).Into(http.StatusOK, &list)
	start := "2030-01-15"
	changed := false
	for _, product := range list.Items {
		for _, offer := range product.Offers {
			var registration api.Registration
			client.Do("POST", "/v1/registrations", api.StartRegistration{
				ClubId: club, Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: offer.Id, StartDate: &start}},
			}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
			if lines, changes := len(registration.Cart.Items), len(registration.Cart.Changes); lines != 1+changes {
				t.Errorf("%s: %d lines and %d changes", offer.Name, lines, changes)
			}
			changed = changed || len(registration.Cart.Changes) > 0
		}
	}
	if !changed {
		t.Error("no offer of the catalogue made the club system add a line")
	}
}

func TestAgeRestrictedCartCannotBePaid(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	club := client.Club()
	var list api.ProductList
	client.Do("GET", "/v1/clubs/"+club+"/products", nil).Into(http.StatusOK, &list)
	young := frontdesktest.Person()
	young.BirthDate = "2015-05-17"
	start := "2027-01-15"
	for _, product := range list.Items {
		for _, offer := range product.Offers {
			var registration api.Registration
			client.Do("POST", "/v1/registrations", api.StartRegistration{
				ClubId: club, Person: young, Items: &[]api.NewItem{{OfferId: offer.Id, StartDate: &start}},
			}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
			if registration.Cart.Valid || offer.ListPrice.Amount == 0 || len(registration.Cart.Problems) == 0 ||
				registration.Cart.Problems[0].Code != "age_restricted" {
				continue
			}
			client.Token = *registration.Token
			client.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Problem(api.CartInvalid)
			return
		}
	}
	t.Error("no offer of the catalogue is age-restricted")
}

func TestClubSystemNamesDoNotLeak(t *testing.T) {
	t.Parallel()
	c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	registration := c.Register()
	c.Pay(registration.Id)
	for _, path := range []string{"/v1/clubs", "/v1/clubs/" + c.Club() + "/products", "/v1/registrations/" + registration.Id} {
		if body := string(c.Do("GET", path, nil).Body); strings.Contains(body, "/demo/") {
			t.Errorf("%s shows an IRI: %s", path, body)
		}
	}
}
