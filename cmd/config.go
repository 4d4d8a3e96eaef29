package cmd

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/upstream/clubsim"
)

// Config is everything that can be configured of the gateway. An empty value
// means the default that the README's table names for the mode.
type Config struct {
	Mode               string        `help:"mock: everything in this process, nothing real. test: the outside world in another process (frontdesk sim). live: the real club system, processor and Redis." enum:"mock,test,live" default:"mock" env:"FRONTDESK_MODE"`
	Addr               string        `help:"Where the gateway listens." default:":8080" env:"FRONTDESK_ADDR"`
	OpsAddr            string        `help:"Where operators reach the gateway: a loopback address and port; off for none." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	PublicURL          string        `help:"Where browsers reach the gateway. Default: http://localhost and the port." env:"FRONTDESK_PUBLIC_URL"`
	RedisURL           string        `help:"redis://, redis+sentinel:// or redis+cluster:// address, rediss for TLS. Mock mode embeds its own." env:"FRONTDESK_REDIS_URL"`
	RedisAssumeDurable bool          `help:"The operator's word that Redis syncs every write (appendonly yes, appendfsync always), for a provider that forbids CONFIG." env:"FRONTDESK_REDIS_ASSUME_DURABLE"`
	RedisWait          int           `help:"How many replicas of Redis have to acknowledge what is written (WAIT), or else it is refused; live mode then accepts appendfsync everysec." name:"redis-wait" env:"FRONTDESK_REDIS_WAIT"`
	ClubURL            string        `help:"Base address of the club system." env:"FRONTDESK_CLUB_URL"`
	ClubToken          string        `help:"Client token: the organisation at the club system." env:"FRONTDESK_CLUB_TOKEN"`
	ClubClientID       string        `help:"OAuth client id at the club system." env:"FRONTDESK_CLUB_CLIENT_ID"`
	ClubClientSecret   string        `help:"OAuth client secret." env:"FRONTDESK_CLUB_CLIENT_SECRET"`
	ClubGatewayKey     string        `help:"Key of the club system's API gateway." env:"FRONTDESK_CLUB_GATEWAY_KEY"`
	ClubKeyHeader      string        `help:"Header that carries the gateway key." default:"x-gateway-api-key" env:"FRONTDESK_CLUB_KEY_HEADER"`
	ClubTokenPath      string        `help:"Where tokens are fetched, below the base address." default:"/oauth/v2/token" env:"FRONTDESK_CLUB_TOKEN_PATH"`
	ClubPathPrefix     string        `help:"What stands between the base address and the client token, such as /api." env:"FRONTDESK_CLUB_PATH_PREFIX"`
	CardProcessor      string        `help:"Card processor." enum:"sandbox,stripe" default:"sandbox" env:"FRONTDESK_CARD_PROCESSOR"`
	SandboxURL         string        `help:"Address of the sandbox processor." env:"FRONTDESK_SANDBOX_URL"`
	StripeSecretKey    string        `help:"Stripe: secret or restricted key." env:"FRONTDESK_STRIPE_SECRET_KEY"`
	StripePublicKey    string        `help:"Stripe: publishable key, for the buyer's browser." name:"stripe-publishable-key" env:"FRONTDESK_STRIPE_PUBLISHABLE_KEY"`
	StripeHookSecret   string        `help:"Stripe: signing secret of the webhook endpoint." name:"stripe-webhook-secret" env:"FRONTDESK_STRIPE_WEBHOOK_SECRET"`
	StripeURL          string        `help:"Stripe: another address of its API, for tests." env:"FRONTDESK_STRIPE_URL"`
	SealKeys           []string      `help:"Keys that seal what Redis keeps: base64 of at least 32 bytes each, the current one first." env:"FRONTDESK_SEAL_KEYS"`
	StaffKeys          []string      `help:"Keys by which a kiosk or the desk proves to be staff, at least 16 characters each." env:"FRONTDESK_STAFF_KEYS"`
	IdentityJWKSURL    string        `help:"Where the club's own login publishes the keys of its tokens (JWKS)." name:"identity-jwks-url" env:"FRONTDESK_IDENTITY_JWKS_URL"`
	IdentitySecret     string        `help:"What the club's own login signs its tokens with instead: at least 32 bytes (HS256)." env:"FRONTDESK_IDENTITY_SECRET"`
	IdentityAudience   string        `help:"What the aud of the login's tokens has to name; not asked for when empty." env:"FRONTDESK_IDENTITY_AUDIENCE"`
	IdentityIssuer     string        `help:"What the iss of the login's tokens has to be; not asked for when empty." env:"FRONTDESK_IDENTITY_ISSUER"`
	DrainDelay         time.Duration `help:"How long the gateway goes on to serve after it was told to stop and answers /readyz with 503, so that proxies notice. Default: 10s in live mode, else none." env:"FRONTDESK_DRAIN_DELAY"`
	WebhookSecret      []string      `help:"Secrets in the path to which the club system sends its events, at most two, the current one first." env:"FRONTDESK_WEBHOOK_SECRET"`
	Subscribers        string        `help:"Who is told of the club system's events: a JSON array of name, url, secret and, if not all are wanted, events." env:"FRONTDESK_SUBSCRIBERS"`
	RateLimits         string        `help:"on: requests are counted, and too many are refused. off: not in live mode. Default: on in live mode alone." enum:"on,off," default:"" env:"FRONTDESK_RATE_LIMITS"`
	TrustedProxies     []string      `help:"Networks (CIDR) of the proxies that are believed to say in X-Forwarded-For where a request comes from." env:"FRONTDESK_TRUSTED_PROXIES"`
	CaptchaURL         string        `help:"Where answers to a challenge (captcha) are verified: the siteverify address of hCaptcha, Turnstile, reCAPTCHA or the like. Without one nobody is challenged." name:"challenge-url" env:"FRONTDESK_CAPTCHA_URL"`
	CaptchaSecret      string        `help:"The secret that goes with it." env:"FRONTDESK_CAPTCHA_SECRET"`
	SMSHourly          int           `help:"SMS codes for the visitors of one club in an hour at most, where requests are counted." name:"sms-hourly" default:"100" env:"FRONTDESK_SMS_HOURLY"`
	SMSDaily           int           `help:"SMS codes for the visitors of one club in 24 hours at most." name:"sms-daily" default:"400" env:"FRONTDESK_SMS_DAILY"`
	SMSMinConversion   int           `help:"Percent of a club's SMS codes that have to be entered, or else no more are sent for a while; 0: that is not looked at." name:"sms-min-conversion" default:"25" env:"FRONTDESK_SMS_MIN_CONVERSION"`
	LogLevel           slog.Level    `help:"How much is logged: debug (a line for every request and every call), info, warn or error." default:"info" env:"FRONTDESK_LOG_LEVEL"`
	TracesURL          string        `help:"Where the spans of traces are sent (OTLP over HTTP): a collector's base address, such as http://127.0.0.1:4318. Without one no span is kept." name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	TracesHeaders      []string      `help:"Headers for the collector, such as api-key=secret." name:"otlp-headers" env:"OTEL_EXPORTER_OTLP_TRACES_HEADERS,OTEL_EXPORTER_OTLP_HEADERS"`
	TracesCompress     string        `help:"How spans are sent: gzip or none." name:"otlp-compression" enum:"gzip,none," default:"" env:"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION,OTEL_EXPORTER_OTLP_COMPRESSION"`
	TracesCA           string        `help:"File with the certificates by which the collector is trusted, instead of the machine's." name:"otlp-certificate" env:"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE,OTEL_EXPORTER_OTLP_CERTIFICATE"`
	TracesCert         string        `help:"File with the certificate by which the collector knows the gateway." name:"otlp-client-certificate" env:"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE,OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"`
	TracesKey          string        `help:"File with its key." name:"otlp-client-key" env:"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY,OTEL_EXPORTER_OTLP_CLIENT_KEY"`
	AllowedOrigins     []string      `help:"Other origins of front ends; * stands for any page on this machine (not in live mode)." env:"FRONTDESK_ALLOWED_ORIGINS"`
}

// demoSealKey seals nothing of value; live mode refuses it.
const demoSealKey = "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc="

// demoStaffKey lets front-end developers be staff; live mode refuses it.
const demoStaffKey = "demo-staff-key-1"

// minStaffKeyLength is what nobody can try out, in characters.
const minStaffKeyLength = 16

// maxReplicas of one primary that anybody waits for: who means more means something else.
const maxReplicas = 9

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
	if cfg.Mode != "mock" {
		found.need(cfg.RedisURL, "FRONTDESK_REDIS_URL", "the Redis that the gateways share, such as redis://127.0.0.1:6379")
		where := "the club system, or the simulator's http://127.0.0.1:8081/sim"
		if cfg.Mode == "live" {
			where = "the club system's https address"
		}
		found.need(cfg.ClubURL, "FRONTDESK_CLUB_URL", where)
	}
	if _, err := store.Connect(cfg.RedisURL); err != nil && cfg.RedisURL != "" {
		found.add("FRONTDESK_REDIS_URL", "cannot be used: %v", err)
	}
	if cfg.RedisWait < 0 || cfg.RedisWait > maxReplicas || cfg.Mode == "mock" && cfg.RedisWait > 0 {
		found.add("FRONTDESK_REDIS_WAIT", "has to be from 0 to %d, and 0 in mock mode, whose Redis has no replicas", maxReplicas)
	}
	if cfg.Mode == "mock" && cfg.CardProcessor != "sandbox" {
		found.add("FRONTDESK_CARD_PROCESSOR", "has to be sandbox: mock mode has no other; use FRONTDESK_MODE=test")
	}
	if cfg.CardProcessor == "stripe" || cfg.Mode == "live" {
		found.need(cfg.StripeSecretKey, "FRONTDESK_STRIPE_SECRET_KEY", "a secret or restricted key of the account")
		found.need(cfg.StripePublicKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY", "the publishable key that goes with it")
		found.need(cfg.StripeHookSecret, "FRONTDESK_STRIPE_WEBHOOK_SECRET", "the signing secret of the webhook endpoint /v1/webhooks/card")
	}
	if cfg.CardProcessor == "stripe" && cfg.Mode == "test" && cfg.StripeSecretKey != "" && !strings.Contains(cfg.StripeSecretKey, "_test_") {
		found.add("FRONTDESK_STRIPE_SECRET_KEY", "is a live key: test mode takes no real money")
	}
	if cfg.Mode == "test" && cfg.CardProcessor == "sandbox" {
		found.need(cfg.SandboxURL, "FRONTDESK_SANDBOX_URL", "the sandbox processor, such as http://127.0.0.1:8081/sandbox")
	}
	cfg.validateStaffKeys(&found)
	cfg.validateIdentity(&found)
	found = append(found, cfg.validateWebhooks()...)
	found = append(found, cfg.validateLimits()...)
	cfg.validateTraces(&found)
	if _, err := keyring(cfg.SealKeys); err != nil && len(cfg.SealKeys) > 0 {
		found.add("FRONTDESK_SEAL_KEYS", "cannot be used: %v", err)
	}
	if cfg.Mode == "live" {
		cfg.validateLive(&found)
	} else {
		cfg.validateAddressForms(&found)
	}
	return found
}

func (cfg Config) validateStaffKeys(found *problems) {
	for i, key := range cfg.StaffKeys {
		if len(strings.TrimSpace(key)) < minStaffKeyLength {
			found.add("FRONTDESK_STAFF_KEYS", "has a key of fewer than %d characters: key %d", minStaffKeyLength, i+1)
		}
	}
}

// setDefaults fills in what mock and test mode need not be told.
// port is where the gateway listens, doubles the port where mock mode asks the
// simulator and the sandbox.
func (cfg *Config) setDefaults(port, doubles string) {
	here := "http://127.0.0.1:" + doubles
	set := func(value *string, otherwise string) {
		if *value == "" {
			*value = otherwise
		}
	}
	set(&cfg.PublicURL, "http://localhost:"+port)
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	if cfg.Mode == "mock" {
		cfg.ClubURL, cfg.SandboxURL = here+"/sim", here+"/sandbox"
	}
	set(&cfg.ClubToken, clubsim.DemoClientToken)
	set(&cfg.ClubClientID, clubsim.DemoClientID)
	set(&cfg.ClubClientSecret, clubsim.DemoClientSecret)
	set(&cfg.ClubGatewayKey, clubsim.DemoGatewayKey)
	if cfg.IdentityJWKSURL == "" && cfg.IdentitySecret == "" && cfg.Mode != "live" {
		cfg.IdentityJWKSURL = cfg.demoLogin()
	}
	if len(cfg.SealKeys) == 0 {
		cfg.SealKeys = []string{demoSealKey}
	}
	if len(cfg.StaffKeys) == 0 && cfg.Mode != "live" {
		cfg.StaffKeys = []string{demoStaffKey}
	}
	for i, key := range cfg.StaffKeys {
		cfg.StaffKeys[i] = strings.TrimSpace(key)
	}
	if len(cfg.WebhookSecret) == 0 && cfg.Mode != "live" {
		cfg.WebhookSecret = []string{demoWebhookSecret}
	}
	if cfg.DrainDelay == 0 && cfg.Mode == "live" {
		cfg.DrainDelay = drainDelay
	}
	if len(cfg.AllowedOrigins) == 0 && cfg.Mode != "live" {
		cfg.AllowedOrigins = []string{"*"}
	}
}

func keyring(encoded []string) (*flows.Keyring, error) {
	secrets := make([][]byte, len(encoded))
	for i, text := range encoded {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("key %d is not base64", i+1)
		}
		secrets[i] = secret
	}
	return flows.NewKeyring(secrets...)
}
