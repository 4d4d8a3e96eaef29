package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// The time for a request is below the server's write timeout, so that the caller still gets a
// response.
const (
	getTimeout     = 40 * time.Second // the longest read, a whole catalogue, takes 30 s
	requestTimeout = 60 * time.Second // of all others; with an Idempotency-Key also after the client has left
	webhookTimeout = 10 * time.Second // other systems give up sooner, and send the event again
)

// withTimeout cancels a request that takes too long, which is safe at any point, as with a browser
// that leaves.
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

// timeoutOf returns the time for a route; zero means unlimited, for event streams.
func timeoutOf(method, route string) time.Duration {
	switch {
	case strings.HasSuffix(route, "/events"):
		return 0
	case strings.HasPrefix(route, webhookPrefix):
		return webhookTimeout
	case method == http.MethodGet || method == http.MethodHead:
		return getTimeout
	default:
		return requestTimeout
	}
}

// socketTimeout is enough for a few hundred kilobytes, the most that is written at once, on the
// slowest mobile networks. A client that reads nothing for that long is gone.
const socketTimeout = 10 * time.Second

// responseWriter keeps the status, and gives each write its own deadline. The server's own limit is
// for whole requests: a client that reads nothing would hold a connection and its buffers for long.
type responseWriter struct {
	http.ResponseWriter
	status int // zero: nothing was written
}

func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	// The connection has the real clock, not that of a world of mock mode. A writer in memory has no deadlines.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(socketTimeout)) //nolint:forbidigo // see above
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
