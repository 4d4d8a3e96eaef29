package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// bareTransport is an http.RoundTripper without goroutines: a refusal costs net/http's transport more
// CPU time than it costs the gateway. A request ends at its context's deadline, but not when the
// context is cancelled.
type bareTransport struct {
	mu   sync.Mutex
	idle map[string][]*bareConnection // by host, the most recently used one last
}

// maxIdle is below the gateway's own limit for idle connections.
const maxIdle = 20 * time.Second

type bareConnection struct {
	net.Conn
	reader *bufio.Reader
	writer *bufio.Writer
	used   time.Time
}

// RoundTrip implements http.RoundTripper.
func (t *bareTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := t.take(r.URL.Host)
	if err != nil {
		return nil, err
	}
	deadline, _ := r.Context().Deadline() // none: no limit
	err = errors.Join(c.SetDeadline(deadline), r.Write(c.writer), c.writer.Flush())
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	response, err := http.ReadResponse(c.reader, r)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	response.Body = &bareBody{ReadCloser: response.Body, transport: t, connection: c, host: r.URL.Host, last: response.Close}
	return response, nil
}

func (t *bareTransport) take(host string) (*bareConnection, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if free := t.idle[host]; len(free) > 0 && time.Since(free[len(free)-1].used) < maxIdle {
		c := free[len(free)-1]
		t.idle[host] = free[:len(free)-1]
		return c, nil
	}
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &bareConnection{Conn: c, reader: bufio.NewReader(c), writer: bufio.NewWriter(c)}, nil
}

// bareBody returns its connection after it was read to its end.
type bareBody struct {
	io.ReadCloser
	transport  *bareTransport
	connection *bareConnection
	host       string
	last, read bool // the server closes the connection; all was read
}

func (b *bareBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.read = b.read || err == io.EOF
	return n, err
}

func (b *bareBody) Close() error {
	if b.last || !b.read {
		return b.connection.Close()
	}
	b.transport.mu.Lock()
	defer b.transport.mu.Unlock()
	b.connection.used = time.Now()
	b.transport.idle[b.host] = append(b.transport.idle[b.host], b.connection)
	return nil
}
