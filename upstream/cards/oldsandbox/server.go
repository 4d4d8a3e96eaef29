// Package oldsandbox is a card processor for development and tests. Its two halves meet only
// over HTTP: Server, a stateful double of a processor with manual capture, and Client, the
// adapter that implements cards.Processor.
//
// Idempotency keys, state conflicts, metadata limits and webhook signatures behave as the
// large processors document theirs. The server moves no money, keeps no card number and
// holds everything in memory. The buyer's side, the settings and the reset need no
// credentials.
//
// Start reading at Server.routes, Payment for the state machine, and Client.
package oldsandbox

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"frontdesk/upstream/cards"
)

// The credentials of every sandbox. They protect nothing.
const (
	DemoSecretKey     = "sk_sandbox_demo"    // #nosec G101 -- public on purpose
	DemoWebhookSecret = "whsec_sandbox_demo" // #nosec G101 -- public on purpose
)

const (
	// defaultMaxPayments is about 100 MB: days of development, or an hour of a heavy load
	// test.
	defaultMaxPayments = 100_000

	// keysPerPayment is twice what a payment needs from creation to record, so that keys do
	// not run out before payments do.
	keysPerPayment = 10
)

// ServerConfig is the configuration of a Server.
type ServerConfig struct {
	Now     func() time.Time // required
	BaseURL string           // required: where browsers reach the sandbox, without a slash at the end

	Logger     *slog.Logger // zero: nothing is logged
	HTTPClient *http.Client // sends webhooks; zero: cards.NewHTTPClient

	// MaxPayments limits the memory; zero: 100,000. At the limit, the oldest final payments
	// are dropped; while none is final, creation is refused.
	MaxPayments int
}

// Server is the processor: an http.Handler for the paths below its mount point.
type Server struct {
	cfg ServerConfig
	mux *http.ServeMux

	mu    sync.Mutex
	state *world
}

// world is everything that a reset replaces.
type world struct {
	payments *store
	keys     *idempotencyKeys
	webhooks *webhookSender
}

// NewServer returns a sandbox without payments. Close it.
func NewServer(cfg ServerConfig) *Server {
	cfg.MaxPayments = cmp.Or(cfg.MaxPayments, defaultMaxPayments)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.HTTPClient = cmp.Or(cfg.HTTPClient, cards.NewHTTPClient())
	s := &Server{cfg: cfg, mux: http.NewServeMux(), state: newWorld(cfg)}
	s.routes()
	return s
}

// routes registers every path of the sandbox.
func (s *Server) routes() {
	// The merchant's writes need the secret key and an idempotency key.
	s.mux.HandleFunc("POST /payments", s.serveWrite(http.StatusCreated, s.create))
	s.mux.HandleFunc("POST /payments/{id}/capture", s.serveWrite(http.StatusOK, change(s, readCapture)))
	s.mux.HandleFunc("POST /payments/{id}/cancel", s.serveWrite(http.StatusOK, change(s, readCancel)))
	s.mux.HandleFunc("POST /payments/{id}/refund", s.serveWrite(http.StatusOK, change(s, s.readRefund)))
	s.mux.HandleFunc("POST /payments/{id}/metadata", s.serveWrite(http.StatusOK, change(s, readMetadata)))
	// Reads need no credentials.
	s.mux.HandleFunc("GET /account", s.showAccount)
	s.mux.HandleFunc("GET /payments", s.list)
	s.mux.HandleFunc("GET /payments/{id}", s.showPayment)
	s.mux.HandleFunc("GET /assets/{name}", serveAsset)
	s.mux.Handle("GET /{$}", http.RedirectHandler(s.cfg.BaseURL+"/payments", http.StatusSeeOther))
	// The buyer's actions.
	s.mux.HandleFunc("POST /payments/{id}/confirm", serveAction(s, confirmForm, s.readConfirm, afterCheckout))
	s.mux.HandleFunc("POST /payments/{id}/challenge", serveAction(s, challengeForm, readChallenge, afterCheckout))
	// The bank's part in a slow confirmation, in refunds and in disputes, and the developer's settings.
	s.mux.HandleFunc("POST /payments/{id}/settle-confirmation", serveAction(s, settleForm, readSettleConfirmation, toOverview))
	s.mux.HandleFunc("POST /payments/{id}/dispute", serveAction(s, disputeForm, readDispute, toOverview))
	s.mux.HandleFunc("POST /payments/{id}/settle-refund", serveAction(s, settleForm, readSettle, toOverview))
	s.mux.HandleFunc("GET /settings", s.getSettings)
	s.mux.HandleFunc("PUT /settings", s.putSettings)
	s.mux.HandleFunc("POST /settings", s.saveSettings) // the overview's form
	s.mux.HandleFunc("POST /reset", s.reset)
}

// ServeHTTP implements http.Handler. Mount it with http.StripPrefix: its paths begin with a
// slash.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if _, pattern := s.mux.Handler(r); pattern == "" {
		w = &noRoute{w, r.Method}
	}
	s.mux.ServeHTTP(w, r)
}

// Close stops the webhooks in progress and waits for them. A server that still serves sends
// no more.
func (s *Server) Close() {
	s.world().webhooks.close()
	s.cfg.HTTPClient.CloseIdleConnections()
}

// Reset forgets payments, idempotency keys, settings and undelivered events.
func (s *Server) Reset() {
	s.mu.Lock()
	old := s.state
	s.state = newWorld(s.cfg)
	s.mu.Unlock()
	old.webhooks.close()
}

// Payments returns all payments, newest first.
func (s *Server) Payments() []Payment {
	all, _ := s.world().payments.list(listing{}) // only an unknown before is an error
	return all.Items
}

// world returns the current world; a request uses the one that it began in.
func (s *Server) world() *world {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func newWorld(cfg ServerConfig) *world {
	webhooks := newWebhookSender(cfg)
	return &world{
		payments: &store{max: cfg.MaxPayments, changed: webhooks.send, byID: map[string]Payment{}},
		keys:     &idempotencyKeys{max: cfg.MaxPayments * keysPerPayment, byKey: map[string]*keyUse{}},
		webhooks: webhooks,
	}
}

// noRoute replaces the router's own refusal by an error of the sandbox, and keeps its
// headers.
type noRoute struct {
	http.ResponseWriter
	method string // of the request
}

// WriteHeader writes the error.
func (n *noRoute) WriteHeader(status int) {
	refusal := newError(http.StatusNotFound, typeInvalid, "no_such_path", "The sandbox has no such path.")
	if status == http.StatusMethodNotAllowed {
		refusal = newError(status, typeInvalid, "method_not_allowed", "This path does not accept "+n.method+".")
	}
	writeError(n.ResponseWriter, refusal)
}

// Write discards the router's text.
func (n *noRoute) Write(b []byte) (int, error) { return len(b), nil }

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }
