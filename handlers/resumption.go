package handlers

import (
	"context"

	"frontdesk/api"
)

// CreateResumeLink serves POST /v1/registrations/{id}/resume-link.
func (s *Server) CreateResumeLink(ctx context.Context, request api.CreateResumeLinkRequestObject) (api.CreateResumeLinkResponseObject, error) {
	link, err := s.cfg.Registrations.NewResumeLink(ctx, request.Id, callerOf(ctx).token)
	return api.CreateResumeLink201JSONResponse{Url: link.URL, ExpiresAt: link.ExpiresAt.UTC()}, err
}

// ResumeRegistration serves POST /v1/resumptions.
func (s *Server) ResumeRegistration(ctx context.Context, request api.ResumeRegistrationRequestObject) (api.ResumeRegistrationResponseObject, error) {
	view, token, err := s.cfg.Registrations.Resume(ctx, callerOf(ctx).clientToken, request.Body.Resume)
	if err != nil {
		return nil, err
	}
	body, headers := s.withToken(ctx, view, token, request.Params.XFrontdeskSession != nil)
	return api.ResumeRegistration201JSONResponse{Body: body, Headers: api.ResumeRegistration201ResponseHeaders(headers)}, nil
}
