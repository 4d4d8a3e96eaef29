package main

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"frontdesk/upstream/identity"
)

// leastSecret is the least that HS256 is worth anything with (RFC 7518, section 3.2).
const leastSecret = 32 // bytes

// checkIdentity lists what is unsafe about whom the club's own login vouches for.
func (cfg Config) checkIdentity() (problems []error) {
	if cfg.IdentitySecret != "" && len(cfg.IdentitySecret) < leastSecret {
		problems = append(problems, fmt.Errorf("FRONTDESK_IDENTITY_SECRET is shorter than %d bytes", leastSecret))
	}
	if cfg.IdentityJWKSURL == "" {
		return problems
	}
	u, err := url.Parse(cfg.IdentityJWKSURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		problems = append(problems, errors.New("FRONTDESK_IDENTITY_JWKS_URL is no http or https address"))
	case cfg.Mode == "live" && u.Scheme != "https":
		problems = append(problems, errors.New("FRONTDESK_IDENTITY_JWKS_URL has to be https: who sits in between could speak for any contact"))
	}
	return problems
}

// demoLogin is where the simulator, which plays the club's own login too, publishes its key.
func (cfg Config) demoLogin() string { return cfg.ClubURL + "/" + cfg.ClubToken + "/_control/jwks" }

// login makes the verifier of the club's own login. The one of the demo worlds
// speaks for each of them apart.
func (cfg Config) login() *identity.Verifier {
	return identity.New(identity.Config{
		JWKSURL: cfg.IdentityJWKSURL, Secret: cfg.IdentitySecret, Audience: cfg.IdentityAudience, Issuer: cfg.IdentityIssuer,
		Organisations: cfg.IdentityJWKSURL == cfg.demoLogin(), Now: time.Now,
	})
}
