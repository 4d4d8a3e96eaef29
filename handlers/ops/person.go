package ops

import (
	"net/http"
	"net/url"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

type invitationRequest struct {
	ContactID string `json:"contactId"`
	ClubID    string `json:"clubId"`
	TTL       string `json:"ttl"`
}

type invitation struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// invite serves POST /ops/invitations. The club in the link is for the landing page alone.
func (s *Server) invite(r *http.Request, operator string, in invitationRequest) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	life := registration.InvitationLife
	if in.TTL != "" {
		life, _ = time.ParseDuration(in.TTL) // an unreadable one is zero, which is too short
	}
	contact := flows.ContactIdentity{ClientToken: clientToken, ContactID: in.ContactID, ClubID: in.ClubID}
	token, end, err := s.cfg.Registrations.Contacts.Invite(r.Context(), contact, life, operator)
	return invitation{URL: s.cfg.PublicURL + "/?invitation=" + token + "&club=" + url.QueryEscape(in.ClubID), ExpiresAt: end.UTC()}, err
}

func (s *Server) erase(r *http.Request, operator string, in registration.ErasureRequest) (_ any, err error) {
	if in.ClientToken, err = s.organisation(r); err != nil {
		return nil, err
	}
	return s.cfg.Registrations.Erase(r.Context(), in, operator)
}

// organisation returns the client token that a request is for. A world that is not this gateway's is refused, because the request would
// act on another organisation.
func (s *Server) organisation(r *http.Request) (string, error) {
	if world := r.Header.Get("X-Frontdesk-World"); world != "" && world != s.cfg.ClientToken {
		return "", &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: flows.InHeader + "X-Frontdesk-World",
			Message: "Worlds exist only in mock mode; the name must be demo, or demo- followed by letters, digits, dots, underscores and hyphens."}}}
	}
	return s.cfg.ClientToken, nil
}
