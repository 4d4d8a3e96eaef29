package handlers

import (
	"context"

	"frontdesk/api"
)

// CreateResumeLink serves POST /v1/registrations/{id}/resume-link.
func (s *Server) CreateResumeLink(ctx context.Context, request api.CreateResumeLinkRequestObject) (api.CreateResumeLinkResponseObject, error) {
	link, err := s.cfg.Registrations.NewResumeLink(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	return api.CreateResumeLink201JSONResponse{Url: link.URL, ExpiresAt: link.ExpiresAt.UTC()}, nil
}

// ResumeRegistration serves POST /v1/resumptions.
func (s *Server) ResumeRegistration(ctx context.Context, request api.ResumeRegistrationRequestObject) (api.ResumeRegistrationResponseObject, error) {
	view, token, err := s.cfg.Registrations.Resume(ctx, callerOf(ctx).clientToken, request.Body.Resume)
	if err != nil {
		return nil, err
	}
	answer := api.ResumeRegistration201JSONResponse{Body: s.registrationOf(ctx, view)}
	answer.Headers.Location = optional(pathOf(view.ID))
	if request.Params.XFrontdeskSession != nil {
		answer.Headers.SetCookie = optional(s.sessionCookie(view, token))
	} else {
		answer.Body.Token = &token
	}
	return answer, nil
}
