package site_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// shop is a merchant's page with a payment at a double. Its policy admits the double alone.
type shop struct {
	browser
	t       *testing.T
	double  *sandbox.Server
	payment sandbox.Payment
	url     string
}

// newShop serves the page, with the double on another origin, or below a path of the page's own.
func newShop(t *testing.T, with device, path string) *shop {
	t.Helper()
	double := sandbox.New(sandbox.Config{})
	t.Cleanup(double.Close)
	address, origin := double.URL, double.URL
	if path != "" {
		address, origin = path, "'self'"
	}
	files := filepath.Join(frontdesktest.Root(), "e2e", "site", "testdata", "shop")
	page, err := os.ReadFile(filepath.Join(files, "index.html"))
	frontdesktest.Must(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(files)))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", double))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		policy := "default-src 'none'; style-src 'self'; img-src data:; script-src 'self' DOUBLE; frame-src DOUBLE; connect-src DOUBLE"
		if r.URL.Query().Has("unconnected") {
			policy = strings.TrimSuffix(policy, "connect-src DOUBLE")
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", strings.ReplaceAll(policy, "DOUBLE", origin))
		_, _ = w.Write(bytes.ReplaceAll(page, []byte("DOUBLE"), []byte(address)))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	opened := &shop{browser: newBrowser(t, with, &frontdesktest.Client{}), t: t, double: double}
	opened.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	response, err := http.PostForm(double.URL+"/v1/payment_intents", url.Values{
		"key":                     {double.SecretKey},
		"amount":                  {"123450"},
		"currency":                {"eur"},
		"capture_method":          {"manual"},
		"payment_method_types[0]": {"card"},
		"description":             {"Club Lumière"},
	})
	frontdesktest.Must(t, err)
	defer response.Body.Close()
	var made struct{ ID string }
	frontdesktest.Must(t, json.NewDecoder(response.Body).Decode(&made))
	opened.payment, _ = double.Payment(made.ID)
	return opened
}

// open opens the page with options such as "redirect=always&theme=night".
func (s *shop) open(options string) {
	s.t.Helper()
	s.Open(s.url + "/?" + url.Values{"key": {s.double.PublishableKey}, "secret": {s.payment.ClientSecret}}.Encode() + "&" + options)
}

// expectEvent waits for an event of the payment element.
func (s *shop) expectEvent(event, part string) {
	s.t.Helper()
	s.Await(event+" with "+part, `(document.body.dataset.`+event+` ?? "").includes(`+frontdesktest.Quote(part)+`)`)
}

// pay presses the page's button, and waits for what the page learns.
func (s *shop) pay(want string) {
	s.t.Helper()
	s.Click(`#pay`)
	s.Await("the result is "+want, `document.querySelector("#result")?.textContent.includes(`+frontdesktest.Quote(want)+`)`)
}

// inspectFields checks that the fields are accessible, and saves pictures of the page around them.
func (s *shop) inspectFields(name string) {
	s.t.Helper()
	const wcag = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}` // good practice is for whole pages
	// The frame is transparent, so it is judged on the colour of the page around it.
	behind := s.Eval(`getComputedStyle(document.documentElement).backgroundColor`)
	s.inFrame(frontdesktest.CardFields).Eval(`document.documentElement.style.background = ` + frontdesktest.Quote(behind))
	for _, width := range slices.Concat(viewportWidths, []int64{reflowWidth}) {
		s.Resize(width, int64(s.height))
		s.inFrame(frontdesktest.CardFields).expectNoViolations(name, "document", wcag)
		if over := s.Overflow() + s.inFrame(frontdesktest.CardFields).Overflow(); over > 0 {
			s.t.Errorf("%s: at %d pixels it is %d too wide", name, width, over)
		}
		s.inFrame(frontdesktest.CardFields).Await("the frame shows all fields", `document.documentElement.scrollHeight <= innerHeight`)
		s.Screenshot(name + "-" + strconv.FormatInt(width, 10))
	}
	s.Resize(int64(s.width), int64(s.height))
}

// expectReturn waits until the buyer is back on the page, with the parameters that the processor adds.
func (s *shop) expectReturn(status string) {
	s.t.Helper()
	s.Await("the buyer is back", `location.search.includes("returned=true")`)
	address, err := url.Parse(s.URL())
	frontdesktest.Must(s.t, err)
	for name, want := range map[string]string{
		"payment_intent": s.payment.ID, "payment_intent_client_secret": s.payment.ClientSecret, "redirect_status": status,
	} {
		if got := address.Query().Get(name); got != want {
			s.t.Errorf("the return says %s=%s, want %s", name, got, want)
		}
	}
}

// expectHeld checks a payment at the double.
func (s *shop) expectHeld(status string, charges int) {
	s.t.Helper()
	if held, _ := s.double.Payment(s.payment.ID); held.Status != status || held.Charges != charges {
		s.t.Errorf("the double holds %+v, want %s after %d charges", held, status, charges)
	}
}

// TestCardElement pays on a merchant's page, at a double in each of its places: with fields that are incomplete or wrong, by
// a card that is declined, and by one whose bank redirects the buyer, who first refuses.
func TestCardElement(t *testing.T) {
	t.Parallel()
	for path, with := range map[string]device{"": desktop, "/sandbox": phone} {
		t.Run("double at "+path+"/v3", func(t *testing.T) {
			t.Parallel()
			shop := newShop(t, with, path)
			shop.ExpectConsole("status of 402")
			shop.open("redirect=if_required")
			shop.expectEvent("ready", "payment")
			if !frontdesktest.Eval[bool](shop.Browser, `document.querySelector("iframe").contentDocument === null`) {
				t.Error("the page reads what is typed")
			}
			shop.inspectFields("empty")
			shop.checkFields()
			shop.expectHeld("requires_payment_method", 0)

			fields := shop.inFrame(frontdesktest.CardFields)
			fields.Click(`[data-card="4000000000009995"]`)
			shop.expectEvent("change", `payment {"empty":false,"complete":true,"collapsed":false,"value":{"type":"card"}}`)
			shop.pay("card_error, insufficient_funds: Your card has insufficient funds.")
			shop.expectHeld("requires_payment_method", 1)
			shop.inspectFields("filled")

			shop.answerBank("false", "failed")
			shop.expectHeld("requires_payment_method", 1)
			shop.expectEvent("ready", "payment")
			shop.answerBank("true", "succeeded")
			shop.expectHeld("requires_capture", 2)
			shop.expectEvent("loaderror", "payment_intent_unexpected_state") // there is nothing left to pay
		})
	}
}

// answerBank pays with a card whose bank asks on a page of its own, which looks well and leads back.
func (s *shop) answerBank(approve, result string) {
	s.t.Helper()
	s.FillCard(challengeCard)
	s.Click(`#pay`)
	s.WaitVisible(`[data-answer="` + approve + `"]`)
	if text := s.Text(); !strings.Contains(text, "€1,234.50") || !strings.Contains(text, "Club Lumière") {
		s.t.Errorf("the bank's page says %q", text)
	}
	s.Inspect("challenge")
	s.Click(`[data-answer="` + approve + `"]`)
	s.expectReturn(result)
}

// checkFields enters what is incomplete or wrong, by keyboard and as a browser fills in a card that it knows.
func (s *shop) checkFields() {
	s.t.Helper()
	fields := s.inFrame(frontdesktest.CardFields)
	s.pay("validation_error, incomplete_number: Your card number is incomplete.")
	wrong := map[string]string{"number": "number is incomplete.", "expiry": "date is incomplete.", "cvc": "code is incomplete."}
	for field, text := range wrong {
		shown, invalid := fields.TextOf(`#`+field+`-error`), fields.Attribute(`#`+field, "aria-invalid")
		if !strings.Contains(shown, text) || invalid != "true" {
			s.t.Errorf("%s says %q, and is invalid: %s", field, shown, invalid)
		}
	}
	if !fields.Focused(`#number`) {
		s.t.Error("the wrong field does not have the focus")
	}
	s.inspectFields("incomplete")

	fields.Type(`#number`, "4242424242424241")
	fields.Type(`#expiry`, "127")
	fields.Type(`#cvc`, "12a3")
	for field, want := range map[string]string{"number": "4242 4242 4242 4241", "expiry": "12 / 7", "cvc": "123"} {
		if typed := fields.Value(`#` + field); typed != want {
			s.t.Errorf("%s is %q, want %q", field, typed, want)
		}
	}
	s.pay("validation_error, invalid_number")
	fields.Fill(`#number`, "4242 4242 4242 4242")
	for expiry, code := range map[string]string{
		"1": "incomplete_expiry", "13/40": "invalid_expiry_month", time.Now().AddDate(-1, 0, 0).Format("01/2006"): "invalid_expiry_year_past",
	} {
		fields.Fill(`#expiry`, expiry)
		s.pay("validation_error, " + code)
	}
	s.Screenshot("past")
}

// TestBankInFrame pays in French at night, with the bank's page in a frame of the merchant's. The buyer refuses, then closes
// it, then approves, and is redirected because the page asks for it.
func TestBankInFrame(t *testing.T) {
	t.Parallel()
	for kind, with := range devices {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			shop := newShop(t, with, "/sandbox")
			shop.ExpectConsole("status of 402")
			frontdesktest.Must(t, shop.double.Configure("demo", sandbox.Settings{Challenges: "modal"}))
			shop.SetColorScheme(true)
			shop.open("redirect=always&theme=night&locale=fr-FR")
			shop.expectEvent("ready", "payment")
			fields, bank := shop.inFrame(frontdesktest.CardFields), shop.inFrame("/v3/challenge/")
			if text := fields.Text(); !strings.Contains(text, "Numéro de carte") {
				t.Errorf("the fields say %q", text)
			}
			shop.pay("incomplete_number: Votre numéro de carte est incomplet.")
			shop.inspectFields("french")
			fields.Click(`[data-card="4000000000000002"]`)
			shop.pay("card_error, generic_decline: Votre carte a été refusée.")
			shop.FillCard(challengeCard)

			const refusal = "payment_intent_authentication_failure: Votre banque n'a pas confirmé le paiement."
			result := `document.querySelector("#result").textContent.includes(` + frontdesktest.Quote(refusal) + `)`
			shop.Click(`#pay`)
			bank.WaitVisible(`[data-answer="false"]`)
			bank.expectNoViolations("challenge", "document", everyRule)
			shop.Screenshot("challenge")
			bank.Click(`[data-answer="false"]`)
			shop.Await("the refusal", result+` && !document.querySelector("dialog")`)
			shop.expectHeld("requires_payment_method", 1)

			shop.Click(`#pay`)
			bank.WaitVisible(`[data-answer="false"]`)
			shop.Eval(`document.querySelector("#result").textContent = ""; document.querySelector("dialog").close(); ""`)
			shop.Await("the bank's page is closed", result)
			shop.expectHeld("requires_action", 1)

			shop.Click(`#pay`)
			bank.Click(`[data-answer="true"]`)
			shop.expectReturn("succeeded")
			shop.expectHeld("requires_capture", 2)
		})
	}
}

// TestBankHasNothingToAsk checks the bank's page for a payment that does not wait for it, for none, and for one whose answer
// does not arrive at first.
func TestBankHasNothingToAsk(t *testing.T) {
	t.Parallel()
	shop := newShop(t, phone, "/sandbox")
	shop.ExpectConsole("status of 403")
	open := func(id string) {
		secret := url.Values{"key": {shop.double.PublishableKey}, "payment_intent_client_secret": {shop.payment.ClientSecret}}
		shop.Open(shop.double.URL + "/v3/challenge/" + id + "?" + secret.Encode())
		shop.WaitVisible(`main`)
	}
	for id, headline := range map[string]string{shop.payment.ID: "Nothing to confirm", "pi_other": "No such payment"} {
		open(id)
		if text := shop.Text(); !strings.Contains(text, headline) || shop.Count(`form:not([hidden])`) != 0 {
			t.Errorf("%s: the page says %q", id, text)
		}
		shop.Inspect(strings.ReplaceAll(headline, " ", "-"))
	}
	_, err := shop.double.Confirm(shop.payment.ID, challengeCard)
	frontdesktest.Must(t, err)
	open(shop.payment.ID)
	shop.Offline()
	shop.Click(`[data-answer="true"]`)
	shop.WaitVisible(`#problem:not(:empty)`)
	shop.Inspect("offline")
	shop.expectHeld("requires_action", 0)
	shop.Online()
	shop.Click(`[data-answer="true"]:enabled`)
	shop.Await("the page was read again", `document.body.innerText.includes("Nothing to confirm")`) // it has no merchant to return to
	shop.expectHeld("requires_capture", 1)
}

// TestElementDoesNotLoad checks what a page learns if its payment, its key or its security policy is wrong.
func TestElementDoesNotLoad(t *testing.T) {
	t.Parallel()
	shop := newShop(t, desktop, "/sandbox")
	for _, finding := range []string{"status of 403", "status of 401", "Content Security Policy"} {
		shop.ExpectConsole(finding)
	}
	shop.AllowConsole("Fetch API cannot load")
	for options, want := range map[string]string{
		"&secret=" + shop.payment.ID + "_secret_guessed&key=" + shop.double.PublishableKey:             `"secret_key_required"`,
		"&secret=" + shop.payment.ClientSecret + "&key=pk_test_other":                                  `"invalid_request_error"`,
		"&secret=" + shop.payment.ClientSecret + "&key=" + shop.double.PublishableKey + "&unconnected": `"api_connection_error"`,
	} {
		shop.Open(shop.url + "/?" + options)
		shop.expectEvent("loaderror", want)
		if shop.Count(`[data-ready]`) != 0 {
			t.Errorf("%s: the element is ready nevertheless", options)
		}
	}
}

// TestLibraryRefusesMistakes checks that calls that the double does not know throw, and confirm nothing.
func TestLibraryRefusesMistakes(t *testing.T) {
	t.Parallel()
	shop := newShop(t, desktop, "")
	shop.open("redirect=if_required")
	shop.expectEvent("ready", "payment")
	shop.FillCard(frontdesktest.ApprovedCard)
	const throws = "IntegrationError"
	for call, want := range map[string]string{
		`window.Stripe()`:                                                         throws,
		`window.Stripe("sk_test_x")`:                                              throws,
		`window.Stripe(key, {locale: "fr"})`:                                      throws,
		`stripe.elements({})`:                                                     throws,
		`stripe.elements({clientSecret: "x"})`:                                    throws,
		`stripe.elements({clientSecret, mode: "payment"})`:                        throws,
		`stripe.elements({clientSecret, appearance: {theme: "x"}})`:               throws,
		`stripe.elements({clientSecret, appearance: {rules: {}}})`:                throws,
		`elements.create("payment")`:                                              throws,
		`stripe.elements({clientSecret}).create("card")`:                          throws,
		`stripe.elements({clientSecret}).create("payment", {layout: "tabs"})`:     throws,
		`stripe.elements({clientSecret}).create("payment").mount("#nowhere")`:     throws,
		`element.mount("#fields")`:                                                throws,
		`element.on("focus", () => {})`:                                           throws,
		`stripe.retrievePaymentIntent("x")`:                                       throws,
		`stripe.confirmPayment({clientSecret})`:                                   throws,
		`stripe.confirmPayment({elements, confirmParams: {return_url: "/back"}})`: throws,
		`stripe.confirmPayment({elements, confirmParams: {return_url: location.href}, redirect: "never"})`:               throws,
		`stripe.confirmPayment({elements, confirmParams: {return_url: location.href, shipping: {}}})`:                    throws,
		`stripe.confirmPayment({elements: stripe.elements({clientSecret}), confirmParams: {return_url: location.href}})`: throws,
		`stripe.confirmCardPayment(clientSecret)`:                                                                        "TypeError",
		`stripe.retrievePaymentIntent(clientSecret)`:                                                                     "object",
	} {
		if got := shop.Eval(`(async () => { try { return typeof (await ` + call + `) } catch (error) { return error.name } })()`); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	shop.expectHeld("requires_payment_method", 0)

	// The page itself still works: it can mount the element again, messages of others do not disturb it, and Enter in a field
	// submits its form.
	shop.Eval(`delete document.body.dataset.ready; document.querySelector("#fields").replaceChildren(); element.mount("#fields"); ""`)
	shop.expectEvent("ready", "payment")
	shop.FillCard(frontdesktest.ApprovedCard)
	shop.Eval(`postMessage("element", "*"); postMessage("answered", "*"); ""`)
	shop.inFrame(frontdesktest.CardFields).Type(`#cvc`, enterKey)
	shop.Await("the payment", `document.querySelector("#result").textContent === "paid: requires_capture"`)
	shop.expectHeld("requires_capture", 1)
}
