package cmd_test

import (
	"context"
	"net"
	"net/http"
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
