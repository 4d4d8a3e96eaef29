package site_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// crossOriginVisitor is a visitor of a front end on another origin.
type crossOriginVisitor struct {
	*siteVisitor
	site string // the front end's address
}

// newCrossOriginVisitor serves a front end under a name of this machine, on its own port.
func newCrossOriginVisitor(t *testing.T, host string) *crossOriginVisitor {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir("testdata/front_end")))
	t.Cleanup(server.Close)
	c, gateway := frontdesktest.NewWorld(t)
	f := &crossOriginVisitor{newSiteVisitorAt(t, desktop, c, gateway), strings.Replace(server.URL, "127.0.0.1", host, 1) + "/"}
	f.UseWorld(&frontdesktest.Client{}) // the front end sets its world itself
	f.Open(f.site)
	return f
}

// ask sends a request as the front end does. A nil token makes the session a cookie.
func (f *crossOriginVisitor) ask(token *string, method, path string, body any) (response struct {
	api.Registration
	Status int
	Valid  bool
	Card   api.CardDetails
}) {
	f.t.Helper()
	arguments, err := json.Marshal([]any{f.home, f.c.World, token, method, path, body})
	if err != nil {
		f.t.Fatal(err)
	}
	text := f.Eval(
		`((gateway, world, token, ...request) => frontEnd(gateway, world, token ?? undefined)(...request).then(JSON.stringify))(...` + string(
			arguments,
		) + `)`,
	)
	if err := json.Unmarshal([]byte(text), &response); err != nil {
		f.t.Fatalf("%v in %s", err, text)
	}
	return response
}

// TestCrossOriginJourney signs a visitor up on a front end of another origin, with a cookie and with a
// bearer token, and returns the buyer there.
func TestCrossOriginJourney(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]*string{"cookie": nil, "bearer": new(string)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visitor := newCrossOriginVisitor(t, "localhost")
			start := tomorrow()
			begun := visitor.ask(token, "POST", "/v1/registrations", api.StartRegistration{
				ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: cardOffer, StartDate: &start}},
			})
			if begun.Status != http.StatusCreated || (begun.Token == nil) != (token == nil) {
				t.Fatalf("the start is answered by %+v", begun)
			}
			if token != nil {
				token = begun.Token
			}
			path := "/v1/registrations/" + begun.Id
			if check := visitor.ask(token, "POST", path+"/check", nil); check.Status != http.StatusOK || !check.Cart.Valid {
				t.Errorf("the check is answered by %+v", check)
			}
			payment := visitor.ask(token, "POST", path+"/payment", map[string]string{
				"method": "card", "cart": begun.Cart.Revision, "returnUrl": visitor.site,
			})
			if payment.Status != http.StatusCreated || payment.Payment.Card.RedirectUrl == nil {
				t.Fatalf("the payment is answered by %+v", payment)
			}
			visitor.Open(*payment.Payment.Card.RedirectUrl)
			visitor.enterCard(frontdesktest.ApprovedCard)
			visitor.WaitVisible(`[data-front-end]`)
			frontdesktest.Eventually(t, "the buyer is a member", func() bool { return visitor.ask(token, "GET", path, nil).State == api.Completed })
			visitor.expectRecords(begun.Id, expectedRecords{recorded: begun.Cart.DueNow.Amount, captured: begun.Cart.DueNow.Amount})

			anonymous := ""
			visitor.ExpectConsole("status of 401")
			if other := visitor.ask(&anonymous, "GET", path, nil); other.Status != http.StatusUnauthorized {
				t.Errorf("without a session the registration is answered by %+v", other)
			}
		})
	}
}

// TestForbiddenOrigin checks that a page of a forbidden origin has no effect, with or without a
// preflight.
func TestForbiddenOrigin(t *testing.T) {
	t.Parallel()
	visitor := newCrossOriginVisitor(t, "elsewhere.localhost")
	visitor.ExpectConsole("asked elsewhere.localhost")
	visitor.ExpectConsole("blocked by CORS policy")
	visitor.ExpectConsole("ERR_FAILED")
	visitor.ExpectConsole("ERR_BLOCKED_BY_RESPONSE") // without a preflight the request has no key, and the page may not read the refusal
	for _, request := range []string{
		`frontEnd("` + visitor.home + `", "` + visitor.c.World + `")("GET", "/v1/clubs")`,
		`frontEnd("` + visitor.home + `", "` + visitor.c.World + `")("POST", "/v1/registrations", {clubId: "11"})`,
	} {
		if response := visitor.Eval(request + `.then(JSON.stringify, (refused) => refused.name)`); response != "TypeError" {
			t.Errorf("%s is answered by %s", request, response)
		}
	}
	visitor.Eval(
		`fetch("` + visitor.home + `/v1/registrations", {method: "POST", mode: "no-cors", credentials: "include",
			body: '{"clubId": "11"}'}).then(() => "", () => "")`,
	)
	if n := len(visitor.c.Calls()); n != 0 {
		t.Errorf("the page made the gateway ask the club system %d times", n)
	}
}

// TestOwnCatalogueUnderAnotherHost: in mock mode the site sells a team's own catalogue under a name that nobody configured, as in a
// network of containers or at home, and never leads to another one: pictures, a card that the bank asks about, its page, the way back.
func TestOwnCatalogueUnderAnotherHost(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_CATALOGUE="+filepath.Join(frontdesktest.Root(), "docs", "examples", "catalogue.yaml"))
	visitor := newSiteVisitorAt(t, phone, frontdesktest.NewClient(t, gateway.URL), gateway)
	visitor.home = strings.Replace(gateway.URL, "127.0.0.1", frontdesktest.OtherHost, 1)
	visitor.ExpectConsole("asked " + frontdesktest.OtherHost)
	stays := func(page string) {
		t.Helper()
		const foreign = `performance.getEntriesByType("resource").map(e => e.name).filter(u => !u.startsWith(location.origin)).join(" ")`
		if at, from := visitor.Eval(`location.origin`), visitor.Eval(foreign); at != visitor.home || from != "" {
			t.Errorf("%s is at %s and loads %q", page, at, from)
		}
	}
	visitor.goTo("/")
	visitor.Click(`[data-club="209"]`)
	visitor.WaitVisible(`[data-offer="401"]`) // of this club alone
	stays("the page of offers")
	visitor.goTo("/?club=209&offer=201&startDate=" + tomorrow())
	visitor.giveDetails()
	visitor.pay()
	stays("the page of the order")
	registration := visitor.Registration()
	visitor.enterCard(challengeCard)
	visitor.approve()
	visitor.expectMember()
	visitor.settled("card")
	stays("the last page")
	visitor.expectRecords(registration, expectedRecords{recorded: 29900, captured: 29900})
}
