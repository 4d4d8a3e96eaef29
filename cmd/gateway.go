package cmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/handlers"
	"frontdesk/handlers/devtools"
	"frontdesk/handlers/docs"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/identity"
)

// gateway is what serve runs.
type gateway struct {
	public, ops, metrics http.Handler
	worker               *background.Worker
	payments             *payment.Machine
	catalogue            *catalogue.Catalogue
}

// services are what a gateway has behind its listeners.
type services struct {
	clients       clients
	keys          *keyring.Keyring
	store         *store.Store
	queue         *background.Queue
	catalogue     *catalogue.Catalogue
	payments      *payment.Machine
	smsBudget     *registration.SMSBudget // nil without rate limits
	registrations *registration.Service
	hub           *background.Hub
	relay         *background.Relay
	events        *background.Intake
	worker        *background.Worker
	ready         func(context.Context) []flows.Check
}

// build composes the gateway, from the outside in. stopping is closed when the process
// begins to stop; panel is nil except in mock mode.
func (cfg Config) build(log *slog.Logger, seen *telemetry, stopping <-chan struct{}, panel *devtools.Panel) (g gateway, err error) {
	s := new(services)
	if s.clients, err = cfg.connect(log, seen.metrics); err != nil {
		return g, err
	}
	cfg.addPayments(s, seen.metrics, log)
	cfg.addJourneys(s, log)
	cfg.addBackground(s, seen.traces, log)
	s.ready = cfg.ready(s.clients, s.payments.Halted)
	seen.metrics.RegisterCollector(ops.CollectorConfig{
		Payments:  s.payments,
		Worker:    s.worker,
		Catalogue: s.catalogue,
		Relay:     s.relay,
		Queue:     s.queue,
		SMS:       s.smsBudget,
		Club:      s.clients.club,
		Redis:     s.clients.redis,
		Ready:     s.ready,
		Traces:    seen.traces,
		Now:       time.Now,
		After:     time.After,
	})
	if g.public, err = cfg.newPublic(s, seen, stopping, panel, log); err != nil {
		return g, err
	}
	g.ops = cfg.newOps(s, seen, log)
	g.metrics = ops.NewMetricsServer(ops.Config{PublicURL: cfg.PublicURL, Metrics: seen.metrics, Traces: seen.traces, Log: log})
	g.worker, g.payments, g.catalogue = s.worker, s.payments, s.catalogue
	return g, nil
}

// addPayments adds the store, the queue and what takes money.
func (cfg Config) addPayments(s *services, metrics *ops.Metrics, log *slog.Logger) {
	s.keys = must(cfg.newKeyring())
	s.store = store.New(store.Config{Redis: s.clients.redis, Keys: s.keys, Replicas: cfg.RedisWait})
	s.queue = background.NewQueue(s.clients.redis, s.store, time.Now)
	s.payments = payment.New(payment.Config{
		Store:          s.store,
		Queue:          s.queue,
		Club:           s.clients.club.Money(),
		BackgroundClub: s.clients.club,
		Cards:          s.clients.cards,
		Keys:           s.keys,
		Environment:    cfg.Mode,
		Organisation:   cfg.organisation(),
		Rule:           cfg.rule(),
		OnTransition:   metrics.CountTransition,
		OnProblem:      metrics.CountCardProblem,
		Now:            time.Now,
		After:          time.After,
		Log:            log,
	})
}

// addJourneys adds what visitors, contacts and staff use. It needs what addPayments adds.
func (cfg Config) addJourneys(s *services, log *slog.Logger) {
	s.catalogue = catalogue.New(catalogue.Config{
		Clubs:  must(catalogue.ParseDirectory([]byte(cfg.Clubs))),
		Club:   s.clients.club,
		Shared: s.store,
		Now:    time.Now,
		Log:    log,
	})
	s.smsBudget = cfg.newSMSBudget(s.store, log)
	s.registrations = registration.New(registration.Config{
		Store:       s.store,
		Queue:       s.queue,
		Club:        s.clients.club,
		Catalogue:   s.catalogue,
		Payments:    s.payments,
		Keys:        s.keys,
		SMSBudget:   s.smsBudget,
		Methods:     must(cfg.methodPolicy()),
		AsksRepeats: cfg.asksRepeats,
		PublicURL:   cfg.PublicURL,
		Now:         time.Now,
		Log:         log,
	})
}

// addBackground adds what runs without a request, and the events in and out. It needs what
// addPayments and addJourneys add.
func (cfg Config) addBackground(s *services, traces trace.TracerProvider, log *slog.Logger) {
	s.hub = background.NewHub(s.store)
	s.relay = background.NewRelay(background.RelayConfig{
		Queue:       s.queue,
		Keys:        s.keys,
		Store:       s.store,
		Client:      background.NewRelayClient(cfg.egress()),
		Subscribers: must(cfg.subscribers()),
		Now:         time.Now,
		Log:         log,
	})
	s.events = background.NewIntake(background.IntakeConfig{
		Store:           s.store,
		Queue:           s.queue,
		Registrations:   s.registrations,
		Relay:           s.relay,
		ClientToken:     cfg.ClubToken,
		AnyOrganisation: cfg.Mode == "mock",
		Now:             time.Now,
		Log:             log,
	})
	s.worker = background.NewWorker(background.WorkerConfig{
		Store:       s.store,
		Queue:       s.queue,
		Payments:    s.payments,
		Changes:     s.hub,
		Events:      s.events,
		Traces:      traces,
		ClocksAgree: s.store.ClocksAgree,
		Now:         time.Now,
		After:       time.After,
		Log:         log,
	})
}

// newPublic returns what browsers, apps and webhooks call.
func (cfg Config) newPublic(
	s *services, seen *telemetry, stopping <-chan struct{}, panel *devtools.Panel, log *slog.Logger,
) (http.Handler, error) {
	site := cfg.assets.Site
	var onRequest func(handlers.RequestInfo)
	if panel != nil {
		var err error
		if site, err = devtools.Site(site); err != nil {
			return nil, err
		}
		onRequest = panel.Record
	}
	pages, err := docs.Pages(docs.Config{
		Events:    cfg.assets.Events,
		Examples:  cfg.assets.Examples,
		PublicURL: cfg.PublicURL,
		Mock:      cfg.Mode == "mock",
	})
	if err != nil {
		return nil, err
	}
	return handlers.New(handlers.Config{
		Registrations:   s.registrations,
		Payments:        s.payments,
		Catalogue:       s.catalogue,
		Changes:         s.hub,
		ClubEvents:      s.events,
		WebhookSecrets:  cfg.WebhookSecret,
		Identity:        s.clients.login,
		Store:           s.store,
		Cards:           s.clients.cards,
		Ready:           s.ready,
		Background:      s.queue.Workers(flows.OpenLane).InProgress,
		Stopping:        stopping,
		Contract:        cfg.assets.Contract,
		Site:            site,
		Docs:            pages,
		ClientToken:     cfg.ClubToken,
		Worlds:          cfg.Mode == "mock",
		PublicURL:       cfg.PublicURL,
		Mode:            cfg.Mode,
		SMSCountries:    cfg.SMS.Countries,
		RequireCart:     cfg.CartRevision == "required",
		AllowedOrigins:  cfg.AllowedOrigins,
		StaffKeys:       cfg.StaffKeys,
		ReturnSchemes:   cfg.ReturnSchemes,
		PublishableKey:  cfg.StripePublicKey,
		CardScriptURL:   cfg.cardScriptURL(),
		Methods:         must(cfg.methodPolicy()),
		Captcha:         cfg.captcha(),
		RateLimits:      cfg.rateLimited(),
		TrustedProxies:  must(handlers.ParseProxies(cfg.TrustedProxies)),
		OnRequest:       onRequest,
		OnRequestMetric: seen.metrics.CountRequest,
		OnAdmission:     seen.metrics.CountAdmission,
		OnStream:        seen.metrics.CountStream,
		Traces:          seen.traces,
		AccessLevel:     cfg.accessLevel(),
		Now:             time.Now,
		After:           time.After,
		Log:             log,
	})
}

// newOps returns what operators call.
func (cfg Config) newOps(s *services, seen *telemetry, log *slog.Logger) http.Handler {
	return ops.New(ops.Config{
		Payments:      s.payments,
		Registrations: s.registrations,
		Relay:         s.relay,
		Queue:         s.queue,
		Operators:     must(cfg.operators()),
		ClientToken:   cfg.ClubToken,
		Worlds:        cfg.Mode == "mock",
		PublicURL:     cfg.PublicURL,
		Metrics:       seen.metrics,
		MetricsApart:  cfg.Mode == "live",
		Traces:        seen.traces,
		Log:           log,
	})
}

// must returns a value of the configuration that was read without an error when it was validated.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (cfg Config) clubSystem(log *slog.Logger, seen *ops.Metrics) *club.Client {
	config := must(cfg.clubConfig())
	config.Traceparent, config.OnAttempt, config.Now, config.Logger = tracing.Traceparent, seen.CountClubCall, time.Now, log
	return club.New(config)
}

// organisation is the one whose payments the gateway handles. In mock mode it is empty: each world is an
// organisation of its own.
func (cfg Config) organisation() string {
	if cfg.Mode == "mock" {
		return ""
	}
	return cfg.ClubToken
}

// rule is how a sale of the simulator shows that it is paid. For the real club system
// nil until operators calibrate it.
func (cfg Config) rule() *flows.Rule {
	if cfg.Mode == "live" {
		return nil
	}
	saleState := flows.Condition{Signal: flows.SignalSaleState, Before: "building", After: "settled"}
	return &flows.Rule{Conditions: []flows.Condition{saleState}}
}

// processor returns the client of the card processor. Only the sandbox gets the address for events.
func (cfg Config) processor(onCall func(cards.Call)) (*cards.Client, error) {
	cfg.Stripe.Now, cfg.Stripe.OnCall = time.Now, onCall
	if cfg.usesSandbox() {
		cfg.Stripe.URL, cfg.Stripe.WebhookURL = cfg.SandboxURL, cfg.PublicURL+"/v1/webhooks/card"
	}
	processor, err := cards.New(cfg.Stripe)
	if err != nil {
		return nil, fmt.Errorf("FRONTDESK_STRIPE_SECRET_KEY, FRONTDESK_STRIPE_URL: %w", err)
	}
	return processor, nil
}

// cardScriptURL is where browsers load the card processor's library.
func (cfg Config) cardScriptURL() string {
	api := cmp.Or(cfg.Stripe.URL, "https://js.stripe.com")
	switch {
	case cfg.Mode == "mock":
		api = cfg.PublicURL + "/sandbox"
	case cfg.usesSandbox():
		api = cfg.SandboxURL
	}
	return cmp.Or(cfg.StripeScriptURL, strings.TrimSuffix(api, "/")+"/v3/")
}

// demoLogin is where the simulator publishes its keys as the club's login.
func (cfg Config) demoLogin() string {
	return cfg.Club.BaseURL + "/" + cfg.ClubToken + "/_control/jwks"
}

// login returns the verifier of the club login's tokens. The simulator's login issues
// tokens for each demo world separately.
func (cfg Config) login() *identity.Verifier {
	cfg.Login.Organisations, cfg.Login.Now = cfg.Login.JWKSURL == cfg.demoLogin(), time.Now
	return identity.New(cfg.Login)
}

// captcha returns the verifier of captcha responses; nil without an address.
func (cfg Config) captcha() *captcha.Verifier {
	if cfg.Captcha.URL == "" {
		return nil
	}
	widget := &cfg.Captcha.Widget
	widget.Provider = cmp.Or(widget.Provider, captcha.ProviderAt(cfg.Captcha.URL))
	return captcha.New(cfg.Captcha)
}

const (
	// busyHours: visitors may use up a club's hourly budget this often in 24 hours. A campaign has a few busy
	// hours; an attack lasts all day.
	busyHours = 4
	// minConversion is the percentage of codes that visitors must enter. Most enter theirs, and an attacker enters
	// none: a quarter is far from both.
	minConversion = 25
)

// newSMSBudget returns the limit of what SMS codes cost the clubs; nil without rate limits.
func (cfg Config) newSMSBudget(records *store.Store, log *slog.Logger) *registration.SMSBudget {
	if !cfg.rateLimited() {
		return nil
	}
	cfg.SMS.Store, cfg.SMS.Now, cfg.SMS.Log = records, time.Now, log
	cfg.SMS.Daily, cfg.SMS.OrganisationDaily = busyHours*cfg.SMS.Hourly, busyHours*cfg.SMS.OrganisationHourly
	cfg.SMS.MinConversion = minConversion
	return registration.NewSMSBudget(cfg.SMS)
}

// rateLimited reports whether requests are counted. In mock and test mode the default is
// no: front-end developers reload all day, and many tests share one address.
func (cfg Config) rateLimited() bool {
	return cfg.RateLimits == "on" || cfg.RateLimits == "" && cfg.Mode == "live"
}

// egress says where events may be relayed to: outside live mode also to this machine.
func (cfg Config) egress() background.EgressPolicy {
	return background.EgressPolicy{Loopback: cfg.Mode != "live"}
}
