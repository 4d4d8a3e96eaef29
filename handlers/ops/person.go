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
	life := registration.InvitationLife
	if in.TTL != "" {
		life, _ = time.ParseDuration(in.TTL) // an unreadable one is zero, which is too short
	}
	contact := flows.ContactIdentity{ClientToken: s.cfg.ClientToken, ContactID: in.ContactID, ClubID: in.ClubID}
	token, end, err := s.cfg.Registrations.Contacts.Invite(r.Context(), contact, life, operator)
	return invitation{URL: s.cfg.PublicURL + "/?invitation=" + token + "&club=" + url.QueryEscape(in.ClubID), ExpiresAt: end.UTC()}, err
}

func (s *Server) erase(r *http.Request, operator string, in registration.ErasureRequest) (any, error) {
	in.ClientToken = s.cfg.ClientToken
	return s.cfg.Registrations.Erase(r.Context(), in, operator)
}
