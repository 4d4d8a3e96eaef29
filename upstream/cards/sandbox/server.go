// Package sandbox is a stateful double of the parts of Stripe's API that
// Frontdesk uses, for mock mode, test mode and tests. Payment intents, charges, refunds, the account,
// idempotency keys and signed webhooks behave as Stripe documents them. It moves no money, keeps no
// card number, and holds everything in memory.
//
// Others drive it over the wire, in their own process by RoundTrip, and with methods that act as the
// buyer, inject faults and read the ledger. Where the documentation leaves a choice, the double
// takes the one that is harder on a caller, and a comment says so. It renders its own
// JSON and signatures, so the double and Stripe's library can disagree. Unknown
// parameters are refused.
//
// Start reading at Server, then endpoints, and intent for the payment itself.
package sandbox

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"frontdesk/upstream/cards"
)

// APIVersion is the release that the double renders.
const APIVersion = "2026-03-25.dahlia"

// The credentials of an account that names none. They protect nothing.
const (
	DemoAccount        = "acct_demo"
	DemoSecretKey      = "sk_test_sandbox_demo" // #nosec G101 -- public on purpose
	DemoPublishableKey = "pk_test_sandbox_demo"
	DemoWebhookSecret  = "whsec_sandbox_demo" // #nosec G101 -- public on purpose
)

// Config configures a Server. Its zero value is a double in test mode that listens on its own.
type Config struct {
	Now func() time.Time // zero: the wall clock
	// WorldNow is the clock of a demo world; zero: Now.
	WorldNow func(world string) time.Time
	Logger   *slog.Logger // zero: nothing is logged

	// Seed determines all ids; zero: a random one, which is logged.
	Seed uint64

	// BaseURL is where others reach the double, without a slash at the end, if another server mounts it
	// or its calls come by RoundTrip; such as http://localhost:8080/sandbox. Zero: the double listens on a free
	// port of the loopback interface.
	BaseURL string

	Accounts []Account // zero: one with the demo credentials

	// Deliver receives each delivery of an event in the call that causes it, and may call the double back. Zero:
	// the double posts them.
	Deliver    func(Delivery)
	HTTPClient *http.Client // posts events; zero: cards.NewHTTPClient

	// Changed is called after a call that may have changed a demo world, or all of them: then the name is empty. Nil: nothing is.
	Changed func(world string)

	// MaxPayments limits the memory: so many payments, 10 idempotency keys for each, and for both of them 4 KiB a payment of what callers
	// write; zero: 100,000, which need 1.5 GB at most. At the limit, the oldest payments that are final are dropped; while none is final,
	// creation and more metadata are refused. New keys are refused until the oldest are a day old.
	MaxPayments int
}

// Server is the double.
type Server struct {
	URL            string // the address of the API
	SecretKey      string // of the first account, as the next two
	PublishableKey string
	WebhookSecret  string

	cfg      Config
	mount    string // the path of BaseURL
	mux      http.ServeMux
	http     *http.Server // nil: see Config.BaseURL
	closed   context.Context
	stop     context.CancelFunc
	webhooks *webhookSender

	idsMu sync.Mutex
	ids   *rand.PCG // never reset, so that no id is used twice

	mu       sync.Mutex
	accounts []*account
	store    store
	keys     map[digest]*keyUse // claims depend on them, so a full double refuses new ones, and forgets none early
	keyBytes int                // of the requests, at most bytesPerPayment for each payment that the double may hold
	faults   []*Injected        // oldest first
	journal  []Request
	outbox   []*outgoing // events of the step in progress
	anyType  bool        // see AllowAnyMethod

	calls   map[string]int // of one second, by world and endpoint; see limit
	callsAt int64
}

// New returns a double, which listens unless Config.BaseURL is set. Close it.
// It panics if no port is free.
func New(cfg Config) *Server {
	const defaultMaxPayments = 100_000 // days of development, or an hour of a heavy load test
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.WorldNow == nil {
		cfg.WorldNow = func(string) time.Time { return cfg.Now() }
	}
	if cfg.Changed == nil {
		cfg.Changed = func(string) {}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.HTTPClient = cmp.Or(cfg.HTTPClient, cards.NewHTTPClient())
	cfg.MaxPayments = cmp.Or(cfg.MaxPayments, defaultMaxPayments)
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64() // #nosec G404 -- the ids protect nothing
		cfg.Logger.Info("sandbox seed", "seed", cfg.Seed)
	}
	server := &Server{
		URL:   cfg.BaseURL,
		cfg:   cfg,
		ids:   rand.NewPCG(cfg.Seed, 0),
		store: store{max: cfg.MaxPayments, byID: map[string]*intent{}, settings: map[string]Settings{}, last: map[string]time.Time{}},
		keys:  map[digest]*keyUse{},
	}
	server.closed, server.stop = context.WithCancel(context.Background())
	server.webhooks = &webhookSender{
		cfg:    cfg,
		closed: server.closed,
		gone:   server.gone,
		slots:  make(chan struct{}, maxConnections),
		held:   map[string]*outgoing{},
	}
	server.webhooks.inFlight.SetLimit(maxPending)
	if len(cfg.Accounts) == 0 {
		cfg.Accounts = make([]Account, 1)
	}
	for _, a := range cfg.Accounts {
		server.accounts = append(server.accounts, newAccount(a))
	}
	first := server.accounts[0]
	server.SecretKey, server.PublishableKey, server.WebhookSecret = first.SecretKey, first.PublishableKey, first.WebhookSecrets[0]
	server.addPages()
	server.addDoor()
	if at, err := url.Parse(cfg.BaseURL); err == nil {
		server.mount = at.Path
	}
	if cfg.BaseURL == "" {
		server.listen()
	}
	return server
}

func (s *Server) listen() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(listener) //nolint:errcheck // ends with Close
}

// Close breaks the calls in progress, stops the webhooks and waits for them. A double that another server
// mounts still serves, but sends no more events.
func (s *Server) Close() {
	s.webhooks.mu.Lock()
	s.stop() // no delivery starts after this
	s.webhooks.mu.Unlock()
	if s.http != nil {
		s.http.Close()
	}
	_ = s.webhooks.inFlight.Wait() // no delivery returns an error
	s.cfg.HTTPClient.CloseIdleConnections()
}

// ServeHTTP serves the API below /v1, the door for scripts and the double's own pages. Its paths begin with a slash, with or without
// the path of Config.BaseURL before it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.mount != "" && strings.HasPrefix(r.URL.Path, s.mount+"/") {
		http.StripPrefix(s.mount, s).ServeHTTP(w, r)
		return
	}
	path := r.URL.EscapedPath()
	isPreflight := r.Method == http.MethodOptions
	isBanks := strings.HasPrefix(path, "/v3/challenge/") && (isPreflight || r.Method == http.MethodPost)
	if !isBanks && !strings.HasPrefix(path, "/v1/") {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if _, pattern := s.mux.Handler(r); pattern == "" {
			w = &noRoute{w, r.Method}
		}
		s.mux.ServeHTTP(w, r)
		return
	}
	if isPreflight { // a page of another origin or the bank's frame, in a test whose browser names a world in each request
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", worldHeader)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	out := s.call(r, path)
	if out == nil {
		panic(http.ErrAbortHandler) // net/http then breaks the connection
	}
	maps.Copy(w.Header(), out.Header)
	w.WriteHeader(out.StatusCode)
	_, _ = io.Copy(w, out.Body)
}

// newID returns an id in Stripe's form: a kind and 24 letters and digits.
func (s *Server) newID(kind string) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	id := make([]byte, 0, len(kind)+25)
	id = append(append(id, kind...), '_')
	s.idsMu.Lock()
	defer s.idsMu.Unlock()
	for range 3 {
		for n, left := s.ids.Uint64(), 8; left > 0; n, left = n/uint64(len(alphabet)), left-1 {
			id = append(id, alphabet[n%uint64(len(alphabet))])
		}
	}
	return string(id)
}

// step runs a change with the lock, and then hands over the events that it caused, because their receiver may call
// the double back.
func (s *Server) step(change func()) {
	s.mu.Lock()
	change()
	events := s.outbox
	s.outbox = nil
	s.mu.Unlock()
	for _, out := range events {
		s.webhooks.send(out)
	}
}
