package sandbox_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// clock is a clock that a test sets.
type clock struct{ seconds atomic.Int64 }

func (c *clock) Now() time.Time { return time.Unix(1_790_000_000+c.seconds.Load(), 0) }

// expect compares status and code of a response.
func expect(t *testing.T, what string, r response, status int, code string) {
	t.Helper()
	if r.status != status || r.text("error", "code") != code {
		t.Errorf("%s: %d %v, want %d %s", what, r.status, r.body, status, code)
	}
}

// TestMemoryIsBounded: a full double drops the oldest final payments, those of the new one's world first, and refuses to
// forget one that is not final.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	cfg := inProcess
	cfg.MaxPayments = 4
	server := startServer(t, cfg)
	end := func(id string) string {
		do(t, server, server.SecretKey, "", "POST /v1/payment_intents/"+id+"/cancel")
		return id
	}
	open, oldest := newPayment(t, server), end(newPayment(t, server))
	own, newer := end(newPayment(t, server, "metadata[fd_sale]", "demo-a/1")), end(newPayment(t, server))
	for i, gone := range []string{own, oldest, newer} {
		newPayment(t, server, "metadata[fd_sale]", "demo-a/2")
		if _, held := server.Payment(gone); held || len(server.Payments()) != 4 {
			t.Errorf("creation %d did not drop %s: %+v", i, gone, server.Payments())
		}
	}
	r := do(t, server, server.SecretKey, "k", "POST /v1/payment_intents", "amount", "100", "currency", "eur")
	if _, held := server.Payment(open); r.status != http.StatusServiceUnavailable || !held {
		t.Errorf("with no final one left: %+v", r)
	}
	end(open)
	expect(t, "with its key again", do(t, server, server.SecretKey, "k", "POST /v1/payment_intents", "amount", "100", "currency", "eur"),
		200, "")
}

// TestBytesAreBounded: payments and keys that hold much fill a double before their number does. It then drops the oldest final
// payments, refuses what would hold more, and still carries out what ends a payment.
func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	var now clock
	cfg := inProcess
	cfg.MaxPayments, cfg.Now = 4, now.Now // 16 KiB of payments, and of keys
	server := startServer(t, cfg)
	var much []string // about 10 kB
	for n := range 20 {
		much = append(much, fmt.Sprintf("metadata[much_%02d]", n), strings.Repeat("x", 500))
	}
	create := func(key string, params ...string) response {
		return do(t, server, server.SecretKey, key, "POST /v1/payment_intents", append(params, "amount", "100", "currency", "eur")...)
	}
	path := func(r response) string { return "POST /v1/payment_intents/" + r.text("id") }
	first := create("", much...)
	expect(t, "the first", first, 200, "")
	expect(t, "a second one", create("", much...), 503, "")
	expect(t, "a small one", create(""), 200, "")
	expect(t, "the end of the first", do(t, server, server.SecretKey, "", path(first)+"/cancel"), 200, "")
	second := create("", much...)
	expect(t, "the second one", second, 200, "")
	if _, held := server.Payment(first.text("id")); held {
		t.Error("the first is still held")
	}
	small := create("")
	expect(t, "a note", do(t, server, server.SecretKey, "", path(small), much...), 503, "")
	expect(t, "less of the second", do(t, server, server.SecretKey, "", path(second), "metadata", ""), 200, "")
	expect(t, "a note again", do(t, server, server.SecretKey, "", path(small), much...), 200, "")
	expect(t, "the end of it", do(t, server, server.SecretKey, "end", path(small)+"/cancel"), 200, "")

	expect(t, "a key", create("one", much...), 200, "")
	do(t, server, server.SecretKey, "", path(second)+"/cancel")
	expect(t, "a second key", create("two", much...), 503, "")
	if r := create("one", much...); !r.replayed() {
		t.Errorf("the first key: %+v", r)
	}
	now.seconds.Add(24 * 60 * 60)
	server.Reset("demo")
	expect(t, "a day later", create("two", much...), 200, "")
	for _, call := range server.Requests() {
		if len(call.Form) > 4<<10 {
			t.Errorf("the record of a call has %d bytes", len(call.Form))
		}
	}
}

// TestNoteNeedsRoom: a full double drops another final payment for a note about a final one, or refuses the note.
func TestNoteNeedsRoom(t *testing.T) {
	t.Parallel()
	cfg := inProcess
	cfg.MaxPayments = 4 // 16 KiB
	server := startServer(t, cfg)
	var much []string // about 10 kB
	for n := range 20 {
		much = append(much, fmt.Sprintf("metadata[much_%02d]", n), strings.Repeat("x", 500))
	}
	first, second := newPayment(t, server), newPayment(t, server, much...)
	note := func() response {
		return do(t, server, server.SecretKey, "", "POST /v1/payment_intents/"+first, much...)
	}
	end := func(id string) { do(t, server, server.SecretKey, "", "POST /v1/payment_intents/"+id+"/cancel") }
	end(first)
	expect(t, "a note", note(), 503, "")
	if _, held := server.Payment(first); !held {
		t.Fatal("the payment of the note was dropped")
	}
	end(second)
	expect(t, "a note again", note(), 200, "")
}

// TestKeysAreNeverForgottenEarly: when no more keys fit, new ones are refused, and the others stay in force.
func TestKeysAreNeverForgottenEarly(t *testing.T) {
	t.Parallel()
	var now clock
	cfg := inProcess
	cfg.MaxPayments, cfg.Now = 1, now.Now
	s := startServer(t, cfg)
	id := newPayment(t, s)
	note := func(key, value string) response {
		return do(t, s, s.SecretKey, key, "POST /v1/payment_intents/"+id, "metadata[n]", value)
	}
	for i := range 10 {
		expect(t, "a note", note(fmt.Sprint("note ", i), "x"), 200, "")
	}
	expect(t, "one too many", note("one too many", "x"), 503, "")
	expect(t, "the first", note("note 0", "x"), 200, "")
	if r := note("note 0", "y"); r.text("error", "type") != "idempotency_error" {
		t.Errorf("the first one's key: %+v", r)
	}
	now.seconds.Add(24 * 60 * 60)
	expect(t, "a day later", note("one too many", "x"), 200, "")
	expect(t, "a long key", note(strings.Repeat("k", 256), "x"), 400, "")
}

func TestOneCaptureWins(t *testing.T) {
	t.Parallel()
	server := startServer(t, sandbox.Config{})
	id := newPayment(t, server)
	must(server.Confirm(id, "pm_card_visa"))
	statuses := make(chan int, 16)
	for n := range cap(statuses) {
		go func() {
			statuses <- do(t, server, server.SecretKey, fmt.Sprint(n), "POST /v1/payment_intents/"+id+"/capture").status
		}()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[frontdesktest.Receive(t, statuses, "a response")]++
	}
	if p, _ := server.Payment(id); got[200] != 1 || got[400] != 15 || p.Captured != 4990 {
		t.Errorf("%v, %+v", got, p)
	}
}

// TestStoredResponses: a key keeps the response as it was, expanded as the first call asked, whatever becomes of the payment.
func TestStoredResponses(t *testing.T) {
	t.Parallel()
	server := startServer(t, inProcess)
	id := newPayment(t, server)
	must(server.Confirm(id, "pm_card_visa"))
	write := func(key, what string, params ...string) response {
		return do(t, server, server.SecretKey, key, what, append(params, "expand[]", "latest_charge.refunds")...)
	}
	path := "POST /v1/payment_intents/" + id
	first := write("note", path, "metadata[c]", "d")
	captured := write("capture", path+"/capture")
	do(t, server, server.SecretKey, "refund", "POST /v1/refunds", "payment_intent", id)
	write("other", path, "metadata[c]", "", "metadata[e]", "f")
	must(server.Dispute(id))
	for key, want := range map[string]response{"note": first, "capture": captured} {
		again := write("note", path, "metadata[c]", "d")
		if key == "capture" {
			again = write("capture", path+"/capture")
		}
		if !again.replayed() || fmt.Sprint(again.body) != fmt.Sprint(want.body) {
			t.Errorf("%s: %+v, want %+v", key, again, want)
		}
	}
	if first.text("status") != "requires_capture" || first.text("metadata") != "map[a:b c:d]" ||
		captured.text("latest_charge", "refunds", "data") != "[]" {
		t.Errorf("%+v\n%+v", first, captured)
	}
}

// TestLockTimeout: while a write to a payment is held, another one is refused and leaves no trace. Reads are not.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	server := startServer(t, inProcess)
	id, hold := newPayment(t, server), make(chan struct{})
	must(server.Confirm(id, "pm_card_visa"))
	held := server.Inject(sandbox.Fault{Path: "/v1/payment_intents/*/capture", Stage: sandbox.During, Hold: hold})
	first := make(chan response)
	go func() { first <- do(t, server, server.SecretKey, "capture", "POST /v1/payment_intents/"+id+"/capture") }()
	frontdesktest.Receive(t, held.Reached(), "the write is held")
	path := "/v1/payment_intents/" + id
	note := func() response { return do(t, server, server.SecretKey, "note", "POST "+path, "metadata[c]", "d") }
	expect(t, "the same key", do(t, server, server.SecretKey, "capture", "POST "+path+"/capture"), 409, "idempotency_key_in_use")
	expect(t, "a second write", note(), 429, "lock_timeout")
	expect(t, "a refund", do(t, server, server.SecretKey, "refund", "POST /v1/refunds", "payment_intent", id), 429, "lock_timeout")
	expect(t, "a read", do(t, server, server.SecretKey, "", "GET "+path), 200, "")
	ctx, cancel := context.WithCancel(t.Context())
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody))
	slow := server.Inject(sandbox.Fault{Method: http.MethodGet, Hold: hold})
	go func() { <-slow.Reached(); cancel() }()
	if _, err := server.RoundTrip(r); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gives up: %v", err)
	}
	close(hold)
	expect(t, "the first", frontdesktest.Receive(t, first, "the held write ends"), 200, "")
	expect(t, "the second write, again", note(), 200, "")
}

// TestRateLimit: calls of an endpoint beyond the limit of a second are refused, and leave no trace.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	var now clock
	cfg := inProcess
	cfg.Now = now.Now
	server := startServer(t, cfg)
	id, other := newPayment(t, server), newPayment(t, server, "metadata[fd_sale]", "demo-other/1")
	if err := server.Configure("demo-limited", sandbox.Settings{RateLimit: 2}); err != nil {
		t.Fatal(err)
	}
	limited := newPayment(t, server, "metadata[fd_sale]", "demo-limited/1")
	note := func(id, key string) response {
		return do(t, server, server.SecretKey, key, "POST /v1/payment_intents/"+id, "metadata[c]", "d")
	}
	for range 3 {
		expect(t, "another world", note(id, ""), 200, "")
		expect(t, "one more", note(other, ""), 200, "")
	}
	note(limited, "1")
	note(limited, "2")
	expect(t, "the third", note(limited, "3"), 429, "rate_limit")
	expect(t, "another endpoint", do(t, server, server.SecretKey, "", "GET /v1/payment_intents/"+limited), 200, "")
	now.seconds.Add(1)
	if r := note(limited, "3"); r.status != 200 || r.replayed() {
		t.Errorf("a second later: %+v", r)
	}
}

// TestAccountsApart: an account has its own mode, payments and keys, and its restricted keys their permissions.
func TestAccountsApart(t *testing.T) {
	t.Parallel()
	cfg := inProcess
	cfg.Accounts = []sandbox.Account{
		{ID: "acct_a", RestrictedKeys: map[string][]string{"rk_test_a": {"rak_charge_read", "rak_webhook_read"}}},
		{ID: "acct_b", SecretKey: "sk_live_b"},
	}
	server := startServer(t, cfg)
	create := func(apiKey string, more ...string) response {
		return do(t, server, apiKey, "k", "POST /v1/payment_intents", append(more, "amount", "100", "currency", "eur")...)
	}
	a, b := create(server.SecretKey), create("sk_live_b")
	if a.text("id") == b.text("id") || b.replayed() || a.text("livemode") != "false" || b.text("livemode") != "true" {
		t.Errorf("%+v\n%+v", a, b)
	}
	path := "/v1/payment_intents/" + a.text("id")
	expect(t, "a payment of another account", do(t, server, "sk_live_b", "", "GET "+path), 404, "resource_missing")
	list := do(t, server, "sk_live_b", "", "GET /v1/payment_intents").raw
	if strings.Contains(list, a.text("id")) || !strings.Contains(list, b.text("id")) {
		t.Errorf("the list of b: %s", list)
	}
	if id := do(t, server, "rk_test_a", "", "GET /v1/account").text("id"); id != "acct_a" {
		t.Errorf("the restricted key is of %s", id)
	}
	expect(t, "without the right", do(t, server, "rk_test_a", "", "GET /v1/charges"), 403, "")
	expect(t, "without another right", do(t, server, "rk_test_a", "", "GET /v1/webhook_endpoints"), 403, "")
	expect(t, "not expanded", do(t, server, "rk_test_a", "", "GET "+path), 200, "")
	expect(t, "expanded", do(t, server, "rk_test_a", "", "GET "+path, "expand[]", "latest_charge"), 403, "")
	expect(t, "the list, expanded", do(t, server, "rk_test_a", "", "GET /v1/payment_intents", "expand[]", "data.latest_charge.refunds"), 403,
		"")
	for range 2 {
		write := do(t, server, "rk_test_a", "note", "POST "+path, "metadata[c]", "d", "expand[]", "latest_charge.refunds")
		expect(t, "a write, expanded", write, 403, "")
	}
	if p, _ := server.Payment(a.text("id")); p.Metadata["c"] != "d" {
		t.Errorf("a refused expansion is not carried out: %+v", p)
	}
}

// TestBadCalls: what Stripe refuses, and what the double does not know, is refused and changes nothing.
func TestBadCalls(t *testing.T) {
	t.Parallel()
	server := startServer(t, inProcess)
	id := newPayment(t, server)
	create, confirm := "POST /v1/payment_intents", "POST /v1/payment_intents/"+id+"/confirm"
	amount := func(amount, currency string) []string { return []string{"amount", amount, "currency", currency} }
	for _, test := range []struct {
		call   string
		params []string
		status int
		code   string
	}{
		{"GET /v1/payment_intents", []string{"ending_before", id}, 400, "parameter_unknown"},
		{"GET /v1/payment_intents", []string{"created[lte]", "1"}, 400, "parameter_unknown"},
		{"GET /v1/payment_intents", []string{"starting_after", "pi_x"}, 404, "resource_missing"},
		{"GET /v1/charges", []string{"starting_after", "ch_x"}, 400, "parameter_unknown"},
		{"GET /v1/payment_intents/" + id, []string{"expand[]", "customer"}, 400, ""},
		{"GET /v1/customers", nil, 404, ""},
		{"GET /v1/payment_intents/", nil, 404, ""},
		{"POST /v1/payment_intents/", nil, 404, ""},
		{"POST /v1/payment_intents//capture", nil, 404, ""},
		{"DELETE /v1/payment_intents/" + id, nil, 404, ""},
		{create, amount("100000000", "eur"), 400, "amount_too_large"},
		{create, amount("49", "eur"), 400, "amount_too_small"},
		{create, amount("30", "gbp"), 200, ""},
		{create, amount("1499", "czk"), 400, "amount_too_small"},
		{create, amount("1005", "tnd"), 400, ""},
		{create, amount("1000", "tnd"), 200, ""},
		{create, amount("50", "jpy"), 200, ""},
		{create, amount("4990", "EUR"), 400, "parameter_invalid_string_empty"},
		{create, append(amount("4990", "eur"), "description", strings.Repeat("é", 1001)), 400, ""},
		{create, append(amount("4990", "eur"), "description", strings.Repeat("é", 1000)), 200, ""},
		{create, append(amount("4990", "eur"), "capture_method", "later"), 400, ""},
		{create, append(amount("4990", "eur"), "metadata["+strings.Repeat("é", 41)+"]", "x"), 400, ""},
		{create, append(amount("4990", "eur"), "metadata["+strings.Repeat("é", 40)+"]", strings.Repeat("é", 500)), 200, ""},
		{confirm, []string{"payment_method", "pm_unknown"}, 400, "resource_missing"},
		{confirm, []string{"payment_method_data[card][number]", "4242424242424241"}, 402, "incorrect_number"},
		{confirm, []string{"payment_method", "pm_klarna"}, 200, ""}, // no types are named: the dashboard's
		{confirm, []string{"payment_method", "pm_card_visa", "amount", "1"}, 400, "parameter_unknown"},
	} {
		expect(t, fmt.Sprint(test.call, " ", test.params), do(t, server, server.SecretKey, "", test.call, test.params...), test.status, test.code)
	}
	large := send(t, server, "POST /v1/refunds", "a="+strings.Repeat("x", 600<<10), "Content-Type", formType)
	if large.status != 400 || large.header.Get("Request-Id") == "" {
		t.Errorf("a large body: %+v", large)
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(server.SecretKey+":"))
	for version, status := range map[string]int{sandbox.APIVersion: 200, "2019-01-01": 400} {
		r := send(t, server, "GET /v1/account", "", "Authorization", basic, "Stripe-Version", version)
		if r.status != status || r.header.Get("Request-Id") == "" {
			t.Errorf("with the release %s: %+v", version, r)
		}
	}
}

// walk takes one payment after another through what a world's settings change.
type walk struct {
	*testing.T
	*sandbox.Server
	id string
}

func newWalk(t *testing.T, cfg sandbox.Config) *walk { return &walk{T: t, Server: startServer(t, cfg)} }

func (w *walk) with(settings sandbox.Settings) { must(0, w.Configure("demo", settings)) }

// fresh makes the next payment, confirmed with a card if one is named.
func (w *walk) fresh(card string) {
	w.id = newPayment(w, w.Server)
	if card != "" {
		must(w.Confirm(w.id, card))
	}
}

func (w *walk) held() sandbox.Payment { p, _ := w.Payment(w.id); return p }

func (w *walk) post(what string, params ...string) response {
	w.Helper()
	return do(w, w.Server, w.SecretKey, "", "POST /v1/payment_intents/"+w.id+what, params...)
}

// TestErrorsOfAWorld: writes fail before or after their effect, and their keys replay that.
func TestErrorsOfAWorld(t *testing.T) {
	t.Parallel()
	walk := newWalk(t, inProcess)
	for mode, effect := range map[string]bool{"before": false, "after": true} {
		walk.with(sandbox.Settings{})
		walk.fresh("")
		walk.with(sandbox.Settings{Errors: mode})
		for _, replayed := range []bool{false, true} {
			r := do(t, walk.Server, walk.SecretKey, mode, "POST /v1/payment_intents/"+walk.id, "metadata[c]", "d")
			if r.status != 500 || r.replayed() != replayed {
				t.Errorf("errors %s: %+v", mode, r)
			}
		}
		if p := walk.held(); (p.Metadata["c"] == "d") != effect {
			t.Errorf("errors %s: %+v", mode, p)
		}
	}
}

// TestProcessing: what is processed has taken nothing, and cannot be cancelled.
func TestProcessing(t *testing.T) {
	t.Parallel()
	walk := newWalk(t, inProcess)
	for state, settings := range map[cards.State]sandbox.Settings{
		cards.Authorised: {Captures: "processing"}, cards.RequiresAction: {Confirmations: "processing"},
	} {
		walk.with(settings)
		walk.fresh("pm_card_visa")
		if settings.Captures != "" && walk.post("/capture").text("status") != "processing" {
			t.Errorf("the capture is not processed: %+v", walk.held())
		}
		if p := walk.held(); !p.Processing || p.Status != "processing" || p.State != state || p.Captured != 0 {
			t.Errorf("with %+v: %+v", settings, p)
		}
		expect(t, "cancelled meanwhile", walk.post("/cancel"), 400, "payment_intent_unexpected_state")
	}
}

// TestMemoryOfAPayment measures what a payment holds from its creation to its record, with its keys. At the bound of 100,000 payments
// that is what a simulator needs.
func TestMemoryOfAPayment(t *testing.T) { // alone, because it measures the whole process
	const payments, most = 5000, 3000 // bytes of a payment
	server := startServer(t, inProcess)
	heap := func() uint64 {
		for range 20_000 { // which fill the record of requests
			do(t, server, server.SecretKey, "", "GET /v1/account")
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for n := range payments {
		sale := fmt.Sprintf("/demo/sales/%d", n)
		write := func(what string, params ...string) response {
			params = append(params, "expand[]", "latest_charge.refunds")
			return do(t, server, server.SecretKey, fmt.Sprint("payment:", n, what, len(params)), "POST /v1/payment_intents"+what, params...)
		}
		id := write("", "amount", "4990", "currency", "eur", "capture_method", "manual", "description", "Club Riverside",
			"metadata[fd_sale]", sale, "metadata[fd_registration]", fmt.Sprint("r", n), "metadata[fd_generation]", "1",
			"metadata[fd_environment]", "test").text("id")
		must(server.Confirm(id, "pm_card_visa"))
		write("/"+id, "metadata[fd_post_1]", "8c1f4f0e-5a3a-4d6e-9d2e-000000000000")
		write("/"+id+"/capture", "amount_to_capture", "4990")
		write("/"+id, "metadata[fd_post_1]", "8c1f4f0e-5a3a-4d6e-9d2e-000000000000", "metadata[fd_done]", "2026-11-21T09:30:00Z")
	}
	each := (heap() - before) / payments
	t.Logf("a payment holds %d bytes", each)
	if each > most {
		t.Errorf("a payment holds %d bytes, at most %d are expected", each, most)
	}
	runtime.KeepAlive(server)
}
