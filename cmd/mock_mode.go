package cmd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/handlers"
	"frontdesk/handlers/devtools"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mock"
)

// complete fills in the defaults for a command that calls what a gateway calls. In mock mode that is the default world, without a gateway,
// until end is called.
func (cfg *Config) complete(ctx context.Context, group *errgroup.Group, port string) (end func(), err error) {
	cfg.setDefaults(port)
	if cfg.Mode != "mock" {
		return func() {}, nil
	}
	cfg.State = "" // a gateway may have the folder
	idle := func(own Config, _ mock.Place) (*mock.Gateway, error) {
		*cfg = own
		wait := func(ctx context.Context) error { <-ctx.Done(); return nil }
		none := func(context.Context) (time.Duration, bool, error) { return 0, false, nil }
		return &mock.Gateway{Run: wait, NextWork: none, Close: func() {}}, nil
	}
	outside, err := cfg.newMock(port, nil, idle, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	group.Go(func() error { return outside.Run(ctx) })
	return outside.Close, outside.Start(cfg.ClubToken)
}

// newMock makes the outside world of mock mode, in which each demo world has a gateway of its own, which gateway makes. changed is called
// after a change that no request of a page made.
func (cfg *Config) newMock(
	port string, changed func(), gateway func(Config, mock.Place) (*mock.Gateway, error), log *slog.Logger,
) (outside *mock.Server, err error) {
	catalogue, err := cfg.Catalogue.Read()
	if err != nil {
		return nil, err
	}
	settings := clubsim.DefaultSettings()
	settings.OnlineCancellation = true // so that members have memberships to show, and can leave
	outside = mock.New(mock.Config{
		Catalogue:  catalogue,
		Operations: sync.OnceValue(cfg.assets.operations),
		OnChange:   changed,
		Now:        time.Now,
		After:      time.After,
		PublicURL:  cfg.PublicURL,
		Seed:       cfg.SandboxSeed,
		Settings:   &settings,
		Log:        log,
		WebhookURL: "http://127.0.0.1:" + port + "/v1/webhooks/club/" + cfg.WebhookSecret[0],
		Default:    cfg.ClubToken,
		State:      cfg.State,
		Gateway:    func(at mock.Place) (*mock.Gateway, error) { return gateway(cfg.at(at, outside), at) },
	})
	if cfg.Mail.URL == "" {
		if cfg.Mail.URL, err = outside.StartMail("127.0.0.1:0"); err != nil {
			return nil, err
		}
		log.Info("mails are served", "address", strings.TrimPrefix(cfg.Mail.URL, "smtp://"))
	}
	cfg.Mail.From = cmp.Or(cfg.Mail.From, demoSender)
	if err := outside.Load(); err != nil {
		outside.Close()
		return nil, fmt.Errorf("FRONTDESK_STATE: %w", err)
	}
	return outside, nil
}

// at returns the configuration of a world's gateway.
func (cfg Config) at(place mock.Place, outside *mock.Server) Config {
	cfg.Club.BaseURL, cfg.SandboxURL, cfg.RedisURL = place.URL+"/sim", place.URL+"/sandbox", place.RedisURL
	cfg.ClubToken, cfg.now = place.World, place.Now
	if cfg.Club.ClientID == clubsim.DemoClientID {
		cfg.Club.ClientID = place.World // the world's own client
	}
	if cfg.Login.Secret == "" {
		cfg.Login.JWKSURL = cmp.Or(cfg.Login.JWKSURL, cfg.demoLogin())
	}
	cfg.worldAsks = outside.AsksRepeats
	cfg.provoke = func(world, method, path, requestPath string) handlers.Fault {
		fault := outside.TakeGatewayFault(world, method, path, requestPath)
		return handlers.Fault{Kind: fault.Kind, Code: fault.Code, Delay: time.Duration(fault.DelayMs) * time.Millisecond}
	}
	return cfg
}

// newMockGateway makes the gateways of mock mode and the developer panel.
func (cfg *Config) newMockGateway(ctx context.Context, port string, traces *telemetry, log *slog.Logger) (composed gateway, err error) {
	panel := devtools.New(devtools.Config{Now: time.Now})
	outside, err := cfg.newMock(port, panel.Changed, func(own Config, at mock.Place) (*mock.Gateway, error) {
		built, err := own.build(at.Log, own.withMetrics(traces), ctx.Done(), panel)
		if err != nil {
			return nil, err
		}
		return &mock.Gateway{
			Public:       built.public,
			Operators:    built.ops,
			Metrics:      built.metrics,
			Run:          built.run,
			NextWork:     built.nextWork,
			ForgetCaches: built.forgetCaches,
			Close:        built.close,
		}, nil
	}, log)
	if err != nil {
		return composed, err
	}
	if cfg.Catalogue.Path != "" {
		go outside.WatchCatalogue(ctx, cfg.Catalogue)
	}
	return gateway{
		public:  panel.Wrap(outside),
		ops:     http.HandlerFunc(outside.Operators),
		metrics: http.HandlerFunc(outside.Metrics),
		run:     outside.Run,
		release: func() { panel.Close(); outside.Release() },
		close:   outside.Close,
	}, outside.Start(cfg.ClubToken)
}

// operations lists the gateway's operations for the simulator, where its faults are set.
func (a Assets) operations() (all []clubsim.GatewayOperation) {
	for _, op := range must(handlers.Operations(a.Contract)) {
		all = append(all, clubsim.GatewayOperation(op))
	}
	return all
}
