// Package club is the typed client of the club system: one method for each operation that the
// gateway uses, one file per resource, and one error type. It has no business rules, no
// storage and no cache. "Club system API, section X" refers to the club system's public
// description.
//
// Key concepts:
//
//   - Each call carries its Scope: the organisation, the club and the network node to act
//     from. The client has no current club.
//   - Each failure is an *Error with an Outcome, which says what the club system did, as far
//     as that can be known. A read is retried within a budget; a write is retried only when
//     it provably was not sent.
//   - CreatePayment, PostponeDue, ValidateSale and CancelSubscription are different. Each call of
//     them settles a sale or ends a membership, so the request is sent at most once, over its own
//     connection; see single_attempt.go.
//
// Start reading at Client, then do (do.go), then any resource, such as sale.go.
package club

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config is the configuration of a Client.
type Config struct {
	// BaseURL is the club system's address, such as "https://api.example.com".
	BaseURL string
	// ClientID and ClientSecret are the OAuth client's credentials.
	ClientID, ClientSecret string
	// GatewayKey is sent with every request, token requests included.
	GatewayKey string

	// GatewayKeyHeader names the header for the gateway key. Empty: x-gateway-api-key.
	GatewayKeyHeader string
	// TokenPath is the path of token requests, below BaseURL. Empty: /oauth/v2/token.
	TokenPath string
	// PathPrefix comes between BaseURL and the client token of business requests, such as
	// "/api". Empty: none.
	PathPrefix string

	// ContentType is that of the bodies of writes. Empty: application/json. Some installations require application/ld+json.
	ContentType string

	// SaleState says what shows whether a sale is open or settled. Empty: SaleStateMember.
	SaleState string
	// SaleWithoutArticles accepts sales that do not list their articles; then only the total
	// shows that a sale is as agreed.
	SaleWithoutArticles bool

	// LimitHeaders says that the API gateway in front of the club system sends its own limit headers with a 429
	// (X-Rate-Limit-, X-Quota-, X-Spike-Arrest-), and then has not passed the call on: such a call is Refused.
	// Without it, a 429 leaves Unknown whether the club system has done something.
	LimitHeaders bool

	// Zone returns the time zone of a club, in which a date that is written as an instant is read; nil: it is not known.
	// A nil function knows none.
	Zone func(IRI) *time.Location
	// Now is the clock. Required: New panics without it.
	Now func() time.Time
	// Transport carries every request that may be sent again. Nil: the client's own. The client
	// learns from net/http/httptrace whether a request was sent; over a transport that does
	// not support it, each failure counts as possibly sent.
	Transport http.RoundTripper
	// TLS is used by the requests that are sent at most once, and by the default Transport. Nil: Go's defaults.
	TLS *tls.Config
	// Traceparent returns the W3C trace context to send with a request; empty: none. Nil:
	// none.
	Traceparent func(context.Context) string
	// Logger gets one line per request at debug level: operation, status, outcome, time.
	// Nil: nothing is logged.
	Logger *slog.Logger
	// OnAttempt receives each request once it is over. Nil: none does.
	OnAttempt func(Attempt)
	// ShareCalls shares the calls that the API gateway's limits allow with the other gateways; see store.ShareCalls. It is used
	// once a response has shown such limits. Nil: they are not kept to.
	ShareCalls func(context.Context, CallRequest) ([]CallGrant, error)
	// Limits bound time, size and concurrency. Zero fields have defaults.
	Limits Limits
}

// Client calls the club system. It is safe for concurrent use. Use New: the zero value is
// not usable.
type Client struct {
	cfg        Config
	tokens     *tokens
	bulkheads  *sync.Map // bulkheadKey → *bulkhead
	budgets    *sync.Map // client token → *budget
	quotas     *sync.Map // client token → *quota
	unreadable *unreadables
	money      bool
	// pluralUpdates has the client tokens whose installation has sales/{id}/update_contact instead of sale/{id}/update_contact.
	pluralUpdates *sync.Map
	// migrations has for each client token which of the scopes of a move its installation accepted last, see MigrationScopes.
	migrations *sync.Map
}

const defaultTokenPath = "/oauth/v2/token" //nolint:gosec // a path, no credential

// New returns a client. It sends nothing before the first call; a wrong address or
// credential is an error of that call.
func New(cfg Config) *Client {
	if cfg.Now == nil {
		panic("club: Config.Now is nil")
	}
	cfg.BaseURL, cfg.PathPrefix = strings.TrimRight(cfg.BaseURL, "/"), strings.TrimRight(cfg.PathPrefix, "/")
	cfg.GatewayKeyHeader = cmp.Or(cfg.GatewayKeyHeader, "x-gateway-api-key")
	cfg.TokenPath = cmp.Or(cfg.TokenPath, defaultTokenPath)
	cfg.ContentType = cmp.Or(cfg.ContentType, "application/json")
	cfg.SaleState = cmp.Or(cfg.SaleState, SaleStateMember)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Zone == nil {
		cfg.Zone = func(IRI) *time.Location { return nil }
	}
	if cfg.Traceparent == nil {
		cfg.Traceparent = func(context.Context) string { return "" }
	}
	if cfg.Transport == nil {
		cfg.Transport = newTransport(cfg.TLS, cfg.Limits)
	}
	c := &Client{
		cfg:           cfg,
		bulkheads:     new(sync.Map),
		budgets:       new(sync.Map),
		quotas:        new(sync.Map),
		unreadable:    new(unreadables),
		pluralUpdates: new(sync.Map),
		migrations:    new(sync.Map),
	}
	c.tokens = &tokens{fetch: c.fetchToken, now: cfg.Now, attempts: c.cfg.Limits.MaxAttempts}
	return c
}

// Money returns a view of the client whose calls are all in the lane Payers.
func (c *Client) Money() *Client {
	view := *c
	view.money = true
	return &view
}
