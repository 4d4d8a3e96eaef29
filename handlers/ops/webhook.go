package ops

import (
	"net/http"

	"frontdesk/flows/background"
)

func (s *Server) listDeliveries(r *http.Request, _ string) (any, error) {
	return s.cfg.Background.Relay.Deliveries(r.Context(), background.DeliveryState(r.URL.Query().Get("state")))
}

func (s *Server) showDelivery(r *http.Request, _ string) (any, error) {
	return s.cfg.Background.Relay.Delivery(r.Context(), r.PathValue("id"))
}

func (s *Server) replayDelivery(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Background.Relay.Replay(r.Context(), r.PathValue("id"), operator)
}

func (s *Server) replayDead(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Background.Relay.ReplayAll(r.Context(), r.PathValue("name"), operator)
}

func (s *Server) enableSubscriber(r *http.Request, operator string, _ struct{}) (any, error) {
	return s.cfg.Background.Relay.Enable(r.Context(), r.PathValue("name"), operator)
}

func (s *Server) listQueues(r *http.Request, _ string) (any, error) {
	queues, err := s.cfg.Background.Queue.Queues(r.Context())
	return map[string]any{"items": queues}, err
}
