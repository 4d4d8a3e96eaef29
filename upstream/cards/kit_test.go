package cards_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// Test cards of the processor.
const (
	goodCard      = "4242 4242 4242 4242"
	challengeCard = "pm_card_authenticationRequired"
	declinedCard  = "4000000000000002"
	poorCard      = "4000000000009995"
	expiredCard   = "4000000000000069"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// pair is a double of the processor and its client.
type pair struct {
	*cards.Client
	t      *testing.T
	double *sandbox.Server
	clock  *clock
}

func newPair(t *testing.T) *pair {
	t.Helper()
	clock := newClock()
	double := sandbox.New(sandbox.Config{Now: clock.Now})
	t.Cleanup(double.Close)
	client := newClient(t, cards.Config{
		SecretKey: double.SecretKey, WebhookSecrets: []string{double.WebhookSecret}, URL: double.URL, Now: clock.Now,
	})
	return &pair{Client: client, t: t, double: double, clock: clock}
}

func newClient(t *testing.T, cfg cards.Config) *cards.Client {
	t.Helper()
	if cfg.SecretKey == "" {
		cfg.SecretKey = "sk_test_x"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client, err := cards.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// roundTripper is a connection to the processor that does something of its own.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through returns a client of the pair's double over another connection.
func (p *pair) through(connection roundTripper) *cards.Client {
	return newClient(p.t, cards.Config{SecretKey: p.double.SecretKey, URL: p.double.URL, HTTPClient: &http.Client{Transport: connection}})
}

// canned returns a client of a processor that always gives the same response.
func canned(t *testing.T, status int, body string) *cards.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_canned")
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return newClient(t, cards.Config{URL: server.URL})
}

// callsOf returns a client's calls on a payment, by name. Those that write have keys.
func callsOf(client *cards.Client) map[string]func(ctx context.Context, key, id string) (cards.Payment, error) {
	return map[string]func(ctx context.Context, key, id string) (cards.Payment, error){
		"get": func(ctx context.Context, _, id string) (cards.Payment, error) { return client.Get(ctx, id) },
		"capture": func(ctx context.Context, key, id string) (cards.Payment, error) {
			return client.Capture(ctx, key, id, 4990)
		},
		"cancel": client.Cancel,
		"refund": func(ctx context.Context, key, id string) (cards.Payment, error) {
			return client.Refund(ctx, key, id, 4990)
		},
		"annotate": func(ctx context.Context, key, id string) (cards.Payment, error) {
			return client.UpdateMetadata(ctx, key, id, map[string]string{"fd_post_1": "a", "c": ""})
		},
	}
}

func (p *pair) created(key string) cards.Payment {
	p.t.Helper()
	made, err := p.Create(p.t.Context(), key, cards.NewPayment{
		Amount: 4990, Currency: "EUR", Metadata: map[string]string{"fd_registration": "r1", "fd_generation": "1"}, Description: "Club Riverside",
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// confirmed makes a payment for which the buyer entered a card.
func (p *pair) confirmed(key, card string) cards.Payment {
	p.t.Helper()
	made := p.created(key)
	if _, err := p.double.Confirm(made.ID, card); err != nil {
		p.t.Fatal(err)
	}
	return made
}

func (p *pair) captured(key string) cards.Payment {
	p.t.Helper()
	made := p.confirmed(key, goodCard)
	taken, err := p.Capture(p.t.Context(), key+":capture", made.ID, made.Amount)
	if err != nil {
		p.t.Fatal(err)
	}
	return taken
}

func (p *pair) get(id string) cards.Payment {
	p.t.Helper()
	held, err := p.Get(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return held
}

// with replaces the double's settings.
func (p *pair) with(settings sandbox.Settings) {
	p.t.Helper()
	if err := p.double.Configure("demo", settings); err != nil {
		p.t.Fatal(err)
	}
}

// ledger returns the double's record of a payment.
func (p *pair) ledger(id string) sandbox.Payment {
	p.t.Helper()
	held, ok := p.double.Payment(id)
	if !ok {
		p.t.Fatalf("the processor has no payment %s", id)
	}
	return held
}
