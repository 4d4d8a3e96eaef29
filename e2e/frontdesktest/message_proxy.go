package frontdesktest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Fault is what happens to one message of a MessageProxy.
type Fault struct {
	// Message is the number of the message, counted over all connections from 1; 0: no fault.
	Message int
	// DropResponse lets the message arrive and loses its response; else the message itself is lost.
	DropResponse bool
	// Permanent keeps everything from then on from passing, as if the sender had
	// died; else only the message's own connection breaks.
	Permanent bool
}

// MessageProxy is the network between a client and its servers, which breaks at one message. A
// message is what the client writes at once: one request, for clients that wait for each response.
type MessageProxy struct {
	t testing.TB

	mu    sync.Mutex
	plan  Fault
	sent  int
	dead  bool
	conns map[net.Conn]bool
}

// NewMessageProxy makes a proxy that breaks as planned, and ends with the test.
func NewMessageProxy(t testing.TB, plan Fault) *MessageProxy {
	return &MessageProxy{t: t, plan: plan, conns: map[net.Conn]bool{}}
}

// Forward listens for connections to a server's address, and gives the address to connect to.
func (p *MessageProxy) Forward(server string) string {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
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

// Sent is how many messages were sent, lost ones included.
func (p *MessageProxy) Sent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Triggered tells whether the fault happened.
func (p *MessageProxy) Triggered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan.Message > 0 && p.sent >= p.plan.Message
}

// Cut ends every connection, and lets nothing pass any more.
func (p *MessageProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for conn := range p.conns {
		conn.Close()
	}
}

// next counts a message, and tells whether it passes and whether its response does.
func (p *MessageProxy) next() (pass, respond bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent++
	struck := p.sent == p.plan.Message
	pass = !p.dead && (!struck || p.plan.DropResponse)
	p.dead = p.dead || struck && p.plan.Permanent
	return pass, !struck
}

// serve forwards one connection until either side ends it or the fault does. A response to be lost is
// waited for, so that its effect has happened.
func (p *MessageProxy) serve(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	dead := p.dead
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	if dead {
		return
	}
	var lost atomic.Bool
	var responses sync.WaitGroup
	responses.Go(func() {
		defer client.Close()
		relay(client, server, func() bool { return !lost.Load() })
	})
	relay(server, client, func() bool {
		pass, respond := p.next()
		if pass && !respond {
			lost.Store(true)
		}
		return pass
	})
	server.Close()
	responses.Wait()
}

// relay forwards what is read at once, for as long as pass allows it.
func relay(to, from net.Conn, pass func() bool) {
	const maxMessage = 64 << 10 // several times the largest request of the tests, so that none is counted twice
	buffer := make([]byte, maxMessage)
	for {
		n, err := from.Read(buffer)
		if err != nil || !pass() {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
