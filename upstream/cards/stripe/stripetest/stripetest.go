// Package stripetest is a stateful double of the parts of Stripe's API that
// Frontdesk uses, over real HTTP, so that the real adapter and the company's
// real library run in tests about money: payment intents, refunds, the account,
// idempotency keys and signed webhooks behave as the company documents them.
//
// It is not a mock that is told what to answer, and not the sandbox processor
// that Frontdesk brings along. It has two doors: the wire, and methods by which
// a test acts as the buyer, breaks calls and looks at what happened. Where the
// documentation leaves a choice it takes the one that is harder on a caller, and
// a comment says so. Request shapes are checked against the company's own
// description elsewhere; here an unknown parameter is refused.
//
// Start reading at Server.
package stripetest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// APIVersion is the release that the double renders.
const APIVersion = "2026-03-25.dahlia"

// Config is what a Server is made from. Its zero value is a double in test mode.
type Config struct {
	Now func() time.Time // zero: the wall clock

	SecretKey      string // zero: "sk_test_double"; with sk_live_ or rk_live_ all objects are live ones
	PublishableKey string // zero: "pk_test_double"; what a buyer's browser has
	WebhookSecret  string // zero: "whsec_double"

	// ChargesDisabled is an account that may not take live payments.
	ChargesDisabled bool
	// ForgetKeys leaves idempotency keys out: every request is carried out. This is
	// a processor that no claim can rest on; what checks a claim has to notice.
	ForgetKeys bool
	// LateDelay is how long late webhooks wait, and the longest that a webhook waits
	// for another to overtake it; zero: five seconds.
	LateDelay time.Duration
}

// Server is the double: one account with its payments.
type Server struct {
	URL            string // the address of the API
	SecretKey      string
	PublishableKey string
	WebhookSecret  string

	cfg      Config
	handler  http.Handler
	http     *httptest.Server
	faults   faults
	keys     idempotencyKeys
	webhooks *webhookSender
	closed   chan struct{}

	mu      sync.Mutex
	intents []*intent // oldest first
	byID    map[string]*intent
	journal []Request
}

// New starts a double on a free port of the loopback interface. Close stops it.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.LateDelay == 0 {
		cfg.LateDelay = 5 * time.Second
	}
	s := &Server{
		SecretKey: orDefault(cfg.SecretKey, "sk_test_double"), PublishableKey: orDefault(cfg.PublishableKey, "pk_test_double"),
		WebhookSecret: orDefault(cfg.WebhookSecret, "whsec_double"),
		cfg:           cfg, keys: idempotencyKeys{uses: make(map[string]*idempotencyRecord)}, closed: make(chan struct{}), byID: make(map[string]*intent),
	}
	s.webhooks = newWebhookSender(cfg.Now, s.WebhookSecret, cfg.LateDelay)
	s.handler = s.routes()
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// ServeHTTP is the API again, for a test that mounts it elsewhere too, such as
// behind a proxy that breaks connections.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Reset forgets all payments, keys and requests, as if the account were another.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	s.intents, s.byID, s.keys.uses, s.journal = nil, make(map[string]*intent), make(map[string]*idempotencyRecord), nil
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// Close breaks the calls that are under way, stops the webhooks and waits for
// both.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
	s.webhooks.close()
}

func (s *Server) live() bool { return strings.Contains(s.SecretKey, "k_live_") }

// routes is the wire: the company's endpoints, and one door of the double's own
// for the challenge page that a buyer's bank would show.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, run := range map[string]endpoint{
		"GET /v1/account":                       s.getAccount,
		"GET /v1/payment_intents":               s.listIntents,
		"POST /v1/payment_intents":              s.createIntent,
		"GET /v1/payment_intents/{id}":          s.getIntent,
		"POST /v1/payment_intents/{id}":         s.updateIntent,
		"POST /v1/payment_intents/{id}/capture": s.captureIntent,
		"POST /v1/payment_intents/{id}/cancel":  s.cancelIntent,
		"POST /v1/payment_intents/{id}/confirm": s.confirmIntent,
		"POST /v1/refunds":                      s.createRefund,
		"GET /v1/webhook_endpoints":             s.listWebhookEndpoints,
		"POST /double/challenge/{id}":           s.answerChallenge,
		"/":                                     s.noSuchPath,
	} {
		mux.Handle(pattern, s.serve(run))
	}
	return mux
}

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
	DeclineCode  string // of the last attempt, while it is declined
	Charges      int    // attempts that reached the bank
	Refunds      int    // refunds made
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

// Payment returns one payment; ok is false when there is none.
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
	p := Payment{
		ID: in.id, ClientSecret: in.secret, Status: in.status, Amount: in.amount, Captured: in.received,
		Currency: in.currency, Metadata: maps.Clone(in.metadata), Charges: in.charges, CreatedAt: in.created,
	}
	for _, r := range in.refunds {
		p.Refunded += r.amount
		p.Refunds++
	}
	if in.lastError != nil && in.status == requiresPaymentMethod {
		p.DeclineCode = orDefault(in.lastError.declineCode, in.lastError.code)
	}
	return p
}

// Request is one call that reached the double.
type Request struct {
	Method   string
	Path     string
	Key      string // Idempotency-Key
	Form     string // the parameters, encoded and sorted by name; card numbers never
	Version  string // Stripe-Version
	Status   int    // zero: the connection was broken instead
	Replayed bool   // answered from an idempotency key
}

// Requests returns the calls that were answered or broken, in that order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.journal...)
}
