package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
)

// RequestInfo is what may be told of a request once it was answered: no query, no
// header, no body, and of the path only what is no secret.
type RequestInfo struct {
	At         time.Time `json:"at"` // when it came in
	Method     string    `json:"method"`
	Path       string    `json:"path"` // for Answered alone: the route, with the ids of what it is about; empty when there is no such route
	Status     int       `json:"status"`
	Code       string    `json:"code"`     // of the problem document; empty without one
	Replayed   bool      `json:"replayed"` // the answer of an earlier request with the same Idempotency-Key
	DurationMs float64   `json:"durationMs"`
	TraceID    string    `json:"traceId"` // for Answered alone
	Route      string    `json:"-"`       // as the router has it; empty for what is not of the contract, such as the site
	World      string    `json:"-"`       // the organisation at the club system, which is a world in mock mode
}

// traceHeader is flows.TraceHeader in the form that Go keeps it in.
var traceHeader = http.CanonicalHeaderKey(flows.TraceHeader)

// observe gives every request a trace, the browser's own where it sent one, and
// writes one line about it. The line is an allow-list: the route, never the
// path, the query or a header.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun := s.cfg.Now()
		r := c.Request()
		ctx, span := flows.StartTrace(r.Context(), s.cfg.Traces, r.Header.Get(traceHeader), spanName(c), trace.SpanKindServer)
		defer span.End()
		c.SetRequest(r.WithContext(ctx))
		if err := next(c); err != nil {
			c.Error(err)
		}
		answer := s.requestInfo(c, begun, s.cfg.Now().Sub(begun))
		level := s.cfg.AccessLevel
		if c.Get(recalledKey) != nil {
			level = min(level, recalledLevel)
		}
		s.logRequest(ctx, level, answer)
		if span.IsRecording() {
			span.SetAttributes(attribute.Int("status", answer.Status), attribute.String("code", answer.Code))
		}
		if s.cfg.OnRequest != nil && strings.HasPrefix(r.URL.Path, "/v1/") {
			s.cfg.OnRequest(answer)
		}
		if s.cfg.OnRequestMetric != nil {
			s.cfg.OnRequestMetric(answer)
		}
		return nil
	}
}

// recover answers for a handler that panicked, and says where: to the one log, and
// not to standard output as Echo would.
func (s *Server) recover() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{DisableStackAll: true, LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
		s.cfg.Log.ErrorContext(c.Request().Context(), "a handler panicked", "route", c.Path(), "error", err, "stack", string(stack))
		return err
	}})
}

// logRequest writes the line about a request. It goes past the logger, which would look for
// the line of the source that logs, at every request, and nobody reads that.
func (s *Server) logRequest(ctx context.Context, level slog.Level, answer RequestInfo) {
	lines := s.cfg.Log.Handler()
	if !lines.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(answer.At, level, "request", 0)
	line.AddAttrs(slog.String("method", answer.Method), slog.String("route", answer.Route),
		slog.Int("status", answer.Status), slog.String("code", answer.Code), slog.Int64("ms", int64(answer.DurationMs)))
	_ = lines.Handle(ctx, line) // there is nobody to tell
}

// spanName names a request in its trace: the route of the contract, or that it is none.
func spanName(c echo.Context) string {
	if route := routeOf(c); route != "" {
		return c.Request().Method + " " + route
	}
	return "page"
}

// routeOf is the route of the contract that a request has; empty when it has none.
func routeOf(c echo.Context) string {
	if _, ok := accessTable[c.Request().Method+" "+c.Path()]; ok {
		return c.Path()
	}
	return ""
}

// codeKey is where writeProblem leaves the code.
const codeKey = "code"

func (s *Server) requestInfo(c echo.Context, begun time.Time, took time.Duration) RequestInfo {
	code, _ := c.Get(codeKey).(string)
	world := callerOf(c.Request().Context()).clientToken
	if world == "" { // it was refused before anybody looked
		world = s.cfg.ClientToken
	}
	answer := RequestInfo{
		At: begun.UTC(), Method: clip(c.Request().Method), Status: c.Response().Status, Code: code,
		Replayed: c.Response().Header().Get("Idempotent-Replayed") != "", DurationMs: milliseconds(took),
		Route: routeOf(c), World: world,
	}
	if s.cfg.OnRequest != nil { // nobody else looks at one request
		answer.Path, answer.TraceID = publicPath(c), traceOf(c)
	}
	return answer
}

// milliseconds are exact to a microsecond.
func milliseconds(took time.Duration) float64 { return float64(took.Microseconds()) / 1000 }

// publicParams are the parameters of routes that are no secrets; those of webhooks are.
var publicParams = []string{"id", "clubId", "offerId"}

func publicPath(c echo.Context) string {
	segments := strings.Split(c.Path(), "/")
	for i, segment := range segments {
		for _, name := range publicParams {
			if segment == ":"+name {
				segments[i] = clip(c.Param(name))
			}
		}
	}
	return strings.Join(segments, "/")
}

// clip cuts what a caller made up to what an id or a method can need, since it is kept.
func clip(text string) string {
	const longest = 64
	if len(text) > longest {
		return text[:longest]
	}
	return text
}

func traceOf(c echo.Context) string { return flows.TraceID(c.Request().Context()) }
