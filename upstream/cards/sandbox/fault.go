package sandbox

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Stage is the moment of a call at which a fault strikes.
type Stage string

// The stages of a call.
const (
	// Before: the call has not reached the API. It has no effect and claims no key.
	Before Stage = "before"
	// During: the call is in progress and has claimed its key. An error injected here
	// is stored under the key, without effect, as Stripe stores even its server errors.
	// A broken connection here leaves neither effect nor key.
	During Stage = "during"
	// After: the effect is done and the true response is stored under the key, but the
	// caller sees the fault instead.
	After Stage = "after"
)

// Fault breaks calls. It waits first, and then breaks the connection or responds with an error.
// A fault that only waits lets the call continue.
type Fault struct {
	Method string // zero: any
	Path   string // a pattern of path.Match, such as /v1/payment_intents/*/capture; zero: any
	Param  string // only calls with a parameter of this name or below it, such as metadata; zero: any
	Stage  Stage  // zero: Before
	Times  int    // how many calls it strikes; zero: one; below zero: all

	Delay  time.Duration
	Hold   <-chan struct{} // waits until it is closed
	Drop   bool            // the connection breaks without a response
	Status int             // of the injected error; zero: none
	Type   string          // of the injected error; zero: api_error
	Code   string          // of the injected error
}

// Injected is a fault that waits for its calls.
type Injected struct {
	fault   Fault
	left    int
	hits    atomic.Int64
	reached chan struct{}
}

// Hits returns how many calls the fault has struck. A fault that struck none proves
// nothing.
func (i *Injected) Hits() int { return int(i.hits.Load()) }

// Reached is closed when the fault strikes for the first time.
func (i *Injected) Reached() <-chan struct{} { return i.reached }

// Inject adds a fault for the calls that it matches. A call meets the oldest one.
func (s *Server) Inject(fault Fault) *Injected {
	fault.Stage = cmp.Or(fault.Stage, Before)
	i := &Injected{fault: fault, left: cmp.Or(fault.Times, 1), reached: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, i)
	return i
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// matchFault finds the fault for a call and counts it down; nil without one.
func (s *Server) matchFault(rq *request) *Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.faults, func(i *Injected) bool { return i.fault.matches(rq) })
	if at < 0 {
		return nil
	}
	found := s.faults[at]
	found.left--
	if found.left == 0 {
		s.faults = slices.Delete(s.faults, at, at+1)
	}
	return found
}

func (f Fault) matches(rq *request) bool {
	if f.Method != "" && f.Method != rq.method {
		return false
	}
	if ok, err := path.Match(f.Path, rq.path); f.Path != "" && (err != nil || !ok) {
		return false
	}
	if f.Param == "" {
		return true
	}
	for name := range rq.form {
		if name == f.Param || strings.HasPrefix(name, f.Param+"[") {
			return true
		}
	}
	return false
}

// strike breaks the call if this is the fault's stage, and reports whether the call ends so: with the response that the fault
// injects, or with a broken connection.
func (s *Server) strike(injected *Injected, now Stage, rq *request) (_ response, done bool) {
	if injected == nil || injected.fault.Stage != now {
		return response{}, false
	}
	if injected.hits.Add(1) == 1 {
		close(injected.reached)
	}
	s.wait(injected.fault)
	switch {
	case injected.fault.Drop:
		rq.broken = true
		return response{}, true
	case injected.fault.Status != 0:
		out, _ := errorResponse(&apiError{
			Type: cmp.Or(injected.fault.Type, typeAPI), Code: injected.fault.Code, Message: "An error was injected.", status: injected.fault.Status,
		})
		return out, true
	}
	return response{}, false
}

// wait does not end when the caller gives up, because Stripe carries on, too.
func (s *Server) wait(fault Fault) {
	select {
	case <-time.After(fault.Delay):
	case <-s.closed.Done():
	}
	if fault.Hold != nil {
		select {
		case <-fault.Hold:
		case <-s.closed.Done():
		}
	}
}
