package frontdesktest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Operation is a kind of request to the upstreams.
type Operation struct {
	Name   string // for people
	Method string
	Path   string // a pattern of path.Match
	Body   string // what the body contains
}

// The operations that move money, in the order of a journey without faults.
var (
	CreatePayment = Operation{"creation at the processor", http.MethodPost, "/sandbox/v1/payment_intents", ""}
	Capture       = Operation{"capture", http.MethodPost, "/sandbox/v1/payment_intents/*/capture", ""}
	Claim         = Operation{"claim", http.MethodPost, "/sandbox/v1/payment_intents/*", "metadata[fd_post_"}
	PostPayment   = Operation{"post to the club system", http.MethodPost, "/sim/*/sales/*/payments", ""}
	AcceptPayment = Operation{"mark in the journal", http.MethodPost, "/sandbox/v1/payment_intents/*", "metadata[fd_done_"}
)

// The operations that give money back.
var (
	Cancel = Operation{"cancellation", http.MethodPost, "/sandbox/v1/payment_intents/*/cancel", ""}
	Refund = Operation{"refund", http.MethodPost, "/sandbox/v1/refunds", "payment_intent="}
)

// Operations are those of a journey without faults.
var Operations = []Operation{CreatePayment, Capture, Claim, PostPayment, AcceptPayment}

func (o Operation) matches(r *http.Request, body []byte) bool {
	ok, err := path.Match(o.Path, r.URL.Path)
	return ok && err == nil && r.Method == o.Method && bytes.Contains(body, []byte(o.Body))
}

// Of returns the operation on one of the processor's payments.
func (o Operation) Of(payment string) Operation {
	o.Path = strings.Replace(o.Path, "*", payment, 1)
	return o
}

// PaymentOf returns the id of the processor's payment that a request of the operation is about, from its path or else from its
// body; empty: it is another request.
func (o Operation) PaymentOf(r *http.Request, body []byte) string {
	if !o.matches(r, body) {
		return ""
	}
	before, after, inPath := strings.Cut(o.Path, "*")
	if !inPath {
		form, _ := url.ParseQuery(string(body))
		return form.Get("payment_intent")
	}
	return strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, before), after)
}

// Phase is how far a request has come when it hits a breakpoint.
type Phase string

// The phases.
const (
	BeforeRequest  Phase = "before"             // the request does not arrive
	DuringRequest  Phase = "during"             // the request waits, and continues
	AfterEffect    Phase = "after"              // it had its effect, and its response is lost
	BeforeResponse Phase = "held after"         // it had its effect, and its response waits
	AfterResponse  Phase = "at the response to" // the response was sent
)

// KillPhases are the phases in which a gateway's death makes a difference.
var KillPhases = []Phase{BeforeRequest, AfterEffect, AfterResponse}

// Breakpoint stops requests of one operation in one phase.
type Breakpoint struct {
	Operation Operation
	Phase     Phase
	OnHit     func() // is called at the hit, while the request waits
	Every     bool   // every request hits, not just the first
	once      sync.Once
}

// hit runs the breakpoint in a phase, and reports whether it did.
func (b *Breakpoint) hit(phase Phase) (here bool) {
	if b == nil || b.Phase != phase {
		return false
	}
	if b.Every {
		b.OnHit()
		return true
	}
	b.once.Do(func() {
		here = true
		b.OnHit()
	})
	return here
}

// FaultProxy is an address of HTTP upstreams at which requests hit breakpoints. Other requests pass unchanged.
type FaultProxy struct {
	URL       string
	OnRequest func(*http.Request, []byte) // is called with the body of each request before that arrives, unless nil
	OnSuccess func(*http.Request, []byte) // is called with the body of each success before that is sent, unless nil
	upstream  http.Handler
	server    *httptest.Server

	mu          sync.Mutex
	breakpoints []*Breakpoint
}

// NewFaultProxy serves an upstream at an address of its own until Close.
func NewFaultProxy(upstream http.Handler) *FaultProxy {
	p := &FaultProxy{upstream: upstream}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	p.URL = p.server.URL
	return p
}

// Close ends all connections.
func (p *FaultProxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Add sets a breakpoint.
func (p *FaultProxy) Add(breakpoint *Breakpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakpoints = append(p.breakpoints, breakpoint)
}

// Remove removes a breakpoint, if it is there.
func (p *FaultProxy) Remove(breakpoint *Breakpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakpoints = slices.DeleteFunc(p.breakpoints, func(other *Breakpoint) bool { return other == breakpoint })
}

func (p *FaultProxy) breakpoint(r *http.Request, body []byte) *Breakpoint {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.breakpoints {
		if b.Operation.matches(r, body) {
			return b
		}
	}
	return nil
}

// serve passes one request on, even if its sender dies meanwhile.
func (p *FaultProxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the sender died while it sent the request
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	breakpoint := p.breakpoint(r, body)
	if breakpoint.hit(BeforeRequest) {
		panic(http.ErrAbortHandler)
	}
	breakpoint.hit(DuringRequest)
	if p.OnRequest != nil {
		p.OnRequest(r, body)
	}
	if breakpoint == nil && p.OnSuccess == nil {
		p.upstream.ServeHTTP(w, r)
		return
	}
	response := httptest.NewRecorder()
	p.upstream.ServeHTTP(response, r.WithContext(context.WithoutCancel(r.Context())))
	if p.OnSuccess != nil && response.Code < http.StatusMultipleChoices {
		p.OnSuccess(r, response.Body.Bytes())
	}
	if breakpoint.hit(AfterEffect) {
		panic(http.ErrAbortHandler)
	}
	breakpoint.hit(BeforeResponse)
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	w.Write(response.Body.Bytes())
	http.NewResponseController(w).Flush() //nolint:errcheck // the sender may be gone
	breakpoint.hit(AfterResponse)
}

// Fault is what a MessageProxy does to one message, or to several in a row.
type Fault struct {
	Message      int    // its number, counted over all connections from 1; 0: no fault
	Of           string // what a message contains that is counted; empty: every message is
	Times        int    // how many messages in a row, from that one; 0: one
	DropResponse bool   // the message arrives and its response is lost; else the message is lost
	Permanent    bool   // nothing passes from then on; else only the message's own connection breaks
}

// MessageProxy is the network between a client and its servers, which breaks at one message. A
// message is what the client writes at once: one request, for clients that wait for each response.
type MessageProxy struct {
	OnMessage func([]byte) // is called with each message, unless nil
	t         TB

	mu    sync.Mutex
	plan  Fault
	sent  int
	dead  bool
	conns []net.Conn // all that were ever open
}

// NewMessageProxy returns a proxy that breaks as planned. It ends with the test.
func NewMessageProxy(t TB, plan Fault) *MessageProxy {
	return &MessageProxy{t: t, plan: plan}
}

// Forward listens for connections to a server's address, and returns the address to connect to.
func (p *MessageProxy) Forward(server string) string {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(p.t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(client, server) })
		}
	})
	p.t.Cleanup(func() {
		listener.Close()
		p.Cut()
		serving.Wait()
	})
	return listener.Addr().String()
}

// Triggered reports whether the fault happened.
func (p *MessageProxy) Triggered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan.Message > 0 && p.sent >= p.plan.Message
}

// Cut ends every connection, and lets nothing pass from then on.
func (p *MessageProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for _, conn := range p.conns {
		conn.Close()
	}
}

// next counts a message, and reports whether it passes and whether its response does.
func (p *MessageProxy) next(message []byte) (pass, respond bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bytes.Contains(message, []byte(p.plan.Of)) {
		return !p.dead, true
	}
	p.sent++
	struck := p.plan.Message > 0 && p.sent >= p.plan.Message && p.sent < p.plan.Message+max(1, p.plan.Times)
	pass = !p.dead && (!struck || p.plan.DropResponse)
	p.dead = p.dead || struck && p.plan.Permanent
	return pass, !struck
}

// serve forwards one connection until either side or the fault ends it. Before it drops a response, it
// waits for it, so that the effect has happened.
func (p *MessageProxy) serve(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns = append(p.conns, client, server) // to close one again does no harm
	dead := p.dead
	p.mu.Unlock()
	if dead {
		return
	}
	var lost atomic.Bool
	var responses sync.WaitGroup
	responses.Go(func() {
		defer client.Close()
		relay(client, server, func([]byte) bool { return !lost.Load() })
	})
	relay(server, client, func(message []byte) bool {
		if p.OnMessage != nil {
			p.OnMessage(message)
		}
		pass, respond := p.next(message)
		if pass && !respond {
			lost.Store(true)
		}
		return pass
	})
	server.Close()
	responses.Wait()
}

// relay forwards each chunk that it reads, for as long as pass allows it.
func relay(to, from net.Conn, pass func([]byte) bool) {
	const maxMessage = 64 << 10 // several times the largest request of the tests, so that none is counted twice
	buffer := make([]byte, maxMessage)
	for {
		n, err := from.Read(buffer)
		if err != nil || !pass(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
