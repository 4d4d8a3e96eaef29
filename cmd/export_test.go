package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"frontdesk/flows"
	"frontdesk/upstream/collector"
)

// NewLog returns the log of mock mode.
func NewLog(w io.Writer) *slog.Logger { return Config{Mode: "mock"}.newLog(w) }

// RecordedVersion is recordedVersion.
var RecordedVersion = recordedVersion

// Serve is serve.
var Serve = serve

// WriteConfiguration writes docs/reference/configuration.md from the tables of options, for
// TestReference.
//
//go:generate go test -run TestReference -update .
func WriteConfiguration(w io.Writer) {
	fmt.Fprint(w, `# Configuration

<!-- Generated from the options in cmd/config_options.go and cmd/sim.go: go generate ./cmd -->

Mock mode needs no option. Each option is an environment variable and a flag; the flag wins. An empty value counts as not set. `+
		"A variable with `_FILE`"+` appended names a file that holds the value, for secrets. Values of a list are separated by commas.

Live mode refuses to start while anything is missing or unsafe, or a variable of an earlier release is set. It lists all of it at once; `+
		"[Deploy](../how-to/deploy.md#go-live) lists the conditions."+`

## `+"`frontdesk serve`"+`
`)
	for _, group := range new(Config).groups() {
		fmt.Fprintf(w, "\n### %s\n", group.heading)
		writeOptions(w, "####", group.options)
	}
	fmt.Fprintf(w, `
### Traces

The trace exporter reads OpenTelemetry's own variables: %s. Each but the first one has a variant for traces alone, such as `+
		"`OTEL_EXPORTER_OTLP_TRACES_HEADERS`, which wins"+`. None has a flag.

- Set by: Operators who collect traces, over OTLP/HTTP. The first one is the collector's base address, such as http://127.0.0.1:4318.
- Without it: No spans are exported, and the others have no effect.

## `+"`frontdesk sim`"+`
`, "`"+strings.Join(collector.Variables(), "`, `")+"`")
	writeOptions(w, "###", new(simConfig).options())
	fmt.Fprint(w, `
## Other commands

`+"`doctor` and `probe` take the options of `serve`. `health` reads `FRONTDESK_ADDR`. The operators' commands (`payments`, `invite`, "+
		"`erase`, `webhooks`, `queue`) read `FRONTDESK_OPS_ADDR` to reach a gateway, and `FRONTDESK_OPERATOR_TOKEN`, which identifies the "+
		"operator. [Commands](cli.md) lists the flags that have no variable."+`
`)
}

// writeOptions writes a section for each option, which a phone shows without scrolling sideways.
func writeOptions(w io.Writer, heading string, options []option) {
	for _, option := range options {
		fmt.Fprintf(w, "\n%s `%s`\n\n%s\n\n", heading, option.variable, option.help)
		fmt.Fprintf(w, "- Set by: %s\n- Without it: %s\n- Flag: `--%s`\n", option.setBy, option.without, option.name())
	}
}

// Options lists what the reference says of each option: its help, who sets it, and what happens without it.
func Options() (answers map[string][3]string) {
	answers = map[string][3]string{}
	for _, option := range slices.Concat(new(Config).options(), new(simConfig).options()) {
		answers[option.name()] = [3]string{option.help, option.setBy, option.without}
	}
	return answers
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
| %d | The installation has changed since the file of `+"`frontdesk probe --compare`"+` was written. |
| %d | The command line or a variable is wrong; nothing was done. |
`, exitDrift, exitUsage)
	for _, command := range newRootCommand(Assets{}).Commands() {
		writeCommand(w, command)
	}
}

// writeCommand writes a command, then its subcommands.
func writeCommand(w io.Writer, command *cobra.Command) {
	usage, above := command.UseLine(), "Flag"
	if command.HasSubCommands() {
		usage, above = command.CommandPath()+" COMMAND [flags]", "Flag of each command below"
	}
	fmt.Fprintf(w, "\n## `%s`\n\n%s\n\n```\n%s\n```\n", command.CommandPath(), command.Short, usage)
	configured := map[string]string{"serve": "serve", "doctor": "serve", "probe": "serve", "sim": "sim"}[command.Name()]
	if configured != "" {
		fmt.Fprintf(w, "\n[Configuration](configuration.md#frontdesk-%s) lists its flags.\n", configured)
	}
	var flags, oneOf []string
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
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
	for _, below := range command.Commands() {
		writeCommand(w, below)
	}
}

// flagRow returns the row of a flag in its command's table.
func flagRow(flag *pflag.Flag) string {
	kind, help := pflag.UnquoteUsage(flag)
	variable, defaultValue := "", flag.DefValue
	for _, name := range flag.Annotations[variableAnnotation] {
		variable = "`" + name + "`"
		help = strings.Replace(help, " ($"+name+")", "", 1)
	}
	if defaultValue == "false" {
		defaultValue = ""
	}
	if defaultValue != "" {
		defaultValue = "`" + defaultValue + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", strings.TrimSpace("--"+flag.Name+" "+kind), variable, defaultValue, help)
}

// Defaults returns the configuration of a mode whose operator sets nothing else than the given flags.
func Defaults(mode string, flags ...string) (cfg Config, err error) {
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	addOptions(set, cfg.options()...)
	err = set.Parse(append([]string{"--mode=" + mode}, flags...))
	cfg.setDefaults("8080")
	return cfg, err
}

// MethodPolicy is methodPolicy.
func (cfg Config) MethodPolicy() (flows.MethodPolicy, error) { return cfg.methodPolicy() }

// AsksRepeats is asksRepeats.
func (cfg Config) AsksRepeats(clientToken string) bool { return cfg.asksRepeats(clientToken) }

// RateLimited is rateLimited.
func (cfg Config) RateLimited() bool { return cfg.rateLimited() }

// CardScriptURL is cardScriptURL.
func (cfg Config) CardScriptURL() string { return cfg.cardScriptURL() }
