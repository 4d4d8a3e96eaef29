package club

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

const (
	// userAgent is fixed: a version in it would tell strangers what to attack.
	userAgent = "Frontdesk"
	// dialTimeout bounds a TCP connection, handshakeTimeout the TLS handshake on it.
	// Within one country either takes well under a second.
	dialTimeout      = 3 * time.Second
	handshakeTimeout = 5 * time.Second
	// idleTimeout is how long an unused connection is kept: less than the minute
	// after which load balancers drop theirs, so that few requests meet a
	// connection that is closed already.
	idleTimeout = 30 * time.Second
	// maxHeaderBytes bounds the headers of an answer in bytes, as Go's servers do.
	maxHeaderBytes = 1 << 20
)

// NewTransport makes the pooled transport of every request but CreatePayment.
// A nil tlsConfig stands for Go's defaults.
//
// It speaks HTTP/1.1 alone. With HTTP/2, Go's transport repeats requests by rules
// of its own after GOAWAY and refused streams; with HTTP/1.1 it repeats only
// what is safe to repeat, and a request without GetBody only when nothing was sent.
// No proxy is looked for in the environment, which is read in main alone.
func NewTransport(tlsConfig *tls.Config, limits Limits) *http.Transport {
	limits.setDefaults()
	idle := 2 * limits.Concurrency // both lanes
	return &http.Transport{
		Protocols:              http11(),
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

func http11() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	return &p
}
