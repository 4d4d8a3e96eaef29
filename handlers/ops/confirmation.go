package ops

import "net/http"

// listConfirmations serves GET /ops/confirmations: those that were not mailed.
func (s *Server) listConfirmations(r *http.Request, _ string) (any, error) {
	return s.cfg.Registrations.ListUnmailed(r.Context(), s.cfg.ClientToken)
}

// showConfirmation serves GET /ops/confirmations/{registration}.
func (s *Server) showConfirmation(r *http.Request, _ string) (any, error) {
	return s.cfg.Registrations.KeptConfirmation(r.Context(), s.cfg.ClientToken, r.PathValue("registration"))
}

func (s *Server) sendConfirmation(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Registrations.SendConfirmation(r.Context(), s.cfg.ClientToken, r.PathValue("registration"), operator)
}

func (s *Server) endConfirmation(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Registrations.EndUnmailed(r.Context(), s.cfg.ClientToken, r.PathValue("registration"), operator)
}
