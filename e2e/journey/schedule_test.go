package journey_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// simOffer holds the amounts of an offer as the simulator records it.
type simOffer struct {
	ID         int    `json:"id"`
	Name       string `json:"name"`
	Fee        int64  `json:"registrationFeeTI"`
	Total      int64  `json:"totalPriceTI"`
	FirstPaid  bool   `json:"isFirstMonthPayed"`
	Repayments struct {
		Occurrences, Recurrences []simEntry
	} `json:"repaymentSchedule"`
}

type simEntry struct {
	Offset, Interval string
	Loop             int
	Price            int64 `json:"priceTI"`
}

// loops is how often an entry of the demo organisation is repeated: its offsets are weeks of weeks.
func (e simEntry) loops() int64 {
	if e.Offset == "P52W" && e.Interval == "P1W" {
		return 52
	}
	return int64(e.Loop)
}

// sim asks the club system directly, without the gateway.
func sim(client *frontdesktest.Client, method, path string) *frontdesktest.Response {
	key := [2]string{"x-gateway-api-key", clubsim.DemoGatewayKey}
	var token struct {
		Value string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {clubsim.DemoClientID}, "client_secret": {clubsim.DemoClientSecret}}
	client.Do("POST", "/sim/oauth/v2/token", form.Encode(), key, [2]string{"Content-Type", "application/x-www-form-urlencoded"}).
		Into(http.StatusOK, &token)
	return client.Do(method, "/sim"+path, nil, key, [2]string{"Authorization", "Bearer " + token.Value},
		[2]string{"x-user-club-id", "/demo/clubs/11"}, [2]string{"x-user-network-node-id", "/demo/network_nodes/3"})
}

// catalogue reads every product of a club, page by page.
func catalogue(c *frontdesktest.Client, club string) (products []api.Product) {
	for cursor := ""; ; {
		var page api.ProductList
		c.Do("GET", "/v1/clubs/"+club+"/products?cursor="+cursor, nil).Into(http.StatusOK, &page)
		products = append(products, page.Items...)
		cursor = frontdesktest.Value(page.Next)
		if cursor == "" {
			return products
		}
	}
}

// TestScheduleOfEveryOffer compares the stated cost of every offer with the simulator's records of it,
// and with the cart that it makes.
func TestScheduleOfEveryOffer(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	club, seen := client.Club(), 0
	var days api.DebitDayList
	client.Do("GET", "/v1/clubs/"+club+"/debit-days?startDate=2030-01-16", nil).Into(http.StatusOK, &days)
	first := days.Items[0]
	for _, product := range catalogue(client, club) {
		for _, offer := range product.Offers {
			var schedule api.Schedule
			client.Do("GET", "/v1/clubs/"+club+"/offers/"+offer.Id+"/schedule?startDate=2030-01-16&debitDay=20", nil).Into(http.StatusOK, &schedule)
			var records simOffer
			sim(client, "GET", "/demo/offers/"+offer.Id).Into(http.StatusOK, &records)
			if schedule.OfferId != offer.Id || schedule.StartDate != "2030-01-16" || first.Day != 20 {
				t.Errorf("%s: asked for another schedule: %+v", offer.Name, schedule)
			}
			holdCart(t, client, club, offer, schedule)
			holdCartSchedule(t, client, offer, schedule)
			holdTotal(t, offer, schedule, records)
			seen++
		}
	}
	if seen < 30 {
		t.Errorf("only %d offers were seen", seen)
	}
}

// holdCart checks that the amount due now is the cart's, with what the club adds.
func holdCart(t *testing.T, c *frontdesktest.Client, club string, offer api.Offer, schedule api.Schedule) {
	t.Helper()
	start := schedule.StartDate
	var registration api.Registration
	c.Do("POST", "/v1/registrations", api.StartRegistration{
		ClubId: club, Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: offer.Id, StartDate: &start}},
	}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	if due := registration.Cart.DueNow; schedule.DueNow.Price != due {
		t.Errorf("%s: due now %d, in the cart %d", offer.Name, schedule.DueNow.Price.Amount, due.Amount)
	}
}

// holdCartSchedule checks that a cart with only this offer has the debits of the offer's schedule, for the same days.
func holdCartSchedule(t *testing.T, client *frontdesktest.Client, offer api.Offer, offered api.Schedule) {
	t.Helper()
	item := api.NewItem{OfferId: offer.Id, StartDate: &offered.StartDate}
	if slices.Contains(offer.Needs, api.OfferNeedDebit) {
		item.Debit = &api.Debit{Day: offered.DebitDay}
	}
	cart := cartSchedule(t, client, item)
	if len(cart.Debits) != len(offered.Debits) || len(cart.Recurrences) > 0 != (offered.Recurrence != nil) ||
		!reflect.DeepEqual(cart.Total, offered.Total) {
		t.Errorf("%s: the cart has %+v, the offer %+v", offer.Name, cart, offered)
		return
	}
	for i, debit := range offered.Debits {
		if got := cart.Debits[i]; got.Date != debit.Date || got.Price != debit.Price {
			t.Errorf("%s: debit %d is %+v in the cart, and %+v of the offer", offer.Name, i, got, debit)
		}
	}
	if r := offered.Recurrence; r != nil {
		if got := cart.Recurrences[0]; got.From != r.From || got.Every != r.Every || got.Price != r.Price {
			t.Errorf("%s: continues with %+v in the cart, and with %+v of the offer", offer.Name, got, r)
		}
	}
	if slices.Contains(frontdesktest.Value(cart.Rules), "price_differs") {
		t.Errorf("%s: the cart does not cost what the offer does: %+v", offer.Name, cart)
	}
}

// cartSchedule starts a registration with items, and returns the schedule of its cart. It is due today what the cart says.
func cartSchedule(t *testing.T, client *frontdesktest.Client, items ...api.NewItem) (computed api.CartSchedule) {
	t.Helper()
	registration := client.RegisterWith(client.Club(), frontdesktest.Person(), items...)
	client.Do("GET", "/v1/registrations/"+registration.Id+"/schedule", nil).Into(http.StatusOK, &computed)
	due := int64(0)
	for _, share := range computed.DueNow.Items {
		due += share.Price.Amount
	}
	if computed.DueNow.Price != registration.Cart.DueNow || due != computed.DueNow.Price.Amount ||
		computed.Revision != registration.Cart.Revision || len(computed.Items) != len(registration.Cart.Items) {
		t.Errorf("the schedule %+v is not that of the cart %+v", computed, registration.Cart)
	}
	return computed
}

// TestScheduleOfACart checks that the schedule of carts with several offers is the sum of the schedules of these offers.
func TestScheduleOfACart(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	var offers []api.Offer
	for _, product := range catalogue(client, client.Club()) {
		offers = append(offers, product.Offers...)
	}
	draw := rand.New(rand.NewPCG(46, 10)) // #nosec G404 -- the same carts each time
	for range 12 {
		var items []api.NewItem
		want := map[string]int64{} // by date, for the next two years
		draw.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
		for _, offer := range offers[:3] {
			start, day := time.Now().AddDate(0, 0, 3+draw.IntN(60)).Format(time.DateOnly), []int{5, 10, 20}[draw.IntN(3)]
			item := api.NewItem{OfferId: offer.Id, StartDate: &start}
			if slices.Contains(offer.Needs, api.OfferNeedDebit) {
				item.Debit = &api.Debit{Day: &day}
			}
			items = append(items, item)
			var one api.Schedule
			path := fmt.Sprintf("/v1/clubs/%s/offers/%s/schedule?startDate=%s&debitDay=%d", client.Club(), offer.Id, start, day)
			client.Do("GET", path, nil).Into(http.StatusOK, &one)
			for _, debit := range one.Debits {
				want[debit.Date] += debit.Price.Amount
			}
			if one.Recurrence != nil {
				addRecurring(want, one.Recurrence.From, one.Recurrence.Every, one.Recurrence.Price.Amount)
			}
		}
		cart, got := cartSchedule(t, client, items...), map[string]int64{}
		for _, debit := range cart.Debits {
			got[debit.Date] += debit.Price.Amount
		}
		for _, endless := range cart.Recurrences {
			addRecurring(got, endless.From, endless.Every, endless.Price.Amount)
		}
		if !reflect.DeepEqual(within(got), within(want)) {
			t.Errorf("the cart of %+v is debited %v, want %v", items, within(got), within(want))
		}
	}
}

// addRecurring adds the debits of two years that recur on a day of the month that every month has, or after weeks.
func addRecurring(debits map[string]int64, from, every string, amount int64) {
	date, _ := time.Parse(time.DateOnly, from)
	var n int
	var unit string
	_, _ = fmt.Sscanf(every, "P%d%s", &n, &unit)
	for range 105 {
		debits[date.Format(time.DateOnly)] += amount
		if unit == "W" {
			date = date.AddDate(0, 0, 7*n)
		} else {
			date = date.AddDate(0, n, 0)
		}
	}
}

// within returns the debits of the next 20 months.
func within(debits map[string]int64) map[string]int64 {
	last := time.Now().AddDate(0, 20, 0).Format(time.DateOnly)
	maps.DeleteFunc(debits, func(date string, _ int64) bool { return date > last })
	return debits
}

// holdTotal checks that the total is the fee and every billing period, and that an endless offer has no
// total.
func holdTotal(t *testing.T, offer api.Offer, schedule api.Schedule, records simOffer) {
	t.Helper()
	want := records.Total
	if occurrences := records.Repayments.Occurrences; len(occurrences) > 0 {
		want = records.Fee
		for _, entry := range occurrences {
			want += entry.Price * entry.loops()
		}
	}
	for _, part := range schedule.DueNow.Parts {
		if part.Kind == api.SchedulePartKindProrata {
			want += part.Price.Amount
		}
	}
	for _, extra := range frontdesktest.Value(schedule.DueNow.Extras) {
		want += extra.Price.Amount
	}
	endless := len(records.Repayments.Recurrences) > 0
	if (schedule.Recurrence != nil) != endless || (schedule.Total == nil) != endless || !endless && schedule.Total.Amount != want {
		t.Errorf("%s: in all %+v, endless %t; want %d, endless %t", offer.Name, schedule.Total, schedule.Recurrence != nil, want, endless)
	}
	if endless && schedule.Basis == api.Exact {
		periods := int64(0)
		for _, entry := range records.Repayments.Recurrences {
			periods += entry.Price
		}
		if schedule.Recurrence.Price.Amount != periods {
			t.Errorf("%s: continues with %d, want %d", offer.Name, schedule.Recurrence.Price.Amount, periods)
		}
	}
	if doubtful := slices.Contains([]string{"1301", "1401", "1701"}, offer.Id); doubtful != (schedule.Basis != api.Exact) {
		t.Errorf("%s: the basis is %s (%v)", offer.Name, schedule.Basis, frontdesktest.Value(schedule.Rules))
	}
}

// TestScheduleMatchesClubSystem follows a direct debit offer from the preview into the club system: the
// article there holds the day and the date that the visitor saw.
func TestScheduleMatchesClubSystem(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	club, start, day := client.Club(), time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly), 10
	var schedule api.Schedule
	client.Do("GET", "/v1/clubs/"+club+"/offers/1201/schedule?startDate="+start+"&debitDay=10", nil).Into(http.StatusOK, &schedule)
	var days api.DebitDayList
	client.Do("GET", "/v1/clubs/"+club+"/debit-days?startDate="+start, nil).Into(http.StatusOK, &days)
	at := slices.IndexFunc(days.Items, func(d api.DebitDay) bool { return d.Day == day })
	if len(schedule.Debits) != 13 || at < 0 || schedule.Debits[0].Date != days.Items[at].Date {
		t.Fatalf("the debits are %+v, the days %+v", schedule.Debits, days.Items)
	}
	var registration api.Registration
	client.Do("POST", "/v1/registrations", api.StartRegistration{
		ClubId: club, Person: frontdesktest.Person(),
		Items: &[]api.NewItem{{OfferId: "1201", StartDate: &start, Debit: &api.Debit{Day: &day, From: &schedule.Debits[0].Date}}},
	}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	for _, problem := range registration.Cart.Problems {
		if problem.Code == "debit_day_not_allowed" {
			t.Error("the club does not take its own debit day")
		}
	}
	var asked struct {
		Articles []struct {
			Wish struct {
				SpecificDay bool
				DebitDay    int
				StartDate   string
			} `json:"repaymentSchedule"`
			Implementation struct{ StartDate string }
		}
	}
	sim(client, "GET", saleOf(t, client)).Into(http.StatusOK, &asked)
	if len(asked.Articles) != 1 {
		t.Fatalf("the sale holds %+v", asked.Articles)
	}
	if got := asked.Articles[0]; !got.Wish.SpecificDay || got.Wish.DebitDay != day || got.Wish.StartDate != schedule.Debits[0].Date ||
		got.Implementation.StartDate != start {
		t.Errorf("the club was asked for %+v, the visitor was shown %s", got, schedule.Debits[0].Date)
	}
}

// saleOf finds the world's only sale through the calls that filled it.
func saleOf(t *testing.T, c *frontdesktest.Client) string {
	t.Helper()
	var calls struct{ Items []clubsim.Request }
	response := c.Do("GET", "/sim/demo/_control/requests", nil)
	if err := json.Unmarshal(response.Body, &calls); err != nil {
		t.Fatalf("%v in %s", err, response.Body)
	}
	for _, call := range calls.Items {
		if path, found := strings.CutSuffix(call.Path, "/articles"); found && call.Method == "POST" {
			return "/demo" + path
		}
	}
	t.Fatal("nothing was put into a sale")
	return ""
}

// TestScheduleWithoutDebitDay checks that the schedule shows the club's next debit day, and says that
// it was not chosen.
func TestScheduleWithoutDebitDay(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	club := client.Club()
	var schedule api.Schedule
	client.Do("GET", "/v1/clubs/"+club+"/offers/1601/schedule", nil).Problem(api.OfferNotFound) // for employees of partners only
	client.Do("GET", "/v1/clubs/"+club+"/offers/1501/schedule", nil).Into(http.StatusOK, &schedule)
	var days api.DebitDayList
	client.Do("GET", "/v1/clubs/"+club+"/debit-days", nil).Into(http.StatusOK, &days)
	if len(days.Items) != 3 || frontdesktest.Value(schedule.DebitDay) != days.Items[0].Day || schedule.Basis != api.Estimated ||
		!slices.Contains(frontdesktest.Value(schedule.Rules), "debit_day_open") {
		t.Errorf("of the days %+v the schedule is %+v", days.Items, schedule)
	}
	if len(schedule.FirstStatement) != 3 || schedule.FirstStatement[0].Kind != api.ScheduleMovementKindDueNow ||
		schedule.FirstStatement[1].Date != schedule.Recurrence.From {
		t.Errorf("the first statement is %+v", schedule.FirstStatement)
	}
}
