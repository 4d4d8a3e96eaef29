// Package handlers is the public HTTP edge: it binds and validates a request, makes one call of
// flows, and translates the result into the public contract. It has no business rules and calls
// no other system.
//
// Start reading at New, which lists the middleware in the order in which a request passes it,
// at routes.go, and at the file of a noun for its routes: registration.go, cart.go, payment.go.
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

// Config is what the server needs. Every field is required unless its comment says otherwise.
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
	Worlds         bool     // a request may name another demo world, see organisation (mock mode)
	PublicURL      string   // where browsers reach Frontdesk; https means secure cookies
	AllowedOrigins []string // other origins of front ends; "*" stands for any (not in live mode). May be empty.
	StaffKeys      []string // each identifies staff; empty: there are no staff
	WebhookSecrets []string // the club system posts its events to a path with one of them; empty: there is no such path
	PublishableKey string   // the card processor's key for browsers; empty when it has none

	Ready           func(context.Context) []flows.Check // checks what the gateway depends on
	Stopping        <-chan struct{}                     // closed when the gateway must stop; nil: it never is
	OnRequest       func(RequestInfo)                   // is called with every request below /v1; may be nil
	OnRequestMetric func(RequestInfo)                   // is called with every request; may be nil
	OnStream        func(by int)                        // is called when an event stream begins (1) or ends (-1); may be nil

	Captcha        *captcha.Verifier // anonymous callers solve one before a request costs money; nil: there is none
	RateLimits     bool              // limit the rate of requests; see limit.go
	TrustedProxies []netip.Prefix    // whose X-Forwarded-For is trusted; empty: nobody's

	Traces      trace.TracerProvider // exports the spans of requests; nil: none are exported
	AccessLevel slog.Level           // of the log line of each request; zero: info

	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
}

// maxBody is ample for every request of the contract.
const maxBody = "64K"

// Server is the public edge as an http.Handler.
type Server struct {
	cfg          Config
	handler      http.Handler // the middleware of all responses, then the router
	router       *echo.Echo
	operations   map[string]operation // by method and route of the router
	tags         *validator.Validate
	readiness    readiness
	responses    responseCache
	buckets      *buckets // nil: there are no limits
	streams      openStreams
	proxyWarning sync.Once // the log has the warning about an unlisted proxy
}

var _ http.Handler = (*Server)(nil)
var _ api.StrictServerInterface = (*Server)(nil)

// New returns a server. It fails when the contract cannot be read, or differs from the tables of
// routes and problems.
func New(cfg Config) (*Server, error) {
	document, err := openapi3.NewLoader().LoadFromData(cfg.Contract)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if cfg.Traces == nil {
		cfg.Traces = tracing.IDOnlyProvider()
	}
	e := echo.New()
	s := &Server{cfg: cfg, router: e, operations: operationsOf(document), tags: newValidator(cfg.Now), responses: newResponseCache()}
	s.handler = s.observe(s.setSecurityHeaders(s.serveCached(e)))
	e.HTTPErrorHandler = s.writeProblem
	e.IPExtractor = newIPExtractor(cfg.TrustedProxies)
	if cfg.RateLimits {
		s.buckets = newBuckets()
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

// compareCodes compares the table of problems with the contract's list, both ways.
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

// hsts keeps browsers on https for a year, for this host alone.
const hsts = "max-age=31536000"
