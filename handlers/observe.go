package handlers

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"

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
	World      string    `json:"-"` // the organisation at the club system, which is a world in mock mode
}

// observe gives every request a trace, the browser's own where it sent one, and
// writes one line about it. The line is an allow-list: the route, never the
// path, the query or a header.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun := s.cfg.Now()
		r := c.Request()
		c.SetRequest(r.WithContext(flows.WithTrace(r.Context(), r.Header.Get(flows.TraceHeader))))
		if err := next(c); err != nil {
			c.Error(err)
		}
		took := s.cfg.Now().Sub(begun)
		s.cfg.Log.Debug("request", "method", r.Method, "route", c.Path(), "status", c.Response().Status,
			"ms", took.Milliseconds(), "trace", traceOf(c))
		if s.cfg.Answered != nil && strings.HasPrefix(r.URL.Path, "/v1/") {
			s.cfg.Answered(s.answerOf(c, begun, took))
		}
		return nil
	}
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
		TraceID: traceOf(c), World: world,
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
