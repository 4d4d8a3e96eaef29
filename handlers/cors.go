package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// fromFrontEnd reports whether a request with a cookie comes from one of our pages. Origin must name
// one of our front ends, and Fetch Metadata must say "same-origin", or something else only for a
// listed origin. A GET is not checked, because it changes nothing. A request without either header
// comes from no browser, so no page of another site can have caused it.
func (s *Server) fromFrontEnd(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	listed := origin != "" && s.allowedOrigin(origin)
	if origin != "" && origin != originOf(s.cfg.PublicURL) && !s.isHome(r, origin) && !listed {
		return false
	}
	return site == "" || site == "same-origin" || listed
}

// isHome reports whether an origin is the host under which a page of mock mode was opened. A tunnel may not say that browsers use https.
func (s *Server) isHome(r *http.Request, origin string) bool {
	_, host, _ := strings.Cut(originOf(origin), "://")
	_, home, _ := strings.Cut(originOf(s.home(r)), "://")
	return s.cfg.AnyHost && host == home
}

// allowedOrigin reports whether an origin is one of the configured front ends. "*" means every
// page on this machine, where front ends are developed, and no other page.
func (s *Server) allowedOrigin(origin string) bool {
	if origin != "*" && slices.Contains(s.cfg.AllowedOrigins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || !slices.Contains(s.cfg.AllowedOrigins, "*") || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
}

// tracingHeaders are what libraries of browsers add to a page's requests: W3C Trace Context and Baggage, Sentry, Datadog, B3, New Relic,
// Elastic, Jaeger, and libraries that say that a script sends the request. A page with one of them would fail at its first preflight.
// Frontdesk reads traceparent alone.
var tracingHeaders = []string{
	"traceparent", "tracestate", "baggage", "sentry-trace", "newrelic", "elastic-apm-traceparent", "uber-trace-id",
	"x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-origin", "x-datadog-sampling-priority", "x-datadog-tags",
	"b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags", "x-request-id", "x-requested-with",
}

// cors admits the configured front ends of other origins.
func (s *Server) cors() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) { return s.allowedOrigin(origin), nil },
		AllowMethods:    []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders: slices.Concat([]string{
			"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID",
			"X-Frontdesk-Session", captchaHeader, staffHeader, "X-Frontdesk-World",
		}, tracingHeaders, s.cfg.AllowedHeaders),
		ExposeHeaders:    []string{"Date", "ETag", "Location", "Retry-After", "Idempotent-Replayed", "RateLimit", "RateLimit-Policy"},
		AllowCredentials: true,
		MaxAge:           600, // seconds; one preflight for a page, and a new configuration soon applies
	})
}

// cookieName returns the name for a registration, because a browser may hold several. With the prefix
// __Host-, browsers refuse the cookie from any other host or path.
func (s *Server) cookieName(registration string) string {
	if s.secure() {
		return "__Host-frontdesk-" + registration
	}
	return "frontdesk-" + registration
}

func (s *Server) secure() bool { return strings.HasPrefix(s.cfg.PublicURL, "https://") }

// sessionCookie hides a registration's token from scripts. A browser deletes one without life. It is not an instant, because neither the
// browser nor a demo world need have the right time.
func (s *Server) sessionCookie(registration, token string, life time.Duration) string {
	cookie := http.Cookie{ // #nosec G124 -- without Secure on plain http alone, which live mode refuses
		Name:     s.cookieName(registration),
		Value:    token,
		MaxAge:   int(life.Seconds()),
		Path:     "/",
		HttpOnly: true,
		Secure:   s.secure(),
		SameSite: http.SameSiteLaxMode,
	}
	return cookie.String()
}

// originOf returns an address's origin; empty for an address that cannot be parsed.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
