package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/redact"
	"frontdesk/handlers"
	"frontdesk/upstream/cards/sandbox"
)

// TestPanic: a handler that breaks down is answered for like any other failure, and
// where it was stands in the one log, without what it held.
func TestPanic(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	edge, err := handlers.New(handlers.Config{
		Contract: contract, Site: os.DirFS(filepath.Join(frontdesktest.Root(), "web-example")),
		Ready: func(context.Context) []flows.Check { panic(`unexpected "zqada@example.com"`) },
		Cards: sandbox.New(sandbox.Config{URL: "http://127.0.0.1:1", Now: time.Now}),
		Now:   time.Now, Log: slog.New(redact.New(slog.NewJSONHandler(&log, nil))),
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	edge.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	var problem api.Problem
	if err := json.Unmarshal(answer.Body.Bytes(), &problem); err != nil || answer.Code != http.StatusInternalServerError || problem.Code != api.Internal || problem.TraceId == nil {
		t.Errorf("answered with %d %s", answer.Code, answer.Body)
	}
	if said := log.String(); !strings.Contains(said, "a handler panicked") || !strings.Contains(said, "panic_test.go") || !strings.Contains(said, "/readyz") {
		t.Errorf("the log has %s", said)
	}
	if strings.Contains(log.String()+answer.Body.String(), "zqada") {
		t.Errorf("the panic's value leaked: %s %s", log.String(), answer.Body)
	}
}
