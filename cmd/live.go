package cmd

import (
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"frontdesk/upstream/clubsim"
)

// The figures of what live mode takes for a secret.
const (
	// minKeyVariety is how many different characters a secret has at least: sixteen
	// random hexadecimal digits have fewer once in ten thousand times, and what
	// somebody typed with one finger has.
	leastVariety = 6
	// minHookSecretLength: the processor's signing secrets have 38 characters; a
	// shorter one was cut off or made up.
	minHookSecretLength = 32
)

// validateLive lists what is unsafe where real money is taken.
func (cfg Config) validateLive(found *problems) {
	cfg.validateAddresses(found)
	cfg.validateClubCredentials(found)
	cfg.validateProcessor(found)
	cfg.validateSecrets(found)
	cfg.validateOrigins(found)
	cfg.validateOpsAddr(found)
}

// validateAddresses holds every address to https: what passes could be read and
// changed on the way.
func (cfg Config) validateAddresses(found *problems) {
	found.need(cfg.PublicURL, "FRONTDESK_PUBLIC_URL", "where browsers reach the gateway, such as https://signup.your-club")
	for _, is := range []struct{ name, address string }{
		{"FRONTDESK_PUBLIC_URL", cfg.PublicURL}, {"FRONTDESK_CLUB_URL", cfg.ClubURL},
		{"FRONTDESK_IDENTITY_JWKS_URL", cfg.IdentityJWKSURL}, {"FRONTDESK_STRIPE_URL", cfg.StripeURL},
	} {
		if wrong := insecure(is.address); is.address != "" && wrong != "" {
			found.add(is.name, "%s", wrong)
		}
	}
	if u, err := url.Parse(cfg.PublicURL); err == nil && u.Host != "" && strings.Trim(u.Path, "/") != "" {
		found.add("FRONTDESK_PUBLIC_URL", "has a path: the site, the API and the cookies need a host of their own")
	}
}

// insecure says what is wrong with an address that has to be https; empty: nothing.
func insecure(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return "is no address: it has to be https:// and a host"
	case u.Scheme != "https":
		return "has to begin with https://: what passes could be read and changed on the way"
	case u.User != nil:
		return "holds a user or a password: it is shown in logs"
	case u.RawQuery != "" || u.Fragment != "":
		return "has a ? or a #: it has to end before"
	case exampleHost(u.Hostname()):
		return "is an example address: put in your own"
	}
	return ""
}

// exampleHost tells hosts that are reserved for documentation (RFC 2606).
func exampleHost(host string) bool {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	if slices.Contains([]string{"example", "test", "invalid"}, labels[len(labels)-1]) {
		return true
	}
	return len(labels) > 1 && labels[len(labels)-2] == "example"
}

// validateClubCredentials refuses those of the demo organisation.
func (cfg Config) validateClubCredentials(found *problems) {
	for _, is := range []struct{ name, value, demo, what string }{
		{"FRONTDESK_CLUB_TOKEN", cfg.ClubToken, clubsim.DemoClientToken, "the organisation's client token"},
		{"FRONTDESK_CLUB_CLIENT_ID", cfg.ClubClientID, clubsim.DemoClientID, "the OAuth client"},
		{"FRONTDESK_CLUB_CLIENT_SECRET", cfg.ClubClientSecret, clubsim.DemoClientSecret, "the OAuth client's secret"},
		{"FRONTDESK_CLUB_GATEWAY_KEY", cfg.ClubGatewayKey, clubsim.DemoGatewayKey, "the key of the club system's API gateway"},
	} {
		found.need(is.value, is.name, is.what)
		if is.value == is.demo || strings.HasPrefix(is.value, clubsim.DemoClientToken+"-") || is.value != "" && placeholder(is.value) {
			found.add(is.name, "is an example: put in what the club system's provider gave you")
		}
	}
}

// validateProcessor wants the live keys of a processor that takes real money.
func (cfg Config) validateProcessor(found *problems) {
	if cfg.CardProcessor == "sandbox" {
		found.add("FRONTDESK_CARD_PROCESSOR", "is sandbox, which takes no real money: set it to stripe")
	}
	for _, is := range []struct{ name, value, prefixes string }{
		{"FRONTDESK_STRIPE_SECRET_KEY", cfg.StripeSecretKey, "sk_live_ rk_live_"},
		{"FRONTDESK_STRIPE_PUBLISHABLE_KEY", cfg.StripePublicKey, "pk_live_"},
	} {
		of := strings.Fields(is.prefixes)
		if is.value != "" && !slices.ContainsFunc(of, func(prefix string) bool { return strings.HasPrefix(is.value, prefix) }) {
			found.add(is.name, "is not a live key: it has to begin with %s", strings.Join(of, " or "))
		}
	}
	secret := cfg.StripeHookSecret
	switch {
	case secret == "":
	case !strings.HasPrefix(secret, "whsec_"):
		found.add("FRONTDESK_STRIPE_WEBHOOK_SECRET", "is no signing secret: it has to begin with whsec_, as the processor shows it with the endpoint")
	case len(secret) < minHookSecretLength || guessable(secret):
		found.add("FRONTDESK_STRIPE_WEBHOOK_SECRET", "is too short or can be guessed: whoever knows it can announce payments; take it from the processor, whole")
	}
}

// validateSecrets wants secrets of the operator's own, which nobody can guess.
func (cfg Config) validateSecrets(found *problems) {
	found.need(strings.Join(cfg.SealKeys, ""), "FRONTDESK_SEAL_KEYS", "keys of your own, such as from: openssl rand -base64 32")
	for i, key := range cfg.SealKeys {
		if readable(key) {
			found.add("FRONTDESK_SEAL_KEYS", "has an example or a text for a key (key %d), which can be guessed: make one with openssl rand -base64 32", i+1)
		}
	}
	for i, key := range cfg.StaffKeys {
		if guessable(strings.TrimSpace(key)) {
			found.add("FRONTDESK_STAFF_KEYS", "has a key that can be guessed (key %d): make one with openssl rand -hex 16", i+1)
		}
	}
	switch {
	case cfg.IdentityJWKSURL == "" && cfg.IdentitySecret == "":
		found.add("FRONTDESK_IDENTITY_JWKS_URL", "is missing: where the club's own login publishes its keys; or set FRONTDESK_IDENTITY_SECRET, which it signs with instead")
	case cfg.IdentityJWKSURL != "" && cfg.IdentitySecret != "":
		found.add("FRONTDESK_IDENTITY_SECRET", "is set beside FRONTDESK_IDENTITY_JWKS_URL: either could speak for any contact; keep the one that the login uses")
	}
	if cfg.IdentitySecret != "" && guessable(cfg.IdentitySecret) {
		found.add("FRONTDESK_IDENTITY_SECRET", "can be guessed: make one with openssl rand -base64 32")
	}
	if strings.HasSuffix(cfg.IdentityJWKSURL, "/_control/jwks") {
		found.add("FRONTDESK_IDENTITY_JWKS_URL", "is the simulator's login, which speaks for anybody: set the club's own")
	}
}

// placeholders are what stands in examples where a secret belongs.
var placeholders = []string{"example", "changeme", "change-me", "change_me", "placeholder", "password", "insert-", "your-", "your_", "demo-", "12345678", "abcdefgh"}

func placeholder(secret string) bool {
	lower := strings.ToLower(secret)
	return slices.ContainsFunc(placeholders, func(word string) bool { return strings.Contains(lower, word) })
}

// guessable tells a secret that somebody made up, or that stands in an example.
func guessable(secret string) bool {
	different := map[rune]bool{}
	for _, r := range secret {
		different[r] = true
	}
	return len(different) < leastVariety || placeholder(secret)
}

// readable tells a seal key that is text, as the demo key is, or the same few
// bytes over and over. Of 32 random bytes at least one is no printable character,
// but for once in 10¹³ times.
func readable(key string) bool {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
	if err != nil || len(secret) < minSecretBytes {
		return false // told elsewhere
	}
	different := map[byte]bool{}
	for _, b := range secret {
		different[b] = true
	}
	return len(different) < leastVariety || !slices.ContainsFunc(secret, func(b byte) bool { return b < ' ' || b > '~' })
}

// validateOrigins wants each origin of another front end by its exact name.
func (cfg Config) validateOrigins(found *problems) {
	for _, origin := range cfg.AllowedOrigins {
		u, err := url.Parse(origin)
		switch wrong := insecure(origin); {
		case origin == "*":
			found.add("FRONTDESK_ALLOWED_ORIGINS", "is *, which lets every page on the visitor's machine in: list the front ends' origins")
		case wrong != "":
			found.add("FRONTDESK_ALLOWED_ORIGINS", "has %q, which %s", origin, wrong)
		case err != nil || origin != "https://"+strings.ToLower(u.Host):
			found.add("FRONTDESK_ALLOWED_ORIGINS", "has %q, which is no origin: it has to be https://host in lower case, without a path or a slash at the end", origin)
		}
	}
}

// validateOpsAddr keeps the operators' address, which asks nobody who they are,
// off the internet.
func (cfg Config) validateOpsAddr(found *problems) {
	if cfg.OpsAddr == "off" {
		return
	}
	host, _, err := net.SplitHostPort(cfg.OpsAddr)
	if err != nil {
		found.add("FRONTDESK_OPS_ADDR", "is no host:port: set it to 127.0.0.1:9090, or to off")
		return
	}
	at, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && (at.IsLoopback() || at.IsPrivate() || at.IsLinkLocalUnicast()) {
		return
	}
	found.add("FRONTDESK_OPS_ADDR", "may be reached from everywhere, and nobody is asked for a password there: set it to 127.0.0.1:9090 or to an address of a private network, or to off")
}
