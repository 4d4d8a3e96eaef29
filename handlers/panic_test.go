package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/redact"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/upstream/captcha"
)

// TestPanic: a handler that panics gets a problem like any other failure. The log has the location, and
// neither has the panic's value.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	edge, err := handlers.New(handlers.Config{
		Contract: frontdesktest.Contract(t),
		Site:     os.DirFS(filepath.Join(frontdesktest.Root(), "web-example")),
		Ready:    func(context.Context) []flows.Check { panic(`unexpected "zqada@example.com"`) },
		Cards:    frontdesktest.ProcessorClient("http://127.0.0.1:1"),
		Now:      time.Now,
		Log:      slog.New(redact.New(slog.NewJSONHandler(&log, nil))),
	})
	if err != nil {
		t.Fatal(err)
	}
	response := httptest.NewRecorder()
	edge.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	var problem api.Problem
	err = json.Unmarshal(response.Body.Bytes(), &problem)
	if err != nil || response.Code != http.StatusInternalServerError || problem.Code != api.Internal || problem.TraceId == nil {
		t.Errorf("answered with %d %s", response.Code, response.Body)
	}
	if said := log.String(); !strings.Contains(said, "handler panicked") || !strings.Contains(said, "panic_test.go") ||
		!strings.Contains(said, "/readyz") {
		t.Errorf("the log has %s", said)
	}
	if strings.Contains(log.String()+response.Body.String(), "zqada") {
		t.Errorf("the panic's value leaked: %s %s", log.String(), response.Body)
	}
}

// newBareEdge returns a server without the services, so that its handlers panic. Its store has a Redis of its own.
func newBareEdge(t *testing.T, verifier *captcha.Verifier) *handlers.Server {
	t.Helper()
	redis, err := store.Connect(frontdesktest.NewRedis(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { redis.Close() })
	keys, err := keyring.New([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	edge, err := handlers.New(handlers.Config{
		Contract:  frontdesktest.Contract(t),
		Catalogue: catalogue.New(catalogue.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}),
		Site:      os.DirFS(filepath.Join(frontdesktest.Root(), "web-example")),
		Store:     store.New(store.Config{Redis: redis, Keys: keys}),
		Cards:     frontdesktest.ProcessorClient("http://127.0.0.1:1"),
		Captcha:   verifier,
		Now:       time.Now,
		Log:       slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return edge
}

// expectPanicAnswered sends the same request with a key twice. Both are executed, and get a problem.
func expectPanicAnswered(t *testing.T, edge *handlers.Server) {
	t.Helper()
	for range 2 {
		request := httptest.NewRequest(http.MethodPost, "/v1/registrations", strings.NewReader(`{"clubId":"11"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "5f0c8f5e-6a0b-4f0e-9b43-1c5d7e2a9f10")
		request.Header.Set("X-Frontdesk-Challenge", "solved")
		response := httptest.NewRecorder()
		edge.ServeHTTP(response, request)
		var problem api.Problem
		err := json.Unmarshal(response.Body.Bytes(), &problem)
		if err != nil || response.Code != http.StatusInternalServerError || problem.Code != api.Internal {
			t.Errorf("answered with %d %q", response.Code, response.Body)
		}
	}
}

// TestPanicWithKey: a request with an Idempotency-Key whose handler panics also gets a problem, and can be
// repeated.
func TestPanicWithKey(t *testing.T) {
	t.Parallel()
	expectPanicAnswered(t, newBareEdge(t, nil))
}

// TestTimeoutWithKey: a request with an Idempotency-Key that ran out of time can be repeated at once.
func TestTimeoutWithKey(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.PostFormValue("response")
		if asked.Add(1) == 1 {
			<-r.Context().Done() // until the gateway has given up
		}
		fmt.Fprint(w, `{"success":true}`)
	}))
	t.Cleanup(service.Close)
	edge := newBareEdge(t, captcha.New(captcha.Config{URL: service.URL, Secret: "the secret"}))
	edge.SetKeyedTimeout(time.Second)
	expectPanicAnswered(t, edge)
	if n := asked.Load(); n != 2 {
		t.Errorf("%d captchas were verified", n)
	}
}
