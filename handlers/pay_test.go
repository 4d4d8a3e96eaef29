package handlers_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/text"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// cardPages is a gateway whose card processor has fields for the card, and a front end of it.
type cardPages struct {
	frontdesktest.Env
	t         *testing.T
	processor *sandbox.Server
	gateway   *frontdesktest.Process
	c         *frontdesktest.Client
	home      string          // the gateway's public address
	shown     strings.Builder // all pages
}

func newCardPages(t *testing.T, environment ...string) *cardPages {
	t.Helper()
	p := &cardPages{Env: frontdesktest.NewEnv(t), t: t, processor: sandbox.New(sandbox.Config{})}
	t.Cleanup(p.processor.Close)
	p.gateway, p.c = p.StripeGateway(t, p.processor, sandbox.Normal, environment...)
	p.home = strings.Replace(p.gateway.URL, "127.0.0.1", "localhost", 1)
	return p
}

// pay starts a payment, and returns the path of its page.
func (p *cardPages) pay() (registration api.Registration, payment api.Payment, path string) {
	p.t.Helper()
	registration = p.c.Register()
	payment = p.c.Pay(registration.Id)
	return registration, payment, p.pathOf(payment)
}

func (p *cardPages) pathOf(payment api.Payment) string {
	p.t.Helper()
	address, err := url.Parse(value(payment.Card.RedirectUrl))
	if err != nil || !strings.HasPrefix(address.Path, "/pay/"+payment.Id+"/") {
		p.t.Fatalf("the page of %s is %q", payment.Id, value(payment.Card.RedirectUrl))
	}
	return address.Path
}

// confirm enters a card in the processor's fields.
func (p *cardPages) confirm(payment api.Payment, card string) {
	p.t.Helper()
	id, _, _ := strings.Cut(value(payment.Card.ClientSecret), "_secret_")
	if _, err := p.processor.Confirm(id, card); err != nil {
		p.t.Fatal(err)
	}
}

// open reads a page as a browser does, and its text without the escapes of HTML.
func (p *cardPages) open(path string, status int, headers ...[2]string) (*frontdesktest.Response, string) {
	p.t.Helper()
	response := p.c.Do("GET", path, nil, append([][2]string{{"Accept", "text/html,*/*;q=0.8"}}, headers...)...)
	if response.Status != status || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		p.t.Fatalf("%s: status %d instead of %d, %s:\n%s", path, response.Status, status, response.Header.Get("Content-Type"), response.Body)
	}
	p.shown.Write(response.Body)
	return response, html.UnescapeString(string(response.Body))
}

// expect opens a page in both languages, and looks for texts of each. A page with a form has the payment's secret, and no other has.
func (p *cardPages) expect(path, secret, state, english, french string, form bool) {
	p.t.Helper()
	for lang, words := range map[string]string{"en-GB, fr;q=0.5": english, "fr-FR, en;q=0.5": french} {
		response, text := p.open(path, http.StatusOK, [2]string{"Accept-Language", lang})
		if !strings.Contains(text, `data-pay="`+state+`"`) || !strings.Contains(text, ">"+words+"</h1>") {
			p.t.Errorf("%s in %s is not %s, %q:\n%s", path, lang, state, words, text)
		}
		if has := strings.Contains(text, "<form"); has != form || strings.Contains(text, secret) != form {
			p.t.Errorf("%s: a form is on the page: %t, and should be: %t; or the secret is not where it belongs", state, has, form)
		}
		if tag := response.Header.Get("Content-Language"); !strings.HasPrefix(lang, tag) || !strings.Contains(text, `<html lang="`+tag+`">`) {
			p.t.Errorf("%s in %s comes in %q", state, lang, tag)
		}
		if !strings.Contains(text, "data-return") {
			p.t.Errorf("%s has no way back", state)
		}
	}
}

// TestCardPageStates follows payments on their pages, in both languages. No page shows anything of the buyer.
func TestCardPageStates(t *testing.T) {
	t.Parallel()
	pages := newCardPages(t, "FRONTDESK_LOG_LEVEL=debug")
	var clubs api.ClubList
	pages.c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	first, payment, path := pages.pay()
	secret := value(payment.Card.ClientSecret)
	if payment.Card.Presentation != api.PresentationEmbedded || secret == "" {
		t.Fatalf("the card is %+v", payment.Card)
	}
	pages.expect(path, secret, "requires_action", "Pay by card", "Payer par carte", true)
	_, text := pages.open(path, http.StatusOK)
	amount := fmt.Sprintf("€%d.%02d", payment.Total.Amount/100, payment.Total.Amount%100)
	for _, part := range []string{clubs.Items[0].Name, "Due today: " + amount, "Pay now", `data-key="` + pages.processor.PublishableKey + `"`,
		`data-script="` + pages.processor.URL + `/v3/"`, `href="` + pages.home + "/?registration=" + first.Id + `"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing on the page:\n%s", part, text)
		}
	}
	french := strings.Replace(amount[len("€"):], ".", ",", 1) + "\u00a0€"
	_, text = pages.open(path+"?lang=fr", http.StatusOK, [2]string{"Accept-Language", "en"})
	if !strings.Contains(text, french) || !strings.Contains(text, "Payer maintenant") {
		t.Errorf("?lang=fr shows:\n%s", text)
	}

	pages.confirm(payment, frontdesktest.DeclinedCard)
	pages.c.AwaitPayment(first.Id, api.Declined)
	pages.expect(path, secret, "declined", "Your card was declined", "Votre carte a été refusée", true)
	if _, text := pages.open(path, http.StatusOK); strings.Count(text[strings.Index(text, "<main"):], "Your card was declined") != 1 {
		t.Errorf("it says more than once that the card was declined:\n%s", text)
	}
	pages.confirm(payment, frontdesktest.ApprovedCard)
	pages.c.Await(first.Id, api.Completed)
	pages.expect(path, secret, "recorded", "Payment received", "Paiement reçu", false)
	people := []string{
		"Ada",
		"Martin",
		"ada@example.com",
		"612345678",
		"Lilas",
		value(first.Contact).Number,
		pages.c.Token,
	}

	second, payment, path := pages.pay()
	secret = value(payment.Card.ClientSecret)
	pages.c.Do("DELETE", "/v1/registrations/"+second.Id+"/payment", nil).Into(http.StatusOK, nil)
	pages.expect(path, secret, "cancelled", "Payment cancelled", "Paiement annulé", false)
	next := pages.c.Pay(second.Id)
	if after := pages.pathOf(next); after == path {
		t.Error("the next payment has the same page")
	}
	pages.expect(path, value(next.Card.ClientSecret), "cancelled", "Payment cancelled", "Paiement annulé", false)

	pages.processor.AllowAnyMethod()
	third, payment, path := pages.pay()
	pages.confirm(payment, "ideal") // takes the money at once, and only cards may
	pages.c.AwaitPayment(third.Id, api.InDoubt)
	decision := "http://" + pages.gateway.OpsAddress() + "/ops/payments/" + payment.Id + "/confirm-not-recorded"
	pages.c.Do("POST", decision, `{"then":"refund"}`).Into(http.StatusOK, nil)
	pages.c.AwaitPayment(third.Id, api.Refunded)
	pages.expect(path, value(payment.Card.ClientSecret), "refunded", "Payment refunded", "Paiement remboursé", false)

	pages.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "drop_after"})
	last, payment, path := pages.pay()
	pages.confirm(payment, frontdesktest.ApprovedCard)
	pages.c.Await(last.Id, api.Attention)
	pages.expect(path, value(payment.Card.ClientSecret), "in_doubt", "Please do not pay again", "Veuillez ne pas payer à nouveau", false)

	for _, detail := range people {
		if detail == "" || strings.Contains(pages.shown.String(), detail) {
			t.Errorf("a page shows %q of the buyer", detail)
		}
	}
	log, proof := pages.gateway.Log(), path[strings.LastIndex(path, "/")+1:]
	if strings.Contains(log, proof) || !strings.Contains(log, "/pay/:payment/:proof") {
		t.Error("the log has the address of a page, or not its route")
	}
}

// TestCardPageTerms: directly above the button that orders is what is bought, with the minimum term and with each item's own right of
// withdrawal, as the registration's order says. The seller and, for goods, the legal guarantee are above that.
func TestCardPageTerms(t *testing.T) {
	t.Parallel()
	clubs := filepath.Join(t.TempDir(), "clubs.yaml")
	frontdesktest.Must(t, os.WriteFile(clubs, []byte(`defaults: {timeZone: Europe/Paris, trader: {name: Lumen Fitness},
  documents: {guarantee_notice: {version: "1", files: {en: notice.svg}}}}`), 0o600))
	frontdesktest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(clubs), "notice.svg"), []byte("<svg/>"), 0o600))
	notice := fmt.Sprintf(`<img src="/v1/clubs/11/documents/%x"`, sha256.Sum256([]byte("<svg/>")))
	pages := newCardPages(t, "FRONTDESK_CLUBS_FILE="+clubs)
	start := frontdesktest.Day(3)
	pass, bottle := api.NewItem{OfferId: "101", StartDate: &start}, api.NewItem{OfferId: "4001", StartDate: &start}
	registration := pages.c.RegisterWith("11", frontdesktest.Person(), pass, bottle)
	path := pages.pathOf(pages.c.Pay(registration.Id))
	for language, words := range map[string]struct{ term, withdrawal, delivery, starts, tax, later, place, seller, guarantee string }{
		"en": {"Runs for 12 months", "You can withdraw from the contract until", "you receive the goods at the club", "Starts on",
			"tax", "Nothing more to pay later", "Handed over at the club: Lumen Bastille, 14 rue de la Roquette, 75011 Paris",
			"Sold by Lumen Fitness, for Lumen Bastille", "Legal guarantee"},
		"fr": {"Durée : 12 mois", "Vous pouvez vous rétracter du contrat jusqu’à la fin du", "vous recevez les biens au club",
			"À partir du", "taxes", "Rien d'autre à payer ensuite", "À retirer au club : Lumen Bastille, 14 rue de la Roquette, 75011 Paris",
			"Vendu par Lumen Fitness, pour Lumen Bastille", "Garantie légale"},
	} {
		var seen api.Registration
		pages.c.Do("GET", "/v1/registrations/"+registration.Id, nil, [2]string{"Accept-Language", language}).Into(http.StatusOK, &seen)
		_, page := pages.open(path, http.StatusOK, [2]string{"Accept-Language", language})
		_, form, _ := strings.Cut(page, "<form")
		before, essentials, _ := strings.Cut(form, `<div class="essentials"`)
		essentials, button, _ := strings.Cut(essentials, "</div><button")
		if !strings.HasPrefix(button, ` class="button button-wide" id="pay-card"`) {
			t.Errorf("%s: the essential terms are followed by %.80s", language, button)
		}
		if len(seen.Order.Essentials.Items) < 2 {
			t.Fatalf("the order is %+v", seen.Order)
		}
		for _, item := range seen.Order.Essentials.Items {
			if !strings.Contains(essentials, item.Name) {
				t.Errorf("%s: the page does not say that %q is bought:\n%s", language, item.Name, essentials)
			}
		}
		for _, part := range []string{words.term, words.withdrawal, words.delivery, words.starts, words.tax, words.later, words.place} {
			if !strings.Contains(essentials, part) {
				t.Errorf("%s: the essential terms lack %q:\n%s", language, part, essentials)
			}
		}
		for _, part := range []string{words.seller, words.guarantee, notice} {
			if !strings.Contains(before, part) {
				t.Errorf("%s: %q is not above the essential terms:\n%s", language, part, before)
			}
		}
	}
	_, _, without := pages.pay()
	_, page := pages.open(without, http.StatusOK)
	if strings.Contains(page, "data-guarantee") || strings.Contains(page, ": You can withdraw") {
		t.Errorf("the page of a single service is:\n%s", page)
	}
}

// inline finds scripts, styles and handlers in a page.
var inline = regexp.MustCompile(`<script(?:\s+type="module")?>|<style|\sstyle=|\son[a-z]+=|javascript:`)

// TestCardPageHeaders: the page has a policy of its own, by the address of the processor's script, and nothing is inline.
func TestCardPageHeaders(t *testing.T) {
	t.Parallel()
	const stripes = "https://js.stripe.com https://*.js.stripe.com"
	for script, origins := range map[string][3]string{
		"https://js.stripe.com/v3/":         {stripes, stripes + " https://hooks.stripe.com", "https://api.stripe.com"},
		"http://cards.localhost:8081/d/v3/": {"http://cards.localhost:8081", "http://cards.localhost:8081", "http://cards.localhost:8081"},
	} {
		pages := newCardPages(t, "FRONTDESK_STRIPE_SCRIPT_URL="+script)
		var config api.Config
		pages.c.Do("GET", "/v1/config", nil).Into(http.StatusOK, &config)
		if value(config.Card.ScriptUrl) != script || value(config.Card.PublishableKey) != pages.processor.PublishableKey {
			t.Errorf("the configuration has %+v", config.Card)
		}
		_, _, path := pages.pay()
		response, _ := pages.open(path, http.StatusOK)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self' " + origins[0] + "; " +
				"frame-src " + origins[1] + "; connect-src 'self' " + origins[2] + "; style-src 'self'; img-src 'self'; " +
				"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"Referrer-Policy":        "strict-origin",
			"X-Robots-Tag":           "noindex",
			"Cache-Control":          "no-store",
			"X-Frame-Options":        "DENY",
			"X-Content-Type-Options": "nosniff",
			"Set-Cookie":             "",
			"Content-Language":       "en",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s is %q instead of %q", name, got, want)
			}
		}
		if vary := response.Header.Values("Vary"); !slices.Contains(vary, "Accept-Language") {
			t.Errorf("Vary is %q", vary)
		}
		page := string(response.Body)
		if found := inline.FindString(page); found != "" || !strings.Contains(page, `data-script="`+script+`"`) {
			t.Errorf("the page has %q, or another script than %s:\n%s", found, script, response.Body)
		}
		site := pages.c.Do("GET", "/", nil).Header.Get("Content-Security-Policy")
		for directive, origin := range map[string]string{"script-src": origins[0], "frame-src": origins[1], "connect-src": origins[2]} {
			if !strings.Contains(site, directive+" 'self' "+origin) {
				t.Errorf("the site's policy lacks %s %s: %s", directive, origin, site)
			}
		}
	}
}

// TestCardPageNeedsTheProof: with another proof neither a browser nor a program gets a page.
func TestCardPageNeedsTheProof(t *testing.T) {
	t.Parallel()
	pages := newCardPages(t)
	_, payment, path := pages.pay()
	_, _, other := pages.pay()
	proof := path[len("/pay/"+payment.Id+"/"):]
	for name, wrong := range map[string]string{
		"none": "/pay/" + payment.Id, "empty": "/pay/" + payment.Id + "/", "cut off": path[:len(path)-1], "longer": path + "A",
		"in capitals": strings.ToUpper(path), "made up": "/pay/" + payment.Id + "/" + strings.Repeat("A", 43),
		"of another payment":  "/pay/" + payment.Id + other[strings.LastIndex(other, "/"):],
		"of the registration": "/pay/" + payment.Id[:36] + "/" + proof, "of the next payment": "/pay/" + payment.Id[:36] + "-2/" + proof,
		"below": path + "/x", "escaped": "/pay/" + payment.Id + "%2F" + proof,
	} {
		if _, text := pages.open(wrong, http.StatusNotFound); !strings.Contains(text, "Page not found") || strings.Contains(text, payment.Id) {
			t.Errorf("%s:\n%s", name, text)
		}
		pages.c.Do("GET", wrong, nil, [2]string{"Accept", "application/json"}).Problem(api.NotFound)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		pages.c.Do(method, path, nil).Problem(api.MethodNotAllowed)
	}
}

// TestScannedCardPage checks that link scanners and mail programs, which load the page of a link or its head, change nothing of the
// payment, and that its buyer can then pay.
func TestScannedCardPage(t *testing.T) {
	t.Parallel()
	pages := newCardPages(t)
	registration, payment, path := pages.pay()
	calls := len(pages.processor.Requests())
	for range 5 {
		get, _ := pages.open(path, http.StatusOK)
		head := pages.c.Do("HEAD", path, nil, [2]string{"Accept", "text/html"})
		if head.Status != http.StatusOK || len(head.Body) != 0 {
			t.Fatalf("HEAD: status %d, %q", head.Status, head.Body)
		}
		for _, name := range []string{"Content-Type", "Content-Security-Policy", "Referrer-Policy", "X-Robots-Tag", "Cache-Control"} {
			if got, want := head.Header.Get(name), get.Header.Get(name); got != want || want == "" {
				t.Errorf("%s is %q for HEAD, %q for GET", name, got, want)
			}
		}
	}
	if wrong := pages.c.Do("HEAD", path[:len(path)-1], nil); wrong.Status != http.StatusNotFound {
		t.Errorf("without the proof: status %d", wrong.Status)
	}
	for _, call := range pages.processor.Requests()[calls:] { // a worker may still repeat the creation, with its key
		if call.Method != http.MethodGet && call.Path != "/v1/payment_intents" {
			t.Errorf("the processor was sent %s %s", call.Method, call.Path)
		}
	}
	if held := pages.processor.Payments(); len(held) != 1 || held[0].Status != "requires_payment_method" {
		t.Errorf("the processor has %+v", held)
	}
	pages.expect(path, value(payment.Card.ClientSecret), "requires_action", "Pay by card", "Payer par carte", true)
	pages.confirm(payment, frontdesktest.ApprovedCard)
	pages.c.Await(registration.Id, api.Completed)
}

// TestCardPageUnavailable: a browser gets a page when there are too many requests, or while Redis is away, and learns when to return.
func TestCardPageUnavailable(t *testing.T) {
	t.Parallel()
	pages := newCardPages(t, "FRONTDESK_RATE_LIMITS=on")
	_, _, path := pages.pay()
	refused := func(accept string) (response *frontdesktest.Response) {
		for range 1000 { // the limit is 120 at once, and grows by one a second while a busy machine sends them
			if response = pages.c.Do("GET", path, nil, [2]string{"Accept", accept}); response.Status != http.StatusOK {
				break
			}
		}
		return response
	}
	pages.expectUnavailable(refused("text/html"), http.StatusTooManyRequests)
	limited(t, refused("application/json"), "requests", time.Second)

	away := newCardPages(t)
	_, _, path = away.pay()
	frontdesktest.StopRedis(t, away.Redis)
	away.expectUnavailable(away.c.Do("GET", path, nil, [2]string{"Accept", "text/html"}), http.StatusServiceUnavailable)
	away.c.Do("GET", path, nil).Problem(api.StorageUnavailable)
}

func (p *cardPages) expectUnavailable(response *frontdesktest.Response, status int) {
	p.t.Helper()
	text := string(response.Body)
	shows := strings.Contains(text, `data-pay="unavailable"`) && !strings.Contains(text, "<form")
	if response.Status != status || response.Header.Get("Retry-After") == "" || !shows {
		p.t.Errorf("status %d, Retry-After %q:\n%s", response.Status, response.Header.Get("Retry-After"), text)
	}
}

// TestReturnURL: the page leads back to the address as it was sent. Pages need an allowed origin, apps an allowed scheme.
func TestReturnURL(t *testing.T) {
	t.Parallel()
	listed := newCardPages(t, "FRONTDESK_ALLOWED_ORIGINS=https://signup.club.example",
		"FRONTDESK_RETURN_SCHEMES=com.example.club,org.example-2.app")
	usual := newCardPages(t)
	for address, verdict := range map[string]struct{ listed, usual api.FieldCode }{
		"https://signup.club.example/?registration=mine&a=%20b": {},
		listed.home + "/x#y":                               {},
		"com.example.club://paid?registration=mine":        {},
		"COM.example.club:/paid":                           {},
		"org.example-2.app://":                             {},
		"com.example.other://paid":                         {listed: "origin"},
		"https://evil.example/":                            {listed: "origin"},
		"com.example.club.evil://paid":                     {listed: "origin"},
		"com.example.club:paid":                            {"url", "url"},
		"com.example.club://me:secret@paid":                {"url", "url"},
		"signup.club.example:443/x":                        {"url", "url"},
		"javascript:alert(1)":                              {"url", "url"},
		"data:text/html,x":                                 {"url", "url"},
		"intent://paid#Intent;scheme=com.example.club;end": {"url", "url"},
		"file:///etc/passwd":                               {"url", "url"},
		"myapp://paid":                                     {listed: "origin"},
		"javascript://%0aalert(1)":                         {"url", "url"},
		"JavaScript://%0aalert(1)":                         {"url", "url"},
		"data://text/html,x":                               {"url", "url"},
		"intent://paid":                                    {"url", "url"},
		"//evil.example/":                                  {"url", "url"},
		"https:/evil.example":                              {"url", "url"},
		"com.example.club://" + strings.Repeat("a", 2000):  {"too_long", "too_long"},
	} {
		for pages, want := range map[*cardPages]api.FieldCode{listed: verdict.listed, usual: verdict.usual} {
			registration := pages.c.Register()
			body, _ := json.Marshal(map[string]string{"method": "card", "returnUrl": address})
			response := pages.c.RequestPayment(registration.Id, string(body))
			if want != "" {
				found := value(response.Problem(api.InvalidRequest).Errors)
				if len(found) != 1 || frontdesktest.Place(found[0]) != "/returnUrl" || found[0].Code != want {
					t.Errorf("%.80s: %+v, not %s", address, found, want)
				}
				continue
			}
			var payment api.Payment
			response.Into(http.StatusCreated, &payment)
			if _, text := pages.open(pages.pathOf(payment), http.StatusOK); !strings.Contains(text, `href="`+address+`"`) {
				t.Errorf("the page does not lead to %s:\n%s", address, text)
			}
		}
	}
}

// TestReturnToAppInMockMode: a developer of an app configures nothing.
func TestReturnToAppInMockMode(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	var payment api.Payment
	body := map[string]string{"method": "card", "returnUrl": "com.example.club://paid?registration=mine"}
	c.RequestPayment(c.Register().Id, body).Into(http.StatusCreated, &payment)
	if payment.State != api.RequiresAction || payment.Card.RedirectUrl == nil {
		t.Errorf("the payment is %+v", payment)
	}
}

// TestCardPageHeadings checks that each state of a payment has a heading.
func TestCardPageHeadings(t *testing.T) {
	t.Parallel()
	for _, state := range frontdesktest.Document(t).Components.Schemas["PaymentState"].Value.Enum {
		if text.Languages[0].Page[text.PageCode(state.(string))] == "" {
			t.Errorf("%s has no heading", state)
		}
	}
}
