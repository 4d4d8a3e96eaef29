package cmd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/cmd"
)

// pipes is a listener that accepts the connections sent to it.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	connection, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return connection, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return new(net.TCPAddr) }

// TestServeWaitsForStopping: what stopping closes is closed when serve returns.
func TestServeWaitsForStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		closed := false
		if err := cmd.Serve(ctx, make(pipes), http.NotFoundHandler(), func() { time.Sleep(time.Minute); closed = true }); err != nil {
			t.Error(err)
		}
		if !closed {
			t.Error("serve returned before stopping had")
		}
	})
}

// TestRequestOutlastsShutdown: the error names the reason, and the connection is closed.
func TestRequestOutlastsShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		end := make(chan struct{})
		defer close(end)
		client, server := net.Pipe()
		listener := make(pipes, 1)
		listener <- server
		go func() { _, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: gateway\r\n\r\n") }()
		err := cmd.Serve(ctx, listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stop(); <-end }), func() {})
		if err == nil || !strings.Contains(err.Error(), "requests were still in progress after 45s") {
			t.Errorf("it returned %v", err)
		}
		_ = client.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}
