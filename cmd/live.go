package cmd

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"frontdesk/flows"
	"frontdesk/flows/background"
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

// liveRules lists what is unsafe where real money is taken.
func (cfg Config) liveRules() []rule {
	asks := strings.TrimSpace(strings.Join(cfg.AskRepeats, ","))
	return slices.Concat(
		removedRules(), cfg.addressRules(), cfg.clubCredentialRules(), cfg.processorRules(), cfg.secretRules(), cfg.loginRules(),
		cfg.originRules(), cfg.confirmationRules(), cfg.documentRules(),
		[]rule{
			{"FRONTDESK_ASK_REPEATS", len(cfg.AskRepeats) > 0 && !slices.Contains([]string{"all", "none", cfg.ClubToken}, asks),
				"must be all or none: any other text would turn the question off"},
			internalRule("FRONTDESK_OPS_ADDR", cfg.OpsAddr, defaultOpsAddr),
			internalRule("FRONTDESK_METRICS_ADDR", cmp.Or(cfg.MetricsAddr, defaultMetricsAddr), defaultMetricsAddr),
		},
	)
}

// confirmationRules requires that buyers get the confirmation of their contract on a durable medium (Directive 2011/83/EU, article 8(7)).
func (cfg Config) confirmationRules() []rule {
	subscribers, _ := cfg.subscribers() // subscriberRules reports the error
	confirms := slices.ContainsFunc(subscribers, func(s background.Subscriber) bool { return s.Sends(flows.RegistrationCompleted) })
	return []rule{{"FRONTDESK_SMTP_URL", cfg.Mail.URL == "" && !confirms, "is missing: buyers must get the confirmation of their contract " +
		"by mail; or have a subscriber send it that gets registration.completed and has \"confirms\": true"}}
}

// removedRules refuses variables of earlier releases: the gateway would not do what they say.
func removedRules() (rules []rule) {
	for _, variable := range slices.Sorted(maps.Keys(removedVariables)) {
		isSet := os.Getenv(variable)+os.Getenv(variable+"_FILE") != ""
		rules = append(rules, rule{variable, isSet, "is no longer known: " + removedVariables[variable]})
	}
	return rules
}

// addressRules requires https for every address: traffic without it can be read
// and changed on the way.
func (cfg Config) addressRules() []rule {
	public, err := url.Parse(cfg.PublicURL)
	hasPath := err == nil && public.Host != "" && strings.Trim(public.Path, "/") != ""
	return []rule{
		missing("FRONTDESK_PUBLIC_URL", cfg.PublicURL, "where browsers reach the gateway, such as https://signup.your-club"),
		secure("FRONTDESK_PUBLIC_URL", cfg.PublicURL),
		secure("FRONTDESK_CLUB_URL", cfg.Club.BaseURL),
		secure("FRONTDESK_IDENTITY_JWKS_URL", cfg.Login.JWKSURL),
		secure("FRONTDESK_STRIPE_URL", cfg.Stripe.URL),
		secure("FRONTDESK_STRIPE_SCRIPT_URL", cfg.StripeScriptURL),
		{"FRONTDESK_PUBLIC_URL", hasPath, "has a path: the site, the API and the cookies need a host of their own"},
	}
}

// secure is the rule of an address that must be https, if it is set.
func secure(variable, address string) rule {
	wrong := insecure(address)
	return rule{variable, address != "" && wrong != "", wrong}
}

// insecure returns what is wrong with an address that must be https; empty if nothing is.
func insecure(address string) string {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Hostname() == "":
		return "is not an address: it must be https:// and a host"
	case parsed.Scheme != "https":
		return "must begin with https://: traffic without it can be read and changed on the way"
	case parsed.User != nil:
		return "holds a user or a password, which logs would show"
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return "has a ? or a #: it must end before them"
	case isExampleHost(parsed.Hostname()):
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

func (cfg Config) clubCredentialRules() (rules []rule) {
	for _, credential := range []struct{ variable, value, demo, what string }{
		{"FRONTDESK_CLUB_TOKEN", cfg.ClubToken, clubsim.DemoClientToken, "the organisation's client token"},
		{"FRONTDESK_CLUB_CLIENT_ID", cfg.Club.ClientID, clubsim.DemoClientID, "the OAuth client"},
		{"FRONTDESK_CLUB_CLIENT_SECRET", cfg.Club.ClientSecret, clubsim.DemoClientSecret, "the OAuth client's secret"},
		{"FRONTDESK_CLUB_GATEWAY_KEY", cfg.Club.GatewayKey, clubsim.DemoGatewayKey, "the key of the club system's API gateway"},
	} {
		isDemo := credential.value == credential.demo || strings.HasPrefix(credential.value, clubsim.DemoClientToken+"-")
		rules = append(rules,
			missing(credential.variable, credential.value, credential.what),
			rule{credential.variable, isDemo || isPlaceholder(credential.value),
				"is an example: set the value from the club system's provider"},
		)
	}
	return rules
}

func (cfg Config) processorRules() []rule {
	const hook = "FRONTDESK_STRIPE_WEBHOOK_SECRET"
	secret, public := cfg.Stripe.SecretKey, cfg.StripePublicKey
	isLive := strings.HasPrefix(secret, "sk_live_") || strings.HasPrefix(secret, "rk_live_")
	rules := []rule{
		{"FRONTDESK_SANDBOX_URL", cfg.SandboxURL != "", "leads to the sandbox, which takes no real money: remove it"},
		{"FRONTDESK_STRIPE_SECRET_KEY", secret != "" && !isLive, "is not a live key: it must begin with sk_live_ or rk_live_"},
		{"FRONTDESK_STRIPE_PUBLISHABLE_KEY", public != "" && !strings.HasPrefix(public, "pk_live_"),
			"is not a live key: it must begin with pk_live_"},
	}
	for i, secret := range cfg.Stripe.WebhookSecrets {
		isSigning := strings.HasPrefix(secret, "whsec_")
		rules = append(rules,
			rule{hook, secret != "" && !isSigning, fmt.Sprintf("is not a signing secret (secret %d): it must begin with whsec_, "+
				"as the processor shows it with the endpoint", i+1)},
			rule{hook, isSigning && (len(secret) < minHookSecretLength || isGuessable(secret)),
				fmt.Sprintf("is too short or can be guessed (secret %d), and it is what authenticates payment events: "+
					"copy the processor's own in full", i+1)},
		)
	}
	return rules
}

// secretRules requires secrets of the operator's own that cannot be guessed.
func (cfg Config) secretRules() []rule {
	rules := []rule{
		missing("FRONTDESK_SEAL_KEYS", strings.Join(cfg.SealKeys, ""), "keys of your own, such as from: openssl rand -base64 32"),
		{"FRONTDESK_IDENTITY_SECRET", cfg.Login.Secret != "" && isGuessable(cfg.Login.Secret),
			"can be guessed: create one with openssl rand -base64 32"},
	}
	for i, key := range cfg.SealKeys {
		rules = append(rules, rule{"FRONTDESK_SEAL_KEYS", isReadable(key), fmt.Sprintf("has an example or a text as a key (key %d), "+
			"which can be guessed: create one with openssl rand -base64 32", i+1)})
	}
	for i, key := range cfg.StaffKeys {
		rules = append(rules, rule{"FRONTDESK_STAFF_KEYS", isGuessable(strings.TrimSpace(key)),
			fmt.Sprintf("has a key that can be guessed (key %d): create one with openssl rand -hex 16", i+1)})
	}
	return rules
}

// loginRules requires exactly one way to verify tokens of the club's login, and that they
// were made for this gateway.
func (cfg Config) loginRules() []rule {
	const keys, secret = "FRONTDESK_IDENTITY_JWKS_URL", "FRONTDESK_IDENTITY_SECRET"
	login := cfg.Login
	return []rule{
		missing("FRONTDESK_IDENTITY_AUDIENCE", login.Audience,
			"the aud of the login's tokens for this gateway; tokens for its other applications would be accepted too"),
		missing("FRONTDESK_IDENTITY_ISSUER", login.Issuer,
			"the iss of the login's tokens; those of other issuers with the same keys would be accepted too"),
		{keys, login.JWKSURL == "" && login.Secret == "", "is missing: where the club's login publishes its keys; " +
			"or set FRONTDESK_IDENTITY_SECRET, if it signs with a shared secret"},
		{secret, login.JWKSURL != "" && login.Secret != "", "is set together with FRONTDESK_IDENTITY_JWKS_URL: " +
			"either could identify any contact; keep the one that the login uses"},
		{keys, strings.HasSuffix(login.JWKSURL, "/_control/jwks"),
			"is the simulator's login, which can identify any contact: set the club's own"},
	}
}

// placeholders are values that examples contain instead of a secret.
var placeholders = []string{
	"example", "changeme", "change-me", "change_me", "placeholder", "password", "insert-", "your-", "your_", "demo-", "12345678", "abcdefgh",
}

func isPlaceholder(secret string) bool {
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(placeholders, func(word string) bool { return strings.Contains(secret, word) })
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
		return false // keyRules reports it
	}
	isUnprintable := func(b byte) bool { return b < ' ' || b > '~' }
	return distinct(secret) < minDistinct || !slices.ContainsFunc(secret, isUnprintable)
}

func distinct(secret []byte) int {
	return len(slices.Compact(slices.Sorted(slices.Values(secret))))
}

// originRules requires the exact name of each origin of another front end.
func (cfg Config) originRules() (rules []rule) {
	const variable = "FRONTDESK_ALLOWED_ORIGINS"
	for _, origin := range cfg.AllowedOrigins {
		parsed, err := url.Parse(origin)
		switch wrong := insecure(origin); {
		case origin == "*":
			rules = append(rules, rule{variable, true, "is *, which allows every page on the visitor's machine: list the front ends' origins"})
		case slices.Contains(appOrigins, origin), hasWildcard(origin): // frontEndRules reports a wildcard
		case wrong != "":
			rules = append(rules, rule{variable, true, fmt.Sprintf("has %q, which %s", origin, wrong)})
		default:
			isOrigin := err == nil && origin == "https://"+strings.ToLower(parsed.Host)
			rules = append(rules, rule{variable, !isOrigin, fmt.Sprintf("has %q, which is not an origin: "+
				"it must be https://host in lower case, without a path or a trailing slash", origin)})
		}
	}
	return rules
}

// internalRule keeps metrics and profiles, which need no token, off the internet. listenRules checks the address's form.
func internalRule(variable, address, usual string) rule {
	host, _, err := net.SplitHostPort(address)
	ip, _ := netip.ParseAddr(host) // the zero address, which is not private, unless host is one
	private := host == "localhost" || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	return rule{variable, address != "off" && err == nil && !private, fmt.Sprintf("may be reachable from anywhere, and not all of it "+
		"has authentication: set it to %s, to an address of a private network, or to off", usual)}
}
