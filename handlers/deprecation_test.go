package handlers_test

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
)

// TestDeprecation: responses announce what a later contract deprecates, and only that. The edge does not start
// if a deprecation has no date.
func TestDeprecation(t *testing.T) {
	t.Parallel()
	const operation, parameter = "      operationId: getContract\n", "        - name: type\n          in: query\n"
	contract := strings.NewReplacer(
		operation, operation+"      deprecated: true\n      x-deprecated: \"2030-01-15\"\n      x-sunset: \"2031-01-15\"\n",
		parameter, parameter+"          deprecated: true\n          x-deprecated: \"2030-02-01\"\n",
	).Replace(string(frontdesktest.Contract(t)))
	server, err := handlers.New(handlers.Config{
		Contract: []byte(contract),
		Site:     os.DirFS(filepath.Join(frontdesktest.Root(), "web-example")),
		Cards:    frontdesktest.ProcessorClient("http://127.0.0.1:1"), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/openapi.yaml":                          "@1894665600 Wed, 15 Jan 2031 00:00:00 GMT",
		"/openapi.json":                          " ",
		"/v1/clubs/11/products?type=nonsense":    "@1896134400 ",
		"/v1/clubs/11/products?channel=nonsense": " ",
	} {
		response := httptest.NewRecorder()
		server.ServeHTTP(response, httptest.NewRequest("GET", path, nil))
		if got := response.Header().Get("Deprecation") + " " + response.Header().Get("Sunset"); got != want {
			t.Errorf("%s (%d) announces %q, want %q", path, response.Code, got, want)
		}
	}
	undated := strings.Replace(contract, "      x-deprecated: \"2030-01-15\"\n", "", 1)
	_, err = handlers.New(handlers.Config{Contract: []byte(undated)})
	if err == nil || !strings.Contains(err.Error(), "getContract is deprecated") {
		t.Errorf("without a day the edge says %v", err)
	}
}
