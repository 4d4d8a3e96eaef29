package cmd

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/clubevent"
	"frontdesk/flows/erasure"
	"frontdesk/flows/jobs"
	"frontdesk/flows/keyring"
	"frontdesk/flows/member"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/relay"
	"frontdesk/flows/signature"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/flows/worker"
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
	worker               *worker.Worker
	payments             *payment.Machine
	catalogue            *catalogue.Catalogue
}

// build composes the gateway, from the outside in. stopping is closed when the process
// begins to stop; panel is nil except in mock mode.
func (cfg Config) build(log *slog.Logger, seen *telemetry, stopping <-chan struct{}, panel *devtools.Panel) (g gateway, err error) {
	clients, err := cfg.connect(log, seen.metrics)
	if err != nil {
		return g, err
	}
	keys, proxies := must(cfg.newKeyring()), must(handlers.ParseProxies(cfg.TrustedProxies))
	clubs, operators := must(catalogue.ParseDirectory([]byte(cfg.Clubs))), must(cfg.operators())
	site := cfg.assets.Site
	var onRequest func(handlers.RequestInfo)
	if panel != nil {
		onRequest = panel.Record
		if site, err = devtools.Site(site); err != nil {
			return g, err
		}
	}
	clubSystem, processor := clients.club, clients.cards
	records := store.New(store.Config{Redis: clients.redis, Keys: keys, Replicas: cfg.RedisWait})
	queue := jobs.NewQueue(clients.redis, records, time.Now)
	catalogue := catalogue.New(catalogue.Config{Clubs: clubs, Club: clubSystem, Shared: records, Now: time.Now, Log: log})
	payments := payment.New(payment.Config{
		Store: records, Queue: queue, Club: clubSystem.Money(), BackgroundClub: clubSystem, Cards: processor, Keys: keys,
		Environment: cfg.Mode, Organisation: cfg.organisation(), Rule: cfg.rule(),
		OnTransition: seen.metrics.CountTransition, OnProblem: seen.metrics.CountCardProblem,
		Now: time.Now, After: time.After, Log: log,
	})
	budget := cfg.smsBudget(records, log)
	codes := signature.NewCodeSender(signature.CodeSenderConfig{Store: records, Club: clubSystem, Keys: keys, Budget: budget, Now: time.Now, Log: log})
	contacts := member.NewContacts(member.ContactsConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Now: time.Now})
	registrations := registration.New(registration.Config{
		Store: records, Queue: queue, Club: clubSystem, Catalogue: catalogue, Payments: payments, Contacts: contacts, Keys: keys, Codes: codes,
		Methods: cfg.methodPolicy(), AsksRepeats: cfg.asksRepeats, PublicURL: cfg.PublicURL, Now: time.Now, Log: log,
	})
	hub := jobs.NewHub(records)
	events, relay := cfg.clubEvents(records, queue, keys, registrations, log)
	worker := worker.New(worker.Config{Store: records, Queue: queue, Payments: payments, Changes: hub, Events: events, Traces: seen.traces, ClocksAgree: records.ClocksAgree, Now: time.Now, After: time.After, Log: log})
	transfers := member.NewTransfers(member.TransfersConfig{Store: records, Club: clubSystem, Catalogue: catalogue, Keys: keys, Codes: codes})
	ready := cfg.ready(clients, payments.Halted)
	seen.metrics.RegisterCollector(ops.CollectorConfig{
		Payments: payments, Worker: worker, Catalogue: catalogue, Relay: relay, Queue: queue, SMS: budget, Club: clubSystem,
		Redis: clients.redis, Ready: ready, Traces: seen.traces, Now: time.Now, After: time.After,
	})
	pages, err := docs.Pages(docs.Config{Events: cfg.assets.Events, Examples: cfg.assets.Examples, PublicURL: cfg.PublicURL, Mock: cfg.Mode == "mock"})
	if err != nil {
		return g, err
	}
	g.public, err = handlers.New(handlers.Config{
		Registrations: registrations, Payments: payments, Catalogue: catalogue, Contacts: contacts, Transfers: transfers,
		Changes: hub, ClubEvents: events, WebhookSecrets: cfg.WebhookSecret, Identity: clients.login, Store: records, Cards: processor,
		Ready: ready, Background: queue.Workers(flows.OpenLane).InProgress, Stopping: stopping,
		Contract: cfg.assets.Contract, Site: site, Docs: pages, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock",
		PublicURL: cfg.PublicURL, Mode: cfg.Mode, SMSCountries: cfg.SMS.Countries, RequireCart: cfg.CartRevision == "required", AllowedOrigins: cfg.AllowedOrigins, StaffKeys: cfg.StaffKeys,
		ReturnSchemes: cfg.ReturnSchemes, PublishableKey: cfg.StripePublicKey, CardScriptURL: cfg.cardScriptURL(),
		Methods: cfg.methodPolicy(), Captcha: cfg.captcha(), RateLimits: cfg.rateLimited(), TrustedProxies: proxies,
		OnRequest: onRequest, OnRequestMetric: seen.metrics.CountRequest, OnAdmission: seen.metrics.CountAdmission, OnStream: seen.metrics.CountStream, Traces: seen.traces, AccessLevel: cfg.accessLevel(), Now: time.Now, After: time.After, Log: log,
	})
	if err != nil {
		return g, err
	}
	eraser := erasure.New(erasure.Config{Store: records, Keys: keys, Now: time.Now, Log: log})
	g.ops = ops.New(ops.Config{
		Payments: payments, Contacts: contacts, Eraser: eraser, Relay: relay, Queue: queue, Operators: operators, ClientToken: cfg.ClubToken, Worlds: cfg.Mode == "mock", PublicURL: cfg.PublicURL, Metrics: seen.metrics, MetricsApart: cfg.Mode == "live", Traces: seen.traces, Log: log,
	})
	g.metrics = ops.NewMetricsServer(ops.Config{PublicURL: cfg.PublicURL, Metrics: seen.metrics, Traces: seen.traces, Log: log})
	g.worker, g.payments, g.catalogue = worker, payments, catalogue
	return g, nil
}

// must returns a value of the configuration that was read without an error when it was validated.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (cfg Config) clubSystem(log *slog.Logger, seen *ops.Metrics) *club.Client {
	cfg.Club.Traceparent, cfg.Club.OnAttempt, cfg.Club.Now, cfg.Club.Logger = tracing.Traceparent, seen.CountClubCall, time.Now, log
	return club.New(cfg.Club)
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
	return &flows.Rule{Conditions: []flows.Condition{{Signal: flows.SignalSaleState, Before: "building", After: "settled"}}}
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

// smsBudget returns the limit of what SMS codes cost the clubs; nil without rate limits.
func (cfg Config) smsBudget(records *store.Store, log *slog.Logger) *signature.SMSBudget {
	if !cfg.rateLimited() {
		return nil
	}
	cfg.SMS.Store, cfg.SMS.Now, cfg.SMS.Log = records, time.Now, log
	return signature.NewSMSBudget(cfg.SMS)
}

// rateLimited reports whether requests are counted. In mock and test mode the default is
// no: front-end developers reload all day, and many tests share one address.
func (cfg Config) rateLimited() bool {
	return cfg.RateLimits == "on" || cfg.RateLimits == "" && cfg.Mode == "live"
}

func (cfg Config) clubEvents(records *store.Store, queue *jobs.Queue, keys *keyring.Keyring, registrations *registration.Service, log *slog.Logger) (*clubevent.Intake, *relay.Relay) {
	relay := relay.New(relay.Config{
		Queue: queue, Keys: keys, Store: records, Client: relay.NewClient(cfg.egress()), Subscribers: must(cfg.subscribers()), Now: time.Now, Log: log,
	})
	return clubevent.New(clubevent.Config{
		Store: records, Queue: queue, Registrations: registrations, Relay: relay,
		ClientToken: cfg.ClubToken, AnyOrganisation: cfg.Mode == "mock", Now: time.Now, Log: log,
	}), relay
}

// egress says where events may be relayed to: outside live mode also to this machine.
func (cfg Config) egress() relay.EgressPolicy {
	return relay.EgressPolicy{Loopback: cfg.Mode != "live"}
}
