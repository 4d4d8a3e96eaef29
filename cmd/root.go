// Package cmd is the command line of Frontdesk: one file per command, the options
// of the gateway (config.go, config_options.go), their validation in each mode
// (validate.go, live.go), and the composition of the gateway (serve.go, gateway.go).
// Only this package reads the environment and the clock. It has no logic of the
// journeys: that is in package flows.
//
// Start reading at newRootCommand, then at run in serve.go.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // TZ works where the system has no time zone files, as in the image

	"github.com/spf13/cobra"
)

// Assets are the files that the binary carries. Package main embeds them, because
// the directive go:embed cannot reach above its own folder.
type Assets struct {
	Contract []byte // openapi.yaml
	Events   []byte // asyncapi.yaml
	Site     fs.FS  // the signup site, with web-example as its root
	Client   fs.FS  // the client, which the site imports, with client as its root
	Examples fs.FS  // the files below docs/examples
}

// exitUsage is the exit code for a command line or a variable that cannot be
// understood. Code 1 is left to commands that report a failure, such as doctor.
const exitUsage = 80

// Execute runs the command line of this process. It exits with a code other than 0
// on failure. The first SIGINT or SIGTERM stops gracefully, another one kills. A repeat
// within a second is the same order: the terminal, npx and other launchers each pass on
// one Ctrl-C to a process.
func Execute(assets Assets) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	if code, err := execute(ctx, assets, os.Args[1:], os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "frontdesk: "+err.Error())
		stop()
		os.Exit(code)
	}
}

// execute runs a command line. The code is the exit code; it is 0 without an error.
func execute(ctx context.Context, assets Assets, args, environment []string) (code int, err error) {
	root, running := newRootCommand(assets), false
	root.PersistentPreRunE = func(command *cobra.Command, _ []string) error {
		if err := readEnvironment(command.Flags()); err != nil {
			return err
		}
		err := errors.Join(command.ValidateRequiredFlags(), command.ValidateFlagGroups())
		running = err == nil
		return err
	}
	root.SetArgs(withDefaultCommand(args))
	warnUnknownVariables(os.Stderr, variables(root), environment)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0, nil
	case errors.Is(err, errDrift):
		return exitDrift, err
	case running:
		return 1, err
	default:
		return exitUsage, fmt.Errorf("error: %w", err)
	}
}

func newRootCommand(assets Assets) *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:               "frontdesk",
		Short:             "The back end of a fitness club's signup. Without configuration it runs as its own mock.",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(
		newServeCommand(assets), newSimCommand(), newMCPCommand(), newCatalogueCommand(), newDoctorCommand(assets), newProbeCommand(assets),
		newWebhooksCommand(), newMailCommand(), newQueueCommand(), newPaymentsCommand(), newStatementsCommand(),
		newInviteCommand(), newEraseCommand(), newConfirmationCommand(), newOperatorsCommand(),
		newHealthCommand(), newVersionCommand(),
	)
	return root
}

// withDefaultCommand adds serve to a command line that names no command.
func withDefaultCommand(args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") && args[0] != "-h" && args[0] != "--help" {
		return append([]string{"serve"}, args...)
	}
	return args
}

// newGroup returns a command that consists of subcommands. Run without one of them,
// it fails with their names.
func newGroup(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	names := make([]string, len(subcommands))
	for i, command := range subcommands {
		names[i] = command.Name()
	}
	fail := func(command *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q; commands: %s", args[0], command.CommandPath(), strings.Join(names, ", "))
		}
		return fmt.Errorf("%q needs a command: %s", command.CommandPath(), strings.Join(names, ", "))
	}
	group := &cobra.Command{Use: use, Short: short, Args: fail, RunE: fail}
	group.AddCommand(subcommands...)
	return group
}

func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("<%s> is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %s", args[len(names)])
		}
		return nil
	}
}
