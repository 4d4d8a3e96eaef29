// Package club is the typed client of the club system: one method per operation
// of its API, one file per resource, and one type for everything that can go
// wrong. It knows the wire and nothing else: no business rule, no storage and no
// caching of answers; those belong to the flows that call it. Comments that say
// "club system API, section X" mean the club system's public description.
//
// Three things are worth knowing before the first call:
//
//   - Each call carries its Scope: the organisation, the club and the network
//     node to act from. The client holds no current club.
//   - Each failure is an *Error with an Outcome, which says what the club system
//     did, as far as that can be known. A read is repeated within a budget; a
//     write is repeated only when it provably was not sent.
//   - CreatePayment is unlike the rest. Every call of it books money, so it goes
//     out at most once, over a connection of its own; see one_shot.go.
//
// Start reading at Client, then do (do.go), then any resource, such as sale.go.
package club

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Config is what New needs to know.
type Config struct {
	// BaseURL is where the club system is reached, such as "https://api.example.com".
	BaseURL string
	// ClientID and ClientSecret are the OAuth client's credentials.
	ClientID, ClientSecret string
	// GatewayKey is sent with every request, that for the token included.
	GatewayKey string

	// GatewayKeyHeader, ClubHeader and NodeHeader name the headers for the
	// gateway key, the club and the network node. Empty: x-gateway-api-key,
	// x-user-club-id and x-user-network-node-id.
	GatewayKeyHeader, ClubHeader, NodeHeader string
	// TokenPath is where tokens are fetched, below BaseURL. Empty: /oauth/v2/token.
	TokenPath string
	// PathPrefix stands between BaseURL and the client token of business
	// requests, such as "/api". Empty: nothing stands there.
	PathPrefix string

	// Now is the clock. It must be set: New panics when it is nil.
	Now func() time.Time
	// Transport carries every request except CreatePayment. Nil: NewTransport's,
	// which is also the one to wrap, for tracing for example. Whether a request was
	// sent is learnt by net/http/httptrace; over a transport that does not report
	// to it, each failure counts as possibly sent.
	Transport http.RoundTripper
	// TLS is used by CreatePayment and by the transport that a nil Transport
	// stands for. Nil: the system's roots and Go's defaults.
	TLS *tls.Config
	// Traceparent returns the W3C trace context to send along with a request;
	// empty sends none. Nil: none is ever sent.
	Traceparent func(context.Context) string
	// Logger gets one line per request at debug level: operation, status,
	// outcome, time. Nil: nothing is logged.
	Logger *slog.Logger
	// OnAttempt hears of every request once it is over. Nil: nobody listens.
	OnAttempt func(Attempt)
	// Limits bound time, size and concurrency. Zero fields have defaults.
	Limits Limits
}

// Client calls the club system. It is safe for concurrent use. The zero value
// is of no use: see New.
type Client struct {
	*core
	money bool
}

// core is what a client and its money view share.
type core struct {
	cfg       Config
	tokens    tokens
	bulkheads sync.Map // bulkheadKey → *lane

	address    *url.URL // of business requests, as far as the client token
	badAddress error    // why there is none
}

// New returns a client. Nothing is sent before the first call, and a wrong
// address or credential shows in the error of that call.
func New(cfg Config) *Client {
	if cfg.Now == nil {
		panic("club: Config.Now is nil")
	}
	cfg.setDefaults()
	c := &Client{core: &core{cfg: cfg}}
	c.address, c.badAddress = url.Parse(cfg.BaseURL + cfg.PathPrefix)
	c.tokens.fetch, c.tokens.now = c.fetchToken, cfg.Now
	return c
}

// Money returns a view of the client for calls that a payment waits for. Its
// calls have places, a breaker and a retry budget of their own, so that a busy
// or failing catalogue never holds up a payment.
func (c *Client) Money() *Client {
	return &Client{core: c.core, money: true}
}

func (cfg *Config) setDefaults() {
	cfg.BaseURL, cfg.PathPrefix = strings.TrimRight(cfg.BaseURL, "/"), strings.TrimRight(cfg.PathPrefix, "/")
	setDefault(&cfg.GatewayKeyHeader, "x-gateway-api-key")
	setDefault(&cfg.ClubHeader, "x-user-club-id")
	setDefault(&cfg.NodeHeader, "x-user-network-node-id")
	for _, name := range []*string{&cfg.GatewayKeyHeader, &cfg.ClubHeader, &cfg.NodeHeader} {
		*name = http.CanonicalHeaderKey(*name)
	}
	setDefault(&cfg.TokenPath, "/oauth/v2/token")
	if cfg.Traceparent == nil {
		cfg.Traceparent = func(context.Context) string { return "" }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Limits.setDefaults()
	if cfg.Transport == nil {
		cfg.Transport = NewTransport(cfg.TLS, cfg.Limits)
	}
}

// setDefault gives a field that was left zero its value.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
