// Package handlers is the HTTP edge: it binds and validates what comes in,
// makes one call of a journey, and puts the result into the words of the
// public contract. It holds no rule of the business, and speaks to no other
// system.
//
// Start reading at New, which puts the edge together in the order in which a
// request passes through it, and at the file of a noun for its routes:
// registration.go, item.go, payment.go.
package handlers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-playground/validator/v10"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/maypok86/otter/v2"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/clubevent"
	"frontdesk/flows/jobs"
	"frontdesk/flows/member"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/identity"
)

// Config is what the edge needs. Every field is required unless said.
type Config struct {
	Registrations *registration.Service
	Payments      *payment.Machine
	Catalogue     *catalogue.Catalogue
	Changes       *jobs.Hub
	Transfers     *member.Transfers
	Contacts      *member.Contacts
	ClubEvents    *clubevent.Intake
	Identity      *identity.Verifier
	Store         *store.Store
	Cards         cards.Processor

	Contract []byte                  // openapi.yaml
	Site     fs.FS                   // the signup site
	Docs     map[string]http.Handler // the pages below /docs, by path; nil: there are none

	ClientToken    string   // the organisation at the club system
	Worlds         bool     // a request may name another demo world, see worldOf (mock mode)
	PublicURL      string   // where browsers reach Frontdesk; https means secure cookies
	AllowedOrigins []string // other origins of front ends; "*" stands for any (not in live mode). May be empty.
	StaffKeys      []string // each proves that a caller is staff; empty: nobody is
	WebhookSecrets []string // the club system's events come to a path with one of them; empty: nowhere
	PublishableKey string   // the card processor's key for browsers; empty when it has none

	Ready           func(context.Context) []flows.Check // looks at what the gateway stands on
	Stopping        <-chan struct{}                     // closed when the gateway was told to end; nil: it never is
	OnRequest       func(RequestInfo)                   // hears of every request below /v1 once it was answered; nil: nobody listens
	OnRequestMetric func(RequestInfo)                   // hears of every request once it was answered; nil: nobody counts
	OnStream        func(by int)                        // hears of every event stream that begins (1) or ends (-1); nil: nobody counts

	Captcha        *captcha.Verifier // what strangers answer before something costs money; nil: nothing
	RateLimits     bool              // count requests, and refuse too many; see limit.go
	TrustedProxies []netip.Prefix    // who is believed to say in X-Forwarded-For whom they speak for; empty: nobody

	Traces      trace.TracerProvider // keeps the spans of requests; nil: none are kept
	AccessLevel slog.Level           // of the log's one line per request; zero: info

	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
}

// maxBody is ample for every request of the contract.
const maxBody = "64K"

// Server is the edge as an http.Handler.
type Server struct {
	cfg          Config
	handler      http.Handler // the middleware of all responses, then the router
	router       *echo.Echo
	operations   map[string]operation // by method and route of the router
	tags         *validator.Validate
	readiness    readiness
	responses    *otter.Cache[cacheKey, *cacheEntry]
	buckets      *buckets // nil: nothing is counted
	proxies      trustedProxies
	streams      openStreams
	proxyWarning sync.Once // a proxy was warned of
}

var _ http.Handler = (*Server)(nil)
var _ api.StrictServerInterface = (*Server)(nil)

// New puts the edge together. It fails when the contract cannot be read, or
// when routes, policies and contract are not the same.
func New(cfg Config) (*Server, error) {
	document, err := openapi3.NewLoader().LoadFromData(cfg.Contract)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if cfg.Traces == nil {
		cfg.Traces = tracing.IDOnlyProvider()
	}
	e := echo.New()
	s := &Server{cfg: cfg, router: e, operations: operationsOf(document), tags: newValidator(cfg.Now), responses: newResponseCache(),
		proxies: cfg.TrustedProxies}
	s.handler = s.observe(s.setSecurityHeaders(s.serveCached(e)))
	e.HTTPErrorHandler = s.writeProblem
	e.IPExtractor = s.proxies.realIP
	if cfg.RateLimits {
		s.buckets = newBuckets(requests, cfg.Now)
	}
	e.Use(s.noteRoute, s.recover(), s.cors(), s.limit, middleware.BodyLimit(maxBody), withTimeout,
		s.resolveCaller, s.authenticate, s.validate, s.idempotent, s.requireCaptcha)

	api.RegisterHandlers(e, api.NewStrictHandler(s, nil))
	e.POST("/v1/webhooks/card", s.receiveCardWebhook)
	e.POST("/v1/webhooks/club/:secret", s.receiveClubWebhook)
	e.GET("/v1/registrations/:id/events", s.followRegistration)
	e.GET("/openapi.yaml", s.getContract)
	const docs = "/docs" // the one page of them that the contract lists
	e.GET(docs, echo.WrapHandler(cfg.Docs[docs]))
	if err := errors.Join(s.compareRoutes(), compareCodes(document)); err != nil {
		return nil, err
	}
	for path, page := range cfg.Docs {
		if path != docs {
			e.GET(path, echo.WrapHandler(page))
		}
	}
	return s, s.mountSite()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, headAsGet(r))
}

// problemCodes is the schema whose description is the table of all problems.
const problemCodes = "ProblemCode"

// compareCodes holds the table of problems and the contract's list equal, either way.
func compareCodes(document *openapi3.T) error {
	listed := document.Components.Schemas[problemCodes].Value.Enum
	table := document.Components.Schemas[problemCodes].Value.Description
	for _, code := range listed {
		m, ok := problems[flows.Code(fmt.Sprint(code))]
		if !ok {
			return fmt.Errorf("problem code %v is in openapi.yaml, but has no meaning", code)
		}
		if row := fmt.Sprintf("| `%v` | %d | `%s` | ", code, m.status, m.retry); !strings.Contains(table, row) {
			return fmt.Errorf("the table of problem codes in openapi.yaml has no row that begins %s", row)
		}
	}
	if len(listed) != len(problems) {
		return fmt.Errorf("openapi.yaml lists %d problem codes of %d", len(listed), len(problems))
	}
	return nil
}

// setSecurityHeaders puts the security headers into every response. Pages that need other
// values replace them. The lists of values are shared by all responses.
func (s *Server) setSecurityHeaders(next http.Handler) http.Handler {
	headers := http.Header{}
	for name, value := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "same-origin",
		"X-Frame-Options":              "DENY",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", // CORS admits front ends of other origins
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), usb=()",
		"Cache-Control":                "no-store",
	} {
		headers.Set(name, value)
	}
	if s.secure() {
		headers.Set("Strict-Transport-Security", hsts)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), headers)
		next.ServeHTTP(w, r)
	})
}

// hsts keeps browsers on https for a year. It is of this host alone: the club's
// other ones are no business of ours.
const hsts = "max-age=31536000"
