package security_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// oversizedText holds oversized texts of a club system, by member.
var oversizedText = map[string]any{
	"name": strings.Repeat("é\n\x01", 600), "description": strings.Repeat("é\r\n\t\x7f", 4_000), "alias": strings.Repeat("a", 501),
	"registrationFeeName": strings.Repeat("f", 501), "number": strings.Repeat("1\n", 400), "channel": strings.Repeat("c", 600),
	"priceCurrency": "Euro", "validFrom": "2026-01-01T00:00:00+01:00", "rhythmBilling": strings.Repeat("P", 51),
}

// renamed lists records whose new ids no route accepts, and a product of an unknown kind.
var renamed = map[string]string{
	"/demo/clubs/21":     "/demo/clubs/a.b",
	"/demo/offers/201":   "/demo/offers/" + strings.Repeat("9", 65),
	"/demo/optins/12012": "/demo/optins/~",
	"badge":              "amulet",
}

// oversizing returns JSON with the members of boast in place of its own.
func oversizing(said any) any {
	switch typed := said.(type) {
	case []any:
		for i := range typed {
			typed[i] = oversizing(typed[i])
		}
	case map[string]any:
		for member, of := range typed {
			if _, text := of.(string); text && oversizedText[member] != nil {
				typed[member] = oversizedText[member]
			} else if name, text := of.(string); text && renamed[name] != "" {
				typed[member] = renamed[name]
			} else if tags, list := of.([]any); list && member == "tags" {
				for range 300 {
					tags = append(tags, map[string]any{"@id": fmt.Sprintf("/demo/contact_tags/%d", len(tags)+9000), "name": "x"})
				}
				typed[member] = oversizing(tags)
			} else {
				typed[member] = oversizing(of)
			}
		}
	}
	return said
}

// newRewrittenClub is the simulator behind a proxy that changes its JSON.
func newRewrittenClub(t *testing.T, club string, rewrite func(any) any) string {
	t.Helper()
	at, err := url.Parse(club)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.ModifyResponse = func(response *http.Response) error {
		if !strings.Contains(response.Header.Get("Content-Type"), "json") {
			return nil
		}
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		var said any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&said) == nil {
			if text, err = json.Marshal(rewrite(said)); err != nil {
				return err
			}
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		response.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// TestAPI10OversizedTexts checks that responses keep the bounds of the contract, which the client
// enforces, however long the club system's texts are.
func TestAPI10OversizedTexts(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, client := gatewayWithClub(t, s, newRewrittenClub(t, s.Upstreams.URL+"/sim", oversizing))
	oneLine := func(what, text string) {
		if utf8.RuneCountInString(text) != 500 || strings.ContainsAny(text, "\n\x01") {
			t.Errorf("%s is %q", what, text)
		}
	}
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	oneLine("a club", clubs.Items[0].Name)
	oneLine("a parent", clubs.Items[0].Path[0])
	text := string(client.Do("GET", "/v1/clubs/11/products", nil).Body) + fmt.Sprint(clubs)
	if strings.Contains(text, "a.b") || strings.Contains(text, strings.Repeat("9", 65)) || strings.Contains(text, "amulet") ||
		!strings.Contains(text, `"901"`) {
		t.Error("what cannot be asked for is listed, or what can be is not")
	}
	var products api.ProductList
	client.Do("GET", "/v1/clubs/11/products", nil).Into(http.StatusOK, &products)
	for _, product := range products.Items {
		oneLine("a product", product.Name)
		text := frontdesktest.Value(product.Description)
		if text != "" && (utf8.RuneCountInString(text) != 10_000 || !strings.HasPrefix(text, "é\n\té")) {
			t.Errorf("a description is %.60q…", text)
		}
		for _, offer := range product.Offers {
			oneLine("an offer", offer.Name)
			if offer.ListPrice.Currency != "XXX" {
				t.Errorf("an invalid currency is shown as %q", offer.ListPrice.Currency)
			}
		}
	}
	client.Do("GET", "/v1/clubs/11/offers/901/schedule", nil).Into(http.StatusOK, nil)
	var registration api.Registration
	client.Do("POST", "/v1/registrations", api.StartRegistration{
		ClubId: "11",
		Person: frontdesktest.Person(),
		Items: &[]api.NewItem{
			{OfferId: "901", StartDate: new(time.Now().AddDate(0, 0, 2).Format(time.DateOnly))},
		},
	}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	oneLine("a line of the cart", registration.Cart.Items[0].Name)
	oneLine("a contact", registration.Contact.Number)
	customer := client.As("customer")
	var me api.Me
	customer.Do("GET", "/v1/me", nil).Into(http.StatusOK, &me)
	oneLine("I", me.Number)
	if from := frontdesktest.Value(me.Tags[0].ValidFrom); len(me.Tags) != 200 || from != "2026-01-01" {
		t.Errorf("%d tags, the first one from %q on", len(me.Tags), from)
	}
	var consents api.ConsentList
	customer.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &consents)
	oneLine("a channel", consents.Items[0].Channel)
}

// TestAPI10NameOfAClub checks that the processor accepts the payment for any name of a club, and that
// the card page shows as much of the name as a line holds.
func TestAPI10NameOfAClub(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	var rename func(said any) any
	rename = func(said any) any {
		switch typed := said.(type) {
		case []any:
			for i := range typed {
				typed[i] = rename(typed[i])
			}
		case map[string]any:
			for member, of := range typed {
				typed[member] = rename(of)
			}
			if id, _ := typed["@id"].(string); strings.Contains(id, "/network_nodes/") {
				typed["name"] = oversizedText["name"]
			}
		}
		return said
	}
	_, client := gatewayWithClub(t, env, newRewrittenClub(t, env.Upstreams.URL+"/sim", rename))
	registration := client.Register()
	payment := client.Pay(registration.Id)
	page := string(client.Do("GET", *payment.Card.RedirectUrl, nil, [2]string{"Accept", "text/html"}).Body)
	title, _, _ := strings.Cut(page, "</title>")
	if shown := strings.Count(title, "é  "); shown < 100 || shown > 200 || strings.Contains(page, "\x01") {
		t.Errorf("the title of the card page shows %d thirds of the name: %.600q", shown, page)
	}
	client.Confirm(payment, "4242424242424242")
	client.AwaitPayment(registration.Id, api.Recorded)
}

// TestAPI10ImplausibleNumbers checks that impossible amounts, carts and catalogues are treated as
// errors, and that days that no month has are left out.
func TestAPI10ImplausibleNumbers(t *testing.T) {
	t.Parallel()
	tr, _, client := newMaliciousClubGateway(t)
	tr.respond(
		"/network_nodes",
		says(
			200, "application/ld+json",
			`{"hydra:member":[{"@id":"/demo/network_nodes/1","type":"group","children":[`+numbered("network_nodes", 6001)+`]}]}`,
		),
	)
	client.Do("GET", "/v1/clubs", nil).Problem(api.ClubSystemFailed)
	customer := client.As("customer")
	offer := func(members string) string {
		return `{"hydra:member":[{"@id":"/demo/offers/1","name":"x","priceCurrency":"EUR",` + members + `}]}`
	}
	entry := `{"interval":"P1M","loop":1,"priceTI":1}`
	for name, lie := range map[string]struct{ on, says, path string }{
		"a debt":       {"/stats/accounts/contacts/1001", `{"totalRealDebt":1000000000001}`, "/v1/me"},
		"a debt below": {"/stats/accounts/contacts/1001", `{"totalRealDebt":-1000000000001}`, "/v1/me"},
		"a price":      {"/offers", offer(`"totalPriceTI":1000000000001`), "/v1/clubs/11/products"},
		"a fee":        {"/offers", offer(`"registrationFeeTI":-1000000000001`), "/v1/clubs/11/products"},
		"a debit": {
			"/offers", offer(`"repaymentSchedule":{"recurrences":[{"interval":"P1M","priceTI":1000000000001}]}`),
			"/v1/clubs/11/products",
		},
		"a schedule": {
			"/offers", offer(`"repaymentSchedule":{"occurrences":[` + strings.Repeat(entry+",", 600) + entry + `]}`),
			"/v1/clubs/11/products",
		},
		"one page of products": {"/products", `{"hydra:member":[` + numbered("products", 6001) + `]}`, "/v1/clubs/12/products"},
	} {
		tr.respond(lie.on, says(200, "application/ld+json", lie.says))
		customer.Do("GET", lie.path, nil).Problem(api.ClubSystemFailed)
		if tr.calls.Load() == 0 {
			t.Errorf("no request reached %s", name)
		}
	}
	tr.respond(
		"/allowed_debit_days",
		says(
			200, "application/ld+json",
			`[{"debitDay":0,"date":"2030-01-01"},{"debitDay":32,"date":"2030-01-01"},
				{"debitDay":5,"date":"soon"},{"debitDay":6,"date":"2030-02-06"}]`,
		),
	)
	var days api.DebitDayList
	client.Do("GET", "/v1/clubs/11/debit-days", nil).Into(http.StatusOK, &days)
	if len(days.Items) != 1 || days.Items[0].Day != 6 {
		t.Errorf("the days are %+v", days.Items)
	}
	tr.respond("", nil)
	registration := client.Register()
	sale := ""
	for _, call := range client.Calls() {
		if call.Operation == "getSale" {
			sale = call.Path
		}
	}
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf(`{"@id":"/demo/articles/%d","offerId":"/demo/offers/201","name":"x","priceTI":1}`, i)
	}
	for name, lie := range map[string]string{
		"a line":  `"totalTI":1,"articles":[{"priceTI":1000000000001}]`,
		"lines":   `"totalTI":1,"articles":[` + strings.Join(many, ",") + `]`,
		"a total": `"totalTI":1000000000001`,
	} {
		tr.respond(sale, says(200, "application/ld+json", `{"@id":"`+sale+`",`+lie+`}`))
		client.Do("POST", "/v1/registrations/"+registration.Id+"/check", nil, frontdesktest.Key("")).Problem(api.ClubSystemFailed)
		if tr.calls.Load() == 0 {
			t.Errorf("no request reached %s", name)
		}
	}
}

// numbered returns a list of n records.
func numbered(collection string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"@id":"/demo/%s/%d","name":"x","type":"regular"}`, collection, i)
	}
	return strings.Join(all, ",")
}
