// Package frontdeskmock runs Frontdesk's mock for the tests of a Go program: from a binary, or from the image with docker or
// podman. Copy this folder into your module; it depends on the standard library alone.
//
// Start runs a mock until a test ends, and World gives each test a world of its own in it.
package frontdeskmock

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds the start, which may pull an image, and each wait for the mock.
const patience = time.Minute

// Mock is a running mock.
type Mock struct {
	URL string // such as http://127.0.0.1:41023; the API is below /v1

	command *exec.Cmd
	log     log
	ended   chan struct{} // closed when the program has ended
}

// Start runs a mock until the test ends. It uses the first of these: the binary that FRONTDESK_BINARY names, the program frontdesk on
// the path, the image that FRONTDESK_IMAGE names, the image frontdesk.
func Start(t testing.TB) *Mock {
	t.Helper()
	mock, err := Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mock.Stop()
		if t.Failed() {
			t.Logf("the mock's log:\n%s", mock.log.String())
		}
	})
	return mock
}

// Run is Start for a TestMain, which shares one mock among all tests of a package: Stop it.
func Run(ctx context.Context) (*Mock, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	mock := &Mock{URL: "http://" + address, ended: make(chan struct{})}
	if mock.command, err = program(address); err != nil {
		return nil, err
	}
	mock.command.Stdout, mock.command.Stderr = &mock.log, &mock.log
	if err := mock.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = mock.command.Wait() // how it ended is in its log
		close(mock.ended)
	}()
	if err := mock.awaitHealth(ctx); err != nil {
		mock.Stop()
		return nil, fmt.Errorf("%s: %w\n%s", mock.command, err, mock.log.String())
	}
	return mock, nil
}

// program returns the command that serves a mock at an address.
func program(address string) (*exec.Cmd, error) {
	binary := os.Getenv("FRONTDESK_BINARY")
	if found, err := exec.LookPath("frontdesk"); binary == "" && os.Getenv("FRONTDESK_IMAGE") == "" && err == nil {
		binary = found
	}
	if binary != "" {
		command := exec.Command(binary) // mock mode is the default
		command.Env = append(os.Environ(), "FRONTDESK_ADDR="+address, "FRONTDESK_OPS_ADDR=127.0.0.1:0")
		return command, nil
	}
	for _, tool := range []string{"docker", "podman"} {
		if found, err := exec.LookPath(tool); err == nil { // an interrupted docker run ends its container
			image := cmp.Or(os.Getenv("FRONTDESK_IMAGE"), "frontdesk")
			return exec.Command(found, "run", "--rm", "--publish", address+":8080", image), nil
		}
	}
	return nil, errors.New("frontdesk needs its binary or an image: set FRONTDESK_BINARY, or install docker or podman")
}

// freeAddress returns an address that was free a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (m *Mock) awaitHealth(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL+"/healthz", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-m.ended:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("it was not ready: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends the mock, and waits until it has ended.
func (m *Mock) Stop() {
	if m.command.Process.Signal(os.Interrupt) != nil { // Windows has no such signal
		_ = m.command.Process.Kill()
	}
	select {
	case <-m.ended:
	case <-time.After(patience):
		_ = m.command.Process.Kill()
		<-m.ended
	}
}

// World is a separate outside world: its own contacts, sales, messages, ledger, card payments and faults.
type World struct {
	Name string // the value of the header X-Frontdesk-World, which Client sets
	URL  string // of the mock

	t testing.TB
}

// World returns a world for a test, as it is at the start. Tests with worlds of their own can run in parallel.
func (m *Mock) World(t testing.TB) *World {
	t.Helper()
	name := regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(t.Name(), "-")
	world := &World{Name: "demo-" + name[max(0, len(name)-100):], URL: m.URL, t: t}
	world.Control(http.MethodPost, "reset", nil, nil)
	return world
}

// Client returns a client whose requests belong to the world.
func (w *World) Client() *http.Client {
	return &http.Client{Transport: transport{w.Name}, Timeout: patience}
}

type transport struct{ world string }

// RoundTrip adds the header that names the world.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("X-Frontdesk-World", t.world)
	return http.DefaultTransport.RoundTrip(request)
}

// Payment is a payment that the club system has recorded.
type Payment struct {
	Amount    int    `json:"amount"`    // cents
	OnAccount int    `json:"onAccount"` // cents that paid for nothing
	Mean      string `json:"mean"`
	SaleID    string `json:"saleId"`
}

// Ledger returns the payments that the club system has recorded. Assert on it, whatever your program says.
func (w *World) Ledger() []Payment {
	w.t.Helper()
	return list[Payment](w, "ledger")
}

// AuditOK reports whether the records are sound: nothing was paid twice, and every payment settled something.
func (w *World) AuditOK() bool {
	w.t.Helper()
	var audit struct{ OK bool }
	w.Control(http.MethodGet, "audit", nil, &audit)
	return audit.OK
}

// SMSCode returns the code in the latest SMS.
func (w *World) SMSCode() string {
	w.t.Helper()
	sent := list[struct{ Code string }](w, "sms")
	if len(sent) == 0 {
		w.t.Fatal("no SMS was sent")
	}
	return sent[len(sent)-1].Code
}

// Token returns the login token of a person that a club knows, such as customer, debtor or minor.
func (w *World) Token(persona string) string {
	w.t.Helper()
	for _, person := range list[struct{ Key, IdentityToken string }](w, "personas") {
		if person.Key == persona {
			return person.IdentityToken
		}
	}
	w.t.Fatalf("there is no persona %q", persona)
	return ""
}

// Fault makes calls of the club system fail; docs/how-to/inject-faults.md has the kinds.
type Fault struct {
	Match   Match  `json:"match"`
	Kind    string `json:"kind"`
	Status  int    `json:"status,omitempty"`
	DelayMs int    `json:"delayMs,omitempty"`
	Times   *int   `json:"times,omitempty"` // how many calls it hits; nil: all
}

// Match selects calls; an empty member selects all.
type Match struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"` // such as /sales/*/payments
}

// SetFaults replaces the faults; none ends them.
func (w *World) SetFaults(faults ...Fault) {
	w.t.Helper()
	w.Control(http.MethodPut, "faults", append([]Fault{}, faults...), nil)
}

// Confirm pays with a card as the buyer does, such as 4242424242424242. The client secret is that of the payment.
func (w *World) Confirm(clientSecret, card string) {
	w.t.Helper()
	payment, _, _ := strings.Cut(clientSecret, "_secret_")
	w.send(http.MethodPost, "/sandbox/payments/"+payment+"/confirm", map[string]string{"card": card}, nil)
}

// Control calls an operation of the control API, such as PUT clock, and decodes its response, unless into is nil.
// docs/reference/simulator.md lists them.
func (w *World) Control(method, name string, body, into any) {
	w.t.Helper()
	w.send(method, "/sim/"+w.Name+"/_control/"+name, body, into)
}

func list[T any](w *World, name string) []T {
	w.t.Helper()
	var all struct{ Items []T }
	w.Control(http.MethodGet, name, nil, &all)
	return all.Items
}

// send makes a request, which must succeed.
func (w *World) send(method, path string, body, into any) {
	w.t.Helper()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			w.t.Fatal(err)
		}
	}
	request, err := http.NewRequest(method, w.URL+path, bytes.NewReader(content))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	response, err := w.Client().Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err = io.ReadAll(response.Body)
	if err != nil || response.StatusCode > 299 {
		w.t.Fatalf("%s %s: %s %v: %s", method, path, response.Status, err, content)
	}
	if into != nil {
		if err := json.Unmarshal(content, into); err != nil {
			w.t.Fatalf("%s %s: %v: %s", method, path, err, content)
		}
	}
}

// log collects what the program writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
