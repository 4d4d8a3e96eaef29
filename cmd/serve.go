package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"frontdesk/handlers/devtools"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mock"
)

// newServeCommand returns the command that runs the gateway.
func newServeCommand(assets Assets) *cobra.Command {
	cfg := Config{assets: assets}
	c := &cobra.Command{
		Use: "serve", Short: "Run the gateway (the default).", Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), cfg) },
	}
	addOptions(c.Flags(), cfg.options()...)
	return c
}

// run runs the gateway until the context ends.
func run(ctx context.Context, cfg Config) error {
	log := cfg.newLog(os.Stderr)
	redis.SetLogger(&redisLog{log: slog.New(slog.DiscardHandler)}) // preflight reports Redis errors itself
	if err := cfg.preflight(ctx); err != nil {
		return err
	}
	routeLibraryLogs(log)
	cfg.warn(log)
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	internal, err := cfg.listenInternal(portOf(listener))
	if err != nil {
		return err
	}
	operators, err := cfg.listenForOperators(log)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	world, err := cfg.startMock(ctx, group, internal, portOf(listener), log)
	if err != nil {
		return err
	}
	defer world.stop() // once the gateway no longer calls it
	telemetry, err := cfg.newTelemetry(ctx, log)
	if err != nil {
		return err
	}
	defer telemetry.close()
	g, err := cfg.build(log, telemetry, ctx.Done(), world.devtools)
	if err != nil {
		return err
	}
	public := world.wrap(g.public, g.catalogue.Invalidate)
	drained := drain(ctx, cfg.DrainDelay)
	group.Go(func() error {
		return serve(drained, listener, closeOnShutdown(public, ctx.Done()), world.release)
	})
	if operators != nil {
		group.Go(func() error { return serve(drained, operators, g.ops, func() {}) })
	}
	group.Go(func() error { return g.worker.Run(drained) })
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

// listenInternal fills in the defaults. In mock mode it opens the listener on which the
// gateway itself calls the mock world: the public one closes first, while a payment may
// still be recorded.
func (cfg *Config) listenInternal(port string) (net.Listener, error) {
	if cfg.Mode != "mock" {
		cfg.setDefaults(port, port)
		return nil, nil
	}
	internal, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		cfg.setDefaults(port, portOf(internal))
	}
	return internal, err
}

// listenForOperators opens the operators' listener; nil for none. Several gateways on a
// developer's machine share the default address: the first one serves.
func (cfg *Config) listenForOperators(log *slog.Logger) (net.Listener, error) {
	wanted := cfg.OpsAddr
	cfg.OpsAddr = ""
	if wanted == "off" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", wanted)
	switch {
	case err == nil:
		cfg.OpsAddr = listener.Addr().String()
		log.Info("operators are served", "address", cfg.OpsAddr)
		return listener, nil
	case cfg.Mode != "live" && wanted == defaultOpsAddr && errors.Is(err, syscall.EADDRINUSE):
		log.Warn("operators are not served by this gateway: the address is taken, set FRONTDESK_OPS_ADDR to another", "address", wanted)
		return nil, nil
	default:
		return nil, fmt.Errorf("FRONTDESK_OPS_ADDR: %w", err)
	}
}

// warn logs settings that the mode allows, but that may be mistakes.
func (cfg Config) warn(log *slog.Logger) {
	if cfg.Mode == "mock" && cfg.RedisURL != "" {
		log.Warn("FRONTDESK_REDIS_URL is not used: mock mode embeds its own Redis; FRONTDESK_MODE=test uses yours")
	}
	host, _, err := net.SplitHostPort(cfg.OpsAddr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && !ip.IsLoopback()) {
		log.Warn("FRONTDESK_OPS_ADDR may be reachable from other machines and has no authentication", "address", cfg.OpsAddr)
	}
}

// mockMode is what mock mode adds to the gateway. In the other modes it is empty.
type mockMode struct {
	world    *mock.World
	devtools *devtools.Panel
	stop     func() // stops the internal server and waits for it
}

// startMock starts the outside world of mock mode, which the gateway calls through the
// internal listener. In the other modes it starts nothing.
func (cfg *Config) startMock(ctx context.Context, group *errgroup.Group, internal net.Listener, port string, log *slog.Logger) (*mockMode, error) {
	m := &mockMode{stop: func() {}}
	if cfg.Mode != "mock" {
		return m, nil
	}
	m.devtools = devtools.New(devtools.Config{Now: time.Now})
	m.world = mock.New(mock.Config{
		Now: time.Now, After: time.After, PublicURL: cfg.PublicURL, Log: log,
		WebhookURL: "http://127.0.0.1:" + port + "/v1/webhooks/club/" + cfg.WebhookSecret[0],
	})
	redisURL, err := m.world.StartRedis(ctx, group)
	if err != nil {
		return nil, err
	}
	cfg.RedisURL = redisURL
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = serve(ctx, internal, m.devtools.Wrap(m.world.Handler()), m.world.Close) // the process ends in any case
	}()
	m.stop = func() { cancel(); <-stopped }
	return m, nil
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

// printBanner prints what is served where.
func (cfg Config) printBanner(w io.Writer, at net.Addr) {
	if cfg.Mode != "mock" {
		fmt.Fprintf(w, "Frontdesk (%s mode) is at %s, before the club system at %s. It listens on %s.\n", cfg.Mode, cfg.PublicURL, cfg.ClubURL, at)
		return
	}
	fmt.Fprintf(w, `Frontdesk, mock mode: nothing here is real, and everything is gone when you stop it.

  Signup site         %[1]s/
  API                 %[1]s/v1        documentation: %[1]s/docs
  Club system         %[1]s/sim       (simulated)    control: %[1]s/sim/demo/_control/
  Card processor      %[1]s/sandbox   (sandbox)      payments: %[1]s/sandbox/payments

`, cfg.PublicURL)
	printDemoCredentials(w)
	if slices.Contains(cfg.StaffKeys, demoStaffKey) {
		fmt.Fprintf(w, "  Staff key           %s, in the header X-Frontdesk-Staff-Key\n", demoStaffKey)
	}
	if cfg.OpsAddr != "" {
		fmt.Fprintf(w, "  Operators           http://%s/ops/payments    or: frontdesk payments list\n", reachable(cfg.OpsAddr))
	}
}

// printDemoCredentials prints the test cards and the demo organisation's credentials.
func printDemoCredentials(w io.Writer) {
	fmt.Fprintf(w, `  Test cards          4242424242424242 succeeds         4000000000000002 is declined
                      4000002500003155 asks a question  4000000000009995 lacks funds
  Club credentials    client token %s, client id %s, secret %s, gateway key %s
`, clubsim.DemoClientToken, clubsim.DemoClientID, clubsim.DemoClientSecret, clubsim.DemoGatewayKey)
}
