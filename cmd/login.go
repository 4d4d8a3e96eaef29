package cmd

import (
	"net/url"
	"time"

	"frontdesk/upstream/identity"
)

// minSecretBytes is the least that HS256 is worth anything with (RFC 7518, section 3.2).
const minSecretBytes = 32 // bytes

// validateIdentity lists what is wrong about whom the club's own login vouches for.
func (cfg Config) validateIdentity(found *problems) {
	if cfg.IdentitySecret != "" && len(cfg.IdentitySecret) < minSecretBytes {
		found.add("FRONTDESK_IDENTITY_SECRET", "is shorter than %d bytes", minSecretBytes)
	}
	u, err := url.Parse(cfg.IdentityJWKSURL)
	if cfg.IdentityJWKSURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		found.add("FRONTDESK_IDENTITY_JWKS_URL", "is no http or https address")
	}
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
