package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// response is a response of the double as sent over the wire.
type response struct {
	status int
	header http.Header
	raw    string
	body   map[string]any // its JSON; nil: it has none
}

func (r response) replayed() bool { return r.header.Get("Idempotent-Replayed") == "true" }

func (r response) text(path ...string) string {
	var value any = r.body
	for _, name := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[name]
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// code returns the code of an error of the door, if its message and type are there as well.
func (r response) code() string {
	if r.text("error", "type") == "" || r.text("error", "message") == "" {
		return ""
	}
	return r.text("error", "code")
}

// send sends a request, such as "POST /v1/payment_intents", with pairs of headers. It follows no redirect.
func send(t testing.TB, server *sandbox.Server, what, body string, headers ...string) response {
	t.Helper()
	method, path, _ := strings.Cut(what, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if !strings.HasPrefix(server.URL, "http://127.") {
		client.Transport = server
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := response{status: resp.StatusCode, header: resp.Header, raw: strings.TrimSpace(string(raw))}
	_ = json.Unmarshal(raw, &r.body) // a page has none
	return r
}

const formType = "application/x-www-form-urlencoded"

// encoded returns pairs of parameters as a form.
func encoded(pairs []string) string {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form.Encode()
}

// do makes a call of the API, with pairs of parameters.
func do(t testing.TB, server *sandbox.Server, apiKey, key, what string, params ...string) response {
	t.Helper()
	body := encoded(params)
	if strings.HasPrefix(what, http.MethodGet) {
		what, body = what+"?"+body, ""
	}
	headers := []string{"Content-Type", formType}
	if apiKey != "" {
		headers = append(headers, "Authorization", "Bearer "+apiKey)
	}
	if key != "" {
		headers = append(headers, "Idempotency-Key", key)
	}
	return send(t, server, what, body, headers...)
}

// inProcess is a double that does not listen.
var inProcess = sandbox.Config{BaseURL: "http://double/sandbox", Seed: 1}

func startServer(t testing.TB, cfg sandbox.Config) *sandbox.Server {
	t.Helper()
	s := sandbox.New(cfg)
	t.Cleanup(s.Close)
	return s
}

func newPayment(t testing.TB, s *sandbox.Server, more ...string) (id string) {
	t.Helper()
	params := append([]string{"amount", "4990", "currency", "eur", "capture_method", "manual", "metadata[a]", "b"}, more...)
	made := do(t, s, s.SecretKey, "", "POST /v1/payment_intents", params...)
	if made.status != http.StatusOK {
		t.Fatalf("%+v", made)
	}
	return made.text("id")
}

func TestIdempotentReplays(t *testing.T) {
	t.Parallel()
	server := startServer(t, sandbox.Config{})
	id := newPayment(t, server)
	for _, test := range []struct {
		name, call string
		params     []string
		status     int
		code       string
		kept       bool
	}{
		{"a success", "POST /v1/payment_intents/" + id, []string{"metadata[c]", "d"}, 200, "", true},
		{"an error of the state", "POST /v1/payment_intents/" + id + "/capture", nil, 400, "payment_intent_unexpected_state", true},
		{"a missing payment", "POST /v1/payment_intents/pi_x/cancel", nil, 404, "resource_missing", true},
		{"an unknown parameter", "POST /v1/payment_intents/" + id, []string{"metdata[c]", "d"}, 400, "parameter_unknown", false},
		{"a missing parameter", "POST /v1/payment_intents", []string{"currency", "eur"}, 400, "parameter_missing", false},
		{"a wrong parameter", "POST /v1/payment_intents", []string{"currency", "eur", "amount", "-1"}, 400, "parameter_invalid_integer", false},
		{"too much metadata", "POST /v1/payment_intents/" + id, []string{"metadata[" + strings.Repeat("k", 41) + "]", "d"}, 400, "", false},
	} {
		first := do(t, server, server.SecretKey, test.name, test.call, test.params...)
		again := do(t, server, server.SecretKey, test.name, test.call, test.params...)
		if first.status != test.status || first.text("error", "code") != test.code || first.replayed() {
			t.Errorf("%s: %+v", test.name, first)
		}
		if again.status != test.status || again.replayed() != test.kept || fmt.Sprint(again.body) != fmt.Sprint(first.body) {
			t.Errorf("%s, again: %+v", test.name, again)
		}
		other := do(t, server, server.SecretKey, test.name, "POST /v1/payment_intents/"+id, "metadata[other]", "call")
		if refused := other.text("error", "type") == "idempotency_error"; refused != test.kept {
			t.Errorf("%s: another call under the key: %+v", test.name, other)
		}
	}
	if do(t, server, "sk_test_wrong", "fresh", "POST /v1/payment_intents/"+id, "metadata[x]", "y").status != http.StatusUnauthorized {
		t.Error("a wrong key was taken")
	}
	if r := do(t, server, server.SecretKey, "fresh", "POST /v1/payment_intents/"+id, "metadata[x]", "z"); r.status != http.StatusOK {
		t.Errorf("a call without credentials took the idempotency key: %+v", r)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	id := newPayment(t, s)
	update := func(params ...string) response {
		return do(t, s, s.SecretKey, "", "POST /v1/payment_intents/"+id, params...)
	}
	if r := update("metadata[c]", "d", "metadata[a]", ""); r.text("metadata") != "map[c:d]" {
		t.Errorf("merged and removed: %v", r.text("metadata"))
	}
	for i := range 49 {
		if r := update(fmt.Sprintf("metadata[k%d]", i), strings.Repeat("v", 500)); r.status != http.StatusOK {
			t.Fatalf("key %d: %+v", i, r)
		}
	}
	if r := update("metadata[one]", "too many"); r.status != http.StatusBadRequest {
		t.Errorf("the 51st key: %d", r.status)
	}
	if r := update("metadata[c]", strings.Repeat("v", 501)); r.status != http.StatusBadRequest {
		t.Errorf("a long value: %d", r.status)
	}
	if r := update("metadata", ""); r.text("metadata") != "map[]" {
		t.Errorf("all removed: %v", r.text("metadata"))
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	server := startServer(t, inProcess)
	const payments = 10_025
	for range payments {
		newPayment(t, server)
	}
	list := func(params ...string) (ids []string, more string) {
		r := do(t, server, server.SecretKey, "", "GET /v1/payment_intents", params...)
		for _, item := range r.body["data"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		return ids, r.text("has_more")
	}
	var all []string
	page, more := list()
	if len(page) != 10 {
		t.Errorf("a page of %d by default", len(page))
	}
	for all = page; more == "true"; all = append(all, page...) {
		page, more = list("starting_after", all[len(all)-1], "limit", "100")
	}
	held := server.Payments()
	if len(all) != payments || all[0] != held[0].ID || all[payments-1] != held[payments-1].ID {
		t.Errorf("%d payments, newest first: %v", len(all), all)
	}
	if r := do(t, server, server.SecretKey, "", "GET /v1/payment_intents", "limit", "101"); r.status != http.StatusBadRequest {
		t.Errorf("a page of 101: %d", r.status)
	}
}

// TestBrowserConfirms acts as a browser, which knows only the publishable key and the
// payment's client secret.
func TestBrowserConfirms(t *testing.T) {
	t.Parallel()
	server := startServer(t, sandbox.Config{})
	id := newPayment(t, server)
	held, _ := server.Payment(id)
	secret := held.ClientSecret
	buyer := func(what string, params ...string) response {
		return do(t, server, server.PublishableKey, "", what, params...)
	}
	confirm := "POST /v1/payment_intents/" + id + "/confirm"

	if r := buyer(confirm, "client_secret", "guessed", "payment_method", "pm_card_visa"); r.status != http.StatusForbidden {
		t.Errorf("a guessed secret: %+v", r)
	}
	if r := buyer("POST /v1/payment_intents/"+id, "client_secret", secret, "metadata[a]", "x"); r.status != http.StatusForbidden {
		t.Errorf("a buyer who writes metadata: %+v", r)
	}
	if r := buyer("GET /v1/payment_intents/"+id, "client_secret", secret); r.status != http.StatusOK || r.body["metadata"] != nil {
		t.Errorf("a buyer reads: %+v", r)
	}
	declined := buyer(confirm, "client_secret", secret, "payment_method_data[type]", "card",
		"payment_method_data[card][number]", "4000000000009995")
	if declined.status != http.StatusPaymentRequired || declined.text("error", "decline_code") != "insufficient_funds" ||
		declined.text("error", "payment_intent", "status") != "requires_payment_method" {
		t.Errorf("declined: %+v", declined)
	}
	asked := buyer(confirm, "client_secret", secret, "payment_method", "pm_card_authenticationRequired")
	if asked.text("status") != "requires_action" || asked.text("next_action", "type") != "use_stripe_sdk" {
		t.Errorf("asked: %+v", asked)
	}
	if r := buyer("POST /v3/challenge/"+id, "client_secret", secret, "approve", "false"); r.status != http.StatusPaymentRequired {
		t.Errorf("refused by the buyer: %+v", r)
	}
	buyer(confirm, "client_secret", secret, "payment_method", "pm_card_authenticationRequired")
	if r := buyer("POST /v3/challenge/"+id, "client_secret", secret, "approve", "true"); r.text("status") != "requires_capture" {
		t.Errorf("approved: %+v", r)
	}
	r := buyer(confirm, "client_secret", secret, "payment_method", "pm_card_visa")
	if r.text("error", "code") != "payment_intent_unexpected_state" {
		t.Errorf("paying twice: %+v", r)
	}
	again := buyer("POST /v3/challenge/"+id, "client_secret", secret, "approve", "true")
	if _, err := server.Approve(id, true); err == nil || again.text("error", "code") != "payment_intent_unexpected_state" {
		t.Errorf("approving twice: %v, %+v", err, again)
	}
	for _, request := range server.Requests() {
		if strings.Contains(request.Form, "4000000000009995") {
			t.Errorf("the journal holds a card's number: %+v", request)
		}
	}
}

// TestVoidedChargeIsShownAsRefunded checks that a voided charge counts as refunded, although
// nothing was captured.
func TestVoidedChargeIsShownAsRefunded(t *testing.T) {
	t.Parallel()
	server := startServer(t, sandbox.Config{})
	id := newPayment(t, server)
	if _, err := server.Confirm(id, "pm_card_visa"); err != nil {
		t.Fatal(err)
	}
	do(t, server, server.SecretKey, "", "POST /v1/payment_intents/"+id+"/cancel")
	intent := do(t, server, server.SecretKey, "", "GET /v1/payment_intents/"+id, "expand[]", "latest_charge")
	charge := intent.body["latest_charge"].(map[string]any)
	if charge["refunded"] != true || charge["captured"] != false || charge["amount_refunded"] != 4990.0 {
		t.Errorf("%+v", charge)
	}
	if p, _ := server.Payment(id); p.Refunded != 0 || p.Refunds != 0 {
		t.Errorf("the ledger tells of a refund: %+v", p)
	}
}

// TestAutomaticCapture checks that a payment without manual capture takes the money at once.
func TestAutomaticCapture(t *testing.T) {
	t.Parallel()
	s := startServer(t, sandbox.Config{})
	id := do(t, s, s.SecretKey, "", "POST /v1/payment_intents", "amount", "100", "currency", "eur").text("id")
	if p, err := s.Confirm(id, "pm_card_visa"); err != nil || p.Status != "succeeded" || p.Captured != 100 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestCloseEndsHeldCalls checks that Close ends a held call and an event that is sent again.
func TestCloseEndsHeldCalls(t *testing.T) {
	t.Parallel()
	server := sandbox.New(sandbox.Config{})
	server.SetWebhooks(sandbox.Normal, "http://127.0.0.1:1")
	newPayment(t, server)
	held := server.Inject(sandbox.Fault{Path: "/v1/account", Hold: make(chan struct{})})
	ended := make(chan error, 1)
	go func() {
		resp, err := http.Get(server.URL + "/v1/account")
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	frontdesktest.Receive(t, held.Reached(), "the call is held")
	server.Close()
	frontdesktest.Receive(t, ended, "the held call ends")
}
