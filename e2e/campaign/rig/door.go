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

// Door stands between one gateway and the outside world, and passes everything on
// as it is. It knows which request it sees, so that a campaign can act in the very
// moment of one; and when money was taken or was about to be given back.
type Door struct {
	to       string // the outside world
	listener net.Listener
	server   *http.Server
	client   *http.Transport
	money    *money

	mu    sync.Mutex
	traps []*Trap
}

// Deed is a request to the outside world on which the money hangs.
type Deed string

// The deeds, in the order of a good day.
const (
	Creating  Deed = "creation at the processor"
	Capturing Deed = "capture"
	Claiming  Deed = "claim"
	Posting   Deed = "post to the club system"
	Marking   Deed = "mark in the journal"
)

// Deeds are all of them.
var Deeds = []Deed{Creating, Capturing, Claiming, Posting, Marking}

// Phase is how far a deed has come.
type Phase string

// The phases.
const (
	Lost     Phase = "before" // the request does not arrive
	Done     Phase = "after"  // it has had its effect, and the answer does not arrive
	Answered Phase = "at the answer to"
	// While is none of them: the request waits for the trap, and then goes its way.
	While Phase = "during"
)

// Phases are all of them.
var Phases = []Phase{Lost, Done, Answered}

// Trap goes off once, at the first deed of its kind.
type Trap struct {
	Deed   Deed
	Phase  Phase
	Sprung func() // called in the moment; the request waits for it
	once   sync.Once
}

// newDoor opens a door to the outside world.
func newDoor(to string, m *money) (*Door, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &Door{to: to, listener: listener, money: m, client: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	d.server = &http.Server{Handler: http.HandlerFunc(d.pass), ReadHeaderTimeout: 10 * time.Second}
	go d.server.Serve(listener) // ends with close
	return d, nil
}

func (d *Door) url() string { return "http://" + d.listener.Addr().String() }

func (d *Door) close() {
	d.server.Close()
	d.client.CloseIdleConnections()
}

// set lays a trap, and take removes it. A trap that went off is removed already.
func (d *Door) set(t *Trap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.traps = append(d.traps, t)
}

func (d *Door) take(t *Trap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, other := range d.traps {
		if other == t {
			d.traps = append(d.traps[:i:i], d.traps[i+1:]...)
			return
		}
	}
}

// trap finds the one for a deed.
func (d *Door) trap(deed Deed) *Trap {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.traps {
		if t.Deed == deed {
			return t
		}
	}
	return nil
}

// spring lets a trap go off, and tells whether it did so here and now.
func (t *Trap) spring(phase Phase) (here bool) {
	if t == nil || t.Phase != phase {
		return false
	}
	t.once.Do(func() {
		here = true
		t.Sprung()
	})
	return here
}

// pass carries a request and its answer.
func (d *Door) pass(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the gateway died while it sent it
	}
	deed := deedOf(r, body)
	trap := d.trap(deed)
	if trap.spring(Lost) {
		panic(http.ErrAbortHandler)
	}
	trap.spring(While)
	d.money.asked(r)
	answer, text, err := d.forward(r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // the outside world gave no answer; neither do we
	}
	d.money.answered(r, answer.StatusCode)
	if trap.spring(Done) {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	w.Write(text)
	if trap != nil && trap.Phase == Answered {
		http.NewResponseController(w).Flush() // a gateway that is gone is no matter
		trap.spring(Answered)
	}
}

// forward asks the outside world. The gateway's death does not take the request back.
func (d *Door) forward(r *http.Request, body []byte) (*http.Response, []byte, error) {
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, d.to+r.URL.RequestURI(), bytes.NewReader(body))
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

// deedOf recognises a request; empty for one on which no money hangs.
func deedOf(r *http.Request, body []byte) Deed {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		return ""
	case path == "/sandbox/payments":
		return Creating
	case strings.HasPrefix(path, "/sandbox/") && strings.HasSuffix(path, "/capture"):
		return Capturing
	case strings.HasPrefix(path, "/sandbox/") && bytes.Contains(body, []byte(`"fd_post_`)):
		return Claiming
	case strings.HasPrefix(path, "/sandbox/") && strings.HasSuffix(path, "/metadata"):
		return Marking
	case strings.HasPrefix(path, "/sim/") && strings.HasSuffix(path, "/payments"):
		return Posting
	}
	return ""
}

// money remembers when each of the processor's payments was taken, and from when on
// it may have been given back.
type money struct {
	mu       sync.Mutex
	captured map[string]time.Time // when the answer to a capture had arrived, by the processor's id
	refunded map[string]time.Time // when a refund was asked for
}

func newMoney() *money {
	return &money{captured: map[string]time.Time{}, refunded: map[string]time.Time{}}
}

func (m *money) asked(r *http.Request) { m.note(r, "/refund", m.refunded) }

func (m *money) answered(r *http.Request, status int) {
	if status == http.StatusOK {
		m.note(r, "/capture", m.captured)
	}
}

func (m *money) note(r *http.Request, suffix string, in map[string]time.Time) {
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
func (m *money) charged(id string, before time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, taken := m.captured[id]
	_, back := m.refunded[id]
	return taken && at.Before(before) && !back
}
