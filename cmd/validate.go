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
	"time"

	"golang.org/x/net/http/httpguts"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/collector"
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

// rule is a row of the tables below: a variable, when it is wrong, and what is then printed after its name.
type rule struct {
	variable string
	wrongIf  bool
	says     string
}

// missing is the rule of a variable that must be set.
func missing(variable, value, what string) rule {
	return rule{variable, value == "", "is missing: " + what}
}

// eachLine returns a rule for each line of an error; none without one.
func eachLine(variable string, err error) (rules []rule) {
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		rules = append(rules, rule{variable, true, strings.TrimSpace(line)})
	}
	return rules
}

// problems lists everything that is missing or unsafe for the mode, at once.
func (cfg Config) problems() (found []error) {
	rules := slices.Concat(
		cfg.listenRules(), cfg.redisRules(), cfg.upstreamRules(), cfg.clubAPIRules(), cfg.keyRules(), cfg.operatorRules(),
		cfg.webhookRules(), cfg.subscriberRules(), cfg.methodRules(), cfg.clubsRules(), cfg.limitRules(), cfg.captchaRules(),
		cfg.traceRules(), cfg.returnSchemeRules(), cfg.frontEndRules(), cfg.mailRules(),
	)
	if cfg.Mode == "live" {
		rules = append(rules, cfg.liveRules()...)
	} else {
		rules = append(rules, cfg.browserAddressRules()...)
	}
	for _, rule := range rules {
		if rule.wrongIf {
			found = append(found, errors.New(strings.TrimSpace(rule.variable+" "+rule.says)))
		}
	}
	return found
}

// listenRules checks the form of the addresses to listen on. Whether a listener opens there shows only at start.
func (cfg Config) listenRules() []rule {
	rules := []rule{listenRule("FRONTDESK_ADDR", cfg.Addr, ":8080")}
	if cfg.OpsAddr != "off" {
		rules = append(rules, listenRule("FRONTDESK_OPS_ADDR", cfg.OpsAddr, defaultOpsAddr+", or off"))
	}
	if cfg.MetricsAddr != "" && cfg.MetricsAddr != "off" { // empty: the mode's default
		rules = append(rules, listenRule("FRONTDESK_METRICS_ADDR", cfg.MetricsAddr, defaultMetricsAddr+", or off"))
	}
	return rules
}

func listenRule(variable, address, example string) rule {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return rule{variable, err != nil, fmt.Sprintf("must be host:port, such as %s (%v)", example, err)}
}

func (cfg Config) redisRules() []rule {
	const address = "FRONTDESK_REDIS_URL"
	isSet, err := cfg.RedisURL != "", store.CheckURL(cfg.RedisURL)
	exposed := err == nil && !store.IsProtected(cfg.RedisURL)
	return []rule{
		{"FRONTDESK_STATE", cfg.State != "" && cfg.Mode != "mock", "is for mock mode: in the others Redis and the upstreams keep everything"},
		{address, !isSet && cfg.Mode != "mock", "is missing: the Redis that the gateways share, such as redis://127.0.0.1:6379"},
		{address, isSet && err != nil, fmt.Sprintf("cannot be used: %v", err)},
		{address, exposed && cfg.Mode == "live", "must use TLS, because strangers could read the password and change payments: " +
			"set rediss://, rediss+sentinel:// or rediss+cluster://; only one server on loopback can go without"},
		{
			"FRONTDESK_REDIS_WAIT", cfg.RedisWait < 0 || cfg.RedisWait > maxReplicas || cfg.Mode == "mock" && cfg.RedisWait > 0,
			fmt.Sprintf("must be from 0 to %d, and 0 in mock mode, whose Redis has no replicas", maxReplicas),
		},
	}
}

// upstreamRules checks the addresses and keys of the club system and the card processor.
func (cfg Config) upstreamRules() (rules []rule) {
	anyStripe := cfg.Stripe.URL+cfg.Stripe.SecretKey+cfg.StripePublicKey != ""
	stripe := cfg.Mode == "live" || cfg.Mode == "test" && !cfg.usesSandbox() && anyStripe
	switch cfg.Mode {
	case "test":
		rules = cfg.testUpstreamRules(stripe)
	case "live":
		rules = []rule{missing("FRONTDESK_CLUB_URL", cfg.Club.BaseURL, "the club system's https address")}
	}
	if stripe {
		rules = append(rules,
			missing("FRONTDESK_STRIPE_SECRET_KEY", cfg.Stripe.SecretKey, "a secret or restricted key of the account"),
			missing("FRONTDESK_STRIPE_PUBLISHABLE_KEY", cfg.StripePublicKey, "the publishable key of the same account"),
			missing("FRONTDESK_STRIPE_WEBHOOK_SECRET", strings.Join(cfg.Stripe.WebhookSecrets, ""),
				"the signing secret of the webhook endpoint /v1/webhooks/card"),
		)
	}
	return rules
}

// testUpstreamRules is upstreamRules in test mode; stripe: with a Stripe account.
func (cfg Config) testUpstreamRules(stripe bool) []rule {
	return []rule{
		missing("FRONTDESK_CLUB_URL", cfg.Club.BaseURL, "the club system, or the simulator's http://127.0.0.1:8081/sim"),
		{"FRONTDESK_SANDBOX_URL", cfg.SandboxURL == "" && !stripe, "is missing: the sandbox card processor, such as " +
			"http://127.0.0.1:8081/sandbox; or set the keys of a Stripe account in test mode"},
		{"FRONTDESK_SANDBOX_URL", cfg.SandboxURL != "" && webAddress(cfg.SandboxURL) == nil, notAddress},
		{"FRONTDESK_STRIPE_SECRET_KEY", cfg.Stripe.SecretKey != "" && !strings.Contains(cfg.Stripe.SecretKey, "_test_"),
			"is a live key: test mode takes no real money"},
		{"FRONTDESK_STRIPE_PUBLISHABLE_KEY", cfg.StripePublicKey != "" && !strings.HasPrefix(cfg.StripePublicKey, "pk_test_"),
			"is not a test key, as the secret key must be: it must begin with pk_test_"},
		{"FRONTDESK_SEAL_KEYS", stripe && cfg.hasDemoSealKey(), "must have your own keys with Stripe, because gateways of other developers " +
			"with the same account and the demo key would take over your payments: create one with openssl rand -base64 32"},
	}
}

// minProofsKept is longer than the deadlines of all statements, with time to argue.
const minProofsKept = 90 * 24 * time.Hour

// notAddress is what rules say of a text that webAddress does not parse.
const notAddress = "is not an address: it must be http:// or https:// and a host"

// hasDemoSealKey reports whether records and payments are signed with the public key, or accepted with it.
func (cfg Config) hasDemoSealKey() bool {
	isDemo := func(key string) bool { return strings.TrimSpace(key) == demoSealKey }
	return len(cfg.SealKeys) == 0 || slices.ContainsFunc(cfg.SealKeys, isDemo)
}

func (cfg Config) clubAPIRules() []rule {
	_, err := cfg.clubConfig()
	return eachLine("FRONTDESK_CLUB_API", err)
}

// keyRules checks the form of the keys of staff, of the club's login and of the store.
func (cfg Config) keyRules() (rules []rule) {
	for i, key := range cfg.StaffKeys {
		rules = append(rules, rule{"FRONTDESK_STAFF_KEYS", len(strings.TrimSpace(key)) < minStaffKeyLength,
			fmt.Sprintf("must have keys of at least %d characters: key %d is shorter", minStaffKeyLength, i+1)})
	}
	_, err := cfg.newKeyring()
	return append(rules,
		rule{"FRONTDESK_IDENTITY_SECRET", cfg.Login.Secret != "" && len(cfg.Login.Secret) < minSecretBytes,
			fmt.Sprintf("must have at least %d bytes", minSecretBytes)},
		rule{"FRONTDESK_IDENTITY_JWKS_URL", cfg.Login.JWKSURL != "" && webAddress(cfg.Login.JWKSURL) == nil,
			"must be an http or https address"},
		rule{"FRONTDESK_SEAL_KEYS", len(cfg.SealKeys) > 0 && err != nil, fmt.Sprintf("cannot be used: %v", err)},
	)
}

// webhookRules checks the secrets with which events of the club system and of the card processor arrive.
func (cfg Config) webhookRules() []rule {
	const ofClub, ofCards = "FRONTDESK_WEBHOOK_SECRET", "FRONTDESK_STRIPE_WEBHOOK_SECRET"
	rules := []rule{
		{ofClub, len(cfg.WebhookSecret) > maxWebhookSecrets,
			fmt.Sprintf("must have at most %d secrets, the current one and the previous one", maxWebhookSecrets)},
		{ofCards, len(cfg.Stripe.WebhookSecrets) > maxWebhookSecrets,
			fmt.Sprintf("must have at most %d secrets, one for each of two endpoints", maxWebhookSecrets)},
		{ofCards, slices.Contains(cfg.Stripe.WebhookSecrets, ""),
			"has an empty secret, with which anybody can sign: remove the extra comma"},
	}
	for i, secret := range cfg.WebhookSecret {
		rules = append(rules,
			rule{ofClub, !webhookSecret.MatchString(secret), fmt.Sprintf("has a secret that is not 16 to 128 letters, digits, hyphens "+
				"and underscores (secret %d): create one with openssl rand -hex 24", i+1)},
			rule{ofClub, secret == demoWebhookSecret && cfg.Mode == "live", fmt.Sprintf("has the demo secret, which is public (secret %d): "+
				"create one with openssl rand -hex 24", i+1)},
		)
	}
	return rules
}

// subscriberRules checks where events are passed on to.
func (cfg Config) subscriberRules() []rule {
	subscribers, err := cfg.subscribers()
	rules := eachLine("FRONTDESK_SUBSCRIBERS", err)
	for _, problem := range cfg.egress().Check(subscribers) {
		rules = append(rules, rule{"FRONTDESK_SUBSCRIBERS:", true, problem.Error()})
	}
	return rules
}

func (cfg Config) subscribers() (subscribers []background.Subscriber, err error) {
	if strings.TrimSpace(cfg.Subscribers) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(cfg.Subscribers))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&subscribers) != nil || decoder.More() { // the decoder's error may quote a secret
		return nil, errors.New("is not a JSON array such as " +
			`[{"name": "crm", "url": "https://crm.example/hooks", "secret": "whsec_…", "events": ["contact.*"]}]`)
	}
	return subscribers, nil
}

func (cfg Config) methodRules() []rule {
	_, err := cfg.methodPolicy()
	return eachLine("FRONTDESK_METHODS", err)
}

func (cfg Config) clubsRules() []rule {
	_, err := cfg.clubs()
	return eachLine("FRONTDESK_CLUBS:", err)
}

func (cfg Config) limitRules() []rule {
	_, err := handlers.ParseProxies(cfg.TrustedProxies)
	rules := []rule{
		{"FRONTDESK_RATE_LIMITS", cfg.RateLimits == "off" && cfg.Mode == "live", "must not be off in live mode"},
		{"FRONTDESK_TRUSTED_PROXIES:", err != nil, fmt.Sprint(err)},
		{"FRONTDESK_PROOFS_KEPT", cfg.ProofsKept < minProofsKept, "must be at least 2160h, which is 90 days: longer than every deadline"},
		{"FRONTDESK_SMS_HOURLY", cfg.SMS.Hourly < 1, "must allow at least one code an hour"},
		{"FRONTDESK_SMS_ORGANISATION_HOURLY", cfg.SMS.OrganisationHourly < 0, "must not be negative"},
	}
	for _, country := range cfg.SMS.Countries {
		rules = append(rules, rule{"FRONTDESK_SMS_COUNTRIES", !flows.IsPhoneCountry(country),
			fmt.Sprintf("has %q, which is not a country: it must be two capital letters, such as FR", country)})
	}
	return rules
}

func (cfg Config) captchaRules() []rule {
	const variable = "FRONTDESK_CAPTCHA_URL"
	widget, isSet, address := cfg.Captcha.Widget, cfg.Captcha.URL != "", webAddress(cfg.Captcha.URL)
	toOthers := address != nil && address.Scheme == "http" && (cfg.Mode == "live" || !isThisMachine(address.Hostname()))
	return []rule{
		{"FRONTDESK_CAPTCHA_URL, FRONTDESK_CAPTCHA_SECRET", isSet != (cfg.Captcha.Secret != ""), "must be set together"},
		{"FRONTDESK_CAPTCHA_SITE_KEY, FRONTDESK_CAPTCHA_PROVIDER", !isSet && widget != captcha.Widget{},
			"have no effect alone: set FRONTDESK_CAPTCHA_URL too"},
		{"FRONTDESK_CAPTCHA_SITE_KEY", isSet && widget.SiteKey == "" && cfg.Mode == "live",
			"is missing: without it no page can show the captcha of FRONTDESK_CAPTCHA_URL"},
		{variable, isSet && address == nil, "is not an address such as https://challenges.cloudflare.com/turnstile/v0/siteverify"},
		{variable, toOthers, "must begin with https://, because it receives the secret; in mock and test mode http:// to this machine " +
			"is allowed"},
	}
}

func isThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// traceRules checks the variables of the trace exporter.
func (cfg Config) traceRules() []rule {
	_, err := collector.ReadConfig(lookup)
	return eachLine("", err)
}

func (cfg Config) returnSchemeRules() (rules []rule) {
	const variable = "FRONTDESK_RETURN_SCHEMES"
	for _, scheme := range cfg.ReturnSchemes {
		rules = append(rules,
			rule{variable, scheme == "*" && cfg.Mode == "live",
				"is *, which allows every app on the buyer's device: list the schemes of your own apps"},
			rule{variable, scheme != "*" && !handlers.IsAppScheme(scheme), fmt.Sprintf("has %q, which is not an app's own scheme: "+
				"it must be a reverse domain name in lower case, such as com.example.club, or one word, without ://", scheme)},
		)
	}
	return rules
}

// browserAddressRules checks the form of addresses that browsers use, in the modes that do
// not require https. A missing scheme would otherwise show only in broken links and refused origins.
func (cfg Config) browserAddressRules() []rule {
	rules := []rule{
		{"FRONTDESK_STRIPE_SCRIPT_URL", cfg.StripeScriptURL != "" && webAddress(cfg.StripeScriptURL) == nil, notAddress},
		{"FRONTDESK_PUBLIC_URL", cfg.PublicURL != "" && webAddress(cfg.PublicURL) == nil, notAddress},
	}
	for _, origin := range cfg.AllowedOrigins {
		address := webAddress(origin)
		isOrigin := address != nil && origin == address.Scheme+"://"+strings.ToLower(address.Host)
		named := origin == "*" || hasWildcard(origin) || slices.Contains(appOrigins, origin) // frontEndRules reports a wildcard
		rules = append(rules, rule{"FRONTDESK_ALLOWED_ORIGINS", !named && !isOrigin, fmt.Sprintf("has %q, which is not an origin: "+
			"it must be http:// or https:// and a host in lower case, without a path or a trailing slash", origin)})
	}
	return rules
}

// frontEndRules checks the lists about front ends of other origins, in every mode.
func (cfg Config) frontEndRules() (rules []rule) {
	for _, origin := range cfg.AllowedOrigins {
		rules = append(rules, rule{"FRONTDESK_ALLOWED_ORIGINS", hasWildcard(origin),
			fmt.Sprintf("has %q: a * inside an origin matches nothing. List each origin by itself", origin)})
	}
	for _, header := range cfg.AllowedHeaders {
		rules = append(rules, rule{"FRONTDESK_ALLOWED_HEADERS", header == "*" || !httpguts.ValidHeaderFieldName(header),
			fmt.Sprintf("has %q, which is not the name of a header: list each name", header)})
	}
	return rules
}

func hasWildcard(origin string) bool { return origin != "*" && strings.Contains(origin, "*") }

// appOrigins are the origins of pages in the web views of hybrid apps. They say nothing about which app it is.
var appOrigins = []string{"capacitor://localhost", "ionic://localhost"}

// webAddress parses an http or https address with a host. It returns nil for any other text.
func webAddress(address string) *url.URL {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" {
		return nil
	}
	return parsed
}
