package handlers

import (
	"context"

	"frontdesk/api"
)

// MigrateProspect serves POST /v1/registrations/{id}/prospect.
func (s *Server) MigrateProspect(ctx context.Context, request api.MigrateProspectRequestObject) (api.MigrateProspectResponseObject, error) {
	view, err := s.cfg.Registrations.Migrate(ctx, request.Id, callerOf(ctx).token, request.Body.AccessToken)
	return api.MigrateProspect201JSONResponse(s.registrationOf(ctx, view)), err
}
