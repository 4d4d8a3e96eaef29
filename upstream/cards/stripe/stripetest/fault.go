package stripetest

import (
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Stage is the moment of a call at which a fault strikes.
type Stage string

// The moments of a call.
const (
	// Before: the call has not reached the API; nothing happens and no key is taken.
	Before Stage = "before"
	// During: the call is being carried out and its key is in use. An error answer
	// given here is kept under the key, without effect, as the company keeps even
	// its server errors. A broken connection here leaves neither effect nor key.
	During Stage = "within"
	// After: the effect is done and the true answer is kept under the key, but the
	// caller sees the fault instead.
	After Stage = "after"
)

// Fault breaks calls. What it does is done in the order of its fields: it waits,
// then breaks the connection or answers an error. One that only waits lets the
// call go on.
type Fault struct {
	Method string // zero: any
	Path   string // a pattern of path.Match, such as /v1/payment_intents/*/capture; zero: any
	Param  string // only calls with a parameter of this name or below it, such as metadata; zero: any
	Stage  Stage  // zero: Before
	Times  int    // how many calls it strikes; zero: one; below zero: all

	Delay  time.Duration
	Hold   <-chan struct{} // waits until it is closed
	Drop   bool            // the connection breaks without an answer
	Status int             // an error answer with this status; zero: none
	Type   string          // of the error answer; zero: api_error
	Code   string          // of the error answer
}

// Injected is a fault that waits for its calls.
type Injected struct {
	fault   Fault
	left    int
	hits    atomic.Int64
	reached chan struct{}
	once    sync.Once
}

// Hits is how many calls it has struck: a fault that never happened proves
// nothing.
func (i *Injected) Hits() int { return int(i.hits.Load()) }

// Reached is closed when it strikes for the first time.
func (i *Injected) Reached() <-chan struct{} { return i.reached }

// faults are those that wait; a call meets the oldest that fits.
type faults struct {
	mu      sync.Mutex
	waiting []*Injected
}

// Inject makes a fault wait for the calls that it fits.
func (s *Server) Inject(f Fault) *Injected {
	i := &Injected{fault: f, left: f.Times, reached: make(chan struct{})}
	if i.left == 0 {
		i.left = 1
	}
	if i.fault.Stage == "" {
		i.fault.Stage = Before
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.waiting = append(s.faults.waiting, i)
	return i
}

// ClearFaults takes all faults back.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.waiting = nil
}

// match finds the fault for a call and counts it down.
func (f *faults) match(r *http.Request) *Injected {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, i := range f.waiting {
		if !i.fault.matches(r) {
			continue
		}
		if i.left--; i.left == 0 {
			f.waiting = append(f.waiting[:n:n], f.waiting[n+1:]...)
		}
		return i
	}
	return nil
}

func (f Fault) matches(r *http.Request) bool {
	if f.Method != "" && f.Method != r.Method {
		return false
	}
	if f.Path != "" {
		if ok, err := path.Match(f.Path, r.URL.Path); err != nil || !ok {
			return false
		}
	}
	if f.Param == "" {
		return true
	}
	for name := range r.Form {
		if name == f.Param || strings.HasPrefix(name, f.Param+"[") {
			return true
		}
	}
	return false
}

// applyFault lets a fault happen if this is its moment, and tells whether the call
// ends with the answer that it gives.
func (s *Server) applyFault(r *http.Request, rq request, i *Injected, now Stage) (response, bool) {
	if i == nil || i.fault.Stage != now {
		return response{}, false
	}
	i.hits.Add(1)
	i.once.Do(func() { close(i.reached) })
	s.wait(i.fault)
	switch {
	case i.fault.Drop:
		s.record(r, rq, 0, false)
		panic(http.ErrAbortHandler) // the way to make net/http break a connection
	case i.fault.Status != 0:
		e := &apiError{status: i.fault.Status, kind: orDefault(i.fault.Type, typeAPI), code: i.fault.Code, message: "An error was injected."}
		return e.response(), true
	}
	return response{}, false
}

// wait does not end when the caller gives up: the company carries on, too.
func (s *Server) wait(f Fault) {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.closed:
		}
	}
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-s.closed:
		}
	}
}
