package ops

import "net/http"

// showConfirmation serves GET /ops/confirmations/{registration}.
func (s *Server) showConfirmation(r *http.Request, _ string) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Registrations.KeptConfirmation(r.Context(), clientToken, r.PathValue("registration"))
}
