package cmd

import (
	"cmp"
	"context"
	"log/slog"
	"net"
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

// mockMode is what mock mode adds to the gateway. In the other modes it is empty.
type mockMode struct {
	world    *mock.World
	devtools *devtools.Panel
	stop     func() // stops the internal server and waits for it
}

// complete fills in the defaults for a gateway on the given port. In mock mode it also starts the outside world, because
// the world's address is one of the defaults.
func (cfg *Config) complete(ctx context.Context, group *errgroup.Group, port string, log *slog.Logger) (*mockMode, error) {
	if cfg.Mode == "mock" {
		return cfg.startMock(ctx, group, port, log)
	}
	cfg.setDefaults(port, port)
	return &mockMode{stop: func() {}}, nil
}

// startMock fills in the defaults of mock mode and starts the outside world. The gateway reaches that world on an internal
// listener. The public one would not do: it closes first when the process stops, and a payment that is still being recorded
// needs the simulator until the end.
func (cfg *Config) startMock(ctx context.Context, group *errgroup.Group, port string, log *slog.Logger) (*mockMode, error) {
	internal, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	catalogue, err := cfg.Catalogue.Read()
	if err != nil {
		return nil, err
	}
	cfg.setDefaults(port, portOf(internal))
	panel := devtools.New(devtools.Config{Now: time.Now})
	settings := clubsim.DefaultSettings()
	settings.OnlineCancellation = true // so that members have memberships to show, and can leave
	started := &mockMode{
		devtools: panel,
		world: mock.New(mock.Config{
			Catalogue:  catalogue,
			Gateway:    sync.OnceValue(cfg.assets.operations),
			OnMail:     panel.Changed,
			Now:        time.Now,
			After:      time.After,
			PublicURL:  cfg.PublicURL,
			Seed:       cfg.SandboxSeed,
			Settings:   &settings,
			Log:        log,
			WebhookURL: "http://127.0.0.1:" + port + "/v1/webhooks/club/" + cfg.WebhookSecret[0],
		}),
	}
	if cfg.Catalogue.Path != "" {
		group.Go(func() error { started.world.WatchCatalogue(ctx, cfg.Catalogue); return nil })
	}
	cfg.worldAsks, cfg.provoke = started.world.AsksRepeats, started.provoke
	if cfg.RedisURL, err = started.world.StartRedis(ctx, group); err != nil {
		return nil, err
	}
	if cfg.Mail.URL == "" {
		if cfg.Mail.URL, err = started.world.StartMail("127.0.0.1:0"); err != nil {
			return nil, err
		}
		log.InfoContext(ctx, "mails are served", "address", strings.TrimPrefix(cfg.Mail.URL, "smtp://"))
	}
	cfg.Mail.From = cmp.Or(cfg.Mail.From, demoSender)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- stop calls it
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(ctx, internal, started.devtools.Wrap(started.world.Handler()), started.world.Close); err != nil {
			log.ErrorContext(ctx, "simulator stopped with an error", "error", err)
		}
	})
	started.stop = func() { cancel(); serving.Wait() }
	return started, nil
}

// wrap serves the mock world and the developer tools in front of the gateway. changed is
// called with the worlds that developers change by hand.
func (m *mockMode) wrap(gateway http.Handler, changed func(world string)) http.Handler {
	if m.world == nil {
		return gateway
	}
	return m.devtools.Wrap(m.world.Wrap(gateway, changed))
}

// release ends the requests that are kept waiting on purpose.
func (m *mockMode) release() {
	if m.world != nil {
		m.devtools.Close()
		m.world.Release()
	}
}

// operations lists the gateway's operations for the simulator, where its faults are set.
func (a Assets) operations() (all []clubsim.GatewayOperation) {
	for _, op := range must(handlers.Operations(a.Contract)) {
		all = append(all, clubsim.GatewayOperation(op))
	}
	return all
}

// provoke returns what a request to the gateway suffers in a world.
func (m *mockMode) provoke(world, method, path, requestPath string) handlers.Fault {
	fault := m.world.TakeGatewayFault(world, method, path, requestPath)
	return handlers.Fault{Kind: fault.Kind, Code: fault.Code, Delay: time.Duration(fault.DelayMs) * time.Millisecond}
}
