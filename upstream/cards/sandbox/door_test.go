package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/cards/sandbox"
)

const (
	goodCard      = "4242424242424242"
	declinedCard  = "4000000000000002"
	challengeCard = "4000002500003155"
)

// testDoor is a double, and what scripts and browsers reach of it without credentials.
type testDoor struct {
	*testing.T
	*sandbox.Server
}

// newDoor returns a double below /sandbox of another server.
func newDoor(t *testing.T, cfg sandbox.Config) testDoor {
	t.Helper()
	mux := http.NewServeMux()
	listener := httptest.NewServer(mux)
	cfg.BaseURL = listener.URL + "/sandbox"
	s := startServer(t, cfg)
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", s))
	t.Cleanup(listener.Close)
	return testDoor{t, s}
}

// eachMount runs a test with a double of its own address and with one below a path of another server.
func eachMount(t *testing.T, test func(testDoor)) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) { t.Parallel(); test(testDoor{t, startServer(t, sandbox.Config{})}) })
	t.Run("mounted", func(t *testing.T) { t.Parallel(); test(newDoor(t, sandbox.Config{})) })
}

// send sends JSON by default; pairs of headers replace that.
func (d testDoor) send(what, body string, headers ...string) response {
	d.Helper()
	return send(d.T, d.Server, what, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// act does an action on a payment.
func (d testDoor) act(id, action, body string) response {
	d.Helper()
	return d.send("POST /payments/"+id+"/"+action, body)
}

// form posts a form, as a browser does.
func (d testDoor) form(path string, pairs ...string) response {
	d.Helper()
	return d.send("POST "+path, encoded(pairs), "Content-Type", formType, "Accept", "text/html")
}

func confirmation(card string) string { return fmt.Sprintf(`{"card":%q}`, card) }

// merchant makes a call of the API, which must succeed.
func (d testDoor) merchant(key, what string, params ...string) response {
	d.Helper()
	r := do(d.T, d.Server, d.SecretKey, key, what, params...)
	if r.status != http.StatusOK {
		d.Fatalf("%s: %+v", what, r)
	}
	return r
}

// create makes a payment of a sale.
func (d testDoor) create(sale string) (id string) {
	d.Helper()
	return d.merchant("", "POST /v1/payment_intents", "amount", "4990", "currency", "eur", "capture_method", "manual",
		"payment_method_types[]", "card", "description", "Club Riverside", "metadata[fd_sale]", sale).text("id")
}

// in brings a new payment of the default world into a state.
func (d testDoor) in(state string) (id string) {
	d.Helper()
	id = d.create("/demo/sales/1")
	card := map[string]string{"requires_action": "", "challenge": challengeCard, "declined": declinedCard}
	if number, ok := card[state]; !ok {
		d.act(id, "confirm", confirmation(goodCard))
	} else if number != "" {
		d.act(id, "confirm", confirmation(number))
	}
	if state == "captured" || state == "refunded" {
		d.merchant("", "POST /v1/payment_intents/"+id+"/capture")
	}
	if state == "cancelled" {
		d.act(id, "expire", `{}`)
	}
	if state == "refunded" {
		d.merchant("", "POST /v1/refunds", "payment_intent", id)
	}
	return id
}

func TestPaymentOnTheWire(t *testing.T) {
	eachMount(t, func(door testDoor) {
		if r := door.send("GET /payments", ""); r.raw != `{"items":[]}` {
			t.Errorf("empty: %s", r.raw)
		}
		id := door.in("captured")
		door.merchant("", "POST /v1/refunds", "payment_intent", id, "amount", "1000")
		payment, _ := door.Payment(id)
		want := fmt.Sprintf(`{"id":%q,"amount":4990,"currency":"EUR","captured":4990,"refunded":1000,"state":"captured","challenge":false,`+
			`"declineCode":"","declines":0,"metadata":{"fd_sale":"/demo/sales/1"},"createdAt":%q,"description":"Club Riverside"}`,
			id, payment.CreatedAt.Format(time.RFC3339Nano))
		for _, accept := range []string{"application/json", "text/html", ""} {
			r := door.send("GET /payments/"+id, "", "Accept", accept)
			isJSON := r.header.Get("Content-Type") == "application/json" && r.header.Get("X-Content-Type-Options") == "nosniff"
			if r.raw != want || !isJSON {
				t.Errorf("Accept %q: %s\nwant %s", accept, r.raw, want)
			}
		}
		if r := door.send("GET /payments", ""); r.raw != `{"items":[`+want+`]}` || payment.CreatedAt.Location() != time.UTC {
			t.Errorf("list: %s", r.raw)
		}
		newer := door.in("declined")
		if r := door.send("GET /payments", ""); strings.Index(r.raw, newer) > strings.Index(r.raw, id) || strings.Count(r.raw, `"id"`) != 2 {
			t.Errorf("the list is not newest first: %s", r.raw)
		}
		if r := door.send("GET /payments?state=captured", ""); r.status != http.StatusBadRequest || r.code() != "invalid_parameter" {
			t.Errorf("an unknown parameter: %d %s", r.status, r.raw)
		}
	})
}

// TestActions checks what buyers, banks and the processor can do, and that the response is the payment afterwards.
func TestActions(t *testing.T) {
	eachMount(t, func(door testDoor) {
		for _, test := range []struct {
			in, settings, action, body, want string
		}{
			{"requires_action", `{}`, "confirm", confirmation(goodCard), `"state":"authorised"`},
			{"requires_action", `{}`, "confirm", confirmation("4242 4242 4242\u00a04242"), `"state":"authorised"`},
			{"requires_action", `{}`, "confirm", confirmation("pm_card_visa"), `"state":"authorised"`},
			{"requires_action", `{}`, "confirm", confirmation(declinedCard), `"state":"declined","challenge":false,"declineCode":"generic_decline"`},
			{"requires_action", `{}`, "confirm", confirmation("4000000000009995"), `"declineCode":"insufficient_funds"`},
			{"requires_action", `{}`, "confirm", confirmation("5555555555554444"), `"state":"declined"`}, // no test card
			{"requires_action", `{}`, "confirm", confirmation(challengeCard), `"state":"requires_action","challenge":true`},
			{"declined", `{}`, "confirm", confirmation(goodCard), `"state":"authorised","challenge":false,"declineCode":""`},
			{"challenge", `{}`, "challenge", `{"approve":true}`, `"state":"authorised","challenge":false`},
			{"challenge", `{}`, "challenge", `{"approve":false}`, `"declineCode":"payment_intent_authentication_failure"`},
			{"authorised", `{"confirmations":"processing"}`, "settle-confirmation", `{"succeeded":true}`, `"state":"authorised"`},
			{"authorised", `{"confirmations":"processing"}`, "settle-confirmation", `{"succeeded":false}`, `"state":"declined"`},
			{"captured", `{"captures":"processing"}`, "settle-confirmation", `{"succeeded":true}`, `"captured":4990`},
			{"captured", `{"captures":"processing"}`, "settle-confirmation", `{"succeeded":false}`, `"captured":0,"refunded":0,"state":"declined"`},
			{"refunded", `{"refunds":"pending"}`, "settle-refund", `{"succeeded":true}`, `"refunded":4990,"state":"refunded"`},
			{"refunded", `{"refunds":"pending"}`, "settle-refund", `{"succeeded":false}`, `"refunded":0,"failedRefunds":1,"state":"captured"`},
			{"refunded", `{}`, "settle-refund", `{"succeeded":false}`, `"refunded":0,"failedRefunds":1,"state":"captured"`},
			{"captured", `{}`, "dispute", `{}`, `"disputed":true,"state":"captured"`},
			{"authorised", `{}`, "expire", `{}`, `"state":"cancelled"`},
		} {
			door.send("PUT /settings", test.settings)
			id := door.in(test.in)
			r := door.act(id, test.action, test.body)
			if r.status != http.StatusOK || !strings.Contains(r.raw, test.want) || r.raw != door.send("GET /payments/"+id, "").raw {
				door.Errorf("%s %s of a payment that is %s, with %s: %d %s", test.action, test.body, test.in, test.settings, r.status, r.raw)
			}
		}
	})
}

func TestRefusedActionsChangeNothing(t *testing.T) {
	eachMount(t, func(door testDoor) {
		for _, test := range []struct {
			in, action, body string
			status           int
			code             string
		}{
			{"requires_action", "confirm", confirmation("4242424242424241"), 400, "invalid_number"},
			{"requires_action", "confirm", confirmation("4242-4242-4242-4242"), 400, "invalid_number"},
			{"requires_action", "confirm", confirmation(""), 400, "invalid_number"},
			{"requires_action", "confirm", confirmation("pm_unknown"), 400, "invalid_number"},
			{"requires_action", "confirm", confirmation("ideal"), 400, "payment_intent_incompatible_payment_method"},
			{"requires_action", "confirm", `{"card":4242424242424242}`, 400, "invalid_body"},
			{"requires_action", "confirm", `{}`, 400, "invalid_body"},
			{"requires_action", "confirm", `{"card":"4242424242424242","cvc":"123"}`, 400, "invalid_body"},
			{"requires_action", "confirm", `{"card":"4242424242424242"} {}`, 400, "invalid_body"},
			{"requires_action", "confirm", `[]`, 400, "invalid_body"},
			{"requires_action", "confirm", ``, 400, "invalid_body"},
			{"authorised", "confirm", confirmation(declinedCard), 409, "unexpected_state"},
			{"captured", "confirm", confirmation(goodCard), 409, "unexpected_state"},
			{"challenge", "challenge", `{"approve":"true"}`, 400, "invalid_body"},
			{"challenge", "challenge", `{"approve":null}`, 400, "invalid_body"},
			{"declined", "challenge", `{"approve":false}`, 409, "unexpected_state"},
			{"authorised", "challenge", `{"approve":true}`, 409, "unexpected_state"},
			{"challenge", "settle-confirmation", `{"succeeded":true}`, 409, "unexpected_state"},
			{"captured", "settle-refund", `{"succeeded":true}`, 409, "unexpected_state"},
			{"refunded", "settle-refund", `{"succeeded":true}`, 409, "unexpected_state"},
			{"authorised", "dispute", `{}`, 409, "unexpected_state"},
			{"captured", "dispute", `{"reason":"fraudulent"}`, 400, "invalid_body"},
			{"requires_action", "expire", `{}`, 409, "unexpected_state"},
			{"captured", "expire", `{}`, 409, "unexpected_state"},
			{"cancelled", "expire", `{}`, 409, "unexpected_state"},
			{"cancelled", "confirm", confirmation(goodCard), 409, "unexpected_state"},
		} {
			id := door.in(test.in)
			before := door.send("GET /payments/"+id, "").raw
			r := door.act(id, test.action, test.body)
			if after := door.send("GET /payments/"+id, "").raw; r.status != test.status || r.code() != test.code || after != before {
				door.Errorf("%s %s of a payment that is %s: %d %s", test.action, test.body, test.in, r.status, r.raw)
			}
		}
		id := door.in("declined")
		if r := door.act(id, "expire", `{}`); !strings.Contains(r.raw, `"declineCode":"generic_decline"`) {
			t.Errorf("the error does not say why the card was declined: %s", r.raw)
		}
	})
}

func TestDoubleClicksChangeNothing(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	twice := func(id, action, body string) {
		t.Helper()
		first, second := door.act(id, action, body), door.act(id, action, body)
		if first.status != http.StatusOK || second.status != http.StatusOK || first.raw != second.raw {
			t.Errorf("%s %s: %d %s, then %d %s", action, body, first.status, first.raw, second.status, second.raw)
		}
	}
	paid, asked, refused := door.in("requires_action"), door.in("requires_action"), door.in("challenge")
	twice(paid, "confirm", confirmation(goodCard))
	twice(asked, "confirm", confirmation(challengeCard))
	twice(asked, "challenge", `{"approve":true}`)
	twice(asked, "confirm", confirmation(challengeCard))
	twice(refused, "challenge", `{"approve":false}`)
	for _, id := range []string{paid, asked} {
		if p, _ := door.Payment(id); p.Charges != 1 {
			t.Errorf("two clicks made %d charges", p.Charges)
		}
	}
}

// TestMistakesAreExplained makes the mistakes of newcomers. The error says what to send instead.
func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	id := door.in("requires_action")
	key := []string{"Authorization", "Bearer " + door.SecretKey}
	for _, test := range []struct {
		what, body string
		headers    []string
		want       string
	}{
		{"POST /payments/" + id + "/confirm", confirmation(goodCard), []string{"Content-Type", formType}, "application/json"},
		{"POST /payments/" + id + "_secret_x/confirm", confirmation(goodCard), nil, "before _secret_"},
		{"POST /payments/" + id + "/confirm", confirmation("pm_card_vsa"), nil, "pm_card_visa"},
		{"PUT /settings", "", nil, "is empty"},
		{"POST /v1/payment_intents/" + id + "/confirm", `{"payment_method":"pm_card_visa"}`, key, formType},
		{"POST /v1/payment_intents/" + id + "/confirm", "payment_method=pm_x", append(key, "Content-Type", formType),
			"'pm_x'. The sandbox has pm"},
		{"GET /v1/payment_intents/" + id + "/confirm", "", key, "(GET: /v1/payment_intents/" + id + "/confirm)"},
		{"GET /v1/payment_intents/" + id, "", nil, "Authorization"},
	} {
		if r := door.send(test.what, test.body, test.headers...); r.status < 400 || !strings.Contains(r.raw, test.want) {
			t.Errorf("%s %s: %d %s", test.what, test.body, r.status, r.raw)
		}
	}
	if p, _ := door.Payment(id); p.State != "requires_action" {
		t.Errorf("then: %+v", p)
	}
}

func TestMissingPaths(t *testing.T) {
	eachMount(t, func(door testDoor) {
		id := door.in("requires_action")
		for what, want := range map[string]string{
			"GET /payments/pi_none":             "404 payment_not_found",
			"POST /payments/pi_none/confirm":    "404 payment_not_found",
			"GET /nothing":                      "404 no_such_path",
			"POST /payments/" + id + "/capture": "404 no_such_path",
			"GET /payments/" + id + "/confirm":  "405 method_not_allowed",
			"DELETE /payments/" + id:            "405 method_not_allowed",
			"POST /payments":                    "405 method_not_allowed",
			"GET /v1/nothing":                   "401 ", // of the API
			"POST /v3/challenge/" + id:          "401 ",
		} {
			r := door.send(what, confirmation(goodCard))
			if got := fmt.Sprint(r.status, " ", r.code()); got != want {
				door.Errorf("%s: %s, want %s: %s", what, got, want, r.raw)
			}
		}
		if r := door.send("DELETE /payments/"+id, ""); r.header.Get("Allow") != "GET, HEAD" {
			door.Errorf("Allow: %q", r.header.Get("Allow"))
		}
		if r := door.send("GET /", ""); r.status != http.StatusSeeOther || r.header.Get("Location") != "payments" {
			door.Errorf("home: %d %v", r.status, r.header)
		}
	})
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	id, large := door.in("requires_action"), strings.Repeat("4", 600<<10)
	for _, test := range []struct {
		what, body, kind string
		status           int
	}{
		{"POST /payments/" + id + "/confirm", confirmation(large), "application/json", http.StatusRequestEntityTooLarge},
		{"PUT /settings", `{"webhookUrl":"http://` + large + `"}`, "application/json", http.StatusRequestEntityTooLarge},
		{"POST /settings", "world=demo&webhookUrl=http://" + large, formType, http.StatusRequestEntityTooLarge},
		{"POST /payments/" + id + "/confirm", "card=" + large, formType, http.StatusRequestEntityTooLarge},
		{"POST /payments/" + id + "/confirm", confirmation(goodCard), formType, http.StatusBadRequest}, // curl
		{"POST /payments/" + id + "/confirm", confirmation(goodCard), "text/plain", http.StatusUnsupportedMediaType},
		{"PUT /settings", `{"webhooks":"drop"}`, "text/plain", http.StatusUnsupportedMediaType},
		{"POST /settings", `{"webhooks":"drop"}`, "application/json", http.StatusBadRequest},
	} {
		if r := door.send(test.what, test.body, "Content-Type", test.kind); r.status != test.status || test.status >= 400 && r.code() == "" {
			t.Errorf("%s as %s: %d %s", test.what, test.kind, r.status, r.raw)
		}
	}
	if p, _ := door.Payment(id); p.State != "requires_action" || door.Settings("demo") != (sandbox.Settings{Webhooks: sandbox.Normal}) {
		t.Errorf("then: %+v, %+v", p, door.Settings("demo"))
	}
}
