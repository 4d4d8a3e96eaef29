// Frontdesk is the back end of a fitness club's signup website and app; see
// README.md. This file reads flags and environment into one Config, puts the
// parts together and runs them. It is the only place that reads the
// environment and the clock.
package main

import (
	"context"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/cards/stripe"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

//go:embed openapi.yaml
var contract []byte

//go:embed web-example
var site embed.FS

// Config is everything that can be configured of the gateway. An empty value
// means the default that the README's table names for the mode.
type Config struct {
	Mode             string   `help:"mock: everything in this process, nothing real. test: the outside world in another process (frontdesk sim). live: the real club system, processor and Redis." enum:"mock,test,live" default:"mock" env:"FRONTDESK_MODE"`
	Addr             string   `help:"Where the gateway listens." default:":8080" env:"FRONTDESK_ADDR"`
	OpsAddr          string   `help:"Where operators reach the gateway: a loopback address and port; off for none." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	PublicURL        string   `help:"Where browsers reach the gateway. Default: http://localhost and the port." env:"FRONTDESK_PUBLIC_URL"`
	RedisURL         string   `help:"redis://, redis+sentinel:// or redis+cluster:// address, rediss for TLS. Mock mode embeds its own." env:"FRONTDESK_REDIS_URL"`
	ClubURL          string   `help:"Base address of the club system." env:"FRONTDESK_CLUB_URL"`
	ClubToken        string   `help:"Client token: the organisation at the club system." env:"FRONTDESK_CLUB_TOKEN"`
	ClubClientID     string   `help:"OAuth client id at the club system." env:"FRONTDESK_CLUB_CLIENT_ID"`
	ClubClientSecret string   `help:"OAuth client secret." env:"FRONTDESK_CLUB_CLIENT_SECRET"`
	ClubGatewayKey   string   `help:"Key of the club system's API gateway." env:"FRONTDESK_CLUB_GATEWAY_KEY"`
	ClubKeyHeader    string   `help:"Header that carries the gateway key." default:"x-gateway-api-key" env:"FRONTDESK_CLUB_KEY_HEADER"`
	ClubTokenPath    string   `help:"Where tokens are fetched, below the base address." default:"/oauth/v2/token" env:"FRONTDESK_CLUB_TOKEN_PATH"`
	ClubPathPrefix   string   `help:"What stands between the base address and the client token, such as /api." env:"FRONTDESK_CLUB_PATH_PREFIX"`
	CardProcessor    string   `help:"Card processor." enum:"sandbox,stripe" default:"sandbox" env:"FRONTDESK_CARD_PROCESSOR"`
	SandboxURL       string   `help:"Address of the sandbox processor." env:"FRONTDESK_SANDBOX_URL"`
	StripeSecretKey  string   `help:"Stripe: secret or restricted key." env:"FRONTDESK_STRIPE_SECRET_KEY"`
	StripePublicKey  string   `help:"Stripe: publishable key, for the buyer's browser." name:"stripe-publishable-key" env:"FRONTDESK_STRIPE_PUBLISHABLE_KEY"`
	StripeHookSecret string   `help:"Stripe: signing secret of the webhook endpoint." name:"stripe-webhook-secret" env:"FRONTDESK_STRIPE_WEBHOOK_SECRET"`
	StripeURL        string   `help:"Stripe: another address of its API, for tests." env:"FRONTDESK_STRIPE_URL"`
	SealKeys         []string `help:"Keys that seal what Redis keeps: base64 of at least 32 bytes each, the current one first." env:"FRONTDESK_SEAL_KEYS"`
	StaffKeys        []string `help:"Keys by which a kiosk or the desk proves to be staff, at least 16 characters each." env:"FRONTDESK_STAFF_KEYS"`
	IdentityJWKSURL  string   `help:"Where the club's own login publishes the keys of its tokens (JWKS)." name:"identity-jwks-url" env:"FRONTDESK_IDENTITY_JWKS_URL"`
	IdentitySecret   string   `help:"What the club's own login signs its tokens with instead: at least 32 bytes (HS256)." env:"FRONTDESK_IDENTITY_SECRET"`
	IdentityAudience string   `help:"What the aud of the login's tokens has to name; not asked for when empty." env:"FRONTDESK_IDENTITY_AUDIENCE"`
	IdentityIssuer   string   `help:"What the iss of the login's tokens has to be; not asked for when empty." env:"FRONTDESK_IDENTITY_ISSUER"`
	RateLimits       string   `help:"on: requests are counted, and too many are refused. off: not in live mode. Default: on in live mode alone." enum:"on,off," default:"" env:"FRONTDESK_RATE_LIMITS"`
	TrustedProxies   []string `help:"Networks (CIDR) of the proxies that are believed to say in X-Forwarded-For where a request comes from." env:"FRONTDESK_TRUSTED_PROXIES"`
	ChallengeURL     string   `help:"Where answers to a challenge (captcha) are verified: the siteverify address of hCaptcha, Turnstile, reCAPTCHA or the like. Without one nobody is challenged." name:"challenge-url" env:"FRONTDESK_CHALLENGE_URL"`
	ChallengeSecret  string   `help:"The secret that goes with it." env:"FRONTDESK_CHALLENGE_SECRET"`
	SMSHourly        int      `help:"SMS codes for the visitors of one club in an hour at most, where requests are counted." name:"sms-hourly" default:"100" env:"FRONTDESK_SMS_HOURLY"`
	SMSDaily         int      `help:"SMS codes for the visitors of one club in 24 hours at most." name:"sms-daily" default:"400" env:"FRONTDESK_SMS_DAILY"`
	SMSValidated     int      `help:"Percent of a club's SMS codes that have to be entered, or else no more are sent for a while; 0: that is not looked at." name:"sms-validated" default:"25" env:"FRONTDESK_SMS_VALIDATED"`
	AllowedOrigins   []string `help:"Other origins of front ends; * stands for any page on this machine (not in live mode)." env:"FRONTDESK_ALLOWED_ORIGINS"`
}

// demoSealKey seals nothing of value; live mode refuses it.
const demoSealKey = "ZnJvbnRkZXNrLWRlbW8tc2VhbC1rZXktMDEyMzQ1Njc="

// demoStaffKey lets front-end developers be staff; live mode refuses it.
const demoStaffKey = "demo-staff-key-1"

// leastStaffKey is what nobody can try out, in characters.
const leastStaffKey = 16

type commands struct {
	Serve    serveCommand    `cmd:"" default:"withargs" help:"Run the gateway (the default)."`
	Sim      simCommand      `cmd:"" help:"Run the simulator of the club system and the sandbox card processor alone."`
	Doctor   doctorCommand   `cmd:"" help:"Check the configuration, Redis, the club system and the card processor: a line each; exit 1 when one fails."`
	Payments paymentsCommand `cmd:"" help:"Look at payments that are in doubt, and decide on them, through a running gateway."`
	Invite   inviteCommand   `cmd:"" help:"Print an invitation link, with which a contact of the club registers without a login, once; through a running gateway."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

type serveCommand struct{ Config }

type simCommand struct {
	Addr string `help:"Where the simulator listens." default:"127.0.0.1:8081" env:"FRONTDESK_SIM_ADDR"`
}

type versionCommand struct{}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal asks, a second one kills
	command := kong.Parse(&commands{}, kong.Name("frontdesk"),
		kong.Description("The back end of a fitness club's signup. Started with nothing configured, it is its own mock."),
		kong.Resolvers(kong.ResolverFunc(secretFile)), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := command.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "frontdesk: "+err.Error())
		stop()
		os.Exit(1)
	}
}

// secretFile reads FRONTDESK_X from the file that FRONTDESK_X_FILE names.
func secretFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		path := os.Getenv(name + "_FILE")
		switch {
		case path == "":
			continue
		case os.Getenv(name) != "":
			return nil, fmt.Errorf("%s and %s_FILE are both set; which one counts?", name, name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s_FILE: %w", name, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return nil, nil
}

func (c *versionCommand) Run() error {
	version := "development"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Println("frontdesk", version)
	return nil
}

func (c *serveCommand) Run(ctx context.Context) error { return run(ctx, c.Config) }

// run runs the gateway until the context ends.
func run(ctx context.Context, cfg Config) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	redis.SetLogger(redisLog{log})
	if err := cfg.check(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return err
	}
	cfg.setDefaults(listener)
	operators, err := cfg.listenForOperators(log)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	group, ctx := errgroup.WithContext(ctx)
	stopping := func() {}
	if cfg.Mode == "mock" {
		outside := newOutsideWorld(cfg.PublicURL, log)
		stopping = outside.close
		outside.mount(mux)
		if cfg.RedisURL, err = embedRedis(ctx, group); err != nil {
			return err
		}
	}
	gateway, ops, worker, err := cfg.build(log)
	if err != nil {
		return err
	}
	mux.Handle("/", gateway)
	group.Go(func() error { return serve(ctx, listener, mux, stopping) })
	if operators != nil {
		opsMux := http.NewServeMux()
		opsMux.Handle("/ops/", ops)
		group.Go(func() error { return serve(ctx, operators, opsMux, func() {}) })
	}
	group.Go(func() error { return worker.Run(ctx) })
	cfg.greet(os.Stdout)
	return group.Wait()
}

// redisLog takes what the Redis client has to say into the one log.
type redisLog struct{ *slog.Logger }

func (l redisLog) Printf(_ context.Context, format string, args ...any) {
	l.Warn("redis client", "says", fmt.Sprintf(format, args...))
}

// check lists everything that is missing or unsafe for the mode, at once.
func (cfg Config) check() error {
	var problems []error
	need := func(value, name, what string) {
		if value == "" {
			problems = append(problems, fmt.Errorf("%s is missing: %s", name, what))
		}
	}
	if cfg.Mode != "mock" {
		need(cfg.RedisURL, "FRONTDESK_REDIS_URL", "the Redis that the gateways share, such as redis://127.0.0.1:6379")
		need(cfg.ClubURL, "FRONTDESK_CLUB_URL", "the club system, or the simulator's http://127.0.0.1:8081/sim")
	}
	if cfg.Mode == "mock" && cfg.CardProcessor != "sandbox" {
		problems = append(problems, errors.New("FRONTDESK_CARD_PROCESSOR: mock mode has the sandbox alone; use FRONTDESK_MODE=test"))
	}
	if cfg.CardProcessor == "stripe" {
		need(cfg.StripeSecretKey, "FRONTDESK_STRIPE_SECRET_KEY", "a secret or restricted key of the account")
		need(cfg.StripePublicKey, "FRONTDESK_STRIPE_PUBLISHABLE_KEY", "the publishable key that goes with it")
		need(cfg.StripeHookSecret, "FRONTDESK_STRIPE_WEBHOOK_SECRET", "the signing secret of the webhook endpoint /v1/webhooks/card")
		if cfg.Mode == "test" && !strings.Contains(cfg.StripeSecretKey, "_test_") {
			problems = append(problems, errors.New("FRONTDESK_STRIPE_SECRET_KEY is a live key: test mode takes no real money"))
		}
	}
	if cfg.Mode == "test" && cfg.CardProcessor == "sandbox" {
		need(cfg.SandboxURL, "FRONTDESK_SANDBOX_URL", "the sandbox processor, such as http://127.0.0.1:8081/sandbox")
	}
	if cfg.Mode == "live" {
		need(cfg.PublicURL, "FRONTDESK_PUBLIC_URL", "where browsers reach the gateway, with https")
		need(cfg.ClubToken, "FRONTDESK_CLUB_TOKEN", "the organisation's client token")
		need(cfg.ClubClientID, "FRONTDESK_CLUB_CLIENT_ID", "the OAuth client")
		need(cfg.ClubClientSecret, "FRONTDESK_CLUB_CLIENT_SECRET", "the OAuth client's secret")
		need(cfg.ClubGatewayKey, "FRONTDESK_CLUB_GATEWAY_KEY", "the key of the club system's API gateway")
		need(strings.Join(cfg.SealKeys, ""), "FRONTDESK_SEAL_KEYS", "keys of your own, such as from: openssl rand -base64 32")
		if cfg.CardProcessor == "sandbox" {
			problems = append(problems, errors.New("FRONTDESK_CARD_PROCESSOR=sandbox takes no real money"))
		}
		problems = append(problems, errors.New("live mode cannot start yet: this version does not check what a Redis that holds payments must promise"))
	}
	problems = append(problems, cfg.checkStaffKeys()...)
	problems = append(problems, cfg.checkIdentity()...)
	problems = append(problems, cfg.checkLimits()...)
	if _, err := keyring(cfg.SealKeys); err != nil && len(cfg.SealKeys) > 0 {
		problems = append(problems, fmt.Errorf("FRONTDESK_SEAL_KEYS: %w", err))
	}
	if len(problems) > 0 {
		return fmt.Errorf("cannot start in %s mode:\n%w", cfg.Mode, errors.Join(problems...))
	}
	return nil
}

func (cfg Config) checkStaffKeys() (problems []error) {
	for i, key := range cfg.StaffKeys {
		if len(strings.TrimSpace(key)) < leastStaffKey {
			problems = append(problems, fmt.Errorf("FRONTDESK_STAFF_KEYS: key %d has fewer than %d characters", i+1, leastStaffKey))
		}
		if strings.TrimSpace(key) == demoStaffKey && cfg.Mode == "live" {
			problems = append(problems, fmt.Errorf("FRONTDESK_STAFF_KEYS: key %d is the demo key, which everybody knows", i+1))
		}
	}
	return problems
}

// setDefaults fills in what mock and test mode need not be told.
func (cfg *Config) setDefaults(listener net.Listener) {
	port := listener.Addr().(*net.TCPAddr).Port
	here := fmt.Sprintf("http://127.0.0.1:%d", port)
	set := func(value *string, otherwise string) {
		if *value == "" {
			*value = otherwise
		}
	}
	set(&cfg.PublicURL, fmt.Sprintf("http://localhost:%d", port))
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
	if len(cfg.AllowedOrigins) == 0 {
		cfg.AllowedOrigins = []string{"*"}
	}
}

// build puts the gateway together, from the outside in.
func (cfg Config) build(log *slog.Logger) (gateway, ops http.Handler, worker *flows.Worker, err error) {
	keys, err := keyring(cfg.SealKeys)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("FRONTDESK_SEAL_KEYS: %w", err)
	}
	connection, err := store.Connect(cfg.RedisURL)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("FRONTDESK_REDIS_URL: %w", err)
	}
	pages, err := fs.Sub(site, "web-example")
	if err != nil {
		return nil, nil, nil, err
	}
	proxies, err := handlers.ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("FRONTDESK_TRUSTED_PROXIES: %w", err)
	}
	clubSystem := cfg.clubSystem(log)
	processor, err := cfg.processor()
	if err != nil {
		return nil, nil, nil, err
	}
	records := store.New(store.Config{Redis: connection, Keys: keys})
	queue := flows.NewQueue(connection)
	catalogue := flows.NewCatalogue(clubSystem)
	payments := flows.NewPayments(flows.PaymentsConfig{
		Store: records, Queue: queue, Club: clubSystem.Money(), Aside: clubSystem, Cards: processor, Keys: keys,
		Environment: cfg.Mode, Rule: cfg.rule(), WebhookURL: cfg.PublicURL + "/v1/webhooks/card", Now: time.Now, Log: log,
	})
	guard := cfg.smsGuard(records, log)
	registrations := flows.NewRegistrations(flows.RegistrationsConfig{
		Store: records, Queue: queue, Club: clubSystem, Catalogue: catalogue, Payments: payments, SMS: guard,
		PublicURL: cfg.PublicURL, Now: time.Now, Log: log,
	})
	contacts := flows.NewContacts(flows.ContactsConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Now: time.Now})
	changes := flows.NewChanges(records)
	worker = flows.NewWorker(flows.WorkerConfig{Store: records, Queue: queue, Payments: payments, Changes: changes, Now: time.Now, After: time.After, Log: log})
	transfers := flows.NewTransfers(flows.TransfersConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Keys: keys, SMS: guard, Now: time.Now, Log: log})
	gateway, err = handlers.New(handlers.Config{
		Registrations: registrations, Payments: payments, Catalogue: catalogue, Contacts: contacts, Transfers: transfers,
		Changes: changes, Identity: cfg.login(), Store: records, Cards: processor,
		Contract: contract, Site: pages, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock",
		PublicURL: cfg.PublicURL, AllowedOrigins: cfg.AllowedOrigins, StaffKeys: cfg.StaffKeys, PublishableKey: cfg.StripePublicKey,
		Challenge: cfg.challenge(), RateLimits: cfg.limited(), TrustedProxies: proxies,
		Now: time.Now, After: time.After, Log: log,
	})
	return gateway, handlers.NewOps(handlers.OpsConfig{
		Payments: payments, Contacts: contacts, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock", PublicURL: cfg.PublicURL, Log: log,
	}), worker, err
}

// clubSystem makes the client of the club system.
func (cfg Config) clubSystem(log *slog.Logger) *club.Client {
	return club.New(club.Config{
		BaseURL: cfg.ClubURL, ClientID: cfg.ClubClientID, ClientSecret: cfg.ClubClientSecret, GatewayKey: cfg.ClubGatewayKey,
		GatewayKeyHeader: cfg.ClubKeyHeader, TokenPath: cfg.ClubTokenPath, PathPrefix: cfg.ClubPathPrefix,
		Now: time.Now, Logger: log,
	})
}

// rule tells how the simulator's sales show that they were paid; the real club
// system's have to be calibrated.
func (cfg Config) rule() *flows.Rule {
	if cfg.Mode == "live" {
		return nil
	}
	return &flows.Rule{Conditions: []flows.Condition{{What: flows.OfSaleState, Before: "building", After: "settled"}}}
}

// processor makes the adapter of the configured card processor.
func (cfg Config) processor() (cards.Processor, error) {
	if cfg.CardProcessor == "sandbox" {
		return sandbox.New(sandbox.Config{URL: cfg.SandboxURL, Now: time.Now}), nil
	}
	processor, err := stripe.New(stripe.Config{
		SecretKey: cfg.StripeSecretKey, WebhookSecret: cfg.StripeHookSecret, URL: cfg.StripeURL, Now: time.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("FRONTDESK_CARD_PROCESSOR=stripe: %w", err)
	}
	return processor, nil
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

// outsideWorld is what Frontdesk stands in front of, as doubles in this process.
type outsideWorld struct {
	club  *clubsim.Server
	cards *sandbox.Server
}

// newOutsideWorld makes the doubles; base is where browsers reach this process.
func newOutsideWorld(base string, log *slog.Logger) outsideWorld {
	return outsideWorld{
		club:  clubsim.New(clubsim.Config{Now: time.Now, Logger: log}),
		cards: sandbox.NewServer(sandbox.ServerConfig{Now: time.Now, BaseURL: base + "/sandbox", Logger: log}),
	}
}

func (o outsideWorld) mount(mux *http.ServeMux) {
	mux.Handle("/sim/", http.StripPrefix("/sim", o.club))
	mux.Handle("/sandbox/", http.StripPrefix("/sandbox", o.cards))
}

func (o outsideWorld) close() {
	o.club.Close()
	o.cards.Close()
}

// Run serves the outside world alone, for gateways in test mode.
func (c *simCommand) Run(ctx context.Context) error {
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	outside := newOutsideWorld(base, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	mux := http.NewServeMux()
	outside.mount(mux)
	fmt.Printf("The club system's simulator is at %s/sim, the sandbox card processor at %s/sandbox.\n", base, base)
	greetDemo(os.Stdout)
	return serve(ctx, listener, mux, outside.close)
}

// embedRedis runs a Redis in this process. Its records expire only as its
// clock is told to go on.
func embedRedis(ctx context.Context, group *errgroup.Group) (url string, err error) {
	embedded := miniredis.NewMiniRedis()
	if err := embedded.Start(); err != nil {
		return "", err
	}
	group.Go(func() error {
		const tick = time.Second // the finest expiry that anything here relies on
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil // it ends with the process, after those who still write to it
			case <-ticker.C:
				embedded.FastForward(tick)
			}
		}
	})
	return "redis://" + embedded.Addr(), nil
}

// The times that a server grants.
const (
	headerTimeout = 5 * time.Second  // a client that is slower than this to say what it wants wants to waste ours
	readTimeout   = 15 * time.Second // bodies are small
	writeTimeout  = 90 * time.Second // above the longest request
	idleTimeout   = 2 * time.Minute  // above what the usual proxies keep
	// drain: requests under way end by themselves, a payment's POST after 30 s at most.
	drain = 45 * time.Second
)

// serve serves until the context ends, and then lets the requests under way
// end; stopping tells what keeps them waiting on purpose.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, stopping func()) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	server.RegisterOnShutdown(stopping)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	return server.Shutdown(ctx)
}

// greet says what runs where.
func (cfg Config) greet(w io.Writer) {
	if cfg.Mode != "mock" {
		fmt.Fprintf(w, "Frontdesk (%s mode) is at %s, before the club system at %s.\n", cfg.Mode, cfg.PublicURL, cfg.ClubURL)
		return
	}
	fmt.Fprintf(w, `Frontdesk, mock mode: nothing here is real, and all of it is gone when you stop it.

  Signup site         %[1]s/
  API                 %[1]s/v1        documentation: %[1]s/docs
  Club system         %[1]s/sim       (simulated)    control: %[1]s/sim/demo/_control/
  Card processor      %[1]s/sandbox   (sandbox)      payments: %[1]s/sandbox/payments

`, cfg.PublicURL)
	greetDemo(w)
	for _, key := range cfg.StaffKeys {
		if key == demoStaffKey {
			fmt.Fprintf(w, "  Staff key           %s, in the header X-Frontdesk-Staff-Key\n", key)
		}
	}
	if cfg.OpsAddr != "" {
		fmt.Fprintf(w, "  Operators           http://%s/ops/payments    or: frontdesk payments list\n", cfg.OpsAddr)
	}
}

// greetDemo says what to type into the doubles.
func greetDemo(w io.Writer) {
	fmt.Fprintf(w, `  Test cards          4242424242424242 succeeds         4000000000000002 is declined
                      4000002500003155 asks a question  4000000000009995 lacks funds
  Club credentials    client token %s, client id %s, secret %s, gateway key %s
`, clubsim.DemoClientToken, clubsim.DemoClientID, clubsim.DemoClientSecret, clubsim.DemoGatewayKey)
}
