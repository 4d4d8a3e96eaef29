package club_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// foreign are successes that are not the club system's.
var foreign = map[string]struct {
	contentType, body string
}{
	"page":                {"text/html; charset=utf-8", "<!DOCTYPE html><html><body>Checking your browser</body></html>"},
	"page without a type": {"", "\n <html>"},
	"XML":                 {"application/xml", `<?xml version="1.0"?><ok/>`},
	"text":                {"text/plain", "OK"},
	"text as a page":      {"text/html", "OK"},
	"JSON":                {"application/json", `{"status":"ok"}`},
	"JSON with an id":     {"application/json", `{"id": 7, "success": true}`},
	"object":              {"application/json", `{}`},
	"list":                {"application/json", `[]`},
	"list as a page":      {"text/html", `[]`},
	"list of text":        {"application/json", `["ok"]`},
	"list of objects":     {"application/json", `[{"status":"ok"}]`},
	"null":                {"application/json", `null`},
	"string":              {"application/json", `"ok"`},
	"true":                {"application/json", `true`},
	"number":              {"application/json", `1`},
	"cut JSON":            {"application/json", `{"status":`},
	"error": {
		"application/ld+json",
		`{"@context": "/contexts/Error", "@id": "/demo/errors/400", "@type": "hydra:Error", "hydra:description": "no"}`,
	},
	"violations": {
		"application/ld+json",
		`{"@context": "/contexts/ConstraintViolationList", "@type": "ConstraintViolationList", "violations": []}`,
	},
	"GET instead of a write": {
		"application/ld+json",
		`{"@context": "/contexts/Sale", "@id": "/demo/sales", "@type": "hydra:Collection", "hydra:member": []}`,
	},
	"another's record": {"application/ld+json", `{"@id": "/demo/things/1"}`},
}

// TestForeignAnswers: no operation believes a success that is not the club system's, and no write is repeated.
func TestForeignAnswers(t *testing.T) {
	for _, op := range operations {
		for name, answer := range foreign {
			list := strings.HasPrefix(op.name, "List") || op.name == "NetworkNodes"
			contentless := !list && !strings.HasPrefix(op.name, "Get") && op.name != "CheckSale" &&
				(!strings.HasPrefix(op.name, "Create") || strings.HasPrefix(op.name, "CreatePayment"))
			switch {
			case list && name == "GET instead of a write", op.name == "ListAllowedDebitDays" && name == "list":
				continue // the club system's own
			case contentless && name == "another's record":
				continue // of which kind the response is, is not documented
			}
			t.Run(op.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				upstream := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					if answer.contentType != "" {
						w.Header().Set("Content-Type", answer.contentType)
					}
					io.WriteString(w, answer.body)
				})
				cfg := configured(upstream.URL)
				if strings.HasPrefix(op.want, "GET") {
					cfg.Limits.MaxAttempts = 1
				}
				err := op.call(t.Context(), club.New(cfg))
				wantOutcome(t, err, club.Unknown)
				if e := asError(t, err); e.Status != http.StatusOK || len(upstream.seen()) != 1 {
					t.Errorf("%v after %d requests, want status 200 after one", e, len(upstream.seen()))
				}
				known := strings.Contains(op.name, "AccountStatistics") || strings.Contains(op.name, "DebitDays")
				if !known && !errors.Is(err, club.ErrForeign) {
					t.Errorf("%v is not ErrForeign", err)
				}
			})
		}
	}
}

// TestEmptyAnswers: an empty success is a promise of a write whose response is not needed, and nothing else.
func TestEmptyAnswers(t *testing.T) {
	promises := map[string]bool{"MigrateContact": true, "UpdateSaleContact": true, "CreatePayment at the desk": true,
		"PostponeDue": true, "ValidateSale": true, "CancelSubscription": true, "AcceptSaleTerms": true}
	for _, op := range operations {
		for _, status := range []int{200, 201, 202, 204} {
			t.Run(op.name+"/"+strconv.Itoa(status), func(t *testing.T) {
				t.Parallel()
				u := serve(t, answering(status, ""))
				cfg := configured(u.URL)
				cfg.Limits.MaxAttempts = 1
				want := club.Unknown
				if promises[op.name] || op.name == "CheckSale" && status == 204 {
					want = club.Accepted
				}
				wantOutcome(t, op.call(t.Context(), club.New(cfg)), want)
			})
		}
	}
}

// TestForeignNotFound: a page is not the club system's word that a record is gone.
func TestForeignNotFound(t *testing.T) {
	u := serve(t, answering(404, "<html>Not Found</html>"))
	_, err := club.New(configured(u.URL)).GetSale(t.Context(), demo, sale)
	if errors.Is(err, club.ErrNotFound) || !errors.Is(err, club.ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
}

// TestAnotherRecord: a record that is read is the one that was asked for.
func TestAnotherRecord(t *testing.T) {
	for record, read := range map[string]func(context.Context, *club.Client) error{
		`{"@id": "/demo/clubs/%d", "code": "PARIS11"}`: func(ctx context.Context, c *club.Client) error {
			return result(c.GetClub(ctx, demo, "/demo/clubs/7"))
		},
		`{"@id": "/demo/contacts/%d", "status": "temp"}`: func(ctx context.Context, c *club.Client) error {
			return result(c.GetContact(ctx, demo, "/demo/contacts/7"))
		},
		`{"@id": "/demo/mandates/%d", "state": "signed"}`: func(ctx context.Context, c *club.Client) error {
			return result(c.GetMandate(ctx, demo, "/demo/mandates/7"))
		},
		`{"@id": "/demo/sales/%d", "state": "building", "totalTI": 0, "articles": []}`: func(ctx context.Context, c *club.Client) error {
			return result(c.GetSale(ctx, demo, "/demo/sales/7"))
		},
	} {
		if err := read(t.Context(), reading(t, fmt.Sprintf(record, 7))); err != nil {
			t.Errorf("%s: %v", record, err)
		}
		if err := read(t.Context(), reading(t, fmt.Sprintf(record, 8))); !errors.Is(err, club.ErrForeign) {
			t.Errorf("another one is read in place of %s: %v", record, err)
		}
	}
}

// TestForeignPageProvesNoToken: a page does not show that the club system accepts the token.
func TestForeignPageProvesNoToken(t *testing.T) {
	now := time.Now()
	world := newWorld(t, "foreign-token")
	cart := world.cart(world.visitor().IRI, "101")
	cfg := world.config()
	cfg.Now = func() time.Time { return now }
	client := club.New(cfg)
	must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI))
	tokens := world.calls("token")
	now = now.Add(50 * time.Second)
	world.hit(clubsim.Fault{Kind: "foreign_page"}, "POST", "/sales/*/articles")
	wantOutcome(t, client.AddArticle(t.Context(), world.bastille, cart.IRI, club.NewArticle{Offer: world.iri("offers", "101")}), club.Unknown)
	now = now.Add(30 * time.Second)
	must[club.Receipt](t)(client.CreatePayment(t.Context(), world.bastille, cart.IRI, world.paying(cart), pass))
	if got := world.calls("token") - tokens; got != 1 {
		t.Errorf("%d new tokens, want one: the last proof is older than a minute", got)
	}
}
