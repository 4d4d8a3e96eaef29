package frontdesktest

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// Upstreams are what gateways in test mode depend on: the club system's simulator and the sandbox
// card processor, at one address.
type Upstreams struct {
	URL   string          // of both; the simulator is below /sim, the processor below /sandbox
	Club  *clubsim.Server // the simulator itself
	Sim   *clubsim.World  // its demo world
	Cards *sandbox.Server // the processor itself

	proxy *FaultProxy
	hold  *Hold
}

// StartUpstreams starts upstreams that run until Close.
func StartUpstreams() *Upstreams {
	mux := http.NewServeMux()
	proxy := NewFaultProxy(mux)
	u := &Upstreams{URL: proxy.URL, proxy: proxy, Club: clubsim.New(clubsim.Config{Now: time.Now})}
	u.Sim = u.Club.World(clubsim.DemoClientToken)
	u.Cards = sandbox.NewServer(sandbox.ServerConfig{Now: time.Now, BaseURL: proxy.URL + "/sandbox"})
	mux.Handle("/sim/", http.StripPrefix("/sim", u.Club))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", u.Cards))
	return u
}

// NewUpstreams starts upstreams for one test.
func NewUpstreams(t testing.TB) *Upstreams {
	t.Helper()
	u := StartUpstreams()
	t.Cleanup(u.Close)
	return u
}

// Close ends the upstreams.
func (u *Upstreams) Close() {
	u.Release()
	u.proxy.server.CloseClientConnections()
	u.Club.Close()
	u.Cards.Close()
	u.proxy.Close()
}

// Proxy gives the upstreams another address, with its own breakpoints.
func (u *Upstreams) Proxy() *FaultProxy { return NewFaultProxy(u.proxy.upstream) }

// Hold holds back responses of the simulator after their effect: the moment at which a caller cannot
// know what happened.
type Hold struct {
	Reached    chan struct{} // closed when the first response is held
	breakpoint *Breakpoint
	release    chan struct{}
}

// HoldResponses holds the responses to requests of a method whose path below the
// client token matches a pattern, such as "/sales/*/payments", until Release.
func (u *Upstreams) HoldResponses(method, pattern string) *Hold {
	h := &Hold{Reached: make(chan struct{}), release: make(chan struct{})}
	reached := sync.OnceFunc(func() { close(h.Reached) })
	h.breakpoint = &Breakpoint{Operation: Operation{Method: method, Path: "/sim/*" + pattern}, Phase: BeforeResponse, Every: true,
		OnHit: func() { reached(); <-h.release }}
	u.proxy.Add(h.breakpoint)
	u.hold = h
	return h
}

// Release sends the held responses.
func (u *Upstreams) Release() {
	if u.hold != nil {
		u.proxy.Remove(u.hold.breakpoint)
		close(u.hold.release)
		u.hold = nil
	}
}
