package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
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
	// support has changed the address, or a new endpoint at the processor has replaced the old one.
	maxWebhookSecrets = 2
)

// webhookSecret matches secrets that need no escaping in a path and are too long to be guessed.
var webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// problems is everything that is wrong with a configuration, a line each.
type problems []error

// refuse adds a problem of a variable if the condition holds. format is as of fmt.Sprintf, and
// go vet checks it.
func (p *problems) refuse(condition bool, variable, format string, args ...any) {
	if condition {
		*p = append(*p, errors.New(variable+" "+fmt.Sprintf(format, args...)))
	}
}

func (p *problems) need(value, variable, what string) {
	p.refuse(value == "", variable, "is missing: %s", what)
}

// problems lists everything that is missing or unsafe for the mode, at once.
func (cfg Config) problems() (found problems) {
	cfg.validateRedis(&found)
	cfg.validateUpstreams(&found)
	cfg.validateKeys(&found)
	cfg.validateOperators(&found)
	cfg.validateWebhooks(&found)
	cfg.validateMethods(&found)
	_, err := catalogue.ParseDirectory([]byte(cfg.Clubs))
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			found.refuse(true, "FRONTDESK_CLUBS:", "%s", strings.TrimSpace(line))
		}
	}
	cfg.validateLimits(&found)
	cfg.validateCaptcha(&found)
	cfg.validateTraces(&found)
	cfg.validateReturnSchemes(&found)
	if cfg.Mode == "live" {
		cfg.validateLive(&found)
	} else {
		cfg.validateBrowserAddresses(&found)
	}
	return found
}

func (cfg Config) validateRedis(found *problems) {
	if cfg.Mode != "mock" {
		found.need(cfg.RedisURL, "FRONTDESK_REDIS_URL", "the Redis that the gateways share, such as redis://127.0.0.1:6379")
	}
	err := store.CheckURL(cfg.RedisURL)
	found.refuse(err != nil && cfg.RedisURL != "", "FRONTDESK_REDIS_URL", "cannot be used: %v", err)
	found.refuse(cfg.Mode == "live" && err == nil && !store.IsProtected(cfg.RedisURL), "FRONTDESK_REDIS_URL",
		"must use TLS, because strangers could read the password and change payments: set rediss://, rediss+sentinel:// or rediss+cluster://; only one server on loopback can go without")
	found.refuse(cfg.RedisWait < 0 || cfg.RedisWait > maxReplicas || cfg.Mode == "mock" && cfg.RedisWait > 0,
		"FRONTDESK_REDIS_WAIT", "must be from 0 to %d, and 0 in mock mode, whose Redis has no replicas", maxReplicas)
}

// validateUpstreams checks the addresses and keys of the club system and the card processor.
func (cfg Config) validateUpstreams(found *problems) {
	stripe := cfg.Mode == "live" || cfg.Mode == "test" && !cfg.usesSandbox() && cfg.Stripe.URL+cfg.Stripe.SecretKey+cfg.StripePublicKey != ""
	switch cfg.Mode {
	case "test":
		found.need(cfg.Club.BaseURL, "FRONTDESK_CLUB_URL", "the club system, or the simulator's http://127.0.0.1:8081/sim")
		if !stripe {
			found.need(cfg.SandboxURL, "FRONTDESK_SANDBOX_URL",
				"the sandbox card processor, such as http://127.0.0.1:8081/sandbox; or set the keys of a Stripe account in test mode")
		}
		found.refuse(cfg.SandboxURL != "" && webAddress(cfg.SandboxURL) == nil, "FRONTDESK_SANDBOX_URL",
			"is not an address: it must be http:// or https:// and a host")
		found.refuse(cfg.Stripe.SecretKey != "" && !strings.Contains(cfg.Stripe.SecretKey, "_test_"),
			"FRONTDESK_STRIPE_SECRET_KEY", "is a live key: test mode takes no real money")
		found.refuse(cfg.StripePublicKey != "" && !strings.HasPrefix(cfg.StripePublicKey, "pk_test_"), "FRONTDESK_STRIPE_PUBLISHABLE_KEY",
			"is not a test key, as the secret key must be: it must begin with pk_test_")
		found.refuse(stripe && cfg.hasDemoSealKey(), "FRONTDESK_SEAL_KEYS",
			"must have your own keys with Stripe, because gateways of other developers with the same account and the demo key would take over your payments: create one with openssl rand -base64 32")
	case "live":
		found.need(cfg.Club.BaseURL, "FRONTDESK_CLUB_URL", "the club system's https address")
	}
	if stripe {
		found.need(cfg.Stripe.SecretKey, "FRONTDESK_STRIPE_SECRET_KEY", "a secret or restricted key of the account")
		found.need(cfg.StripePublicKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY", "the publishable key of the same account")
		found.need(strings.Join(cfg.Stripe.WebhookSecrets, ""), "FRONTDESK_STRIPE_WEBHOOK_SECRET", "the signing secret of the webhook endpoint /v1/webhooks/card")
	}
}

// hasDemoSealKey reports whether records and payments are signed with the public key, or accepted with it.
func (cfg Config) hasDemoSealKey() bool {
	return len(cfg.SealKeys) == 0 || slices.ContainsFunc(cfg.SealKeys, func(key string) bool { return strings.TrimSpace(key) == demoSealKey })
}

// validateKeys checks the form of the keys of staff, of the club's login and of the store.
func (cfg Config) validateKeys(found *problems) {
	for i, key := range cfg.StaffKeys {
		found.refuse(len(strings.TrimSpace(key)) < minStaffKeyLength, "FRONTDESK_STAFF_KEYS", "must have keys of at least %d characters: key %d is shorter", minStaffKeyLength, i+1)
	}
	found.refuse(cfg.Login.Secret != "" && len(cfg.Login.Secret) < minSecretBytes, "FRONTDESK_IDENTITY_SECRET", "must have at least %d bytes", minSecretBytes)
	found.refuse(cfg.Login.JWKSURL != "" && webAddress(cfg.Login.JWKSURL) == nil, "FRONTDESK_IDENTITY_JWKS_URL", "must be an http or https address")
	_, err := cfg.newKeyring()
	found.refuse(err != nil && len(cfg.SealKeys) > 0, "FRONTDESK_SEAL_KEYS", "cannot be used: %v", err)
}

// validateWebhooks checks what club events need on their way in and out.
func (cfg Config) validateWebhooks(found *problems) {
	const variable = "FRONTDESK_WEBHOOK_SECRET"
	found.refuse(len(cfg.WebhookSecret) > maxWebhookSecrets, variable, "must have at most %d secrets, the current one and the previous one", maxWebhookSecrets)
	for i, secret := range cfg.WebhookSecret {
		found.refuse(!webhookSecret.MatchString(secret), variable, "has a secret that is not 16 to 128 letters, digits, hyphens and underscores (secret %d): create one with openssl rand -hex 24", i+1)
		found.refuse(secret == demoWebhookSecret && cfg.Mode == "live", variable, "has the demo secret, which is public (secret %d): create one with openssl rand -hex 24", i+1)
	}
	const ofCards = "FRONTDESK_STRIPE_WEBHOOK_SECRET"
	found.refuse(len(cfg.Stripe.WebhookSecrets) > maxWebhookSecrets, ofCards,
		"must have at most %d secrets, one for each of two endpoints", maxWebhookSecrets)
	found.refuse(slices.Contains(cfg.Stripe.WebhookSecrets, ""), ofCards,
		"has an empty secret, with which anybody can sign: remove the extra comma")
	subscribers, err := cfg.subscribers()
	found.refuse(err != nil, "FRONTDESK_SUBSCRIBERS", "%v", err)
	for _, problem := range cfg.egress().Check(subscribers) {
		found.refuse(true, "FRONTDESK_SUBSCRIBERS:", "%v", problem)
	}
}

func (cfg Config) subscribers() (subscribers []background.Subscriber, err error) {
	if strings.TrimSpace(cfg.Subscribers) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(cfg.Subscribers))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&subscribers) != nil || decoder.More() { // the decoder's error may quote a secret
		return nil, errors.New(`is not a JSON array such as [{"name": "crm", "url": "https://crm.example/hooks", "secret": "whsec_…", "events": ["contact.*"]}]`)
	}
	return subscribers, nil
}

// maxLaterDays: a payment due after more than a year is a typing error.
const maxLaterDays = 366

func (cfg Config) validateMethods(found *problems) {
	policy := cfg.methodPolicy()
	for _, of := range []struct {
		variable string
		methods  []flows.Method
		staff    bool
	}{{"FRONTDESK_METHODS_VISITOR", policy.Visitor, false}, {"FRONTDESK_METHODS_CONTACT", policy.Contact, false}, {"FRONTDESK_METHODS_STAFF", policy.Staff, true}} {
		for _, method := range of.methods {
			found.refuse(!slices.Contains(flows.Methods(), method), of.variable, "has %q, which is not a method: it must be card, later, free or desk", method)
			found.refuse(method == flows.InPerson && !of.staff, of.variable, "has desk, which is for staff only: set it in FRONTDESK_METHODS_STAFF")
		}
	}
	found.refuse(cfg.LaterDays < 1 || cfg.LaterDays > maxLaterDays, "FRONTDESK_LATER_DAYS", "must be from 1 to %d", maxLaterDays)
}

func (cfg Config) validateLimits(found *problems) {
	found.refuse(cfg.RateLimits == "off" && cfg.Mode == "live", "FRONTDESK_RATE_LIMITS", "must not be off in live mode")
	_, err := handlers.ParseProxies(cfg.TrustedProxies)
	found.refuse(err != nil, "FRONTDESK_TRUSTED_PROXIES:", "%v", err)
	found.refuse(cfg.SMS.Hourly < 1 || cfg.SMS.Daily < cfg.SMS.Hourly, "FRONTDESK_SMS_HOURLY, FRONTDESK_SMS_DAILY", "must allow at least one code an hour, and no fewer in a day than in an hour")
	found.refuse(cfg.SMS.OrganisationHourly < 0 || cfg.SMS.OrganisationDaily < 0, "FRONTDESK_SMS_ORGANISATION_HOURLY, FRONTDESK_SMS_ORGANISATION_DAILY", "must not be negative")
	for _, country := range cfg.SMS.Countries {
		found.refuse(!flows.IsPhoneCountry(country), "FRONTDESK_SMS_COUNTRIES",
			"has %q, which is not a country: it must be two capital letters, such as FR", country)
	}
	found.refuse(cfg.SMS.MinConversion < 0 || cfg.SMS.MinConversion > 100, "FRONTDESK_SMS_MIN_CONVERSION", "must be a percentage, from 0 to 100")
}

func (cfg Config) validateCaptcha(found *problems) {
	found.refuse((cfg.Captcha.URL == "") != (cfg.Captcha.Secret == ""), "FRONTDESK_CAPTCHA_URL, FRONTDESK_CAPTCHA_SECRET", "must be set together")
	if cfg.Captcha.URL == "" {
		found.refuse(cfg.Captcha.Widget.SiteKey != "" || cfg.Captcha.Widget.Provider != "", "FRONTDESK_CAPTCHA_SITE_KEY, FRONTDESK_CAPTCHA_PROVIDER", "have no effect alone: set FRONTDESK_CAPTCHA_URL too")
		return
	}
	found.refuse(cfg.Captcha.Widget.SiteKey == "" && cfg.Mode == "live", "FRONTDESK_CAPTCHA_SITE_KEY", "is missing: without it no page can show the captcha of FRONTDESK_CAPTCHA_URL")
	address := webAddress(cfg.Captcha.URL)
	found.refuse(address == nil, "FRONTDESK_CAPTCHA_URL", "is not an address such as https://challenges.cloudflare.com/turnstile/v0/siteverify")
	found.refuse(address != nil && address.Scheme == "http" && (cfg.Mode == "live" || !net.ParseIP(address.Hostname()).IsLoopback() && address.Hostname() != "localhost"),
		"FRONTDESK_CAPTCHA_URL", "must begin with https://, because it receives the secret; in mock and test mode http:// to this machine is allowed")
}

// validateTraces checks the trace collector. It is in the operators' network, so http is allowed.
func (cfg Config) validateTraces(found *problems) {
	if cfg.TracesURL == "" {
		return
	}
	address := webAddress(cfg.TracesURL)
	found.refuse(address == nil, "OTEL_EXPORTER_OTLP_ENDPOINT", "is not an address such as http://127.0.0.1:4318")
	found.refuse(address != nil && (address.RawQuery != "" || address.Fragment != ""), "OTEL_EXPORTER_OTLP_ENDPOINT", "has a ? or a #: it must end before them, because /v1/traces is appended")
	if _, err := cfg.newCollector(); err != nil {
		*found = append(*found, err)
	}
}

// returnScheme matches an app's own scheme, a reverse domain name (RFC 8252, section 7.1). No scheme that runs scripts has a dot.
var returnScheme = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$`)

func (cfg Config) validateReturnSchemes(found *problems) {
	const variable = "FRONTDESK_RETURN_SCHEMES"
	for _, scheme := range cfg.ReturnSchemes {
		found.refuse(scheme == "*" && cfg.Mode == "live", variable,
			"is *, which allows every app on the buyer's device: list the schemes of your own apps")
		found.refuse(scheme != "*" && !returnScheme.MatchString(scheme), variable, "has %q, which is not an app's own scheme: "+
			"it must be a reverse domain name in lower case, such as com.example.club, without ://", scheme)
	}
}

// validateBrowserAddresses checks the form of addresses that browsers use, in the modes that do
// not require https. A missing scheme would otherwise show only in broken links and refused origins.
func (cfg Config) validateBrowserAddresses(found *problems) {
	found.refuse(cfg.StripeScriptURL != "" && webAddress(cfg.StripeScriptURL) == nil, "FRONTDESK_STRIPE_SCRIPT_URL",
		"is not an address: it must be http:// or https:// and a host")
	found.refuse(cfg.PublicURL != "" && webAddress(cfg.PublicURL) == nil, "FRONTDESK_PUBLIC_URL", "is not an address: it must be http:// or https:// and a host")
	for _, origin := range cfg.AllowedOrigins {
		u := webAddress(origin)
		found.refuse(origin != "*" && (u == nil || origin != u.Scheme+"://"+strings.ToLower(u.Host)),
			"FRONTDESK_ALLOWED_ORIGINS", "has %q, which is not an origin: it must be http:// or https:// and a host in lower case, without a path or a trailing slash", origin)
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
