package ops

import "net/http"

// listConfirmations serves GET /ops/confirmations: those that were not mailed.
func (s *Server) listConfirmations(r *http.Request, _ string) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Registrations.ListUnmailed(r.Context(), clientToken)
}

// showConfirmation serves GET /ops/confirmations/{registration}.
func (s *Server) showConfirmation(r *http.Request, _ string) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Registrations.KeptConfirmation(r.Context(), clientToken, r.PathValue("registration"))
}

func (s *Server) sendConfirmation(r *http.Request, operator string, _ struct{}) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Registrations.SendConfirmation(r.Context(), clientToken, r.PathValue("registration"), operator)
}

func (s *Server) endConfirmation(r *http.Request, operator string, _ struct{}) (any, error) {
	clientToken, err := s.organisation(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Registrations.EndUnmailed(r.Context(), clientToken, r.PathValue("registration"), operator)
}
