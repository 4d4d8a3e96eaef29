package frontdesktest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Fault is what happens to one message on a Wire.
type Fault struct {
	// Message is the number of the message that meets with it, counted over all
	// connections from 1; 0: nothing breaks.
	Message int
	// DropResponse lets the message arrive and loses its answer; else the message itself is lost.
	DropResponse bool
	// Permanent keeps everything from then on from passing, as if the sender had
	// died; else only the message's own connection breaks.
	Permanent bool
}

// maxMessage is several times the largest request of the tests, so that none is
// counted twice.
const maxMessage = 64 << 10

// MessageProxy is the network between a client and its servers, one that a test can
// break at any message. A message is what the client hands over in one write:
// one request, for clients that wait for each answer.
type MessageProxy struct {
	t testing.TB

	mu    sync.Mutex
	plan  Fault
	sent  int
	dead  bool
	conns map[net.Conn]bool
}

// NewMessageProxy makes a wire that breaks as planned, and is taken down with the test.
func NewMessageProxy(t testing.TB, plan Fault) *MessageProxy {
	return &MessageProxy{t: t, plan: plan, conns: map[net.Conn]bool{}}
}

// Forward lays the wire to a server's address, and gives the address of its near end.
func (w *MessageProxy) Forward(server string) string {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	var ends sync.WaitGroup
	ends.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			ends.Go(func() { w.serve(client, server) })
		}
	})
	w.t.Cleanup(func() {
		listener.Close()
		w.Cut()
		ends.Wait()
	})
	return listener.Addr().String()
}

// Sent is how many messages were sent, lost ones included.
func (w *MessageProxy) Sent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// Triggered tells whether the plan was carried out.
func (w *MessageProxy) Triggered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plan.Message > 0 && w.sent >= w.plan.Message
}

// Cut ends every connection, and lets nothing pass any more.
func (w *MessageProxy) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for conn := range w.conns {
		conn.Close()
	}
}

// serve passes messages to the server and answers back, until one side or the wire ends it.
func (w *MessageProxy) serve(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	if !w.track(client, server) {
		return
	}
	defer w.untrack(client, server)
	l := &proxiedConn{wire: w, client: client, server: server}
	var back sync.WaitGroup
	back.Go(l.forwardResponses)
	l.forwardRequests()
	back.Wait()
}

func (w *MessageProxy) track(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = true
	}
	return !w.dead
}

func (w *MessageProxy) untrack(conns ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		delete(w.conns, conn)
	}
}

// next counts a message and says what becomes of it.
func (w *MessageProxy) next() (pass, loseAnswer bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	struck := w.sent == w.plan.Message
	pass = !w.dead && (!struck || w.plan.DropResponse)
	w.dead = w.dead || struck && w.plan.Permanent
	return pass, pass && struck
}

// proxiedConn is one connection over a wire.
type proxiedConn struct {
	wire           *MessageProxy
	client, server net.Conn

	mu   sync.Mutex
	lose bool
}

// forwardRequests passes what the client sends.
func (l *proxiedConn) forwardRequests() {
	defer l.server.Close()
	buffer := make([]byte, maxMessage)
	for {
		n, err := l.client.Read(buffer)
		if err != nil {
			return
		}
		pass, loseAnswer := l.wire.next()
		if !pass {
			l.client.Close()
			return
		}
		if loseAnswer {
			l.mu.Lock()
			l.lose = true
			l.mu.Unlock()
		}
		if _, err := l.server.Write(buffer[:n]); err != nil {
			l.client.Close()
			return
		}
	}
}

// forwardResponses passes what the server sends. A lost answer is waited for, so that
// its effect has happened, and ends the connection.
func (l *proxiedConn) forwardResponses() {
	defer l.client.Close()
	buffer := make([]byte, maxMessage)
	for {
		n, err := l.server.Read(buffer)
		l.mu.Lock()
		lose := l.lose
		l.mu.Unlock()
		if err != nil || lose {
			return
		}
		if _, err := l.client.Write(buffer[:n]); err != nil {
			io.Copy(io.Discard, l.server)
			return
		}
	}
}
