package cmd

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"frontdesk/handlers/devtools"
	"frontdesk/upstream/mock"
)

// mockMode is what mock mode adds to the gateway. In the other modes it is empty.
type mockMode struct {
	world    *mock.World
	devtools *devtools.Panel
	stop     func() // stops the internal server and waits for it
}

// complete fills in the defaults for a gateway on the given port. In mock mode it also starts
// the outside world, whose address is one of them.
func (cfg *Config) complete(ctx context.Context, group *errgroup.Group, port string, log *slog.Logger) (*mockMode, error) {
	if cfg.Mode == "mock" {
		return cfg.startMock(ctx, group, port, log)
	}
	cfg.setDefaults(port, port)
	return &mockMode{stop: func() {}}, nil
}

// startMock fills in the defaults of mock mode and starts the outside world. The gateway calls
// it on a listener of its own: the public one closes first, while a payment may still be recorded.
func (cfg *Config) startMock(ctx context.Context, group *errgroup.Group, port string, log *slog.Logger) (*mockMode, error) {
	internal, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	cfg.setDefaults(port, portOf(internal))
	added := &mockMode{
		devtools: devtools.New(devtools.Config{Now: time.Now}),
		world: mock.New(mock.Config{
			Now:        time.Now,
			After:      time.After,
			PublicURL:  cfg.PublicURL,
			Seed:       cfg.SandboxSeed,
			Log:        log,
			WebhookURL: "http://127.0.0.1:" + port + "/v1/webhooks/club/" + cfg.WebhookSecret[0],
		}),
	}
	cfg.worldAsks = added.world.AsksRepeats
	if cfg.RedisURL, err = added.world.StartRedis(ctx, group); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- stop calls it
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(ctx, internal, added.devtools.Wrap(added.world.Handler()), added.world.Close); err != nil {
			log.ErrorContext(ctx, "simulator stopped with an error", "error", err)
		}
	})
	added.stop = func() { cancel(); serving.Wait() }
	return added, nil
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
