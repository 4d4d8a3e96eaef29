package cards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

func TestKeysTellTheMode(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]struct{ live, ok bool }{
		"sk_test_a":     {false, true},
		"rk_test_a":     {false, true},
		"sk_live_a":     {true, true},
		"rk_live_a":     {true, true},
		"":              {},
		"pk_test_a":     {},
		"pk_live_a":     {},
		"sk_a":          {},
		"whsec_a":       {},
		"sk_org_live_a": {},
	} {
		client, err := cards.New(cards.Config{SecretKey: key, Now: time.Now})
		switch {
		case (err == nil) != want.ok:
			t.Errorf("New with %q: %v", key, err)
		case err != nil && key != "" && strings.Contains(err.Error(), key):
			t.Errorf("the error shows the key: %v", err)
		case err == nil && client.Live() != want.live:
			t.Errorf("%q is live: %v", key, client.Live())
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	mux := http.NewServeMux()
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", pair.double))
	mux.Handle("/a/b/", http.StripPrefix("/a/b", pair.double))
	below := httptest.NewServer(mux)
	t.Cleanup(below.Close)
	for address, ok := range map[string]bool{
		"": true, pair.double.URL: true, pair.double.URL + "/": true,
		below.URL + "/sandbox": true, below.URL + "/sandbox/": true, below.URL + "/a/b": true,
		pair.double.URL + "?a=b": false, pair.double.URL + "#a": false, "//" + below.Listener.Addr().String(): false,
		"127.0.0.1:1": false, "api.example": false, "http://": false, "%": false,
	} {
		client, err := cards.New(cards.Config{SecretKey: pair.double.SecretKey, URL: address, Now: time.Now})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if !ok || address == "" {
			continue
		}
		if _, err := client.Account(t.Context()); err != nil {
			t.Errorf("%q: %v", address, err)
		}
		for _, id := range []string{"../account", "a/b"} { // an id leads to no other path
			if _, err := client.Get(t.Context(), id); !errors.Is(err, cards.ErrNotFound) {
				t.Errorf("%q: get of %q: %v", address, id, err)
			}
		}
	}
}

// TestWebhookURL: a double learns where to send a payment's events; without an address no call has the header.
func TestWebhookURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "https://club.example/v1/webhooks/card"} {
		pair := newPair(t)
		var sent []string
		recorder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent = append(sent, r.Header.Values("X-Frontdesk-Webhook-Url")...)
			pair.double.ServeHTTP(w, r)
		}))
		t.Cleanup(recorder.Close)
		pair.Client = newClient(t, cards.Config{SecretKey: pair.double.SecretKey, URL: recorder.URL, WebhookURL: address})
		pair.created("c")
		if want := strings.Fields(address); !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.created("payment:s1:1")
	want := cards.Payment{
		ID:           made.ID,
		State:        cards.RequiresAction,
		Amount:       4990,
		Currency:     "EUR",
		ClientSecret: pair.ledger(made.ID).ClientSecret,
		Metadata:     map[string]string{"fd_registration": "r1", "fd_generation": "1"},
		CreatedAt:    pair.clock.Now(),
	}
	if fmt.Sprint(made) != fmt.Sprint(want) || made.ClientSecret == "" {
		t.Errorf("made\n%+v, want\n%+v", made, want)
	}
	sent := pair.double.Requests()[0]
	form, err := url.ParseQuery(sent.Form)
	if err != nil {
		t.Fatal(err)
	}
	wantForm := url.Values{
		"amount":                    {"4990"},
		"currency":                  {"eur"},
		"capture_method":            {"manual"},
		"payment_method_types[0]":   {"card"},
		"description":               {"Club Riverside"},
		"metadata[fd_registration]": {"r1"},
		"metadata[fd_generation]":   {"1"},
		"expand[0]":                 {"latest_charge.refunds"},
	}
	if form.Encode() != wantForm.Encode() {
		t.Errorf("sent %s, want %s", form.Encode(), wantForm.Encode())
	}
	if sent.Key != "payment:s1:1" {
		t.Errorf("sent the key %q", sent.Key)
	}
}

func TestWritesSendTheirKeysAsGiven(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made, other := pair.confirmed("create é 1", goodCard), pair.created("create 2")
	for _, verb := range []string{"annotate", "capture", "refund", "cancel"} {
		key, id := verb+":p:1", made.ID
		if verb == "cancel" {
			id = other.ID
		}
		call := func() (cards.Payment, error) { return callsOf(pair.Client)[verb](t.Context(), key, id) }
		before := len(pair.double.Requests())
		first, err := call()
		if err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
		if sent := pair.double.Requests()[before]; sent.Key != key || sent.Method != http.MethodPost {
			t.Errorf("%s was sent as %+v", verb, sent)
		}
		again, err := call()
		if first.Replayed || again.Replayed == (verb == "refund") { // a refund's response is read again
			t.Errorf("%s: the first answer is said to be a replay: %t, the second: %t", verb, first.Replayed, again.Replayed)
		}
		again.Replayed = false
		if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%s repeated: %+v, %v, want %+v", verb, again, err, first)
		}
	}
	if held := pair.ledger(made.ID); held.Captured != 4990 || held.Refunded != 4990 || held.Refunds != 1 {
		t.Errorf("repeating did something: %+v", held)
	}
	for _, key := range []string{"", " a", "a ", strings.Repeat("k", 256)} {
		before := len(pair.double.Requests())
		if _, err := pair.UpdateMetadata(t.Context(), key, made.ID, map[string]string{"a": "b"}); !errors.Is(err, cards.ErrRefused) {
			t.Errorf("key %q: %v", key, err)
		}
		if len(pair.double.Requests()) != before {
			t.Errorf("key %q was sent", key)
		}
	}
}

func TestCallsForAMissingPayment(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, id := range []string{"", "pi_missing", "../account", "a/b"} {
		for verb, call := range callsOf(p.Client) {
			if _, err := call(t.Context(), verb+id, id); !errors.Is(err, cards.ErrNotFound) {
				t.Errorf("%s of %q: %v", verb, id, err)
			}
		}
	}
}

func TestCaptureNeverTakesMoreThanAgreed(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	if _, err := pair.Capture(t.Context(), "too much", made.ID, 5000); !errors.Is(err, cards.ErrRefused) {
		t.Errorf("capturing more: %v", err)
	}
	if held := pair.get(made.ID); held.State != cards.Authorised || held.Captured != 0 {
		t.Errorf("after that: %+v", held)
	}
	taken, err := pair.Capture(t.Context(), "all", made.ID, 4990)
	if err != nil || taken.State != cards.Captured || taken.Captured != 4990 {
		t.Errorf("capturing all: %+v, %v", taken, err)
	}
}

func TestRefundInParts(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.captured("c")
	for _, step := range []struct {
		amount, total int64
		state         cards.State
		err           error
	}{
		{amount: 1000, total: 1000, state: cards.Captured},
		{amount: 4000, total: 1000, state: cards.Captured, err: cards.ErrRefused},
		{amount: 3990, total: 4990, state: cards.Refunded},
		{amount: 1, total: 4990, state: cards.Refunded, err: cards.ErrState},
	} {
		given, err := pair.Refund(t.Context(), fmt.Sprint("r", step.amount), made.ID, step.amount)
		if !errors.Is(err, step.err) {
			t.Errorf("refund of %d: %v, want %v", step.amount, err, step.err)
		}
		if held := pair.get(made.ID); held.Refunded != step.total || held.State != step.state || held.Captured != 4990 {
			t.Errorf("after %d: %+v", step.amount, held)
		}
		if err == nil && (given.Refunded != step.total || given.State != step.state) {
			t.Errorf("refund of %d answered %+v", step.amount, given)
		}
	}
}

// TestRefundThatFailsLater: a pending or failed refund has returned no money.
func TestRefundThatFailsLater(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.captured("c")
	for i, status := range []string{"pending", "succeeded"} {
		pair.with(sandbox.Settings{Refunds: strings.TrimPrefix(status, "succeeded")})
		given, err := pair.Refund(t.Context(), "refund "+status, made.ID, 4990)
		pending := status == "pending"
		if err != nil || (given.State == cards.Refunded) == pending || (given.Refunding == 4990) != pending || given.FailedRefunds != i {
			t.Fatalf("%s: %+v, %v", status, given, err)
		}
		if _, err := pair.double.SettleRefund(made.ID, "failed"); err != nil {
			t.Fatal(err)
		}
		if held := pair.get(made.ID); held.State != cards.Captured || held.Refunded != 0 || held.Refunding != 0 || held.FailedRefunds != i+1 {
			t.Errorf("%s, then failed: %+v", status, held)
		}
	}
}

// TestDispute: the payment, alone and in the list, shows that the buyer demanded the money back, and so does an event.
func TestDispute(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	if _, err := pair.double.Dispute(made.ID); err == nil {
		t.Error("a payment that is not captured was disputed")
	}
	if taken, err := pair.Capture(t.Context(), "capture", made.ID, 4990); err != nil || taken.Disputed {
		t.Fatalf("captured: %+v (%v)", taken, err)
	}
	events := pair.receiver()
	if _, err := pair.double.Dispute(made.ID); err != nil {
		t.Fatal(err)
	}
	event := frontdesktest.Receive(t, events, "the event of the dispute")
	if event.Type != "charge.dispute.created" || event.PaymentID != made.ID || event.Metadata != nil || !event.Reversal {
		t.Errorf("the event is %+v", event)
	}
	page, err := pair.List(t.Context(), time.Time{}, "")
	held := pair.get(made.ID)
	if err != nil || !held.Disputed || held.State != cards.Captured || len(page.Payments) != 1 || !page.Payments[0].Disputed {
		t.Errorf("the payment is %+v, the list %+v (%v)", held, page, err)
	}
	if _, err := pair.Refund(t.Context(), "refund", made.ID, 4990); !errors.Is(err, cards.ErrState) {
		t.Errorf("refunded nevertheless: %v", err)
	}
}

// TestRefundThatIsRefusedAtOnce: the account has too little money, or the buyer's bank does not take it.
func TestRefundThatIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.with(sandbox.Settings{Refunds: "refused"})
	made := p.captured("c")
	_, err := p.Refund(t.Context(), "r", made.ID, 4990)
	if !errors.Is(err, cards.ErrRefused) || !strings.Contains(err.Error(), "balance_insufficient") || p.ledger(made.ID).Refunds != 0 {
		t.Errorf("without a balance: %v", err)
	}
	client := canned(t, http.StatusOK, `{"id":"re_1","object":"refund","status":"failed"}`)
	if _, err := client.Refund(t.Context(), "r", "pi_1", 4990); !errors.Is(err, cards.ErrRefused) {
		t.Errorf("a failed refund: %v", err)
	}
}

func TestAnnotateMerges(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.created("c")
	held, err := pair.UpdateMetadata(t.Context(), "a", made.ID, map[string]string{"fd_post_1": "x", "fd_generation": ""})
	if err != nil || fmt.Sprint(held.Metadata) != fmt.Sprint(map[string]string{"fd_registration": "r1", "fd_post_1": "x"}) {
		t.Errorf("annotated: %v, %v", held.Metadata, err)
	}
	for name, metadata := range map[string]map[string]string{
		"a long key":   {strings.Repeat("k", 41): "v"},
		"a long value": {"k": strings.Repeat("v", 501)},
		"brackets":     {"k[1]": "v"},
	} {
		if _, err := pair.UpdateMetadata(t.Context(), name, made.ID, metadata); !errors.Is(err, cards.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := pair.UpdateMetadata(t.Context(), name, made.ID, map[string]string{"fd_post_1": "x"}); err != nil {
			t.Errorf("the key of a call with %s is used up: %v", name, err)
		}
	}
	// A payment can be annotated in every state, because its result is written last.
	if _, err := pair.Cancel(t.Context(), "x", made.ID); err != nil {
		t.Fatal(err)
	}
	held, err = pair.UpdateMetadata(t.Context(), "late", made.ID, map[string]string{"fd_done_1": "y"})
	if err != nil || held.State != cards.Cancelled {
		t.Errorf("annotating a cancelled payment: %+v, %v", held, err)
	}
}

func TestTimesOfCalls(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	seen := map[string]time.Duration{}
	client := pair.through(func(r *http.Request) (*http.Response, error) {
		if deadline, ok := r.Context().Deadline(); ok {
			seen[r.Method+" "+r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]] = time.Until(deadline).Round(time.Second)
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	made := pair.confirmed("c", goodCard)
	_, captureErr := client.Capture(t.Context(), "capture", made.ID, 4990)
	_, refundErr := client.Refund(t.Context(), "refund", made.ID, 4990)
	_, listErr := client.List(t.Context(), time.Time{}, "")
	_, accountErr := client.Account(t.Context())
	if err := errors.Join(captureErr, refundErr, listErr, accountErr); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]time.Duration{
		"POST capture": 25 * time.Second, "POST refunds": 10 * time.Second, "GET " + made.ID: 10 * time.Second,
		"GET payment_intents": 10 * time.Second, "GET account": 10 * time.Second,
	} {
		if got := seen[call]; got != want {
			t.Errorf("%s may take %s, want %s", call, got, want)
		}
	}
}

// TestOnCall: each call is reported once, with its outcome and in a span, however many requests it takes.
func TestOnCall(t *testing.T) {
	t.Parallel()
	var calls, spans []string
	pair := newPair(t)
	pair.Client = newClient(t, cards.Config{SecretKey: pair.double.SecretKey, URL: pair.double.URL, Now: pair.clock.Now,
		OnCall: func(call cards.Call) {
			calls = append(calls, call.Operation+" "+call.Outcome)
		}})
	recorder := tracetest.NewSpanRecorder()
	ctx, _ := trace.NewTracerProvider(trace.WithSpanProcessor(recorder)).Tracer("test").Start(t.Context(), "test")
	made, err := pair.Create(ctx, "create", cards.NewPayment{Amount: 4990, Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pair.double.Confirm(made.ID, goodCard); err != nil {
		t.Fatal(err)
	}
	pair.double.Inject(sandbox.Fault{Path: "/v1/payment_intents/*/capture", Status: http.StatusServiceUnavailable})
	pair.double.Inject(sandbox.Fault{Path: "/v1/payment_intents/*/capture", Status: http.StatusConflict}) // repeated by the adapter
	want := []string{"create accepted", "get refused", "capture unknown", "capture accepted", "cancel refused", "update_metadata refused",
		"refund accepted", "list accepted", "account accepted"}
	for _, call := range []func() error{
		func() error { _, err := pair.Get(ctx, "pi_missing"); return err },
		func() error { _, err := pair.Capture(ctx, "capture", made.ID, 4990); return err },
		func() error { _, err := pair.Capture(ctx, "capture", made.ID, 4990); return err },
		func() error { _, err := pair.Cancel(ctx, "cancel", made.ID); return err },
		func() error { _, err := pair.UpdateMetadata(ctx, "", made.ID, map[string]string{"a": "b"}); return err },
		func() error { _, err := pair.Refund(ctx, "refund", made.ID, 4990); return err },
		func() error { _, err := pair.List(ctx, time.Time{}, ""); return err },
		func() error { _, err := pair.AccountID(ctx); return err },
	} {
		if err := call(); (err == nil) != strings.HasSuffix(want[len(calls)-1], "accepted") {
			t.Errorf("%s: %v", want[len(calls)-1], err)
		}
	}
	for _, span := range recorder.Ended() {
		attributes := span.Attributes()
		spans = append(spans, strings.TrimPrefix(span.Name(), "cards ")+" "+attributes[1].Value.AsString())
	}
	if !slices.Equal(calls, want) || !slices.Equal(spans, want) {
		t.Errorf("reported %q, spans %q, want %q", calls, spans, want)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	client := newClient(t, cards.Config{URL: server.URL})
	if _, err := client.Capture(t.Context(), "k", "pi_1", 1); err == nil || isOutcome(err) || reached {
		t.Errorf("a redirected capture: %v, followed: %v", err, reached)
	}
}

func TestACallerThatGivesUp(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	hold := make(chan struct{})
	fault := pair.double.Inject(holdCapture(hold))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-fault.Reached(); cancel() }()
	if _, err := pair.Capture(ctx, "k", made.ID, 4990); !errors.Is(err, context.Canceled) || isOutcome(err) {
		t.Errorf("a capture that was given up: %v", err)
	}
	close(hold)
}
