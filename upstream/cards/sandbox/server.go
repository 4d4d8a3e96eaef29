// Package sandbox is a stateful double of the parts of Stripe's API that
// Frontdesk uses. It speaks real HTTP, so tests about money run the real adapter and
// Stripe's own library. Payment intents, refunds, the account, idempotency keys and
// signed webhooks behave as Stripe documents them.
//
// Tests drive it over the wire, and with methods that act as the buyer, inject
// faults and read the ledger. Where the documentation leaves a choice, the double
// takes the one that is harder on a caller, and a comment says so. It renders its own
// JSON and signatures, so the double and Stripe's library can disagree. Unknown
// parameters are refused; the adapter's tests check request shapes against Stripe's
// own description.
//
// Start reading at Server.
package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// APIVersion is the release that the double renders.
const APIVersion = "2026-03-25.dahlia"

// Config configures a Server. Its zero value is a double in test mode.
type Config struct {
	Now func() time.Time // zero: the wall clock

	SecretKey      string // zero: "sk_test_double"; with sk_live_ or rk_live_ all objects are live ones
	PublishableKey string // zero: "pk_test_double"; the key of a buyer's browser
	WebhookSecret  string // zero: "whsec_double"

	Account string // zero: "acct_double"; each double holds the payments of one account

	// ForgetKeys ignores idempotency keys: every request is carried out. Claims
	// cannot rely on such a processor, and a check of claims must notice.
	ForgetKeys bool
}

// Server is the double: one account with its payments.
type Server struct {
	URL            string // the address of the API
	SecretKey      string
	PublishableKey string
	WebhookSecret  string

	cfg      Config
	mux      http.ServeMux
	http     *httptest.Server
	webhooks *webhookSender
	closed   chan struct{}

	mu      sync.Mutex
	intents []*intent // oldest first
	byID    map[string]*intent
	keys    map[string]*idempotencyRecord
	faults  []*Injected // oldest first
	journal []Request

	refundStatus string // see SetRefundStatus
	anyMethod    bool   // see AllowAnyMethod
	noCharges    bool   // see ForbidCharges
}

// New starts a double on a free port of the loopback interface. Close stops it.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{
		SecretKey:      cmp.Or(cfg.SecretKey, "sk_test_double"),
		PublishableKey: cmp.Or(cfg.PublishableKey, "pk_test_double"),
		WebhookSecret:  cmp.Or(cfg.WebhookSecret, "whsec_double"),
		cfg:            cfg, closed: make(chan struct{}), byID: make(map[string]*intent), keys: make(map[string]*idempotencyRecord),
	}
	s.webhooks = newWebhookSender(cfg.Now, s.WebhookSecret)
	s.addRoutes()
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// ServeHTTP serves the API, for tests that also mount it elsewhere, such as behind a
// fault proxy.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close breaks the calls in progress, stops the webhooks and waits for both.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
	s.webhooks.close()
}

func (s *Server) live() bool { return strings.Contains(s.SecretKey, "k_live_") }

// Payment is a payment intent as a test sees it.
type Payment struct {
	ID           string
	ClientSecret string
	Status       string // as on the wire, such as requires_capture
	Amount       int64
	Captured     int64  // minor units taken
	Refunded     int64  // minor units given back
	Currency     string // lower case
	Metadata     map[string]string
	Charges      int // attempts that reached the bank
	Refunds      int // refunds made
	CreatedAt    time.Time
}

// Payments returns all payments, oldest first.
func (s *Server) Payments() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Payment, len(s.intents))
	for i, in := range s.intents {
		all[i] = in.snapshot()
	}
	return all
}

// Payment returns one payment; ok is false if it does not exist.
func (s *Server) Payment(id string) (p Payment, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.byID[id]
	if !ok {
		return Payment{}, false
	}
	return in.snapshot(), true
}

func (in *intent) snapshot() Payment {
	p := in.Payment
	p.Metadata, p.Charges, p.Refunds = maps.Clone(p.Metadata), len(in.charges), len(in.refunds)
	return p
}

// Request is one call that reached the double.
type Request struct {
	Method string
	Key    string // Idempotency-Key
	Form   string // the parameters, encoded and sorted by name; card numbers never
}

// Requests returns the calls that were answered or broken, in that order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}
