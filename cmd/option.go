package cmd

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// option is one setting of a command: a part of docs/reference/configuration.md.
type option struct {
	variable     string // the environment variable that sets it; empty: only its flag does
	flag         string // its name on the command line, without the hyphens; empty: as the variable
	value        *value
	defaultValue string // empty: the zero value, or what without says
	help         string
	setBy        string // who sets it; empty for flags that explain themselves
	without      string // what happens if it is not set
}

// name is the option's name on the command line, without the hyphens.
func (o option) name() string {
	variable := strings.TrimPrefix(o.variable, "FRONTDESK_")
	return cmp.Or(o.flag, strings.ToLower(strings.ReplaceAll(variable, "_", "-")))
}

// usage is the option's text in the command's help.
func (o option) usage() string {
	usage := o.help
	if o.without != "" {
		usage += " Without it: " + o.without
	}
	if o.variable != "" {
		usage = strings.TrimSuffix(usage, ".") + " ($" + o.variable + ")."
	}
	return usage
}

// value sets a field from text. It is a pflag.Value.
type value struct {
	kind string // names the value in the help
	text string // the text that was set last
	set  func(text string) error
}

// Set sets the field. An empty text means that the option is not set, however it was given: templates write
// variables without a value, and an empty address would listen on every interface.
func (v *value) Set(text string) error {
	if text == "" {
		return nil
	}
	if err := v.set(text); err != nil {
		return err
	}
	v.text = text
	return nil
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }

func text(field *string) *value {
	return &value{kind: "string", set: func(text string) error { *field = text; return nil }}
}

// oneOf accepts only the given values.
func oneOf(field *string, values ...string) *value {
	return &value{kind: "string", set: func(text string) error {
		if !slices.Contains(values, text) {
			return fmt.Errorf("must be one of %s", strings.Trim(strings.Join(values, ", "), ", "))
		}
		*field = text
		return nil
	}}
}

// list accepts values separated by commas. Each further use of the flag appends.
func list(field *[]string) *value {
	return &value{kind: "list", set: func(text string) error {
		if text != "" {
			*field = append(*field, strings.Split(strings.TrimSuffix(text, ","), ",")...)
		}
		return nil
	}}
}

func yesNo(field *bool) *value {
	return &value{kind: "bool", set: func(text string) error {
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			*field = true
		case "false", "0", "no":
			*field = false
		default:
			return errors.New("must be true, 1, yes, false, 0 or no")
		}
		return nil
	}}
}

func number(field *int) *value {
	return &value{kind: "int", set: func(text string) (err error) { *field, err = strconv.Atoi(text); return err }}
}

// positive accepts whole numbers above 0, which means that the option is not set.
func positive(field *uint64) *value {
	return &value{kind: "uint", set: func(text string) (err error) {
		if *field, err = strconv.ParseUint(text, 10, 64); err != nil || *field == 0 {
			return errors.New("must be a whole number above 0")
		}
		return nil
	}}
}

func duration(field *time.Duration) *value {
	return &value{kind: "duration", set: func(text string) (err error) { *field, err = time.ParseDuration(text); return err }}
}

// word accepts what the field's own UnmarshalText accepts.
func word(field encoding.TextUnmarshaler) *value {
	return &value{kind: "word", set: func(text string) error { return field.UnmarshalText([]byte(text)) }}
}

// parts decodes a list of name:value. Each name must be one of names, and there once at most.
func parts(entries []string, example string, names ...string) (values map[string]string, err error) {
	values = map[string]string{}
	for _, entry := range entries {
		name, value, found := strings.Cut(strings.TrimSpace(entry), ":")
		wrong := ""
		switch {
		case !found || value == "":
			wrong = "which is not name:value, such as " + example
		case !slices.Contains(names, name):
			wrong = "whose name must be one of " + strings.Join(names, ", ")
		case values[name] != "":
			wrong = "which repeats " + name + ": leave one of them out"
		}
		if wrong != "" {
			err = errors.Join(err, fmt.Errorf("has %q, %s", entry, wrong))
			continue
		}
		values[name] = value
	}
	return values, err
}

// variableAnnotation marks a flag with the variable that sets it.
const variableAnnotation = "variable"

func addOptions(flags *pflag.FlagSet, options ...option) {
	flags.SortFlags = false
	for _, option := range options {
		if option.defaultValue != "" {
			if err := option.value.Set(option.defaultValue); err != nil {
				panic(fmt.Sprintf("default of --%s: %v", option.name(), err)) // a mistake in the table
			}
		}
		flag := flags.VarPF(option.value, option.name(), "", option.usage())
		if option.variable != "" {
			flag.Annotations = map[string][]string{variableAnnotation: {option.variable}}
		}
		if option.value.kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}

// readEnvironment sets the flags that the command line leaves out and a variable sets.
func readEnvironment(flags *pflag.FlagSet) (failed error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || failed != nil {
			return
		}
		for _, variable := range flag.Annotations[variableAnnotation] {
			text, from, err := lookup(variable)
			if err == nil && from != "" {
				err = flag.Value.Set(text)
			}
			if err != nil {
				failed = fmt.Errorf("--%s: %w (from %s)", flag.Name, err, from)
			}
		}
	})
	return failed
}

// lookup reads a variable, or the file that its _FILE variant names. from is the
// variable that was read; it is empty if neither is set. An empty one counts as not set.
func lookup(variable string) (text, from string, err error) {
	text = os.Getenv(variable)
	from = variable + "_FILE"
	path := os.Getenv(from)
	switch {
	case path == "" && text != "":
		return text, variable, nil
	case path == "":
		return "", "", nil
	case text != "":
		return "", from, fmt.Errorf("%s and %s are both set: unset one of them", variable, from)
	}
	content, err := os.ReadFile(path) // #nosec G304 G703 -- the operator, who starts the program, names it
	return strings.TrimSpace(string(content)), from, err
}

// variables lists the variables that any command reads.
func variables(command *cobra.Command) (names []string) {
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Annotations[variableAnnotation]...) })
	for _, below := range command.Commands() {
		names = append(names, variables(below)...)
	}
	return names
}

// removedVariables are those of earlier releases, with what to do instead. Live mode refuses them; the other modes warn.
var removedVariables = map[string]string{ //nolint:gosec // names of variables, no credentials
	"FRONTDESK_CARD_PROCESSOR":         "remove it; test mode pays at FRONTDESK_SANDBOX_URL if that is set, else with the keys of Stripe",
	"FRONTDESK_CLUB_KEY_HEADER":        "set FRONTDESK_CLUB_API=key-header:…",
	"FRONTDESK_CLUB_TOKEN_PATH":        "set FRONTDESK_CLUB_API=token-path:…",
	"FRONTDESK_CLUB_PATH_PREFIX":       "set FRONTDESK_CLUB_API=path-prefix:…",
	"FRONTDESK_METHODS_VISITOR":        "set FRONTDESK_METHODS=visitor:…, with the methods joined by +",
	"FRONTDESK_METHODS_CONTACT":        "set FRONTDESK_METHODS=contact:…, with the methods joined by +",
	"FRONTDESK_METHODS_STAFF":          "set FRONTDESK_METHODS=staff:…, with the methods joined by +",
	"FRONTDESK_LATER_DAYS":             "set FRONTDESK_METHODS=later-days:…",
	"FRONTDESK_SMS_DAILY":              "remove it; a day allows four times FRONTDESK_SMS_HOURLY",
	"FRONTDESK_SMS_ORGANISATION_DAILY": "remove it; a day allows four times FRONTDESK_SMS_ORGANISATION_HOURLY",
	"FRONTDESK_SMS_MIN_CONVERSION":     "remove it; visitors must enter a quarter of a club's codes",
}

// warnUnknownVariables warns of variables with our prefix that no command reads, such
// as misspelt ones.
func warnUnknownVariables(w io.Writer, known, environment []string) {
	names := &cobra.Command{SuggestionsMinimumDistance: 3} // its commands are the known names, so that cobra can suggest one
	for _, name := range known {
		names.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for _, line := range environment {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "FRONTDESK_") || slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
			continue
		}
		hint := ""
		if instead, removed := removedVariables[strings.TrimSuffix(name, "_FILE")]; removed {
			hint = ": " + instead
		} else if nearest := names.SuggestionsFor(name); len(nearest) > 0 {
			hint = "; did you mean " + nearest[0] + "?"
		}
		fmt.Fprintf(w, "frontdesk: warning: %s is not known and not used%s\n", name, hint)
	}
}
