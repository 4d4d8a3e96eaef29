// Package harness runs Frontdesk as it is operated: gateways, each the real binary, on a real Redis of any
// topology; the upstreams; buyers; and an oracle that compares all ledgers. It injects no faults.
//
// Start reading at New, then at Journey, then at Harness.Check.
package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// Harness is a running Frontdesk with everything around it. It ends with its test or Scope, and fails it when
// a part does not start.
type Harness struct {
	Gateways  []*Gateway
	Upstreams *frontdesktest.Upstreams // never killed: their ledgers are the truth
	Storage   Storage
	Club      string      // where every buyer registers
	HTTP      http.Client // every buyer's

	t        frontdesktest.TB
	captures sync.Map     // when each first succeeded, by the path of its request
	refunds  sync.Map     // when each was first requested, by the path of its request
	accepted sync.Map     // when a payment of a sale was first accepted without a body, by the path of the request
	offer    api.Offer    // what every buyer buys
	desk     *club.Client // of the club's staff, bypassing the gateways' proxies
	scope    club.Scope   // of the desk
	persons  atomic.Uint64
}

// Storage is a Redis of any topology.
type Storage interface {
	URL() string                   // for gateways
	Client() redis.UniversalClient // of the current primary
}

// Config is what a harness needs.
type Config struct {
	Gateway     string   // path of the binary
	Replicas    int      // gateways
	Storage     Storage  // running
	Environment []string // more variables of the gateways
}

// New starts the upstreams and the gateways.
func New(t frontdesktest.TB, cfg Config) *Harness {
	t.Helper()
	const callTime = 40 * time.Second // of a buyer's request: longer than a gateway's longest call to an upstream
	harness := &Harness{
		t:         t,
		Storage:   cfg.Storage,
		Upstreams: frontdesktest.NewUpstreams(t),
		HTTP:      http.Client{Timeout: callTime, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	t.Cleanup(harness.close)
	for range cfg.Replicas {
		harness.startGateway(cfg)
	}
	c := frontdesktest.NewClient(t, harness.Gateways[0].URL)
	harness.Club = c.Club()
	harness.offer = c.CardOffer(harness.Club)
	harness.desk = frontdesktest.DemoClub(harness.Upstreams.URL)
	harness.scope = club.Scope{
		ClientToken: clubsim.DemoClientToken,
		Club:        club.NewIRI(clubsim.DemoClientToken, "clubs", harness.Club),
		Node:        "/demo/network_nodes/3",
	}
	return harness
}

func (h *Harness) close() {
	h.Upstreams.Club.Release() // hanging requests, which the proxies wait for
	for _, g := range h.Gateways {
		g.Kill()
		g.proxy.Close()
	}
	h.HTTP.CloseIdleConnections()
}

// Gateway is one replica: the binary in test mode, on an address that it keeps however often it is killed.
type Gateway struct {
	URL         string
	path        string
	environment []string
	proxy       *frontdesktest.FaultProxy
	t           frontdesktest.TB
	process     atomic.Pointer[frontdesktest.Process] // the current or the last one
}

func (h *Harness) startGateway(cfg Config) {
	address, proxy := fmt.Sprintf("127.0.0.1:%d", frontdesktest.FreePort(h.t)), h.Upstreams.Proxy()
	proxy.OnRequest = func(r *http.Request, body []byte) { noteIn(&h.refunds, frontdesktest.Refund.PaymentOf(r, body)) }
	proxy.OnSuccess = func(r *http.Request, body []byte) {
		noteIn(&h.captures, frontdesktest.Capture.PaymentOf(r, nil))
		if len(body) == 0 && path.Base(r.URL.Path) == "payments" {
			// The club system answers with the payment: something in front of it accepted this one.
			noteIn(&h.accepted, r.URL.Path)
		}
	}
	gateway := &Gateway{
		URL:   "http://" + address,
		path:  cfg.Gateway,
		proxy: proxy,
		t:     h.t,
		environment: append([]string{
			"FRONTDESK_MODE=test",
			"FRONTDESK_ADDR=" + address,
			"FRONTDESK_PUBLIC_URL=http://" + address,
			"FRONTDESK_REDIS_URL=" + cfg.Storage.URL(),
			"FRONTDESK_CLUB_URL=" + proxy.URL + "/sim",
			"FRONTDESK_SANDBOX_URL=" + proxy.URL + "/sandbox",
			"FRONTDESK_RATE_LIMITS=off",
			"FRONTDESK_OPS_ADDR=off",
			"FRONTDESK_ASK_REPEATS=all",
		}, cfg.Environment...),
	}
	h.Gateways = append(h.Gateways, gateway)
	gateway.Start()
}

// Start starts the gateway, and waits until it listens.
func (g *Gateway) Start() {
	process, err := frontdesktest.Launch(g.t.Context(), frontdesktest.GatewayReady, g.environment, g.path)
	g.process.Store(process)
	frontdesktest.Must(g.t, err)
}

// Kill ends the gateway in the middle of its work, with kill -9.
func (g *Gateway) Kill() { g.process.Load().Kill() }

// Log returns the log of the current or last process.
func (g *Gateway) Log() string { return g.process.Load().Log() }

// BreakAt sets a breakpoint before all gateways and waits until one hits it. It returns that gateway,
// or nil when none does within the limit. BreakAt calls act at the hit, while the request waits.
func (h *Harness) BreakAt(
	ctx context.Context, operation frontdesktest.Operation, phase frontdesktest.Phase, limit time.Duration, act func(*Gateway),
) *Gateway {
	hits := make(chan *Gateway, 1)
	var first sync.Once
	for _, gateway := range h.Gateways {
		breakpoint := &frontdesktest.Breakpoint{Operation: operation, Phase: phase, OnHit: func() {
			first.Do(func() {
				defer func() { hits <- gateway }() // even if act fails the test
				act(gateway)
			})
		}}
		gateway.proxy.Add(breakpoint)
		defer gateway.proxy.Remove(breakpoint)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case g := <-hits:
		return g
	case <-ctx.Done():
		first.Do(func() { hits <- nil }) // from here on no breakpoint acts
		return <-hits
	}
}

// RandomGateway draws a gateway.
func (h *Harness) RandomGateway(random *rand.Rand) *Gateway {
	return h.Gateways[random.IntN(len(h.Gateways))]
}

// NewRegistration is what a buyer sends first, and the person in it, whose details can be recognised wherever they appear.
func (h *Harness) NewRegistration() (map[string]any, campaign.Canary) {
	canary := campaign.NewCanary(h.persons.Add(1))
	tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	return map[string]any{
		"clubId": h.Club,
		"person": map[string]any{
			"givenName":  canary.GivenName,
			"familyName": canary.FamilyName,
			"email":      canary.Email,
			"mobile":     canary.Mobile,
			"birthDate":  "1990-05-17",
			"address":    map[string]string{"street": canary.Street, "postalCode": "75011", "city": "Paris", "country": "FR"},
		},
		"items": []map[string]string{{"offerId": h.offer.Id, "startDate": tomorrow}},
	}, canary
}

// noteIn notes when something was first seen, by its name, unless that is empty.
func noteIn(times *sync.Map, name string) {
	if name != "" {
		times.LoadOrStore(name, time.Now())
	}
}

// charged reports whether a payment was captured before an instant, and no refund was requested until now.
func (h *Harness) charged(id string, before time.Time) bool {
	at, captured := h.captures.Load(id)
	_, refunded := h.refunds.Load(id)
	return captured && at.(time.Time).Before(before) && !refunded
}
