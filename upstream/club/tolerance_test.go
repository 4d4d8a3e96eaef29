package club_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

const (
	goodOffer = `{"@id": "/demo/offers/1", "name": "Year", "totalPriceTI": 4990}`
	oddOffer  = `{"@id": "/demo/offers/2", "name": "Odd", "totalPriceTI": "secret"}`
)

func offers(t *testing.T, c *club.Client) ([]club.Offer, error) {
	return c.ListOffers(t.Context(), demo, "/demo/products/1")
}

// TestOneOddRecord: a record that cannot be read is left out and counted by its field; its neighbours stay.
func TestOneOddRecord(t *testing.T) {
	for name, odd := range map[string]struct{ record, field string }{
		"amount in a string": {oddOffer, "totalPriceTI"},
		"fraction":           {`{"@id": "/demo/offers/2", "totalPriceTI": 49.90}`, "totalPriceTI"},
		"nested": {
			`{"@id": "/demo/offers/2", "repaymentSchedule": {"occurrences": [{"loop": "secret"}]}}`,
			"repaymentSchedule.occurrences.loop",
		},
		"too much":              {`{"@id": "/demo/offers/2", "totalPriceTI": 9000000000000}`, "totalPriceTI"},
		"no record":             {`"secret"`, "record"},
		"a list":                {`["secret"]`, "record"},
		"null":                  {`null`, "@id"},
		"no identifier":         {`{"name": "secret"}`, "@id"},
		"of another kind":       {`{"@id": "/demo/products/2"}`, "@id"},
		"unreadable identifier": {`{"@id": 7, "name": "secret"}`, "@id"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			cfg := configured(serve(t, answering(200, `{"hydra:member": [`+odd.record+`,`+goodOffer+`]}`)).URL)
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			client := club.New(cfg)
			for range 2 {
				if got := must[[]club.Offer](t)(offers(t, client)); len(got) != 1 || got[0].IRI != "/demo/offers/1" {
					t.Errorf("read %+v", got)
				}
			}
			equal(t, client.Unreadable(), []club.Unreadable{{Operation: "ListOffers", Field: odd.field, Count: 2}})
			if said := log.String(); strings.Count(said, "left out") != 1 || strings.Contains(said, "secret") {
				t.Errorf("the log is\n%s", said)
			}
		})
	}
}

// TestOnlyOddRecords: a list of which nothing can be read is not empty.
func TestOnlyOddRecords(t *testing.T) {
	got, err := offers(t, reading(t, `{"hydra:member": [`+oddOffer+`]}`))
	wantOutcome(t, err, club.Unknown)
	if len(got) != 0 || !errors.Is(err, club.ErrUnreadable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOddPage: a page of which nothing can be read does not end a list, neither as its first nor in its middle.
func TestOddPage(t *testing.T) {
	for odd := 1; odd <= 3; odd++ {
		upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
			page := pager{3, 1, withView, false}
			if at := r.URL.Query().Get("page"); at == fmt.Sprint(odd) || at == "" && odd == 1 {
				page.render = func(p pager, _ string, n int) string {
					return withView(p, `[{"@id": "/demo/products/9", "name": 7}]`, n)
				}
			}
			page.ServeHTTP(w, r)
		})
		got := must[[]club.Product](t)(club.New(configured(upstream.URL)).ListProducts(t.Context(), demo, club.ProductQuery{}))
		if len(got) != 2 {
			t.Errorf("page %d is odd: read %+v", odd, got)
		}
	}
}

// TestOddNode: a node that cannot be read hides only itself, in both documented forms; a chain without clubs does not
// come of it.
func TestOddNode(t *testing.T) {
	odd := `{"@id": "/demo/network_nodes/3", "clubId": 7}`
	for body, want := range map[string]string{
		members(node(1, "group", odd, node(4, "club"))):                                                                    "4:1/4",
		members(node(1, "group", 3, 4), odd, node(4, "club")):                                                              "4:1/4",
		members(node(1, "group", 7, "true", node(4, "club"))):                                                              "4:1/4",
		members(node(1, "group", node(2, "group", odd)), "[7]"):                                                            "",
		members(strings.Replace(node(1, "group", node(2, "franchise", node(4, "club"))), `"N2"`, "7", 1)):                  "4:4",
		members(strings.Replace(node(1, "group", node(2, "franchise", node(4, "club")), node(5, "club")), `"N1"`, "7", 1)): "4:2/4 5:5",
	} {
		client := reading(t, body)
		network, err := client.NetworkNodes(t.Context(), demo)
		if want == "" {
			if !errors.Is(err, club.ErrUnreadable) {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		if err != nil || shape(network) != want {
			t.Errorf("%s: %s, %v, want %s", body, shape(network), err, want)
		}
	}
}

// TestFieldsAreBounded: what is counted is named by fields of the documented records, however a response is nested.
func TestFieldsAreBounded(t *testing.T) {
	nodes := node(99, "club")
	for depth := range 20 {
		nodes = node(depth, "group", nodes, `{"@id": "/demo/network_nodes/77", "name": 7}`)
	}
	client := reading(t, members(nodes))
	must[*club.Network](t)(client.NetworkNodes(t.Context(), demo))
	equal(t, client.Unreadable(), []club.Unreadable{{Operation: "NetworkNodes", Field: "children.name", Count: 20}})
}

// TestForeignShapes: what PHP writes for empty maps, lists with gaps and numbers is read as what it means.
func TestForeignShapes(t *testing.T) {
	want := club.Offer{IRI: "/demo/offers/1", TotalPriceTI: 4990, IsProrated: true, RepaymentSchedule: club.RepaymentSchedule{
		Occurrences: []club.ScheduleEntry{{Interval: "P1M", Loop: ptr(11), PriceTI: 4990}, {Interval: "P1M", Loop: ptr(1), PriceTI: 12}},
	}}
	const list = `"hydra:member": {"10": {"@id": "/demo/offers/1", "totalPriceTI": 4990.0, "product": {"productBehaviors": []},
		"articleBehaviors": {"1": {"implementation": []}, "3": {"implementation": {"isProrated": true}}},
		"repaymentSchedule": {"recurrences": {}, "occurrences": {"10": {"interval": "P1M", "loop": 1.0, "priceTI": 1.2e1},
			"2": {"interval": "P1M", "loop": "11", "priceTI": 4.99e3}}}},
		"2": {"@id": "/demo/offers/7", "articleBehaviors": [], "repaymentSchedule": []}}`
	for _, body := range []string{
		`{` + list + `}`,
		"\xef\xbb\xbf{" + list + `}`,
		`{"@context": {"@vocab": "https://example.org"}, "@type": ["hydra:Collection", "List"], ` + list + `, "totalItems": "2"}`,
		`{` + list + `, "view": {"hydra:next": null}, "hydra:totalItems": 2.0}`,
		`{` + strings.Replace(list, "hydra:", "", 1) + `, "hydra:view": {"@id": "x"}}`,
	} {
		got := must[[]club.Offer](t)(offers(t, reading(t, body)))
		if len(got) != 2 || got[0].IRI != "/demo/offers/7" {
			t.Fatalf("%s is read as %+v", body, got)
		}
		got[1].Product.Behaviors, got[1].RepaymentSchedule.Recurrences = nil, nil
		equal(t, got[1], want)
	}
	contact := reading(t, `{"@id": "/demo/contacts/7", "address": [], "tags": {"1": {"name": "a"}}}`)
	got := must[club.Contact](t)(contact.GetContact(t.Context(), demo, "/demo/contacts/7"))
	equal(t, got, club.Contact{IRI: "/demo/contacts/7", Address: &club.Address{}, Tags: []club.ContactTag{{Name: "a"}}})
}

// TestStrictWhereMoneyMoves: no other form of an amount counts in a sale or a debt, and no line of a sale is left out.
func TestStrictWhereMoneyMoves(t *testing.T) {
	const sold = `{"@id": "/demo/sales/1", "totalTI": 4990, "state": "building",
		"articles": {"3": {"@id": "/demo/articles/1", "priceTI": 4990}}}`
	read := must[club.Sale](t)(reading(t, sold).GetSale(t.Context(), demo, sale))
	if read.TotalTI != 4990 || len(read.Articles) != 1 {
		t.Errorf("read %+v", read)
	}
	for _, amount := range []string{`4990.0`, `"4990"`, `4.99e3`, `49.90`, `null`, `[]`} {
		for _, field := range []string{"totalTI", "priceTI"} {
			odd := strings.Replace(sold, `"`+field+`": 4990`, `"`+field+`": `+amount, 1)
			if got, err := reading(t, odd).GetSale(t.Context(), demo, sale); err == nil {
				t.Errorf("%s is read as %+v", odd, got)
			}
		}
		debt := `{"totalRealDebt": ` + amount + `}`
		if got, err := reading(t, debt).GetAccountStatistics(t.Context(), demo, "/demo/contacts/7"); err == nil {
			t.Errorf("%s is read as %+v", debt, got)
		}
	}
	odd := strings.Replace(sold, `"3"`, `"1": "secret", "3"`, 1)
	if got, err := reading(t, odd).GetSale(t.Context(), demo, sale); err == nil {
		t.Errorf("%s is read as %+v", odd, got)
	}
}

// inParis returns a client of clubs in Paris, whose club system gives the same response to every request.
func inParis(t *testing.T, body string) *club.Client {
	paris := must[*time.Location](t)(time.LoadLocation("Europe/Paris"))
	cfg := configured(serve(t, answering(200, body)).URL)
	cfg.Limits.MaxAttempts, cfg.Zone = 1, func(club.IRI) *time.Location { return paris }
	return club.New(cfg)
}

// dates are spellings of 5 December 2026 at a club in Paris.
var dates = []string{
	"2026-12-05",
	"2026-12-05T00:00:00+01:00",
	"2026-12-05T00:00:00+0100",
	"2026-12-04T23:00:00Z",
	"2026-12-04T23:00:00.000Z",
	"2026-12-04T23:00:00+00:00",
	"2026-12-04T23:00+00:00",
	"2026-12-04T18:00:00-05:00",
	"2026-12-05T00:00:00",
	"2026-12-05T00:00:00.000000",
	"2026-12-05 00:00:00",
}

func TestDates(t *testing.T) {
	for _, date := range dates {
		days := inParis(t, `[{"debitDay": 5, "date": "`+date+`"}]`)
		equal(t, must[[]club.DebitDay](t)(days.ListAllowedDebitDays(t.Context(), demo, "2026-12-01")),
			[]club.DebitDay{{Day: 5, Date: "2026-12-05"}})
		contact := inParis(t, `{"@id": "/demo/contacts/7", "birthDate": "`+date+`",
			"tags": [{"name": "a", "validFrom": "`+date+`", "validThrough": "`+date+`"}, {"name": "b"}]}`)
		equal(t, must[club.Contact](t)(contact.GetContact(t.Context(), demo, "/demo/contacts/7")), club.Contact{
			IRI:       "/demo/contacts/7",
			BirthDate: "2026-12-05",
			Tags:      []club.ContactTag{{Name: "a", ValidFrom: "2026-12-05", ValidThrough: "2026-12-05"}, {Name: "b"}},
		})
	}
	summer := inParis(t, `[{"debitDay": 5, "date": "2026-07-04T22:00:00Z"}]`)
	if got := must[[]club.DebitDay](t)(summer.ListAllowedDebitDays(t.Context(), demo, "2026-07-01")); got[0].Date != "2026-07-05" {
		t.Errorf("read %+v", got)
	}
	anywhere := reading(t, `[{"debitDay": 5, "date": "2026-12-05T00:00:00+01:00"}]`)
	if got := must[[]club.DebitDay](t)(anywhere.ListAllowedDebitDays(t.Context(), demo, "2026-12-01")); got[0].Date != "2026-12-05" {
		t.Errorf("read %+v", got)
	}
}

// TestOddDates: a date that cannot be read leaves out its own entry; the debit days are an error if none is left.
func TestOddDates(t *testing.T) {
	for _, odd := range []string{"secret", "", "2026-13-05", "0000-00-00", "-0001-11-30T00:00:00+00:00", "2026-12-05Tsecret", "05/12/2026"} {
		both := inParis(t, `[{"debitDay": 4, "date": "`+odd+`"}, {"debitDay": 5, "date": "2026-12-05"}]`)
		equal(t, must[[]club.DebitDay](t)(both.ListAllowedDebitDays(t.Context(), demo, "2026-12-01")),
			[]club.DebitDay{{Day: 5, Date: "2026-12-05"}})
		equal(t, both.Unreadable(), []club.Unreadable{{Operation: "ListAllowedDebitDays", Field: "date", Count: 1}})
		alone := inParis(t, `[{"debitDay": 4, "date": "`+odd+`"}]`)
		if got, err := alone.ListAllowedDebitDays(t.Context(), demo, "2026-12-01"); !errors.Is(err, club.ErrUnreadable) {
			t.Errorf("%q: %v, %v", odd, got, err)
		}
	}
	person := inParis(t, `{"@id": "/demo/contacts/7", "birthDate": "secret", "tags": [{"name": "a", "validThrough": "secret"}, {"name": 7}]}`)
	contact := must[club.Contact](t)(person.GetContact(t.Context(), demo, "/demo/contacts/7"))
	equal(t, withoutNotes(contact), club.Contact{IRI: "/demo/contacts/7"})
	fields := []string{}
	for _, left := range person.Unreadable() {
		fields = append(fields, left.Field)
	}
	slices.Sort(fields)
	equal(t, fields, []string{"birthDate", "tags.name", "tags.validThrough"})
}

// withoutNotes returns what a contact shows.
func withoutNotes(c club.Contact) club.Contact {
	return club.Contact{IRI: c.IRI, BirthDate: c.BirthDate, Tags: c.Tags}
}

// TestWritesNeedLittle: an accepted write is not in doubt because of something in its response that is not needed.
func TestWritesNeedLittle(t *testing.T) {
	const odd = `"state": {}, "number": 7, "contactId": 7, "clubId": [7], "address": "secret", "totalTI": "secret", "articles": 7, "tags": 7,
		"birthDate": [], "status": {}, "invoice": 7, "iban": 7, "amount": "secret", "isAuthorized": "yes"}`
	for _, op := range operations {
		method, _, _ := strings.Cut(op.want, " ")
		if method == http.MethodGet || op.name == "ValidateSignatureRequest" {
			continue // the state that tells whether a code has signed is needed
		}
		t.Run(op.name, func(t *testing.T) {
			kinds := map[string]string{
				"CreateContact": "contacts", "CreateMandate": "mandates", "CreateSale": "sales",
				"CreateSignatureRequest": "signature_requests", "CreateContactMigrationRequest": "signature_requests",
			}
			kind := kinds[op.name]
			if kind == "" {
				kind = "things"
			}
			body := "\xef\xbb\xbf" + `{"@id": "/demo/` + kind + `/1", "@type": ["Thing"], ` + odd
			if err := op.call(t.Context(), club.New(configured(serve(t, answering(201, body)).URL))); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestErrorShapes: an error is read in each form that it has, with what can be read of it.
func TestErrorShapes(t *testing.T) {
	for _, status := range []int{400, 422} {
		for body, want := range map[string][]club.Violation{
			`{"@type": ["ConstraintViolationList"], "violations": {"1": {"propertyPath": "clubCode", "code": "api.error.a"}}}`: {
				{Field: "clubCode", Code: "api.error.a"},
			},
			"\xef\xbb\xbf" + `{"@type": "hydra:Error", "hydra:title": "no", "title": "no",
				"hydra:violations": [{"hydra:propertyPath": "clubCode", "code": 7}, {"propertyPath": {}, "code": "api.error.b"}]}`: {
				{Field: "clubCode"}, {Code: "api.error.b"},
			},
			`{"type": "/errors/400", "detail": "no", "@type": "Error", "violations": []}`: nil,
		} {
			check := must[club.SaleCheck](t)(club.New(configured(serve(t, answering(status, body)).URL)).CheckSale(t.Context(), demo, sale))
			equal(t, check, club.SaleCheck{Violations: want})
		}
		cfg := configured(serve(t, answering(status, `{"code": "`+club.CodeMigrationClub+`"}`)).URL)
		_, err := club.New(cfg).CreateContactMigrationRequest(t.Context(), demoMove, "/demo/contacts/7", "/demo/clubs/12")
		if !errors.Is(err, club.ErrMigrationClub) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestTokenOfSeveral: whose token it is, is not known while one of its opt-ins cannot be read.
func TestTokenOfSeveral(t *testing.T) {
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "optins") {
			io.WriteString(w, members(`{"@id": "/demo/optins/1", "contact": "/demo/contacts/7"}`, `{"@id": "/demo/optins/2", "contact": 8}`))
			return
		}
		io.WriteString(w, `{"@id": "/demo/contacts/7"}`)
	})
	if got, err := club.New(configured(upstream.URL)).OwnContact(t.Context(), "demo", "own-token"); !errors.Is(err, club.ErrUnreadable) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSpellings: a catalogue, a chain and a sale are the same however the club system writes them.
func TestSpellings(t *testing.T) {
	world := newWorld(t, "spellings")
	cfg := world.config()
	zone := must[*time.Location](t)(time.LoadLocation("Europe/Paris"))
	cfg.Zone = func(club.IRI) *time.Location { return zone }
	client, cart := club.New(cfg), world.cart(world.visitor().IRI, "301", "901")
	read := func() []any {
		ctx := t.Context()
		return []any{
			must[[]club.Product](t)(client.ListProducts(ctx, world.bastille, club.ProductQuery{Club: world.bastille.Club})),
			must[[]club.Offer](t)(client.ListOffers(ctx, world.bastille, "")),
			must[[]club.DebitDay](t)(client.ListAllowedDebitDays(ctx, world.bastille, "2027-06-01")),
			shape(must[*club.Network](t)(client.NetworkNodes(ctx, club.Scope{ClientToken: world.ClientToken()}))),
			must[club.Contact](t)(client.GetContact(ctx, world.bastille, world.iri("contacts", "1001"))),
			must[club.Sale](t)(client.GetSale(ctx, world.bastille, cart.IRI)),
			must[club.SaleCheck](t)(client.CheckSale(ctx, world.bastille, cart.IRI)),
		}
	}
	want := read()
	if offers := want[1].([]club.Offer); len(offers) < 40 {
		t.Fatalf("%d offers", len(offers))
	}
	for _, change := range []func(*clubsim.Settings){
		func(s *clubsim.Settings) {
			s.PHPJSON, s.DateTimes, s.HydraPrefix, s.NetworkNodeShape, s.PageSize = true, true, false, "flat", 7
		},
		func(s *clubsim.Settings) { s.MixedPrefix, s.PlainJSON, s.TaxRates = true, true, "hundredths" },
		func(s *clubsim.Settings) { s.HydraPrefix, s.NetworkNodeShape = true, "parent" },
	} {
		must[any](t)(nil, world.Configure(change))
		for i, got := range read() {
			equal(t, got, want[i])
		}
	}
	if left := client.Unreadable(); left != nil {
		t.Errorf("left out %+v", left)
	}
}
