package club_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
)

// TestPaymentStatuses sends a payment to a server that returns each possible status, and compares the outcomes
// with the table for payments.
func TestPaymentStatuses(t *testing.T) {
	want := map[int]club.Outcome{}
	for status := 200; status <= 599; status++ {
		want[status] = club.Unknown
		if status <= 299 {
			want[status] = club.Accepted
		}
	}
	for _, status := range []int{401, 421, 425, 426, 428, 431} {
		want[status] = club.Refused
	}
	for _, status := range []int{400, 403, 404, 405, 406, 410, 413, 415, 422} {
		want[status] = club.Rejected
	}
	var status atomic.Int64
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(int(status.Load()))
	})
	c := club.New(configured(upstream.URL))
	for _, s := range slices.Sorted(maps.Keys(want)) {
		status.Store(int64(s))
		before := len(upstream.seen())
		receipt, err := c.CreatePayment(t.Context(), demo, sale, payment, nil)
		if got := club.OutcomeOf(err); got != want[s] {
			t.Errorf("status %d: outcome %s, want %s", s, got, want[s])
		}
		if err == nil && receipt.Status != s {
			t.Errorf("status %d: receipt says %d", s, receipt.Status)
		}
		if n := len(upstream.seen()) - before; n != 1 {
			t.Errorf("status %d: %d requests, want one", s, n)
		}
	}
}

// TestPaymentCodes: only one code turns a 403 into a refusal, whatever the error's shape.
func TestPaymentCodes(t *testing.T) {
	for body, want := range map[string]club.Outcome{
		`{"code": "api.error.scope.unauthorized-endpoint"}`:                           club.Refused,
		`{"hydra:description": "api.error.scope.unauthorized-endpoint: not granted"}`: club.Refused,
		`{"code": "api.error.sale.locked"}`:                                           club.Rejected,
		`{"code": 403}`:                                                               club.Rejected,
		`<html>Forbidden</html>`:                                                      club.Rejected,
	} {
		u := serve(t, answering(http.StatusForbidden, body))
		_, err := club.New(configured(u.URL)).CreatePayment(t.Context(), demo, sale, payment, nil)
		if got := club.OutcomeOf(err); got != want {
			t.Errorf("403 %s: outcome %s, want %s", body, got, want)
		}
		if want == club.Refused && !errors.Is(err, club.ErrEndpointNotGranted) {
			t.Errorf("403 %s: %v, want ErrEndpointNotGranted", body, err)
		}
	}
}

// TestPaymentRequest checks every byte of the request.
func TestPaymentRequest(t *testing.T) {
	raw := make(chan string, 1)
	address := listen(t, func(conn net.Conn) {
		raw <- readRequest(conn)
		io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 30\r\n\r\n"+`{"@id": "/demo/payments/1000"}`)
	})
	cfg := configured("http://" + address)
	cfg.Transport = elsewhere(serve(t, nil).Server)
	cfg.Traceparent = func(context.Context) string { return "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }
	receipt := must[club.Receipt](t)(club.New(cfg).CreatePayment(t.Context(), demo, sale, payment, nil))
	if receipt.Status != 201 || receipt.Payment != "/demo/payments/1000" {
		t.Errorf("receipt %+v", receipt)
	}
	head, body, _ := strings.Cut(frontdesktest.Receive(t, raw, "the request"), "\r\n\r\n")
	wantHead := strings.Join([]string{
		"POST /demo/sales/1/payments HTTP/1.1",
		"Host: " + address,
		"User-Agent: Frontdesk",
		fmt.Sprintf("Content-Length: %d", len(body)),
		"Accept: application/ld+json, application/json;q=0.5",
		"Authorization: Bearer tok-1",
		"Content-Type: application/json",
		"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"X-Gateway-Api-Key: key",
		"X-User-Club-Id: /demo/clubs/11",
		"X-User-Network-Node-Id: /demo/network_nodes/3",
	}, "\r\n")
	if head != wantHead {
		t.Errorf("request\n%s\nwant\n%s", head, wantHead)
	}
	wantBody := `{"contactId":"/demo/contacts/7","contactFamilyName":"Testeur","contactGivenName":"Ada","contactNumber":"C7",` +
		`"amount":4990,"mean":"CBWeb","clubId":"/demo/clubs/11","clubCode":"PARIS11","checkout":"/demo/checkouts/1"}`
	if body != wantBody {
		t.Errorf("body\n%s\nwant\n%s", body, wantBody)
	}
}

// TestPaymentConnectionFailures breaks the connection in every way and at every moment, and counts what
// arrived.
func TestPaymentConnectionFailures(t *testing.T) {
	tests := map[string]struct {
		serve func(net.Conn)
		want  club.Outcome
	}{
		"reset before the answer": {func(conn net.Conn) {
			readRequest(conn)
			conn.(*net.TCPConn).SetLinger(0)
		}, club.Unknown},
		"closed before the answer": {func(conn net.Conn) { readRequest(conn) }, club.Unknown},
		"garbage": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
		}, club.Unknown},
		"half a status line": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 2")
		}, club.Unknown},
		"no answer at all": {func(conn net.Conn) {
			readRequest(conn)
			io.Copy(io.Discard, conn)
		}, club.Unknown},
		"endless informational answers": {func(conn net.Conn) {
			readRequest(conn)
			for {
				if _, err := io.WriteString(conn, "HTTP/1.1 102 Processing\r\n\r\n"); err != nil {
					return
				}
			}
		}, club.Unknown},
		"accepted after an informational answer": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
		}, club.Accepted},
		"accepted with half a body": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{\"@id\"")
		}, club.Accepted},
		"accepted with a body that never comes": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
			io.Copy(io.Discard, conn)
		}, club.Accepted},
		"accepted with broken chunks": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
		}, club.Accepted},
		"another system's page that never comes": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n")
			io.Copy(io.Discard, conn)
		}, club.Unknown},
		"asked to change the protocol": {func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
		}, club.Unknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			address := listen(t, func(conn net.Conn) {
				connections.Add(1)
				tt.serve(conn)
			})
			cfg := configured("http://" + address)
			cfg.Transport = elsewhere(serve(t, nil).Server)
			cfg.Limits.PaymentTimeout = 3 * time.Second
			c := club.New(cfg)
			authorise(t, c)
			_, err := c.CreatePayment(t.Context(), demo, sale, payment, nil)
			wantOutcome(t, err, tt.want)
			if n := connections.Load(); n != 1 {
				t.Errorf("%d connections, want one", n)
			}
		})
	}
}

// TestPaymentNotSent fails before the first byte.
func TestPaymentNotSent(t *testing.T) {
	closed := listen(t, func(conn net.Conn) { conn.Read(make([]byte, 4096)) })
	untrusted := listen(t, func(conn net.Conn) { tls.Server(conn, serverTLS(t)).HandshakeContext(t.Context()) })
	tests := map[string]struct {
		baseURL string
		reason  string
	}{
		"refused port":         {"http://" + unused(t), "connection refused"},
		"unknown name":         {"http://club.invalid", "name not resolved"},
		"closed in handshake":  {"https://" + closed, "connection closed"},
		"certificate":          {"https://" + untrusted, "certificate not verified"},
		"not an address":       {"http://[::1", "transport failure"},
		"unknown scheme":       {"gopher://" + closed, "transport failure"},
		"silence in handshake": {"https://" + listen(t, func(conn net.Conn) { io.Copy(io.Discard, conn) }), "timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := configured(tt.baseURL)
			tokens := serve(t, nil)
			cfg.Transport, cfg.Limits.PaymentTimeout = elsewhere(tokens.Server), 3*time.Second
			c := club.New(cfg)
			if tt.reason != "transport failure" { // those addresses cannot serve a token either
				authorise(t, c)
			}
			_, err := c.CreatePayment(t.Context(), demo, sale, payment, pass)
			wantOutcome(t, err, club.NotSent)
			if !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %q does not say %q", err, tt.reason)
			}
		})
	}
}

// TestPaymentOfForeignSale: another organisation's sale cannot be paid.
func TestPaymentOfForeignSale(t *testing.T) {
	upstream := serve(t, answering(201, "{}"))
	c := club.New(configured(upstream.URL))
	for _, iri := range []club.IRI{
		"", "1", "/other/sales/1", "/demo/contacts/1", "/demo/sales/",
		"/demo/sales/..", "/demo/sales/1/x", "/demo/sales/1?a=b",
	} {
		_, err := c.CreatePayment(t.Context(), demo, iri, payment, nil)
		wantOutcome(t, err, club.NotSent)
		if !errors.Is(err, club.ErrBadIRI) {
			t.Errorf("%q: %v, want ErrBadIRI", iri, err)
		}
	}
	if n := len(upstream.seen()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// pass is a gate that is always open.
func pass() error { return nil }

// TestGateRefuses: the connection is open, and no byte is sent over it.
func TestGateRefuses(t *testing.T) {
	stale := errors.New("the claim is too old")
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			arrived := make(chan []byte, 1)
			address := listen(t, func(conn net.Conn) {
				if scheme == "https" {
					conn = tls.Server(conn, serverTLS(t))
				}
				got, _ := io.ReadAll(conn)
				arrived <- got
			})
			cfg := configured(scheme + "://" + address)
			cfg.Transport, cfg.TLS = elsewhere(serve(t, nil).Server), &tls.Config{InsecureSkipVerify: true}
			var asked atomic.Int64
			_, err := club.New(cfg).CreatePayment(t.Context(), demo, sale, payment, func() error {
				asked.Add(1)
				return stale
			})
			wantOutcome(t, err, club.NotSent)
			if !errors.Is(err, stale) || !errors.Is(err, club.ErrGate) || err.Error() != "club: CreatePayment: not_sent (held back by the gate)" {
				t.Errorf("error %q", err)
			}
			if got := frontdesktest.Receive(t, arrived, "the connection ends"); len(got) != 0 || asked.Load() != 1 {
				t.Errorf("gate asked %d times, %d bytes arrived", asked.Load(), len(got))
			}
		})
	}
}

// TestGateIsAskedLast: when the gate is asked, the connection and its TLS handshake are complete, and nothing
// has been sent.
func TestGateIsAskedLast(t *testing.T) {
	shaken, first := make(chan struct{}), make(chan struct{})
	var before atomic.Bool
	address := listen(t, func(conn net.Conn) {
		secured := tls.Server(conn, serverTLS(t))
		if secured.HandshakeContext(t.Context()) != nil {
			return
		}
		close(shaken)
		one := make([]byte, 1)
		io.ReadFull(secured, one)
		close(first)
		io.WriteString(secured, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
		io.Copy(io.Discard, secured)
	})
	cfg := configured("https://" + address)
	cfg.Transport, cfg.TLS = elsewhere(serve(t, nil).Server), &tls.Config{InsecureSkipVerify: true}
	_, err := club.New(cfg).CreatePayment(t.Context(), demo, sale, payment, func() error {
		<-shaken
		select {
		case <-first:
		default:
			before.Store(true)
		}
		return nil
	})
	wantOutcome(t, err, club.Accepted)
	if !before.Load() {
		t.Error("a byte arrived before the gate was asked")
	}
}

// TestNothingLeavesAfterTheVerdict: the time runs out before the gate decides, and the connection is closed. A
// later decision sends nothing.
func TestNothingLeavesAfterTheVerdict(t *testing.T) {
	var arrived []byte
	closed := make(chan struct{})
	address := listen(t, func(conn net.Conn) {
		arrived, _ = io.ReadAll(conn)
		close(closed)
	})
	cfg := configured("http://" + address)
	cfg.Transport, cfg.Limits.PaymentTimeout = elsewhere(serve(t, nil).Server), 3*time.Second
	c := club.New(cfg)
	authorise(t, c)
	asked := false
	_, err := c.CreatePayment(t.Context(), demo, sale, payment, func() error {
		asked = true
		<-closed
		return nil
	})
	if !asked || len(arrived) > 0 || club.OutcomeOf(err) == club.Accepted {
		t.Errorf("gate asked: %t, outcome %s, %d bytes arrived", asked, club.OutcomeOf(err), len(arrived))
	}
}

// TestPaymentOutlivesItsCaller: the browser disconnects, and the payment continues.
func TestPaymentOutlivesItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		w.WriteHeader(http.StatusCreated)
	})
	_, err := club.New(configured(upstream.URL)).CreatePayment(ctx, demo, sale, payment, nil)
	wantOutcome(t, err, club.Accepted)
	_, err = club.New(configured(upstream.URL)).CreatePayment(ctx, demo, sale, payment, nil) // cancelled before the start
	wantOutcome(t, err, club.Accepted)
}

// TestPaymentSpeaksHTTP1 to a server that prefers HTTP/2.
func TestPaymentSpeaksHTTP1(t *testing.T) {
	upstream := &recordingServer{}
	upstream.Server = httptest.NewUnstartedServer(upstream.with(acceptable))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	cfg := configured(upstream.URL)
	cfg.TLS = upstream.Client().Transport.(*http.Transport).TLSClientConfig
	client := club.New(cfg)
	for range 2 {
		if _, err := client.CreatePayment(t.Context(), demo, sale, payment, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.CreateSale(t.Context(), demo, club.NewSale{}); err != nil {
		t.Fatal(err)
	}
	seen := upstream.seen()
	for _, r := range seen {
		if r.Proto != "HTTP/1.1" {
			t.Errorf("%s %s spoken in %s", r.Method, r.URL.Path, r.Proto)
		}
	}
	if seen[0].RemoteAddr == seen[1].RemoteAddr {
		t.Error("two payments over one connection")
	}
}

// TestPaymentToken: a payment uses a token that is known to be valid, and after a 401 the next one fetches a
// new token.
func TestPaymentToken(t *testing.T) {
	now := newClock()
	issuer := newIssuer(t, 3600)
	cfg := configured(issuer.URL)
	cfg.Now = now.Now
	client := club.New(cfg)
	pay := func(want string) {
		t.Helper()
		_, err := client.CreatePayment(t.Context(), demo, sale, payment, nil)
		if got := issuer.lastToken(); got != want {
			t.Fatalf("payment with token %s (%v), want %s", got, err, want)
		}
	}
	pay("tok-1")
	now.add(59 * time.Second)
	pay("tok-1") // the payment a minute ago proved it
	now.add(61 * time.Second)
	pay("tok-2") // nothing proved it within the minute
	now.add(50 * time.Second)
	if _, err := client.GetSale(t.Context(), demo, sale); err != nil {
		t.Fatal(err)
	}
	now.add(50 * time.Second)
	pay("tok-2") // the read of the sale proved it
	issuer.revoke("tok-2")
	_, err := client.CreatePayment(t.Context(), demo, sale, payment, nil)
	wantOutcome(t, err, club.Refused)
	pay("tok-3")
}

// TestPaymentWithoutToken: no token, no payment.
func TestPaymentWithoutToken(t *testing.T) {
	u := &recordingServer{}
	u.Server = httptest.NewServer(answering(http.StatusUnauthorized, `{"error": "invalid_client"}`))
	t.Cleanup(u.Close)
	_, err := club.New(configured(u.URL)).CreatePayment(t.Context(), demo, sale, payment, nil)
	wantOutcome(t, err, club.NotSent)
	if want := "club: CreatePayment: not_sent (club: Token: refused, status 401 (not authorised))"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// listen serves each connection to a port, then closes it.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// unused returns an address on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// readRequest reads one HTTP request as it came.
func readRequest(conn net.Conn) string {
	var raw strings.Builder
	req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
	if err == nil {
		io.Copy(io.Discard, req.Body)
	}
	return raw.String()
}

// serverTLS returns the configuration of a TLS server with an untrusted certificate.
func serverTLS(t *testing.T) *tls.Config {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates}
}
