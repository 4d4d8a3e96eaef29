// Package clubsim simulates the club system: every operation, rule, error, header check and
// event of the club system API. It is stateful, strict about its input, deterministic for a
// given seed, and fails on request.
//
// It returns no canned responses and does not know its callers. A settled sale has
// double-entry bookings, and a second payment really is an overpayment.
//
// It has two sides. Over HTTP: mount a [Server] with http.StripPrefix. From Go:
// [Server.World] returns a world to seed and to inspect.
//
// Start reading at [Server.ServeHTTP], which shows the path of a request, then at
// operations (route.go), which lists everything that can be called.
package clubsim

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
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

// eventTimeout limits one delivery of an event. The club system documents no value; five
// seconds are enough for a receiver that stores the event before it responds.
const eventTimeout = 5 * time.Second

// maxWorldName holds the full name of a test and a random suffix.
const maxWorldName = 128

// worldNamePattern matches the client tokens of demo worlds. It has no maximum length
// because a regular expression that counts is compiled into as many copies.
var worldNamePattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]+)?$`)

// IsWorld reports whether a text can name a world.
func IsWorld(name string) bool {
	return len(name) <= maxWorldName && worldNamePattern.MatchString(name)
}

// Config is the configuration of a simulator.
type Config struct {
	Now    func() time.Time // the real clock, from which each world's clock is derived; required
	Logger *slog.Logger     // receives messages for developers of the simulator; nil: none
	Seed   uint64           // determines SMS codes and fault probabilities; zero: 1
	// WebhookURL is where a new or reset world sends its events; empty: nowhere until the
	// world's settings name an address.
	WebhookURL string
	Settings   *Settings  // of a new or reset world; nil: DefaultSettings. ParseSettings reads them
	Catalogue  *Catalogue // of a new or reset world; nil: Demo
	Rest       Rest       // of each world; its zero value: there is none
	// Gateway lists the operations of the gateway in front, which asks TakeGatewayFault; nil: no faults can be set there.
	Gateway func() []GatewayOperation
}

// Rest is what belongs to a world beside the club system, such as its payments at the card processor. The functions that change a world
// must call apply, which changes the club system. A nil function does that alone.
type Rest struct {
	Reset func(clientToken string, apply func())
	Move  func(clientToken string, apply func()) // the clock
	// Snapshot calls take with what returns the rest as JSON. The club system does not change while that runs.
	Snapshot func(clientToken string, take func(rest func() json.RawMessage) []byte) []byte
	// Restore refuses a rest that it cannot read before it changes anything. A nil rest is an empty one.
	Restore func(clientToken string, rest json.RawMessage, apply func()) error
	Delete  func(clientToken string, apply func())
	// Follows: those who call the club system, and its login, have the world's clock.
	Follows bool
}

func (r *Rest) setDefaults() {
	apply := func(_ string, apply func()) { apply() }
	for _, change := range []*func(string, func()){&r.Reset, &r.Move, &r.Delete} {
		if *change == nil {
			*change = apply
		}
	}
	if r.Snapshot == nil {
		r.Snapshot = func(_ string, take func(func() json.RawMessage) []byte) []byte {
			return take(func() json.RawMessage { return nil })
		}
	}
	if r.Restore == nil {
		r.Restore = func(_ string, _ json.RawMessage, apply func()) error { apply(); return nil }
	}
}

// Server is the simulator: an http.Handler with any number of worlds.
type Server struct {
	cfg        Config
	catalogue  atomic.Pointer[Catalogue] // of a new or reset world
	lastToken  atomic.Int64              // makes access tokens unique
	events     http.Client               // delivers events
	mu         sync.Mutex                // guards worlds, close and the start of background work
	worlds     map[string]*World
	closing    context.Context // done from Close on
	close      context.CancelFunc
	released   context.Context // done from Release on: hang faults end
	release    context.CancelFunc
	background sync.WaitGroup
}

// New returns a simulator without worlds; each world is made at first use.
func New(cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Seed == 0 {
		cfg.Seed = 1
	}
	if cfg.Settings == nil {
		cfg.Settings = new(DefaultSettings())
	}
	cfg.Rest.setDefaults()
	server := &Server{
		cfg:    cfg,
		events: http.Client{Timeout: eventTimeout},
		worlds: map[string]*World{},
	}
	server.catalogue.Store(cmp.Or(cfg.Catalogue, Demo()))
	server.closing, server.close = context.WithCancel(context.Background())
	server.released, server.release = context.WithCancel(server.closing)
	return server
}

// World returns the world of a client token, made at first use; nil for a client token that
// is not a demo world.
func (s *Server) World(clientToken string) *World {
	if !IsWorld(clientToken) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	world, ok := s.worlds[clientToken]
	if !ok {
		world = &World{server: s, clientToken: clientToken}
		world.reset(s.catalogue.Load())
		s.worlds[clientToken] = world
	}
	return world
}

// SetCatalogue replaces the catalogue of new and reset worlds, and of those that have the former one. It returns their client tokens.
func (s *Server) SetCatalogue(catalogue *Catalogue) (replaced []string) {
	old := s.catalogue.Swap(catalogue)
	s.mu.Lock()
	worlds := slices.Collect(maps.Values(s.worlds))
	s.mu.Unlock()
	for _, world := range worlds {
		if world.replace(old, catalogue) {
			replaced = append(replaced, world.clientToken)
		}
	}
	return replaced
}

// existingWorld returns a world only if it was used before, so that requests without
// credentials cannot make worlds.
func (s *Server) existingWorld(clientToken string) *World {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.worlds[clientToken]
}

// Delete forgets a world, with everything that it holds. A later use makes it again.
func (s *Server) Delete(clientToken string) {
	s.cfg.Rest.Delete(clientToken, func() {
		s.mu.Lock()
		world := s.worlds[clientToken]
		delete(s.worlds, clientToken)
		s.mu.Unlock() // who holds a world's lock may wait for this one
		if world != nil {
			world.mu.Lock()
			defer world.mu.Unlock()
			world.outbox.clear()
		}
	})
}

// Close ends delays and hangs, waits for the events in flight and refuses new ones.
func (s *Server) Close() {
	s.mu.Lock()
	s.close()
	s.mu.Unlock()
	s.background.Wait()
}

// Release ends hangs, now and from now on; everything else continues until Close. Requests
// that a delay keeps waiting still get their response.
func (s *Server) Release() { s.release() }

// runInBackground runs f in a goroutine that Close waits for. After Close it does nothing.
func (s *Server) runInBackground(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() == nil {
		s.background.Go(f)
	}
}

// sleep waits for d. It returns false when the server closes or done is closed first.
func (s *Server) sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	case <-s.closing.Done():
		return false
	}
}
