package journey_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// Zones where the day ends late, and where it begins early.
var west, east = awayFromMidnight("Pacific/Pago_Pago", "Etc/GMT+12"), awayFromMidnight("Pacific/Kiritimati", "Pacific/Apia")

// awayFromMidnight returns the zone whose day does not end during the tests.
func awayFromMidnight(zone, other string) string {
	at, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	if time.Now().In(at).Hour() == 23 {
		return other
	}
	return zone
}

// clubsFile is an operator's file.
var clubsFile = `
defaults:
  email: chain@lumen.example
  groups: {a: {en: Best sellers, fr: Les plus demandés}}
  products:
    "9": {name: {fr: Liberté}, description: {fr: Sans engagement.}}
    "25": {name: Key}
  labels: {Registration fee: {fr: Frais d’inscription}}
  offers:
    "301": {name: {fr: Premium annuel}, extras: ["2501", "9999"], ages: {min: 16, max: 99}, facts: [{en: All day, fr: Toute la journée}]}
    "1501": {extras: ["2501"]}
    "401": {ages: {min: 18}}
    "901": {name: {fr: "Liberté, chaque mois"}}
    "2501": {name: Key}
    "201": {group: a, order: 1, highlight: true, image: {url: /club.svg, alt: The gym}, earliestStart: 2030-06-01, latestStart: 2030-08-31}
clubs:
  "11":
    timeZone: ` + west + `
    phone: "+33100000000"
    address: {city: Elsewhere}
    openingHours: [{days: [monday], opens: "06:00", closes: "23:00"}]
    images: [{url: "https://lumen.example/a.jpg", alt: {en: The gym, fr: La salle}}]
    location: {latitude: 48.5, longitude: 2.5}
    trader: {name: Lumen SAS, vatId: FR83552100554}
  "12": {timeZone: ` + east + `}
`

// withClubs starts a gateway with the operator's file.
func withClubs(t *testing.T) (frontdesktest.Env, *frontdesktest.Client) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clubs.yaml")
	if err := os.WriteFile(file, []byte(clubsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t, "FRONTDESK_CLUBS_FILE="+file)
	c.UpstreamsURL = s.Upstreams.URL
	return s, c
}

// TestClubDetails checks that details from the club system take precedence over the operator's file.
func TestClubDetails(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	var club api.ClubDetails
	client.Do("GET", "/v1/clubs/11", nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &club)
	if club.Name != "Lumen Bastille" || !slices.Equal(club.Path, []string{"Lumen Fitness", "Lumen Paris"}) || club.Address.City != "Paris" ||
		*club.Phone != "+33199000011" ||
		*club.Currency != "EUR" {
		t.Errorf("the club system's details are %+v", club)
	}
	if *club.Email != "chain@lumen.example" || *club.TimeZone != west || club.Location.Latitude != 48.5 || len(club.OpeningHours) != 1 ||
		club.Trader.Name != "Lumen SAS" || club.Creditor.Name != "Lumen SAS" {
		t.Errorf("the operator's details are %+v", club)
	}
	if len(club.Images) != 1 || club.Images[0].Alt != "La salle" {
		t.Errorf("the images are %+v", club.Images)
	}
	client.Do("GET", "/v1/clubs/99", nil).Problem(api.ClubNotFound)
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	for _, one := range clubs.Items {
		if one.Address == nil || one.Address.City == "" || one.Address.Street == nil {
			t.Errorf("club %s has the address %+v", one.Id, one.Address)
		}
	}
}

// TestClubsWithoutDetails checks that the list does not need any club to be readable.
func TestClubsWithoutDetails(t *testing.T) {
	t.Parallel()
	s, client := withClubs(t)
	fault := clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/clubs/*"}, Kind: "error_before", Status: 500}
	if err := s.Upstreams.Sim.SetFaults([]clubsim.Fault{fault}); err != nil {
		t.Fatal(err)
	}
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	if len(clubs.Items) != 5 || clubs.Items[0].Address == nil || clubs.Items[0].Address.City != "Elsewhere" || clubs.Items[1].Address != nil {
		t.Errorf("the clubs are %+v", clubs.Items)
	}
	client.Do("GET", "/v1/clubs/11", nil).Problem(api.ClubSystemFailed)
}

// TestTodayIsTheClubs checks that every route judges a date by the club's own day, exactly.
func TestTodayIsTheClubs(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	for club, zone := range map[string]string{"11": west, "12": east} {
		at, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		day := func(ahead int) string { return time.Now().In(at).AddDate(0, 0, ahead).Format(time.DateOnly) }
		var details api.ClubDetails
		client.Do("GET", "/v1/clubs/"+club, nil).Into(http.StatusOK, &details)
		if details.StartDates.Earliest != day(0) {
			t.Errorf("club %s accepts start dates from %s, want %s", club, details.StartDates.Earliest, day(0))
		}
		var schedule api.Schedule
		client.Do("GET", "/v1/clubs/"+club+"/offers/901/schedule", nil).Into(http.StatusOK, &schedule)
		if schedule.StartDate != day(0) || schedule.DueNow.Date != day(0) {
			t.Errorf("the schedule of club %s starts on %s and is due on %s", club, schedule.StartDate, schedule.DueNow.Date)
		}
		for _, path := range []string{"/offers/901/schedule?startDate=", "/debit-days?startDate=", "/products?date="} {
			client.Do("GET", "/v1/clubs/"+club+path+day(0), nil).Into(http.StatusOK, nil)
			problem := client.Do("GET", "/v1/clubs/"+club+path+day(-1), nil).Problem(api.InvalidRequest)
			if fields := *problem.Errors; fields[0].Code != "date_too_early" || (*fields[0].Params)["earliest"] != day(0) {
				t.Errorf("%s%s: %+v", path, day(-1), fields)
			}
		}
		start := func(date string) *frontdesktest.Response {
			return client.Do(
				"POST", "/v1/registrations",
				api.StartRegistration{ClubId: club, Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: "101", StartDate: &date}}},
				frontdesktest.Key(""),
			)
		}
		problem := start(day(-1)).Problem(api.InvalidRequest)
		fields := *problem.Errors
		if len(fields) != 1 || frontdesktest.Place(fields[0]) != "/items/0/startDate" || fields[0].Code != "date_too_early" {
			t.Errorf("a start yesterday: %+v", fields)
		}
		var registration api.Registration
		start(day(1)).Into(http.StatusCreated, &registration)
		client.Token = *registration.Token
		pay := func(due string) *frontdesktest.Response {
			return client.Do(
				"POST", "/v1/registrations/"+registration.Id+"/payment", map[string]string{"method": "later", "dueDate": due},
				frontdesktest.Key(""),
			)
		}
		fields = *pay(day(-1)).Problem(api.InvalidRequest).Errors
		if frontdesktest.Place(fields[0]) != "/dueDate" || fields[0].Code != "date_too_early" {
			t.Errorf("due yesterday: %+v", fields)
		}
		fields = *pay(day(91)).Problem(api.InvalidRequest).Errors
		if frontdesktest.Place(fields[0]) != "/dueDate" || fields[0].Code != "date_too_late" {
			t.Errorf("due after the latest day: %+v", fields)
		}
		if latest := registration.Next[0].LatestDueDate; latest == nil || *latest != day(90) {
			t.Errorf("the latest due date is %v, want %s", latest, day(90))
		}
		pay(day(0)).Into(http.StatusCreated, nil)
		client.Token = ""
	}
}

// TestOfferOfALink reads one offer with its product, as the operator presents it, for callers who may
// see it.
func TestOfferOfALink(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	var product api.Product
	client.Do("GET", "/v1/clubs/11/offers/201", nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &product)
	if product.Id != "2" || len(product.Offers) != 1 || product.Offers[0].Id != "201" || product.Offers[0].DebitChoice != api.DebitChoiceNone {
		t.Fatalf("the product is %+v", product)
	}
	offer := product.Offers[0]
	if offer.Group.Name != "Les plus demandés" || *offer.Order != 1 || !*offer.Highlight || offer.StartDates.Earliest != "2030-06-01" ||
		offer.StartDates.Latest != "2030-08-31" {
		t.Errorf("the offer is shown as %+v", offer)
	}
	if response := client.Do("GET", offer.Image.Url, nil); response.Status != http.StatusOK {
		t.Errorf("its image %s has the status %d", offer.Image.Url, response.Status)
	}
	client.Do("GET", "/v1/clubs/11/offers/201/schedule?startDate=2030-06-01", nil).Into(http.StatusOK, nil)
	for _, date := range []string{"2030-05-31", "2030-09-01"} {
		client.Do("GET", "/v1/clubs/11/offers/201/schedule?startDate="+date, nil).Problem(api.InvalidRequest)
		client.Do("POST", "/v1/registrations", api.StartRegistration{
			ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: "201", StartDate: &date}},
		}, frontdesktest.Key("")).Problem(api.InvalidRequest)
	}
	for id, want := range map[string]api.DebitChoice{
		"901":  api.DebitChoiceMonthDay,
		"902":  api.DebitChoiceWeekDay,
		"1001": api.DebitChoiceWeekDay,
	} {
		product = api.Product{}
		client.Do("GET", "/v1/clubs/11/offers/"+id, nil).Into(http.StatusOK, &product)
		if got := product.Offers[0]; got.DebitChoice != want || got.Group != nil || got.StartDates != nil {
			t.Errorf("offer %s is %+v", id, got)
		}
	}
	if tax := product.Offers[0].Billing.Entries[0].Tax; tax == nil || tax.Percent != 20 ||
		tax.Net.Amount+tax.Included.Amount != product.Offers[0].Billing.Entries[0].Price.Amount {
		t.Errorf("the tax is %+v", tax)
	}
	client.Do("GET", "/v1/clubs/11/offers/9999", nil).Problem(api.OfferNotFound)
}

// TestNamesInTheVisitorsLanguage checks that the operator's file translates the club system's names in
// the catalogue, schedules and carts. For a language that it lacks, the club system's names are used.
func TestNamesInTheVisitorsLanguage(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	start := frontdesktest.Day(1)
	registration := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: "301", StartDate: &start})
	holder := *client
	client.Token = ""
	for range 2 { // the second time from the cache
		for language, want := range map[string]struct{ product, about, offer, fee, line, badge string }{
			"fr": {"Liberté", "Sans engagement.", "Liberté, chaque mois", "Frais d’inscription", "Premium annuel", "Key"},
			"en": {"Flex", "Our most popular plan", "Flex, monthly", "Registration fee", "Premium Year, paid once", "Key"},
			"de": {"Flex", "Our most popular plan", "Flex, monthly", "Registration fee", "Premium Year, paid once", "Key"},
		} {
			accept := [2]string{"Accept-Language", language}
			var list api.ProductList
			response := client.Do("GET", "/v1/clubs/11/products", nil, accept)
			response.Into(http.StatusOK, &list)
			if vary := response.Header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
				t.Errorf("the list varies by %q", vary)
			}
			at := slices.IndexFunc(list.Items, func(p api.Product) bool { return p.Id == "9" })
			var one api.Product
			client.Do("GET", "/v1/clubs/11/offers/901", nil, accept).Into(http.StatusOK, &one)
			for _, product := range []api.Product{list.Items[at], one} {
				offer := product.Offers[0]
				if product.Name != want.product || !strings.HasPrefix(*product.Description, want.about) ||
					offer.Name != want.offer || *offer.RegistrationFee.Name != want.fee {
					t.Errorf(
						"in %s the product is %q, %q; %q with %q", language, product.Name, *product.Description, offer.Name,
						*offer.RegistrationFee.Name,
					)
				}
			}
			var schedule api.Schedule
			response = client.Do("GET", "/v1/clubs/11/offers/901/schedule", nil, accept)
			response.Into(http.StatusOK, &schedule)
			if name := schedule.DueNow.Parts[0].Name; name == nil || *name != want.fee || response.Header.Get("Content-Language") == "" {
				t.Errorf("in %s the schedule has %+v", language, schedule.DueNow)
			}
			var cart api.Registration
			holder.Do("GET", "/v1/registrations/"+registration.Id, nil, accept).Into(http.StatusOK, &cart)
			if items := cart.Cart.Items; len(items) != 2 || items[0].Name != want.line || items[1].Name != want.badge ||
				cart.Cart.Changes[0].Name != want.badge ||
				cart.Cart.Revision != registration.Cart.Revision {
				t.Errorf("in %s the cart is %+v", language, cart.Cart)
			}
		}
	}
}

// TestExtrasAreInThePrice checks that what the club adds to the cart is in the offer's price and
// schedule, in every part of the catalogue, if the operator's file names it.
func TestExtrasAreInThePrice(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	start := frontdesktest.Day(1)
	for id, want := range map[string]int64{"301": 70400, "1501": 9390} {
		var list api.ProductList
		client.Do("GET", "/v1/clubs/11/products?type=subscription", nil).Into(http.StatusOK, &list)
		var one api.Product
		client.Do("GET", "/v1/clubs/11/offers/"+id, nil, [2]string{"Accept-Language", "fr"}).Into(http.StatusOK, &one)
		for _, product := range append(list.Items, one) {
			offer := product.Offers[0]
			if product.Type != "subscription" {
				t.Errorf("%s is listed as a subscription", product.Name)
			}
			key := api.OfferExtra{OfferId: "2501", Name: "Key", Price: api.Money{Amount: 500, Currency: "EUR"}}
			if offer.Id == id && (offer.DueToday.Price.Amount != want || len(*offer.Extras) != 1 || (*offer.Extras)[0] != key) {
				t.Errorf("offer %s is %+v with %+v", id, offer.DueToday, offer.Extras)
			}
		}
		var schedule api.Schedule
		client.Do("GET", "/v1/clubs/11/offers/"+id+"/schedule", nil).Into(http.StatusOK, &schedule)
		if due := schedule.DueNow; due.Price.Amount != want || !slices.Equal(*due.Extras, *one.Offers[0].Extras) ||
			schedule.FirstStatement[0].Price.Amount != want {
			t.Errorf("the schedule of %s is %+v", id, schedule)
		}
		cart := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: id, StartDate: &start}).Cart
		client.Token = ""
		if cart.DueNow.Amount != want {
			t.Errorf("the cart of %s costs %d, its card says %d", id, cart.DueNow.Amount, want)
		}
		if id == "301" && (*one.Offers[0].Ages.Min != 16 || *one.Offers[0].Ages.Max != 99 || (*one.Offers[0].Facts)[0] != "Toute la journée") {
			t.Errorf("its facts are %+v, %+v", one.Offers[0].Ages, one.Offers[0].Facts)
		}
	}
}

// TestAgeProblemHasTheAges checks that a cart problem has the ages that would be accepted, for a text of
// the front end's own.
func TestAgeProblemHasTheAges(t *testing.T) {
	t.Parallel()
	_, c := withClubs(t)
	child := frontdesktest.Person()
	child.BirthDate = time.Now().AddDate(-15, 0, 0).Format(time.DateOnly)
	cart := c.RegisterWith("11", child, api.NewItem{OfferId: "401", StartDate: new(frontdesktest.Day(1))}).Cart
	limits := map[api.CartProblemCode]api.TextParams{}
	for _, problem := range cart.Problems {
		limits[problem.Code] = frontdesktest.Value(problem.Params)
	}
	if ages := limits["age_restricted"]; len(ages) != 1 || ages["min"] != "18" {
		t.Errorf("the ages are %v in %+v", ages, cart.Problems)
	}
}

// TestDemoCatalogueInFrench checks that the demo clubs have French names for everything they sell.
func TestDemoCatalogueInFrench(t *testing.T) {
	t.Parallel()
	c, _ := frontdesktest.NewWorld(t)
	listed := func(club, channel, language string) (all []api.Product) {
		for cursor := ""; ; {
			var page api.ProductList
			path := "/v1/clubs/" + club + "/products?channel=" + channel + cursor
			c.Do("GET", path, nil, frontdesktest.StaffKey(), [2]string{"Accept-Language", language}).Into(http.StatusOK, &page)
			all = append(all, page.Items...)
			if page.Next == nil {
				return all
			}
			cursor = "&cursor=" + *page.Next
		}
	}
	same := []string{"Flex", "Premium", "Espresso"} // in both languages
	for _, club := range []string{"11", "12", "13"} {
		for _, channel := range []string{"web", "club"} {
			french := listed(club, channel, "fr")
			for i, english := range listed(club, channel, "en") {
				product := french[i]
				if *product.Description == *english.Description || product.Name == english.Name && !slices.Contains(same, product.Name) {
					t.Errorf("product %s is called %q, %q in French", product.Id, product.Name, *product.Description)
				}
				for k, offer := range english.Offers {
					if offer.Name == product.Offers[k].Name && !slices.Contains(same, offer.Name) {
						t.Errorf("offer %s is called %q in French", offer.Id, offer.Name)
					}
				}
			}
		}
	}
}

// TestOffersOfTheDesk checks that offers sold only at the club are shown to staff, and never to a
// visitor, not even from the cache.
func TestOffersOfTheDesk(t *testing.T) {
	t.Parallel()
	_, client := withClubs(t)
	for _, path := range []string{
		"/v1/clubs/11/products?channel=club", "/v1/clubs/11/offers/2701?channel=club",
		"/v1/clubs/11/offers/2701/schedule?channel=club",
	} {
		client.Do("GET", path, nil).Problem(api.StaffOnly)
		client.Do("GET", path, nil, frontdesktest.StaffKey()).Into(http.StatusOK, nil)
		if fields := *client.Do("GET", path, nil).Problem(api.StaffOnly).Errors; frontdesktest.Place(fields[0]) != "query/channel" {
			t.Errorf("%s: %+v", path, fields)
		}
	}
	client.Do("GET", "/v1/clubs/11/offers/2701", nil).Problem(api.OfferNotFound)
	client.Do("GET", "/v1/clubs/11/products?channel=web", nil).Into(http.StatusOK, nil)
	client.Do("GET", "/v1/clubs/11/products?channel=shop", nil, frontdesktest.StaffKey()).Problem(api.InvalidRequest)
}

// TestScheduleOfAContact checks that only the contact sees the schedule of an offer that only the
// contact can buy.
func TestScheduleOfAContact(t *testing.T) {
	t.Parallel()
	_, c := withClubs(t)
	own := c.WithT(t)
	own.Token = c.Persona("customer").IdentityToken // with the tag corporate
	for _, path := range []string{"/v1/clubs/11/offers/1601", "/v1/clubs/11/offers/1601/schedule"} {
		own.Do("GET", path, nil).Into(http.StatusOK, nil)
		c.Do("GET", path, nil).Problem(api.OfferNotFound)
	}
}
