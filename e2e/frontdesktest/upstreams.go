package frontdesktest

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// Upstreams is the world that gateways in test mode stand in front of: the club
// system's simulator and the sandbox card processor, on one address.
type Upstreams struct {
	URL   string          // of both; the simulator is below /sim, the processor below /sandbox
	Club  *clubsim.Server // the simulator's other door
	Sim   *clubsim.World  // its demo world
	Cards *sandbox.Server // the processor's other door

	mu   sync.Mutex
	hold *Hold
}

// NewUpstreams starts an outside world for one test.
func NewUpstreams(t testing.TB) *Upstreams {
	t.Helper()
	o := &Upstreams{}
	o.Club = clubsim.New(clubsim.Config{Now: time.Now})
	o.Sim = o.Club.World(clubsim.DemoClientToken)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	o.URL = server.URL
	o.Cards = sandbox.NewServer(sandbox.ServerConfig{Now: time.Now, BaseURL: server.URL + "/sandbox"})
	mux.Handle("/sim/", http.StripPrefix("/sim", o.withHold(o.Club)))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", o.Cards))
	t.Cleanup(func() {
		o.Release()
		server.CloseClientConnections()
		o.Club.Close()
		o.Cards.Close()
		server.Close()
	})
	return o
}

// Hold keeps answers of the simulator back after their effect was done: the
// moment in which a caller cannot know what happened.
type Hold struct {
	Reached chan struct{} // closed when the first answer is held
	method  string
	pattern string
	release chan struct{}
	once    sync.Once
}

// HoldResponses holds the answers to requests of a method whose path below the
// client token matches a pattern, such as "/sales/*/payments", until Release.
func (o *Upstreams) HoldResponses(method, pattern string) *Hold {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hold = &Hold{Reached: make(chan struct{}), method: method, pattern: pattern, release: make(chan struct{})}
	return o.hold
}

// Release lets held answers go.
func (o *Upstreams) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hold != nil {
		close(o.hold.release)
		o.hold = nil
	}
}

func (o *Upstreams) withHold(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		hold := o.hold
		o.mu.Unlock()
		_, below, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if hold == nil || r.Method != hold.method || !matches(hold.pattern, "/"+below) {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		hold.once.Do(func() { close(hold.Reached) })
		<-hold.release
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	})
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
