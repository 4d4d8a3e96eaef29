package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

func TestBadScheduleQueries(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	at := "/v1/clubs/" + client.Club()
	schedule := at + "/offers/901/schedule"
	for name, test := range map[string]struct {
		path     string
		code     api.ProblemCode
		pointers string
	}{
		"unknown club":                {"/v1/clubs/999/offers/901/schedule", api.ClubNotFound, ""},
		"unknown offer":               {at + "/offers/999/schedule?startDate=2020-01-01", api.OfferNotFound, ""},
		"offer of another channel":    {at + "/offers/2701/schedule", api.OfferNotFound, ""},
		"an invalid offer id":         {at + "/offers/a%2Fb/schedule", api.OfferNotFound, ""},
		"a day that does not exist":   {schedule + "?startDate=2030-02-30", api.InvalidRequest, "query/startDate"},
		"no leap year":                {schedule + "?startDate=2027-02-29", api.InvalidRequest, "query/startDate"},
		"a day in the past":           {schedule + "?startDate=2020-01-01", api.InvalidRequest, "query/startDate"},
		"too far":                     {schedule + "?startDate=2099-01-01", api.InvalidRequest, "query/startDate"},
		"no date at all":              {schedule + "?startDate=soon", api.InvalidRequest, "query/startDate"},
		"the club debits on others":   {schedule + "?startDate=2030-01-15&debitDay=7", api.InvalidRequest, "query/debitDay"},
		"no day of any month":         {schedule + "?debitDay=32", api.InvalidRequest, "query/debitDay"},
		"day zero":                    {schedule + "?debitDay=0", api.InvalidRequest, "query/debitDay"},
		"even where nothing is":       {at + "/offers/101/schedule?debitDay=7", api.InvalidRequest, "query/debitDay"},
		"everything at once":          {schedule + "?startDate=2027-02-29&debitDay=7", api.InvalidRequest, "query/startDate query/debitDay"},
		"everything, one unreadable":  {schedule + "?startDate=2020-01-01&debitDay=five", api.InvalidRequest, "query/debitDay query/startDate"},
		"days of no club":             {"/v1/clubs/999/debit-days", api.ClubNotFound, ""},
		"days from 30 February":       {at + "/debit-days?startDate=2030-02-30", api.InvalidRequest, "query/startDate"},
		"days from one in the past":   {at + "/debit-days?startDate=1999-12-31", api.InvalidRequest, "query/startDate"},
		"days from one far from now":  {at + "/debit-days?startDate=2199-12-31", api.InvalidRequest, "query/startDate"},
		"days from an invalid date":   {at + "/debit-days?startDate=2030-1-1", api.InvalidRequest, "query/startDate"},
		"a schedule cannot be posted": {schedule, api.MethodNotAllowed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			method := "GET"
			if test.code == api.MethodNotAllowed {
				method = "POST"
			}
			if got := pointers(client.WithT(t).Do(method, test.path, nil).Problem(test.code)); got != test.pointers {
				t.Errorf("points at %q, want %q", got, test.pointers)
			}
		})
	}
}

// TestDatesOfPurchase: a date on which no schedule can start is refused as a start date, a debit date and a
// purchase date, with the same message.
func TestDatesOfPurchase(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	at := "/v1/clubs/" + client.Club()
	post := func(path, body string) *frontdesktest.Response {
		return client.Do("POST", path, body, frontdesktest.Key(""))
	}
	startWith := func(items string) *frontdesktest.Response {
		return post("/v1/registrations", `{"clubId":"`+client.Club()+`","person":`+person+`,"items":[`+items+`]}`)
	}
	var begun api.Registration
	post("/v1/registrations", `{"clubId":"`+client.Club()+`","person":`+person+`}`).Into(http.StatusCreated, &begun)
	items := "/v1/registrations/" + begun.Id + "/items"
	client.Token = *begun.Token
	far := time.Now().UTC().AddDate(5, 0, 2).Format(time.DateOnly)
	for _, day := range []string{"2020-01-01", "1900-01-01", far, "9999-12-31", "2027-02-30", "2027-02-29"} {
		words := value(client.Do("GET", at+"/offers/901/schedule?startDate="+day, nil).Problem(api.InvalidRequest).Errors)[0].Text
		for pointer, response := range map[string]*frontdesktest.Response{
			"/items/1/startDate":  startWith(`{"offerId":"101","startDate":"2030-01-15"},{"offerId":"101","startDate":"` + day + `"}`),
			"/items/0/debit/from": startWith(`{"offerId":"901","startDate":"2030-01-15","debit":{"from":"` + day + `"}}`),
			"/startDate":          post(items, `{"offerId":"101","startDate":"`+day+`"}`),
			"/debit/from":         post(items, `{"offerId":"901","startDate":"2030-01-15","debit":{"day":10,"from":"`+day+`"}}`),
			"query/date":          client.Do("GET", at+"/products?date="+day, nil),
		} {
			problem := response.Problem(api.InvalidRequest)
			if got := value(problem.Errors); len(got) != 1 || frontdesktest.Place(got[0]) != pointer || got[0].Text != words {
				t.Errorf("%s at %s: %+v, want %q", day, pointer, got, words)
			}
		}
	}
	var details api.ClubDetails
	client.Do("GET", at, nil).Into(http.StatusOK, &details)
	for _, day := range []string{details.StartDates.Earliest, details.StartDates.Latest} {
		client.Do("GET", at+"/products?date="+day, nil).Into(http.StatusOK, nil)
		post(items, `{"offerId":"901","startDate":"`+day+`","debit":{"from":"`+day+`"}}`).Into(http.StatusCreated, nil)
	}
}

// TestScheduleWhileTheClubSystemFails: requests that need the club system fail, and succeed once it is back.
// Each path has its own gateway, so that failures of one do not open the breaker of the other.
func TestScheduleWhileTheClubSystemFails(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/offers/901/schedule", "/debit-days"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			client := newVisitor(t)
			path := "/v1/clubs/" + client.Club() + path
			fail := func(kind string, status string) {
				fault := `{"match":{"method":"GET","path":"/allowed_debit_days"},"kind":"` + kind + `"` + status + `}`
				client.Control("PUT", "faults", "["+fault+"]")
			}
			fail("error_before", `,"status":500`)
			client.Do("GET", path, nil).Problem(api.ClubSystemFailed)
			fail("error_before", `,"status":503`)
			client.Do("GET", path, nil).Problem(api.ClubSystemUnavailable)
			fail("malformed", ``)
			client.Do("GET", path, nil).Problem(api.ClubSystemFailed)
			client.Control("PUT", "faults", "[]")
			frontdesktest.Eventually(t, "the club system is read again", func() bool { return client.Do("GET", path, nil).Status == 200 })
		})
	}
}

// TestDueToday: the amount that the catalogue shows as due today equals that of a cart that starts today, even
// if the first month is prorated.
func TestDueToday(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	prorated := 0
	for path := "/v1/clubs/" + client.Club() + "/products"; path != ""; {
		var page api.ProductList
		client.Do("GET", path, nil).Into(http.StatusOK, &page)
		path = ""
		if page.Next != nil {
			path = "/v1/clubs/" + client.Club() + "/products?cursor=" + *page.Next
		}
		for _, product := range page.Items {
			for _, offer := range product.Offers {
				if !offer.Prorated {
					if offer.DueToday.Price.Amount < offer.ListPrice.Amount || offer.DueToday.Basis != api.Exact {
						t.Errorf("%s: %+v is due today, of %+v", offer.Name, offer.DueToday, offer.ListPrice)
					}
					if offer.DueToday.Price.Amount == offer.ListPrice.Amount { // without extras
						continue
					}
				} else {
					prorated++
				}
				var begun api.Registration
				body := `{"clubId":"` + client.Club() + `","person":` + person +
					`,"items":[{"offerId":"` + offer.Id + `","startDate":"` + offer.DueToday.Date + `"}]}`
				client.WithT(t).Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &begun)
				if got := begun.Cart.DueNow; got != offer.DueToday.Price {
					t.Errorf("%s: the cart costs %+v, the catalogue says %+v", offer.Name, got, offer.DueToday)
				}
			}
		}
	}
	if prorated == 0 {
		t.Error("the catalogue has no prorated offer")
	}
}

// TestRegularDebit: what the catalogue says that each debit takes is what the schedules of the offers have, and only
// an offer whose debits differ says nothing.
func TestRegularDebit(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	var page api.ProductList
	client.Do("GET", "/v1/clubs/"+client.Club()+"/products", nil).Into(http.StatusOK, &page)
	said := map[string]string{}
	for _, product := range page.Items {
		for _, offer := range product.Offers {
			if offer.Billing == nil {
				continue
			}
			var plan api.Schedule
			client.Do("GET", "/v1/clubs/"+client.Club()+"/offers/"+offer.Id+"/schedule", nil).Into(http.StatusOK, &plan)
			var amounts []int64
			for _, debit := range plan.Debits {
				amounts = append(amounts, debit.Price.Amount)
			}
			if plan.Recurrence != nil {
				amounts = append(amounts, plan.Recurrence.Price.Amount)
			}
			slices.Sort(amounts)
			amounts = slices.Compact(amounts)
			debit := offer.Billing.Debit
			if len(amounts) == 1 && (debit == nil || debit.Price != (api.Money{Amount: amounts[0], Currency: "EUR"})) ||
				len(amounts) > 1 && debit != nil {
				t.Errorf("%s: its debits take %v, the catalogue says %+v", offer.Name, amounts, debit)
			}
			if debit != nil {
				said[offer.Name] = fmt.Sprint(debit.Price.Amount, " ", debit.Basis)
			}
		}
	}
	if said["Off-Peak, monthly debit"] != "2557 estimated" || said["Commit 52, every four weeks"] != "2760 exact" ||
		said["Easy Start 12, monthly"] != "" {
		t.Errorf("the catalogue says %v", said)
	}
}
