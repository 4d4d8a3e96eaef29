package club

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// sendOnce sends a request at most once and knows exactly whether a byte of it was sent.
//
// http.Client cannot do that. Over HTTP/2 it repeats a POST after certain connection
// errors, it follows a 307 with the body, and it repeats requests with an Idempotency-Key
// header. Here each request has its own HTTP/1.1 connection. net/http's ClientConn has no
// second connection to repeat anything on, and follows no redirects.
func (c *Client) sendOnce(ctx context.Context, request request, gate Gate) (response, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.Limits.PaymentTimeout)
	defer cancel()
	if held := c.await(ctx, request.op, request.scope.ClientToken); held != nil {
		return response{}, held
	}
	token, err := c.tokens.proven(ctx, request.scope.ClientToken)
	if err != nil {
		return response{}, notSent(request.op, err)
	}
	ctx, span := startSpan(ctx, request.op)
	defer span.End()
	req, err := c.newRequest(ctx, &request, token)
	if err != nil {
		return response{}, notSent(request.op, err)
	}
	start := c.cfg.Now()
	response, failure := c.roundTrip(req, &request, &attempt{gate: gate})
	c.observe(ctx, request.op, response.status, failure, c.cfg.Now().Sub(start))
	if !failure.isForeign() {
		c.tokens.report(token, response.status)
	}
	if failure != nil {
		return response, failure
	}
	return response, nil
}

func (c *Client) roundTrip(req *http.Request, request *request, attempt *attempt) (response, *Error) {
	conn, err := c.singleUseTransport(attempt).NewClientConn(req.Context(), req.URL.Scheme,
		net.JoinHostPort(req.URL.Hostname(), req.URL.Port()))
	if err != nil {
		return response{}, notSent(request.op, err)
	}
	defer func() { _ = conn.Close() }() // the response was read, or failed
	resp, err := conn.RoundTrip(req)
	sent, refused := attempt.seal()
	if refused != nil {
		err = fmt.Errorf("%w: %w", ErrGate, refused)
	}
	if err != nil {
		if resp != nil {
			_ = resp.Body.Close() // the error says more
		}
		return response{}, &Error{Operation: request.op, Outcome: classify(sent, 0, "", false), Err: err}
	}
	response := c.readResponse(resp)
	c.quota(request.scope.ClientToken).see(response.limits)
	switch {
	case classify(sent, response.status, "", response.limited) != Accepted:
		return response, newError(request.op, sent, response)
	case !request.own(response):
		return response, foreign(request.op, response)
	}
	return response, nil
}

// singleUseTransport returns a transport whose connections pass every byte through the
// attempt. It does TLS itself, so that the attempt counts the request's bytes and not the
// handshake's.
func (c *Client) singleUseTransport(attempt *attempt) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return attemptConn{conn, attempt}, nil
	}
	dialTLS := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		secured, err := handshake(ctx, conn, address, c.cfg.TLS)
		if err != nil {
			_ = conn.Close() // nothing was sent on it
			return nil, err
		}
		return attemptConn{secured, attempt}, nil
	}
	return &http.Transport{
		Protocols:              http11(),
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DialContext:            dial,
		DialTLSContext:         dialTLS,
	}
}

// handshake secures a connection and offers only HTTP/1.1. A nil base means Go's defaults.
func handshake(ctx context.Context, conn net.Conn, address string, base *tls.Config) (net.Conn, error) {
	config := cmp.Or(base, &tls.Config{}).Clone() // #nosec G402 -- Go's default is TLS 1.2
	config.NextProtos = []string{"http/1.1"}
	host, _, _ := net.SplitHostPort(address)
	config.ServerName = cmp.Or(config.ServerName, host)
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	secured := tls.Client(conn, config)
	return secured, secured.HandshakeContext(ctx)
}

// attempt is the only attempt of a request. It calls the gate before the first byte, counts
// the bytes handed to the connection, and lets no byte pass once it is sealed: the
// transport may still be about to write when it reports a timeout, and no byte may be sent
// after the outcome was decided.
type attempt struct {
	gate Gate

	mu      sync.Mutex
	sent    int64
	sealed  bool
	refused error // the gate's answer
}

// errSealed stops a write that comes after the outcome was decided.
var errSealed = errors.New("club: the outcome was decided before this write")

// admit decides on a write of n bytes. They count as sent from here on, because a write
// that fails may have sent some of them.
func (a *attempt) admit(n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sealed {
		return errSealed
	}
	if a.sent == 0 && a.gate != nil {
		if a.refused = a.gate(); a.refused != nil {
			a.sealed = true
			return a.refused
		}
	}
	a.sent += int64(n)
	return nil
}

// seal ends the attempt. It returns the bytes handed to the connection and the gate's
// error.
func (a *attempt) seal() (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sealed = true
	return a.sent, a.refused
}

type attemptConn struct {
	net.Conn
	attempt *attempt
}

func (c attemptConn) Write(p []byte) (int, error) {
	if err := c.attempt.admit(len(p)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
