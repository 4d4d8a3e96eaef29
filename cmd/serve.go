package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
)

func newServeCommand(assets Assets) *cobra.Command {
	cfg := Config{assets: assets, now: time.Now}
	command := &cobra.Command{
		Use: "serve", Short: "Run the gateway (the default).", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error { return run(command.Context(), cfg) },
	}
	addOptions(command.Flags(), cfg.options()...)
	return command
}

func run(ctx context.Context, cfg Config) error {
	log := cfg.newLog(os.Stderr)
	logging.Disable() // of the Redis client; preflight reports its errors
	if err := cfg.preflight(ctx); err != nil {
		return err
	}
	routeLibraryLogs(log)
	cfg.warn(log)
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	cfg.setDefaults(portOf(listener))
	operators, err := cfg.listenForOperators(log)
	if err != nil {
		return err
	}
	metrics, err := listen("FRONTDESK_METRICS_ADDR", cfg.MetricsAddr)
	if err != nil {
		return err
	}
	if metrics != nil {
		log.InfoContext(ctx, "metrics are served", "address", metrics.Addr().String())
	}
	telemetry, err := cfg.newTelemetry(ctx, log)
	if err != nil {
		return err
	}
	defer telemetry.close()
	gateway, err := cfg.newGateway(ctx, portOf(listener), telemetry, log)
	if err != nil {
		return err
	}
	defer gateway.close()
	drained := drain(ctx, cfg.DrainDelay)
	group.Go(func() error {
		return serve(drained, listener, closeOnShutdown(gateway.public, ctx.Done()), gateway.release)
	})
	if operators != nil {
		group.Go(func() error { return serve(drained, operators, gateway.ops, func() {}) })
	}
	if metrics != nil {
		group.Go(func() error { return serve(drained, metrics, gateway.metrics, func() {}) })
	}
	group.Go(func() error { return gateway.run(drained) })
	cfg.printBanner(os.Stdout, listener.Addr())
	return group.Wait()
}

// newGateway makes the gateway, or in mock mode those of all worlds.
func (cfg *Config) newGateway(ctx context.Context, port string, seen *telemetry, log *slog.Logger) (composed gateway, err error) {
	if cfg.Mode == "mock" {
		return cfg.newMockGateway(ctx, port, seen, log)
	}
	if composed, err = cfg.build(log, cfg.withMetrics(seen), ctx.Done(), nil); err != nil {
		return composed, err
	}
	return composed, cfg.checkFingerprint(ctx, composed.payments, log)
}

// checkFingerprint refuses to start with a Redis that holds the payments of another account, organisation or mode, or with
// a key that may not read what each card payment needs. A gateway that cannot find out starts, and advances no card payment
// until it can.
func (cfg *Config) checkFingerprint(ctx context.Context, payments *payment.Machine, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := payments.CheckFingerprint(ctx)
	if foreign, ok := errors.AsType[*payment.FingerprintError](err); ok {
		return fmt.Errorf("cannot start in %s mode: %w", cfg.Mode, foreign)
	}
	if errors.Is(err, cards.ErrNoPermission) {
		return fmt.Errorf("cannot start in %s mode: %w", cfg.Mode, err)
	}
	if err != nil {
		log.WarnContext(ctx, "fingerprint not compared with redis; no card payment is advanced until then", "error", err)
	}
	return nil
}

func portOf(listener net.Listener) string {
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) //nolint:errcheck // every listener here is of TCP
}

// listen opens a listener; nil for off. An empty address opens none, because it would mean every interface.
func listen(variable, address string) (net.Listener, error) {
	if address == "off" || address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return listener, nil
}

// listenForOperators opens the operators' listener; nil for none. Several gateways on a
// developer's machine share the default address: the first one serves.
func (cfg *Config) listenForOperators(log *slog.Logger) (net.Listener, error) {
	listener, err := listen("FRONTDESK_OPS_ADDR", cfg.OpsAddr)
	if cfg.Mode != "live" && cfg.OpsAddr == defaultOpsAddr && errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("operators are not served by this gateway: address in use; set FRONTDESK_OPS_ADDR to another", "address", cfg.OpsAddr)
		err = nil
	}
	cfg.OpsAddr = "" // none is served
	if listener != nil {
		cfg.OpsAddr = listener.Addr().String()
		log.Info("operators are served", "address", cfg.OpsAddr)
	}
	return listener, err
}

// warn logs settings that the mode allows, but that may be mistakes.
func (cfg Config) warn(log *slog.Logger) {
	if cfg.Mode == "mock" && cfg.RedisURL != "" {
		log.Warn("FRONTDESK_REDIS_URL ignored: mock mode embeds its own Redis; use yours with FRONTDESK_MODE=test")
	}
	if cfg.Mode == "mock" && cfg.SandboxURL+cfg.Stripe.URL+cfg.Stripe.SecretKey+cfg.StripePublicKey != "" {
		log.Warn("FRONTDESK_SANDBOX_URL and FRONTDESK_STRIPE_… ignored: mock mode embeds its own card processor; " +
			"use yours with FRONTDESK_MODE=test")
	}
	host, _, err := net.SplitHostPort(cfg.OpsAddr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && !ip.IsLoopback()) {
		log.Warn("FRONTDESK_OPS_ADDR may be reachable from other machines, and metrics and profiles need no token", "address", cfg.OpsAddr)
	}
}
