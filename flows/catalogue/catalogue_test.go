package catalogue_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// web selects the catalogue that these tests read.
var web = catalogue.ProductQuery{ClientToken: "demo", ClubID: "11", Channel: "web"}

func TestClubs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	offers := w.Gateway().Catalogue
	clubs := must(t, func() ([]catalogue.Club, error) {
		clubs, _, err := offers.Clubs(t.Context(), "demo")
		return clubs, err
	})
	paths := map[string]string{}
	for _, c := range clubs {
		paths[c.IRI.ID()] = strings.Join(c.Path, " / ") + " / " + c.Name
	}
	if len(clubs) < 3 || !strings.HasSuffix(paths["11"], " / Lumen Bastille") || strings.Count(paths["11"], " / ") < 2 {
		t.Errorf("the clubs are %v", paths)
	}
	at := must(t, func() (catalogue.Club, error) { return offers.Club(t.Context(), "demo", "11") })
	if at.Code != "PARIS11" || at.Currency != "EUR" || at.Scope != bastille {
		t.Errorf("the club is %+v", at)
	}
	for _, id := range []string{"99", "", "11/..", "1 1"} {
		if _, err := offers.Club(t.Context(), "demo", id); flows.CodeOf(err) != flows.ClubNotFound {
			t.Errorf("club %q: %v", id, err)
		}
	}
}

// entry is a debit of an offer, with 20% tax.
func entry(every string, price int64, times int) catalogue.BillingEntry {
	net := (price*200 + 120) / 240 // rounded half up
	return catalogue.BillingEntry{
		Every: every,
		Price: price,
		Times: times,
		Tax:   &catalogue.Tax{Percent: 20, Amount: price - net, Net: net},
	}
}

type entries = []catalogue.BillingEntry

// allNeeds are those of an offer with debits; sold are offers of the simulator.
var (
	allNeeds = []string{catalogue.NeedsStartDate, catalogue.NeedsDebit, catalogue.NeedsMandate}
	sold     = map[string]catalogue.Offer{
		"201":  {Name: "Quarter Pass, paid once", DueNow: 14900, Commitment: "P3M", Needs: []string{catalogue.NeedsStartDate}},
		"2501": {Name: "Access Badge", DueNow: 500, Needs: []string{}},
		"901": {
			Name:            "Flex, monthly",
			DueNow:          6890,
			RegistrationFee: 2900,
			FeeName:         "Registration fee",
			Needs:           allNeeds,
			Billing:         &catalogue.Billing{FirstPaid: true, Rhythm: "P1M", Endless: true, Entries: entries{entry("P1M", 3990, 0)}},
		},
		"902": {
			Name:            "Flex, every four weeks",
			DueNow:          6590,
			RegistrationFee: 2900,
			FeeName:         "Registration fee",
			Needs:           allNeeds,
			Billing:         &catalogue.Billing{FirstPaid: true, Rhythm: "P4W", Endless: true, Entries: entries{entry("P4W", 3690, 0)}},
		},
		"1001": {
			Name:    "Weekly, every week",
			DueNow:  990,
			Needs:   allNeeds,
			Billing: &catalogue.Billing{FirstPaid: true, Rhythm: "P1W", Endless: true, Entries: entries{entry("P1W", 990, 0)}},
		},
		"1101": {
			Name:            "Commit 12, monthly",
			DueNow:          4890,
			RegistrationFee: 1900,
			FeeName:         "Registration fee",
			Commitment:      "P12M",
			Needs:           allNeeds,
			Billing:         &catalogue.Billing{FirstPaid: true, Rhythm: "P1M", Entries: entries{entry("P1M", 2990, 12)}},
		},
		"1201": {
			Name:            "Commit 52, every four weeks",
			DueNow:          1900,
			RegistrationFee: 1900,
			FeeName:         "Registration fee",
			Commitment:      "P52W",
			Needs:           allNeeds,
			Billing:         &catalogue.Billing{Rhythm: "P4W", Entries: entries{entry("P1W", 690, 52)}},
		},
		"1301": {
			Name:            "Any Day Start, monthly",
			DueNow:          1500,
			RegistrationFee: 1500,
			FeeName:         "Registration fee",
			Prorated:        true,
			Needs:           allNeeds,
			Billing:         &catalogue.Billing{Rhythm: "P1M", Endless: true, Entries: entries{entry("P1M", 3790, 0)}},
		},
		"1501": {
			Name:            "Premium, monthly",
			DueNow:          8890,
			RegistrationFee: 2900,
			FeeName:         "Registration fee",
			Needs:           allNeeds,
			Billing: &catalogue.Billing{
				FirstPaid: true,
				Rhythm:    "P1M",
				Endless:   true,
				Entries:   entries{entry("P1M", 4990, 0), entry("P1M", 1000, 0)},
			},
		},
	}
)

// TestOffers compares the simulator's offers with those that visitors see.
func TestOffers(t *testing.T) {
	t.Parallel()
	offers := newWorld(t).Gateway().Catalogue
	for id, want := range sold {
		got, err := offers.Offer(t.Context(), web, id)
		want.IRI, want.Currency, want.Listed = club.NewIRI("demo", "offers", id), "EUR", got.Listed
		want.Type = got.Listed.Product.Type
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("offer %s is %+v (%v), want %+v", id, got, err, want)
		}
		for _, need := range allNeeds {
			if got.Requires(need) != strings.Contains(strings.Join(want.Needs, " "), need) {
				t.Errorf("offer %s needs %s: %t", id, need, got.Requires(need))
			}
		}
	}
	// Products of another channel are not sold here.
	for _, id := range []string{"2701", "99999", ""} {
		if _, err := offers.Offer(t.Context(), web, id); flows.CodeOf(err) != flows.OfferNotAvailable {
			t.Errorf("offer %q: %v", id, err)
		}
	}
}

// TestRepetitions counts the billing periods of schedules that the simulator does not offer.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]int{
		`"offset": "P0W", "interval": "P1M", "loop": 6`:   6,
		`"offset": "P1Y", "interval": "P1M", "loop": 0`:   12,
		`"offset": "P2Y", "interval": "P3M"`:              8,
		`"offset": "P1Y6M", "interval": "P1M"`:            18,
		`"offset": "P2W4D", "interval": "P6D"`:            3,
		`"offset": "P52W", "interval": "P4W", "loop": 0`:  13,
		`"offset": "P28D", "interval": "P2W"`:             2,
		`"offset": "P1Y", "interval": "P1W"`:              0, // a year is not a whole number of weeks
		`"offset": "P1M", "interval": "P4W"`:              0,
		`"offset": "P5M", "interval": "P2M"`:              0,
		`"offset": "P0W", "interval": "P1M", "loop": 0`:   0,
		`"offset": "P12M", "interval": "P0M"`:             0,
		`"offset": "", "interval": ""`:                    0,
		`"offset": "PT1H", "interval": "PT1H"`:            0,
		`"offset": "P1M", "interval": "nonsense"`:         0,
		`"offset": "P3M", "interval": "P1M3D"`:            0,
		`"offset": "P12M", "interval": "P1M", "loop": -1`: 12,
	} {
		offers := scheduled(t, `{"occurrences": [{`+schedule+`, "priceTI": 100}], "recurrences": []}`)
		offer, err := offers.Offer(t.Context(), web, "1")
		if err != nil {
			t.Errorf("%s: %v", schedule, err)
			continue
		}
		if got := offer.Billing.Entries[0].Times; got != want || offer.Billing.Endless {
			t.Errorf("%s: %d times, endless %t; want %d", schedule, got, offer.Billing.Endless, want)
		}
	}
}

// scheduled returns a catalogue in which every product has one offer with this repayment schedule.
func scheduled(t *testing.T, schedule string) *catalogue.Catalogue {
	t.Helper()
	simulator := clubsim.New(clubsim.Config{Now: time.Now})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/demo/offers" {
			simulator.ServeHTTP(w, r)
			return
		}
		fmt.Fprintf(w, `{"hydra:totalItems": 1, "hydra:member": [{"@id": "/demo/offers/1", "name": "an offer", "totalPriceTI": 0,
			"priceCurrency": "EUR", "rhythmBilling": "P1M", "repaymentSchedule": %s}]}`, schedule)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); simulator.Close(); server.Close() })
	return catalogue.New(catalogue.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler), Club: club.New(club.Config{
		BaseURL:      server.URL,
		ClientID:     clubsim.DemoClientID,
		ClientSecret: clubsim.DemoClientSecret,
		GatewayKey:   clubsim.DemoGatewayKey,
		Now:          time.Now,
	})})
}

// TestCatalogueIsReadOnce: visitors who browse at the same time cause a single read.
func TestCatalogueIsReadOnce(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	offers := world.Gateway().Catalogue
	errs := make(chan error)
	const visitors = 8
	for range visitors {
		go func() {
			_, _, err := offers.Products(t.Context(), web)
			errs <- err
		}()
	}
	for range visitors {
		if err := frontdesktest.Receive(t, errs, "a visitor's catalogue"); err != nil {
			t.Error(err)
		}
	}
	counts := map[string]int{}
	for _, request := range world.Sim.Requests() {
		counts[request.Operation]++
	}
	for operation, n := range counts {
		if pages := 2; n > pages && operation != "listOffers" {
			t.Errorf("%s was called %d times", operation, n)
		}
	}
	if len(counts) < 4 {
		t.Errorf("the calls were %v", counts)
	}
}

// TestCatalogueFails: visitors get the error, and it is not cached.
func TestCatalogueFails(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	offers := world.Gateway().Catalogue
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/products"}, Kind: "error_before", Status: 500})
	if _, _, err := offers.Products(t.Context(), web); flows.CodeOf(err) != flows.ClubSystemFailed {
		t.Errorf("the visitor gets %v", err)
	}
	world.Fault()
	if _, _, err := offers.Products(t.Context(), web); err != nil {
		t.Errorf("after the failure: %v", err)
	}
}

// TestCatalogueOfSeveralReadings: while the club system responds to a third of the reads, each reading of a catalogue continues with
// the offers that are still missing.
func TestCatalogueOfSeveralReadings(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	offers := world.Gateway().Catalogue
	world.Fault(clubsim.Fault{
		Match:       clubsim.FaultMatch{Method: "GET", Path: "/offers"},
		Kind:        "error_before",
		Status:      http.StatusNotFound,
		Probability: new(0.67),
	})
	for readings := 1; ; readings++ {
		products, _, err := offers.Products(t.Context(), web)
		switch {
		case err == nil && readings > 1 && len(products) > 20:
			return
		case err == nil || readings == 100:
			t.Fatalf("reading %d: %d products, %v", readings, len(products), err)
		}
		world.Clock.Advance(31 * time.Second)
	}
}
