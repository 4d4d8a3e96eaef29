package frontdesktest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Breakage is what happens to one message on a Wire.
type Breakage struct {
	// Message is the number of the message that meets with it, counted over all
	// connections from 1; 0: nothing breaks.
	Message int
	// AnswerLost lets the message arrive and loses its answer; else the message itself is lost.
	AnswerLost bool
	// ForGood keeps everything from then on from passing, as if the sender had
	// died; else only the message's own connection breaks.
	ForGood bool
}

// maxMessage is several times the largest request of the tests, so that none is
// counted twice.
const maxMessage = 64 << 10

// Wire is the network between a client and its servers, one that a test can
// break at any message. A message is what the client hands over in one write:
// one request, for clients that wait for each answer.
type Wire struct {
	t testing.TB

	mu    sync.Mutex
	plan  Breakage
	sent  int
	dead  bool
	conns map[net.Conn]bool
}

// NewWire makes a wire that breaks as planned, and is taken down with the test.
func NewWire(t testing.TB, plan Breakage) *Wire {
	return &Wire{t: t, plan: plan, conns: map[net.Conn]bool{}}
}

// To lays the wire to a server's address, and gives the address of its near end.
func (w *Wire) To(server string) string {
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
			ends.Go(func() { w.carry(client, server) })
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
func (w *Wire) Sent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// Broke tells whether the plan was carried out.
func (w *Wire) Broke() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plan.Message > 0 && w.sent >= w.plan.Message
}

// Cut ends every connection, and lets nothing pass any more.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for conn := range w.conns {
		conn.Close()
	}
}

// carry passes messages to the server and answers back, until one side or the wire ends it.
func (w *Wire) carry(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	if !w.join(client, server) {
		return
	}
	defer w.leave(client, server)
	l := &leg{wire: w, client: client, server: server}
	var back sync.WaitGroup
	back.Go(l.answers)
	l.messages()
	back.Wait()
}

func (w *Wire) join(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = true
	}
	return !w.dead
}

func (w *Wire) leave(conns ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		delete(w.conns, conn)
	}
}

// next counts a message and says what becomes of it.
func (w *Wire) next() (pass, loseAnswer bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	struck := w.sent == w.plan.Message
	pass = !w.dead && (!struck || w.plan.AnswerLost)
	w.dead = w.dead || struck && w.plan.ForGood
	return pass, pass && struck
}

// leg is one connection over a wire.
type leg struct {
	wire           *Wire
	client, server net.Conn

	mu   sync.Mutex
	lose bool
}

// messages passes what the client sends.
func (l *leg) messages() {
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

// answers passes what the server sends. A lost answer is waited for, so that
// its effect has happened, and ends the connection.
func (l *leg) answers() {
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
