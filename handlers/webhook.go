package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// receiveCardWebhook serves POST /v1/webhooks/card. The answer is given once the
// look at the payment is queued; an event of a payment that is not ours is
// taken and forgotten, so that the processor does not send it again.
func (s *Server) receiveCardWebhook(c echo.Context) error {
	body, err := readAll(c.Request().Body)
	if err != nil {
		return err
	}
	event, err := s.cfg.Cards.Webhook(c.Request().Header, body)
	if errors.Is(err, cards.ErrSignature) {
		return &flows.Error{Code: flows.WebhookUntrusted, Err: err}
	}
	if err != nil {
		return &flows.Error{Code: flows.MalformedRequest, Err: err}
	}
	if err := s.cfg.Payments.HandleEvent(c.Request().Context(), event); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// receiveClubWebhook serves POST /v1/webhooks/club/{secret}. The answer is given
// once the body is stored. To whoever has another secret the path does not exist.
func (s *Server) receiveClubWebhook(c echo.Context) error {
	if !s.isWebhookSecret(c.Param("secret")) {
		return &flows.Error{Code: flows.NotFound}
	}
	body, err := readAll(c.Request().Body)
	if err != nil {
		return err
	}
	if err := s.cfg.ClubEvents.Receive(c.Request().Context(), body); err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}

// isWebhookSecret compares with every secret, and takes the same time for each, so
// that nobody learns how much of a guess was right.
func (s *Server) isWebhookSecret(guess string) bool {
	found := 0
	asked := sha256.Sum256([]byte(guess))
	for _, secret := range s.cfg.WebhookSecrets {
		held := sha256.Sum256([]byte(secret))
		found |= subtle.ConstantTimeCompare(asked[:], held[:])
	}
	return found == 1
}
