package journey_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestCheckIsStored checks that the registration shows what a check found: a new problem, and later that it is
// over.
func TestCheckIsStored(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	withdrawn, err := strconv.Atoi(cardOnlyOffer)
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/registrations/" + client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: cardOnlyOffer}).Id
	for _, withdrawals := range [][]int{{withdrawn}, {}} {
		env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.WithdrawnOffers = withdrawals })
		var checked, r api.Registration
		client.Do("POST", path+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, &checked)
		client.Do("GET", path, nil).Into(http.StatusOK, &r)
		if want := len(withdrawals) == 0; checked.Cart.Valid != want || r.Cart.Valid != want || len(r.Cart.Problems) != len(withdrawals) {
			t.Errorf("offers %v are withdrawn, and the check says %+v, the cart %+v", withdrawals, checked.Cart, r.Cart)
		}
	}
}

// TestRemoveItem removes one of several items, with what the club system added because of it. The
// others keep their ids, and the sale at the club system holds no more than the cart.
func TestRemoveItem(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	club := client.Club()
	start := time.Now().AddDate(0, 0, 10).Format(time.DateOnly)
	withBadge := "301"
	registration := client.RegisterWith(
		club, frontdesktest.Person(), api.NewItem{OfferId: withBadge, StartDate: &start},
		api.NewItem{OfferId: frontdesktest.FreeTrial}, api.NewItem{OfferId: client.CardOffer(club).Id, StartDate: &start},
	)
	path := "/v1/registrations/" + registration.Id + "/items/"
	items := registration.Cart.Items
	chosen := slices.DeleteFunc(slices.Clone(items), func(item api.CartItem) bool { return item.Origin != api.Chosen })
	if len(chosen) != 3 || len(chosen) == len(items) {
		t.Fatalf("the cart holds %+v", items)
	}
	for _, item := range items {
		parent := slices.IndexFunc(items, func(other api.CartItem) bool { return other.Id == frontdesktest.Value(item.ParentId) })
		if (item.Origin == api.Chosen) != (parent < 0) || (item.Origin == api.Adjustment) != (item.OfferId == nil) {
			t.Errorf("%+v is in the cart", item)
		}
		if item.Origin != api.Chosen {
			client.Do("DELETE", path+item.Id, nil).Problem(api.ItemRequired)
		}
	}
	for _, change := range registration.Cart.Changes {
		if !slices.ContainsFunc(items, func(item api.CartItem) bool {
			return item.Id == frontdesktest.Value(change.ItemId) && item.Name == change.Name
		}) {
			t.Errorf("%+v is about no item of the cart", change)
		}
	}
	stranger := frontdesktest.NewClient(t, client.URL)
	stranger.Do("DELETE", path+chosen[0].Id, nil).Problem(api.TokenRequired)

	var left api.Registration
	client.Do("DELETE", path+chosen[0].Id, nil).Into(http.StatusOK, &left)
	for _, item := range left.Cart.Items {
		if item.Origin == api.Chosen && item.Id != chosen[1].Id && item.Id != chosen[2].Id || frontdesktest.Value(item.ParentId) == chosen[0].Id {
			t.Errorf("%+v is left", item)
		}
	}
	sales := env.Upstreams.Sim.Sales()
	if sale := sales[len(sales)-1]; len(sale.Lines) != len(left.Cart.Items) || int64(sale.Total) != left.Cart.DueNow.Amount {
		t.Errorf("the sale is %+v, the cart %+v", sale, left.Cart)
	}
	var again api.Registration
	client.Do("DELETE", path+chosen[0].Id, nil).Into(http.StatusOK, &again) // a second click, or a lost response
	if len(again.Cart.Items) != len(left.Cart.Items) || again.Cart.Revision != left.Cart.Revision {
		t.Errorf("the same item removed twice leaves %+v, not %+v", again.Cart, left.Cart)
	}
	client.Do("DELETE", path+chosen[1].Id, nil).Into(http.StatusOK, &left)
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, left.Cart.DueNow.Amount)
	client.Do("DELETE", path+chosen[2].Id, nil).Problem(api.RegistrationClosed)
}

// TestProblemNamesItsItem checks that a front end can show an error at the item that it is about.
func TestProblemNamesItsItem(t *testing.T) {
	t.Parallel()
	c, _ := frontdesktest.NewWorld(t)
	child := frontdesktest.Person()
	child.BirthDate = time.Now().AddDate(-15, 0, 0).Format(time.DateOnly)
	start, adults := time.Now().AddDate(0, 0, 10).Format(time.DateOnly), "401"
	registration := c.RegisterWith(
		c.Club(), child, api.NewItem{OfferId: frontdesktest.FreeTrial}, api.NewItem{OfferId: adults, StartDate: &start},
	)
	for _, problem := range registration.Cart.Problems {
		if problem.Code != "age_restricted" {
			continue
		}
		if !slices.ContainsFunc(registration.Cart.Items, func(item api.CartItem) bool {
			return item.Id == frontdesktest.Value(problem.ItemId) && frontdesktest.Value(item.OfferId) == adults
		}) {
			t.Errorf("%+v in %+v", problem, registration.Cart.Items)
		}
		return
	}
	t.Errorf("the problems are %+v", registration.Cart.Problems)
}

// TestStoppedWhileReplacing kills the gateway, or hangs Redis, while the new sale of a removal is
// filled. The cart stays as it was, the removal can be sent again, and the buyer pays once.
func TestStoppedWhileReplacing(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*frontdesktest.Process, frontdesktest.Env){
		"killed": func(gateway *frontdesktest.Process, _ frontdesktest.Env) { gateway.Kill() },
		"Redis hangs": func(_ *frontdesktest.Process, s frontdesktest.Env) {
			frontdesktest.RedisClient(t, s.Redis).ClientPause(t.Context(), 10*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			proxy := env.Upstreams.Proxy()
			t.Cleanup(proxy.Close)
			gateway, client := env.Gateway(t, "FRONTDESK_CLUB_URL="+proxy.URL+"/sim")
			registration := client.RegisterWith(
				client.Club(), frontdesktest.Person(),
				api.NewItem{OfferId: "101", StartDate: new(time.Now().AddDate(0, 0, 1).Format(time.DateOnly))},
				api.NewItem{OfferId: frontdesktest.FreeTrial},
			)
			path := "/v1/registrations/" + registration.Id
			proxy.Add(
				&frontdesktest.Breakpoint{
					Operation: frontdesktest.Operation{Name: "article", Method: http.MethodPost, Path: "/sim/demo/sales/*/articles"},
					Phase:     frontdesktest.BeforeResponse,
					OnHit:     func() { stop(gateway, env) },
				},
			)
			if response, err := client.Try("DELETE", path+"/items/"+registration.Cart.Items[1].Id, nil); err == nil {
				response.Problem(api.StorageUnavailable)
			}
			_, survivor := env.Gateway(t)
			survivor.Token = client.Token
			var left api.Registration
			frontdesktest.Eventually(t, "the registration can be read", func() bool { return survivor.Do("GET", path, nil).Status == http.StatusOK })
			survivor.Do("GET", path, nil).Into(http.StatusOK, &left)
			if left.Cart.Revision != registration.Cart.Revision || len(left.Cart.Items) != 2 {
				t.Errorf("the cart became %+v", left.Cart)
			}
			var removed *frontdesktest.Response
			frontdesktest.Eventually(t, "no article is on its way any more", func() bool {
				removed = survivor.Do("DELETE", path+"/items/"+registration.Cart.Items[1].Id, nil)
				return removed.Status != http.StatusServiceUnavailable
			})
			removed.Into(http.StatusOK, &left)
			survivor.Confirm(survivor.Pay(registration.Id), frontdesktest.ApprovedCard)
			survivor.Await(registration.Id, api.Completed)
			env.ExpectOnePayment(t, left.Cart.DueNow.Amount)
		})
	}
}

// TestItemIsDescribed checks that a page of the cart needs neither clubs nor catalogue: an item is described as it was when the
// buyer chose it, even while the catalogue cannot be read.
func TestItemIsDescribed(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	var club api.ClubDetails
	client.Do("GET", "/v1/clubs/11", nil).Into(http.StatusOK, &club)
	flex, quarter := frontdesktest.DebitItem("2031-03-01"), api.NewItem{OfferId: "201", StartDate: new("2031-03-01")}
	offers := map[string]api.Product{}
	for _, item := range []api.NewItem{flex, quarter} {
		var product api.Product
		client.Do("GET", "/v1/clubs/11/offers/"+item.OfferId, nil).Into(http.StatusOK, &product)
		offers[item.OfferId] = product
	}
	if offers[flex.OfferId].Offers[0].Image == nil || offers[quarter.OfferId].Offers[0].Commitment == nil {
		t.Fatalf("nothing to show: %+v", offers)
	}
	registration := client.RegisterWith("11", frontdesktest.Person(), flex, quarter)
	client.Control("PUT", "faults", `[{"match": {"method": "GET", "path": "/*products"}, "kind": "error_before"}]`).Into(http.StatusOK, nil)
	before := len(client.Calls())
	registration = client.Registration(registration.Id)
	if name := frontdesktest.Value(registration.ClubName); name != club.Name {
		t.Errorf("the club is called %q, want %q", name, club.Name)
	}
	due, taxes := registration.Cart.DueNow.Amount, frontdesktest.Value(registration.Cart.Taxes)
	if len(taxes) != 1 || taxes[0].Percent != 20 || taxes[0].Included.Amount != 1148+2483 || taxes[0].Net.Amount != due-1148-2483 {
		t.Errorf("of %d, taxes are %+v", due, taxes)
	}
	for _, item := range registration.Cart.Items {
		product := offers[frontdesktest.Value(item.OfferId)]
		offer := product.Offers[0]
		if frontdesktest.Value(item.Type) != product.Type || frontdesktest.Value(item.Commitment) != frontdesktest.Value(offer.Commitment) ||
			frontdesktest.Value(item.Image).Url != frontdesktest.Value(offer.Image).Url {
			t.Errorf("the item is %+v, the offer %+v", item, offer)
		}
	}
	if calls := client.Calls()[before:]; len(calls) > 0 {
		t.Errorf("the club system was asked for %+v", calls)
	}
}
