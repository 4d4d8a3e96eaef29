package frontdesktest

import (
	"net/http"
	"sync"
	"time"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// Env is the Redis and the upstreams that the gateways of a test share.
type Env struct {
	Upstreams *Upstreams
	Redis     string // its URL
}

// NewEnv starts upstreams and a Redis for one test.
func NewEnv(t TB) Env {
	t.Helper()
	return Env{NewUpstreams(t), NewRedis(t)}
}

// Gateway starts a gateway in test mode, with additional environment variables if there are any, and
// returns a front end of it.
func (e Env) Gateway(t TB, environment ...string) (*Process, *Client) {
	t.Helper()
	p := Start(t, append([]string{"FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL=" + e.Upstreams.URL + "/sim",
		"FRONTDESK_SANDBOX_URL=" + e.Upstreams.URL + "/sandbox", "FRONTDESK_REDIS_URL=" + e.Redis}, environment...)...)
	c := NewClient(t, p.URL)
	c.UpstreamsURL = e.Upstreams.URL
	return p, c
}

// SealKey is a seal key for gateways that take cards through Stripe: in test mode they refuse the demo key.
const SealKey = "dGVzdHMtbmVlZC1hLWtleS1vZi10aGVpci1vd24tMTI=" // #nosec G101 -- of the tests alone

// StripeGateway starts a gateway in test mode that takes cards through the Stripe adapter, in front of
// a double of that processor, which sends its webhooks there. More environment variables may follow.
func (e Env) StripeGateway(
	t TB, processor *sandbox.Server, webhooks sandbox.WebhookMode, environment ...string,
) (*Process, *Client) {
	t.Helper()
	p, c := e.Gateway(t, append(environment, "FRONTDESK_SEAL_KEYS="+SealKey, "FRONTDESK_STRIPE_URL="+processor.URL,
		"FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey,
		"FRONTDESK_STRIPE_WEBHOOK_SECRET="+processor.WebhookSecret)...)
	processor.SetWebhooks(webhooks, p.URL+"/v1/webhooks/card")
	return p, c
}

// SetFaults makes the club system fail; without faults it works again.
func (e Env) SetFaults(t TB, faults ...clubsim.Fault) {
	t.Helper()
	Must(t, e.Upstreams.Sim.SetFaults(faults))
}

// ExpectOnePayment fails the test unless the ledger holds one payment of an amount in cents.
func (e Env) ExpectOnePayment(t TB, amount int64) {
	t.Helper()
	Records{e.Upstreams.Sim.Ledger(), e.Upstreams.Sim.Audit()}.ExpectOnePayment(t, amount)
}

// Upstreams are what gateways in test mode depend on: the club system's simulator and the sandbox
// card processor, at one address.
type Upstreams struct {
	URL   string          // of both; the simulator is below /sim, the processor below /sandbox
	Club  *clubsim.Server // the simulator itself
	Sim   *clubsim.World  // its demo world
	Cards *sandbox.Server // the processor itself

	proxy   *FaultProxy
	release func() // of the held responses; nil without any
}

// NewUpstreams starts upstreams until the test ends.
func NewUpstreams(t TB) *Upstreams {
	t.Helper()
	mux := http.NewServeMux()
	proxy := NewFaultProxy(mux)
	upstreams := &Upstreams{URL: proxy.URL, proxy: proxy, Club: clubsim.New(clubsim.Config{Now: time.Now})}
	upstreams.Sim = upstreams.Club.World(clubsim.DemoClientToken)
	upstreams.Cards = sandbox.New(sandbox.Config{BaseURL: proxy.URL + "/sandbox"})
	mux.Handle("/sim/", http.StripPrefix("/sim", upstreams.Club))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", upstreams.Cards))
	t.Cleanup(func() {
		upstreams.Release()
		upstreams.proxy.server.CloseClientConnections()
		upstreams.Club.Close()
		upstreams.Cards.Close()
		upstreams.proxy.Close()
	})
	return upstreams
}

// Proxy gives the upstreams another address, with its own breakpoints.
func (u *Upstreams) Proxy() *FaultProxy { return NewFaultProxy(u.proxy.upstream) }

// HoldResponses holds back the simulator's responses, after their effect, to requests of a method whose path
// below the client token matches a pattern, such as "/sales/*/payments". Their callers cannot know what happened
// until Release. The channel is closed when the first response is held.
func (u *Upstreams) HoldResponses(method, pattern string) (reached <-chan struct{}) {
	held, release := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(held) })
	breakpoint := &Breakpoint{
		Operation: Operation{Method: method, Path: "/sim/*" + pattern},
		Phase:     BeforeResponse,
		Every:     true,
		OnHit: func() {
			first()
			<-release
		},
	}
	u.proxy.Add(breakpoint)
	u.release = func() {
		u.proxy.Remove(breakpoint)
		close(release)
	}
	return held
}

// Release sends the held responses.
func (u *Upstreams) Release() {
	if u.release != nil {
		u.release()
		u.release = nil
	}
}
