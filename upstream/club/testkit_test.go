package club_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

// demo is the scope of the tests that need no simulator.
var demo = club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}

// payment is a payment as the tests without a simulator send it.
var payment = club.NewPayment{
	Contact:    "/demo/contacts/7",
	FamilyName: "Testeur",
	GivenName:  "Ada",
	Number:     "C7",
	Amount:     4990,
	Mean:       club.MeanCBWeb,
	Club:       "/demo/clubs/11",
	ClubCode:   "PARIS11",
	Checkout:   "/demo/checkouts/1",
}

const sale = club.IRI("/demo/sales/1")

// configured returns a configuration for a club system at an address.
func configured(baseURL string) club.Config {
	return club.Config{
		BaseURL:      baseURL,
		ClientID:     "id",
		ClientSecret: "secret",
		GatewayKey:   "key",
		Now:          time.Now,
	}
}

// tokenJSON is the usual response to a token request.
const tokenJSON = `{"access_token": "tok-1", "token_type": "Bearer", "expires_in": 3600}`

// recordingServer is a small club system whose business responses the test supplies.
type recordingServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request // business requests, in order
	bodies   []string
}

// serve starts a club system that issues tokens and passes all other requests to handle.
func serve(t *testing.T, handle http.HandlerFunc) *recordingServer {
	t.Helper()
	u := &recordingServer{}
	u.Server = httptest.NewServer(u.with(handle))
	t.Cleanup(u.Close)
	return u
}

func (u *recordingServer) with(handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/v2/token" {
			io.WriteString(w, tokenJSON)
			return
		}
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.requests, u.bodies = append(u.requests, r), append(u.bodies, string(body))
		u.mu.Unlock()
		handle(w, r)
	})
}

// seen returns the business requests so far.
func (u *recordingServer) seen() []*http.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.requests
}

// answering returns a handler that always gives the same response.
func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// elsewhere returns a transport that sends every request to one server, whatever its address: it serves tokens
// while the payment goes to a broken address.
func elsewhere(server *httptest.Server) http.RoundTripper {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, server.Listener.Addr().String())
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial}
}

// authorise fetches the token in advance, so that it does not use up a short limit of the next call.
func authorise(t *testing.T, c *club.Client) {
	t.Helper()
	eventually(t, func() bool { return c.Authorise(t.Context(), demo.ClientToken) == nil })
}

// asError returns the *Error in err, and fails the test without one.
func asError(t *testing.T, err error) *club.Error {
	t.Helper()
	var e *club.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *club.Error", err)
	}
	return e
}

// wantOutcome fails the test unless err has this outcome.
func wantOutcome(t *testing.T, err error, want club.Outcome) {
	t.Helper()
	if got := club.OutcomeOf(err); got != want {
		t.Fatalf("outcome %s (%v), want %s", got, err, want)
	}
}

// must returns a value and fails the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
