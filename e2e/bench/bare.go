package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// bareTransport is an http.RoundTripper without goroutines: a refusal costs net/http's transport more
// CPU time than it costs the gateway. A request ends at its context's deadline, but not when the
// context is cancelled. Responses are read whole.
type bareTransport struct {
	mu   sync.Mutex
	idle map[string][]*bareConnection // by host, the most recently used one last
}

// maxIdle is below the gateway's own limit for idle connections.
const maxIdle = 20 * time.Second

type bareConnection struct {
	net.Conn
	reader *bufio.Reader
	used   time.Time
}

// RoundTrip implements http.RoundTripper.
func (t *bareTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := t.take(r.URL.Host)
	if err != nil {
		return nil, err
	}
	response, err := c.send(r)
	if err != nil || response.Close {
		_ = c.Close()
		return response, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.used = time.Now()
	t.idle[r.URL.Host] = append(t.idle[r.URL.Host], c)
	return response, nil
}

func (c *bareConnection) send(r *http.Request) (*http.Response, error) {
	deadline, _ := r.Context().Deadline() // none: no limit
	if err := errors.Join(c.SetDeadline(deadline), r.Write(c)); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.reader, r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

func (t *bareTransport) take(host string) (*bareConnection, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if free := t.idle[host]; len(free) > 0 && time.Since(free[len(free)-1].used) < maxIdle {
		t.idle[host] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &bareConnection{Conn: c, reader: bufio.NewReader(c)}, nil
}
