package handlers

import (
	"errors"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/upstream/captcha"
)

const captchaHeader = "X-Frontdesk-Challenge"

// requireCaptcha asks anonymous callers for a solved captcha before a request costs the club money:
// wherever the contract has the header. Staff and identified contacts need none.
//
// It runs after idempotent, because a response can be verified once and a repeated request is not
// executed again. When the captcha service gives no verdict, the request continues: no visitor can
// cause that, rate limits and SMS budgets still apply, and a club that cannot sell loses more.
func (s *Server) requireCaptcha(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.cfg.Captcha == nil || !s.operationOf(c).needsCaptcha {
			return next(c)
		}
		ctx := c.Request().Context()
		who := callerOf(ctx)
		if who.staff || who.contact != nil || c.Param("id") != "" && s.cfg.Registrations.HasIdentifiedContact(ctx, c.Param("id"), who.token) {
			return next(c)
		}
		answer := c.Request().Header.Get(captchaHeader)
		if answer == "" {
			return captchaRequired(flows.DetailCaptchaMissing, nil)
		}
		err := s.cfg.Captcha.Verify(ctx, answer, c.RealIP())
		if errors.Is(err, captcha.ErrRefused) {
			return captchaRequired(flows.DetailCaptchaRefused, err)
		}
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "captcha response not verified; request continues", "error", err)
		}
		return next(c)
	}
}

func captchaRequired(detail flows.DetailCode, err error) error {
	return &flows.Error{Code: flows.ChallengeRequired, Detail: detail, Err: err,
		Fields: fieldError(flows.InHeader+captchaHeader, flows.FieldChallenge)}
}
