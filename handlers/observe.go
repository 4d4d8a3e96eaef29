package handlers

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
)

// RequestInfo is what may be recorded of a request: no query, no header, no body, and no secret of
// the path.
type RequestInfo struct {
	At         time.Time `json:"at"` // of arrival
	Method     string    `json:"method"`
	Path       string    `json:"path"` // for OnRequest alone: the route, with public ids; empty for an unknown one
	Status     int       `json:"status"`
	Code       string    `json:"code"`     // of the problem document; empty without one
	Replayed   bool      `json:"replayed"` // the response to an earlier request with the same Idempotency-Key
	DurationMs float64   `json:"durationMs"`
	TraceID    string    `json:"traceId"` // for OnRequest alone
	Route      string    `json:"-"`       // of the router; empty outside the contract, such as for the site
	World      string    `json:"-"`       // the organisation at the club system, which is a world in mock mode
}

// exchange is shared by the middleware and the handlers of one request.
type exchange struct {
	RequestInfo
	request *http.Request
	body    []byte        // the whole body, once admit has read it
	record  func()        // records the request, once
	attempt store.Attempt // of a request with an idempotency key
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// observe gives every request a trace, the browser's own where it sent one, and records the request.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := s.cfg.Now()
		ctx, span := tracing.StartTrace(r.Context(), s.cfg.Traces, r.Header.Get(tracing.TraceHeader), "page", trace.SpanKindServer)
		exchange := &exchange{RequestInfo: RequestInfo{At: at.UTC(), Method: clip(r.Method), World: s.cfg.ClientToken}}
		response := &responseWriter{ResponseWriter: w}
		exchange.record = sync.OnceFunc(func() {
			exchange.Status = cmp.Or(response.status, http.StatusOK)
			s.record(ctx, span, exchange)
		})
		exchange.request = r.WithContext(context.WithValue(ctx, exchangeKey{}, exchange))
		next.ServeHTTP(response, exchange.request)
		exchange.record()
	})
}

// record logs one line and informs the trace, the metrics and the developer panel. The line is an
// allow-list: the route, never the path, the query or a header.
func (s *Server) record(ctx context.Context, span trace.Span, exchange *exchange) {
	exchange.DurationMs = float64(s.cfg.Now().Sub(exchange.At).Microseconds()) / 1000
	level := s.cfg.AccessLevel
	if exchange.Code == string(flows.Overloaded) {
		level = slog.LevelDebug // a crowd would fill the log; the metrics count it
	}
	s.cfg.Log.LogAttrs(ctx, level, "request", slog.String("method", exchange.Method), slog.String("route", exchange.Route),
		slog.Int("status", exchange.Status), slog.String("code", exchange.Code), slog.Int64("ms", int64(exchange.DurationMs)))
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("status", exchange.Status), attribute.String("code", exchange.Code))
	}
	span.End()
	if s.cfg.OnRequest != nil && strings.HasPrefix(exchange.request.URL.Path, "/v1/") {
		exchange.TraceID = tracing.TraceID(ctx)
		s.cfg.OnRequest(exchange.RequestInfo)
	}
	if s.cfg.OnRequestMetric != nil {
		s.cfg.OnRequestMetric(exchange.RequestInfo)
	}
}

// noteRoute records the route that the router found.
func (s *Server) noteRoute(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		exchange := exchangeOf(c.Request().Context())
		name := c.Request().Method + " " + c.Path()
		if _, ok := routes[name]; ok {
			exchange.Route = c.Path()
			trace.SpanFromContext(c.Request().Context()).SetName(name)
		}
		if s.cfg.OnRequest != nil { // which alone reads the path
			exchange.Path = publicPath(c)
		}
		return next(c)
	}
}

// recover turns a handler's panic into an error, and logs it with its stack. Echo itself would write
// to standard output.
func (s *Server) recover() echo.MiddlewareFunc {
	logged := func(c echo.Context, err error, stack []byte) error {
		s.cfg.Log.ErrorContext(c.Request().Context(), "handler panicked", "route", c.Path(), "error", err, "stack", string(stack))
		return err
	}
	return middleware.RecoverWithConfig(middleware.RecoverConfig{
		DisableStackAll:     true,
		DisableErrorHandler: true,
		LogErrorFunc:        logged,
	})
}

// publicPath fills the parameters of a route that are not secret, unlike those of webhooks.
func publicPath(c echo.Context) string {
	path := c.Path()
	for _, name := range []string{"id", "clubId", "offerId"} {
		path = strings.Replace(path, ":"+name, clip(c.Param(name)), 1)
	}
	return path
}

// clip shortens a caller's text that is kept to the length of an id or a method.
func clip(text string) string { return text[:min(len(text), 64)] }
