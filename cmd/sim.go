package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/mock"
)

type simConfig struct {
	addr, publicURL, webhookURL string
	account                     sandbox.Account
	seed                        uint64
}

func (cfg *simConfig) options() []option {
	return []option{
		{"addr", "FRONTDESK_SIM_ADDR", text(&cfg.addr), "127.0.0.1:8081", "Address on which the simulator listens."},
		{"public-url", "FRONTDESK_SIM_PUBLIC_URL", text(&cfg.publicURL), "", "Address under which browsers reach the simulator and the processor. Default: http:// and the address."},
		{"webhook-url", "FRONTDESK_SIM_WEBHOOK_URL", text(&cfg.webhookURL), "", "Address to which the simulated club system sends its events, such as http://127.0.0.1:8080/v1/webhooks/club/demo-webhook-secret. Default: none, until the simulator's settings name one."},
		{"stripe-secret-key", "FRONTDESK_STRIPE_SECRET_KEY", text(&cfg.account.SecretKey), "", "Secret key that the sandbox card processor accepts, as the gateway's. Default: the demo key, which is the gateway's default too."},
		{"stripe-publishable-key", "FRONTDESK_STRIPE_PUBLISHABLE_KEY", text(&cfg.account.PublishableKey), "", "Publishable key that it accepts. Default: the demo key."},
		{"stripe-webhook-secret", "FRONTDESK_STRIPE_WEBHOOK_SECRET", list(&cfg.account.WebhookSecrets), "", "Secrets with which it signs its events. Default: the demo secret."},
		{"sandbox-seed", "FRONTDESK_SANDBOX_SEED", positive(&cfg.seed), "",
			"Seed of its ids: the same calls in the same order then get the same ids. Start a repetition with an empty Redis, " +
				"because the former ids are those of other payments there. Default: a random one, which is logged."},
	}
}

func newSimCommand() *cobra.Command {
	var cfg simConfig
	c := &cobra.Command{
		Use: "sim", Short: "Run only the simulator of the club system and the sandbox card processor.", Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return cfg.run(c.Context()) },
	}
	addOptions(c.Flags(), cfg.options()...)
	return c
}

func (cfg simConfig) run(ctx context.Context) error {
	secret := cmp.Or(cfg.account.SecretKey, sandbox.DemoSecretKey)
	publishable := cmp.Or(cfg.account.PublishableKey, sandbox.DemoPublishableKey)
	if strings.Contains(secret, "k_live_") != strings.HasPrefix(publishable, "pk_live_") {
		return errors.New("FRONTDESK_STRIPE_SECRET_KEY and FRONTDESK_STRIPE_PUBLISHABLE_KEY must both be live keys or both test keys: " +
			"set both, or neither for the demo keys")
	}
	listener, err := net.Listen("tcp", cfg.addr)
	if err != nil {
		return err
	}
	base := cmp.Or(strings.TrimSuffix(cfg.publicURL, "/"), "http://"+listener.Addr().String())
	world := mock.New(mock.Config{
		Now: time.Now, After: time.After, PublicURL: base, WebhookURL: cfg.webhookURL, Account: cfg.account, Seed: cfg.seed,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	fmt.Printf("The club system's simulator is at %s/sim, the sandbox card processor at %s/sandbox.\n", base, base)
	printDemoCredentials(os.Stdout)
	return serve(ctx, listener, world.Handler(), world.Close)
}
