package handlers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/identity"
)

// authenticate finds out for which contact the club's own login vouches, where the
// route asks for it, and turns away who has to be identified and is not. On
// other routes a token of the login is never looked at: it holds no registration.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		policy := routes[c.Request().Method+" "+c.Path()].access
		if policy&identified == 0 {
			return next(c)
		}
		who := callerIn(c.Request().Context())
		credentials := bearerToken(c.Request())
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

// bearerToken gives what stands in the Authorization header; empty without one.
func bearerToken(r *http.Request) string {
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(credentials)
}

// tokenRefused answers every token that does not count in one way, whatever is wrong
// with it: what exactly is a matter for the log of whoever signed it.
func tokenRefused(c echo.Context, err error) error {
	if errors.Is(err, identity.ErrUnavailable) {
		return &flows.Error{Code: flows.IdentityUnavailable, Detail: "The keys of the club's login cannot be read at the moment.", Err: err}
	}
	c.Response().Header().Set("WWW-Authenticate", `Bearer realm="the club's login"`)
	return &flows.Error{Code: flows.NotIdentified, Detail: "This needs a token of the club's login that is valid now.", Err: err}
}

// scope names whose idempotency keys a caller's are: a registration's token's
// holder's, or a contact's, whose token is a new one every few minutes.
func (who caller) scope() string {
	if who.contact != nil {
		return who.clientToken + "\ncontact\n" + who.contact.ClubID + "\n" + who.contact.ContactID
	}
	return who.clientToken + "\n" + who.token
}
