package handlers

import (
	"context"
	"net/http"

	"frontdesk/api"
)

// headAsGet has HEAD answered as GET where load balancers ask with it. The router
// gets a copy: by its own request the server knows to leave the body out.
func headAsGet(r *http.Request) *http.Request {
	if r.Method != http.MethodHead || r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
		return r
	}
	get := r.WithContext(r.Context())
	get.Method = http.MethodGet
	return get
}

// GetHealth serves GET /healthz: the process is alive.
func (s *Server) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{Status: api.Ok}, nil
}

// GetReadiness serves GET /readyz: the process can work. The club system and
// the processor are not asked: when they fail, so does every gateway, and
// taking all of them out of service would only hide why.
func (s *Server) GetReadiness(ctx context.Context, _ api.GetReadinessRequestObject) (api.GetReadinessResponseObject, error) {
	if err := s.cfg.Store.Ping(ctx); err != nil {
		s.cfg.Log.Warn("not ready", "error", err)
		return api.GetReadiness503JSONResponse{Status: api.Unavailable, Checks: &map[string]string{"redis": "unavailable"}}, nil
	}
	return api.GetReadiness200JSONResponse{Status: api.Ok, Checks: &map[string]string{"redis": "ok"}}, nil
}
