// Package clubsim is the simulator of the club system: every operation, rule,
// error, header check and event of the club system API, with state, strict on
// its input, deterministic from its seed, and able to misbehave on purpose.
//
// It is not a mock: nothing in it answers a canned reply, and nothing in it
// knows who calls. A sale that is settled has double-entry bookings behind it,
// and a second payment really is an overpayment.
//
// It has two doors. The wire: mount a [Server] with http.StripPrefix and speak
// HTTP to it. The Go door: [Server.World] gives a world to seed and to inspect.
//
// Start reading at [Server.ServeHTTP], which shows the way of a request, then
// at operations (route.go), which names everything that can be called.
package clubsim

import (
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// The demo organisation's credentials. They are valid in every demo world.
const (
	DemoClientToken    = "demo"
	DemoClientID       = "demo"
	DemoClientSecret   = "demo-secret"
	DemoGatewayKey     = "demo-gateway-key"
	DemoIdentitySecret = "demo-identity-secret-of-the-club-login"
)

// eventTimeout bounds one delivery of an event. The club system documents no
// figure; five seconds is long enough for a receiver that stores before it answers.
const eventTimeout = 5 * time.Second

// maxWorldName holds the whole name of a test and a random suffix.
const maxWorldName = 128

// worldNamePattern is the shape of the client tokens that are demo worlds. Their length is no part
// of it: a pattern that counts is compiled into as many copies of what it counts.
var worldNamePattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]+)?$`)

func isWorldName(name string) bool {
	return len(name) <= maxWorldName && worldNamePattern.MatchString(name)
}

// Config is what a simulator needs.
type Config struct {
	// Now is the real clock, from which each world's own clock is derived. Required.
	Now func() time.Time
	// Logger gets what only a developer of the simulator wants to know; nil: silent.
	Logger *slog.Logger
	// Seed makes SMS codes and fault probabilities; zero: 1.
	Seed uint64
	// IdentitySecret is what the access tokens are signed with, and what the key
	// of the identity tokens follows from; zero: DemoIdentitySecret.
	IdentitySecret string
	// HTTPClient delivers events; zero: one that gives up after five seconds.
	HTTPClient *http.Client
	// WebhookURL is where a new or reset world sends its events, by client token;
	// nil: nowhere until the world's settings say so.
	WebhookURL func(clientToken string) string
}

// Server is the simulator: an http.Handler that holds any number of worlds.
type Server struct {
	cfg         Config
	tokens      tokenIssuer
	catalogue   *catalogue // shared by all worlds, never changed
	bodyPool    sync.Pool  // of *[]byte, bodies to use again: most of what a call allocates would be its answer
	mu          sync.Mutex // guards worlds, closed and the start of background work
	worlds      map[string]*World
	closed      bool
	closing     chan struct{}
	releaseOnce sync.Once
	released    chan struct{} // closed when nobody is kept waiting on purpose any more
	background  sync.WaitGroup
}

// New makes a simulator without any world; worlds are made at first use.
func New(cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Seed == 0 {
		cfg.Seed = 1
	}
	if cfg.IdentitySecret == "" {
		cfg.IdentitySecret = DemoIdentitySecret
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: eventTimeout}
	}
	return &Server{
		cfg:       cfg,
		tokens:    tokenIssuer{secret: []byte(cfg.IdentitySecret)},
		catalogue: newCatalogue(),
		worlds:    map[string]*World{},
		closing:   make(chan struct{}),
		released:  make(chan struct{}),
	}
}

// World returns the world of a client token, made at first use. It returns nil
// for a client token that is not a demo world.
func (s *Server) World(clientToken string) *World {
	if !isWorldName(clientToken) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.worlds[clientToken]
	if !ok {
		w = newWorld(s, clientToken)
		s.worlds[clientToken] = w
	}
	return w
}

// existingWorld returns a world only when somebody has used it before, so that
// requests without credentials cannot make worlds.
func (s *Server) existingWorld(clientToken string) *World {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.worlds[clientToken]
}

// Close ends delays and hangs, waits for the events in flight and refuses new ones.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	s.Release()
	s.background.Wait()
}

// Release ends hangs, now and from now on; all else goes on until Close. Whoever is
// kept waiting by a delay gets the answer that was promised.
func (s *Server) Release() { s.releaseOnce.Do(func() { close(s.released) }) }

// runInBackground runs f in the background; Close waits for it. After Close it does nothing.
func (s *Server) runInBackground(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.background.Go(f)
}

// sleep blocks for d and reports false when the server closes or done is closed first.
func (s *Server) sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	case <-s.closing:
		return false
	}
}
