package frontdesktest

import (
	"bufio"
	"io"
	"net"
	"sync"
	"time"
)

// TCPProxy is the network between a gateway and one server. A test can cut it, disturb it and restore it
// as a whole; a MessageProxy breaks at one message.
type TCPProxy struct {
	t               TB
	server, address string
	serving         sync.WaitGroup

	mu                  sync.Mutex
	listener            net.Listener
	open                map[net.Conn]bool // both ends of each connection
	requests, responses Disturbance
}

// Disturbance is what a TCPProxy does to the bytes of one direction. It affects open connections and new ones.
// The zero value does nothing.
type Disturbance struct {
	Pause    time.Duration // before each piece
	Piece    int           // how many bytes pass at once; zero: as many as arrive
	EndPause time.Duration // before the end of the sender's stream passes
	Break    *Break        // nil: the sender ends the connection
}

// Break ends a connection in both directions.
type Break struct {
	After   int           // how many bytes pass before it
	Swallow time.Duration // how long further bytes are lost before the connection ends
	Reset   bool          // the connection is reset; else it is closed
}

// NewTCPProxy forwards to a server's host and port until the test ends.
func NewTCPProxy(t TB, server string) *TCPProxy {
	t.Helper()
	proxy := &TCPProxy{t: t, server: server, address: "127.0.0.1:0", open: map[net.Conn]bool{}}
	proxy.listen()
	proxy.address = proxy.listener.Addr().String() // Restore listens at the same one
	t.Cleanup(func() {
		proxy.Cut()
		proxy.serving.Wait()
	})
	return proxy
}

// Address is the host and port at which it accepts connections.
func (p *TCPProxy) Address() string { return p.address }

// Cut ends every connection, and refuses new ones.
func (p *TCPProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for conn := range p.open {
		conn.Close()
	}
}

// Disturb replaces what happens to the requests and to the responses.
func (p *TCPProxy) Disturb(requests, responses Disturbance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.responses = requests, responses
}

// Trickle sends every response byte by byte. Each byte arrives before any idle timeout, and no response
// of any server is complete within any deadline.
func (p *TCPProxy) Trickle() {
	p.Disturb(Disturbance{}, Disturbance{Piece: 1, Pause: 300 * time.Millisecond})
}

// Restore removes all faults. The address stays the same.
func (p *TCPProxy) Restore() {
	p.t.Helper()
	p.Disturb(Disturbance{}, Disturbance{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil {
		p.listen()
	}
}

// listen accepts connections until Cut.
func (p *TCPProxy) listen() {
	p.t.Helper()
	listener, err := net.Listen("tcp", p.address)
	Must(p.t, err)
	p.listener = listener
	p.serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.serving.Go(func() { p.serve(client) })
		}
	})
}

// serve forwards one connection until either side or a fault ends it.
func (p *TCPProxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.admit(client, server) {
		return
	}
	var responses sync.WaitGroup
	responses.Go(func() { p.carry(client, server, &p.responses) })
	p.carry(server, client, &p.requests)
	responses.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

// admit notes the ends of a connection, and reports false if the network was cut meanwhile.
func (p *TCPProxy) admit(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.open[client], p.open[server] = true, true
	}
	return p.listener != nil
}

// now returns the disturbance of a direction at this moment.
func (p *TCPProxy) now(of *Disturbance) Disturbance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *of
}

// carry passes the bytes of one direction on, and then ends the connection in both.
func (p *TCPProxy) carry(to, from net.Conn, of *Disturbance) {
	defer to.Close()
	defer from.Close()
	incoming, passed := bufio.NewReader(from), 0
	for {
		if end := p.now(of).Break; end != nil && passed >= end.After {
			end.run(to, from)
			return
		}
		_, err := incoming.Peek(1)
		disturbance := p.now(of) // the test may have changed it while this waited
		if err != nil {
			<-time.After(disturbance.EndPause)
			return
		}
		<-time.After(disturbance.Pause)
		n, err := io.CopyN(to, incoming, int64(disturbance.size(incoming.Buffered(), passed)))
		if err != nil {
			return
		}
		passed += int(n)
	}
}

// size returns how many of the available bytes pass now, when some have passed before.
func (d Disturbance) size(available, passed int) int {
	if d.Piece > 0 {
		available = min(available, d.Piece)
	}
	if d.Break != nil {
		available = min(available, max(0, d.Break.After-passed))
	}
	return available
}

// run loses what still arrives for as long as the break says, and prepares the connection's end.
func (b *Break) run(to, from net.Conn) {
	_ = from.SetReadDeadline(time.Now().Add(b.Swallow))
	_, _ = io.Copy(io.Discard, from) // ends at the deadline
	if b.Reset {
		_ = to.(*net.TCPConn).SetLinger(0)
		_ = from.(*net.TCPConn).SetLinger(0)
	}
}
