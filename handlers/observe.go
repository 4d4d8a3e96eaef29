package handlers

import (
	"log/slog"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
)

// Answer is what may be told of a request once it was answered: no query, no
// header, no body, and of the path only what is no secret.
type Answer struct {
	At         time.Time `json:"at"` // when it came in
	Method     string    `json:"method"`
	Path       string    `json:"path"` // the route, with the ids of what it is about; empty when there is no such route
	Status     int       `json:"status"`
	Code       string    `json:"code"`     // of the problem document; empty without one
	Replayed   bool      `json:"replayed"` // the answer of an earlier request with the same Idempotency-Key
	DurationMs float64   `json:"durationMs"`
	TraceID    string    `json:"traceId"`
	Route      string    `json:"-"` // as the router has it; empty for what is not of the contract, such as the site
	World      string    `json:"-"` // the organisation at the club system, which is a world in mock mode
}

// observe gives every request a trace, the browser's own where it sent one, and
// writes one line about it. The line is an allow-list: the route, never the
// path, the query or a header.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun := s.cfg.Now()
		r := c.Request()
		ctx, span := flows.StartTrace(r.Context(), s.cfg.Traces, r.Header.Get(flows.TraceHeader), spanName(c), trace.SpanKindServer)
		defer span.End()
		c.SetRequest(r.WithContext(ctx))
		if err := next(c); err != nil {
			c.Error(err)
		}
		answer := s.answerOf(c, begun, s.cfg.Now().Sub(begun))
		s.cfg.Log.LogAttrs(ctx, s.cfg.AccessLevel, "request", slog.String("method", answer.Method), slog.String("route", answer.Route),
			slog.Int("status", answer.Status), slog.String("code", answer.Code), slog.Int64("ms", int64(answer.DurationMs)))
		span.SetAttributes(attribute.Int("status", answer.Status), attribute.String("code", answer.Code))
		if s.cfg.Answered != nil && strings.HasPrefix(r.URL.Path, "/v1/") {
			s.cfg.Answered(answer)
		}
		if s.cfg.Counted != nil {
			s.cfg.Counted(answer)
		}
		return nil
	}
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
	if _, ok := policies[c.Request().Method+" "+c.Path()]; ok {
		return c.Path()
	}
	return ""
}

// codeKey is where writeProblem leaves the code.
const codeKey = "code"

func (s *Server) answerOf(c echo.Context, begun time.Time, took time.Duration) Answer {
	code, _ := c.Get(codeKey).(string)
	world := callerOf(c.Request().Context()).clientToken
	if world == "" { // it was refused before anybody looked
		world = s.cfg.ClientToken
	}
	return Answer{
		At: begun.UTC(), Method: clipped(c.Request().Method), Path: tellablePath(c), Status: c.Response().Status, Code: code,
		Replayed: c.Response().Header().Get("Idempotent-Replayed") != "", DurationMs: float64(took.Microseconds()) / 1000,
		TraceID: traceOf(c), Route: routeOf(c), World: world,
	}
}

// tellable are the parameters of routes that are no secrets; those of webhooks are.
var tellable = []string{"id", "clubId", "offerId"}

func tellablePath(c echo.Context) string {
	segments := strings.Split(c.Path(), "/")
	for i, segment := range segments {
		for _, name := range tellable {
			if segment == ":"+name {
				segments[i] = clipped(c.Param(name))
			}
		}
	}
	return strings.Join(segments, "/")
}

// clipped cuts what a caller made up to what an id or a method can need, since it is kept.
func clipped(text string) string {
	const longest = 64
	if len(text) > longest {
		return text[:longest]
	}
	return text
}

func traceOf(c echo.Context) string { return flows.TraceID(c.Request().Context()) }
