package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewLog returns the log of mock mode.
func NewLog(w io.Writer) *slog.Logger { return Config{Mode: "mock"}.newLog(w) }

// Serve is serve.
var Serve = serve

// WriteConfiguration writes docs/reference/configuration.md from the tables of options, for
// TestReference.
//
//go:generate go test -run TestReference -update .
func WriteConfiguration(w io.Writer) {
	fmt.Fprint(w, `# Configuration

<!-- Generated from the options in cmd/config.go and cmd/sim.go: go generate ./cmd -->

Each option is an environment variable and a flag; the flag wins. A variable with `+"`_FILE`"+` appended names a file that holds the value, for secrets. An empty value counts as not set, so that the default applies. Values of a list are separated by commas. Live mode refuses to start while anything is missing or unsafe, and lists all of it at once.
`)
	writeOptions(w, "frontdesk serve", new(Config).options())
	writeOptions(w, "frontdesk sim", new(simConfig).options())
	fmt.Fprint(w, `
## Other commands

`+"`doctor` takes the options of `serve`. `health` reads `FRONTDESK_ADDR`. The operators' commands (`payments`, `invite`, `erase`, `webhooks`, `queue`) read `FRONTDESK_OPS_ADDR` to reach a gateway, and `FRONTDESK_OPERATOR_TOKEN`, which identifies the operator. [Commands](cli.md) lists the flags that have no variable."+`
`)
}

// writeOptions writes the options of a command as a table.
func writeOptions(w io.Writer, command string, options []option) {
	fmt.Fprintf(w, "\n## `%s`\n\n| Variable | Flag | Default | Meaning |\n|---|---|---|---|\n", command)
	for _, o := range options {
		defaultValue := ""
		if o.defaultValue != "" {
			defaultValue = "`" + o.defaultValue + "`"
		}
		fmt.Fprintf(w, "| `%s` | `--%s` | %s | %s |\n", strings.ReplaceAll(o.variables, " ", "` `"), o.flag, defaultValue, o.help)
	}
}

// WriteCommands writes docs/reference/cli.md from the commands, for TestReference.
func WriteCommands(w io.Writer) {
	fmt.Fprintf(w, `# Commands

<!-- Generated from the commands in cmd: go generate ./cmd -->

Without a command, `+"`frontdesk` runs `serve`. `frontdesk COMMAND --help` prints what this page says"+`. A flag wins over its variable.

| Exit code | Meaning |
|---|---|
| 0 | The command succeeded, or the gateway was stopped and finished its requests. |
| 1 | The command failed: standard error has the reason. |
| %d | The command line or a variable is wrong; nothing was done. |
`, exitUsage)
	for _, c := range newRootCommand(Assets{}).Commands() {
		writeCommand(w, c)
	}
}

// writeCommand writes a command, then its subcommands.
func writeCommand(w io.Writer, c *cobra.Command) {
	usage, above := c.UseLine(), "Flag"
	if c.HasSubCommands() {
		usage, above = c.CommandPath()+" COMMAND [flags]", "Flag of each command below"
	}
	fmt.Fprintf(w, "\n## `%s`\n\n%s\n\n```\n%s\n```\n", c.CommandPath(), c.Short, usage)
	configured := map[string]string{"serve": "serve", "doctor": "serve", "sim": "sim"}[c.Name()]
	if configured != "" {
		fmt.Fprintf(w, "\n[Configuration](configuration.md#frontdesk-%s) lists its flags.\n", configured)
	}
	var flags, oneOf []string
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if configured != "" && len(flag.Annotations[variableAnnotation]) > 0 {
			return
		}
		flags = append(flags, flagRow(flag))
		if len(flag.Annotations["cobra_annotation_one_required"]) > 0 {
			oneOf = append(oneOf, "`--"+flag.Name+"`")
		}
	})
	if len(oneOf) > 0 {
		fmt.Fprintf(w, "\nExactly one of %s is required.\n", strings.Join(oneOf, ", "))
	}
	if len(flags) > 0 {
		fmt.Fprintf(w, "\n| %s | Variable | Default | Meaning |\n|---|---|---|---|\n%s", above, strings.Join(flags, ""))
	}
	for _, below := range c.Commands() {
		writeCommand(w, below)
	}
}

// flagRow returns the row of a flag in its command's table.
func flagRow(flag *pflag.Flag) string {
	kind, help := pflag.UnquoteUsage(flag)
	variables, defaultValue := "", flag.DefValue
	if names := flag.Annotations[variableAnnotation]; len(names) > 0 {
		variables = "`" + strings.Join(names, "` `") + "`"
		help = strings.Replace(help, " ($"+strings.Join(names, ", $")+")", "", 1)
	}
	if defaultValue == "false" {
		defaultValue = ""
	}
	if defaultValue != "" {
		defaultValue = "`" + defaultValue + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", strings.TrimSpace("--"+flag.Name+" "+kind), variables, defaultValue, help)
}

// Defaults returns the configuration of a mode whose operator sets nothing else than the given flags.
func Defaults(mode string, flags ...string) (cfg Config, err error) {
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	addOptions(set, cfg.options()...)
	err = set.Parse(append([]string{"--mode=" + mode}, flags...))
	cfg.setDefaults("8080", "8081")
	return cfg, err
}

// AsksRepeats is asksRepeats.
func (cfg Config) AsksRepeats(clientToken string) bool { return cfg.asksRepeats(clientToken) }

// RateLimited is rateLimited.
func (cfg Config) RateLimited() bool { return cfg.rateLimited() }

// CardScriptURL is cardScriptURL.
func (cfg Config) CardScriptURL() string { return cfg.cardScriptURL() }
