package club

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

const (
	// userAgent is fixed: a version in it would help an attacker.
	userAgent = "Frontdesk"
	// dialTimeout limits a TCP connection, handshakeTimeout its TLS handshake. Within one
	// country either takes well below a second.
	dialTimeout      = 3 * time.Second
	handshakeTimeout = 5 * time.Second
	// idleTimeout is how long an unused connection is kept: less than the minute after
	// which load balancers close theirs, so that few requests meet a closed connection.
	idleTimeout = 30 * time.Second
	// maxHeaderBytes limits the headers of a response, as Go's servers do.
	maxHeaderBytes = 1 << 20
)

// newTransport returns the pooled transport of every request but those of single_attempt.go. A nil
// tlsConfig means Go's defaults. It ignores the proxy variables of the environment.
//
// It uses only HTTP/1.1. With HTTP/2, Go's transport repeats requests by its own rules
// after GOAWAY and refused streams; with HTTP/1.1 it repeats only safe requests, and a
// request without GetBody only when nothing was sent.
func newTransport(tlsConfig *tls.Config, limits Limits) *http.Transport {
	idle := 2 * limits.MaxConcurrency // enough for two of the five lanes; the others share them
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
