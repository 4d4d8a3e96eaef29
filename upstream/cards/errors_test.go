package cards_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// isOutcome reports whether an error states an outcome.
func isOutcome(err error) bool {
	for _, known := range []error{cards.ErrKeyReused, cards.ErrNotFound, cards.ErrState, cards.ErrRefused, cards.ErrSignature} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func holdCapture(until <-chan struct{}) sandbox.Fault {
	return sandbox.Fault{Path: "/v1/payment_intents/*/capture", Stage: sandbox.During, Hold: until}
}

// TestOutcomes maps the processor's errors, one by one; nil is "unknown".
func TestOutcomes(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	for _, test := range []struct {
		status     int
		kind, code string
		want       error
	}{
		{400, "idempotency_error", "", cards.ErrKeyReused},
		{429, "invalid_request_error", "rate_limit", nil},
		{429, "card_error", "card_decline_rate_limit_exceeded", nil},
		{424, "api_error", "", nil},
		{500, "api_error", "", nil},
		{502, "api_error", "", nil},
		{503, "invalid_request_error", "payment_intent_unexpected_state", nil},
		{404, "invalid_request_error", "resource_missing", cards.ErrNotFound},
		{400, "invalid_request_error", "resource_missing", cards.ErrNotFound},
		{404, "invalid_request_error", "", nil}, // an address outside the API
		{405, "invalid_request_error", "", nil},
		{400, "invalid_request_error", "payment_intent_unexpected_state", cards.ErrState},
		{400, "invalid_request_error", "charge_already_captured", cards.ErrState},
		{400, "invalid_request_error", "charge_already_refunded", cards.ErrState},
		{400, "invalid_request_error", "charge_expired_for_capture", cards.ErrState},
		{400, "invalid_request_error", "charge_disputed", cards.ErrState},
		{400, "invalid_request_error", "refund_disputed_payment", cards.ErrState},
		{402, "card_error", "card_declined", cards.ErrState},
		{400, "invalid_request_error", "parameter_unknown", cards.ErrRefused},
		{400, "invalid_request_error", "balance_insufficient", cards.ErrRefused},
		{401, "invalid_request_error", "", cards.ErrRefused},
		{403, "invalid_request_error", "", cards.ErrRefused},
	} {
		fault := pair.double.Inject(sandbox.Fault{Status: test.status, Type: test.kind, Code: test.code})
		_, err := pair.Capture(t.Context(), "capture", made.ID, 4990)
		if err == nil || fault.Hits() != 1 {
			t.Fatalf("%d %s %s: %v, struck %d times", test.status, test.kind, test.code, err, fault.Hits())
		}
		if test.want == nil && isOutcome(err) || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%d %s %s: %v, want %v", test.status, test.kind, test.code, err, test.want)
		}
		for _, part := range []string{"capture", fmt.Sprint(test.status), test.kind, test.code, "req_"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%d %s %s: the text lacks %q: %v", test.status, test.kind, test.code, part, err)
			}
		}
	}
	if held := pair.get(made.ID); held.State != cards.Authorised {
		t.Errorf("after all that it is %s", held.State)
	}
}

// TestErrorTextsRevealNoSecrets sends secrets that must never be logged.
func TestErrorTextsRevealNoSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{"4242424242424242", "pi_1_secret_x", "sk_test_x", "Ada"}
	said := strings.Join(secrets, " ")
	for name, response := range map[string]struct {
		status int
		body   string
	}{
		"a refusal": {400, `{"error":{"type":"invalid_request_error","message":"` + said +
			`","payment_intent":{"id":"pi_1","client_secret":"pi_1_secret_x"}}}`},
		"a decline":       {402, `{"error":{"type":"card_error","code":"card_declined","message":"` + said + `"}}`},
		"no error object": {500, `{"message":"` + said + `"}`},
		"an error page":   {502, "<html>" + said},
		"a cut answer":    {200, `{"id":"pi_1","client_secret":"` + said},
		"another shape":   {200, `["` + said + `"]`},
		"another status":  {200, `{"id":"pi_1","status":"` + "odd" + `","client_secret":"` + said + `"}`},
		"empty":           {200, ``},
	} {
		client := canned(t, response.status, response.body)
		_, err := client.Capture(t.Context(), "k", "pi_1", 1)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, secret := range secrets {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the text shows %q: %v", name, secret, err)
			}
		}
		if response.status != 400 && response.status != 402 && isOutcome(err) {
			t.Errorf("%s: claims to know what happened: %v", name, err)
		}
	}
}

// TestErrorTextNamesTheCall checks that the error of a call without a response has its method and full address, below the configured
// path, and nothing of its parameters.
func TestErrorTextNamesTheCall(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(silent.Close) // only then, so that no other process gets the address
	away := strings.TrimPrefix(silent.URL, "http://")
	client := newClient(t, cards.Config{SecretKey: "sk_test_secret", URL: silent.URL + "/sandbox"})
	capture := func() error { _, err := client.Capture(t.Context(), "k", "pi_1", 4990); return err }
	list := func() error { _, err := client.List(t.Context(), time.Now(), "pi_before"); return err }
	account := func() error { _, err := client.Account(t.Context()); return err }
	for want, call := range map[string]func() error{
		"POST " + away + "/sandbox/v1/payment_intents/pi_1/capture: ": capture,
		"GET " + away + "/sandbox/v1/payment_intents: ":               list,
		"GET " + away + "/sandbox/v1/account: ":                       account,
	} {
		err := call()
		if err == nil || isOutcome(err) {
			t.Fatalf("%s%v", want, err)
		}
		text := err.Error()
		if strings.Count(text, "/v1/") != 1 || !strings.Contains(text, want) {
			t.Errorf("%q is missing or repeated: %s", want, text)
		}
		if strings.Contains(text, "secret") || strings.Contains(text, "pi_before") {
			t.Errorf("too much is said: %s", text)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	if _, err := client.Account(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call without time: %v", err)
	}
}

// TestLostCalls loses the request or the response of a capture. The adapter reports
// an unknown outcome, and never retries on its own.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for stage, takenAtOnce := range map[sandbox.Stage]bool{sandbox.Before: false, sandbox.During: false, sandbox.After: true} {
		for what, fault := range map[string]sandbox.Fault{
			"a broken connection": {Stage: stage, Drop: true},
			"a gateway's error":   {Stage: stage, Status: http.StatusBadGateway},
		} {
			if stage == sandbox.During && fault.Status != 0 {
				continue // such a response is kept: see TestServerErrorThatIsKept
			}
			// Go's transport may also retry. It recognises the idempotency key, and retries only on a reused
			// connection.
			pair := newPair(t)
			made := pair.confirmed("c", goodCard)
			fault.Path, fault.Times = "/v1/payment_intents/*/capture", -1
			injected := pair.double.Inject(fault)
			if _, err := pair.Capture(t.Context(), "k", made.ID, 4990); err == nil || isOutcome(err) {
				t.Errorf("%s %s: %v", what, stage, err)
			}
			if hits := injected.Hits(); hits < 1 || fault.Status != 0 && hits > 1 {
				t.Errorf("%s %s: sent %d times", what, stage, hits)
			}
			if taken := pair.ledger(made.ID).Captured == 4990; taken != takenAtOnce {
				t.Errorf("%s %s: taken %v", what, stage, taken)
			}
			pair.double.ClearFaults()
			held, err := pair.Capture(t.Context(), "k", made.ID, 4990)
			if err != nil || held.State != cards.Captured {
				t.Errorf("%s %s, asked again: %+v, %v", what, stage, held, err)
			}
		}
	}
}

// TestServerErrorThatIsKept: the processor stores even a server error under the key, so the second call shows that the
// key is used up. A day later the key is new again.
func TestServerErrorThatIsKept(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	held, other, taken := pair.confirmed("held", goodCard), pair.confirmed("other", goodCard), pair.captured("taken")
	for path, call := range map[string]func(key string) (cards.Payment, error){
		"/v1/payment_intents": func(key string) (cards.Payment, error) {
			return pair.Create(t.Context(), key, cards.NewPayment{Amount: 4990, Currency: "EUR"})
		},
		"/v1/payment_intents/*": func(key string) (cards.Payment, error) {
			return pair.UpdateMetadata(t.Context(), key, held.ID, map[string]string{"k": "v"})
		},
		"/v1/payment_intents/*/capture": func(key string) (cards.Payment, error) { return pair.Capture(t.Context(), key, other.ID, 4990) },
		"/v1/payment_intents/*/cancel":  func(key string) (cards.Payment, error) { return pair.Cancel(t.Context(), key, held.ID) },
		"/v1/refunds":                   func(key string) (cards.Payment, error) { return pair.Refund(t.Context(), key, taken.ID, 4990) },
	} {
		pair.double.Inject(sandbox.Fault{Method: http.MethodPost, Path: path, Stage: sandbox.During, Status: http.StatusInternalServerError})
		if _, err := call(path); err == nil || isOutcome(err) || errors.Is(err, cards.ErrKeyUsedUp) {
			t.Errorf("%s: the server error itself: %v", path, err)
		}
		for range 2 {
			if _, err := call(path); !errors.Is(err, cards.ErrKeyUsedUp) {
				t.Errorf("%s: the stored one: %v", path, err)
			}
		}
		if _, err := call(path + " again"); err != nil {
			t.Errorf("%s: with the next key: %v", path, err)
		}
	}
	pair.clock.advance(24 * time.Hour)
	if _, err := pair.UpdateMetadata(t.Context(), "/v1/payment_intents/*", held.ID, map[string]string{"k": "v"}); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// TestKeyInUse: the same call is in progress, as of a gateway to which the buyer's other tab leads. The second one waits
// for its response.
func TestKeyInUse(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	hold := make(chan struct{})
	fault := pair.double.Inject(holdCapture(hold))
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := pair.Capture(t.Context(), "k", made.ID, 4990); err != nil {
			t.Errorf("the first call: %v", err)
		}
	})
	frontdesktest.Receive(t, fault.Reached(), "the first call is held")
	conflicts := 0
	second := pair.through(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && response.StatusCode == http.StatusConflict {
			conflicts++
			if conflicts == 2 {
				close(hold)
			}
		}
		return response, err
	})
	held, err := second.Capture(t.Context(), "k", made.ID, 4990)
	if err != nil || held.State != cards.Captured || !held.Replayed || conflicts < 2 {
		t.Errorf("the second call, after %d conflicts: %+v, %v", conflicts, held, err)
	}
	first.Wait()
	if held := pair.ledger(made.ID); held.Captured != 4990 { // once
		t.Errorf("the processor has %+v", held)
	}
}

// TestConflicts: a call that meets another one is repeated with its key, as often as its time allows. Every other
// error is the caller's to decide about.
func TestConflicts(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	for name, test := range map[string]struct {
		fault    sandbox.Fault
		repeated bool
		usedUp   bool // should the processor store it under the key, repeating the call is useless for a day
	}{
		"key in use": {fault: sandbox.Fault{Status: 409, Type: "idempotency_error", Code: "idempotency_key_in_use"}, repeated: true},
		"key in use, other type": {
			fault: sandbox.Fault{Status: 409, Type: "invalid_request_error", Code: "idempotency_key_in_use"}, repeated: true,
		},
		"key in use, stored": {fault: sandbox.Fault{Status: 409, Stage: sandbox.During, Code: "idempotency_key_in_use"}, usedUp: true},
		"locked":             {fault: sandbox.Fault{Status: 429, Type: "invalid_request_error", Code: "lock_timeout"}, repeated: true},
		"locked, stored":     {fault: sandbox.Fault{Status: 429, Stage: sandbox.During, Code: "lock_timeout"}, usedUp: true},
		"rate limit":         {fault: sandbox.Fault{Status: 429, Type: "invalid_request_error", Code: "rate_limit"}},
		"locked, of no 429":  {fault: sandbox.Fault{Status: 400, Type: "invalid_request_error", Code: "lock_timeout"}},
		"server error":       {fault: sandbox.Fault{Status: 500, Type: "api_error"}},
		"unavailable":        {fault: sandbox.Fault{Status: 503, Type: "api_error"}},
	} {
		made := pair.created("create " + name)
		test.fault.Method, test.fault.Path, test.fault.Times = http.MethodPost, "/v1/payment_intents/"+made.ID, 3
		fault := pair.double.Inject(test.fault)
		held, err := pair.UpdateMetadata(t.Context(), "claim "+name, made.ID, map[string]string{"fd_post_1": "mine"})
		done := err == nil && held.Metadata["fd_post_1"] == "mine" && !held.Replayed
		calls := 1
		if test.repeated {
			calls = 3
		}
		if done != test.repeated || errors.Is(err, cards.ErrKeyUsedUp) != test.usedUp || fault.Hits() != calls {
			t.Errorf("%s: %+v, %v after %d faults", name, held, err, fault.Hits())
		}
		pair.double.ClearFaults()
		if _, err := pair.UpdateMetadata(t.Context(), "claim "+name+":2", made.ID, map[string]string{"fd_post_1": "mine"}); err != nil {
			t.Errorf("%s, with another key: %v", name, err)
		}
	}
	made := pair.confirmed("unending", goodCard)
	unending := pair.double.Inject(sandbox.Fault{Times: -1, Status: http.StatusConflict, Type: "idempotency_error"})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-unending.Reached(); cancel() }()
	if _, err := pair.Capture(ctx, "capture", made.ID, 4990); err == nil || isOutcome(err) {
		t.Errorf("a conflict that outlasts the call: %v", err)
	}
}

// TestConflictPauses: a call that waits for another one at a slow bank leaves the account's rate limit to others.
func TestConflictPauses(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	made := pair.confirmed("c", goodCard)
	conflict := pair.double.Inject(sandbox.Fault{Times: -1, Status: http.StatusConflict, Type: "idempotency_error"})
	var first, waited time.Duration
	ctx, cancel := context.WithCancel(t.Context())
	after := func(pause time.Duration) <-chan time.Time {
		first = cmp.Or(first, pause)
		waited += pause
		if waited > cards.CaptureTimeout {
			cancel()
		}
		return time.After(0)
	}
	client := newClient(t, cards.Config{SecretKey: pair.double.SecretKey, URL: pair.double.URL, After: after})
	_, err := client.Capture(ctx, "k", made.ID, 4990)
	if calls := conflict.Hits(); err == nil || isOutcome(err) || first > 100*time.Millisecond || calls > 40 {
		t.Errorf("%d calls within %s, the second one after %s: %v", calls, waited, first, err)
	}
}

func TestVerbsInTheWrongState(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	ctx := t.Context()
	fresh, held, taken, gone := pair.created("1"), pair.confirmed("2", goodCard), pair.captured("3"), pair.created("4")
	if _, err := pair.Cancel(ctx, "gone", gone.ID); err != nil {
		t.Fatal(err)
	}
	capture := func(id string) error { _, err := pair.Capture(ctx, "capture "+id, id, 4990); return err }
	cancel := func(id string) error { _, err := pair.Cancel(ctx, "cancel "+id, id); return err }
	refund := func(id string) error { _, err := pair.Refund(ctx, "refund "+id, id, 4990); return err }
	again := func(id string) error { _, err := pair.Capture(ctx, "again", id, 4990); return err }
	for name, err := range map[string]error{
		"capturing a new one": capture(fresh.ID), "capturing twice": again(taken.ID), "capturing a cancelled one": capture(gone.ID),
		"cancelling a captured one": cancel(taken.ID), "cancelling twice": cancel(gone.ID),
		"refunding a new one": refund(fresh.ID), "refunding a reserved one": refund(held.ID), "refunding a cancelled one": refund(gone.ID),
	} {
		if !errors.Is(err, cards.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
