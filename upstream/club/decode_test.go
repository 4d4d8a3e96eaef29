package club_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"frontdesk/upstream/club"
)

// reading returns a client whose club system gives the same response to every request.
func reading(t *testing.T, body string) *club.Client {
	cfg := configured(serve(t, answering(200, body)).URL)
	cfg.Limits.MaxAttempts = 1
	return club.New(cfg)
}

func TestContactFields(t *testing.T) {
	client := reading(
		t,
		`{"@context": "/contexts/Contact", "@id": "/demo/contacts/7", "@type": "Person", "number": "11-000007", "status": "prospect",
		"familyName": "Testeur", "givenName": "Ada", "gender": null, "birthDate": "1990-01-31",
		"email": "ada@example.org", "mobile": "+33600000000",
		"address": {"addressCountry": "FR", "addressLocality": "Paris", "postalCode": "75011", "streetAddress": "1 rue de la Paix", "more": 1},
		"clubId": {"@id": "/demo/clubs/11", "@type": "Club"}, "createdAt": "2026-01-01T00:00:00Z", "unknown": {"deep": [1]},
		"tags": [{"@id": "/demo/contact_tags/1", "@type": "ContactTag", "name": "student",
			"validFrom": "2026-01-01", "validThrough": "2026-12-31"}]}`,
	)
	want := club.Contact{
		IRI:        "/demo/contacts/7",
		Number:     "11-000007",
		Status:     "prospect",
		FamilyName: "Testeur",
		GivenName:  "Ada",
		BirthDate:  "1990-01-31",
		Email:      "ada@example.org",
		Mobile:     "+33600000000",
		Address:    &paris,
		Club:       "/demo/clubs/11",
		Tags:       []club.ContactTag{{IRI: "/demo/contact_tags/1", Name: "student", ValidFrom: "2026-01-01", ValidThrough: "2026-12-31"}},
	}
	equal(t, must[club.Contact](t)(client.GetContact(t.Context(), demo, "/demo/contacts/7")), want)
}

func TestSaleFields(t *testing.T) {
	client := reading(
		t,
		`{"@id": "/demo/sales/1", "@type": "Sale", "state": "building", "contactId": "/demo/contacts/7", "clubId": "/demo/clubs/11",
		"clubCode": "PARIS11", "contactFamilyName": "Testeur", "contactGivenName": null, "contactNumber": "C7", "address": null,
		"checkoutId": "/demo/checkouts/111", "totalTI": 4490, "priceCurrency": "EUR", "invoice": null,
		"articles": [
			{"@id": "/demo/articles/1", "offerId": "/demo/offers/1", "productId": "/demo/products/1",
				"name": "Year", "priceTI": 4990, "parent": null},
			{"@id": "/demo/articles/2", "offerId": null, "productId": null, "name": "Prorata", "priceTI": -500, "parent": "/demo/articles/1"}]}`,
	)
	want := club.Sale{
		IRI:        "/demo/sales/1",
		State:      "building",
		Contact:    "/demo/contacts/7",
		Club:       "/demo/clubs/11",
		ClubCode:   "PARIS11",
		FamilyName: "Testeur",
		Number:     "C7",
		Checkout:   "/demo/checkouts/111",
		TotalTI:    4490,
		Currency:   "EUR",
		Articles: []club.Article{
			{IRI: "/demo/articles/1", Offer: "/demo/offers/1", Product: "/demo/products/1", Name: "Year", PriceTI: 4990},
			{IRI: "/demo/articles/2", Name: "Prorata", PriceTI: -500, Parent: "/demo/articles/1"}},
	}
	equal(t, must[club.Sale](t)(client.GetSale(t.Context(), demo, sale)), want)
}

// TestTaxOfAnArticle checks that only tax that adds up counts, and that no form of it makes a sale unreadable.
func TestTaxOfAnArticle(t *testing.T) {
	for members, want := range map[string][2]int64{
		`"priceTI": 4990, "priceTE": 4158, "taxRate": 20`:   {20, 832},
		`"priceTI": 4990, "priceTE": 4990, "taxRate": 0`:    {0, 0},
		`"priceTI": 4990, "priceTE": 4158`:                  {-1, -1},
		`"priceTI": 4990, "priceTE": 5158, "taxRate": 20`:   {-1, -1},
		`"priceTI": 4990, "priceTE": -10, "taxRate": 20`:    {-1, -1},
		`"priceTI": 4990, "priceTE": 4730, "taxRate": 5.5`:  {-1, -1},
		`"priceTI": 4990, "priceTE": 4730, "taxRate": 550`:  {-1, -1},
		`"priceTI": 4990, "priceTE": 4158, "taxRate": 2000`: {20, 832},
		`"priceTI": 4990, "priceTE": 4158, "taxRate": -20`:  {-1, -1},
		`"priceTI": 4990, "priceTE": "4158", "taxRate": {}`: {-1, -1},

		`"priceTI": -500, "priceTE": -417, "taxRate": 20, "parent": null`:                     {20, -83},
		`"priceTI": 4000, "priceTE": 3333, "taxRate": 20, "totalTI": 4990, "totalTaxes": 832`: {20, 832},
		`"priceTI": 4000, "priceTE": 3333, "taxRate": 20, "totalTI": 4990`:                    {-1, -1},
	} {
		article := `{"@id": "/demo/articles/1", ` + members + `}`
		total := "4990"
		if strings.Contains(members, "-500") {
			total = "0" // of a sale, never negative
		}
		client := reading(t, `{"@id": "/demo/sales/1", "state": "building", "totalTI": `+total+`, "articles": [`+article+`]}`)
		rate, included, ok := must[club.Sale](t)(client.GetSale(t.Context(), demo, sale)).Articles[0].Tax()
		if !ok {
			rate, included = -1, -1
		}
		if want != [2]int64{rate, included} {
			t.Errorf("%s: %d%%, %d, want %v", members, rate, included, want)
		}
	}
}

// TestInvoiceOfASale: a sale has an invoice whichever member has it, in whatever form.
func TestInvoiceOfASale(t *testing.T) {
	read := func(member, value string) bool {
		client := reading(t, `{"@id": "/demo/sales/1", "state": "building", "totalTI": 0, "articles": [], "`+member+`": `+value+`}`)
		return bool(must[club.Sale](t)(client.GetSale(t.Context(), demo, sale)).Invoiced)
	}
	some := []string{`"/demo/invoices/1"`, `"F-3"`, `7`, `{"@id": "/demo/invoices/1"}`, `{"id": 7}`, `["/demo/invoices/1"]`, `true`}
	for _, member := range []string{"invoice", "invoiceId", "invoiceReference"} {
		for _, value := range some {
			if !read(member, value) {
				t.Errorf("%s %s counts as none", member, value)
			}
		}
		for _, none := range []string{`null`, `""`, `[]`, `{ }`, `0`, `false`} {
			if read(member, none) {
				t.Errorf("%s %s counts as an invoice", member, none)
			}
		}
	}
}

// TestAmountOfAnArticle reads the amount of a line: its total, else its price. Without one, or if the lines do not add up to
// the sale's total, the sale cannot be read.
func TestAmountOfAnArticle(t *testing.T) {
	for members, want := range map[string]int64{
		`"priceTI": 4990`:                    4990,
		`"priceTI": 4000, "totalTI": 4990`:   4990,
		`"totalTI": 4990`:                    4990,
		`"priceTI": 4990, "totalTI": null`:   4990,
		`"priceTI": 4990, "totalTI": 0`:      -1,
		`"priceTI": 4990, "totalTI": "4990"`: -1,
		`"priceTI": 4989`:                    -1,
		`"priceTI": 4990, "totalTI": 4991`:   -1,
		`"proratedPriceTI": 4990`:            -1,
	} {
		article := `{"@id": "/demo/articles/1", ` + members + `}`
		client := reading(t, `{"@id": "/demo/sales/1", "state": "building", "totalTI": 4990, "articles": [`+article+`]}`)
		got, err := client.GetSale(t.Context(), demo, sale)
		switch {
		case want < 0 && club.OutcomeOf(err) != club.Unknown:
			t.Errorf("%s: read as %+v", members, got)
		case want >= 0 && (err != nil || got.Articles[0].PriceTI != want):
			t.Errorf("%s: %+v, %v", members, got, err)
		}
	}
}

func TestOfferFields(t *testing.T) {
	const offer = `{"@id": "/demo/offers/1", "id": 1, "name": "Monthly", "priceCurrency": "EUR",
		"product": {"@id": "/demo/products/1", "name": "Gym", "type": "subscription",
			"productBehaviors": [{"@type": "ProductBehavior", "type": "subscription", "configuration": {"validityPeriod": "P52W", "quantity": 1}}]},
		"registrationFeeTI": 2000, "registrationFeeName": "Fee", "totalPriceTI": 6990, "isFirstMonthPayed": true, "rhythmBilling": "monthly",
		"articleBehaviors": BEHAVIORS,
		"repaymentSchedule": {
			"occurrences": [{"offset": "P0W", "interval": "P1M", "loop": 11,
				"taxRate": 20, "priceTI": 4990, "priceTE": 4158, "tax": 832, "priceCurrency": "EUR"}],
			"recurrences": [{"offset": "P0W", "interval": "P1M",
				"taxRate": 20, "priceTI": 4990, "priceTE": 4158, "tax": 832, "priceCurrency": "EUR"}]}}`
	entry := club.ScheduleEntry{
		Offset:        "P0W",
		Interval:      "P1M",
		TaxRate:       20,
		PriceTI:       4990,
		PriceTE:       4158,
		Tax:           832,
		PriceCurrency: "EUR",
	}
	eleven := entry
	eleven.Loop = ptr(11)
	want := club.Offer{
		IRI:                 "/demo/offers/1",
		Name:                "Monthly",
		Currency:            "EUR",
		RegistrationFeeTI:   2000,
		RegistrationFeeName: "Fee",
		TotalPriceTI:        6990,
		IsFirstMonthPayed:   true,
		RhythmBilling:       "monthly",
		Product: club.Product{IRI: "/demo/products/1", Name: "Gym", Type: "subscription",
			Behaviors: []club.ProductBehavior{{Type: "subscription", Configuration: club.BehaviorConfiguration{ValidityPeriod: "P52W"}}}},
		RepaymentSchedule: club.RepaymentSchedule{Occurrences: []club.ScheduleEntry{eleven}, Recurrences: []club.ScheduleEntry{entry}},
	}
	for behaviors, prorated := range map[string]bool{
		`{"implementation": {"isProrated": true}}`:                                 true,
		`{"implementation": {"isProrated": false}}`:                                false,
		`[{"implementation": {"isProrated": true}}]`:                               true,
		`[{"implementation": null}, {}, {"implementation": {"isProrated": true}}]`: true,
		`[]`:   false,
		`{}`:   false,
		`null`: false,
	} {
		c := reading(t, `{"hydra:member": [`+strings.Replace(offer, "BEHAVIORS", behaviors, 1)+`]}`)
		want.IsProrated = prorated
		equal(t, must[[]club.Offer](t)(c.ListOffers(t.Context(), demo, "/demo/products/1")), []club.Offer{want})
	}
}

func TestOtherFields(t *testing.T) {
	ctx := t.Context()
	bastille := reading(t, `{"@id": "/demo/clubs/11", "id": 11, "code": "PARIS11", "name": "Bastille", "currency": "EUR",
		"networkNode": "/demo/network_nodes/3", `+strings.Trim(parisJSON, "{}")+`}`)
	equal(t, must[club.Club](t)(bastille.GetClub(ctx, demo, "/demo/clubs/11")),
		club.Club{
			IRI:      "/demo/clubs/11",
			Code:     "PARIS11",
			Name:     "Bastille",
			Currency: "EUR",
			Address:  paris,
			Node:     "/demo/network_nodes/3",
		})
	equal(t, must[club.AccountStatistics](t)(reading(t, `{"totalRealDebt": 1250}`).GetAccountStatistics(ctx, demo, "/demo/contacts/7")),
		club.AccountStatistics{TotalRealDebt: 1250})
	equal(t, must[[]club.DebitDay](t)(reading(t, `[{"debitDay": 5, "date": "2026-03-05"}]`).ListAllowedDebitDays(ctx, demo, "2026-03-01")),
		[]club.DebitDay{{Day: 5, Date: "2026-03-05"}})
	consents := reading(t, `{"member": [{"@id": "/demo/optins/1", "isAuthorized": true, "channel": "email", "type": "legal",
		"contact": "/demo/contacts/7"}]}`)
	equal(t, must[[]club.Optin](t)(consents.ListOptins(ctx, demo, "")),
		[]club.Optin{{IRI: "/demo/optins/1", Authorized: true, Channel: "email", Type: club.OptinLegal, Contact: "/demo/contacts/7"}})
}

// TestUnreadableAnswers: the error names the operation and the field, and contains nothing of the response's
// content.
func TestUnreadableAnswers(t *testing.T) {
	readSale := func(c *club.Client) error { return result(c.GetSale(t.Context(), demo, sale)) }
	tests := []struct {
		body string
		call func(*club.Client) error
		want string
	}{
		{
			`{"@id": "/demo/sales/1", "totalTI": "4990 secret"}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field totalTI is not a whole number)",
		},
		{
			`{"@id": "/demo/sales/1", "totalTI": 49.90}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field totalTI is not a whole number)",
		},
		{
			`{"@id": "/demo/sales/1", "totalTI": 1e400}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field totalTI is not a whole number)",
		},
		{`{"@id": "/demo/sales/1"}`, readSale, "GetSale: unknown, status 200 (response unreadable: field totalTI is not present)"},
		{`{"@id": "/demo/sales/1", "TOTALTI": 1}`, readSale, "GetSale: unknown, status 200 (response unreadable: field totalTI is not present)"},
		{
			`{"@id": "/demo/sales/1", "totalTI": 1, "articles": []}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field state is not present)",
		},
		{
			`{"@id": "/demo/sales/1", "totalTI": 1, "state": "building"}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field articles is not present)",
		},
		{
			`{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": [{"@id": "/demo/articles/1"}]}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field articles.priceTI is not present)",
		},
		{`{"totalTI": 1}`, readSale, "GetSale: unknown, status 200 (response unreadable: field @id is not present)"},
		{`{"@id": "/demo/sales/1", "totalTI": 1, "articles": [{"priceTI": "secret"}]}`, readSale,
			"GetSale: unknown, status 200 (response unreadable: field articles.priceTI is not a whole number)"},
		{`{"@id": "/demo/sales/1", "totalTI": 1, "address": {"postalCode": 75011}}`, readSale,
			"GetSale: unknown, status 200 (response unreadable: field address.postalCode is not a string)"},
		{`{"@id": 1, "totalTI": 1}`, readSale, "GetSale: unknown, status 200 (response unreadable: field @id is not a string)"},
		{
			`{"@id": "/demo/sales/1", "totalTI": 1, "contactId": {"@id": 7}}`,
			readSale,
			"GetSale: unknown, status 200 (response unreadable: field contactId.@id is not a string)",
		},
		{`secret`, readSale, "GetSale: unknown, status 200 (response is not JSON)"},
		{`{"@id": "/demo/sales/1", "totalTI": 1`, readSale, "GetSale: unknown, status 200 (response is not JSON)"},
		{``, readSale, "GetSale: unknown, status 200 (response is not JSON)"},
		{`[]`, readSale, "GetSale: unknown, status 200 (response is not an object)"},
		{`null`, readSale, "GetSale: unknown, status 200 (response unreadable: field @id is not present)"},
		{`{}`, func(c *club.Client) error {
			return result(c.GetAccountStatistics(t.Context(), demo, "/demo/contacts/7"))
		},
			"GetAccountStatistics: unknown, status 200 (response unreadable: field totalRealDebt is not present)"},
		{`{}`, func(c *club.Client) error { return result(c.ListProducts(t.Context(), demo, club.ProductQuery{})) },
			"ListProducts: unknown, status 200 (response unreadable: field hydra:member is not present)"},
		{`{"hydra:member": {"a": 1}}`, func(c *club.Client) error { return result(c.ListProducts(t.Context(), demo, club.ProductQuery{})) },
			"ListProducts: unknown, status 200 (response is not a list)"},
		{`{"hydra:member": [{"@id": "/demo/offers/1", "repaymentSchedule": {"occurrences": [{"loop": "secret"}]}}]}`,
			func(c *club.Client) error { return result(c.ListOffers(t.Context(), demo, "/demo/products/1")) },
			"ListOffers: unknown, status 200 (response unreadable: field repaymentSchedule.occurrences.loop is not a whole number)"},
		{`{"hydra:member": [{"@id": "/demo/network_nodes/1", "children": [{"@id": "/demo/network_nodes/2", "children": "secret"}]}]}`,
			func(c *club.Client) error { return result(c.NetworkNodes(t.Context(), demo)) },
			"NetworkNodes: unknown, status 200 (response unreadable: field children is not a list)"},
	}
	for _, tt := range tests {
		err := tt.call(reading(t, tt.body))
		if got := strings.TrimPrefix(err.Error(), "club: "); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.body, got, tt.want)
		}
		var malformed *club.DecodeError
		if !errors.As(err, &malformed) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tt.body, err)
		}
	}
}

// TestOddAnswers: an irregular response is accepted if everything needed can be read from it.
func TestOddAnswers(t *testing.T) {
	for _, body := range []string{
		`{"@id": "/demo/sales/1", "totalTI": 1, "totalTI": 2, "state": "building", "articles": []}`,
		"{\"@id\": \"/demo/sales/1\", \"totalTI\": 2, \"state\": \"building\", \"articles\": [], \"familyName\": \"\xff\"}",
	} {
		if got := must[club.Sale](t)(reading(t, body).GetSale(t.Context(), demo, sale)); got.TotalTI != 2 {
			t.Errorf("%q is read as %+v", body, got)
		}
	}
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\ngot  %+v\nwant %+v", got, want)
	}
}

// TestWhatShowsASettledSale: each setting of Config.SaleState reads a different member.
func TestWhatShowsASettledSale(t *testing.T) {
	for _, test := range []struct{ setting, body, state string }{
		{"", `"state": "building"`, "building"},
		{club.SaleStateInvoice, `"state": "building", "invoice": null`, "not invoiced"},
		{club.SaleStateInvoice, `"invoice": "/demo/invoices/1"`, "invoiced"},
		{club.SaleStateCheck, `"invoice": null`, ""},
	} {
		cfg := configured(serve(t, answering(200, `{"@id": "/demo/sales/1", "totalTI": 1, `+test.body+`}`)).URL)
		cfg.SaleState, cfg.SaleWithoutArticles = test.setting, true
		c := club.New(cfg)
		if got := must[club.Sale](t)(c.GetSale(t.Context(), demo, sale)); got.State != test.state {
			t.Errorf("%s with %q: %q, want %q", test.body, test.setting, got.State, test.state)
		}
	}
}
