package handlers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/identity"
)

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
				return tokenRefused(c, err)
			}
			who.token = ""
			who.contact = &flows.ContactIdentity{ClientToken: who.clientToken, ContactID: contact.ID, ClubID: contact.Club}
		case policy&anyone == 0:
			return tokenRefused(c, identity.ErrInvalid)
		}
		return next(c)
	}
}

// bearerToken reads a bearer token from the Authorization header.
func bearerToken(r *http.Request) (token string, ok bool) {
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(credentials), true
}

// tokenRefused is the error for all tokens that are not valid. It does not say what is wrong: the
// login's own log does.
func tokenRefused(c echo.Context, err error) error {
	if errors.Is(err, identity.ErrUnavailable) {
		return &flows.Error{Code: flows.IdentityUnavailable, Detail: "The keys of the club's login cannot be read at the moment.", Err: err}
	}
	c.Response().Header().Set("WWW-Authenticate", `Bearer realm="the club's login"`)
	return &flows.Error{Code: flows.NotIdentified, Detail: "This needs a token of the club's login that is valid now.", Err: err}
}

// scope names the owner of idempotency keys: the holder of a registration's token, or a contact,
// whose own token changes every few minutes.
func (c *caller) scope() string {
	if c.contact != nil {
		return c.clientToken + "\ncontact\n" + c.contact.ClubID + "\n" + c.contact.ContactID
	}
	return c.clientToken + "\n" + c.token
}
