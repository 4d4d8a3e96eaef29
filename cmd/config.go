package cmd

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/keyring"
	"frontdesk/flows/registration"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/identity"
	"frontdesk/upstream/mock"
)

// Config is everything that can be configured in the gateway. Its fields are described
// in options. The zero value of a field means the default of the mode, which
// setDefaults fills in. Parts for other packages lack what build adds, such as the clock.
type Config struct {
	Mode                                  string
	Addr, OpsAddr, MetricsAddr, PublicURL string
	RedisURL                              string
	RedisAssumeDurable                    bool
	RedisWait                             int
	Club                                  club.Config
	ClubToken, ClubLimitHeaders, Clubs    string
	SandboxURL                            string
	SandboxSeed                           uint64
	StripePublicKey, StripeScriptURL      string
	Stripe                                cards.Config
	SealKeys, ForgetSealKeys              []string
	StaffKeys, Operators                  []string
	Login                                 identity.Config
	DrainDelay                            time.Duration
	WebhookSecret                         []string
	Subscribers                           string
	RateLimits                            string
	TrustedProxies, AllowedOrigins        []string
	ReturnSchemes                         []string
	Captcha                               captcha.Config
	SMS                                   registration.SMSBudgetConfig
	MethodsVisitor, MethodsContact        []string
	MethodsStaff                          []string
	LaterDays                             int
	CartRevision                          string
	AskRepeats                            []string
	LogLevel                              slog.Level
	TracesURL, TracesCompression          string
	TracesHeaders                         []string
	TracesCA, TracesCert, TracesKey       string

	assets    Assets
	worldAsks func(clientToken string) bool // whether a world of mock mode asks for AskRepeats; nil in the other modes
}

// options is the table of everything that can be configured in the gateway.
// docs/reference/configuration.md is generated from it.
func (cfg *Config) options() []option {
	return []option{
		{"mode", "FRONTDESK_MODE", oneOf(&cfg.Mode, "mock", "test", "live"), "mock", "mock: everything in this process, nothing real. test: the simulator and the sandbox in another process (frontdesk sim). live: the real club system, card processor and Redis."},
		{"addr", "FRONTDESK_ADDR", text(&cfg.Addr), ":8080", "Address on which the gateway listens."},
		{"ops-addr", "FRONTDESK_OPS_ADDR", text(&cfg.OpsAddr), defaultOpsAddr, "Address on which the gateway serves operators: loopback, or a network that only operators reach, because profiles need no token; off for none. Outside live mode several gateways may share the default: the first one serves."},
		{"metrics-addr", "FRONTDESK_METRICS_ADDR", text(&cfg.MetricsAddr), "", "Address on which the gateway serves /metrics and nothing else, without authentication: loopback, or a network that only Prometheus reaches; off for none. Default: 127.0.0.1:9091 in live mode; otherwise none, because FRONTDESK_OPS_ADDR serves /metrics too."},
		{"public-url", "FRONTDESK_PUBLIC_URL", text(&cfg.PublicURL), "", "Address under which browsers reach the gateway; with https, cookies are __Host- and Secure. Default: http://localhost and the port; required in live mode."},
		{"redis-url", "FRONTDESK_REDIS_URL", text(&cfg.RedisURL), "", "Address of Redis: redis://, redis+sentinel:// or redis+cluster://; with TLS rediss://, rediss+sentinel:// or rediss+cluster://. Live mode requires TLS, except for one server on loopback. Mock mode embeds its own Redis."},
		{"redis-assume-durable", "FRONTDESK_REDIS_ASSUME_DURABLE", yesNo(&cfg.RedisAssumeDurable), "", "Skip the durability check, for a provider that forbids CONFIG. Use only if the provider guarantees appendonly yes and appendfsync always."},
		{"redis-wait", "FRONTDESK_REDIS_WAIT", number(&cfg.RedisWait), "", "Replicas of Redis that must acknowledge each write (WAIT); a write with fewer is refused. Live mode then accepts appendfsync everysec."},
		{"club-url", "FRONTDESK_CLUB_URL", text(&cfg.Club.BaseURL), "", "Base address of the club system. Mock mode uses its simulator."},
		{"club-token", "FRONTDESK_CLUB_TOKEN", text(&cfg.ClubToken), "", "Client token, which identifies your organisation at the club system. Default: the demo organisation; required in live mode, as are the three credentials below."},
		{"club-client-id", "FRONTDESK_CLUB_CLIENT_ID", text(&cfg.Club.ClientID), "", "OAuth client id at the club system. Default: the demo organisation's."},
		{"club-client-secret", "FRONTDESK_CLUB_CLIENT_SECRET", text(&cfg.Club.ClientSecret), "", "OAuth client secret. Default: the demo organisation's."},
		{"club-gateway-key", "FRONTDESK_CLUB_GATEWAY_KEY", text(&cfg.Club.GatewayKey), "", "Key of the club system's API gateway. Default: the demo organisation's."},
		{"club-key-header", "FRONTDESK_CLUB_KEY_HEADER", text(&cfg.Club.GatewayKeyHeader), "x-gateway-api-key", "Header that carries the gateway key."},
		{"club-token-path", "FRONTDESK_CLUB_TOKEN_PATH", text(&cfg.Club.TokenPath), "/oauth/v2/token", "Path of the token endpoint, below the base address."},
		{"club-path-prefix", "FRONTDESK_CLUB_PATH_PREFIX", text(&cfg.Club.PathPrefix), "", "Path between the base address and the client token, such as /api."},
		{"club-sale-state", "FRONTDESK_CLUB_SALE_STATE", oneOf(&cfg.Club.SaleState, club.SaleStateMember, club.SaleStateInvoice, club.SaleStateCheck), club.SaleStateMember, "What shows that a sale is still open: state (the sale's state), invoice (an open sale has none) or check (the sale's check alone). Use check only if the club system refuses the check of a settled sale; otherwise a buyer can pay again for a sale that the desk has already settled."},
		{"club-sale-without-articles", "FRONTDESK_CLUB_SALE_WITHOUT_ARTICLES", yesNo(&cfg.Club.SaleWithoutArticles), "", "Accept sales that do not list their articles. A change to a cart that keeps its total then goes unnoticed."},
		{"club-limit-headers", "FRONTDESK_CLUB_LIMIT_HEADERS", oneOf(&cfg.ClubLimitHeaders, "on", "off", ""), "", "on: a 429 with the limit headers of the club system's API gateway (X-Rate-Limit-, X-Quota-, X-Spike-Arrest-) means that the call was not passed on; a payment is then recorded after the limit's reset. off: the payment is in doubt. Turn it on only if the club system's provider confirms it. Default: off in live mode, otherwise on."},
		{"clubs", "FRONTDESK_CLUBS", text(&cfg.Clubs), "", "Data about the clubs that the club system lacks, as YAML or JSON; set FRONTDESK_CLUBS_FILE to read it from a file (docs/how-to/describe-your-clubs.md). Default: the demo clubs' for the demo organisation; none in live mode."},
		{"sandbox-url", "FRONTDESK_SANDBOX_URL", text(&cfg.SandboxURL), "", "Address of the sandbox card processor of frontdesk sim, for test mode; its keys are then the defaults of those below. Mock mode embeds its own."},
		{"sandbox-seed", "FRONTDESK_SANDBOX_SEED", positive(&cfg.SandboxSeed), "",
			"Mock mode: seed of the sandbox's ids; the same calls in the same order then get the same ids. " +
				"Default: a random one, which is logged."},
		{"stripe-secret-key", "FRONTDESK_STRIPE_SECRET_KEY", text(&cfg.Stripe.SecretKey), "", "Stripe: secret or restricted key; in test mode a test key."},
		{"stripe-publishable-key", "FRONTDESK_STRIPE_PUBLISHABLE_KEY", text(&cfg.StripePublicKey), "", "Stripe: publishable key, for the buyer's browser."},
		{"stripe-webhook-secret", "FRONTDESK_STRIPE_WEBHOOK_SECRET", list(&cfg.Stripe.WebhookSecrets), "", "Stripe: signing secrets of the webhook endpoints that lead to /v1/webhooks/card; at most two, the second while one endpoint replaces another."},
		{"stripe-url", "FRONTDESK_STRIPE_URL", text(&cfg.Stripe.URL), "", "Stripe: another address of its API, for tests. It has precedence over FRONTDESK_SANDBOX_URL."},
		{"stripe-script-url", "FRONTDESK_STRIPE_SCRIPT_URL", text(&cfg.StripeScriptURL), "", "Stripe: another address of its library for browsers, for tests. Default: https://js.stripe.com/v3/, or /v3/ below FRONTDESK_STRIPE_URL or FRONTDESK_SANDBOX_URL."},
		{"seal-keys", "FRONTDESK_SEAL_KEYS", list(&cfg.SealKeys), "", "Keys that encrypt what Redis holds: base64 of at least 32 bytes each, the current key first. Default: a demo key; required in live mode, and in test mode unless FRONTDESK_SANDBOX_URL has the card processor."},
		{"forget-seal-keys", "FRONTDESK_FORGET_SEAL_KEYS", list(&cfg.ForgetSealKeys), "", "Ids of former seal keys, as frontdesk doctor shows them, whose records in Redis may stay unreadable. Without it no gateway starts while Redis holds records of a key that FRONTDESK_SEAL_KEYS lacks."},
		{"staff-keys", "FRONTDESK_STAFF_KEYS", list(&cfg.StaffKeys), "", "Keys that authenticate a kiosk or the desk as staff, at least 16 characters each. Default: demo-staff-key-1; none in live mode."},
		{"operators", "FRONTDESK_OPERATORS", list(&cfg.Operators), "", "Operators, each as name:hash, where the hash is the SHA-256 of a token in hexadecimal; frontdesk operators add prints an entry. Default: demo with the token demo-operator-token; required in live mode, unless FRONTDESK_OPS_ADDR is off."},
		{"identity-jwks-url", "FRONTDESK_IDENTITY_JWKS_URL", text(&cfg.Login.JWKSURL), "", "Address where the club's login publishes its signing keys (JWKS). Default: the simulator's, unless a secret is set; none in live mode."},
		{"identity-secret", "FRONTDESK_IDENTITY_SECRET", text(&cfg.Login.Secret), "", "Secret with which the club's login signs its tokens instead (HS256): at least 32 bytes."},
		{"identity-audience", "FRONTDESK_IDENTITY_AUDIENCE", text(&cfg.Login.Audience), "", "Audience (aud) that the login's tokens must name. Empty: not checked; required in live mode."},
		{"identity-issuer", "FRONTDESK_IDENTITY_ISSUER", text(&cfg.Login.Issuer), "", "Issuer (iss) that the login's tokens must have. Empty: not checked; required in live mode."},
		{"drain-delay", "FRONTDESK_DRAIN_DELAY", duration(&cfg.DrainDelay), "", "How long a stopping gateway keeps serving while /readyz returns 503, so that load balancers can take it out of rotation. Default: 10s in live mode, otherwise none."},
		{"webhook-secret", "FRONTDESK_WEBHOOK_SECRET", list(&cfg.WebhookSecret), "", "Secrets in the path to which the club system sends its events: 16 to 128 letters, digits, hyphens and underscores; at most two, the current one first. Default: demo-webhook-secret; none in live mode."},
		{"subscribers", "FRONTDESK_SUBSCRIBERS", text(&cfg.Subscribers), "", "Subscribers to the club system's events: a JSON array of objects with name, url, secret and optionally events."},
		{"rate-limits", "FRONTDESK_RATE_LIMITS", oneOf(&cfg.RateLimits, "on", "off", ""), "", "on: apply the request limits. off: no limits; live mode does not start. Default: on in live mode, otherwise off."},
		{"trusted-proxies", "FRONTDESK_TRUSTED_PROXIES", list(&cfg.TrustedProxies), "", "Networks (CIDR) or addresses of the proxies whose X-Forwarded-For is trusted."},
		{"captcha-url", "FRONTDESK_CAPTCHA_URL", text(&cfg.Captcha.URL), "", "Address that verifies captcha responses: the siteverify address of hCaptcha, Turnstile, reCAPTCHA or a compatible service. Empty: no captcha."},
		{"captcha-secret", "FRONTDESK_CAPTCHA_SECRET", text(&cfg.Captcha.Secret), "", "Secret of the captcha service."},
		{"captcha-site-key", "FRONTDESK_CAPTCHA_SITE_KEY", text(&cfg.Captcha.Widget.SiteKey), "", "Public key with which a page shows the captcha. GET /v1/config returns it to front ends."},
		{"captcha-provider", "FRONTDESK_CAPTCHA_PROVIDER", oneOf(&cfg.Captcha.Widget.Provider, captcha.HCaptcha, captcha.ReCAPTCHA, captcha.Turnstile, ""), "", "Provider of the captcha that the signup site shows: hcaptcha, recaptcha or turnstile. Default: by the host of FRONTDESK_CAPTCHA_URL."},
		{"sms-hourly", "FRONTDESK_SMS_HOURLY", number(&cfg.SMS.Hourly), "100", "Maximum number of SMS codes per hour for the visitors of one club, while rate limits are on."},
		{"sms-daily", "FRONTDESK_SMS_DAILY", number(&cfg.SMS.Daily), "400", "Maximum number of SMS codes in 24 hours for the visitors of one club."},
		{"sms-min-conversion", "FRONTDESK_SMS_MIN_CONVERSION", number(&cfg.SMS.MinConversion), "25", "Percentage of a club's SMS codes that visitors must enter; below it, no more are sent for a while. 0: not checked."},
		{"sms-organisation-hourly", "FRONTDESK_SMS_ORGANISATION_HOURLY", number(&cfg.SMS.OrganisationHourly), "", "Maximum number of SMS codes per hour for the visitors of all clubs together. Default: five times a club's."},
		{"sms-organisation-daily", "FRONTDESK_SMS_ORGANISATION_DAILY", number(&cfg.SMS.OrganisationDaily), "", "Maximum number of SMS codes in 24 hours for the visitors of all clubs together. Default: five times a club's."},
		{"sms-countries", "FRONTDESK_SMS_COUNTRIES", list(&cfg.SMS.Countries), "", "Countries whose mobile numbers can receive visitors' codes, such as FR,BE. Default: the club's own."},
		{"methods-visitor", "FRONTDESK_METHODS_VISITOR", list(&cfg.MethodsVisitor), "", "Payment methods for visitors: card, later, free. Default: card,free in live mode, otherwise all three."},
		{"methods-contact", "FRONTDESK_METHODS_CONTACT", list(&cfg.MethodsContact), "", "Payment methods for contacts identified by the club's login, an invitation or their own account: card, later, free. Default: all three."},
		{"methods-staff", "FRONTDESK_METHODS_STAFF", list(&cfg.MethodsStaff), "", "Payment methods for staff: card, later, free, desk. Default: all four."},
		{"later-days", "FRONTDESK_LATER_DAYS", number(&cfg.LaterDays), "90", "How many days ahead a payment by the method later may be due, from 1 to 366."},
		{"cart-revision", "FRONTDESK_CART_REVISION", oneOf(&cfg.CartRevision, "required", "optional", ""), "", "Whether a payment must name the revision of the cart that the buyer saw: required or optional. Default: required in live mode, otherwise optional."},
		{"ask-repeats", "FRONTDESK_ASK_REPEATS", list(&cfg.AskRepeats), "", "Organisations or worlds whose buyers are asked before they buy the same offer again within 24 hours: client tokens, all or none. Default: all in live mode, otherwise none. In mock mode, a world can also ask for it with its setting askRepeats."},
		{"log-level", "FRONTDESK_LOG_LEVEL", word(&cfg.LogLevel), "info", "debug (also a line for every call and, outside live mode, for every request), info (in live mode with a line for every request), warn or error."},
		{"otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", text(&cfg.TracesURL), "", "Base address of a trace collector (OTLP over HTTP), such as http://127.0.0.1:4318. Empty: no spans are exported."},
		{"otlp-headers", "OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_EXPORTER_OTLP_HEADERS", list(&cfg.TracesHeaders), "", "Headers for the collector, such as api-key=secret."},
		{"otlp-compression", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION OTEL_EXPORTER_OTLP_COMPRESSION", oneOf(&cfg.TracesCompression, "gzip", "none", ""), "", "Compression of exported spans: gzip or none."},
		{"otlp-certificate", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE OTEL_EXPORTER_OTLP_CERTIFICATE", text(&cfg.TracesCA), "", "File with the certificates that the collector's certificate is verified with. Default: the machine's."},
		{"otlp-client-certificate", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", text(&cfg.TracesCert), "", "File with the client certificate for the collector."},
		{"otlp-client-key", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY OTEL_EXPORTER_OTLP_CLIENT_KEY", text(&cfg.TracesKey), "", "File with the key of the client certificate."},
		{"allowed-origins", "FRONTDESK_ALLOWED_ORIGINS", list(&cfg.AllowedOrigins), "", "Other origins of front ends. * allows any page on this machine; live mode refuses it. Default: *; none in live mode."},
		{"return-schemes", "FRONTDESK_RETURN_SCHEMES", list(&cfg.ReturnSchemes), "", "Schemes of apps to which the card page may return (returnUrl), such as com.example.club: reverse domain names in lower case. Pages and universal links need none; see FRONTDESK_ALLOWED_ORIGINS. * allows every scheme with a dot; live mode refuses it. Default: *; none in live mode."},
	}
}

// Demo secrets are public. Live mode refuses them.
const (
	demoSealKey       = "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc="
	demoStaffKey      = "demo-staff-key-1"
	demoWebhookSecret = "demo-webhook-secret" // #nosec G101 -- public on purpose
	demoOperatorToken = "demo-operator-token" // #nosec G101 -- public on purpose
)

// setDefaults fills in what the mode may leave out. port is the gateway's,
// mockPort that of the simulator and the sandbox in mock mode.
func (cfg *Config) setDefaults(port, mockPort string) {
	cfg.Club.LimitHeaders = cfg.ClubLimitHeaders == "on" || cfg.ClubLimitHeaders == "" && cfg.Mode != "live"
	set := func(field *string, value string) { *field = cmp.Or(*field, value) }
	setList := func(field *[]string, values ...string) {
		if len(*field) == 0 {
			*field = values
		}
	}
	set(&cfg.PublicURL, "http://localhost:"+port)
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	if cfg.Mode == "mock" {
		at := "http://127.0.0.1:" + mockPort
		cfg.Club.BaseURL, cfg.SandboxURL = at+"/sim", at+"/sandbox"
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
		setList(&cfg.MethodsVisitor, string(flows.ByCard), string(flows.Free)) // the club cannot collect from a visitor without identity
		set(&cfg.CartRevision, "required")
		setList(&cfg.AskRepeats, "all")
		set(&cfg.MetricsAddr, defaultMetricsAddr)
		cfg.DrainDelay = cmp.Or(cfg.DrainDelay, drainDelay)
		return
	}
	if cfg.ClubToken == clubsim.DemoClientToken {
		set(&cfg.Clubs, mock.Clubs)
	}
	if cfg.Login.Secret == "" {
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

func (cfg Config) methodPolicy() flows.MethodPolicy {
	methods := func(names []string) (list []flows.Method) {
		for _, name := range names {
			list = append(list, flows.Method(strings.TrimSpace(name)))
		}
		return list
	}
	return flows.MethodPolicy{Visitor: methods(cfg.MethodsVisitor), Contact: methods(cfg.MethodsContact), Staff: methods(cfg.MethodsStaff), LaterDays: cfg.LaterDays}
}

// asksRepeats reports whether an organisation's buyers are asked before they buy the same again.
func (cfg Config) asksRepeats(clientToken string) bool {
	named := slices.ContainsFunc(cfg.AskRepeats, func(name string) bool {
		name = strings.TrimSpace(name)
		return name == "all" || name == clientToken
	})
	return named || cfg.worldAsks != nil && cfg.worldAsks(clientToken)
}
