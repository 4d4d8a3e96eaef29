// Package sandbox is the card processor that Frontdesk brings along. Its two halves meet
// only over HTTP: Server, a stateful double of a processor with manual capture, and Client,
// the adapter that implements cards.Processor.
//
// The server is strict where money depends on it: idempotency keys, state conflicts,
// metadata limits and webhook signatures behave as the large processors document theirs. It
// moves no money, keeps no card number and holds everything in memory. The buyer's side,
// the settings and the reset need no credentials, so it belongs on a developer's machine or
// in a test.
//
// Start reading at NewServer for the routes, Payment for the state machine,
// idempotencyKeys, webhookSender, and Client for the adapter.
package sandbox

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"frontdesk/upstream/cards"
)

// The default credentials. They protect nothing.
const (
	DemoSecretKey     = "sk_sandbox_demo"    // #nosec G101 -- public on purpose
	DemoWebhookSecret = "whsec_sandbox_demo" // #nosec G101 -- public on purpose
)

const (
	// defaultMaxPayments is about 100 MB of payments of a common size: days of development,
	// or an hour of a heavy load test.
	defaultMaxPayments = 100_000

	// keysPerPayment is twice what a payment needs from creation to record, so that keys do
	// not run out before payments do.
	keysPerPayment = 10
)

// ServerConfig is the configuration of a Server.
type ServerConfig struct {
	Now     func() time.Time // required
	BaseURL string           // where browsers reach the sandbox; zero: http://localhost:8080/sandbox

	SecretKey     string // what merchants authenticate with; zero: DemoSecretKey
	WebhookSecret string // what webhooks are signed with; zero: DemoWebhookSecret

	Logger     *slog.Logger // zero: nothing is logged
	HTTPClient *http.Client // sends webhooks; zero: cards.NewHTTPClient

	// MaxPayments limits the memory; zero: 100,000. At the limit, the oldest final payments
	// are dropped; while none is final, creation is refused.
	MaxPayments int
}

// Server is the processor: an http.Handler for the paths below its mount point.
type Server struct {
	cfg    ServerConfig
	mux    *http.ServeMux
	closer func()

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
	closer := cfg.setDefaults()
	s := &Server{cfg: cfg, mux: http.NewServeMux(), closer: closer, state: newWorld(cfg)}
	s.routes()
	return s
}

// setDefaults fills in zero fields, and returns what Close must close.
func (cfg *ServerConfig) setDefaults() (closer func()) {
	closer = func() {}
	cfg.BaseURL = strings.TrimRight(orDefault(cfg.BaseURL, "http://localhost:8080/sandbox"), "/")
	cfg.SecretKey = orDefault(cfg.SecretKey, DemoSecretKey)
	cfg.WebhookSecret = orDefault(cfg.WebhookSecret, DemoWebhookSecret)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = cards.NewHTTPClient()
		closer = cfg.HTTPClient.CloseIdleConnections
	}
	if cfg.MaxPayments == 0 {
		cfg.MaxPayments = defaultMaxPayments
	}
	return closer
}

// routes registers every path of the sandbox.
func (s *Server) routes() {
	// The merchant's writes need the secret key and an idempotency key.
	s.mux.HandleFunc("POST /payments", s.serveWrite(s.create))
	s.mux.HandleFunc("POST /payments/{id}/capture", s.serveWrite(s.capture))
	s.mux.HandleFunc("POST /payments/{id}/cancel", s.serveWrite(s.cancel))
	s.mux.HandleFunc("POST /payments/{id}/refund", s.serveWrite(s.refund))
	s.mux.HandleFunc("POST /payments/{id}/metadata", s.serveWrite(s.updateMetadata))
	// Reads need no credentials.
	s.mux.HandleFunc("GET /payments", s.list)
	s.mux.HandleFunc("GET /payments/{id}", s.showPayment)
	s.mux.HandleFunc("GET /assets/{name}", serveAsset)
	s.mux.HandleFunc("GET /{$}", s.home)
	// The buyer's actions.
	s.mux.HandleFunc("POST /payments/{id}/confirm", s.confirm)
	s.mux.HandleFunc("POST /payments/{id}/challenge", s.challenge)
	// The developer's settings.
	s.mux.HandleFunc("GET /settings", s.getSettings)
	s.mux.HandleFunc("PUT /settings", s.putSettings)
	s.mux.HandleFunc("GET /deliveries", s.listDeliveries)
	s.mux.HandleFunc("POST /reset", s.reset)
}

// ServeHTTP implements http.Handler. Mount it with http.StripPrefix: its paths begin with a
// slash.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	handler, pattern := s.mux.Handler(r)
	if pattern == "" {
		writeError(w, noRoute(w, r, handler))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close stops the webhooks in progress and waits for them. The server must not serve any
// more.
func (s *Server) Close() {
	s.world().webhooks.close()
	s.closer()
}

// Reset forgets payments, idempotency keys, settings, and events that are not delivered
// yet.
func (s *Server) Reset() {
	s.mu.Lock()
	old := s.state
	s.state = newWorld(s.cfg)
	s.mu.Unlock()
	old.webhooks.close()
}

// Payments returns all payments, newest first.
func (s *Server) Payments() []Payment {
	items, _, _ := s.world().payments.list(listing{})
	return items
}

// Deliveries returns the latest 10,000 attempts to deliver events, newest first.
func (s *Server) Deliveries() []Delivery {
	return s.world().webhooks.deliveries()
}

// world returns the current world; a request uses the one that it began in.
func (s *Server) world() *world {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func newWorld(cfg ServerConfig) *world {
	return &world{
		payments: newStore(cfg.MaxPayments),
		keys:     newIdempotencyKeys(cfg.MaxPayments * keysPerPayment),
		webhooks: newWebhookSender(cfg),
	}
}

// home redirects to the list of payments: the sandbox has no page of its own.
func (s *Server) home(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", s.cfg.BaseURL+"/payments")
	w.WriteHeader(http.StatusSeeOther)
}

// noRoute takes status and headers from the router's own refusal, and renders them as an
// error of the sandbox.
func noRoute(w http.ResponseWriter, r *http.Request, refusal http.Handler) error {
	refused := statusRecorder{ResponseWriter: w}
	refusal.ServeHTTP(&refused, r)
	if refused.status == http.StatusMethodNotAllowed {
		return &apiError{Type: typeInvalid, Code: "method_not_allowed", Message: "This path does not accept " + r.Method + ".", status: refused.status}
	}
	return &apiError{Type: typeInvalid, Code: "no_such_path", Message: "The sandbox has no such path.", status: http.StatusNotFound}
}

// statusRecorder records the status, passes headers on and discards the body.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status.
func (r *statusRecorder) WriteHeader(status int) { r.status = status }

// Write discards the body.
func (r *statusRecorder) Write(b []byte) (int, error) { return len(b), nil }

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }

func orDefault(value, zero string) string {
	if value == "" {
		return zero
	}
	return value
}

// asAPIError turns any error into one that can be sent.
func asAPIError(err error) *apiError {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known
	}
	return &apiError{Type: typeUnavailable, Code: "internal", Message: "The sandbox failed.", status: http.StatusInternalServerError}
}
