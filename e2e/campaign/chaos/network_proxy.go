package chaos

import (
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"
)

// refusedToConnect is the one fault without a connection.
const refusedToConnect = "connection refused"

// line is the network between one client and a server. The connection after next breaks
// in the way that was planned; all others pass.
type line struct {
	address string // of the near end
	server  string
	random  *rand.Rand
	secure  bool
	seen    atomic.Int64 // bytes of planned connections that came from the client; with TLS none is counted

	mu       sync.Mutex
	listener net.Listener
	planned  *plan
	open     map[net.Conn]bool
	group    sync.WaitGroup
	under    sync.WaitGroup // the planned connection
}

// plan is a break that one connection is to have.
type plan struct {
	how   fault
	at    int // the byte at which
	broke atomic.Bool
}

// fault is a way to break a connection.
type fault struct {
	kind string
	// within is how many bytes into its direction it can happen.
	within int
	do     func(*exchange)
}

func newLine(server string, random *rand.Rand, secure bool) (*line, error) {
	l := &line{address: "127.0.0.1:0", server: server, random: random, secure: secure, open: map[net.Conn]bool{}}
	return l, l.listen()
}

func (l *line) listen() error {
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		return err
	}
	l.address = listener.Addr().String()
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	l.group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.carry(conn)
		}
	})
	return nil
}

// refuse lets nobody connect any more, or everybody again. What is connected stays.
func (l *line) refuse(on bool) {
	if on {
		l.listener.Close()
		return
	}
	for l.listen() != nil { // the port is ours, and free in a moment
		time.Sleep(time.Millisecond) //nolint:forbidigo // nothing tells when
	}
}

// next plans a break for the next connection. It gives what tells whether it happened.
func (l *line) next(how fault) func() bool {
	p := &plan{how: how, at: l.random.IntN(how.within + 1)}
	if l.secure && how.within > 0 && l.random.IntN(4) > 0 { // the handshake alone is longer
		p.at += handshakeBytes
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planned = p
	return p.broke.Load
}

// through waits until the planned connection is over, and forgets a plan that met none.
func (l *line) through() {
	l.mu.Lock()
	l.planned = nil
	l.mu.Unlock()
	l.under.Wait()
}

func (l *line) close() {
	l.mu.Lock()
	l.listener.Close()
	for conn := range l.open {
		conn.Close()
	}
	l.mu.Unlock()
	l.group.Wait()
}

// carry passes one connection on, broken or whole.
func (l *line) carry(client net.Conn) {
	l.mu.Lock()
	p := l.planned
	l.planned = nil
	l.open[client] = true
	if p != nil {
		l.under.Add(1)
	}
	l.mu.Unlock()
	l.group.Go(func() {
		defer l.forget(client)
		if p != nil {
			defer l.under.Done()
		}
		server, err := net.Dial("tcp", l.server)
		if err != nil {
			client.Close()
			return
		}
		defer server.Close()
		x := &exchange{line: l, plan: p, client: client.(*net.TCPConn), server: server.(*net.TCPConn)}
		if p == nil {
			x.pass()
			return
		}
		p.how.do(x)
		x.client.Close()
	})
}

func (l *line) forget(conn net.Conn) {
	conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, conn)
}

// exchange is one connection.
type exchange struct {
	line           *line
	plan           *plan // nil: passes
	client, server *net.TCPConn
}

// pass lets everything through, both ways, until both ends are done.
func (x *exchange) pass() {
	var both sync.WaitGroup
	both.Go(func() { x.request(-1, 0, 0); x.server.CloseWrite() })
	both.Go(func() { x.answer(-1, 0, 0); x.client.CloseWrite() })
	both.Wait()
}

// request passes so many bytes of the client's (-1: all), in pieces of a size (0: any)
// with a pause after each, and tells whether it came that far.
func (x *exchange) request(n, piece int, pause time.Duration) bool {
	count := func(k int) {
		if x.plan != nil && !x.line.secure {
			x.line.seen.Add(int64(k))
		}
	}
	return shovel(x.server, x.client, n, piece, pause, count)
}

// answer does the same for the server's.
func (x *exchange) answer(n, piece int, pause time.Duration) bool {
	return shovel(x.client, x.server, n, piece, pause, func(int) {})
}

// shovel copies n bytes (-1: all), and tells whether there were as many.
func shovel(to io.Writer, from io.Reader, n, piece int, pause time.Duration, count func(int)) bool {
	const most = 32 << 10
	buffer := make([]byte, most)
	for n != 0 {
		size := most
		if piece > 0 {
			size = piece
		}
		if n > 0 {
			size = min(size, n)
		}
		k, err := from.Read(buffer[:size])
		count(k)
		if _, writeErr := to.Write(buffer[:k]); writeErr != nil || err != nil {
			return false
		}
		if n > 0 {
			n -= k
		}
		if pause > 0 {
			time.Sleep(pause) //nolint:forbidigo // a slow network is slow
		}
	}
	return true
}

// quiet keeps a server from writing about every connection that was broken.
func quiet(s *httptest.Server) { s.Config.ErrorLog = log.New(io.Discard, "", 0) }
