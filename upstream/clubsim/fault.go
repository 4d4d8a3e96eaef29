package clubsim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault makes requests fail on purpose: calls of the club system or, with a path that begins with /v1/, requests to the
// gateway of mock mode.
type Fault struct {
	Match FaultMatch `json:"match"`
	// Kind is one of:
	//
	//	error_before       an error status (503 unless Status says otherwise), nothing done
	//	error_after        everything done, then an error status (500)
	//	drop_after         everything done, then the connection is cut without a response
	//	delay              everything done, then DelayMs of waiting before the response
	//	hang               no response and nothing done until the client gives up
	//	malformed          everything done, then status 200 with a cut body of the club system's own; a
	//	                   refusal keeps its status
	//	foreign_page       an HTML page of something in front of the club system (200), nothing done
	//	foreign_json       JSON of something in front of the club system (200), nothing done
	//	empty_success      an empty body (200), nothing done
	//	unauthorized_once  401, once
	//	too_many           429, nothing done
	//
	// or, at the gateway:
	//
	//	problem            the problem Code, nothing done
	//	drop_after         everything done, then the connection is cut without a response
	//	delay              DelayMs of waiting before anything is done
	//	hang               no response and nothing done until the client gives up
	Kind string `json:"kind"`
	// Code is the problem code of a problem. It hits only requests of operations that can answer it.
	Code    string `json:"code,omitempty"`
	Status  int    `json:"status,omitempty"`
	DelayMs int    `json:"delayMs,omitempty"`
	// Body is the body of foreign_json; empty: {"status": "ok"}.
	Body json.RawMessage `json:"body,omitempty"`
	// Limit makes too_many the API gateway's own: rate, quota or spike_arrest, the headers that it sends. The
	// limit ends after DelayMs, or after a second. Empty: Retry-After alone.
	Limit string `json:"limit,omitempty"`
	Times *int   `json:"times,omitempty"` // how many requests it hits; nil: all of them (unauthorized_once: one)
	// Probability of hitting a matching request, drawn from the world's seed; nil: 1.
	Probability *float64 `json:"probability,omitempty"`
	Hits        int      `json:"hits"` // Hits counts the requests that it has hit; not part of a request
}

// FaultMatch selects requests.
type FaultMatch struct {
	Method string `json:"method,omitempty"` // empty: any
	// Path is relative to the client token, with * for one segment, such as
	// "/sales/*/payments"; "/oauth/v2/token" is the token request. Empty: any call of the club system. A path of the
	// gateway is as in its contract, such as "/v1/registrations/*/payment"; "/v1/**" is all of them. A segment in braces, as in
	// /sales/{id}, is *.
	Path string `json:"path,omitempty"`
}

// faultKinds are all kinds, with their default status.
var faultKinds = map[string]int{
	"error_before": http.StatusServiceUnavailable, "error_after": http.StatusInternalServerError,
	"drop_after": 0, "delay": 0, "hang": 0, "malformed": http.StatusOK,
	"foreign_page": http.StatusOK, "foreign_json": http.StatusOK, "empty_success": http.StatusOK,
	"unauthorized_once": http.StatusUnauthorized, "too_many": http.StatusTooManyRequests,
}

// limitHeaders are the headers of the API gateway's limits, besides the Reset of each.
var limitHeaders = map[string]http.Header{
	"rate":         {"X-Rate-Limit-Limit": {"1000"}, "X-Rate-Limit-Remaining": {"0"}},
	"quota":        {"X-Quota-Limit": {"100000"}, "X-Quota-Remaining": {"0"}},
	"spike_arrest": {"X-Spike-Arrest-Limit": {"30"}, "X-Spike-Arrest-Slice-Period": {"100"}},
}

// foreignPage is what a firewall or a proxy shows instead of the club system's response.
const foreignPage = `<!DOCTYPE html>
<html><head><title>Please wait</title></head><body><h1>Checking your browser</h1></body></html>
`

// SetFaults replaces the faults of the world; an empty list clears them. An error names the
// first invalid fault.
func (w *World) SetFaults(faults []Fault) error {
	for i, f := range faults {
		if err := w.verifyFault(f); err != nil {
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

// addFault adds a fault and drops the exhausted ones. The others keep their hits.
func (w *World) addFault(fault Fault) error {
	if err := w.verifyFault(fault); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(slices.DeleteFunc(w.faults, (*Fault).exhausted), &fault)
	return nil
}

// Faults returns the faults of the world with their hits.
func (w *World) Faults() []Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	return records(w.faults, func(f *Fault) Fault { return *f })
}

func (f Fault) verify() error {
	_, known := faultKinds[f.Kind]
	_, limited := limitHeaders[f.Limit]
	switch {
	case !known && f.Kind != problemKind:
		return fmt.Errorf("kind: %q is not one of %s", f.Kind, strings.Join(FaultKinds(), ", "))
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return errors.New("status must be 200 to 599")
	case f.Limit != "" && !limited:
		return fmt.Errorf("limit: %q is not one of %s", f.Limit, strings.Join(slices.Sorted(maps.Keys(limitHeaders)), ", "))
	case f.DelayMs < 0 || f.Times != nil && *f.Times < 0:
		return errors.New("delayMs and times must not be negative")
	case f.Probability != nil && !(*f.Probability >= 0 && *f.Probability <= 1):
		return errors.New("probability must be 0 to 1")
	}
	return nil
}

// FaultKinds lists the kinds of faults of the club system in alphabetical order.
func FaultKinds() []string { return slices.Sorted(maps.Keys(faultKinds)) }

// takeFault finds the first fault that hits a request, counts the hit and returns a copy;
// a fault without a kind when none does. A nil world has no faults.
func (w *World) takeFault(hits func(*Fault) bool) Fault {
	if w == nil {
		return Fault{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if hits(f) && !f.exhausted() && w.drawFault(f) {
			f.Hits++
			return *f
		}
	}
	return Fault{}
}

func (f *Fault) exhausted() bool {
	if f.Times != nil {
		return f.Hits >= *f.Times
	}
	return f.Kind == "unauthorized_once" && f.Hits > 0
}

func (w *World) drawFault(f *Fault) bool {
	if f.Probability == nil {
		return true
	}
	w.faultDraws++
	return float64(w.draw("fault", w.faultDraws))/math.MaxUint64 < *f.Probability
}

// respond runs an effect and sends its response, changed by the fault if it has a kind. note
// receives the status, 0 for none, before the response is sent, so that a client with a
// response finds it in the journal.
func (s *Server) respond(rw http.ResponseWriter, req *httpRequest, fault Fault, effect func() httpResponse, note func(int)) {
	done := req.Context().Done()
	switch fault.Kind {
	case "error_before", "unauthorized_once", "too_many", overLimit, "foreign_page", "foreign_json", "empty_success":
		a := s.insteadOf(fault)
		note(a.status)
		writeResponse(rw, a)
		return
	case "hang": // until the client leaves or the server releases it
		note(0)
		select {
		case <-done:
		case <-s.released.Done():
		}
		drop(rw)
		return
	}
	response := effect()
	switch fault.Kind {
	case "delay":
		// The effect comes first: a caller that dies while it waits has still caused it.
		if !s.sleep(time.Duration(fault.DelayMs)*time.Millisecond, done) {
			note(0)
			panic(http.ErrAbortHandler)
		}
	case "drop_after":
		note(0)
		drop(rw)
		return
	case "error_after":
		response = s.insteadOf(fault)
	case "malformed":
		status := fault.status()
		if response.status >= http.StatusBadRequest && fault.Status == 0 {
			status = response.status
		}
		response = httpResponse{status: status, body: []byte(`{"@id": "/`)}
	}
	note(response.status)
	writeResponse(rw, response)
}

func (f Fault) status() int { return cmp.Or(f.Status, faultKinds[f.Kind]) }

// insteadOf is what a fault sends instead of the operation's own response.
func (s *Server) insteadOf(fault Fault) httpResponse {
	switch fault.Kind {
	case "empty_success":
		return httpResponse{status: fault.status()}
	case "foreign_page":
		return httpResponse{status: fault.status(), header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: []byte(foreignPage)}
	case "foreign_json":
		body := fault.Body
		if body == nil {
			body = []byte(`{"status":"ok"}`)
		}
		return httpResponse{status: fault.status(), header: http.Header{"Content-Type": {"application/json"}}, body: body}
	}
	if fault.Kind == overLimit || fault.Kind == "too_many" && fault.Limit != "" { // the API gateway's, not the club system's
		return httpResponse{status: fault.status(), header: s.limit(fault), body: []byte(`{"message":"Too Many Requests"}`)}
	}
	e := failure(fault.status(), "", http.StatusText(fault.status()))
	if fault.Kind == "too_many" {
		e.header = http.Header{"Retry-After": {"1"}} // one second is the shortest time that the header can express
	}
	return e.render(DefaultSettings())
}

// limit is the headers of the API gateway's 429.
func (s *Server) limit(fault Fault) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	maps.Copy(header, limitHeaders[fault.Limit])
	end := s.cfg.Now().Add(time.Duration(cmp.Or(fault.DelayMs, 1000)) * time.Millisecond)
	for name := range limitHeaders[fault.Limit] {
		if prefix, ok := strings.CutSuffix(name, "-Limit"); ok {
			header.Set(prefix+"-Reset", strconv.FormatInt(end.UnixMilli(), 10))
		}
	}
	return header
}

// drop closes the connection without a byte of a response.
func drop(rw http.ResponseWriter) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 and recorders: the server closes it
	}
	_ = conn.Close() // the connection is gone either way
}
