package cards_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"frontdesk/upstream/cards"
)

// mockModule is the company's own mock: it checks requests only against the company's description of the API.
const mockModule = "github.com/stripe/stripe-mock@v0.203.0"

// mockBinary returns the installed mock, or builds it.
func mockBinary(t *testing.T) string {
	t.Helper()
	if installed, err := exec.LookPath("stripe-mock"); err == nil {
		return installed
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install", mockModule)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("this test needs stripe-mock; please install it with: go install %s\n%v\n%s", mockModule, err, out)
	}
	return filepath.Join(dir, "stripe-mock")
}

// startMock runs the mock on its own socket and returns a client for it.
func startMock(t *testing.T) *http.Client {
	t.Helper()
	binary := mockBinary(t)
	// The path of t.TempDir can exceed the maximum length of a socket's path.
	dir, err := os.MkdirTemp("", "mock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	mock := exec.Command(binary, "-http-unix", socket)
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mock.Wait(); close(ended) }()
	t.Cleanup(func() { mock.Process.Kill(); <-ended })
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for { // here, because a call has less time than the mock may need to start
		if conn, err := dial(t.Context(), "", ""); err == nil {
			conn.Close()
			return &http.Client{Transport: transport}
		}
		select {
		case <-again.C:
		case err := <-ended:
			t.Fatalf("the mock has ended: %v", err)
		}
	}
}

// TestShapes sends every call to the mock, which refuses unknown and missing parameters and wrong types. The states in its
// responses are meaningless.
func TestShapes(t *testing.T) {
	t.Parallel()
	mock := startMock(t)
	client := newClient(t, cards.Config{SecretKey: "sk_test_123", URL: "http://mock", HTTPClient: mock})
	ctx := t.Context()
	for verb, call := range callsOf(client) {
		if _, err := call(ctx, verb, "pi_1"); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	_, createErr := client.Create(ctx, "create", cards.NewPayment{Amount: 4990, Currency: "EUR", Metadata: map[string]string{"fd_sale": "s"}})
	_, listErr := client.List(ctx, time.Unix(1, 0), "")
	_, accountErr := client.Account(ctx)
	_, endpointsErr := client.WebhookEndpoints(ctx)
	if err := errors.Join(createErr, listErr, accountErr, endpointsErr); err != nil {
		t.Error(err)
	}
	misspelt := url.Values{"amount": {"1"}, "currency": {"eur"}, "captur_method": {"manual"}}
	resp, err := mock.PostForm("http://sk_test_123:@mock/v1/payment_intents", misspelt)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the mock answered %d to a misspelt parameter, so it proves nothing", resp.StatusCode)
	}
}
