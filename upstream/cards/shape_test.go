package cards_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// TestShapes compares requests and responses with the company's description.
func TestShapes(t *testing.T) {
	t.Parallel()
	mock := startMock(t)
	t.Run("requests", func(t *testing.T) { requestsAreUnderstood(t, mock) })
	t.Run("double", func(t *testing.T) { doubleInventsNothing(t, mock) })
}

// requestsAreUnderstood sends every call to the mock, which refuses unknown and missing parameters and wrong
// types. The states in its responses are meaningless.
func requestsAreUnderstood(t *testing.T, mock *http.Client) {
	client := newClient(t, cards.Config{SecretKey: "sk_test_123", URL: "http://mock", HTTPClient: mock})
	ctx := t.Context()
	const id = "pi_1"
	for verb, run := range map[string]func() error{
		"create": func() error {
			_, err := client.Create(ctx, "create", cards.NewPayment{Amount: 4990, Currency: "EUR", Metadata: map[string]string{"fd_sale": "s"}})
			return err
		},
		"get":     func() error { _, err := client.Get(ctx, id); return err },
		"capture": func() error { _, err := client.Capture(ctx, "capture", id, 4990); return err },
		"cancel":  func() error { _, err := client.Cancel(ctx, "cancel", id); return err },
		"refund":  func() error { _, err := client.Refund(ctx, "refund", id, 4990); return err },
		"annotate": func() error {
			_, err := client.UpdateMetadata(ctx, "a", id, map[string]string{"a": "b", "c": ""})
			return err
		},
		"list":    func() error { _, err := client.List(ctx, time.Unix(1, 0), ""); return err },
		"account": func() error { _, err := client.Account(ctx); return err },
		"hooks":   func() error { _, err := client.WebhookEndpoints(ctx); return err },
	} {
		if err := run(); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	misspelt := url.Values{"amount": {"1"}, "currency": {"eur"}, "captur_method": {"manual"}}
	if status, _ := ask(t, mock, http.MethodPost, "http://mock/v1/payment_intents", "sk_test_123", misspelt); status != http.StatusBadRequest {
		t.Errorf("the mock answered %d to a misspelt parameter, so it proves nothing", status)
	}
}

// doubleInventsNothing compares the double's objects with the company's: every field must exist in both.
func doubleInventsNothing(t *testing.T, mock *http.Client) {
	p := newPair(t)
	made := p.captured("c")
	for kind, path := range map[string]string{
		"payment intent": "/v1/payment_intents/" + made.ID + "?expand[]=latest_charge.refunds", "account": "/v1/account",
		"list": "/v1/payment_intents", "refund": "/v1/refunds",
	} {
		method, form := http.MethodGet, url.Values(nil)
		if kind == "refund" {
			method, form = http.MethodPost, url.Values{"payment_intent": {made.ID}}
		}
		status, ours := ask(t, http.DefaultClient, method, p.double.URL+path, p.double.SecretKey, form)
		mockStatus, theirs := ask(t, mock, method, "http://mock"+path, "sk_test_123", form)
		if status != http.StatusOK || mockStatus != http.StatusOK {
			t.Errorf("%s: %d from the double, %d from the mock", kind, status, mockStatus)
			continue
		}
		for name, value := range ours {
			known, ok := theirs[name]
			if !ok {
				t.Errorf("a %s has no field %s", kind, name)
			}
			if name != "latest_charge" {
				continue
			}
			charge, _ := known.(map[string]any)
			for field := range value.(map[string]any) {
				if _, ok := charge[field]; !ok {
					t.Errorf("a charge has no field %s", field)
				}
			}
		}
	}
}

// ask makes a call without the library.
func ask(t *testing.T, client *http.Client, method, address, key string, form url.Values) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
