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
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mock"
)

type simConfig struct {
	addr, publicURL, webhookURL string
	settings                    *clubsim.Settings
	account                     sandbox.Account
	seed                        uint64
	smtpAddr                    string
	catalogue                   mock.CatalogueFile
}

func (cfg *simConfig) options() []option {
	return []option{
		{
			variable:     "FRONTDESK_SIM_ADDR",
			flag:         "addr",
			value:        text(&cfg.addr),
			defaultValue: "127.0.0.1:8081",
			help:         "Address on which the simulator listens.",
			setBy:        "Teams whose gateways or browsers are on another machine.",
			without:      "Only this machine reaches it.",
		},
		{
			variable: "FRONTDESK_SIM_PUBLIC_URL",
			flag:     "public-url",
			value:    text(&cfg.publicURL),
			help:     "Address under which browsers reach the simulator and the processor.",
			setBy:    "Teams with a proxy in front of it, as in compose.yaml.",
			without:  "http:// and the address.",
		},
		{
			variable: "FRONTDESK_SIM_WEBHOOK_URL",
			flag:     "webhook-url",
			value:    text(&cfg.webhookURL),
			help: "Address to which the simulated club system sends its events, such as " +
				"http://127.0.0.1:8080/v1/webhooks/club/" + demoWebhookSecret + ".",
			setBy:   "Teams that try club events.",
			without: "None is sent, until the simulator's settings name an address.",
		},
		{
			variable: "FRONTDESK_SIM_SETTINGS",
			flag:     "settings",
			value:    settingsFile(&cfg.settings),
			help: "File with the settings of every new or reset world, as YAML or JSON: those of _control/settings. " +
				"frontdesk probe writes one for your installation.",
			setBy:   "Teams that play an installation which differs from the club system's description.",
			without: "The club system's description.",
		},
		catalogueOption(&cfg.catalogue),
		clubsOption(&cfg.catalogue),
		{
			variable: "FRONTDESK_SIM_SMTP_ADDR",
			flag:     "smtp-addr",
			value:    text(&cfg.smtpAddr),
			help: "Address on which a mail server puts mails into the worlds' mailboxes, such as 127.0.0.1:8025: for FRONTDESK_SMTP_URL of " +
				"gateways in test mode, such as smtp://127.0.0.1:8025.",
			setBy:   "Teams that read the mails of several gateways.",
			without: "No mail arrives.",
		},
		{
			variable: "FRONTDESK_STRIPE_SECRET_KEY",
			value:    text(&cfg.account.SecretKey),
			help:     "Secret key that the sandbox card processor accepts, as the gateway's.",
			setBy:    "Teams whose gateways have keys of their own.",
			without:  "The demo key, which is the gateway's default too.",
		},
		{
			variable: "FRONTDESK_STRIPE_PUBLISHABLE_KEY",
			value:    text(&cfg.account.PublishableKey),
			help:     "Publishable key that it accepts.",
			setBy:    "Teams that set the secret key.",
			without:  "The demo key.",
		},
		{
			variable: "FRONTDESK_STRIPE_WEBHOOK_SECRET",
			value:    list(&cfg.account.WebhookSecrets),
			help:     "Secrets with which it signs its events.",
			setBy:    "Teams that set the secret key.",
			without:  "The demo secret.",
		},
		{
			variable: "FRONTDESK_SANDBOX_SEED",
			value:    positive(&cfg.seed),
			help: "Seed of its ids: the same calls in the same order then get the same ids. Start a repetition with an empty Redis, " +
				"because the former ids are those of other payments there.",
			setBy:   "Tests that compare whole responses.",
			without: "A random one, which is logged.",
		},
	}
}

// settingsFile reads the named file.
func settingsFile(field **clubsim.Settings) *value {
	return &value{kind: "file", set: func(path string) error {
		content, err := os.ReadFile(path) // #nosec G304 -- the operator, who starts the program, names it
		if err != nil {
			return err
		}
		settings, err := clubsim.ParseSettings(content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		*field = &settings
		return nil
	}}
}

func newSimCommand() *cobra.Command {
	var cfg simConfig
	command := &cobra.Command{
		Use:   "sim",
		Short: "Run only the simulator of the club system and the sandbox card processor.",
		Args:  exactArgs(),
		RunE:  func(command *cobra.Command, _ []string) error { return cfg.run(command.Context()) },
	}
	addOptions(command.Flags(), cfg.options()...)
	return command
}

func (cfg simConfig) run(ctx context.Context) error {
	secret := cmp.Or(cfg.account.SecretKey, sandbox.DemoSecretKey)
	publishable := cmp.Or(cfg.account.PublishableKey, sandbox.DemoPublishableKey)
	if strings.Contains(secret, "k_live_") != strings.HasPrefix(publishable, "pk_live_") {
		return errors.New("FRONTDESK_STRIPE_SECRET_KEY and FRONTDESK_STRIPE_PUBLISHABLE_KEY must both be live keys or both test keys: " +
			"set both, or neither for the demo keys")
	}
	catalogue, err := cfg.catalogue.Read()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.addr)
	if err != nil {
		return err
	}
	base := cmp.Or(strings.TrimSuffix(cfg.publicURL, "/"), "http://"+listener.Addr().String())
	world := mock.New(mock.Config{
		Now:        time.Now,
		After:      time.After,
		PublicURL:  base,
		WebhookURL: cfg.webhookURL,
		Settings:   cfg.settings,
		Catalogue:  catalogue,
		Account:    cfg.account,
		Seed:       cfg.seed,
		Log:        slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if cfg.smtpAddr != "" {
		mails, err := world.StartMail(cfg.smtpAddr)
		if err != nil {
			return fmt.Errorf("FRONTDESK_SIM_SMTP_ADDR: %w", err)
		}
		fmt.Printf("The mail server is at %s (FRONTDESK_SMTP_URL).\n", mails)
	}
	if cfg.catalogue.Path != "" {
		go world.WatchCatalogue(ctx, cfg.catalogue)
	}
	go world.Run(ctx) //nolint:errcheck // it has no gateway that could fail
	fmt.Printf("The club system's simulator is at %s/sim, the sandbox card processor at %s/sandbox.\n", base, base)
	printDemoCredentials(os.Stdout)
	return serve(ctx, listener, world, world.Close)
}
