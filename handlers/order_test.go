package handlers_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// ordered starts a registration with offers from tomorrow on, debited on the tenth where they are debited.
func ordered(client *frontdesktest.Client, offers ...string) api.Registration {
	var items []api.NewItem
	start := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	for _, offer := range offers {
		item := api.NewItem{OfferId: offer, StartDate: &start}
		if offer == frontdesktest.DirectDebit || offer == "1201" {
			item = frontdesktest.DebitItem(start)
			item.OfferId = offer
		}
		items = append(items, item)
	}
	return client.RegisterWith("11", frontdesktest.Person(), items...)
}

// TestOrderOfARegistration: the order has the button and the terms of its cart, and agrees with the cart's schedule.
func TestOrderOfARegistration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offers []string
		button api.OrderButton
		basis  api.ScheduleBasis
	}{
		"paid once":           {[]string{"101"}, api.ButtonPayNow, api.Exact},
		"free":                {[]string{frontdesktest.FreeTrial}, api.ButtonFree, api.Exact},
		"endless":             {[]string{frontdesktest.DirectDebit}, api.ButtonWithObligation, api.Exact},
		"debits that end":     {[]string{"1201"}, api.ButtonWithObligation, api.Exact},
		"priced by the week":  {[]string{"1701"}, api.ButtonWithObligation, api.Estimated},
		"several of a kind":   {[]string{"101", "4001", frontdesktest.FreeTrial}, api.ButtonPayNow, api.Exact},
		"one of them debited": {[]string{"101", frontdesktest.DirectDebit}, api.ButtonWithObligation, api.Exact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newVisitor(t)
			registration := ordered(client, test.offers...)
			order := client.Registration(registration.Id).Order
			if order == nil || order.Button != test.button || order.Essentials.Basis != test.basis {
				t.Fatalf("the order is %+v", order)
			}
			var costs api.CartSchedule
			client.Do("GET", "/v1/registrations/"+registration.Id+"/schedule", nil).Into(http.StatusOK, &costs)
			essentials := order.Essentials
			if essentials.DueNow != costs.DueNow.Price || !reflect.DeepEqual(essentials.Total, costs.Total) ||
				len(essentials.Debits) != len(costs.Debits) || len(value(essentials.Recurrence)) != len(costs.Recurrences) {
				t.Errorf("the order is %+v, the schedule %+v", essentials, costs)
			}
			for i, item := range registration.Cart.Items {
				if got := essentials.Items[i]; got.ItemId != item.Id || got.Name != item.Name || got.Price != item.Price || got.Personalised != nil {
					t.Errorf("item %d is %+v in the order, and %+v in the cart", i, got, item)
				}
			}
		})
	}
}

// TestWithdrawalBeforeTheContract: each item has its right of withdrawal, in the buyer's language.
func TestWithdrawalBeforeTheContract(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	id := ordered(client, "101", "4001", frontdesktest.FreeTrial).Id
	var registration api.Registration
	client.Do("GET", "/v1/registrations/"+id, nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &registration)
	items := registration.Order.Essentials.Items
	pass, bottle, trial := items[0].Withdrawal, items[1].Withdrawal, items[2].Withdrawal
	last, err := time.Parse(time.DateOnly, value(pass.Until))
	days := int(time.Until(last).Hours()/24) + 1
	if err != nil || !pass.Right || value(pass.From) != api.WithdrawalFromContract || days < 13 || days > 16 || last.Weekday()%6 == 0 {
		t.Errorf("a year can be withdrawn from: %+v, in %d days", pass, days)
	}
	if !bottle.Right || value(bottle.From) != api.WithdrawalFromDelivery || bottle.Until != nil {
		t.Errorf("goods can be withdrawn from: %+v", bottle)
	}
	if !trial.Right || value(trial.From) != api.WithdrawalFromContract || value(trial.Until) != value(pass.Until) {
		t.Errorf("a trial without a fixed day can be withdrawn from: %+v", trial)
	}
}

// TestNoticeBeforeTheContract: a product with another notice than the club's has its own in the order.
func TestNoticeBeforeTheContract(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for offer, notice := range map[string]string{"901": "one month later", "1001": "one week later"} {
		client.Token = ""
		if got := value(ordered(client, offer).Order.Essentials.Notice); !strings.Contains(got, notice) || strings.Contains(got, ": ") {
			t.Errorf("%s ends so: %q", offer, got)
		}
	}
}

// TestOrderOfAnEmptyCart has no button to press.
func TestOrderOfAnEmptyCart(t *testing.T) {
	t.Parallel()
	if registration := newVisitor(t).RegisterWith("11", frontdesktest.Person()); registration.Order != nil {
		t.Errorf("the order is %+v", registration.Order)
	}
}

// TestOrderToPayLater: who has agreed to pay later is under a duty to pay.
func TestOrderToPayLater(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	id := ordered(client, "101").Id
	due := time.Now().AddDate(0, 0, 7).Format(time.DateOnly)
	client.RequestPayment(id, map[string]string{"method": "later", "dueDate": due}).Into(http.StatusCreated, nil)
	if order := client.Await(id, api.Completed).Order; order == nil || order.Button != api.ButtonWithObligation {
		t.Errorf("the order is %+v", order)
	}
}

// TestOrderWhileTheClubSystemFails: a registration can be read, and its order is the one that was shown.
func TestOrderWhileTheClubSystemFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"an error":  `{"match":{"method":"GET","path":"/products"},"kind":"error_before","status":500}`,
		"nonsense":  `{"match":{"method":"GET","path":"/products"},"kind":"malformed"}`,
		"no answer": `{"match":{"method":"GET","path":"/products"},"kind":"hang"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newGateway(t)
			id := ordered(client, "101").Id
			shown := client.Registration(id).Order
			client.Control("PUT", "faults", "["+fault+"]").Into(http.StatusOK, nil)
			client.Control("PUT", "settings", `{}`).Into(http.StatusOK, nil) // the gateway forgets what it has read
			order := client.Registration(id).Order
			if order.Button != api.ButtonPayNow || order.Essentials.Basis != api.Exact || !reflect.DeepEqual(order, shown) {
				t.Errorf("the order is %+v", order)
			}
		})
	}
}

// TestPersonalisedOrder: a member learns that a price depends on what the club knows of them.
func TestPersonalisedOrder(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	start := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	item := frontdesktest.DebitItem(start)
	item.OfferId = "1601"
	body, _ := json.Marshal(api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{item, {OfferId: "101", StartDate: &start}}})
	var registration api.Registration
	client.As("customer").Do("POST", "/v1/registrations", string(body), frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	items := registration.Order.Essentials.Items
	if !value(items[0].Personalised) || items[1].Personalised != nil {
		t.Errorf("the items are %+v", items)
	}
}
