package cmd

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/registration"
	"frontdesk/handlers"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/identity"
	"frontdesk/upstream/mail"
	"frontdesk/upstream/mock"
)

// Config is everything that can be configured in the gateway. config_options.go describes
// its fields, in the same groups. The zero value of a field means the default of the mode, which
// setDefaults fills in. The configurations of other packages lack what build adds, such as the clock.
type Config struct {
	Mode           string
	Addr           string
	OpsAddr        string
	MetricsAddr    string
	PublicURL      string
	TrustedProxies []string
	DrainDelay     time.Duration
	LogLevel       slog.Level

	RedisURL           string
	RedisWait          int
	ProofsKept         time.Duration
	RedisAssumeDurable bool
	SealKeys           []string
	ForgetSealKeys     []string

	Club             club.Config
	ClubToken        string
	ClubAPI          []string // decoded by clubConfig
	ClubLimitHeaders string
	ContactTokens    string
	Clubs            string
	Catalogue        mock.CatalogueFile
	WebhookSecret    []string
	Subscribers      string

	Stripe          cards.Config
	StripePublicKey string
	StripeScriptURL string
	SandboxURL      string
	SandboxSeed     uint64

	StaffKeys []string
	Operators []string
	Login     identity.Config

	AllowedOrigins []string
	AllowedHeaders []string
	ReturnSchemes  []string
	Methods        []string // decoded by methodPolicy
	CartRevision   string
	Agreements     string
	AskRepeats     []string

	RateLimits string
	SMS        registration.SMSBudgetConfig
	Captcha    captcha.Config

	Mail mail.Config

	State string // the folder that keeps the worlds of mock mode

	assets    Assets
	now       func() time.Time
	anyHost   bool                          // the address under which a page was opened counts as PublicURL
	documents fs.FS                         // that Clubs names; nil: those in the folder of its file
	provoke   handlers.Provoke              // has requests fail on purpose; nil except in mock mode
	worldAsks func(clientToken string) bool // whether a world of mock mode asks for AskRepeats; nil in the other modes
}

// Demo secrets are public. Live mode refuses them.
const (
	demoSealKey       = "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc="
	demoStaffKey      = "demo-staff-key-1"
	demoWebhookSecret = "demo-webhook-secret" // #nosec G101 -- public on purpose
	demoOperatorToken = "demo-operator-token" // #nosec G101 -- public on purpose
)

// demoSender is the sender of mails in mock mode.
const demoSender = "Frontdesk demo <signup@clubs.example>"

// onOutsideLive reports whether an option is on, which it is by default in the other modes only.
func (cfg *Config) onOutsideLive(option string) bool {
	return option == "on" || option == "" && cfg.Mode != "live"
}

// setDefaults fills in what the mode may leave out; port is the gateway's. In mock mode the addresses of the outside world are those of
// each demo world: see at.
func (cfg *Config) setDefaults(port string) {
	cfg.now = time.Now
	cfg.Club.LimitHeaders = cfg.onOutsideLive(cfg.ClubLimitHeaders)
	set := func(field *string, value string) { *field = cmp.Or(*field, value) }
	setList := func(field *[]string, values ...string) {
		if len(*field) == 0 {
			*field = values
		}
	}
	cfg.anyHost = cfg.Mode == "mock" && cfg.PublicURL == ""
	set(&cfg.PublicURL, "http://localhost:"+port)
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	if cfg.Mode == "mock" {
		cfg.Stripe, cfg.StripePublicKey = cards.Config{}, ""
	}
	if cfg.usesSandbox() {
		set(&cfg.Stripe.SecretKey, sandbox.DemoSecretKey)
		set(&cfg.StripePublicKey, sandbox.DemoPublishableKey)
		setList(&cfg.Stripe.WebhookSecrets, sandbox.DemoWebhookSecret)
	}
	set(&cfg.ClubToken, clubsim.DemoClientToken)
	set(&cfg.Club.ClientID, clubsim.DemoClientID)
	set(&cfg.Club.ClientSecret, clubsim.DemoClientSecret)
	set(&cfg.Club.GatewayKey, clubsim.DemoGatewayKey)
	for _, secrets := range [][]string{cfg.StaffKeys, cfg.Stripe.WebhookSecrets} {
		for i, secret := range secrets {
			secrets[i] = strings.TrimSpace(secret)
		}
	}
	if cfg.Mode == "live" {
		setList(&cfg.AskRepeats, "all")
		set(&cfg.MetricsAddr, defaultMetricsAddr)
		cfg.DrainDelay = cmp.Or(cfg.DrainDelay, drainDelay)
		return
	}
	if cfg.ClubToken == clubsim.DemoClientToken {
		cfg.setDemoClubs()
	}
	if cfg.Login.Secret == "" && cfg.Mode != "mock" {
		set(&cfg.Login.JWKSURL, cfg.demoLogin())
	}
	set(&cfg.MetricsAddr, "off")
	setList(&cfg.SealKeys, demoSealKey)
	setList(&cfg.StaffKeys, demoStaffKey)
	setList(&cfg.Operators, operatorEntry("demo", demoOperatorToken))
	setList(&cfg.WebhookSecret, demoWebhookSecret)
	setList(&cfg.AllowedOrigins, "*")
	setList(&cfg.ReturnSchemes, "*")
}

// setDemoClubs fills in what the operator of the simulated clubs tells about them.
func (cfg *Config) setDemoClubs() {
	catalogue, err := cfg.Catalogue.Read()
	if cfg.Clubs != "" || err != nil { // which preflight has reported
		return
	}
	cfg.Clubs, cfg.documents = mock.ClubsOf(catalogue), mock.Documents
}

// usesSandbox reports whether the card processor is the sandbox, of mock mode or at FRONTDESK_SANDBOX_URL.
func (cfg Config) usesSandbox() bool {
	return cfg.Mode == "mock" || cfg.Mode == "test" && cfg.SandboxURL != "" && cfg.Stripe.URL == ""
}

func (cfg Config) newKeyring() (*keyring.Keyring, error) {
	secrets := make([][]byte, len(cfg.SealKeys))
	for i, text := range cfg.SealKeys {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("key %d is not base64", i+1)
		}
		secrets[i] = secret
	}
	return keyring.New(secrets...)
}

// maxLaterDays: a payment due after more than a year is a typing error.
const maxLaterDays = 366

// methodPolicy decodes FRONTDESK_METHODS. What it leaves out has its default.
func (cfg Config) methodPolicy() (policy flows.MethodPolicy, err error) {
	if cfg.Mode == "live" {
		policy.Visitor = []flows.Method{flows.ByCard, flows.Free} // the club cannot collect from a visitor without identity
	}
	values, err := parts(cfg.Methods, "visitor:card+free", "visitor", "contact", "staff", "later-days")
	lists := map[flows.Audience]*[]flows.Method{
		flows.ToVisitor: &policy.Visitor, flows.ToContact: &policy.Contact, flows.ToStaff: &policy.Staff,
	}
	for _, audience := range flows.Audiences() {
		if text := values[string(audience)]; text != "" {
			methods, wrong := methodsOf(audience, text)
			*lists[audience], err = methods, errors.Join(err, wrong)
		}
	}
	if text := values["later-days"]; text != "" {
		days, wrong := strconv.Atoi(text)
		if wrong != nil || days < 1 || days > maxLaterDays {
			err = errors.Join(err, fmt.Errorf("has later-days:%s, which must be from 1 to %d", text, maxLaterDays))
		}
		policy.LaterDays = days
	}
	return policy, err
}

// methodsOf decodes the methods of an audience, such as card+free.
func methodsOf(audience flows.Audience, text string) (methods []flows.Method, err error) {
	for name := range strings.SplitSeq(text, "+") {
		method := flows.Method(strings.TrimSpace(name))
		switch {
		case !slices.Contains(flows.Methods(), method):
			err = errors.Join(err, fmt.Errorf("has %q for %s, which is not a method: it must be card, later, free or desk", method, audience))
		case method == flows.InPerson && audience != flows.ToStaff:
			err = errors.Join(err, fmt.Errorf("has desk for %s, which is for staff only", audience))
		}
		methods = append(methods, method)
	}
	return methods, err
}

// clubConfig returns Club with what FRONTDESK_CLUB_API says. What it leaves out is empty: the client then uses
// what the club system documents.
func (cfg Config) clubConfig() (club.Config, error) {
	values, err := parts(cfg.ClubAPI, "path-prefix:/api", "key-header", "token-path", "path-prefix")
	if header := values["key-header"]; header != "" && !httpguts.ValidHeaderFieldName(header) {
		err = errors.Join(err, fmt.Errorf("has key-header:%s, which is not the name of a header", header))
	}
	for _, name := range []string{"token-path", "path-prefix"} {
		if path := values[name]; path != "" && (path[0] != '/' || strings.ContainsAny(path, "?# ")) {
			err = errors.Join(err, fmt.Errorf("has %s:%s, which must be a path that begins with a slash", name, path))
		}
	}
	cfg.Club.GatewayKeyHeader, cfg.Club.TokenPath, cfg.Club.PathPrefix = values["key-header"], values["token-path"], values["path-prefix"]
	return cfg.Club, err
}

// asksRepeats reports whether an organisation's buyers are asked before they buy the same again.
func (cfg Config) asksRepeats(clientToken string) bool {
	named := slices.ContainsFunc(cfg.AskRepeats, func(name string) bool {
		name = strings.TrimSpace(name)
		return name == "all" || name == clientToken
	})
	return named || cfg.worldAsks != nil && cfg.worldAsks(clientToken)
}
