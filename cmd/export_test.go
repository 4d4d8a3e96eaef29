package cmd

import (
	"fmt"
	"io"
	"strings"
)

// WriteReference writes docs/reference/configuration.md from the tables of options, for
// TestConfigurationReference.
//
//go:generate go test -run TestConfigurationReference -update .
func WriteReference(w io.Writer) {
	fmt.Fprint(w, `# Configuration

<!-- Generated from the options in cmd/config.go and cmd/sim.go: go generate ./cmd -->

Each option is an environment variable and a flag; the flag wins. A variable with `+"`_FILE`"+` appended names a file that holds the value, for secrets. Values of a list are separated by commas. Live mode refuses to start while anything is missing or unsafe, and lists all of it at once.
`)
	writeOptions(w, "frontdesk serve", new(Config).options())
	writeOptions(w, "frontdesk sim", new(simConfig).options())
	fmt.Fprint(w, `
## Other commands

`+"`doctor` takes the options of `serve`. `health` reads `FRONTDESK_ADDR`. The operators' commands (`payments`, `invite`, `erase`, `webhooks`, `queue`) read `FRONTDESK_OPS_ADDR` to reach a gateway, and `USER` for `--operator`, the login name that the audit records. `frontdesk COMMAND --help` lists the flags that have no variable."+`
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
