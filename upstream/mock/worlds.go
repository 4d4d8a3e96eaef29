package mock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"frontdesk/upstream/clubsim"
)

// Gateway serves a world. Config.Gateway makes it.
type Gateway struct {
	Public, Operators, Metrics http.Handler
	Run                        func(context.Context) error // works in the background until the context ends, and finishes what is in progress
	// NextWork returns in how long Run has something to do: zero if that is now. waits is false if it has nothing to do.
	NextWork     func(context.Context) (in time.Duration, waits bool, err error)
	ForgetCaches func() // of what the club system has told
	Close        func() // ends its connections
}

// Place is where the gateway of a world finds the rest of it.
type Place struct {
	World    string // the client token of its organisation
	URL      string // of the simulator, below /sim, and of the sandbox, below /sandbox
	RedisURL string
	Now      func() time.Time // the world's clock
	Log      *slog.Logger     // says nothing of a gateway that is cut off
}

const (
	// tick is the finest expiry in Redis that a gateway relies on, and how often changed worlds are kept.
	tick = 250 * time.Millisecond
	// restAfter is how long a world is unused when its gateway and its Redis end, until the next use or the next background work. Both cost
	// a process with a hundred worlds more than the few that are used.
	restAfter = 15 * time.Second
	// forgetAfter is how long a world is unused when it is deleted: longer than a developer's night. The default world stays.
	forgetAfter = 24 * time.Hour
	// drain is how long the requests in progress may take that a world has when it changes as a whole. Then they are cut, as streams are.
	drain = 2 * time.Second
	// patience is for the background work of a gateway that ends, while what it works on continues.
	patience = 5 * time.Second
)

// worlds are the worlds that were used.
type worlds struct {
	mu     sync.Mutex
	byName map[string]*world
	closed atomic.Bool
	ending sync.WaitGroup // gateways that are cut off
}

func (all *worlds) list() []*world {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Values(all.byName))
}

// world is a demo world beside the simulator and the sandbox: its gateway and its Redis.
type world struct {
	server *Server
	name   string
	used   atomic.Int64 // when it was last used, and
	wrote  atomic.Int64 // when something may have changed in it, in nanoseconds
	open   atomic.Int64 // requests in progress

	mu   sync.Mutex // held while what the world runs on is exchanged
	run  *run       // nil: nothing runs
	kept []record   // what Redis held, while nothing runs
	due  time.Time  // when it has background work to do, while nothing runs; zero: it has none
	gone bool       // it was deleted

	files sync.Mutex // held while its file is written
	file  stored
}

// run is a gateway with its Redis, and the listener on which it reaches the simulator and the sandbox. The public listener would not do: it
// closes first when the process stops, and a payment that is still being recorded needs the simulator until the end.
type run struct {
	began   time.Time
	ticked  time.Time // until when the keys of Redis have aged
	gateway *Gateway
	redis   *miniredis.Miniredis
	calls   *http.Server
	called  sync.RWMutex // held to read by each call in progress
	context context.Context
	// requests are those in progress, without streams.
	requests sync.WaitGroup
	cut      context.CancelFunc // breaks the requests
	end      context.CancelFunc // ends the background work
	ended    chan struct{}
}

var errDeleted = errors.New("the world was deleted")

// world returns a world, made at first use.
func (s *Server) world(name string) *world {
	s.worlds.mu.Lock()
	defer s.worlds.mu.Unlock()
	w := s.worlds.byName[name]
	if w == nil {
		w = &world{server: s, name: name}
		w.used.Store(s.cfg.Now().UnixNano())
		s.worlds.byName[name] = w
	}
	return w
}

// enter counts a request until leave is called with it.
func (s *Server) enter(name string) *world {
	w := s.world(name)
	w.open.Add(1)
	return w
}

func (w *world) leave(r *http.Request) {
	now := w.server.cfg.Now().UnixNano()
	w.used.Store(now)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.wrote.Store(now)
	}
	w.open.Add(-1)
}

// worldOf returns the world that a request names, by a header or by a cookie because an EventSource has no headers; else the default one,
// whose gateway refuses a name that is not a world's. A card page is its payment's, because other sites lead there.
func (s *Server) worldOf(r *http.Request) string {
	name := r.Header.Get("X-Frontdesk-World")
	if paid, ok := strings.CutPrefix(r.URL.Path, "/pay/"); ok && name == "" {
		payment, _, _ := strings.Cut(paid, "/")
		if name = s.cards.WorldOf(payment[:max(0, strings.LastIndex(payment, "-"))]); name != "" {
			r.Header.Set("X-Frontdesk-World", name)
		}
	}
	if name == "" {
		if cookie, err := r.Cookie("frontdesk-world"); err == nil {
			name = cookie.Value
		}
	}
	if !clubsim.IsWorld(name) {
		return s.cfg.Default
	}
	return name
}

// Operators serves operators, and Metrics scrapes, by the gateway of the world that a request names.
func (s *Server) Operators(rw http.ResponseWriter, r *http.Request) {
	s.serveGateway(rw, r, func(g *Gateway) http.Handler { return g.Operators })
}

// Metrics is described at Operators.
func (s *Server) Metrics(rw http.ResponseWriter, r *http.Request) {
	s.serveGateway(rw, r, func(g *Gateway) http.Handler { return g.Metrics })
}

// serveGateway serves a request by the gateway of its world, which starts at first use.
func (s *Server) serveGateway(rw http.ResponseWriter, r *http.Request, pick func(*Gateway) http.Handler) {
	w := s.enter(s.worldOf(r))
	defer func() { w.leave(r) }()
	running, err := w.start()
	for errors.Is(err, errDeleted) { // meanwhile: the request is for the new one
		w.leave(r)
		w = s.enter(w.name)
		running, err = w.start()
	}
	if err != nil {
		s.cfg.Log.ErrorContext(r.Context(), "the world has no gateway", "world", w.name, "error", err)
		http.Error(rw, "The world cannot be served.", http.StatusServiceUnavailable)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/events") { // a stream ends when it is cut
		running.requests.Done()
	} else {
		defer running.requests.Done()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(running.context, cancel)()
	pick(running.gateway).ServeHTTP(rw, r.WithContext(ctx))
}

// Start starts the gateway of a world, unless it runs.
func (s *Server) Start(name string) error {
	if s.cfg.Gateway == nil {
		return nil
	}
	w := s.world(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begin()
}

// start returns what the world runs on, with one more request to it.
func (w *world) start() (*run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return nil, err
	}
	w.run.requests.Add(1)
	return w.run, nil
}

// begin starts what the world runs on; w.mu is held.
func (w *world) begin() (err error) {
	switch {
	case w.run != nil:
		return nil
	case w.server.worlds.closed.Load():
		return http.ErrServerClosed
	case w.gone:
		return errDeleted
	}
	began := w.server.cfg.Now()
	running := &run{began: began, ticked: began, redis: miniredis.NewMiniRedis(), ended: make(chan struct{})}
	running.context, running.cut = context.WithCancel(context.Background())
	work, end := context.WithCancel(running.context)
	running.end = end
	defer func() {
		if err != nil {
			running.cut()
			running.redis.Close()
		}
	}()
	if err := running.redis.Start(); err != nil {
		return err
	}
	now := w.server.club.World(w.name).Now
	running.redis.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
		if running.redis.TryLock() { // else a script holds the lock, maybe the one that calls this command
			running.redis.Unlock()
			running.redis.SetTime(now())
		}
		return false
	})
	if err := load(running.redis, w.kept, now()); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	running.calls = &http.Server{Handler: w.upstreams(running), ReadHeaderTimeout: patience}
	go running.calls.Serve(listener) //nolint:errcheck // ends with Close
	running.gateway, err = w.server.cfg.Gateway(Place{
		World:    w.name,
		URL:      "http://" + listener.Addr().String(),
		RedisURL: "redis://" + running.redis.Addr(),
		Now:      now,
		Log:      slog.New(untilCut{w.server.cfg.Log.Handler(), running.context}),
	})
	if err != nil {
		_ = running.calls.Close()
		return err
	}
	go func() {
		defer close(running.ended)
		if err := running.gateway.Run(work); err != nil {
			w.server.cfg.Log.Error("background work ended", "world", w.name, "error", err)
		}
	}()
	w.run, w.kept, w.due = running, nil, time.Time{}
	return nil
}

// upstreams is the simulator and the sandbox for the calls of one gateway. Those that list payments get its world's.
func (w *world) upstreams(running *run) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		running.called.RLock()
		defer running.called.RUnlock()
		if running.context.Err() != nil {
			panic(http.ErrAbortHandler)
		}
		r.Header.Set("X-Frontdesk-World", w.name)
		if strings.HasPrefix(r.URL.Path, "/sim/") {
			http.StripPrefix("/sim", w.server.club).ServeHTTP(rw, r)
		} else {
			http.StripPrefix("/sandbox", w.server.cards).ServeHTTP(rw, r)
		}
		if r.Method != http.MethodGet {
			w.wrote.Store(w.server.cfg.Now().UnixNano())
		}
		w.server.cfg.OnChange()
	})
}

// stop ends what the world runs on and keeps what Redis holds; w.mu is held. Without patience nothing is finished.
func (w *world) stop(patience time.Duration) {
	if w.run == nil {
		return
	}
	running := w.run
	w.run, w.due = nil, time.Time{}
	finished := make(chan struct{})
	go func() {
		running.requests.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(drain):
	}
	running.end()
	if patience > 0 {
		select {
		case <-running.ended:
		case <-time.After(patience):
		}
	}
	running.cut()
	_ = running.calls.Close()
	running.called.Lock()   // no call is carried out after this
	running.called.Unlock() //nolint:staticcheck // as above
	w.kept = dump(running.redis, w.server.club.World(w.name).Now())
	w.server.worlds.ending.Go(func() { // it keeps its Redis until then, which nothing else uses any more
		<-running.ended
		running.gateway.Close()
		running.redis.Close()
	})
}

// hold returns a world with w.mu held, and not one that was deleted meanwhile.
func (s *Server) hold(name string) *world {
	for {
		w := s.world(name)
		w.mu.Lock()
		if !w.gone {
			return w
		}
		w.mu.Unlock()
	}
}

// exchange stops what a world runs on, changes the world, and starts it again if it ran, or at the next tick if it may have work to do.
func (s *Server) exchange(name string, patience time.Duration, change func(w *world)) {
	w := s.hold(name)
	defer w.mu.Unlock()
	ran := w.run != nil
	w.stop(patience)
	change(w)
	w.wrote.Store(s.cfg.Now().UnixNano())
	switch {
	case w.gone || s.cfg.Gateway == nil:
	case ran:
		if err := w.begin(); err != nil {
			s.cfg.Log.Error("the gateway does not start again", "world", name, "error", err)
		}
	case len(w.kept) > 0:
		w.due = s.cfg.Now() // it may have work to do
	}
}

// reset is clubsim.Rest's, as the next functions are.
func (s *Server) reset(name string, apply func()) {
	s.exchange(name, 0, func(w *world) {
		apply()
		s.cards.Reset(name)
		w.kept = nil
	})
}

func (s *Server) move(name string, apply func()) {
	club := s.club.World(name)
	s.exchange(name, patience, func(w *world) {
		before := club.Now()
		apply()
		w.kept = moved(w.kept, before, club.Now())
	})
}

func (s *Server) remove(name string, apply func()) {
	var removed *world
	s.exchange(name, 0, func(w *world) {
		apply()
		s.cards.Reset(name)
		w.kept, w.gone, removed = nil, true, w
		s.worlds.mu.Lock()
		defer s.worlds.mu.Unlock()
		delete(s.worlds.byName, name)
	})
	removed.forgetFile()
}

func (s *Server) forgetCaches(name string) {
	s.worlds.mu.Lock()
	w := s.worlds.byName[name]
	s.worlds.mu.Unlock()
	if w == nil { // it was deleted
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run != nil {
		w.run.gateway.ForgetCaches()
	}
}

// Run keeps the clocks of the embedded Redis and what State keeps, until ctx ends. It then finishes the background work of all gateways.
func (s *Server) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			s.finish()
			return nil
		case <-s.cfg.After(tick):
			s.tick(ctx)
		}
	}
}

func (s *Server) tick(ctx context.Context) {
	now := s.cfg.Now()
	woken := false // one world at a tick, so that a folder of many does not take the whole machine at start
	for _, w := range s.worlds.list() {
		if w.mu.TryLock() { // what holds it stops or starts Redis
			woken = w.turn(ctx, now, !woken) || woken
			w.mu.Unlock()
		}
		s.keep(w, now)
		if s.cfg.Gateway != nil && w.name != s.cfg.Default && w.unused(now) >= forgetAfter { // gateways elsewhere keep what they know of a world
			s.club.Delete(w.name)
		}
	}
}

// unused returns for how long nobody has used the world.
func (w *world) unused(now time.Time) time.Duration {
	if w.open.Load() > 0 {
		return 0
	}
	return now.Sub(time.Unix(0, w.used.Load()))
}

// turn keeps the clock of Redis, lets an unused world rest, and starts one whose background work is due, if it may: then it returns true.
// w.mu is held.
func (w *world) turn(ctx context.Context, now time.Time, mayStart bool) (started bool) {
	if w.run != nil {
		w.run.redis.FastForward(max(tick, now.Sub(w.run.ticked))) // a busy machine is late
		w.run.ticked = now
		if w.mayRest(now) {
			w.server.worlds.ending.Go(func() { w.rest(ctx, now) })
		}
		return false
	}
	if w.due.IsZero() || now.Before(w.due) || !mayStart {
		return false
	}
	if err := w.begin(); err != nil {
		w.server.cfg.Log.ErrorContext(ctx, "the gateway does not start", "world", w.name, "error", err)
	}
	return true
}

// mayRest reports whether the world has run unused for long enough; w.mu is held.
func (w *world) mayRest(now time.Time) bool {
	return w.name != w.server.cfg.Default && min(w.unused(now), now.Sub(w.run.began)) >= restAfter
}

// rest stops what an unused world runs on, unless background work is due soon.
func (w *world) rest(ctx context.Context, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run == nil || !w.mayRest(now) {
		return
	}
	in, waits, err := w.run.gateway.NextWork(ctx)
	if err != nil || waits && in < restAfter {
		return
	}
	if w.stop(patience); waits {
		w.due = now.Add(in)
	}
}

// finish ends the background work of all gateways, which still serve.
func (s *Server) finish() {
	var running []*run
	for _, w := range s.worlds.list() {
		w.mu.Lock()
		if w.run != nil {
			w.run.end()
			running = append(running, w.run)
		}
		w.mu.Unlock()
	}
	for _, r := range running {
		<-r.ended
	}
}

// closeWorlds keeps all worlds a last time, and ends them.
func (s *Server) closeWorlds() {
	all := s.worlds.list()
	for _, w := range all {
		s.keep(w, time.Time{})
	}
	s.worlds.closed.Store(true)
	for _, w := range all {
		w.mu.Lock()
		w.stop(0)
		w.mu.Unlock()
	}
	s.worlds.ending.Wait()
}

// untilCut logs until a gateway is cut off: what it says then is about that alone.
type untilCut struct {
	slog.Handler
	running context.Context
}

func (h untilCut) Enabled(ctx context.Context, level slog.Level) bool {
	return h.running.Err() == nil && h.Handler.Enabled(ctx, level)
}

func (h untilCut) WithAttrs(attrs []slog.Attr) slog.Handler {
	return untilCut{h.Handler.WithAttrs(attrs), h.running}
}

func (h untilCut) WithGroup(name string) slog.Handler {
	return untilCut{h.Handler.WithGroup(name), h.running}
}
