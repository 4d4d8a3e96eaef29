package rig

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FaultProxy stands between one gateway and the outside world, and passes everything on
// as it is. It knows which request it sees, so that a campaign can act in the very
// moment of one; and when money was taken or was about to be given back.
type FaultProxy struct {
	upstream string // the outside world
	listener net.Listener
	server   *http.Server
	client   *http.Transport
	charges  *chargeLog

	mu          sync.Mutex
	breakpoints []*Breakpoint
}

// Operation is a request to the outside world on which the money hangs.
type Operation string

// The deeds, in the order of a good day.
const (
	CreatePayment Operation = "creation at the processor"
	Capture       Operation = "capture"
	Claim         Operation = "claim"
	PostPayment   Operation = "post to the club system"
	WriteJournal  Operation = "mark in the journal"
)

// Operations are all of them.
var Operations = []Operation{CreatePayment, Capture, Claim, PostPayment, WriteJournal}

// Phase is how far a deed has come.
type Phase string

// The phases.
const (
	BeforeRequest Phase = "before" // the request does not arrive
	AfterEffect   Phase = "after"  // it has had its effect, and the answer does not arrive
	AfterResponse Phase = "at the answer to"
	// DuringRequest is none of them: the request waits for the trap, and then goes its way.
	DuringRequest Phase = "during"
)

// Phases are all of them.
var Phases = []Phase{BeforeRequest, AfterEffect, AfterResponse}

// Breakpoint goes off once, at the first deed of its kind.
type Breakpoint struct {
	Operation Operation
	Phase     Phase
	OnHit     func() // called in the moment; the request waits for it
	once      sync.Once
}

// newFaultProxy opens a door to the outside world.
func newFaultProxy(to string, m *chargeLog) (*FaultProxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &FaultProxy{upstream: to, listener: listener, charges: m, client: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	d.server = &http.Server{Handler: http.HandlerFunc(d.handle), ReadHeaderTimeout: 10 * time.Second}
	go d.server.Serve(listener) // ends with close
	return d, nil
}

func (d *FaultProxy) url() string { return "http://" + d.listener.Addr().String() }

func (d *FaultProxy) close() {
	d.server.Close()
	d.client.CloseIdleConnections()
}

// add lays a trap, and take removes it. A trap that went off is removed already.
func (d *FaultProxy) add(t *Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.breakpoints = append(d.breakpoints, t)
}

func (d *FaultProxy) remove(t *Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, other := range d.breakpoints {
		if other == t {
			d.breakpoints = append(d.breakpoints[:i:i], d.breakpoints[i+1:]...)
			return
		}
	}
}

// breakpoint finds the one for a deed.
func (d *FaultProxy) breakpoint(deed Operation) *Breakpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.breakpoints {
		if t.Operation == deed {
			return t
		}
	}
	return nil
}

// hit lets a trap go off, and tells whether it did so here and now.
func (t *Breakpoint) hit(phase Phase) (here bool) {
	if t == nil || t.Phase != phase {
		return false
	}
	t.once.Do(func() {
		here = true
		t.OnHit()
	})
	return here
}

// handle carries a request and its answer.
func (d *FaultProxy) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the gateway died while it sent it
	}
	deed := operationOf(r, body)
	trap := d.breakpoint(deed)
	if trap.hit(BeforeRequest) {
		panic(http.ErrAbortHandler)
	}
	trap.hit(DuringRequest)
	d.charges.asked(r)
	answer, text, err := d.forward(r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // the outside world gave no answer; neither do we
	}
	d.charges.answered(r, answer.StatusCode)
	if trap.hit(AfterEffect) {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	w.Write(text)
	if trap != nil && trap.Phase == AfterResponse {
		http.NewResponseController(w).Flush() // a gateway that is gone is no matter
		trap.hit(AfterResponse)
	}
}

// forward asks the outside world. The gateway's death does not take the request back.
func (d *FaultProxy) forward(r *http.Request, body []byte) (*http.Response, []byte, error) {
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, d.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	out.Header = r.Header.Clone()
	answer, err := d.client.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, text, err
}

// operationOf recognises a request; empty for one on which no money hangs.
func operationOf(r *http.Request, body []byte) Operation {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		return ""
	case path == "/sandbox/payments":
		return CreatePayment
	case strings.HasPrefix(path, "/sandbox/") && strings.HasSuffix(path, "/capture"):
		return Capture
	case strings.HasPrefix(path, "/sandbox/") && bytes.Contains(body, []byte(`"fd_post_`)):
		return Claim
	case strings.HasPrefix(path, "/sandbox/") && strings.HasSuffix(path, "/metadata"):
		return WriteJournal
	case strings.HasPrefix(path, "/sim/") && strings.HasSuffix(path, "/payments"):
		return PostPayment
	}
	return ""
}

// chargeLog remembers when each of the processor's payments was taken, and from when on
// it may have been given back.
type chargeLog struct {
	mu       sync.Mutex
	captured map[string]time.Time // when the answer to a capture had arrived, by the processor's id
	refunded map[string]time.Time // when a refund was asked for
}

func newChargeLog() *chargeLog {
	return &chargeLog{captured: map[string]time.Time{}, refunded: map[string]time.Time{}}
}

func (m *chargeLog) asked(r *http.Request) { m.note(r, "/refund", m.refunded) }

func (m *chargeLog) answered(r *http.Request, status int) {
	if status == http.StatusOK {
		m.note(r, "/capture", m.captured)
	}
}

func (m *chargeLog) note(r *http.Request, suffix string, in map[string]time.Time) {
	id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/sandbox/payments/"), suffix)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := in[id]; !known {
		in[id] = time.Now()
	}
}

// charged tells whether the payment was taken before an instant and nobody had asked to give
// it back until now.
func (m *chargeLog) charged(id string, before time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, taken := m.captured[id]
	_, back := m.refunded[id]
	return taken && at.Before(before) && !back
}
