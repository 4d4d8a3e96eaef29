package oldsandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

const (
	goodCard      = "4242424242424242"
	declinedCard  = "4000000000000002"
	emptyCard     = "4000000000009995"
	challengeCard = "4000002500003155"
	returnURL     = "https://club.example/thanks?registration=1"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

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

// testEnv is a sandbox on a real listener, below /sandbox as in production, with a client that knows only its
// address.
type testEnv struct {
	*testing.T
	url    string
	server *oldsandbox.Server
	client *oldsandbox.Client
	clock  *clock
	keys   int
}

func newTestEnv(t *testing.T, change ...func(*oldsandbox.ServerConfig)) *testEnv {
	t.Helper()
	b := &testEnv{T: t, clock: &clock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}}
	mux := http.NewServeMux()
	listener := httptest.NewServer(mux)
	b.url = listener.URL + "/sandbox"
	cfg := oldsandbox.ServerConfig{Now: b.clock.Now, BaseURL: b.url}
	for _, apply := range change {
		apply(&cfg)
	}
	b.server = oldsandbox.NewServer(cfg)
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", b.server))
	b.client = oldsandbox.New(oldsandbox.Config{URL: b.url, Now: b.clock.Now})
	t.Cleanup(func() { listener.Close(); b.server.Close() })
	return b
}

// key returns an unused idempotency key.
func (b *testEnv) key() string {
	b.keys++
	return fmt.Sprintf("key-%d", b.keys)
}

func (b *testEnv) create() cards.Payment {
	b.Helper()
	p, err := b.client.Create(b.Context(), b.key(), cards.NewPayment{
		Amount: 4990, Currency: "EUR", Description: "Club Riverside", ReturnURL: returnURL, Metadata: map[string]string{"fd_sale": "s1"},
	})
	if err != nil {
		b.Fatalf("create: %v", err)
	}
	return p
}

func (b *testEnv) get(id string) cards.Payment {
	b.Helper()
	p, err := b.client.Get(b.Context(), id)
	if err != nil {
		b.Fatalf("get: %v", err)
	}
	return p
}

// in brings a new payment into a state by the calls that lead there.
func (b *testEnv) in(state string) cards.Payment {
	b.Helper()
	p := b.create()
	must := func(_ cards.Payment, err error) {
		b.Helper()
		if err != nil {
			b.Fatalf("%s: %v", state, err)
		}
	}
	switch state {
	case "requires_action":
	case "challenge":
		b.confirm(p.ID, challengeCard)
	case "declined":
		b.confirm(p.ID, declinedCard)
	case "cancelled":
		must(b.client.Cancel(b.Context(), b.key(), p.ID))
	case "authorised", "captured", "partly refunded", "refunded":
		b.confirm(p.ID, goodCard)
	default:
		b.Fatalf("no state %q", state)
	}
	if state == "captured" || strings.HasSuffix(state, "refunded") {
		must(b.client.Capture(b.Context(), b.key(), p.ID, p.Amount))
	}
	switch state {
	case "partly refunded":
		must(b.client.Refund(b.Context(), b.key(), p.ID, 1000))
	case "refunded":
		must(b.client.Refund(b.Context(), b.key(), p.ID, p.Amount))
	}
	return b.get(p.ID)
}

// confirm enters a card as a program does.
func (b *testEnv) confirm(id, card string) reply {
	b.Helper()
	return b.send(http.MethodPost, "/payments/"+id+"/confirm", fmt.Sprintf(`{"card":%q}`, card))
}

func (b *testEnv) challenge(id string, approve bool) reply {
	b.Helper()
	return b.send(http.MethodPost, "/payments/"+id+"/challenge", fmt.Sprintf(`{"approve":%t}`, approve))
}

// reply is a response as sent over the wire.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// wireError is the error of a reply, empty for a success.
type wireError struct{ Type, Code, Message, DeclineCode string }

func (r reply) wireError() wireError {
	var in struct{ Error wireError }
	_ = json.Unmarshal(r.body, &in)
	return in.Error
}

func (r reply) payment() oldsandbox.Payment {
	var p oldsandbox.Payment
	_ = json.Unmarshal(r.body, &p)
	return p
}

// header is a header for send; a later one replaces an earlier one of the same name.
type header struct{ name, value string }

// send makes a request without the client. By default it has the headers of a program that sends JSON without
// a key.
func (b *testEnv) send(method, path, body string, headers ...header) reply {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := noRedirect.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var read bytes.Buffer
	if _, err := io.Copy(&read, resp.Body); err != nil {
		b.Fatal(err)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: read.Bytes()}
}

// merchant makes a merchant's write with the given key.
func (b *testEnv) merchant(path, key, body string) reply {
	b.Helper()
	return b.send(http.MethodPost, path, body, header{"Authorization", "Bearer " + oldsandbox.DemoSecretKey}, header{"Idempotency-Key", key})
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// wantUnknown expects an error that leaves the outcome unknown.
func wantUnknown(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
	}
	for _, known := range []error{cards.ErrKeyReused, cards.ErrNotFound, cards.ErrState, cards.ErrRefused, cards.ErrSignature} {
		if errors.Is(err, known) {
			t.Errorf("%s: error %v claims to know the outcome", what, err)
		}
	}
}

// verb is one call of the client.
type verb func(ctx context.Context, c *oldsandbox.Client, key, id string) (cards.Payment, error)

func verbs() map[string]verb {
	return map[string]verb{
		"capture": func(ctx context.Context, c *oldsandbox.Client, key, id string) (cards.Payment, error) {
			return c.Capture(ctx, key, id, 4990)
		},
		"cancel": func(ctx context.Context, c *oldsandbox.Client, key, id string) (cards.Payment, error) {
			return c.Cancel(ctx, key, id)
		},
		"refund": func(ctx context.Context, c *oldsandbox.Client, key, id string) (cards.Payment, error) {
			return c.Refund(ctx, key, id, 1000)
		},
		"annotate": func(ctx context.Context, c *oldsandbox.Client, key, id string) (cards.Payment, error) {
			return c.UpdateMetadata(ctx, key, id, map[string]string{"fd_note": "x"})
		},
	}
}
