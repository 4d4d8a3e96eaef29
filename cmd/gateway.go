package cmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
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
	run                  func(context.Context) error // works in the background until the context ends
	release              func()                      // ends the requests that are kept waiting on purpose
	close                func()                      // once nothing runs any more
	// nextWork is background.Queue's; nil for all worlds of mock mode together, as the next one.
	nextWork     func(context.Context) (in time.Duration, waits bool, err error)
	forgetCaches func() // of what the club system has told
	payments     *payment.Machine
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
	statements    *statements.Service
	background    *background.Worker
	ready         func(context.Context) []flows.Check
}

// build composes the gateway, from the outside in. stopping is closed when the process
// begins to stop; panel is nil except in mock mode.
func (cfg Config) build(log *slog.Logger, seen *telemetry, stopping <-chan struct{}, panel *devtools.Panel) (composed gateway, err error) {
	built := new(services)
	if built.clients, err = cfg.connect(log, seen.metrics); err != nil {
		return composed, err
	}
	cfg.addPayments(built, seen.metrics, log)
	cfg.addJourneys(built, log)
	cfg.addBackground(built, seen.traces, log)
	built.ready = cfg.ready(built.clients, built.payments.Halted)
	seen.metrics.RegisterCollector(ops.CollectorConfig{
		Payments:      built.payments,
		Background:    built.background,
		Statements:    built.statements,
		Registrations: built.registrations,
		Catalogue:     built.catalogue,
		SMS:           built.smsBudget,
		Club:          built.clients.club,
		ClientToken:   cfg.ClubToken,
		Redis:         built.clients.redis,
		Ready:         built.ready,
		Traces:        seen.traces,
		Now:           cfg.now,
		After:         time.After,
	})
	if composed.public, err = cfg.newPublic(built, seen, stopping, panel, log); err != nil {
		return composed, err
	}
	composed.ops = cfg.newOps(built, seen, log)
	composed.metrics = ops.NewMetricsServer(ops.Config{PublicURL: cfg.PublicURL, Metrics: seen.metrics, Traces: seen.traces, Log: log})
	composed.run, composed.nextWork, composed.payments = built.background.Run, built.queue.NextWork, built.payments
	composed.forgetCaches = func() { built.catalogue.Invalidate(cfg.ClubToken) }
	composed.release, composed.close = func() {}, func() { _ = built.clients.redis.Close() } // nothing waits for an answer
	return composed, nil
}

// addPayments adds the store, the queue and what takes money.
func (cfg Config) addPayments(built *services, metrics *ops.Metrics, log *slog.Logger) {
	built.keys = must(cfg.newKeyring())
	built.store = store.New(store.Config{Redis: built.clients.redis, Keys: built.keys, Replicas: cfg.RedisWait})
	built.queue = background.NewQueue(background.QueueConfig{
		Redis: built.clients.redis,
		Store: built.store,
		Keys:  built.keys,
		Mails: built.clients.mail != nil,
		Now:   cfg.now,
	})
	built.payments = payment.New(payment.Config{
		Store:          built.store,
		Club:           built.clients.club.Money(),
		BackgroundClub: built.clients.club,
		Cards:          built.clients.cards,
		Keys:           built.keys,
		Environment:    cfg.Mode,
		Organisation:   cfg.ClubToken,
		Rule:           cfg.rule(),
		OnTransition:   metrics.CountTransition,
		OnProblem:      metrics.CountCardProblem,
		LookUpEvery:    cfg.lookUpEvery(),
		Now:            cfg.now,
		After:          time.After,
		Log:            log,
		Wake:           built.queue.Wake,
	})
}

// addJourneys adds what visitors, contacts and staff use. It needs what addPayments adds.
func (cfg Config) addJourneys(built *services, log *slog.Logger) {
	built.catalogue = catalogue.New(catalogue.Config{
		Clubs:  must(cfg.clubs()),
		Club:   built.clients.club,
		Shared: built.store,
		Now:    cfg.now,
		Log:    log,
	})
	built.smsBudget = cfg.newSMSBudget(built.store, log)
	built.registrations = registration.New(registration.Config{
		Store:         built.store,
		Club:          built.clients.club,
		Catalogue:     built.catalogue,
		Payments:      built.payments,
		Keys:          built.keys,
		SMSBudget:     built.smsBudget,
		Methods:       must(cfg.methodPolicy()),
		ContactTokens: cfg.onOutsideLive(cfg.ContactTokens),
		AsksRepeats:   cfg.asksRepeats,

		AgreementsRequired: cfg.agreementsRequired(),
		Publish: func(ctx context.Context, name string, object map[string]club.IRI) error {
			return built.background.Events.Publish(ctx, name, object)
		},
		SendMail:   built.sendMail(),
		ProofsKept: cfg.ProofsKept,
		Events: registration.OwnEvents{
			IsDue: func(ctx context.Context, name, subject string) (bool, error) {
				return built.background.Relay.IsDue(ctx, name, subject)
			},
			Publish: func(ctx context.Context, event flows.OwnEvent) error {
				return built.background.Relay.Publish(ctx, event)
			},
		},
		RefreshDue: built.queue.RefreshDue,
		PublicURL:  cfg.PublicURL,
		Now:        cfg.now,
		Log:        log,
	})
}

// sendMail has a mail sent; nil without a mail server: then no address is read for one.
func (built *services) sendMail() func(context.Context, flows.Mail) error {
	if built.clients.mail == nil {
		return nil
	}
	return built.queue.SendMail
}

// addBackground adds what runs without a request, and the events in and out. It needs what
// addPayments and addJourneys add.
func (cfg Config) addBackground(built *services, traces trace.TracerProvider, log *slog.Logger) {
	built.statements = statements.New(statements.Config{
		Store:     built.store,
		Catalogue: built.catalogue,
		Contacts:  built.registrations.Contacts,
		Keys:      built.keys,
		Kept:      cfg.ProofsKept,
		SendMail:  built.sendMail(),
		Publish: func(ctx context.Context, event flows.OwnEvent) error {
			return built.background.Relay.Publish(ctx, event)
		},
		Now: cfg.now,
		Log: log,
	})
	built.background = background.New(background.Config{
		Store:         built.store,
		Queue:         built.queue,
		Payments:      built.payments,
		Registrations: built.registrations,
		Statements:    built.statements,
		Keys:          built.keys,
		ClientToken:   cfg.ClubToken,
		Subscribers:   must(cfg.subscribers()),
		Client:        cfg.egress().NewClient(),
		Mail:          built.clients.mail,
		ClocksAgree:   built.store.ClocksAgree,
		Traces:        traces,
		Now:           cfg.now,
		After:         time.After,
		Log:           log,
	})
}

// newPublic returns what browsers, apps and webhooks call.
func (cfg Config) newPublic(
	built *services, seen *telemetry, stopping <-chan struct{}, panel *devtools.Panel, log *slog.Logger,
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
		Registrations:   built.registrations,
		Payments:        built.payments,
		Catalogue:       built.catalogue,
		Statements:      built.statements,
		Background:      built.background,
		WebhookSecrets:  cfg.WebhookSecret,
		Identity:        built.clients.login,
		Store:           built.store,
		Cards:           built.clients.cards,
		Ready:           built.ready,
		Stopping:        stopping,
		Contract:        cfg.assets.Contract,
		Site:            site,
		Client:          cfg.assets.Client,
		Docs:            pages,
		ClientToken:     cfg.ClubToken,
		AnyHost:         cfg.anyHost,
		Provoke:         cfg.provoke,
		PublicURL:       cfg.PublicURL,
		Mode:            cfg.Mode,
		SMSCountries:    cfg.SMS.Countries,
		CartOptional:    cfg.CartRevision == "optional",
		AllowedOrigins:  cfg.AllowedOrigins,
		AllowedHeaders:  cfg.AllowedHeaders,
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
		Now:             cfg.now,
		After:           time.After,
		Log:             log,
	})
}

// newOps returns what operators call.
func (cfg Config) newOps(built *services, seen *telemetry, log *slog.Logger) http.Handler {
	return ops.New(ops.Config{
		Payments:      built.payments,
		Registrations: built.registrations,
		Background:    built.background,
		Statements:    built.statements,
		Operators:     must(cfg.operators()),
		ClientToken:   cfg.ClubToken,
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

func (cfg Config) clubSystem(connection redis.UniversalClient, log *slog.Logger, seen *ops.Metrics) *club.Client {
	config, clubs := must(cfg.clubConfig()), must(cfg.clubs())
	config.Zone = func(at club.IRI) *time.Location { return clubs.Zone(at.ID()) }
	config.Traceparent, config.OnAttempt, config.Now, config.Logger = tracing.Traceparent, seen.CountClubCall, cfg.now, log
	config.ShareCalls = store.ShareCalls(connection)
	return club.New(config)
}

// lookUpEvery is the pause between searches for lost payments. In mock mode the processor is in the same process, and what was open before
// a restart is gone: a page must learn that at once.
func (cfg Config) lookUpEvery() time.Duration {
	if cfg.Mode == "mock" {
		return time.Nanosecond
	}
	return 0 // the usual one
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
	cfg.Stripe.Now, cfg.Stripe.OnCall = cfg.now, onCall
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
	cfg.Login.Organisations, cfg.Login.Now = cfg.Login.JWKSURL == cfg.demoLogin(), cfg.now
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
	cfg.SMS.Store, cfg.SMS.Now, cfg.SMS.Log = records, cfg.now, log
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
