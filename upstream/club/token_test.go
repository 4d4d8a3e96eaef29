package club_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
)

// clock is a clock that a test sets.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	c.at.Store(&start)
	return c
}

func (c *clock) Now() time.Time { return *c.at.Load() }

func (c *clock) add(d time.Duration) {
	next := c.Now().Add(d)
	c.at.Store(&next)
}

// issuer is a club system that issues the tokens tok-1, tok-2 and so on, and accepts those that were not
// revoked.
type issuer struct {
	*recordingServer
	mu      sync.Mutex
	issued  int
	revoked map[string]bool
	expires any // expires_in; nil omits it
	asked   []*http.Request
}

func newIssuer(t *testing.T, expiresIn any) *issuer {
	t.Helper()
	tokens := &issuer{recordingServer: &recordingServer{}, revoked: map[string]bool{}, expires: expiresIn}
	business := tokens.with(tokens.business)
	tokens.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			tokens.issue(w, r)
			return
		}
		business.ServeHTTP(w, r)
	}))
	t.Cleanup(tokens.Close)
	return tokens
}

func (i *issuer) issue(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.issued++
	i.asked = append(i.asked, r)
	if i.expires == nil {
		fmt.Fprintf(w, `{"access_token": "tok-%d"}`, i.issued)
		return
	}
	fmt.Fprintf(w, `{"access_token": "tok-%d", "expires_in": %v, "scope": null, "refresh_token": "r"}`, i.issued, i.expires)
}

func (i *issuer) business(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	revoked := i.revoked[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	i.mu.Unlock()
	if revoked {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := "/demo/sales/1"
	if r.Method == http.MethodGet {
		id = r.URL.Path
	}
	io.WriteString(w, `{"@id": "`+id+`", "totalTI": 4990, "state": "building", "articles": []}`)
}

func (i *issuer) revoke(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked[token] = true
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.issued
}

// lastToken returns the token of the last business request.
func (i *issuer) lastToken() string {
	seen := i.seen()
	return strings.TrimPrefix(seen[len(seen)-1].Header.Get("Authorization"), "Bearer ")
}

func TestTokenRequest(t *testing.T) {
	issuer := newIssuer(t, 3600)
	cfg := configured(issuer.URL)
	cfg.TokenPath, cfg.GatewayKeyHeader = "/auth/token", "X-Api-Key"
	must[club.Sale](t)(club.New(cfg).GetSale(t.Context(), demo, sale))
	r := issuer.asked[0]
	if r.Method != "POST" || r.URL.Path != "/auth/token" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("token asked by %s %s, %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}
	if got := r.PostForm.Encode(); got != "client_id=id&client_secret=secret&grant_type=client_credentials" {
		t.Errorf("form %s", got)
	}
	if r.Header.Get("X-Api-Key") != "key" || issuer.seen()[0].Header.Get("X-Api-Key") != "key" {
		t.Error("gateway key missing")
	}
}

// TestTokenLifetime follows one client through the life of its tokens.
func TestTokenLifetime(t *testing.T) {
	tests := map[string]struct {
		expires     any
		due, expiry time.Duration // when it is replaced ahead of time, and when it stops being used
	}{
		"an hour":        {3600, 59 * time.Minute, time.Hour},
		"a short one":    {100, 90 * time.Second, 100 * time.Second},
		"as a string":    {`"3600"`, 59 * time.Minute, time.Hour},
		"absent":         {nil, 4*time.Minute + 30*time.Second, 5 * time.Minute},
		"null":           {"null", 4*time.Minute + 30*time.Second, 5 * time.Minute},
		"below zero":     {-1, 4*time.Minute + 30*time.Second, 5 * time.Minute},
		"for ever":       {1e30, 24*time.Hour - time.Minute, 24 * time.Hour},
		"a long decimal": {"3600.5", 59*time.Minute + time.Second, time.Hour + time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now, issuer := newClock(), newIssuer(t, tt.expires)
			cfg := configured(issuer.URL)
			cfg.Now = now.Now
			c := club.New(cfg)
			read := func() { must[club.Sale](t)(c.GetSale(t.Context(), demo, sale)) }
			read()
			now.add(tt.due - time.Second)
			read()
			if issuer.count() != 1 {
				t.Fatal("replaced too early")
			}
			now.add(time.Second)
			read() // uses the old token, and starts replacing it
			if got := issuer.lastToken(); got != "tok-1" {
				t.Errorf("the caller waited for %s", got)
			}
			eventually(t, func() bool { read(); return issuer.lastToken() == "tok-2" })
			if issuer.count() != 2 {
				t.Errorf("%d tokens fetched, want 2", issuer.count())
			}
			now.add(tt.expiry)
			read()
			if got := issuer.lastToken(); got != "tok-3" {
				t.Errorf("after its end: %s, want tok-3", got)
			}
		})
	}
}

// TestTokenOnceForAll: a hundred concurrent calls fetch one token.
func TestTokenOnceForAll(t *testing.T) {
	issuer := newIssuer(t, 3600)
	c := club.New(configured(issuer.URL))
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() {
			if _, err := c.GetSale(t.Context(), demo, sale); err != nil && !errors.Is(err, club.ErrBusy) {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if issuer.count() != 1 {
		t.Errorf("%d tokens, want one", issuer.count())
	}
}

// TestTokenAfter401: reads and writes are retried once with a new token; a request with the contact's own
// token never is.
func TestTokenAfter401(t *testing.T) {
	issuer := newIssuer(t, 3600)
	client := club.New(configured(issuer.URL))
	must[club.Sale](t)(client.GetSale(t.Context(), demo, sale))
	issuer.revoke("tok-1")
	must[club.Sale](t)(client.GetSale(t.Context(), demo, sale))
	issuer.revoke("tok-2")
	must[club.Sale](t)(client.CreateSale(t.Context(), demo, club.NewSale{}))
	if issuer.count() != 3 || len(issuer.seen()) != 5 {
		t.Fatalf("%d tokens and %d requests, want 3 and 5", issuer.count(), len(issuer.seen()))
	}
	issuer.revoke("tok-3")
	issuer.revoke("tok-4")
	_, err := client.GetSale(t.Context(), demo, sale)
	wantOutcome(t, err, club.Refused)
	if !errors.Is(err, club.ErrUnauthorized) || len(issuer.seen()) != 7 {
		t.Errorf("%v after %d requests, want ErrUnauthorized after 7", err, len(issuer.seen()))
	}
	issuer.revoke("the-contacts-own")
	err = client.MigrateContact(t.Context(), demo, "/demo/contacts/7", "the-contacts-own", club.Migration{})
	wantOutcome(t, err, club.Refused)
	if len(issuer.seen()) != 8 || issuer.lastToken() != "the-contacts-own" {
		t.Error("a request with the contact's own token was repeated or sent with another one")
	}
}

// TestForeignToken: a visitor's access token is put into a header only if it has the form of a token, and an
// empty one is never replaced by the client's own.
func TestForeignToken(t *testing.T) {
	issuer := newIssuer(t, 3600)
	c := club.New(configured(issuer.URL))
	for _, token := range []string{"", " ", "a b", "a\r\nX-User-Club-Id: /demo/clubs/1", "é"} {
		err := c.MigrateContact(t.Context(), demo, "/demo/contacts/7", token, club.Migration{})
		if !errors.Is(err, club.ErrBadToken) || club.OutcomeOf(err) != club.NotSent {
			t.Errorf("token %q: %v, want ErrBadToken", token, err)
		}
	}
	if len(issuer.seen()) != 0 {
		t.Error("something was sent")
	}
}

// TestTokenTrouble covers the failures of a token request and what callers see of them.
func TestTokenTrouble(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		tries  int64
	}{
		"bad credentials": {401, `{"error": "invalid_client"}`, 1},
		"bad request":     {400, `{"error": "invalid_request"}`, 1},
		"out of order":    {503, "", 3},
		"no token":        {200, `{"token_type": "Bearer"}`, 3},
		"no JSON":         {200, `<html>`, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				answering(tt.status, tt.body)(w, r)
			}))
			defer s.Close()
			_, err := club.New(configured(s.URL)).CreateSale(t.Context(), demo, club.NewSale{})
			wantOutcome(t, err, club.NotSent)
			if e := asError(t, err); e.Status != 0 || tries.Load() != tt.tries {
				t.Errorf("%v after %d token requests, want %d", e, tries.Load(), tt.tries)
			}
		})
	}
}

// TestTokenFailureIsShared: visitors who come within seconds share one refusal of the token endpoint, or the failure of all
// attempts of a call. A payment does not: it asks, and so does the next visitor after these seconds.
func TestTokenFailureIsShared(t *testing.T) {
	for name, tt := range map[string]struct {
		status   int
		attempts int64
	}{"refused": {401, 1}, "out of order": {503, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			var accepts atomic.Bool
			upstream := &recordingServer{}
			business := upstream.with(answering(200, `{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": []}`))
			upstream.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/token") {
					if asked.Add(1); !accepts.Load() {
						w.WriteHeader(tt.status)
						return
					}
				}
				business.ServeHTTP(w, r)
			}))
			t.Cleanup(upstream.Close)
			now, cfg := newClock(), configured(upstream.URL)
			cfg.Now = now.Now
			client := club.New(cfg)
			for range 20 { // visitors
				_, err := client.GetSale(t.Context(), demo, sale)
				wantOutcome(t, err, club.NotSent)
			}
			if n := asked.Load(); n != tt.attempts {
				t.Errorf("20 visitors made %d token requests, want %d", n, tt.attempts)
			}
			now.add(6 * time.Second)
			if _, err := client.GetSale(t.Context(), demo, sale); err == nil || asked.Load() != tt.attempts+1 {
				t.Errorf("seconds later: %v, after %d token requests", err, asked.Load())
			}
			accepts.Store(true)
			if _, err := client.CreatePayment(t.Context(), demo, sale, payment, nil); err != nil {
				t.Errorf("a payment gets a failure from before: %v", err)
			}
			must[club.Sale](t)(client.GetSale(t.Context(), demo, sale))
		})
	}
}

// TestTokenFailureOfAMoment: a token endpoint that fails once fails no visitor.
func TestTokenFailureOfAMoment(t *testing.T) {
	var asked atomic.Int64
	upstream := &recordingServer{}
	business := upstream.with(answering(200, `{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": []}`))
	upstream.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") && asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		business.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	must[club.Sale](t)(club.New(configured(upstream.URL)).GetSale(t.Context(), demo, sale))
}

// TestTokenFetchOutlivesItsCaller: the caller that started the fetch leaves, and the callers that wait for it
// are served.
func TestTokenFetchOutlivesItsCaller(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	upstream := &recordingServer{}
	business := upstream.with(answering(200, `{"@id": "/demo/sales/1", "totalTI": 1, "state": "building", "articles": []}`))
	upstream.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			close(asked) // a second request would panic here
			<-release
		}
		business.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	client := club.New(configured(upstream.URL))
	ctx, cancel := context.WithCancel(t.Context())
	var first, second error
	var calls sync.WaitGroup
	calls.Go(func() { _, first = client.GetSale(ctx, demo, sale) })
	frontdesktest.Receive(t, asked, "a token is asked for")
	calls.Go(func() { _, second = client.GetSale(t.Context(), demo, sale) })
	cancel()
	close(release)
	calls.Wait()
	if second != nil {
		t.Errorf("the one who stayed: %v", second)
	}
	if first != nil && !errors.Is(first, context.Canceled) {
		t.Errorf("the one who left: %v", first)
	}
}

// eventually repeats a check until it holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute) // the machine may be busy
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never came to hold")
		}
	}
}

// TestLateRejection: a late 401 for the old token does not discard the new one.
func TestLateRejection(t *testing.T) {
	waiting, late := make(chan struct{}), make(chan struct{})
	issuer := newIssuer(t, 3600)
	issuer.Config.Handler = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			old := r.Header.Get("Authorization") == "Bearer tok-1"
			if old && r.URL.Path == "/demo/sales/1" {
				close(waiting)
				<-late
			}
			if old {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}(issuer.Config.Handler)
	c := club.New(configured(issuer.URL))
	var slow error
	var calls sync.WaitGroup
	calls.Go(func() { _, slow = c.GetSale(t.Context(), demo, sale) })
	frontdesktest.Receive(t, waiting, "a call with the old token")
	_, quick := c.GetSale(t.Context(), demo, "/demo/sales/2")
	close(late)
	calls.Wait()
	if quick != nil || slow != nil || issuer.count() != 2 {
		t.Errorf("%v, %v, %d tokens, want 2", quick, slow, issuer.count())
	}
}
