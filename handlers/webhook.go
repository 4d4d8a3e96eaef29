package handlers

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// receiveCardWebhook serves POST /v1/webhooks/card. It responds once the poll of the payment is
// queued. Events of other payments are accepted and ignored, so that they are not sent again.
func (s *Server) receiveCardWebhook(c echo.Context) error {
	ctx := c.Request().Context()
	event, err := s.cfg.Cards.Webhook(c.Request().Header, exchangeOf(ctx).body)
	if errors.Is(err, cards.ErrSignature) {
		return &flows.Error{Code: flows.WebhookUntrusted, Err: err}
	}
	if err != nil {
		return &flows.Error{Code: flows.MalformedRequest, Err: err}
	}
	if err := s.cfg.Payments.HandleEvent(ctx, event); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// receiveClubWebhook serves POST /v1/webhooks/club/{secret}. It responds once the body is stored.
// With another secret the path does not exist.
func (s *Server) receiveClubWebhook(c echo.Context) error {
	if !isOneOf(c.Param("secret"), s.cfg.WebhookSecrets) {
		return echo.ErrNotFound
	}
	ctx := c.Request().Context()
	if err := s.cfg.Background.Events.Receive(ctx, exchangeOf(ctx).body); err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}
