package handlers

import (
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

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
		s.cfg.Log.Debug("request", "method", r.Method, "route", c.Path(), "status", c.Response().Status,
			"ms", s.cfg.Now().Sub(begun).Milliseconds(), "trace", traceOf(c))
		return nil
	}
}

func traceOf(c echo.Context) string { return flows.TraceID(c.Request().Context()) }
