package oldsandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

// everyCall returns each call of the client that reaches the server.
func everyCall() map[string]verb {
	calls := verbs()
	calls["create"] = func(ctx context.Context, c *oldsandbox.Client, key, _ string) (cards.Payment, error) {
		return c.Create(ctx, key, cards.NewPayment{Amount: 4990, Currency: "EUR"})
	}
	calls["get"] = func(ctx context.Context, c *oldsandbox.Client, _, id string) (cards.Payment, error) {
		return c.Get(ctx, id)
	}
	calls["list"] = func(ctx context.Context, c *oldsandbox.Client, _, _ string) (cards.Payment, error) {
		_, err := c.List(ctx, time.Time{}, "")
		return cards.Payment{}, err
	}
	return calls
}

// listed reads a whole list.
func listed(ctx context.Context, p cards.Processor, since time.Time) (all []cards.Payment, err error) {
	for each, err := range cards.All(ctx, p, since) {
		if err != nil {
			return all, err
		}
		all = append(all, each)
	}
	return all, nil
}

func TestUnknownPayment(t *testing.T) {
	b := newTestEnv(t)
	for name, call := range everyCall() {
		if name == "create" || name == "list" {
			continue
		}
		for _, id := range []string{"pay_none", "", "../settings", "a b?c#d"} {
			_, err := call(t.Context(), b.client, b.key(), id)
			wantErr(t, fmt.Sprintf("%s of %q", name, id), err, cards.ErrNotFound)
		}
	}
}

// otherKey replaces the secret key of every request.
type otherKey struct{}

func (otherKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer sk_other")
	return http.DefaultTransport.RoundTrip(r)
}

func TestWrongSecretKey(t *testing.T) {
	b := newTestEnv(t)
	wrong := oldsandbox.New(oldsandbox.Config{URL: b.url, Now: b.clock.Now, HTTPClient: &http.Client{Transport: otherKey{}}})
	for name, call := range everyCall() {
		if name == "get" || name == "list" {
			continue
		}
		_, err := call(t.Context(), wrong, b.key(), "pay_none")
		wantErr(t, name, err, cards.ErrRefused)
	}
	right := oldsandbox.New(oldsandbox.Config{URL: b.url + "/", Now: b.clock.Now})
	if _, err := right.Create(t.Context(), b.key(), cards.NewPayment{Amount: 100, Currency: "EUR"}); err != nil {
		t.Errorf("the right key: %v", err)
	}
}

// A wrong address is not a missing payment.
func TestWrongAddress(t *testing.T) {
	b := newTestEnv(t)
	p := b.create()
	astray := oldsandbox.New(oldsandbox.Config{URL: b.url + "/v2", Now: b.clock.Now})
	_, err := astray.Get(t.Context(), p.ID)
	wantErr(t, "a path that is not there", err, cards.ErrRefused)
	if errors.Is(err, cards.ErrNotFound) {
		t.Errorf("it says that the payment does not exist: %v", err)
	}
}

func TestList(t *testing.T) {
	b := newTestEnv(t)
	if all, err := listed(t.Context(), b.client, time.Time{}); err != nil || len(all) != 0 {
		t.Errorf("empty: %v, %v", all, err)
	}
	const many = 1201 // three pages
	for range many {
		b.create()
	}
	b.clock.advance(time.Nanosecond)
	last := b.in("captured")
	all, err := listed(t.Context(), b.client, time.Time{})
	if err != nil || len(all) != many+1 || all[0].ID != last.ID || all[0].Captured != 4990 {
		t.Errorf("all: %d, %v", len(all), err)
	}
	seen := map[string]bool{}
	for _, p := range all {
		seen[p.ID] = true
	}
	if len(seen) != many+1 {
		t.Errorf("%d different payments of %d", len(seen), many+1)
	}
	recent, err := listed(t.Context(), b.client, b.clock.Now())
	if err != nil || len(recent) != 1 || recent[0].ID != last.ID {
		t.Errorf("since the last: %v, %v", recent, err)
	}
}

// A response that does not come from the sandbox proves nothing, least of all that a payment does not exist.
func TestForeignAnswersProveNothing(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"a proxy's 404":       answerWith(404, "<html>404 page not found</html>"),
		"a proxy's 502":       answerWith(502, "Bad Gateway"),
		"an error with a 500": answerWith(500, `{"error":{"type":"invalid_request","code":"x","message":"y"}}`),
		"a 400 without error": answerWith(400, `{}`),
		"an unknown error":    answerWith(409, `{"error":{"type":"lock_timeout","code":"x","message":"y"}}`),
		"too many":            answerWith(429, `{"error":{"type":"rate_limit","code":"x","message":"y"}}`),
		"no JSON":             answerWith(200, "<html>Welcome</html>"),
		"half an answer":      answerWith(200, `{"id":"pay_1","sta`),
		"an empty answer":     answerWith(204, ""),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"a broken connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for what, answer := range answers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Errorf("%s was followed, with %q", what, r.Header.Get("Authorization"))
			}
			answer(w, r)
		}))
		client := oldsandbox.New(oldsandbox.Config{URL: server.URL, Now: time.Now})
		for name, call := range everyCall() {
			_, err := call(t.Context(), client, "key", "pay_1")
			wantUnknown(t, what+" to "+name, err)
		}
		server.Close()
	}
}

// TestFirstRequestIsWaitedFor: a request with the key of one in progress gets the response of the first.
func TestFirstRequestIsWaitedFor(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			answerWith(409, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use","message":"y"}}`)(w, r)
			return
		}
		answerWith(200, `{"id":"pay_1","state":"captured","amount":4990}`)(w, r)
	}))
	defer server.Close()
	client := oldsandbox.New(oldsandbox.Config{URL: server.URL, Now: time.Now})
	if held, err := client.Capture(t.Context(), "key", "pay_1", 4990); err != nil || held.ID != "pay_1" || asked != 2 {
		t.Errorf("%+v, %v after %d requests", held, err, asked)
	}
}

func TestAnswersAboutAnotherPayment(t *testing.T) {
	for what, body := range map[string]string{
		"another payment": `{"id":"pay_2","state":"captured","amount":4990}`,
		"no payment":      `{"ok":true}`,
	} {
		server := httptest.NewServer(answerWith(200, body))
		client := oldsandbox.New(oldsandbox.Config{URL: server.URL, Now: time.Now})
		for name, call := range verbs() {
			p, err := call(t.Context(), client, "key", "pay_1")
			wantUnknown(t, what+" to "+name, err)
			if p.ID != "" {
				t.Errorf("%s to %s was believed: %+v", what, name, p)
			}
		}
		server.Close()
	}
}

func answerWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// A call to a processor that hangs ends after 10 s, a capture after 25 s; then the outcome is unknown.
func TestTimeouts(t *testing.T) {
	for name, call := range everyCall() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &network{hosts: map[string]*host{}}
				net.serve(t, "hangs.test", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}))
				client := oldsandbox.New(oldsandbox.Config{URL: "http://hangs.test", Now: time.Now, HTTPClient: net.client(t)})
				want := 10 * time.Second
				if name == "capture" {
					want = 25 * time.Second
				}
				start := time.Now()
				_, err := call(context.Background(), client, "key", "pay_1")
				if took := time.Since(start); took != want || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("took %s, want %s: %v", took, want, err)
				}
				wantUnknown(t, name, err)
			})
		})
	}
}

func TestCallerCanGiveUp(t *testing.T) {
	b := newTestEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.client.Get(ctx, "pay_1")
	wantErr(t, "a cancelled context", err, context.Canceled)
	wantUnknown(t, "a cancelled context", err)
}
