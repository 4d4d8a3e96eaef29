// Package cmd is the command line of Frontdesk, and puts the gateway together. It is the
// only package that reads the environment and the clock.
package cmd

import (
	"context"
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
	_ "time/tzdata" // TZ is obeyed where the system has no files of time zones, as in the image

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/store"
	"frontdesk/handlers"
	"frontdesk/handlers/devtools"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/cards/stripe"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mock"
)

// Assets are the files that the binary carries. Package main embeds them, because
// go:embed cannot reach above its own folder.
type Assets struct {
	Contract []byte // openapi.yaml
	Site     fs.FS  // the signup site, with web-example as its root
	Examples fs.FS  // the files below docs/examples
}

// assets are set once, by Execute.
var assets Assets

type commands struct {
	Serve    serveCommand    `cmd:"" help:"Run the gateway (the default)."`
	Sim      simCommand      `cmd:"" help:"Run the simulator of the club system and the sandbox card processor alone."`
	Doctor   doctorCommand   `cmd:"" help:"Check the configuration, Redis, the club system and the card processor: a line each; exit 1 when one fails."`
	Webhooks webhooksCommand `cmd:"" help:"Look at events on their way to subscribers, and send them once more, through a running gateway."`
	Queue    queueCommand    `cmd:"" help:"Print how the queues of the background work stand, through a running gateway."`
	Payments paymentsCommand `cmd:"" help:"Look at payments that are in doubt, and decide on them, through a running gateway."`
	Invite   inviteCommand   `cmd:"" help:"Print an invitation link, with which a contact of the club registers without a login, once; through a running gateway."`
	Erase    eraseCommand    `cmd:"" help:"Erase what Redis holds of a person, and print what was kept and why; through a running gateway."`
	Health   healthCommand   `cmd:"" help:"Ask a gateway on this machine whether it runs; exit 1 when it does not."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

type serveCommand struct{ Config }

type simCommand struct {
	Addr       string `help:"Where the simulator listens." default:"127.0.0.1:8081" env:"FRONTDESK_SIM_ADDR"`
	PublicURL  string `help:"Where browsers reach the simulator and the processor. Default: http:// and the address." name:"public-url" env:"FRONTDESK_SIM_PUBLIC_URL"`
	WebhookURL string `help:"Where the club system's simulator sends its events, such as http://127.0.0.1:8080/v1/webhooks/club/demo-webhook-secret." name:"webhook-url" env:"FRONTDESK_SIM_WEBHOOK_URL"`
}

// Execute runs the command line of this process.
func Execute(carried Assets) {
	assets = carried
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal asks, a second one kills
	if code, err := execute(ctx, os.Args[1:], os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "frontdesk: "+err.Error())
		stop()
		os.Exit(code)
	}
}

func (c *serveCommand) Run(ctx context.Context) error { return run(ctx, c.Config) }

// run runs the gateway until the context ends.
func run(ctx context.Context, cfg Config) error {
	log := cfg.newLog(os.Stderr)
	redis.SetLogger(&redisLog{log: slog.New(slog.DiscardHandler)}) // the check says itself what is wrong
	if err := cfg.preflight(ctx); err != nil {
		return err
	}
	routeLibraryLogs(log)
	cfg.warn(log)
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	apart, err := cfg.listenForDoubles(portOf(listener))
	if err != nil {
		return err
	}
	operators, err := cfg.listenForOperators(log)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	var outside *mock.World
	var beside *devtools.Panel // the developer's, in mock mode alone
	stopping := func() {}
	if cfg.Mode == "mock" {
		outside = newOutsideWorld(cfg.PublicURL, cfg.clubWebhookURL(portOf(listener)), log)
		beside = devtools.New(devtools.Config{Now: time.Now})
		stopping = func() { beside.Close(); outside.Release() }
		defer serveApart(ctx, outside, apart, beside)()
		if cfg.RedisURL, err = outside.StartRedis(ctx, group); err != nil {
			return err
		}
	}
	seen, err := cfg.newTelemetry(ctx, log)
	if err != nil {
		return err
	}
	defer seen.close()
	all, err := cfg.build(log, seen, ctx.Done(), beside)
	if err != nil {
		return err
	}
	gateway := all.gateway
	if cfg.Mode == "mock" {
		gateway = beside.Wrap(outside.Wrap(gateway, all.catalogue.Invalidate))
	}
	defer cfg.collectGarbage()() // from here on, since a start is made sooner with Go's own pace
	drained := drain(ctx, cfg.DrainDelay)
	group.Go(func() error {
		return serve(drained, handlers.Listen(listener), closeOnShutdown(gateway, ctx.Done()), stopping)
	})
	if operators != nil {
		group.Go(func() error { return serve(drained, operators, all.ops, func() {}) })
	}
	group.Go(func() error { return all.worker.Run(drained) })
	cfg.printBanner(os.Stdout, listener.Addr())
	return group.Wait()
}

func portOf(listener net.Listener) string {
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		panic(err) // a TCP listener has a port
	}
	return port
}

// built is the gateway, put together.
type built struct {
	gateway, ops http.Handler // for everybody, and for operators
	worker       *flows.Worker
	catalogue    *flows.Catalogue
}

// build puts the gateway together, from the outside in; stopping is closed when
// it was told to end; beside is nil but in mock mode.
func (cfg Config) build(log *slog.Logger, seen *telemetry, stopping <-chan struct{}, beside *devtools.Panel) (built, error) {
	keys, err := keyring(cfg.SealKeys)
	if err != nil {
		return built{}, fmt.Errorf("FRONTDESK_SEAL_KEYS: %w", err)
	}
	p, err := cfg.connect(log, seen.metrics)
	if err != nil {
		return built{}, err
	}
	proxies, err := handlers.ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return built{}, fmt.Errorf("FRONTDESK_TRUSTED_PROXIES: %w", err)
	}
	pages, answered, err := cfg.site(beside)
	if err != nil {
		return built{}, err
	}
	clubSystem, processor := p.club, cards.Instrument(p.cards, time.Now, seen.metrics.CountCardCall)
	records := store.New(store.Config{Redis: p.redis, Keys: keys, Replicas: cfg.RedisWait})
	queue := flows.NewQueue(p.redis)
	catalogue := flows.NewCatalogue(flows.CatalogueConfig{Club: clubSystem, Shared: records, Now: time.Now, After: time.After, Log: log})
	payments := flows.NewMachine(flows.MachineConfig{
		Store: records, Queue: queue, Club: clubSystem.Money(), BackgroundClub: clubSystem, Cards: processor, Keys: keys,
		Environment: cfg.Mode, Rule: cfg.rule(), WebhookURL: cfg.PublicURL + "/v1/webhooks/card", OnTransition: seen.metrics.CountTransition, Now: time.Now, Log: log,
	})
	guard := cfg.smsGuard(records, log)
	codes := flows.NewCodeSender(flows.CodeSenderConfig{Store: records, Club: clubSystem, Keys: keys, Budget: guard, Now: time.Now, Log: log})
	registrations := flows.NewRegistrations(flows.RegistrationsConfig{
		Store: records, Queue: queue, Club: clubSystem, Catalogue: catalogue, Payments: payments, Keys: keys, Codes: codes,
		PublicURL: cfg.PublicURL, Now: time.Now, Log: log,
	})
	contacts := flows.NewContacts(flows.ContactsConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Now: time.Now})
	changes := flows.NewHub(records)
	events, relay, err := cfg.clubEvents(records, queue, keys, registrations, log)
	if err != nil {
		return built{}, err
	}
	worker := flows.NewWorker(flows.WorkerConfig{Store: records, Queue: queue, Payments: payments, Changes: changes, Events: events, Traces: seen.traces, Now: time.Now, After: time.After, Log: log})
	transfers := flows.NewTransfers(flows.TransfersConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Keys: keys, Codes: codes, Now: time.Now, Log: log})
	ready := cfg.ready(p)
	seen.metrics.RegisterCollector(ops.CollectorConfig{
		Payments: payments, Worker: worker, Catalogue: catalogue, Relay: relay, Queue: queue, SMS: guard, Club: clubSystem,
		Redis: p.redis, Ready: ready, Traces: seen.traces, Now: time.Now, After: time.After,
	})
	gateway, err := handlers.New(handlers.Config{
		Registrations: registrations, Payments: payments, Catalogue: catalogue, Contacts: contacts, Transfers: transfers,
		Changes: changes, ClubEvents: events, WebhookSecrets: cfg.WebhookSecret, Identity: p.login, Store: records, Cards: processor,
		Ready: ready, Stopping: stopping,
		Contract: assets.Contract, Site: pages, Examples: assets.Examples, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock",
		PublicURL: cfg.PublicURL, AllowedOrigins: cfg.AllowedOrigins, StaffKeys: cfg.StaffKeys, PublishableKey: cfg.StripePublicKey,
		Captcha: cfg.captcha(), RateLimits: cfg.rateLimited(), TrustedProxies: proxies,
		OnRequest: answered, OnRequestMetric: seen.metrics.CountRequest, OnStream: seen.metrics.CountStream, Traces: seen.traces, AccessLevel: cfg.accessLevel(), Now: time.Now, After: time.After, Log: log,
	})
	eraser := flows.NewEraser(flows.EraserConfig{Store: records, Keys: keys, Now: time.Now, Log: log})
	ops := handlers.NewOps(handlers.OpsConfig{
		Payments: payments, Contacts: contacts, Eraser: eraser, Relay: relay, Queue: queue, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock", PublicURL: cfg.PublicURL, Metrics: seen.metrics, Traces: seen.traces, Log: log,
	})
	return built{gateway, ops, worker, catalogue}, err
}

// clubSystem makes the client of the club system.
func (cfg Config) clubSystem(log *slog.Logger, seen *ops.Metrics) *club.Client {
	return club.New(club.Config{
		BaseURL: cfg.ClubURL, ClientID: cfg.ClubClientID, ClientSecret: cfg.ClubClientSecret, GatewayKey: cfg.ClubGatewayKey,
		GatewayKeyHeader: cfg.ClubKeyHeader, TokenPath: cfg.ClubTokenPath, PathPrefix: cfg.ClubPathPrefix,
		Traceparent: flows.Traceparent, OnAttempt: seen.CountClubCall, Now: time.Now, Logger: log,
	})
}

// rule tells how the simulator's sales show that they were paid; the real club
// system's have to be calibrated.
func (cfg Config) rule() *flows.Rule {
	if cfg.Mode == "live" {
		return nil
	}
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "building", After: "settled"}}}
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

// newOutsideWorld makes the outside world; base is where browsers reach this process, and
// webhook is where the club system sends its events; empty: nowhere.
func newOutsideWorld(base, webhook string, log *slog.Logger) *mock.World {
	return mock.New(mock.Config{Now: time.Now, After: time.After, PublicURL: base, WebhookURL: webhook, Log: log})
}

// listenForDoubles fills in the defaults, and opens the listener at which mock mode's own calls
// reach the doubles: the one for everybody closes first, while a payment may still be recorded.
func (cfg *Config) listenForDoubles(port string) (net.Listener, error) {
	if cfg.Mode != "mock" {
		cfg.setDefaults(port, port)
		return nil, nil
	}
	apart, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		cfg.setDefaults(port, portOf(apart))
	}
	return apart, err
}

// serveApart serves the doubles to the gateway's own calls until it is told that
// nobody calls any more, by the function that it gives.
func serveApart(ctx context.Context, outside *mock.World, apart net.Listener, beside *devtools.Panel) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- end calls it
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(ctx, apart, beside.Wrap(outside.Handler()), outside.Close) // it ends with the process in any case
	}()
	return func() { cancel(); <-ended }
}

// Run serves the outside world alone, for gateways in test mode.
func (c *simCommand) Run(ctx context.Context) error {
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(c.PublicURL, "/")
	if base == "" {
		base = "http://" + listener.Addr().String()
	}
	outside := newOutsideWorld(base, c.WebhookURL, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	debug.SetGCPercent(simGarbage)
	fmt.Printf("The club system's simulator is at %s/sim, the sandbox card processor at %s/sandbox.\n", base, base)
	printDemoCredentials(os.Stdout)
	return serve(ctx, listener, outside.Handler(), outside.Close)
}

// The times that a server grants.
const (
	headerTimeout = 5 * time.Second  // a client that is slower than this to say what it wants wants to waste ours
	readTimeout   = 15 * time.Second // bodies are small
	writeTimeout  = 90 * time.Second // above the longest request
	idleTimeout   = 2 * time.Minute  // above what the usual proxies keep
	maxHeader     = 32 << 10         // a browser's cookies and a token are a quarter of it
	// sendBuffer is what the system keeps of an answer for a client that does not take it,
	// where it would be megabytes by itself: enough for a megabyte a second far away, and
	// soon full for one who has stopped to read.
	sendBuffer = 64 << 10
	// drainDelay: a proxy that asks /readyz every five seconds has asked twice.
	drainDelay = 10 * time.Second
	// shutdownTimeout: requests under way end by themselves, a payment's POST after 30 s at
	// most. With drainDelay before it an end takes 55 s; grant it 75.
	shutdownTimeout = 45 * time.Second
)

// serve serves until the context ends, and then lets the requests under way
// end; stopping tells what keeps them waiting on purpose.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, stopping func()) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
			if client, ok := connection.(interface{ SetWriteBuffer(int) error }); ok {
				_ = client.SetWriteBuffer(sendBuffer) // a connection that is gone already is told of soon
			}
			return handlers.Connected(ctx, connection)
		},
	}
	server.RegisterOnShutdown(stopping)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return server.Shutdown(ctx)
}

// printBanner says what runs where.
func (cfg Config) printBanner(w io.Writer, at net.Addr) {
	if cfg.Mode != "mock" {
		fmt.Fprintf(w, "Frontdesk (%s mode) is at %s, before the club system at %s. It listens on %s.\n", cfg.Mode, cfg.PublicURL, cfg.ClubURL, at)
		return
	}
	fmt.Fprintf(w, `Frontdesk, mock mode: nothing here is real, and all of it is gone when you stop it.

  Signup site         %[1]s/
  API                 %[1]s/v1        documentation: %[1]s/docs
  Club system         %[1]s/sim       (simulated)    control: %[1]s/sim/demo/_control/
  Card processor      %[1]s/sandbox   (sandbox)      payments: %[1]s/sandbox/payments

`, cfg.PublicURL)
	printDemoCredentials(w)
	for _, key := range cfg.StaffKeys {
		if key == demoStaffKey {
			fmt.Fprintf(w, "  Staff key           %s, in the header X-Frontdesk-Staff-Key\n", key)
		}
	}
	if cfg.OpsAddr != "" {
		fmt.Fprintf(w, "  Operators           http://%s/ops/payments    or: frontdesk payments list\n", reachable(cfg.OpsAddr))
	}
}

// printDemoCredentials says what to type into the doubles.
func printDemoCredentials(w io.Writer) {
	fmt.Fprintf(w, `  Test cards          4242424242424242 succeeds         4000000000000002 is declined
                      4000002500003155 asks a question  4000000000009995 lacks funds
  Club credentials    client token %s, client id %s, secret %s, gateway key %s
`, clubsim.DemoClientToken, clubsim.DemoClientID, clubsim.DemoClientSecret, clubsim.DemoGatewayKey)
}
