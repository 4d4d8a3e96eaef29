package handlers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	token       string            // of a registration; empty for a visitor who holds none
	clientToken string            // the organisation at the club system
	staff       bool              // with a staff key
	contact     *flows.Identified // for whom the club's own login vouches; nil for everybody else
}

type callerKey struct{}

// callerOf gives the caller to a handler, which sees the context alone.
func callerOf(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// worldPattern is what the simulator takes as a client token.
var worldPattern = regexp.MustCompile(`^demo(-[A-Za-z0-9._-]{1,123})?$`)

// identify finds out who is calling. A session cookie counts only when the
// browser says that the request comes from a front end of ours.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := caller{clientToken: s.cfg.ClientToken}
		if world := c.Request().Header.Get("X-Frontdesk-World"); world != "" && s.cfg.Worlds {
			if !worldPattern.MatchString(world) {
				return &flows.Error{Code: flows.MalformedRequest, Detail: "X-Frontdesk-World is demo, or demo- and letters, digits, dots, underscores and hyphens."}
			}
			who.clientToken = world
		}
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
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), callerKey{}, who)))
		return next(c)
	}
}

// fromFrontEnd tells whether a request that carries a cookie was made by a page
// of ours: by Fetch Metadata, by Origin where a browser sends no metadata, and
// not at all for a mere GET, which changes nothing.
func (s *Server) fromFrontEnd(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin == originOf(s.cfg.PublicURL) || s.allowedOrigin(origin)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "same-origin" || site == "none" || site == ""
}

// allowedOrigin tells whether an origin is one of the configured front ends.
// "*" stands for every page on this machine, which is where front ends are developed.
func (s *Server) allowedOrigin(origin string) bool {
	if slices.Contains(s.cfg.AllowedOrigins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || !slices.Contains(s.cfg.AllowedOrigins, "*") {
		return false
	}
	return u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
}

// cors lets the configured front ends of other origins in.
func (s *Server) cors() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc:  func(origin string) (bool, error) { return s.allowedOrigin(origin), nil },
		AllowMethods:     []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders:     []string{"Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Frontdesk-Session", challengeHeader, staffHeader, "X-Frontdesk-World", "traceparent"},
		ExposeHeaders:    []string{"Location", "Retry-After", "Idempotent-Replayed", "RateLimit", "RateLimit-Policy"},
		AllowCredentials: true,
		MaxAge:           600,
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
	cookie := http.Cookie{
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
	return u.Scheme + "://" + u.Host
}

// observe gives every request a trace id, the browser's own where it sent one
// (W3C Trace Context), and writes one line about it. The line is an allow-list:
// the route, never the path, the query or a header.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun := s.cfg.Now()
		c.Set(traceKey, newTrace(c.Request().Header.Get("traceparent")))
		if err := next(c); err != nil {
			c.Error(err)
		}
		s.cfg.Log.Debug("request", "method", c.Request().Method, "route", c.Path(), "status", c.Response().Status,
			"ms", s.cfg.Now().Sub(begun).Milliseconds(), "trace", traceOf(c))
		return nil
	}
}

const traceKey = "trace"

var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

func newTrace(header string) string {
	if parts := traceparent.FindStringSubmatch(header); parts != nil {
		return parts[1]
	}
	id := make([]byte, 16)
	rand.Read(id)
	return hex.EncodeToString(id)
}

func traceOf(c echo.Context) string {
	id, _ := c.Get(traceKey).(string)
	return id
}
