package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// The time that a request may take. All are below the server's write timeout, so that the caller
// still gets a response. A request with an Idempotency-Key continues without its client, for
// requestTimeout.
const (
	// readTimeout: the longest read is that of a whole catalogue, 30 s.
	readTimeout = 40 * time.Second
	// webhookTimeout: other systems give up on an answer sooner, and send it again.
	webhookTimeout = 10 * time.Second
)

// withTimeout ends the journey of a request that takes too long. What was begun is
// safe to end anywhere, as with a browser that has left. Streams go on for as long
// as somebody reads them.
func withTimeout(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		limit := timeoutOf(c.Request().Method, c.Path())
		if limit == 0 {
			return next(c)
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), limit)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// timeoutOf gives the time for a route; zero for none.
func timeoutOf(method, route string) time.Duration {
	switch {
	case strings.HasSuffix(route, "/events"):
		return 0
	case strings.HasPrefix(route, webhookPrefix):
		return webhookTimeout
	case method == http.MethodGet || method == http.MethodHead:
		return readTimeout
	default:
		return requestTimeout
	}
}
