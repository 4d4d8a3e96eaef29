package cmd

import (
	"cmp"
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"frontdesk/upstream/clubsim"
)

const (
	// minDistinct is how many different characters a secret must have. Sixteen random
	// hexadecimal digits have fewer once in ten thousand cases; a typed secret often does.
	minDistinct = 6
	// minHookSecretLength: the processor's signing secrets have 38 characters. A shorter
	// one was cut off or made up.
	minHookSecretLength = 32
)

// validateLive lists what is unsafe where real money is taken.
func (cfg Config) validateLive(found *problems) {
	cfg.validateAddresses(found)
	cfg.validateClubCredentials(found)
	cfg.validateProcessor(found)
	cfg.validateSecrets(found)
	cfg.validateLogin(found)
	cfg.validateOrigins(found)
	asks := strings.TrimSpace(strings.Join(cfg.AskRepeats, ","))
	found.refuse(len(cfg.AskRepeats) > 0 && !slices.Contains([]string{"all", "none", cfg.ClubToken}, asks), "FRONTDESK_ASK_REPEATS",
		"must be all or none: any other text would turn the question off")
	validateInternal(found, "FRONTDESK_OPS_ADDR", cfg.OpsAddr, defaultOpsAddr)
	validateInternal(found, "FRONTDESK_METRICS_ADDR", cmp.Or(cfg.MetricsAddr, defaultMetricsAddr), defaultMetricsAddr)
}

// validateAddresses requires https for every address: traffic without it can be read
// and changed on the way.
func (cfg Config) validateAddresses(found *problems) {
	found.need(cfg.PublicURL, "FRONTDESK_PUBLIC_URL", "where browsers reach the gateway, such as https://signup.your-club")
	for _, is := range []struct{ name, address string }{
		{"FRONTDESK_PUBLIC_URL", cfg.PublicURL}, {"FRONTDESK_CLUB_URL", cfg.Club.BaseURL},
		{"FRONTDESK_IDENTITY_JWKS_URL", cfg.Login.JWKSURL}, {"FRONTDESK_STRIPE_URL", cfg.Stripe.URL},
		{"FRONTDESK_STRIPE_SCRIPT_URL", cfg.StripeScriptURL},
	} {
		wrong := insecure(is.address)
		found.refuse(is.address != "" && wrong != "", is.name, "%s", wrong)
	}
	u, err := url.Parse(cfg.PublicURL)
	found.refuse(err == nil && u.Host != "" && strings.Trim(u.Path, "/") != "", "FRONTDESK_PUBLIC_URL", "has a path: the site, the API and the cookies need a host of their own")
}

// insecure returns what is wrong with an address that must be https; empty if nothing is.
func insecure(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return "is not an address: it must be https:// and a host"
	case u.Scheme != "https":
		return "must begin with https://: traffic without it can be read and changed on the way"
	case u.User != nil:
		return "holds a user or a password, which logs would show"
	case u.RawQuery != "" || u.Fragment != "":
		return "has a ? or a #: it must end before them"
	case isExampleHost(u.Hostname()):
		return "is an example address: set your own"
	}
	return ""
}

// isExampleHost reports whether a host is reserved for documentation (RFC 2606).
func isExampleHost(host string) bool {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	last := len(labels) - 1
	return slices.Contains([]string{"example", "test", "invalid"}, labels[last]) || last > 0 && labels[last-1] == "example"
}

func (cfg Config) validateClubCredentials(found *problems) {
	for _, is := range []struct{ name, value, demo, what string }{
		{"FRONTDESK_CLUB_TOKEN", cfg.ClubToken, clubsim.DemoClientToken, "the organisation's client token"},
		{"FRONTDESK_CLUB_CLIENT_ID", cfg.Club.ClientID, clubsim.DemoClientID, "the OAuth client"},
		{"FRONTDESK_CLUB_CLIENT_SECRET", cfg.Club.ClientSecret, clubsim.DemoClientSecret, "the OAuth client's secret"},
		{"FRONTDESK_CLUB_GATEWAY_KEY", cfg.Club.GatewayKey, clubsim.DemoGatewayKey, "the key of the club system's API gateway"},
	} {
		found.need(is.value, is.name, is.what)
		found.refuse(is.value == is.demo || strings.HasPrefix(is.value, clubsim.DemoClientToken+"-") || isPlaceholder(is.value),
			is.name, "is an example: set the value from the club system's provider")
	}
}

func (cfg Config) validateProcessor(found *problems) {
	found.refuse(cfg.SandboxURL != "", "FRONTDESK_SANDBOX_URL", "leads to the sandbox, which takes no real money: remove it")
	found.refuse(cfg.Stripe.SecretKey != "" && !strings.HasPrefix(cfg.Stripe.SecretKey, "sk_live_") && !strings.HasPrefix(cfg.Stripe.SecretKey, "rk_live_"),
		"FRONTDESK_STRIPE_SECRET_KEY", "is not a live key: it must begin with sk_live_ or rk_live_")
	found.refuse(cfg.StripePublicKey != "" && !strings.HasPrefix(cfg.StripePublicKey, "pk_live_"),
		"FRONTDESK_STRIPE_PUBLISHABLE_KEY", "is not a live key: it must begin with pk_live_")
	for i, secret := range cfg.Stripe.WebhookSecrets {
		isSigning := strings.HasPrefix(secret, "whsec_")
		found.refuse(secret != "" && !isSigning, "FRONTDESK_STRIPE_WEBHOOK_SECRET",
			"is not a signing secret (secret %d): it must begin with whsec_, as the processor shows it with the endpoint", i+1)
		found.refuse(isSigning && (len(secret) < minHookSecretLength || isGuessable(secret)), "FRONTDESK_STRIPE_WEBHOOK_SECRET",
			"is too short or can be guessed (secret %d), and it is what authenticates payment events: copy the processor's own in full", i+1)
	}
}

// validateSecrets requires secrets of the operator's own that cannot be guessed.
func (cfg Config) validateSecrets(found *problems) {
	found.need(strings.Join(cfg.SealKeys, ""), "FRONTDESK_SEAL_KEYS", "keys of your own, such as from: openssl rand -base64 32")
	for i, key := range cfg.SealKeys {
		found.refuse(isReadable(key), "FRONTDESK_SEAL_KEYS", "has an example or a text as a key (key %d), which can be guessed: create one with openssl rand -base64 32", i+1)
	}
	for i, key := range cfg.StaffKeys {
		found.refuse(isGuessable(strings.TrimSpace(key)), "FRONTDESK_STAFF_KEYS", "has a key that can be guessed (key %d): create one with openssl rand -hex 16", i+1)
	}
	found.refuse(cfg.Login.Secret != "" && isGuessable(cfg.Login.Secret), "FRONTDESK_IDENTITY_SECRET", "can be guessed: create one with openssl rand -base64 32")
}

// validateLogin requires exactly one way to verify tokens of the club's login, and that they
// were made for this gateway.
func (cfg Config) validateLogin(found *problems) {
	found.need(cfg.Login.Audience, "FRONTDESK_IDENTITY_AUDIENCE", "the aud of the login's tokens for this gateway; tokens for its other applications would be accepted too")
	found.need(cfg.Login.Issuer, "FRONTDESK_IDENTITY_ISSUER", "the iss of the login's tokens; those of other issuers with the same keys would be accepted too")
	found.refuse(cfg.Login.JWKSURL == "" && cfg.Login.Secret == "",
		"FRONTDESK_IDENTITY_JWKS_URL", "is missing: where the club's login publishes its keys; or set FRONTDESK_IDENTITY_SECRET, if it signs with a shared secret")
	found.refuse(cfg.Login.JWKSURL != "" && cfg.Login.Secret != "",
		"FRONTDESK_IDENTITY_SECRET", "is set together with FRONTDESK_IDENTITY_JWKS_URL: either could identify any contact; keep the one that the login uses")
	found.refuse(strings.HasSuffix(cfg.Login.JWKSURL, "/_control/jwks"),
		"FRONTDESK_IDENTITY_JWKS_URL", "is the simulator's login, which can identify any contact: set the club's own")
}

// placeholders are values that examples contain instead of a secret.
var placeholders = []string{"example", "changeme", "change-me", "change_me", "placeholder", "password", "insert-", "your-", "your_", "demo-", "12345678", "abcdefgh"}

func isPlaceholder(secret string) bool {
	return slices.ContainsFunc(placeholders, func(word string) bool { return strings.Contains(strings.ToLower(secret), word) })
}

// isGuessable reports whether a secret was typed by hand, or is from an example.
func isGuessable(secret string) bool {
	return distinct([]byte(secret)) < minDistinct || isPlaceholder(secret)
}

// isReadable reports whether a seal key is text, as the demo key is, or a few bytes
// repeated. Of 32 random bytes at least one is unprintable, except once in 10¹³ cases.
func isReadable(key string) bool {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
	if err != nil || len(secret) < minSecretBytes {
		return false // validateKeys reports it
	}
	return distinct(secret) < minDistinct || !slices.ContainsFunc(secret, func(b byte) bool { return b < ' ' || b > '~' })
}

func distinct(secret []byte) int {
	return len(slices.Compact(slices.Sorted(slices.Values(secret))))
}

// validateOrigins requires the exact name of each origin of another front end.
func (cfg Config) validateOrigins(found *problems) {
	const variable = "FRONTDESK_ALLOWED_ORIGINS"
	for _, origin := range cfg.AllowedOrigins {
		u, err := url.Parse(origin)
		switch wrong := insecure(origin); {
		case origin == "*":
			found.refuse(true, variable, "is *, which allows every page on the visitor's machine: list the front ends' origins")
		case wrong != "":
			found.refuse(true, variable, "has %q, which %s", origin, wrong)
		default:
			found.refuse(err != nil || origin != "https://"+strings.ToLower(u.Host), variable, "has %q, which is not an origin: it must be https://host in lower case, without a path or a trailing slash", origin)
		}
	}
}

// validateInternal keeps metrics and profiles, which need no token, off the internet.
func validateInternal(found *problems, variable, address, usual string) {
	if address == "off" {
		return
	}
	host, _, err := net.SplitHostPort(address)
	found.refuse(err != nil, variable, "must be host:port, such as %s, or off", usual)
	at, notAddress := netip.ParseAddr(host)
	private := host == "localhost" || notAddress == nil && (at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast())
	found.refuse(err == nil && !private, variable, "may be reachable from anywhere, and not all of it has authentication: set it to %s, to an address of a private network, or to off", usual)
}
