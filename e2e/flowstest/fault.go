package flowstest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// Call is a request of the gateways to another system: its method and the pattern of its path, as in path.Match.
type Call string

// Of returns the call about one payment.
func (c Call) Of(payment *flows.Payment) Call {
	return Call(strings.Replace(string(c), "*", payment.ProcessorID, 1))
}

// Matches reports whether a request is such a call.
func (c Call) Matches(r *http.Request) bool {
	method, pattern, _ := strings.Cut(string(c), " ")
	match, _ := path.Match(pattern, r.URL.Path)
	probe := c == ListCall && r.URL.Query().Get("limit") == "1" // a gateway's check of what its key may read
	return match && r.Method == method && !probe
}

// CallFault is what happens at a request of the gateways to another system.
type CallFault struct {
	Call          Call
	Before, After func() // each may be nil
	Fail          int    // answer this many requests with an error, after running only before
	Status        int    // of that error; 0: 503
}

// Inject replaces what happens at the next such call.
func (w *World) Inject(fault CallFault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callFault = &fault
}

// InjectFault runs functions before and after the next such call.
func (w *World) InjectFault(c Call, before, after func()) {
	w.Inject(CallFault{Call: c, Before: before, After: after})
}

// FailCalls answers the next such calls with 503 and does nothing.
func (w *World) FailCalls(c Call, times int) { w.Inject(CallFault{Call: c, Fail: times}) }

// take returns what to do around a request.
func (w *World) take(r *http.Request) CallFault {
	w.mu.Lock()
	defer w.mu.Unlock()
	fault := w.callFault
	if fault == nil || !fault.Call.Matches(r) {
		return CallFault{}
	}
	taken := *fault
	fault.Fail--
	if fault.Fail <= 0 {
		w.callFault = nil
	}
	return taken
}

// withFaults counts the reads of payments, and injects the faults of a test into the requests of its gateways.
func (w *World) withFaults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if GetCall.Matches(r) {
			w.Reads.Add(1)
		} else if ListCall.Matches(r) {
			w.lists.Add(1)
		}
		fault := w.take(r)
		if fault.Before != nil {
			fault.Before()
		}
		if fault.Fail > 0 {
			rw.WriteHeader(cmp.Or(fault.Status, http.StatusServiceUnavailable))
			fmt.Fprint(rw, processorError)
			return
		}
		w.serve(next, rw, r)
		if fault.After != nil {
			fault.After() // the response, being small, is sent only when the handler returns
		}
	})
}

// serve answers a request; if the world is mute, it leaves out the states of sales.
func (w *World) serve(next http.Handler, rw http.ResponseWriter, r *http.Request) {
	if sale, _ := path.Match("/sim/demo/sales/*", r.URL.Path); !sale || !w.Mute {
		next.ServeHTTP(rw, r)
		return
	}
	full := httptest.NewRecorder()
	next.ServeHTTP(full, r)
	rw.WriteHeader(full.Code)
	rw.Write(saleState.ReplaceAll(full.Body.Bytes(), nil))
}

var saleState = regexp.MustCompile(`"state":"[a-z]+",`)

// Fault makes calls to the club system fail.
func (w *World) Fault(faults ...clubsim.Fault) {
	w.Helper()
	if err := w.Sim.SetFaults(faults); err != nil {
		w.Fatal(err)
	}
}

// processorError is the body of an error, as the processor writes it.
const processorError = `{"error":{"type":"invalid_request_error","message":"The test refuses this."}}`
