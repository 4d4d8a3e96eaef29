package handlers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/upstream/identity"
)

// caller is the sender of a request, and the organisation that it is for.
type caller struct {
	token       string                 // of a registration; may be empty
	clientToken string                 // the organisation at the club system
	staff       bool                   // with a staff key
	contact     *flows.ContactIdentity // by a token of the club's own login; nil without one
}

type callerKey struct{}

// callerOf returns the caller that resolveCaller found.
func callerOf(ctx context.Context) *caller {
	if who, ok := ctx.Value(callerKey{}).(*caller); ok {
		return who
	}
	return &caller{}
}

// isMock reports whether the gateway is that of a demo world, which is one of several.
func (s *Server) isMock() bool { return s.cfg.Mode == "mock" }

// isElsewhere reports whether a request names a world that is not this gateway's: in a header, or in a cookie because an EventSource has
// no headers. Mock mode leaves to this gateway what names no world that can exist.
func (s *Server) isElsewhere(r *http.Request) bool {
	named := r.Header.Get("X-Frontdesk-World")
	if cookie, err := r.Cookie("frontdesk-world"); err == nil {
		named = cmp.Or(named, cookie.Value)
	}
	return s.isMock() && named != "" && named != s.cfg.ClientToken
}

// resolveCaller reads the caller's credentials. A session cookie counts only on a request that the
// browser attributes to one of our front ends.
func (s *Server) resolveCaller(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := caller{clientToken: s.cfg.ClientToken}
		if s.isElsewhere(c.Request()) {
			return &flows.Error{
				Code:   flows.MalformedRequest,
				Detail: flows.DetailWorld,
			}
		}
		if credentials, ok := bearerToken(c.Request()); ok {
			who.token = credentials
		} else if cookie, err := c.Cookie(s.cookieName(c.Param("id"))); err == nil {
			if !s.fromFrontEnd(c.Request()) {
				origin := cmp.Or(c.Request().Header.Get("Origin"), "the page's origin")
				return &flows.Error{Code: flows.ForbiddenOrigin, Detail: flows.DetailSessionOrigin, Params: map[string]string{"origin": clip(origin)}}
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

// authenticate reads the contact from a token of the club's own login on routes that admit one, and
// refuses requests that need one and have none. Other routes never read such a token.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		policy := routes[c.Request().Method+" "+c.Path()].access
		if policy&identified == 0 {
			return next(c)
		}
		who := callerOf(c.Request().Context())
		credentials, _ := bearerToken(c.Request())
		switch {
		case identity.LooksLikeToken(credentials):
			contact, err := s.cfg.Identity.Verify(c.Request().Context(), credentials, who.clientToken)
			if err != nil {
				return tokenRefused(err)
			}
			who.token = ""
			who.contact = &flows.ContactIdentity{ClientToken: who.clientToken, ContactID: contact.ID, ClubID: contact.Club}
		case policy&anyone == 0:
			return tokenRefused(identity.ErrInvalid)
		}
		return next(c)
	}
}

// requireToken refuses a request for a registration that has neither a token nor a cookie, or another kind of token,
// whether or not the registration exists. The handler of the current registration reads the cookies itself.
func (s *Server) requireToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		token := callerOf(c.Request().Context()).token
		if routes[c.Request().Method+" "+c.Path()].access&holder != 0 && c.Param("id") != "" && (token == "" || identity.LooksLikeToken(token)) {
			return &flows.Error{Code: flows.TokenRequired, Detail: flows.DetailTokenRequired}
		}
		return next(c)
	}
}

func bearerToken(r *http.Request) (token string, ok bool) {
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(credentials), true
}

// tokenRefused is the error for all tokens that are not valid. It does not say what is wrong: the
// login's own log does.
func tokenRefused(err error) error {
	if errors.Is(err, identity.ErrUnavailable) {
		return &flows.Error{Code: flows.IdentityUnavailable, Detail: flows.DetailLoginKeysUnread, Err: err}
	}
	return &flows.Error{Code: flows.NotIdentified, Detail: flows.DetailLoginToken, Err: err}
}

// scope names the owner of idempotency keys: the holder of a registration's token, or a contact,
// whose own token changes every few minutes.
func (c *caller) scope() string {
	if c.contact != nil {
		return c.clientToken + "\ncontact\n" + c.contact.ClubID + "\n" + c.contact.ContactID
	}
	return c.clientToken + "\n" + c.token
}

const (
	staffHeader = "X-Frontdesk-Staff-Key"
	staffScheme = "Frontdesk-Staff-Key" // in the WWW-Authenticate of a 401
	loginScheme = `Bearer realm="the club's login"`
	tokenScheme = `Bearer realm="the registration"` // #nosec G101 -- names what is protected, no secret
)

// schemes is the WWW-Authenticate of a 401: what a route accepts, or for an unknown staff key another
// one, because each route reads it.
func schemes(code api.ProblemCode, admits access) string {
	switch {
	case code == api.StaffKeyUnknown:
		return staffScheme
	case code == api.TokenRequired:
		return tokenScheme
	case admits&staff != 0:
		return loginScheme + ", " + staffScheme
	}
	return loginScheme
}

// isStaff reports whether a request has a staff key. An unknown key is an error, so that a kiosk with
// an old key notices.
func (s *Server) isStaff(r *http.Request) (bool, error) {
	key := r.Header.Get(staffHeader)
	if key == "" {
		return false, nil
	}
	if !isOneOf(key, s.cfg.StaffKeys) {
		return false, &flows.Error{Code: flows.StaffKeyUnknown, Detail: flows.DetailStaffKey}
	}
	return true, nil
}

// isOneOf compares a guess with every secret by digest, so that the time reveals nothing.
func isOneOf(guess string, secrets []string) bool {
	given, found := sha256.Sum256([]byte(guess)), 0
	for _, secret := range secrets {
		digest := sha256.Sum256([]byte(secret))
		found |= subtle.ConstantTimeCompare(given[:], digest[:])
	}
	return found == 1
}
