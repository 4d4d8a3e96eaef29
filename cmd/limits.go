package cmd

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/upstream/captcha"
)

// rateLimited tells whether requests are counted. In mock and test mode they are not
// unless somebody asks for it: front-end developers reload all day, and crowds of
// tests come from one address.
func (cfg Config) rateLimited() bool {
	return cfg.RateLimits == "on" || cfg.RateLimits == "" && cfg.Mode == "live"
}

// validateLimits lists what is wrong with the limits, and with whom they count.
func (cfg Config) validateLimits() (problems []error) {
	if cfg.RateLimits == "off" && cfg.Mode == "live" {
		problems = append(problems, errors.New("FRONTDESK_RATE_LIMITS=off: live mode does not go without limits"))
	}
	if _, err := handlers.ParseProxies(cfg.TrustedProxies); err != nil {
		problems = append(problems, fmt.Errorf("FRONTDESK_TRUSTED_PROXIES: %w", err))
	}
	problems = append(problems, cfg.validateCaptcha()...)
	switch {
	case cfg.SMSHourly < 1 || cfg.SMSDaily < cfg.SMSHourly:
		problems = append(problems, errors.New("FRONTDESK_SMS_HOURLY, FRONTDESK_SMS_DAILY: at least one code an hour, and no fewer in a day than in an hour"))
	case cfg.SMSMinConversion < 0 || cfg.SMSMinConversion > 100:
		problems = append(problems, errors.New("FRONTDESK_SMS_MIN_CONVERSION is a percentage, from 0 to 100"))
	}
	return problems
}

func (cfg Config) validateCaptcha() (problems []error) {
	if (cfg.CaptchaURL == "") != (cfg.CaptchaSecret == "") {
		problems = append(problems, errors.New("FRONTDESK_CAPTCHA_URL, FRONTDESK_CAPTCHA_SECRET: one is nothing without the other"))
	}
	address, err := url.Parse(cfg.CaptchaURL)
	switch {
	case cfg.CaptchaURL == "":
	case err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		problems = append(problems, errors.New("FRONTDESK_CAPTCHA_URL is no address such as https://challenges.cloudflare.com/turnstile/v0/siteverify"))
	case address.Scheme == "http" && (cfg.Mode == "live" || !net.ParseIP(address.Hostname()).IsLoopback() && address.Hostname() != "localhost"):
		problems = append(problems, errors.New("FRONTDESK_CAPTCHA_URL: the secret goes over https alone, but for this machine in mock and test mode"))
	}
	return problems
}

// captcha makes the verifier of answers to the challenge; none without an address.
func (cfg Config) captcha() *captcha.Verifier {
	if cfg.CaptchaURL == "" {
		return nil
	}
	return captcha.New(captcha.Config{URL: cfg.CaptchaURL, Secret: cfg.CaptchaSecret})
}

// smsGuard makes the guard of what codes cost the clubs; none where nothing is counted.
func (cfg Config) smsGuard(records *store.Store, log *slog.Logger) *flows.SMSBudget {
	if !cfg.rateLimited() {
		return nil
	}
	return flows.NewSMSBudget(flows.SMSBudgetConfig{
		Store: records, Hourly: cfg.SMSHourly, Daily: cfg.SMSDaily, MinConversion: cfg.SMSMinConversion, Now: time.Now, Log: log,
	})
}
