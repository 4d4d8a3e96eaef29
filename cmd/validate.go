package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/handlers"
)

const (
	// minStaffKeyLength is long enough that a key cannot be found by trying.
	minStaffKeyLength = 16
	// minSecretBytes is what HS256 needs to be secure (RFC 7518, section 3.2).
	minSecretBytes = 32
	// maxReplicas of one primary; a larger number is a mistake.
	maxReplicas = 9
	// maxWebhookSecrets: the current one, and the previous one until the club system's
	// support has changed the address.
	maxWebhookSecrets = 2
)

// webhookSecret is what can be part of a path as it is, and is too long to be tried out.
var webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// problems is everything that is wrong with a configuration, a line each.
type problems []error

func (p *problems) add(name, text string, args ...any) {
	*p = append(*p, fmt.Errorf(name+" "+text, args...))
}

func (p *problems) need(value, name, what string) {
	if value == "" {
		p.add(name, "is missing: %s", what)
	}
}

// problems lists everything that is missing or unsafe for the mode, at once.
func (cfg Config) problems() (found problems) {
	cfg.validateRedis(&found)
	cfg.validateUpstreams(&found)
	cfg.validateKeys(&found)
	cfg.validateWebhooks(&found)
	cfg.validateLimits(&found)
	cfg.validateCaptcha(&found)
	cfg.validateTraces(&found)
	if cfg.Mode == "live" {
		cfg.validateLive(&found)
	} else {
		cfg.validateAddressForms(&found)
	}
	return found
}

func (cfg Config) validateRedis(found *problems) {
	if cfg.Mode != "mock" {
		found.need(cfg.RedisURL, "FRONTDESK_REDIS_URL", "the Redis that the gateways share, such as redis://127.0.0.1:6379")
	}
	if _, err := store.Connect(cfg.RedisURL); err != nil && cfg.RedisURL != "" {
		found.add("FRONTDESK_REDIS_URL", "cannot be used: %v", err)
	}
	if cfg.RedisWait < 0 || cfg.RedisWait > maxReplicas || cfg.Mode == "mock" && cfg.RedisWait > 0 {
		found.add("FRONTDESK_REDIS_WAIT", "must be from 0 to %d, and 0 in mock mode, whose Redis has no replicas", maxReplicas)
	}
}

// validateUpstreams checks the addresses and keys of the club system and the card processor.
func (cfg Config) validateUpstreams(found *problems) {
	switch cfg.Mode {
	case "test":
		found.need(cfg.ClubURL, "FRONTDESK_CLUB_URL", "the club system, or the simulator's http://127.0.0.1:8081/sim")
	case "live":
		found.need(cfg.ClubURL, "FRONTDESK_CLUB_URL", "the club system's https address")
	}
	if cfg.Mode == "mock" && cfg.CardProcessor != "sandbox" {
		found.add("FRONTDESK_CARD_PROCESSOR", "must be sandbox in mock mode; use FRONTDESK_MODE=test for another processor")
	}
	if cfg.CardProcessor == "stripe" || cfg.Mode == "live" {
		found.need(cfg.StripeSecretKey, "FRONTDESK_STRIPE_SECRET_KEY", "a secret or restricted key of the account")
		found.need(cfg.StripePublicKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY", "the publishable key of the same account")
		found.need(cfg.StripeHookSecret, "FRONTDESK_STRIPE_WEBHOOK_SECRET", "the signing secret of the webhook endpoint /v1/webhooks/card")
	}
	if cfg.CardProcessor == "stripe" && cfg.Mode == "test" && cfg.StripeSecretKey != "" && !strings.Contains(cfg.StripeSecretKey, "_test_") {
		found.add("FRONTDESK_STRIPE_SECRET_KEY", "is a live key: test mode takes no real money")
	}
	if cfg.Mode == "test" && cfg.CardProcessor == "sandbox" {
		found.need(cfg.SandboxURL, "FRONTDESK_SANDBOX_URL", "the sandbox processor, such as http://127.0.0.1:8081/sandbox")
	}
}

// validateKeys checks the form of the keys of staff, of the club's login and of the store.
func (cfg Config) validateKeys(found *problems) {
	for i, key := range cfg.StaffKeys {
		if len(strings.TrimSpace(key)) < minStaffKeyLength {
			found.add("FRONTDESK_STAFF_KEYS", "has a key of fewer than %d characters: key %d", minStaffKeyLength, i+1)
		}
	}
	if cfg.IdentitySecret != "" && len(cfg.IdentitySecret) < minSecretBytes {
		found.add("FRONTDESK_IDENTITY_SECRET", "is shorter than %d bytes", minSecretBytes)
	}
	if cfg.IdentityJWKSURL != "" && webAddress(cfg.IdentityJWKSURL) == nil {
		found.add("FRONTDESK_IDENTITY_JWKS_URL", "must be an http or https address")
	}
	if _, err := cfg.keyring(); err != nil && len(cfg.SealKeys) > 0 {
		found.add("FRONTDESK_SEAL_KEYS", "cannot be used: %v", err)
	}
}

// validateWebhooks checks what club events need on their way in and out.
func (cfg Config) validateWebhooks(found *problems) {
	if len(cfg.WebhookSecret) > maxWebhookSecrets {
		found.add("FRONTDESK_WEBHOOK_SECRET:", "at most %d secrets, the current one and the previous one", maxWebhookSecrets)
	}
	for i, secret := range cfg.WebhookSecret {
		if !webhookSecret.MatchString(secret) {
			found.add("FRONTDESK_WEBHOOK_SECRET:", "secret %d is not 16 to 128 letters, digits, hyphens and underscores, such as from: openssl rand -hex 24", i+1)
		}
		if secret == demoWebhookSecret && cfg.Mode == "live" {
			found.add("FRONTDESK_WEBHOOK_SECRET:", "secret %d is the demo secret, which is public", i+1)
		}
	}
	subscribers, err := cfg.subscribers()
	if err != nil {
		*found = append(*found, err)
		return
	}
	for _, problem := range cfg.egress().Check(subscribers) {
		found.add("FRONTDESK_SUBSCRIBERS:", "%w", problem)
	}
}

// subscribers reads the subscribers to the club system's events.
func (cfg Config) subscribers() (subscribers []flows.Subscriber, err error) {
	if strings.TrimSpace(cfg.Subscribers) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(cfg.Subscribers)))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&subscribers) != nil || decoder.More() { // the decoder's error may quote a secret
		return nil, errors.New(`FRONTDESK_SUBSCRIBERS is not a JSON array such as [{"name": "crm", "url": "https://crm.example/hooks", "secret": "whsec_…", "events": ["contact.*"]}]`)
	}
	return subscribers, nil
}

func (cfg Config) validateLimits(found *problems) {
	if cfg.RateLimits == "off" && cfg.Mode == "live" {
		found.add("FRONTDESK_RATE_LIMITS=off:", "live mode requires limits")
	}
	if _, err := handlers.ParseProxies(cfg.TrustedProxies); err != nil {
		found.add("FRONTDESK_TRUSTED_PROXIES:", "%w", err)
	}
	switch {
	case cfg.SMSHourly < 1 || cfg.SMSDaily < cfg.SMSHourly:
		found.add("FRONTDESK_SMS_HOURLY, FRONTDESK_SMS_DAILY:", "at least one code an hour, and no fewer in a day than in an hour")
	case cfg.SMSMinConversion < 0 || cfg.SMSMinConversion > 100:
		found.add("FRONTDESK_SMS_MIN_CONVERSION", "must be a percentage, from 0 to 100")
	}
}

func (cfg Config) validateCaptcha(found *problems) {
	if (cfg.CaptchaURL == "") != (cfg.CaptchaSecret == "") {
		found.add("FRONTDESK_CAPTCHA_URL, FRONTDESK_CAPTCHA_SECRET:", "set both or neither")
	}
	switch address := webAddress(cfg.CaptchaURL); {
	case cfg.CaptchaURL == "":
	case address == nil:
		found.add("FRONTDESK_CAPTCHA_URL", "is not an address such as https://challenges.cloudflare.com/turnstile/v0/siteverify")
	case address.Scheme == "http" && (cfg.Mode == "live" || !net.ParseIP(address.Hostname()).IsLoopback() && address.Hostname() != "localhost"):
		found.add("FRONTDESK_CAPTCHA_URL:", "the secret must be sent over https, except to this machine in mock and test mode")
	}
}

// validateTraces checks the trace collector. It is in the operators' network, so http is allowed.
func (cfg Config) validateTraces(found *problems) {
	if cfg.TracesURL == "" {
		return
	}
	switch address := webAddress(cfg.TracesURL); {
	case address == nil:
		found.add("OTEL_EXPORTER_OTLP_ENDPOINT", "is not an address such as http://127.0.0.1:4318")
	case address.RawQuery != "" || address.Fragment != "":
		found.add("OTEL_EXPORTER_OTLP_ENDPOINT", "has a ? or a #: it must end before them, because /v1/traces is appended")
	}
	if _, err := cfg.newCollector(); err != nil {
		*found = append(*found, err)
	}
}

// validateAddressForms checks addresses that browsers use, in the modes that do not require
// https. A missing scheme would show only in broken links and refused origins.
func (cfg Config) validateAddressForms(found *problems) {
	if cfg.PublicURL != "" && webAddress(cfg.PublicURL) == nil {
		found.add("FRONTDESK_PUBLIC_URL", "is not an address: it must be http:// or https:// and a host")
	}
	for _, origin := range cfg.AllowedOrigins {
		u := webAddress(origin)
		if origin != "*" && (u == nil || origin != u.Scheme+"://"+strings.ToLower(u.Host)) {
			found.add("FRONTDESK_ALLOWED_ORIGINS", "has %q, which is not an origin: it must be http:// or https:// and a host in lower case, without a path or a trailing slash", origin)
		}
	}
}

// webAddress parses an http or https address with a host. It returns nil for any other text.
func webAddress(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil
	}
	return u
}
