package club_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

const saleJSON = `{"@id": "/demo/sales/1", "totalTI": 4990, "state": "building", "articles": []}`

// failing answers the first n requests with fail and the rest with a sale.
func failing(n int64, fail http.HandlerFunc) http.HandlerFunc {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1) <= n {
			fail(w, r)
			return
		}
		io.WriteString(w, saleJSON)
	}
}

// cut closes the connection without a response.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// cutInBody closes the connection in the middle of a response.
func cutInBody(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "500")
	io.WriteString(w, `{"@id": "/demo/`)
	panic(http.ErrAbortHandler)
}

// TestRepetition: two failures of each kind before a success show what a read survives and a write does not
// retry.
func TestRepetition(t *testing.T) {
	tests := map[string]struct {
		fail     http.HandlerFunc
		repeated bool         // for a read; a write that was sent is never repeated
		outcome  club.Outcome // of a single attempt
	}{
		"500":           {answering(500, ""), true, club.Unknown},
		"502":           {answering(502, ""), true, club.Unknown},
		"503":           {answering(503, ""), true, club.Unknown},
		"504":           {answering(504, ""), true, club.Unknown},
		"408":           {answering(408, ""), true, club.Unknown},
		"429":           {answering(429, ""), true, club.Unknown},
		"cut":           {cut, true, club.Unknown},
		"cut in body":   {cutInBody, true, club.Unknown},
		"malformed":     {answering(200, "<html>"), true, club.Unknown},
		"empty":         {answering(200, ""), true, club.Unknown},
		"without IRI":   {answering(200, "{}"), true, club.Unknown},
		"501":           {answering(501, ""), false, club.Unknown},
		"redirect":      {answering(307, ""), false, club.Unknown},
		"conflict":      {answering(409, ""), false, club.Unknown},
		"not found":     {answering(404, ""), false, club.Rejected},
		"bad request":   {answering(400, ""), false, club.Rejected},
		"wrong request": {answering(422, ""), false, club.Rejected},
		"forbidden":     {answering(403, ""), false, club.Rejected},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := serve(t, failing(2, tt.fail))
			_, err := club.New(configured(reads.URL)).GetSale(t.Context(), demo, sale)
			if tt.repeated && (err != nil || len(reads.seen()) != 3) {
				t.Errorf("read: %v after %d requests, want a success after 3", err, len(reads.seen()))
			}
			if !tt.repeated && (club.OutcomeOf(err) != tt.outcome || len(reads.seen()) != 1) {
				t.Errorf("read: %v after %d requests, want %s after one", err, len(reads.seen()), tt.outcome)
			}
			writes := serve(t, failing(1, tt.fail))
			_, err = club.New(configured(writes.URL)).CreateSale(t.Context(), demo, club.NewSale{})
			if club.OutcomeOf(err) != tt.outcome || len(writes.seen()) != 1 {
				t.Errorf("write: %v after %d requests, want %s after one", err, len(writes.seen()), tt.outcome)
			}
		})
	}
}

// TestLastFailureIsReported: after three attempts, the third one's failure is returned.
func TestLastFailureIsReported(t *testing.T) {
	t.Parallel()
	u := serve(t, failing(2, answering(500, "")))
	u.Config.Handler = u.with(failing(99, answering(503, `{"code": "api.error.maintenance"}`)))
	_, err := club.New(configured(u.URL)).GetSale(t.Context(), demo, sale)
	if e := asError(t, err); e.Status != 503 || e.Code != "api.error.maintenance" || len(u.seen()) != 3 {
		t.Errorf("%v after %d requests, want status 503 after 3", e, len(u.seen()))
	}
}

// dialling is a transport that opens a connection for each request, or fails to.
func dialling(fails func(dial int64) bool) http.RoundTripper {
	var count atomic.Int64
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if fails(count.Add(1)) {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
}

// TestWriteIsRepeatedWhenNotSent: without a connection nothing was sent, so the write may be retried.
func TestWriteIsRepeatedWhenNotSent(t *testing.T) {
	tests := map[string]struct {
		fails func(dial int64) bool
		want  club.Outcome
	}{
		"twice, for the token":  {func(n int64) bool { return n <= 2 }, club.Accepted},
		"twice, for the sale":   {func(n int64) bool { return n == 2 || n == 3 }, club.Accepted},
		"always, for the token": {func(int64) bool { return true }, club.NotSent},
		"always, for the sale":  {func(n int64) bool { return n > 1 }, club.NotSent},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := serve(t, answering(201, saleJSON))
			cfg := configured(u.URL)
			cfg.Transport = dialling(tt.fails)
			_, err := club.New(cfg).CreateSale(t.Context(), demo, club.NewSale{})
			wantOutcome(t, err, tt.want)
			if got := len(u.seen()); got != map[club.Outcome]int{club.Accepted: 1}[tt.want] {
				t.Errorf("%d sales opened", got)
			}
		})
	}
}

// TestStaleConnection: Go's transport does not silently retry a write over a kept connection that the server
// has closed.
func TestStaleConnection(t *testing.T) {
	upstream := serve(t, failing(0, nil))
	c := club.New(configured(upstream.URL))
	must[club.Sale](t)(c.GetSale(t.Context(), demo, sale))
	upstream.Config.Handler = upstream.with(cut) // accepts the request over the kept connection, then cuts it
	_, err := c.CreateSale(t.Context(), demo, club.NewSale{})
	wantOutcome(t, err, club.Unknown)
	if n := len(upstream.seen()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// silentTransport does not report what it does.
type silentTransport struct{}

func (silentTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, io.ErrUnexpectedEOF
}

// TestTransportWithoutReport: if a transport does not report whether anything was sent, something may have been sent.
func TestTransportWithoutReport(t *testing.T) {
	t.Parallel()
	cfg := configured("http://club.invalid")
	cfg.Transport = silentTransport{}
	_, err := club.New(cfg).GetSale(t.Context(), demo, sale)
	if inner := asError(t, asError(t, err).Err); inner.Operation != "Token" || inner.Outcome != club.Unknown {
		t.Errorf("token: %v, want unknown", inner)
	}
}

// TestTooMany: the client waits as long as the club system asks, unless that exceeds its time limit. Then the
// error says how long to wait.
func TestTooMany(t *testing.T) {
	t.Parallel()
	tooMany := func(after string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
	upstream := serve(t, failing(1, tooMany("1")))
	c := club.New(configured(upstream.URL))
	start := time.Now()
	must[club.Sale](t)(c.GetSale(t.Context(), demo, sale))
	if took := time.Since(start); took < time.Second {
		t.Errorf("asked again after %s, want 1s", took)
	}
	for after, want := range map[string]time.Duration{"60": time.Minute, "-5": 0, "soon": 0, "99999999999": 0} {
		u := serve(t, failing(99, tooMany(after)))
		_, err := club.New(configured(u.URL)).CreateSale(t.Context(), demo, club.NewSale{})
		if got := asError(t, err).RetryAfter; got != want || len(u.seen()) != 1 {
			t.Errorf("Retry-After %s: %s after %d requests, want %s after one", after, got, len(u.seen()), want)
		}
	}
	upstream = serve(t, failing(1, tooMany("60")))
	_, err := club.New(configured(upstream.URL)).GetSale(t.Context(), demo, sale)
	if e := asError(t, err); e.RetryAfter != time.Minute || len(upstream.seen()) != 1 {
		t.Errorf("%v after %d requests, want an answer at once", e, len(upstream.seen()))
	}
}

// TestTooManyUntil sends the header as a date.
func TestTooManyUntil(t *testing.T) {
	now := newClock()
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", now.Now().Add(90*time.Second).Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
	})
	cfg := configured(u.URL)
	cfg.Now = now.Now
	_, err := club.New(cfg).GetSale(t.Context(), demo, sale)
	if got := asError(t, err).RetryAfter; got != 90*time.Second {
		t.Errorf("RetryAfter %s, want 1m30s", got)
	}
}

// TestHang: an attempt that hangs leaves time for another one. If all of them hang, a read ends when its time
// is up, and a write after one attempt. A second is enough for an attempt that does not hang, even on a busy
// machine; a slower one is retried.
func TestHang(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	upstream := serve(t, failing(1, hang))
	cfg := configured(upstream.URL)
	cfg.Limits.MaxAttempts, cfg.Limits.AttemptTimeout, cfg.Limits.ReadTimeout = 10, time.Second, time.Minute
	must[club.Sale](t)(club.New(cfg).GetSale(t.Context(), demo, sale))

	upstream = serve(t, hang)
	cfg.BaseURL, cfg.Limits.ReadTimeout, cfg.Limits.WriteTimeout = upstream.URL, 2*time.Second, 3*time.Second
	c := club.New(cfg)
	authorise(t, c)
	_, err := c.GetSale(t.Context(), demo, sale)
	wantOutcome(t, err, club.Unknown)
	_, err = c.CreateSale(t.Context(), demo, club.NewSale{})
	wantOutcome(t, err, club.Unknown)
}

// TestCallerLeaves: an attempt ends when its caller leaves, and is not retried.
func TestCallerLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	upstream := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := club.New(configured(upstream.URL)).GetSale(ctx, demo, sale)
	wantOutcome(t, err, club.Unknown)
	if len(upstream.seen()) != 1 {
		t.Errorf("%d requests, want one", len(upstream.seen()))
	}
}

// TestBudget: in the long run there is one retry per ten calls, plus the ten that a quiet lane has saved up.
func TestBudget(t *testing.T) {
	t.Parallel()
	upstream := serve(t, failing(1<<30, answering(503, "")))
	cfg := configured(upstream.URL)
	cfg.Limits.BreakerCalls = 1 << 20 // keeps the breaker closed
	c := club.New(cfg)
	const calls = 40
	for range calls {
		_, err := c.GetSale(t.Context(), demo, sale)
		wantOutcome(t, err, club.Unknown)
	}
	if got := len(upstream.seen()); got < calls+10 || got > calls+10+calls/10 {
		t.Errorf("%d requests for %d calls, want about %d", got, calls, calls+10+calls/10)
	}
}
