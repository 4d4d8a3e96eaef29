package handlers

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// This file is the connection below the HTTP server. What is the same in every answer goes
// over it as it is kept, and an answer leaves in one piece: the server by itself puts headers
// into a map, copies, sorts and checks them, and sends the first four kilobytes apart.

// Listen gives a listener on whose connections answers from memory take the shortcut. The
// server has to hand its connections to Connected.
func Listen(tcp net.Listener) net.Listener {
	return &wires{Listener: tcp, held: sync.Pool{New: func() any { return new([]byte) }}}
}

// Connected gives a connection of Listen to the handlers of its requests; it is an
// http.Server's ConnContext.
func Connected(ctx context.Context, connection net.Conn) context.Context {
	if wire, ok := connection.(*wire); ok {
		return context.WithValue(ctx, wireKey{}, wire)
	}
	return ctx
}

type wireKey struct{}

type wires struct {
	net.Listener
	held sync.Pool // of *[]byte, so that a connection on which nothing happens holds nothing
}

// Accept implements net.Listener.
func (l *wires) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if tcp, ok := connection.(*net.TCPConn); ok {
		peer, _ := netip.ParseAddrPort(tcp.RemoteAddr().String()) // as the server tells it
		return &wire{TCPConn: tcp, from: l, peer: peer.Addr()}, nil
	}
	return connection, err
}

// wire is a connection. The server writes to it from the goroutine of the request alone.
type wire struct {
	*net.TCPConn
	from  *wires
	peer  netip.Addr
	lines [2][]byte // headers that go behind the next status line
	more  bool      // the next piece is followed by another at once
	held  *[]byte   // a piece that waits for the other; nil: none does
	until time.Time // the deadline of writes
	armed time.Time // the deadline of which the system knows
}

// deadlineSlack is how much sooner than its deadline a write may end: a connection on which
// requests follow each other has a new deadline for each, and all are much longer.
const deadlineSlack = time.Second

// SetWriteDeadline implements net.Conn. It counts from the next write on.
func (c *wire) SetWriteDeadline(until time.Time) error {
	c.until = until
	return nil
}

// SetDeadline implements net.Conn.
func (c *wire) SetDeadline(until time.Time) error {
	c.until, c.armed = until, until
	return c.TCPConn.SetDeadline(until)
}

// arm tells the system of the deadline, unless what it knows is as good.
func (c *wire) arm() error {
	if later := c.until.Sub(c.armed); later >= 0 && later < deadlineSlack {
		return nil
	}
	c.armed = c.until
	return c.TCPConn.SetWriteDeadline(c.until)
}

// ReadFrom implements io.ReaderFrom. Nothing is held while somebody uses it: the shortcut does not.
func (c *wire) ReadFrom(r io.Reader) (int64, error) {
	if err := c.arm(); err != nil {
		return 0, err
	}
	return c.TCPConn.ReadFrom(r)
}

// Read implements net.Conn. Who was just answered has not asked again yet: others go first,
// and a call of the system that would find nothing is saved where there are many.
func (c *wire) Read(p []byte) (int, error) {
	if len(p) > 1 { // one byte is what the server waits for behind a request's back
		runtime.Gosched()
	}
	return c.TCPConn.Read(p)
}

// begin has whole lines of headers, which nobody changes, follow the status line of the
// answer that is written next.
func (c *wire) begin(always, now []byte) { c.lines = [2][]byte{always, now} }

// gather holds the next piece back until another one comes, or settle.
func (c *wire) gather() { c.more = true }

// settle sends what is held.
func (c *wire) settle() error {
	c.more = false
	if c.held == nil {
		return nil
	}
	err := c.arm()
	if err == nil {
		_, err = c.TCPConn.Write(*c.held)
	}
	c.release()
	return err
}

// release forgets what was held.
func (c *wire) release() {
	*c.held = (*c.held)[:0]
	c.from.held.Put(c.held)
	c.held = nil
}

// Write implements net.Conn.
func (c *wire) Write(p []byte) (int, error) {
	switch {
	case c.held != nil:
		return c.together(p)
	case c.lines[0] == nil && !c.more:
		if err := c.arm(); err != nil {
			return 0, err
		}
		return c.TCPConn.Write(p)
	}
	status := 0
	if c.lines[0] != nil {
		status = bytes.IndexByte(p, '\n') + 1
	}
	c.held = c.from.held.Get().(*[]byte)
	*c.held = append(append(append(append(*c.held, p[:status]...), c.lines[0]...), c.lines[1]...), p[status:]...)
	c.lines = [2][]byte{}
	if c.more {
		c.more = false
		return len(p), nil
	}
	if err := c.settle(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// together sends what is held, and p, in one call of the system.
func (c *wire) together(p []byte) (int, error) {
	defer c.release()
	if err := c.arm(); err != nil {
		return 0, err
	}
	all, before := net.Buffers{*c.held, p}, int64(len(*c.held))
	n, err := all.WriteTo(c.TCPConn)
	return int(max(0, n-before)), err
}
