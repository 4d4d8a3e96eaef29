package handlers

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"frontdesk/flows"
)

// caller is who sent a request, and to which organisation.
type caller struct {
	token       string                 // of a registration; empty for a visitor who holds none
	clientToken string                 // the organisation at the club system
	staff       bool                   // with a staff key
	contact     *flows.ContactIdentity // for whom the club's own login vouches; nil for everybody else
}

type callerKey struct{}

// callerOf gives the caller to a handler, which sees the context alone.
func callerOf(ctx context.Context) caller { return *callerIn(ctx) }

// callerIn is the caller as identify left it, for admit to say more of.
func callerIn(ctx context.Context) *caller {
	if who, ok := ctx.Value(callerKey{}).(*caller); ok {
		return who
	}
	return &caller{}
}

// maxWorldName is the simulator's.
const maxWorldName = 128

// worldPattern is what the simulator takes as a client token, apart from its length: a pattern
// that counts is compiled into as many copies of what it counts.
var worldPattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]+)?$`)

// IsWorld reports whether a text can name a world of the simulator.
func IsWorld(name string) bool { return len(name) <= maxWorldName && worldPattern.MatchString(name) }

// organisation is the client token that a request is for. In mock mode a request may name a
// world, in a header or in a cookie, because a page cannot send a header with an EventSource.
func (s *Server) organisation(r *http.Request) string {
	if s.cfg.Worlds {
		if world := r.Header.Get("X-Frontdesk-World"); world != "" {
			return world
		}
		if cookie, err := r.Cookie("frontdesk-world"); err == nil && cookie.Value != "" {
			return cookie.Value
		}
	}
	return s.cfg.ClientToken
}

// resolveCaller finds out who is calling. A session cookie counts only when the
// browser says that the request comes from a front end of ours.
func (s *Server) resolveCaller(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := caller{clientToken: s.organisation(c.Request())}
		if who.clientToken != s.cfg.ClientToken && !IsWorld(who.clientToken) {
			return &flows.Error{Code: flows.MalformedRequest, Detail: "X-Frontdesk-World (or the cookie frontdesk-world) is demo, or demo- and letters, digits, dots, underscores and hyphens."}
		}
		exchangeOf(c.Request().Context()).World = who.clientToken
		if scheme, credentials, _ := strings.Cut(c.Request().Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
			who.token = credentials
		} else if cookie, err := c.Cookie(s.cookieName(c.Param("id"))); err == nil {
			if !s.fromFrontEnd(c.Request()) {
				return &flows.Error{Code: flows.ForbiddenOrigin, Detail: "A session cookie is only taken from the club's own pages."}
			}
			who.token = cookie.Value
		}
		var err error
		if who.staff, err = s.isStaff(c.Request()); err != nil {
			return err
		}
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), callerKey{}, &who)))
		return next(c)
	}
}

// fromFrontEnd tells whether a request that carries a cookie was made by a page
// of ours. Both of what browsers say of a request have to agree: Origin names one
// of our front ends, and Fetch Metadata says "same-origin", or something else only
// for a front end that is listed by its origin. A mere GET changes nothing, and is
// not asked. What comes without either was made by no browser, and so without the
// visitor's knowledge by nobody.
func (s *Server) fromFrontEnd(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	listed := origin != "" && s.allowedOrigin(origin)
	if origin != "" && origin != originOf(s.cfg.PublicURL) && !listed {
		return false
	}
	return site == "" || site == "same-origin" || listed
}

// allowedOrigin tells whether an origin is one of the configured front ends.
// "*" stands for every page on this machine, which is where front ends are developed;
// nobody else's page is let in by it.
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

// cors lets the configured front ends of other origins in.
func (s *Server) cors() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc:  func(origin string) (bool, error) { return s.allowedOrigin(origin), nil },
		AllowMethods:     []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders:     []string{"Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "X-Frontdesk-Session", captchaHeader, staffHeader, "X-Frontdesk-World", "traceparent"},
		ExposeHeaders:    []string{"ETag", "Location", "Retry-After", "Idempotent-Replayed", "RateLimit", "RateLimit-Policy"},
		AllowCredentials: true,
		MaxAge:           600, // ten minutes: a page asks once, and a change of the configuration is soon known
	})
}

// cookieName is a name for each registration, since a browser may hold several.
// It carries the __Host- prefix wherever the site is served securely: browsers
// then refuse the cookie from any other host or path.
func (s *Server) cookieName(registration string) string {
	name := "frontdesk-" + registration
	if s.secure() {
		name = "__Host-" + name
	}
	return name
}

func (s *Server) secure() bool { return strings.HasPrefix(s.cfg.PublicURL, "https://") }

// sessionCookie holds a registration's token where scripts cannot read it, as
// long as the registration can be looked at.
func (s *Server) sessionCookie(view flows.View, token string) string {
	cookie := http.Cookie{ // #nosec G124 -- without Secure on plain http alone, which live mode refuses
		Name: s.cookieName(view.ID), Value: token, Path: "/", Expires: view.ExpiresAt.Add(flows.KeepRegistration),
		HttpOnly: true, Secure: s.secure(), SameSite: http.SameSiteLaxMode,
	}
	return cookie.String()
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
