package main

import (
	"errors"
	"fmt"

	"frontdesk/handlers"
)

// limited tells whether requests are counted. In mock and test mode they are not
// unless somebody asks for it: front-end developers reload all day, and crowds of
// tests come from one address.
func (cfg Config) limited() bool {
	return cfg.RateLimits == "on" || cfg.RateLimits == "" && cfg.Mode == "live"
}

// checkLimits lists what is wrong with the limits, and with whom they count.
func (cfg Config) checkLimits() (problems []error) {
	if cfg.RateLimits == "off" && cfg.Mode == "live" {
		problems = append(problems, errors.New("FRONTDESK_RATE_LIMITS=off: live mode does not go without limits"))
	}
	if _, err := handlers.ParseProxies(cfg.TrustedProxies); err != nil {
		problems = append(problems, fmt.Errorf("FRONTDESK_TRUSTED_PROXIES: %w", err))
	}
	return problems
}
