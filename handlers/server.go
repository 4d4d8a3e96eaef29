// Package handlers is the public HTTP edge: it binds and validates a request, makes one call of
// flows, and translates the result into the public contract. It has no business rules. The
// only other systems that it calls are the captcha service and the club's login, for its keys.
//
// Start reading at New, which lists the middleware in the order in which a request passes it,
// at routes.go, and at the file of a noun for its routes: registration.go, cart.go, payment.go.
package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/identity"
)

// Config configures the server. Every field is required unless its comment says otherwise.
type Config struct {
	Registrations *registration.Service
	Payments      *payment.Machine
	Catalogue     *catalogue.Catalogue
	Statements    *statements.Service
	Background    *background.Worker // nil in a test of the edge alone
	Identity      *identity.Verifier
	Store         *store.Store
	Cards         *cards.Client

	Contract []byte          // openapi.yaml, as it is served
	Site     fs.FS           // the signup site
	Client   fs.FS           // what the site imports from /client; nil: nothing
	Docs     map[string]Page // the pages below /docs, by path; nil: there are none

	Methods        flows.MethodPolicy // as of Registrations
	Mode           string             // mock, test or live, for front ends
	SMSCountries   []string           // to whose mobile numbers codes are sent; empty: those of the clubs
	ClientToken    string             // the organisation at the club system
	AnyHost        bool               // where a page was opened counts as PublicURL (mock mode)
	PublicURL      string             // where browsers reach Frontdesk; https means secure cookies
	CartOptional   bool               // a payment need not name the revision of the cart that the buyer saw
	AllowedOrigins []string           // other origins of front ends; "*" is any page on this machine (not in live mode). May be empty.
	AllowedHeaders []string           // that pages of other origins may send too; may be empty
	StaffKeys      []string           // each identifies staff; empty: there are no staff
	WebhookSecrets []string           // of the path for the club system's events; empty: no such path
	ReturnSchemes  []string           // of apps, as in returnUrl; "*" is every app's. May be empty.
	PublishableKey string             // the card processor's key for browsers; empty when it has none
	CardScriptURL  string             // where browsers load the card processor's library; empty when it has none

	Ready           func(context.Context) []flows.Check // checks the gateway's dependencies
	Stopping        <-chan struct{}                     // closed when the gateway must stop; may be nil
	OnRequest       func(RequestInfo)                   // is called with every request below /v1; may be nil
	OnRequestMetric func(RequestInfo)                   // is called with every request; may be nil
	OnAdmission     func(Admission)                     // is called with every decision to admit a request or not; may be nil
	OnStream        func(by int)                        // is called when an event stream begins (1) or ends (-1); may be nil

	Provoke Provoke // has requests fail on purpose; nil except in mock mode

	Captcha        *captcha.Verifier // anonymous callers solve one before a request costs money; nil: no captcha
	RateLimits     bool              // apply the limits of limit.go
	TrustedProxies []netip.Prefix    // whose X-Forwarded-For is trusted; may be empty

	Traces      trace.TracerProvider // exports the spans of requests; nil: none are exported
	AccessLevel slog.Level           // of the log line of each request; zero: info

	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
}

const maxBody = 64 // KiB; fits every request of the contract

// Server is the public edge as an http.Handler.
type Server struct {
	cfg     Config
	handler http.Handler // the middleware of all responses, then the router
	router  *echo.Echo
	*specification
	readiness    readiness
	responses    responseCache
	buckets      *buckets                             // nil: there are no limits
	places       adaptivelimiter.AdaptiveLimiter[any] // of the requests that admit counts
	crowd        crowd
	streams      openStreams
	proxyWarning sync.Once     // see checkProxy
	keyedTimeout time.Duration // of a request with an Idempotency-Key: requestTimeout, except in tests
}

// New returns a server. It fails when the contract differs from the tables of routes and problems.
func New(cfg Config) (*Server, error) {
	read, err := readSpecification(cfg.Contract)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if cfg.Traces == nil {
		cfg.Traces = tracing.IDOnlyProvider()
	}
	if cfg.OnStream == nil {
		cfg.OnStream = func(int) {}
	}
	e := echo.New()
	server := &Server{
		cfg:           cfg,
		router:        e,
		specification: read,
		responses:     newResponseCache(),
		places:        adaptivelimiter.NewBuilder[any]().WithLimits(minPlaces, maxPlaces, maxPlaces).Build(),
		streams:       openStreams{count: map[string]int{}},
		keyedTimeout:  requestTimeout,
	}
	server.handler = server.observe(server.setSecurityHeaders(server.serveCached(e)))
	e.HTTPErrorHandler = server.writeProblem
	e.IPExtractor = newIPExtractor(cfg.TrustedProxies)
	if cfg.RateLimits {
		server.buckets = newBuckets()
	}
	e.Use(server.noteRoute, server.recover(), server.cors(), server.announceLanguage, server.announceDeprecation)
	e.Use(middleware.BodyLimit(strconv.Itoa(maxBody)+"KiB"), server.admit, server.limit, withTimeout)
	e.Use(server.resolveCaller, server.provoke, server.authenticate, server.validate)
	e.Use(server.requireToken, server.idempotent, server.requireCaptcha)

	api.RegisterHandlers(e, api.NewStrictHandler(server, nil))
	e.POST("/v1/webhooks/card", server.receiveCardWebhook)
	e.POST("/v1/webhooks/club/:secret", server.receiveClubWebhook)
	e.GET("/v1/registrations/:id/events", server.followRegistration)
	e.GET(cardPageRoute, server.showCardPage)
	e.GET(documentRoute, server.serveDocument)
	e.GET("/openapi.json", server.servePage(Page{ContentType: "application/json", Body: cfg.contractAsJSON}))
	e.GET("/openapi.yaml", server.servePage(Page{ContentType: "application/yaml", Body: func() ([]byte, error) { return cfg.Contract, nil }}))
	const docs = "/docs" // the only page that the contract lists
	e.GET(docs, server.servePage(cfg.Docs[docs]))
	if err := errors.Join(server.compareRoutes(), server.compareCodes()); err != nil {
		return nil, err
	}
	for path, page := range cfg.Docs {
		if path != docs {
			e.GET(path, server.servePage(page))
		}
	}
	if err := server.mountFiles("/", cfg.Site); err != nil || cfg.Client == nil {
		return server, err
	}
	return server, server.mountFiles("/client/", cfg.Client)
}

// specification is openapi.yaml as it is read. It is not changed.
type specification struct {
	text       []byte
	document   *openapi3.T
	operations map[string]operation // by method and route of the router
}

// latestSpecification is shared by the gateways of a process: to read it takes most of the time of making one.
var latestSpecification atomic.Pointer[specification]

func readSpecification(text []byte) (*specification, error) {
	if latest := latestSpecification.Load(); latest != nil && bytes.Equal(latest.text, text) {
		return latest, nil
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	deferCart(document)
	operations, err := operationsOf(document)
	if err != nil {
		return nil, err
	}
	read := &specification{text, document, operations}
	latestSpecification.Store(read)
	return read, nil
}

// contractAsJSON reads the contract once more: the server's own document leaves some of its checks to handlers.
func (cfg Config) contractAsJSON() ([]byte, error) {
	document, err := openapi3.NewLoader().LoadFromData(cfg.Contract)
	if err != nil {
		return nil, err
	}
	return document.MarshalJSON()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, headAsGet(r))
}

// compareCodes compares the table of problems with the contract's list and with those of its operations,
// both ways.
func (s *Server) compareCodes() error {
	listed := map[flows.Code]bool{flows.MethodNotAllowed: true} // answered where no operation exists
	for name, op := range s.operations {
		for _, code := range op.codes {
			listed[code] = true
			if problems[code].status == 0 {
				return fmt.Errorf("problem code %v of %s is unknown", code, name)
			}
		}
	}
	schema := s.document.Components.Schemas["ProblemCode"].Value // its description is a table of all problems
	codes, _ := schema.Extensions["x-extensible-enum"].([]any)
	for _, code := range codes {
		name := flows.Code(fmt.Sprint(code))
		m, ok := problems[name]
		if !ok {
			return fmt.Errorf("problem code %v is in openapi.yaml, but has no status", code)
		}
		if row := fmt.Sprintf("| `%v` | %d | `%s` | `%s` | ", code, m.status, m.retry, m.then); !strings.Contains(schema.Description, row) {
			return fmt.Errorf("the table of problem codes in openapi.yaml has no row that begins %s", row)
		}
		if !listed[name] {
			return fmt.Errorf("problem code %v is in the x-problem-codes of no operation", code)
		}
	}
	if len(codes) != len(problems) {
		return fmt.Errorf("openapi.yaml lists %d problem codes of %d", len(codes), len(problems))
	}
	return nil
}

// setSecurityHeaders adds the security headers, which pages may replace. All responses share the
// lists of values.
func (s *Server) setSecurityHeaders(next http.Handler) http.Handler {
	headers := http.Header{
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"same-origin"},
		"X-Frame-Options":              {"DENY"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"}, // CORS admits front ends of other origins
		"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), usb=()"},
		"Cache-Control":                {"no-store"},
	}
	if s.secure() {
		headers.Set("Strict-Transport-Security", "max-age=31536000") // a year, for this host alone
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), headers)
		if s.cfg.AnyHost && !isSecureContext(s.home(r)) {
			w.Header().Del("Cross-Origin-Opener-Policy") // which browsers would ignore there, with an error in the console
		}
		next.ServeHTTP(w, r)
	})
}
