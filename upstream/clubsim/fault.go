package clubsim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Fault makes calls go wrong on purpose.
type Fault struct {
	Match FaultMatch `json:"match"`
	// Kind is one of:
	//
	//	error_before       an error status (503 unless Status says otherwise), nothing done
	//	error_after        everything done, then an error status (500)
	//	drop_after         everything done, then the connection is cut without an answer
	//	delay              everything done, then DelayMs of waiting before the answer
	//	hang               no answer and nothing done until the client gives up
	//	malformed          everything done, then status 200 with a body that is no JSON
	//	unauthorized_once  401, once
	//	too_many           429 with Retry-After, nothing done
	Kind    string `json:"kind"`
	Status  int    `json:"status,omitempty"`
	DelayMs int    `json:"delayMs,omitempty"`
	// Times is how many calls it hits; nil: all of them (unauthorized_once: one).
	Times *int `json:"times,omitempty"`
	// Probability of hitting a call that matches, drawn from the world's seed; nil: 1.
	Probability *float64 `json:"probability,omitempty"`
	// Hits counts the calls that it has hit; not part of a request.
	Hits int `json:"hits"`
}

// FaultMatch tells which calls a fault is for.
type FaultMatch struct {
	Method string `json:"method,omitempty"` // empty: any
	// Path is relative to the client token, with * for one segment, such as
	// "/sales/*/payments"; "/oauth/v2/token" is the token request. Empty: any.
	Path string `json:"path,omitempty"`
}

// faultKinds are all kinds, with the status that each sends by default.
var faultKinds = map[string]int{
	"error_before": http.StatusServiceUnavailable, "error_after": http.StatusInternalServerError,
	"drop_after": 0, "delay": 0, "hang": 0, "malformed": http.StatusOK,
	"unauthorized_once": http.StatusUnauthorized, "too_many": http.StatusTooManyRequests,
}

// retryAfter is what too_many asks for: the shortest that the header can say.
const retryAfter = "1"

// SetFaults replaces the faults of the world; none clears them. An error names
// the first fault that cannot be.
func (w *World) SetFaults(faults []Fault) error {
	for i, f := range faults {
		if err := f.verify(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
	for _, f := range faults {
		f.Hits = 0
		w.faults = append(w.faults, &f)
	}
	return nil
}

// Faults returns the faults of the world with their hits.
func (w *World) Faults() []Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	faults := make([]Fault, len(w.faults))
	for i, f := range w.faults {
		faults[i] = *f
	}
	return faults
}

func (f Fault) verify() error {
	_, known := faultKinds[f.Kind]
	_, err := path.Match(f.Match.Path, "/")
	switch {
	case !known:
		return fmt.Errorf("kind: %q is not one of %s", f.Kind, strings.Join(FaultKinds(), ", "))
	case err != nil:
		return fmt.Errorf("match.path: %w", err)
	case hasClientToken(f.Match.Path):
		return errors.New("match.path: leave out the client token, as in /sales/*/payments")
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return errors.New("status: 200 to 599")
	case f.DelayMs < 0 || f.Times != nil && *f.Times < 0:
		return errors.New("delayMs and times cannot be negative")
	case f.Probability != nil && !(*f.Probability >= 0 && *f.Probability <= 1):
		return errors.New("probability: 0 to 1")
	}
	return nil
}

// hasClientToken reports whether a path names the world that it stands in anyway.
func hasClientToken(matchPath string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(matchPath, "/"), "/")
	return isWorldName(first) || first == "{client_token}"
}

// FaultKinds lists the kinds of faults in alphabetical order.
func FaultKinds() []string { return slices.Sorted(maps.Keys(faultKinds)) }

// kind is the fault's kind for the journal; nil has none.
func (f *Fault) kind() string {
	if f == nil {
		return ""
	}
	return f.Kind
}

// takeFault finds the first fault that hits a call, counts the hit and returns
// a copy; nil when none does. A nil world has no faults.
func (w *World) takeFault(method, callPath string) *Fault {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if f.matches(method, callPath) && !f.exhausted() && w.drawFault(f) {
			f.Hits++
			taken := *f
			return &taken
		}
	}
	return nil
}

func (f *Fault) matches(method, callPath string) bool {
	if f.Match.Method != "" && !strings.EqualFold(f.Match.Method, method) {
		return false
	}
	if f.Match.Path == "" || f.Match.Path == "*" {
		return true
	}
	matched, err := path.Match("/"+strings.TrimPrefix(f.Match.Path, "/"), callPath)
	return err == nil && matched
}

func (f *Fault) exhausted() bool {
	if f.Times != nil {
		return f.Hits >= *f.Times
	}
	return f.Kind == "unauthorized_once" && f.Hits > 0
}

// drawFault draws whether a fault with a probability hits this time.
func (w *World) drawFault(f *Fault) bool {
	if f.Probability == nil {
		return true
	}
	w.faultDraws++
	return float64(w.draw("fault", w.faultDraws))/math.MaxUint64 < *f.Probability
}

// respond runs an effect and sends its answer, bent by a fault where there is
// one. note hears the status that went out, 0 for none, before it goes out, so
// that a client that has its answer finds it in the journal.
func (s *Server) respond(rw http.ResponseWriter, req *httpRequest, fault *Fault, effect func() httpResponse, note func(int)) {
	done := req.Context().Done()
	switch fault.kind() {
	case "error_before", "unauthorized_once", "too_many":
		a := fault.refusal()
		note(a.status)
		writeResponse(rw, a)
		return
	case "hang":
		s.hang(rw, done, note)
		return
	}
	a := effect()
	switch fault.kind() {
	case "delay":
		// The effect comes first: a caller that dies while it waits leaves behind
		// what the slow answer would have told it.
		if !s.sleep(time.Duration(fault.DelayMs)*time.Millisecond, done) {
			note(0)
			panic(http.ErrAbortHandler)
		}
	case "drop_after":
		note(0)
		drop(rw)
		return
	case "error_after":
		a = fault.refusal()
	case "malformed":
		a = httpResponse{status: fault.statusOrDefault(), body: []byte(`{"@id": "/`)}
	}
	note(a.status)
	writeResponse(rw, a)
	s.recycleBody(a.body)
}

func (f *Fault) statusOrDefault() int {
	if f.Status != 0 {
		return f.Status
	}
	return faultKinds[f.Kind]
}

// refusal is the error that a fault sends.
func (f *Fault) refusal() httpResponse {
	e := failure(f.statusOrDefault(), "", http.StatusText(f.statusOrDefault()))
	if f.Kind == "too_many" {
		e.header = http.Header{"Retry-After": {retryAfter}, "X-Rate-Limit-Reset": {retryAfter}}
	}
	return e.render(DefaultSettings())
}

// hang keeps the client waiting until it gives up or the server releases it.
func (s *Server) hang(rw http.ResponseWriter, done <-chan struct{}, note func(int)) {
	note(0)
	select {
	case <-done:
	case <-s.released:
	}
	drop(rw)
}

// drop cuts the connection without a byte of an answer.
func drop(rw http.ResponseWriter) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 and recorders: the server cuts it for us
	}
	_ = conn.Close() // to the caller it is gone either way
}
