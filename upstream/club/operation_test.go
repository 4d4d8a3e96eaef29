package club_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

// operation is one method of the client with the request that it makes.
type operation struct {
	name string
	call func(context.Context, *club.Client) error
	want string // method, path with query, body
}

var paris = club.Address{Country: "FR", Locality: "Paris", PostalCode: "75011", Street: "1 rue de la Paix"}

const parisJSON = `{"addressCountry":"FR","addressLocality":"Paris","postalCode":"75011","streetAddress":"1 rue de la Paix"}`

// operations lists the methods of the client, except those whose responses are texts (sale_terms_test.go).
var operations = []operation{
	{"CreateContact", func(ctx context.Context, c *club.Client) error {
		return result(
			c.CreateContact(ctx, demo, club.NewContact{
				FamilyName: "Testeur",
				GivenName:  "Ada",
				Gender:     "female",
				Club:       "/demo/clubs/11",
				BirthDate:  "1990-01-31",
				Email:      "ada@example.org",
				Mobile:     "+33600000000",
				Address:    &paris,
				Status:     club.StatusTemp,
			}),
		)
	}, `POST /demo/contacts {"familyName":"Testeur","givenName":"Ada","gender":"female","clubId":"/demo/clubs/11","birthDate":"1990-01-31",` +
		`"email":"ada@example.org","mobile":"+33600000000","address":` + parisJSON + `,"status":"temp"}`},
	{"ListContacts", func(ctx context.Context, c *club.Client) error {
		return result(c.FindContacts(ctx, demo, club.NewContact{Email: "ada@example.org"}, time.Time{}))
	}, `GET /demo/contacts?email=ada@example.org `},
	{"SetContactEmail", func(ctx context.Context, c *club.Client) error {
		return c.SetContactEmail(ctx, demo, "/demo/contacts/7", "ada@example.org")
	}, `PUT /demo/contacts/7 {"email":"ada@example.org"}`},
	{"SetContactEmail to none", func(ctx context.Context, c *club.Client) error {
		return c.SetContactEmail(ctx, demo, "/demo/contacts/7", "")
	}, `PUT /demo/contacts/7 {"email":null}`},
	{"GetContact", func(ctx context.Context, c *club.Client) error {
		return result(c.GetContact(ctx, demo, "/demo/contacts/7"))
	}, `GET /demo/contacts/7 `},
	{"GetAccountStatistics", func(ctx context.Context, c *club.Client) error {
		return result(c.GetAccountStatistics(ctx, demo, "/demo/contacts/7"))
	}, `GET /demo/stats/accounts/contacts/7 `},
	{"MigrateContact", func(ctx context.Context, c *club.Client) error {
		return c.MigrateContact(ctx, demo, "/demo/contacts/7", "own-token", club.Migration{Contact: "/demo/contacts/8", Club: "/demo/clubs/11"})
	}, `PUT /demo/contacts/7/migrate {"targetContactId":"/demo/contacts/8","targetClubId":"/demo/clubs/11"}`},
	{"CreateContactMigrationRequest", func(ctx context.Context, c *club.Client) error {
		return result(c.CreateContactMigrationRequest(ctx, demoMove, "/demo/contacts/7", "/demo/clubs/12"))
	}, `POST /demo/contact_migration_requests {"clubId":"/demo/clubs/12","contactId":"/demo/contacts/7"}`},
	{"GetClub", func(ctx context.Context, c *club.Client) error {
		return result(c.GetClub(ctx, demo, "/demo/clubs/11"))
	}, `GET /demo/clubs/11 `},
	{"ListCheckouts", func(ctx context.Context, c *club.Client) error {
		return result(c.ListCheckouts(ctx, demo))
	}, `GET /demo/checkouts `},
	{"NetworkNodes", func(ctx context.Context, c *club.Client) error {
		return result(c.NetworkNodes(ctx, demo))
	}, `GET /demo/network_nodes `},
	{"ListProducts", func(ctx context.Context, c *club.Client) error {
		return result(
			c.ListProducts(
				ctx,
				demo,
				club.ProductQuery{
					Channel:     club.ChannelWeb,
					Club:        "/demo/clubs/11",
					ContactTags: []string{"student", "/demo/contact_tags/2"},
					Contact:     "/demo/contacts/7",
					Debt:        ptr(int64(0)),
					Date:        "2026-03-01",
					Type:        "subscription",
				},
			),
		)
	}, `GET /demo/products?context[channel]=web&context[club]=/demo/clubs/11&context[contactId]=/demo/contacts/7` +
		`&context[contactTag][]=student&context[contactTag][]=/demo/contact_tags/2` +
		`&context[contactTags][]=student&context[contactTags][]=/demo/contact_tags/2&context[date]=2026-03-01&context[debt]=0` +
		`&type=subscription `},
	{"ListOffers", func(ctx context.Context, c *club.Client) error {
		return result(c.ListOffers(ctx, demo, "/demo/products/1"))
	}, `GET /demo/offers?product=/demo/products/1 `},
	{"ListAllowedDebitDays", func(ctx context.Context, c *club.Client) error {
		return result(c.ListAllowedDebitDays(ctx, demo, "2026-03-01"))
	}, `GET /demo/allowed_debit_days?startDate=2026-03-01 `},
	{"CreateSale", func(ctx context.Context, c *club.Client) error {
		return result(c.CreateSale(ctx, demo, club.NewSale{
			Contact:    "/demo/contacts/7",
			Club:       "/demo/clubs/11",
			ClubCode:   "PARIS11",
			FamilyName: "Testeur",
			GivenName:  "Ada",
			Number:     "C7",
			Address:    &paris,
		}))
	}, `POST /demo/sales {"contactId":"/demo/contacts/7","clubId":"/demo/clubs/11","clubCode":"PARIS11","contactFamilyName":"Testeur",` +
		`"contactGivenName":"Ada","contactNumber":"C7","address":` + parisJSON + `}`},
	{"GetSale", func(ctx context.Context, c *club.Client) error {
		return result(c.GetSale(ctx, demo, sale))
	}, `GET /demo/sales/1 `},
	{"UpdateSaleContact", func(ctx context.Context, c *club.Client) error {
		return c.UpdateSaleContact(ctx, demo, sale)
	}, `PUT /demo/sale/1/update_contact `},
	{"AcceptSaleTerms", func(ctx context.Context, c *club.Client) error {
		return c.AcceptSaleTerms(ctx, demo, sale)
	}, `POST /demo/sales/1/accept_gtcs `},
	{"AddArticle", func(ctx context.Context, c *club.Client) error {
		return c.AddArticle(ctx, demo, sale, club.NewArticle{Offer: "/demo/offers/1", StartDate: "2026-03-15",
			RepaymentSchedule: &club.RepaymentScheduleRequest{SpecificDay: true, DebitDay: ptr(5), StartDate: "2026-04-05"}})
	}, `POST /demo/sales/1/articles {"offerId":"/demo/offers/1",` +
		`"repaymentSchedule":{"specificDay":true,"debitDay":5,"startDate":"2026-04-05"},` +
		`"parent":null,"implementation":{"startDate":"2026-03-15"}}`},
	{"AddArticle by the week", func(ctx context.Context, c *club.Client) error {
		return c.AddArticle(ctx, demo, sale, club.NewArticle{Offer: "/demo/offers/1",
			RepaymentSchedule: &club.RepaymentScheduleRequest{DebitWeekDay: ptr(6)}})
	}, `POST /demo/sales/1/articles {"offerId":"/demo/offers/1",` +
		`"repaymentSchedule":{"specificDay":false,"debitDay":null,"debitWeekDay":6},"parent":null}`},
	{"CheckSale", func(ctx context.Context, c *club.Client) error {
		return result(c.CheckSale(ctx, demo, sale))
	}, `GET /demo/sales/1/check `},
	{"CreatePayment at the desk", func(ctx context.Context, client *club.Client) error {
		in := club.NewPayment{
			Contact:    "/demo/contacts/7",
			FamilyName: "Testeur",
			GivenName:  "Ada",
			Number:     "C7",
			Amount:     300,
			Mean:       club.MeanCheque,
			Club:       "/demo/clubs/11",
			ClubCode:   "PARIS11",
			Checkout:   "/demo/checkouts/1",
			Cards:      []club.PaymentCard{{Amount: 100, Network: "External"}},
			Cheques:    []club.Cheque{{Amount: 200, Bank: "B", Code: "1", DepositDesiredDate: "2026-03-05", Owner: "O"}},
		}
		return result(client.CreatePayment(ctx, demo, sale, in, nil))
	}, `POST /demo/sales/1/payments {"contactId":"/demo/contacts/7",` +
		`"contactFamilyName":"Testeur","contactGivenName":"Ada","contactNumber":"C7",` +
		`"amount":300,"mean":"cheque","clubId":"/demo/clubs/11","clubCode":"PARIS11","checkout":"/demo/checkouts/1",` +
		`"paymentCards":[{"amount":100,"network":"External"}],` +
		`"cheques":[{"amount":200,"bank":"B","code":"1","depositDesiredDate":"2026-03-05","owner":"O"}]}`},
	{"PostponeDue", func(ctx context.Context, c *club.Client) error {
		return c.PostponeDue(ctx, demo, sale, "2026-04-01", nil)
	}, `POST /demo/sales/1/postpone_due {"date":"2026-04-01"}`},
	{"ValidateSale", func(ctx context.Context, c *club.Client) error {
		return c.ValidateSale(ctx, demo, sale, nil)
	}, `POST /demo/sales/1/transitions {"transition":"validate"}`},
	{"ListSubscriptions", func(ctx context.Context, c *club.Client) error {
		return result(c.ListSubscriptions(ctx, demo, "/demo/contacts/7"))
	}, `GET /demo/subscription_summary?contact=/demo/contacts/7 `},
	{"ListCancellationMotives", func(ctx context.Context, c *club.Client) error {
		return result(c.ListCancellationMotives(ctx, demo))
	}, `GET /demo/referentials/cancellation_motives `},
	{"CancelSubscription", func(ctx context.Context, c *club.Client) error {
		in := club.NewCancellation{Date: "2026-12-31", Motive: "/demo/referentials/cancellation_motives/4"}
		return result(c.CancelSubscription(ctx, demo, "/demo/subscriptions/1", in, nil))
	}, `POST /demo/subscriptions/1/online_cancellation ` +
		`{"cancellationDate":"2026-12-31","cancellationMotiveId":"/demo/referentials/cancellation_motives/4"}`},
	{"CreateMandate", func(ctx context.Context, c *club.Client) error {
		return result(
			c.CreateMandate(
				ctx,
				demo,
				club.NewMandate{
					Club:       "/demo/clubs/11",
					Contact:    "/demo/contacts/7",
					FamilyName: "Testeur",
					GivenName:  "Ada",
					Number:     "C7",
					Address:    paris,
					Holder:     "Ada Testeur",
					IBAN:       "FR7630006000011234567890189",
					BIC:        "AGRIFRPP",
					Bank:       "B",
					ValidFrom:  "2026-03-01",
				},
			),
		)
	}, `POST /demo/mandates {"clubId":"/demo/clubs/11","contactId":"/demo/contacts/7",` +
		`"contactFamilyName":"Testeur","contactGivenName":"Ada","contactNumber":"C7","contactAddress":` + parisJSON + `,` +
		`"holder":"Ada Testeur","iban":"FR7630006000011234567890189","bic":"AGRIFRPP","bank":"B","validFrom":"2026-03-01"}`},
	{"CreateSignatureRequest", func(ctx context.Context, c *club.Client) error {
		return result(c.CreateSignatureRequest(ctx, demo, "/demo/contacts/7", "/demo/mandates/1"))
	}, `POST /demo/signature_requests {"contactId":"/demo/contacts/7","targetId":"/demo/mandates/1"}`},
	{"ValidateSignatureRequest", func(ctx context.Context, c *club.Client) error {
		return result(c.ValidateSignatureRequest(ctx, demo, "/demo/signature_requests/1", "012345"))
	}, `POST /demo/signature_requests/1/transitions {"transition":"validate","code":"012345"}`},
	{"CancelSignatureRequest", func(ctx context.Context, c *club.Client) error {
		return c.CancelSignatureRequest(ctx, demo, "/demo/signature_requests/1")
	}, `POST /demo/signature_requests/1/transitions {"transition":"cancel"}`},
	{"ListOptins", func(ctx context.Context, c *club.Client) error {
		return result(c.ListOptins(ctx, demo, "/demo/contacts/7"))
	}, `GET /demo/optins?contactId=/demo/contacts/7 `},
	{"UpdateOptin", func(ctx context.Context, c *club.Client) error {
		return c.UpdateOptin(ctx, demo, "/demo/optins/1", false)
	}, `PUT /demo/optins/1 {"isAuthorized":false}`},
}

// everything is a response with the content of every operation, except that its record has no operation's kind.
const everything = `{"@id": "/demo/things/1", "totalTI": 0, "state": "building", "articles": [], "totalRealDebt": 0, ` +
	`"subscriptions": [], "hydra:member": []}`

// acceptable answers every operation with what it accepts.
func acceptable(w http.ResponseWriter, r *http.Request) {
	collection := strings.Split(r.URL.Path, "/")[2]
	switch {
	case strings.HasSuffix(r.URL.Path, "/check"):
		w.WriteHeader(http.StatusNoContent)
		return
	case collection == "contact_migration_requests":
		collection = "signature_requests"
	}
	id := "/demo/" + collection + "/1"
	if r.Method == http.MethodGet {
		id = r.URL.Path
	}
	body := strings.Replace(everything, "/demo/things/1", id, 1)
	if collection == "signature_requests" {
		body = strings.Replace(body, "building", "validated", 1)
	}
	io.WriteString(w, body)
}

func ptr[T any](v T) *T { return &v }

// result drops the value of a call.
func result[T any](_ T, err error) error { return err }

// demoMove acts from one scope, wherever a move must act from.
var demoMove = club.MigrationScopes{Above: demo, Destination: demo, Source: demo}

// TestRequests checks the request of each operation.
func TestRequests(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			upstream := serve(t, acceptable)
			if err := op.call(t.Context(), club.New(configured(upstream.URL))); err != nil {
				t.Fatal(err)
			}
			r := upstream.seen()[0]
			uri, _ := url.QueryUnescape(r.RequestURI)
			if got := r.Method + " " + uri + " " + upstream.bodies[0]; got != op.want {
				t.Errorf("request\n%s\nwant\n%s", got, op.want)
			}
			wantToken := "Bearer tok-1"
			if op.name == "MigrateContact" {
				wantToken = "Bearer own-token"
			}
			for name, want := range map[string]string{"Authorization": wantToken, "X-Gateway-Api-Key": "key", "X-User-Club-Id": "/demo/clubs/11",
				"X-User-Network-Node-Id": "/demo/network_nodes/3", "User-Agent": "Frontdesk", "Idempotency-Key": "", "Traceparent": ""} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if hasBody := upstream.bodies[0] != ""; hasBody != (r.Header.Get("Content-Type") == "application/json") {
				t.Errorf("body %q with Content-Type %q", upstream.bodies[0], r.Header.Get("Content-Type"))
			}
		})
	}
}

// TestErrorsOfEveryOperation: an operation's error names the operation, shows nothing of the body, and has the
// club system's code and violations.
func TestErrorsOfEveryOperation(t *testing.T) {
	const body = `{"hydra:description": "email: ada@example.org is taken", "code": "api.error.contact.email-taken",
		"violations": [{"propertyPath": "email", "message": "ada@example.org is taken", "code": "api.error.contact.email-taken"}]}`
	for _, op := range operations {
		if op.name == "CheckSale" { // which does not treat a 400 as an error
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			upstream := serve(t, answering(400, body))
			failure := asError(t, op.call(t.Context(), club.New(configured(upstream.URL))))
			name, _, _ := strings.Cut(op.name, " ")
			if want := "club: " + name + ": rejected, status 400, api.error.contact.email-taken"; failure.Error() != want {
				t.Errorf("error %q, want %q", failure, want)
			}
			if len(failure.Violations) != 1 || failure.Violations[0].Field != "email" ||
				failure.Violations[0].Code != "api.error.contact.email-taken" {
				t.Errorf("violations %+v", failure.Violations)
			}
			if len(upstream.seen()) != 1 {
				t.Errorf("%d requests, want one", len(upstream.seen()))
			}
		})
	}
}

// TestDocumentedErrors: each documented error has a sentinel, whatever the shape of its body.
func TestDocumentedErrors(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   error
	}{
		{401, `Unauthorized`, club.ErrUnauthorized},
		{403, `{"code": "api.error.scope.unauthorized-endpoint"}`, club.ErrEndpointNotGranted},
		{403, `{"status": 403, "message": "api.error.scope.unauthorized-endpoint"}`, club.ErrEndpointNotGranted},
		{404, `{"hydra:description": "Item not found"}`, club.ErrNotFound},
		{400, `{"code": "api.error.contact.migration.club-not-valid"}`, club.ErrMigrationClub},
		{400, `{"detail": "api.error.contact.migration.contact-not-valid."}`, club.ErrMigrationContact},
		{400, `{"hydra:description": "The resource /demo/contacts/7 does not exist."}`, club.ErrOutOfReach},
		{400, `{"message": "Resource \"\/demo\/contacts\/7\" does not exist"}`, club.ErrOutOfReach},
		{400, `{"message": "Resource '/demo/contacts/7' does not exist"}`, club.ErrOutOfReach},
		{400, `{"message": "wrong"}`, nil},
		{403, ``, nil},
		{500, `{"code": "api.error.contact.migration.club-not-valid"}`, nil},
	}
	all := []error{
		club.ErrUnauthorized,
		club.ErrEndpointNotGranted,
		club.ErrNotFound,
		club.ErrMigrationClub,
		club.ErrMigrationContact,
		club.ErrOutOfReach,
	}
	for _, tt := range tests {
		u := serve(t, answering(tt.status, tt.body))
		_, err := club.New(configured(u.URL)).CreateContactMigrationRequest(t.Context(), demoMove, "/demo/contacts/7", "/demo/clubs/12")
		for _, sentinel := range all {
			if got := errors.Is(err, sentinel); got != errors.Is(tt.want, sentinel) {
				t.Errorf("%d %s: is %v: %v", tt.status, tt.body, sentinel, got)
			}
		}
	}
}

// TestConfiguredNames sends the gateway key in another header, to another path.
func TestConfiguredNames(t *testing.T) {
	u := serve(t, answering(200, saleJSON))
	cfg := configured(u.URL)
	cfg.PathPrefix, cfg.GatewayKeyHeader = "/api/v6", "X-Key"
	cfg.Traceparent = func(context.Context) string { return "00-trace" }
	must[club.Sale](t)(club.New(cfg).GetSale(t.Context(), demo, sale))
	r := u.seen()[0]
	if r.URL.Path != "/api/v6/demo/sales/1" || r.Header.Get("X-Key") != cfg.GatewayKey || r.Header.Get("X-Gateway-Api-Key") != "" ||
		r.Header.Get("X-User-Club-Id") != string(demo.Club) || r.Header.Get("X-User-Network-Node-Id") != string(demo.Node) ||
		r.Header.Get("Traceparent") != "00-trace" {
		t.Errorf("request %s with %v", r.URL, r.Header)
	}
}

// TestScope: an empty club or node sends no header, and an invalid scope sends no request.
func TestScope(t *testing.T) {
	upstream := serve(t, answering(200, saleJSON))
	client := club.New(configured(upstream.URL))
	must[club.Sale](t)(client.GetSale(t.Context(), club.Scope{ClientToken: "demo"}, sale))
	if h := upstream.seen()[0].Header; h.Get("X-User-Club-Id") != "" || h.Get("X-User-Network-Node-Id") != "" {
		t.Errorf("headers %v", h)
	}
	for _, s := range []club.Scope{{}, {ClientToken: "de/mo"}, {ClientToken: ".."}, {ClientToken: "demo", Club: "11"},
		{ClientToken: "demo", Club: "/other/clubs/11"}, {ClientToken: "demo", Node: "/demo/network_nodes/3\r\nX-Evil: 1?"}} {
		_, err := client.ListOffers(t.Context(), s, "")
		if !errors.Is(err, club.ErrBadIRI) || club.OutcomeOf(err) != club.NotSent {
			t.Errorf("%+v: %v, want ErrBadIRI", s, err)
		}
	}
	if len(upstream.seen()) != 1 {
		t.Errorf("%d requests, want one", len(upstream.seen()))
	}
}

func TestIRI(t *testing.T) {
	i := club.NewIRI("demo", "clubs", "11")
	if i != "/demo/clubs/11" || i.ClientToken() != "demo" || i.Collection() != "clubs" || i.ID() != "11" {
		t.Errorf("IRI %s: %s, %s, %s", i, i.ClientToken(), i.Collection(), i.ID())
	}
	for _, i := range []club.IRI{
		"", "11", "/demo/clubs", "/demo/clubs/", "//clubs/11", "/demo//11", "demo/clubs/11",
		"/demo/clubs/11/x", "/demo/clubs/..", "/demo/clubs/1%2f",
	} {
		if i.ID() != "" || i.Collection() != "" || i.ClientToken() != "" {
			t.Errorf("%q passes for an IRI", i)
		}
	}
}

// TestCheckSale: valid, invalid, and neither.
func TestCheckSale(t *testing.T) {
	check := func(status int, body string) (club.SaleCheck, error) {
		u := serve(t, answering(status, body))
		return club.New(configured(u.URL)).CheckSale(t.Context(), demo, sale)
	}
	if got, err := check(204, ""); err != nil || !got.Valid {
		t.Errorf("204: %+v, %v", got, err)
	}
	got, err := check(400, `{"violations": [{"propertyPath": "articles[0]", "message": "too young", "code": "api.error.sale.age"}]}`)
	if err != nil || got.Valid || len(got.Violations) != 1 || got.Violations[0].Field != "articles[0]" {
		t.Errorf("400: %+v, %v", got, err)
	}
	if got, err := check(400, ""); err != nil || got.Valid {
		t.Errorf("400 without reasons: %+v, %v", got, err)
	}
	if got, err := check(400, `<html>`); !errors.Is(err, club.ErrForeign) || got.Valid {
		t.Errorf("400 of another system: %+v, %v", got, err)
	}
	if got, err := check(404, ""); !errors.Is(err, club.ErrNotFound) || got.Valid {
		t.Errorf("404: %+v, %v", got, err)
	}
}

// TestLongAnswers: a response beyond the size limit is not read.
func TestLongAnswers(t *testing.T) {
	long := func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": [], "padding": "`)
		for range 100 {
			io.WriteString(w, strings.Repeat("x", 1000))
		}
		io.WriteString(w, `"}`)
	}
	u := serve(t, long)
	cfg := configured(u.URL)
	cfg.Limits.MaxBody, cfg.Limits.MaxAttempts = 64<<10, 1
	client := club.New(cfg)
	_, err := client.GetSale(t.Context(), demo, sale)
	wantOutcome(t, err, club.Unknown)
	if err := client.PostponeDue(t.Context(), demo, sale, "2026-04-01", nil); err != nil {
		t.Errorf("an unneeded response: %v", err)
	}
	receipt := must[club.Receipt](t)(client.CreatePayment(t.Context(), demo, sale, payment, nil))
	if receipt.Status != 200 || receipt.Payment != "" {
		t.Errorf("receipt %+v", receipt)
	}
}

func TestNewWithoutClock(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New without a clock did not panic")
		}
	}()
	club.New(club.Config{})
}
