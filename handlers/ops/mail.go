package ops

import (
	"net/http"

	"frontdesk/flows/background"
)

func (s *Server) listMails(r *http.Request, _ string) (any, error) {
	return s.cfg.Background.Mailer.Mails(background.DeliveryState(r.URL.Query().Get("state")))
}

func (s *Server) showMail(r *http.Request, _ string) (any, error) {
	return s.cfg.Background.Mailer.Mail(r.PathValue("id"))
}

func (s *Server) replayMail(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Background.Mailer.Replay(r.Context(), r.PathValue("id"), operator)
}

func (s *Server) replayDeadMails(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Background.Mailer.ReplayAll(r.Context(), operator)
}
