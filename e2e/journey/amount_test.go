package journey_test

import (
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestArticleAmounts pays a sale whose articles show other amounts than those of the description: only their totals add up to the sale. The
// cart has the lines' totals, and the club system books the sale's. Lines without an amount, or that do not add up, are never paid.
func TestArticleAmounts(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	start, paid := frontdesktest.Day(10), 0
	show := func(amounts string) {
		env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.ArticleAmounts = amounts })
	}
	for _, amounts := range []string{"both", "total"} {
		show(amounts)
		registration := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: "301", StartDate: &start}) // with a badge
		var sum int64
		for _, item := range registration.Cart.Items {
			sum += item.Price.Amount
		}
		if sum != registration.Cart.DueNow.Amount || sum != 70400 || registration.Cart.Taxes == nil {
			t.Errorf("%s: the lines add up to %d: %+v", amounts, sum, registration.Cart)
		}
		client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
		client.Await(registration.Id, api.Completed)
		paid++
		if ledger := env.Upstreams.Sim.Ledger(); len(ledger) != paid || ledger[paid-1].Amount != 70400 {
			t.Errorf("%s: the club system has booked %+v", amounts, ledger)
		}
	}
	for _, amounts := range []string{"none", "wrong"} {
		show(amounts)
		items := []api.NewItem{{OfferId: "201", StartDate: &start}}
		body := api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &items}
		client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.ClubSystemFailed)
		show("price")
		registration := client.RegisterWith("11", frontdesktest.Person(), items...)
		payment := client.Pay(registration.Id)
		show(amounts)
		client.Confirm(payment, frontdesktest.ApprovedCard)
		client.AwaitPayment(registration.Id, api.Cancelled)
	}
	if held := env.Upstreams.Cards.Payments(); held[0].Captured != 0 || held[1].Captured != 0 {
		t.Errorf("money was taken: %+v", held)
	}
}
