package frontdesktest

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/upstream/cards/stripe/stripetest"
	"frontdesk/upstream/clubsim"
)

// Env is the Redis and the upstreams that the gateways of a test share.
type Env struct {
	Upstreams *Upstreams
	Redis     string // its URL
}

// NewEnv starts upstreams and a Redis for one test.
func NewEnv(t testing.TB) Env {
	t.Helper()
	return Env{NewUpstreams(t), NewRedis(t)}
}

// Gateway starts a gateway in test mode, with additional environment variables if there are any, and
// returns a front end of it.
func (e Env) Gateway(t testing.TB, environment ...string) (*Process, *Client) {
	t.Helper()
	p := Start(t, append([]string{"FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL=" + e.Upstreams.URL + "/sim",
		"FRONTDESK_SANDBOX_URL=" + e.Upstreams.URL + "/sandbox", "FRONTDESK_REDIS_URL=" + e.Redis}, environment...)...)
	c := NewClient(t, p.URL)
	c.SimulatorURL = e.Upstreams.URL
	return p, c
}

// StripeGateway starts a gateway in test mode that takes cards through the Stripe adapter, in front of
// a double of that processor, which sends its webhooks there.
func (e Env) StripeGateway(t testing.TB, processor *stripetest.Server, webhooks stripetest.WebhookMode) (*Process, *Client) {
	t.Helper()
	p, c := e.Gateway(t, "FRONTDESK_CARD_PROCESSOR=stripe", "FRONTDESK_STRIPE_URL="+processor.URL,
		"FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey,
		"FRONTDESK_STRIPE_WEBHOOK_SECRET="+processor.WebhookSecret)
	processor.SetWebhooks(webhooks, p.URL+"/v1/webhooks/card")
	return p, c
}

// SetFaults makes the club system fail; without faults it works again.
func (e Env) SetFaults(t testing.TB, faults ...clubsim.Fault) {
	t.Helper()
	if err := e.Upstreams.Sim.SetFaults(faults); err != nil {
		t.Fatal(err)
	}
}

// ExpectOnePayment fails the test unless the ledger holds one payment of an amount in cents.
func (e Env) ExpectOnePayment(t testing.TB, amount int64) {
	t.Helper()
	Records{e.Upstreams.Sim.Ledger(), e.Upstreams.Sim.Audit()}.ExpectOnePayment(t, amount)
}

// RedisClient connects to a Redis until the test ends.
func RedisClient(t testing.TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// FlushRedis makes a Redis forget everything.
func FlushRedis(t testing.TB, url string) {
	t.Helper()
	if err := RedisClient(t, url).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// ExpireLease ends the lease of a registration's payment, as if its gateway had been silent for too
// long.
func ExpireLease(t testing.TB, redisURL, registration string) {
	t.Helper()
	if err := RedisClient(t, redisURL).HSet(t.Context(), "fd:{"+registration+"}:payment:1", "lease", 0).Err(); err != nil {
		t.Fatal(err)
	}
}
