package club_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

const (
	// networkWorkers can be many: they mostly wait for responses that never come.
	networkWorkers = 24
	// networkPosts is per worker: together, each kind of fault happens about 25 times.
	networkPosts = 48
	// networkTimeout replaces the 30 s of a payment, which would be too long for a test.
	networkTimeout = 250 * time.Millisecond
	// settleTimeout limits how long the simulator may work on a request that was cut off.
	settleTimeout = 5 * time.Second
)

// patientLimits cut off only the POST. The reads before it may take as long as they need on a busy machine.
var patientLimits = club.Limits{
	ReadTimeout:    frontdesktest.Patience,
	AttemptTimeout: frontdesktest.Patience,
	WriteTimeout:   frontdesktest.Patience,
	PaymentTimeout: networkTimeout,
}

// TestPaymentUnderNetworkFaults breaks the connection of the one POST at any byte and in any way that a
// network can, with and without TLS. It compares the client's outcome with the club system's ledger.
func TestPaymentUnderNetworkFaults(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	happened := &faultCount{times: map[string]int{}}
	var workers sync.WaitGroup
	for i := range networkWorkers {
		e := newNetworkEnv(t, rand.New(rand.NewPCG(seed, uint64(i))), i%2 == 1)
		workers.Go(func() { e.run(t, happened) })
	}
	workers.Wait()
	for _, kind := range networkFaultKinds() {
		if happened.times[kind] == 0 {
			t.Errorf("the fault %q never happened", kind)
		}
	}
}

type faultCount struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *faultCount) add(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[kind]++
}

// The byte of a direction at which a fault can happen: up to a little more than the messages' length, so that
// the last byte is included. A TLS handshake comes first.
const messageBytes, handshakeBytes = 1300, 1600

// connFault happens to a connection after a number of bytes in one direction.
type connFault struct {
	kind     string
	response bool // in the response; otherwise in the request
	within   int  // bytes
	strike   func(*net.TCPConn)
	drain    bool          // the rest is read or written without effect; otherwise the connection ends
	piece    int           // bytes that pass at once; zero: any number
	pause    time.Duration // before each piece
	garbage  string        // precedes the request
}

func reset(c *net.TCPConn)     { c.SetLinger(0); c.Close() }
func closeConn(c *net.TCPConn) { c.Close() }
func halfClose(c *net.TCPConn) { c.CloseWrite() }
func nothing(*net.TCPConn)     {}

func instead(garbage string) func(*net.TCPConn) {
	return func(c *net.TCPConn) { c.Write([]byte(garbage)); c.CloseWrite() }
}

var connFaults = []connFault{
	{kind: "reset in the request", within: messageBytes, strike: reset},
	{kind: "closed in the request", within: messageBytes, strike: closeConn},
	{kind: "half closed in the request", within: messageBytes, strike: nothing},
	{kind: "request swallowed from a byte on", within: messageBytes, strike: nothing, drain: true},
	{kind: "request swallowed", strike: nothing, drain: true},
	{kind: "reset in the response", response: true, within: messageBytes, strike: reset, drain: true},
	{kind: "closed in the response", response: true, within: messageBytes, strike: closeConn, drain: true},
	{kind: "half closed in the response", response: true, within: messageBytes, strike: halfClose, drain: true},
	{kind: "response swallowed from a byte on", response: true, within: messageBytes, strike: nothing, drain: true},
	{kind: "response swallowed", response: true, strike: nothing, drain: true},
	{kind: "garbage instead of a response", response: true, strike: instead("\x16\x03\x00 not HTTP \xff\r\n\r\n"), drain: true},
	{
		kind:     "garbage after the status",
		response: true,
		strike:   instead("HTTP/1.1 503 \xff\xfe\r\nContent-Length: x\r\n: \r\n\r\n"),
		drain:    true,
	},
	{kind: "garbage before the request", garbage: "\x00\x01 GARBAGE\r\n\r\n"},
	{kind: "slow request", piece: 64, pause: 2 * time.Millisecond},
	{kind: "slow response", response: true, piece: 64, pause: 2 * time.Millisecond},
	{kind: "request too slow", piece: 96, pause: 40 * time.Millisecond},
	{kind: "response too slow", response: true, piece: 96, pause: 40 * time.Millisecond},
}

type disturbance = frontdesktest.Disturbance

// disturbances are faults of a proxy between the client and the server. Each end has a connection of its own, so
// the proxy acknowledges bytes that never arrive. Some disturbances end within networkTimeout.
var disturbances = []struct {
	kind   string
	choose func(*rand.Rand) disturbance
}{
	{"latency", func(r *rand.Rand) disturbance { return disturbance{Pause: upTo(r, 400)} }},
	{"bandwidth", func(r *rand.Rand) disturbance {
		return disturbance{Piece: 100 * (1 + r.IntN(20)), Pause: 100 * time.Millisecond}
	}},
	{"late end", func(r *rand.Rand) disturbance { return disturbance{EndPause: upTo(r, 400)} }},
	{"timeout", func(r *rand.Rand) disturbance { return disturbance{Break: &frontdesktest.Break{Swallow: upTo(r, 400)}} }},
	{"reset", func(r *rand.Rand) disturbance {
		return disturbance{Break: &frontdesktest.Break{Swallow: upTo(r, 60), Reset: true}}
	}},
	{"slices", func(r *rand.Rand) disturbance { return disturbance{Piece: 8 + r.IntN(216), Pause: upTo(r, 5)} }},
	{"limit", func(r *rand.Rand) disturbance {
		return disturbance{Break: &frontdesktest.Break{After: r.IntN(handshakeBytes + messageBytes)}}
	}},
}

// upTo returns a random duration below a number of milliseconds.
func upTo(r *rand.Rand, ms int64) time.Duration {
	return time.Duration(r.Int64N(ms * int64(time.Millisecond)))
}

// simulated are faults of the club system itself.
var simulated = []clubsim.Fault{
	{Kind: "error_before", Status: http.StatusServiceUnavailable}, {Kind: "error_before", Status: http.StatusUnprocessableEntity},
	{Kind: "error_before", Status: http.StatusUnauthorized}, {Kind: "error_before", Status: http.StatusTemporaryRedirect},
	{Kind: "error_after", Status: http.StatusInternalServerError}, {Kind: "error_after", Status: http.StatusConflict},
	{Kind: "drop_after"}, {Kind: "malformed"}, {Kind: "too_many"}, {Kind: "hang"},
}

const connectionRefused = "connection refused"

func simulatedKind(f clubsim.Fault) string { return fmt.Sprint(f.Kind, " ", f.Status) }

func networkFaultKinds() []string {
	kinds := []string{connectionRefused}
	for _, f := range connFaults {
		kinds = append(kinds, f.kind)
	}
	for _, f := range simulated {
		kinds = append(kinds, simulatedKind(f))
	}
	for _, d := range disturbances {
		kinds = append(kinds, d.kind+" of requests", d.kind+" of responses")
	}
	return kinds
}

// faultyListener gives the planned fault to the next connection.
type faultyListener struct {
	net.Listener
	planned atomic.Pointer[faultyConn]
}

func (l *faultyListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if c := l.planned.Swap(nil); c != nil && err == nil {
		c.TCPConn = conn.(*net.TCPConn)
		return c, nil
	}
	return conn, err
}

// faultyConn is the server's end of a connection with a fault.
type faultyConn struct {
	*net.TCPConn
	connFault
	left     int // bytes that pass before the fault strikes
	struck   atomic.Bool
	received atomic.Int64
}

func (c *faultyConn) Read(p []byte) (n int, err error) {
	switch {
	case c.garbage != "":
		n = copy(p, c.garbage)
		c.garbage = c.garbage[n:]
		c.struck.Store(true)
		return n, nil
	case c.response || c.strike == nil && c.piece == 0:
	case c.piece > 0:
		p = c.slowPiece(p)
	case c.left > 0:
		p = p[:min(len(p), c.left)]
	default:
		c.struck.Store(true)
		c.strike(c.TCPConn)
		if c.drain {
			n, _ := io.Copy(io.Discard, c.TCPConn)
			c.received.Add(n)
		}
		return 0, io.EOF
	}
	n, err = c.TCPConn.Read(p)
	if !c.response {
		c.left -= n
	}
	c.received.Add(int64(n))
	return n, err
}

func (c *faultyConn) Write(p []byte) (n int, err error) {
	switch {
	case !c.response:
		return c.TCPConn.Write(p)
	case c.piece > 0:
		for n < len(p) && err == nil {
			var k int
			k, err = c.TCPConn.Write(c.slowPiece(p[n:]))
			n += k
		}
		return n, err
	case len(p) <= c.left:
		c.left -= len(p)
		return c.TCPConn.Write(p)
	}
	c.TCPConn.Write(p[:c.left])
	c.left = 0
	if c.struck.CompareAndSwap(false, true) {
		c.strike(c.TCPConn)
	}
	return len(p), nil // the server notices nothing
}

func (c *faultyConn) slowPiece(p []byte) []byte {
	c.struck.Store(true)
	<-time.After(c.pause)
	return p[:min(len(p), c.piece)]
}

// networkEnv is a simulator with a sale to pay for.
type networkEnv struct {
	random   *rand.Rand
	secure   bool
	sim      *clubsim.World
	busy     atomic.Int64 // requests that the simulator has not finished
	listener *faultyListener
	client   func(address string) *club.Client
	direct   *club.Client
	scope    club.Scope
	sale     club.IRI
	payment  club.NewPayment
}

func newNetworkEnv(t *testing.T, random *rand.Rand, secure bool) *networkEnv {
	t.Helper()
	sim := clubsim.New(clubsim.Config{Now: time.Now})
	env := &networkEnv{random: random, secure: secure, sim: sim.World(clubsim.DemoClientToken)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		env.busy.Add(1)
		defer env.busy.Add(-1)
		sim.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // otherwise each fault would be logged
	env.listener = &faultyListener{Listener: server.Listener}
	server.Listener = env.listener
	scheme, roots := "http://", (*tls.Config)(nil)
	if secure {
		server.StartTLS()
		scheme, roots = "https://", &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		roots.RootCAs.AddCert(server.Certificate())
	} else {
		server.Start()
	}
	t.Cleanup(func() {
		sim.Close()
		server.CloseClientConnections()
		server.Close()
	})
	env.client = func(address string) *club.Client {
		return club.New(club.Config{
			BaseURL:      scheme + address,
			ClientID:     clubsim.DemoClientID,
			ClientSecret: clubsim.DemoClientSecret,
			GatewayKey:   clubsim.DemoGatewayKey,
			Now:          time.Now,
			TLS:          roots,
			Limits:       patientLimits,
		})
	}
	env.direct = env.client(env.listener.Addr().String())
	env.createSale(t)
	return env
}

// createSale makes a sale whose cart stays empty, so that no payment settles it and each one is booked.
func (e *networkEnv) createSale(t *testing.T) {
	t.Helper()
	iri := func(kind, id string) club.IRI { return club.IRI(path.Join("/", clubsim.DemoClientToken, kind, id)) }
	e.scope = club.Scope{ClientToken: clubsim.DemoClientToken, Club: iri("clubs", "11"), Node: iri("network_nodes", "3")}
	contact, err := e.direct.CreateContact(
		t.Context(),
		e.scope,
		club.NewContact{
			FamilyName: "Network",
			GivenName:  "Ada",
			BirthDate:  "1990-05-17",
			Email:      "ada@example.com",
			Mobile:     "+33612345678",
			Club:       e.scope.Club,
			Status:     club.StatusTemp,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	sale, err := e.direct.CreateSale(t.Context(), e.scope, club.NewSale{
		Contact:    contact.IRI,
		Club:       e.scope.Club,
		ClubCode:   "PARIS11",
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
	})
	if err == nil {
		sale, err = e.direct.GetSale(t.Context(), e.scope, sale.IRI)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.sale, e.payment = sale.IRI, club.NewPayment{
		Contact:    contact.IRI,
		FamilyName: contact.FamilyName,
		GivenName:  contact.GivenName,
		Number:     contact.Number,
		Mean:       club.MeanCBWeb,
		Club:       e.scope.Club,
		ClubCode:   sale.ClubCode,
		Checkout:   sale.Checkout,
	}
}

// attempt is one POST and the client's outcome.
type attempt struct {
	amount   int64 // identifies it in the ledger
	fault    string
	outcome  club.Outcome
	err      error
	received int64 // bytes of the request that arrived; only without TLS
}

// run sends all POSTs and compares them with the ledger.
func (e *networkEnv) run(t *testing.T, happened *faultCount) {
	var attempts []attempt
	for amount := int64(1); amount <= networkPosts; amount++ {
		a := attempt{amount: amount}
		if e.post(t, &a) {
			happened.add(a.fault)
		}
		attempts = append(attempts, a)
	}
	booked := e.settledLedger()
	for _, a := range attempts {
		if wrong := a.wrong(booked[a.amount]); wrong != "" {
			t.Errorf(
				"%s: post %d, %s: %s, booked %d times, %d bytes received: %v", wrong, a.amount, a.fault, a.outcome,
				booked[a.amount], a.received, a.err,
			)
		}
	}
}

// wrong describes an outcome that contradicts the number of bookings; empty if the two agree.
func (a attempt) wrong(booked int) string {
	switch {
	case booked > 1:
		return "one call was booked more than once"
	case booked > 0 && (a.outcome == club.NotSent || a.outcome == club.Refused):
		return "said to have had no effect, and the club system booked it"
	case booked == 0 && a.outcome == club.Accepted:
		return "said to be accepted, and the club system did not book it"
	case a.received > 0 && a.outcome == club.NotSent:
		return "said not to be sent, and bytes of the request arrived"
	}
	return ""
}

// settledLedger counts the bookings by amount once the simulator has finished every request.
func (e *networkEnv) settledLedger() map[int64]int {
	before := -1
	frontdesktest.Within(context.Background(), "", settleTimeout, func() bool { // a request that hangs longer is judged by its state then
		quiet := len(e.sim.Ledger()) == before && e.busy.Load() == 0
		before = len(e.sim.Ledger())
		return quiet
	})
	times := map[int64]int{}
	for _, entry := range e.sim.Ledger() {
		times[int64(entry.Amount)]++
	}
	return times
}

// post sends one POST into a random fault, and reports whether the fault happened.
func (e *networkEnv) post(t *testing.T, tried *attempt) (struck bool) {
	kinds := networkFaultKinds()
	n := e.random.IntN(len(kinds))
	tried.fault = kinds[n]
	switch n -= 1; {
	case n < 0:
		proxy := frontdesktest.NewTCPProxy(t, e.listener.Addr().String())
		e.send(t, e.client(proxy.Address()), tried, proxy.Cut)
		return tried.outcome == club.NotSent
	case n < len(connFaults):
		conn := &faultyConn{connFault: connFaults[n]}
		if conn.within > 0 {
			conn.left = e.random.IntN(conn.within + 1)
		}
		if e.secure && conn.within > 0 && e.random.IntN(4) > 0 { // longer than the handshake
			conn.left += handshakeBytes
		}
		e.send(t, e.direct, tried, func() { e.listener.planned.Store(conn) })
		if !e.secure {
			tried.received = conn.received.Load()
		}
		return conn.struck.Load()
	case n < len(connFaults)+len(simulated):
		once, fault := 1, simulated[n-len(connFaults)]
		fault.Times, fault.Match = &once, clubsim.FaultMatch{Method: http.MethodPost, Path: "/sales/*/payments"}
		e.send(t, e.direct, tried, func() {
			if err := e.sim.SetFaults([]clubsim.Fault{fault}); err != nil {
				t.Error(err)
			}
		})
		return e.sim.Faults()[0].Hits > 0
	default:
		n -= len(connFaults) + len(simulated)
		both := [2]disturbance{} // of requests and of responses
		both[n%2] = disturbances[n/2].choose(e.random)
		proxy := frontdesktest.NewTCPProxy(t, e.listener.Addr().String())
		defer proxy.Cut()
		e.send(t, e.client(proxy.Address()), tried, func() { proxy.Disturb(both[0], both[1]) })
		return both[n%2].Break == nil || tried.err != nil // a break beyond the last byte has no effect
	}
}

// send sends the POST after the fault has been prepared. The read just before it uses the token, so that the
// POST opens the next connection.
func (e *networkEnv) send(t *testing.T, client *club.Client, tried *attempt, prepare func()) {
	if _, err := client.GetSale(context.Background(), e.scope, e.sale); err != nil {
		t.Error(err)
	}
	prepare()
	payment := e.payment
	payment.Amount = tried.amount
	_, tried.err = client.CreatePayment(context.Background(), e.scope, e.sale, payment, nil)
	tried.outcome = club.OutcomeOf(tried.err)
	e.listener.planned.Store(nil)
}
