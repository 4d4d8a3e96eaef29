package oldsandbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

// network carries real HTTP between a test's hosts over pipes, without sockets, so that tests about time can
// run in a synctest bubble, where minutes pass at once.
type network struct {
	mu    sync.Mutex
	hosts map[string]*host
}

// host is a listener on the network.
type host struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (h *host) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *host) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *host) Addr() net.Addr { return &net.TCPAddr{} }

// serve runs a handler under a host name until the test ends.
func (n *network) serve(t *testing.T, name string, handler http.Handler) {
	h := &host{conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.hosts[name+":80"] = h
	n.mu.Unlock()
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(h); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("%s: %v", name, err)
		}
	})
	t.Cleanup(func() { server.Close(); serving.Wait() })
}

func (n *network) client(t *testing.T) *http.Client {
	transport := &http.Transport{DialContext: n.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	h, ok := n.hosts[address]
	n.mu.Unlock()
	if !ok {
		return nil, errors.New("no such host")
	}
	near, far := net.Pipe()
	select {
	case h.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// webhookEnv is a sandbox and a receiver of its webhooks on a network of pipes.
type webhookEnv struct {
	*testing.T
	start  time.Time
	net    *network
	server *oldsandbox.Server
	client *oldsandbox.Client
	http   *http.Client
	log    *attemptLog

	keys int

	mu     sync.Mutex
	got    []arrival
	answer func(n int) int // returns the status for the n-th arrival, from 1; nil: 204
}

// arrival is a delivery as the receiver saw it.
type arrival struct {
	after  time.Duration // since the start of the test
	path   string
	header http.Header
	body   []byte
	event  cards.Event // as the client verified it on arrival
	state  cards.State // of the event's payment
}

func inBubble(t *testing.T, test func(b *webhookEnv)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &webhookEnv{T: t, start: time.Now(), net: &network{hosts: map[string]*host{}}}
		b.http = b.net.client(t)
		b.log = &attemptLog{Handler: slog.DiscardHandler}
		b.server = oldsandbox.NewServer(oldsandbox.ServerConfig{
			Now: time.Now, BaseURL: "http://sandbox.test/sandbox", HTTPClient: b.http, Logger: slog.New(b.log),
		})
		b.net.serve(t, "sandbox.test", http.StripPrefix("/sandbox", b.server))
		b.net.serve(t, "club.test", http.HandlerFunc(b.receive))
		b.client = oldsandbox.New(oldsandbox.Config{URL: "http://sandbox.test/sandbox", Now: time.Now, HTTPClient: b.http})
		defer b.server.Close()
		test(b)
	})
}

// pass lets time pass until everything due in it has happened.
func (b *webhookEnv) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (b *webhookEnv) create(webhookURL string) string {
	b.Helper()
	b.keys++
	p, err := b.client.Create(b.Context(), fmt.Sprint("create ", b.keys), cards.NewPayment{
		Amount: 4990, Currency: "EUR", WebhookURL: webhookURL, Metadata: map[string]string{"fd_sale": "s1"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return p.ID
}
