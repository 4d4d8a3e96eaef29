package frontdesktest

import (
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// TCPProxy is the network between a gateway and one server that it stands on, which a test can
// cut and slow down as a whole, and mend. A Wire breaks at one message.
type TCPProxy struct {
	t     testing.TB
	proxy *toxiproxy.Proxy
}

// NewTCPProxy lays a line to a server's host and port.
func NewTCPProxy(t testing.TB, server string) *TCPProxy {
	t.Helper()
	l := &TCPProxy{t: t, proxy: toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "line", "127.0.0.1:0", server)}
	if err := l.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.proxy.Stop)
	return l
}

// Address is the host and port of its near end.
func (l *TCPProxy) Address() string { return l.proxy.Listen }

// Cut ends every connection, and refuses new ones.
func (l *TCPProxy) Cut() { l.proxy.Stop() }

// trickle lets a byte through each 300 ms (in microseconds): each is sooner than any limit of
// silence, and no answer of any server is whole within any limit of time.
const trickle = `{"type":"slicer","stream":"downstream","attributes":{"average_size":1,"size_variation":0,"delay":300000}}`

// Trickle has every answer come byte by byte, on connections that there are as on new ones.
func (l *TCPProxy) Trickle() {
	l.t.Helper()
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(trickle)); err != nil {
		l.t.Fatal(err)
	}
}

// Restore makes the line as good as new, on the address that it had.
func (l *TCPProxy) Restore() {
	l.t.Helper()
	l.proxy.Toxics.ResetToxics(l.t.Context())
	if err := l.proxy.Start(); err != nil && !strings.Contains(err.Error(), toxiproxy.ErrProxyAlreadyStarted.Error()) {
		l.t.Fatal(err)
	}
}
