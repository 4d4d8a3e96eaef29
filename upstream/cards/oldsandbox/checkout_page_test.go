package oldsandbox_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"frontdesk/upstream/cards"
)

// browser is the Accept header of a browser's navigation.
var browser = header{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}

// page reads the hosted page as a browser does, and returns its text with the entities decoded.
func (b *testEnv) page(path string, headers ...header) (reply, string) {
	b.Helper()
	r := b.send(http.MethodGet, path, "", append([]header{browser}, headers...)...)
	if got := r.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		b.Fatalf("%s: %d %s", path, r.status, got)
	}
	return r, html.UnescapeString(string(r.body))
}

// form posts what the page's form posts without JavaScript.
func (b *testEnv) form(path string, values url.Values) reply {
	b.Helper()
	return b.send(http.MethodPost, path, values.Encode(), browser, header{"Content-Type", "application/x-www-form-urlencoded"})
}

func TestPageInEachState(t *testing.T) {
	b := newTestEnv(t)
	for state, words := range map[string][]string{
		"requires_action": {`data-step="pay"`, "Card number", "Pay to", "Club Riverside", "Pay <bdi", "Go back without paying"},
		"declined":        {`data-step="pay"`, `role="alert"`, "Your card was declined. Nothing was charged.", `aria-invalid="true"`},
		"challenge":       {`data-step="challenge"`, "Your bank asks you to confirm", `value="true"`, `value="false"`},
		"authorised":      {`data-step="done"`, "Payment authorised", "Back to Club Riverside"},
		"captured":        {`data-step="done"`, "Payment complete", "There is nothing more to pay."},
		"partly refunded": {`data-step="done"`, "€10.00 was given back"},
		"refunded":        {`data-step="done"`, "Payment refunded"},
		"cancelled":       {`data-step="cancelled"`, "Payment cancelled", "Back to Club Riverside"},
	} {
		p := b.in(state)
		r, text := b.page("/payments/" + p.ID)
		for _, want := range append(words, "Sandbox: no real money", "€49.90", `href="`+returnURL+`"`, p.ID) {
			if r.status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: status %d, no %q in %s", state, r.status, want, text)
			}
		}
		if asks := strings.Contains(text, "<form"); asks != (p.State == cards.RequiresAction || p.State == cards.Declined) {
			t.Errorf("%s: form %t", state, asks)
		}
	}
	bare, err := b.client.Create(t.Context(), b.key(), cards.NewPayment{Amount: 4990, Currency: "EUR", ReturnURL: returnURL})
	if _, text := b.page("/payments/" + bare.ID); err != nil || !strings.Contains(text, "club.example</p>") {
		t.Errorf("without a description: %v, %s", err, text)
	}
	r, text := b.page("/payments/pay_none")
	if r.status != http.StatusNotFound || !strings.Contains(text, "No such payment") {
		t.Errorf("no payment: %d %s", r.status, text)
	}
}

func TestDeclineMessages(t *testing.T) {
	b := newTestEnv(t)
	for card, message := range map[string]string{emptyCard: "insufficient funds", declinedCard: "was declined"} {
		p := b.create()
		b.confirm(p.ID, card)
		if _, text := b.page("/payments/" + p.ID); !strings.Contains(text, message) {
			t.Errorf("%s: no %q in %s", card, message, text)
		}
	}
	p := b.in("challenge")
	b.challenge(p.ID, false)
	if _, text := b.page("/payments/" + p.ID); !strings.Contains(text, "did not confirm") {
		t.Errorf("refused at the bank: %s", text)
	}
}

// A form leads to the merchant once the payment is made, and otherwise back to the page, by an address that
// works wherever the sandbox is mounted.
func TestForms(t *testing.T) {
	b := newTestEnv(t)
	card := func(number ...string) url.Values { return url.Values{"card": number} }
	answer := func(approve string) url.Values { return url.Values{"approve": {approve}} }
	for _, c := range []struct {
		what, in, path string
		values         url.Values
		target, state  string
	}{
		{"a good card", "requires_action", "confirm", card("4242 4242 4242 4242"), returnURL, "authorised"},
		{"a test card's button", "requires_action", "confirm", card("", goodCard), returnURL, "authorised"},
		{"a second click", "authorised", "confirm", card(goodCard), returnURL, "authorised"},
		{"a click after the capture", "captured", "confirm", card(goodCard), returnURL, "captured"},
		{"a declined card", "requires_action", "confirm", card(declinedCard), "../{id}", "declined"},
		{"a card that is asked for", "requires_action", "confirm", card(challengeCard), "../{id}", "requires_action"},
		{"a wrong number", "requires_action", "confirm", card("1234"), "../{id}?problem=invalid_number", "requires_action"},
		{"no card", "requires_action", "confirm", url.Values{}, "../{id}?problem=invalid_number", "requires_action"},
		{"a cancelled payment", "cancelled", "confirm", card(goodCard), "../{id}", "cancelled"},
		{"approved", "challenge", "challenge", answer("true"), returnURL, "authorised"},
		{"refused", "challenge", "challenge", answer("false"), "../{id}", "declined"},
		{"neither", "challenge", "challenge", answer("maybe"), "../{id}", "requires_action"},
		{"nothing to approve", "declined", "challenge", answer("true"), "../{id}", "declined"},
	} {
		p := b.in(c.in)
		r := b.form("/payments/"+p.ID+"/"+c.path, c.values)
		want := strings.ReplaceAll(c.target, "{id}", p.ID)
		if got := r.header.Get("Location"); r.status != http.StatusSeeOther || got != want {
			t.Errorf("%s: %d to %q, want %q", c.what, r.status, got, want)
		}
		if got := b.get(p.ID).State; got != cards.State(c.state) {
			t.Errorf("%s: %s, want %s", c.what, got, c.state)
		}
	}
	p := b.create()
	if _, text := b.page("/payments/" + p.ID + "?problem=invalid_number"); !strings.Contains(text, "not a complete card number") {
		t.Errorf("after a wrong number: %s", text)
	}
	if r := b.form("/payments/pay_none/confirm", card(goodCard)); r.header.Get("Location") != "../pay_none" {
		t.Errorf("no payment: %d %v", r.status, r.header)
	}
}

func TestPageWithoutReturnURL(t *testing.T) {
	b := newTestEnv(t)
	p := b.merchant("/payments", b.key(), createBody).payment()
	if r := b.form("/payments/"+p.ID+"/confirm", url.Values{"card": {goodCard}}); r.header.Get("Location") != "../"+p.ID {
		t.Errorf("leads to %q", r.header.Get("Location"))
	}
	if r, text := b.page("/payments/" + p.ID); strings.Contains(text, "Back to") || !strings.HasSuffix(r.header.Get("Content-Security-Policy"), "form-action 'self'") {
		t.Errorf("%s with %s", text, r.header.Get("Content-Security-Policy"))
	}
}

// A strict policy works only if nothing on the page is inline, and the forms can lead to the merchant only if
// the policy names it.
func TestContentSecurityPolicy(t *testing.T) {
	b := newTestEnv(t)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]`)
	for _, state := range []string{"requires_action", "declined", "challenge", "captured", "cancelled"} {
		r, text := b.page("/payments/" + b.in(state).ID)
		policy := r.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'self' https://club.example"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %q in %q", state, want, policy)
			}
		}
		if found := inline.FindString(text); found != "" || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: inline %q under %q", state, found, policy)
		}
	}
}

// Every file that the page names exists and has its type.
func TestAssets(t *testing.T) {
	b := newTestEnv(t)
	_, text := b.page("/payments/" + b.create().ID)
	named := regexp.MustCompile(`"\.\./(assets/[a-z.]+)"`).FindAllStringSubmatch(text, -1)
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	if len(named) != len(kinds) {
		t.Errorf("the page names %v", named)
	}
	for _, match := range named {
		r := b.send(http.MethodGet, "/"+match[1], "")
		if got := r.header.Get("Content-Type"); r.status != http.StatusOK || got != kinds[match[1][strings.LastIndex(match[1], "."):]] || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %s", match[1], r.status, got)
		}
	}
}

func TestAmountInTheVisitorsLanguage(t *testing.T) {
	b := newTestEnv(t)
	for _, c := range []struct {
		language, currency string
		amount             int64
		want               string
	}{
		{"", "EUR", 4990, "€49.90"},
		{"en-GB,en;q=0.9", "GBP", 123456, "£1,234.56"},
		{"fr-FR,fr;q=0.9,en;q=0.8", "EUR", 123456, "1\u00a0234,56\u00a0€"},
		{"de", "EUR", 4990, "49,90\u00a0€"},
		{"nl", "EUR", 4990, "€\u00a049,90"},
		{"en", "JPY", 4990, "¥4,990"},
		{"en", "KWD", 4990, "KWD\u00a04.990"},
		{"en", "XQZ", 55, "XQZ\u00a00.55"},
		{"*;;nonsense", "EUR", 99999999, "€999,999.99"},
	} {
		p := b.merchant("/payments", b.key(), fmt.Sprintf(`{"amount":%d,"currency":%q}`, c.amount, c.currency)).payment()
		_, text := b.page("/payments/"+p.ID, header{"Accept-Language", c.language})
		if !strings.Contains(text, ">"+c.want+"</bdi>") {
			shown := regexp.MustCompile(`<bdi[^>]*>[^<]*`).FindString(text)
			t.Errorf("%q %s: %q, want %q", c.language, c.currency, shown, c.want)
		}
	}
}

// Nothing that a merchant sends is rendered as markup.
func TestPageEscapes(t *testing.T) {
	b := newTestEnv(t)
	p := b.merchant("/payments", b.key(),
		`{"amount":100,"currency":"EUR","returnUrl":"https://club.example/?a=\"><script>alert(1)</script>"}`).payment()
	if r, _ := b.page("/payments/" + p.ID + `?problem="><script>alert(1)</script>`); strings.Contains(string(r.body), "<script>alert") {
		t.Errorf("%s", r.body)
	}
}
