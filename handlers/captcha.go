package handlers

import (
	"errors"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/captcha"
)

// captchaHeader carries a browser's answer to the challenge.
const captchaHeader = "X-Frontdesk-Challenge"

// requireCaptcha asks strangers to prove that they are people before something is done
// that costs the club money: wherever the contract has the header. Whom the club's
// login or a staff key vouches for is known to be one.
//
// It stands behind idempotent: an answer can be verified once, and a request that
// is sent again is not carried out again. And when the service behind the challenge
// gives no verdict, the request goes on: no visitor can bring that about, the limits
// and the clubs' budgets of SMS still hold, and a club that cannot sell because
// somebody else's service is away loses more than those allow.
func (s *Server) requireCaptcha(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, ok := s.operationOf(c)
		if s.cfg.Captcha == nil || !ok || !op.needsCaptcha {
			return next(c)
		}
		ctx := c.Request().Context()
		who := callerOf(ctx)
		if who.staff || who.contact != nil || c.Param("id") != "" && s.cfg.Registrations.HasIdentifiedContact(ctx, c.Param("id"), who.token) {
			return next(c)
		}
		answer := c.Request().Header.Get(captchaHeader)
		if answer == "" {
			return captchaRequired("Please answer the challenge first.", nil)
		}
		err := s.cfg.Captcha.Verify(ctx, answer, c.RealIP())
		if errors.Is(err, captcha.ErrRefused) {
			return captchaRequired("The answer to the challenge is not accepted, is too old, or was used before.", err)
		}
		if err != nil {
			s.cfg.Log.ErrorContext(c.Request().Context(), "an answer to the challenge could not be verified, and the request goes on", "error", err)
		}
		return next(c)
	}
}

func captchaRequired(detail string, err error) error {
	return &flows.Error{Code: flows.ChallengeRequired, Detail: detail, Err: err,
		Fields: []flows.FieldProblem{{Pointer: "header/" + captchaHeader, Message: "needs a fresh answer to the challenge"}}}
}
