package cmd

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file is about the flags of command.go: their values, and the variables
// that say them.

// variableOf is the note on a flag which variable says its value.
const variableOf = "variable"

// requiredGroup marks a group of flags of which one has to be given.
const requiredGroup = " required"

// option is the value of a flag or an argument: a field of a command. It is a pflag.Value.
type option struct {
	kind  string // what stands for a value in the help
	text  string // as it was set
	enum  []string
	parse func(string) error
}

// Set gives the field a value.
func (o *option) Set(text string) error {
	if o.enum != nil && !slices.Contains(o.enum, text) {
		return fmt.Errorf("it has to be one of %s", strings.Trim(strings.Join(o.enum, ", "), ", "))
	}
	o.text = text
	return o.parse(text)
}

// String returns the value as it was set.
func (o *option) String() string { return o.text }

// Type returns what stands for a value in the help.
func (o *option) Type() string { return o.kind }

// newOption makes a value of a pointer to a field, with the field's default.
func newOption(field any, tag reflect.StructTag) (*option, error) {
	o := &option{}
	if o.kind, o.parse = parserOf(field); o.parse == nil {
		return nil, fmt.Errorf("no flag can be a %T", field)
	}
	if enum, ok := tag.Lookup("enum"); ok {
		o.enum = strings.Split(enum, ",")
	}
	if placeholder := tag.Get("placeholder"); placeholder != "" {
		o.kind = placeholder
	}
	otherwise := os.Expand(tag.Get("default"), func(string) string { return operatorName() })
	if otherwise == "" {
		return o, nil
	}
	return o, o.Set(otherwise)
}

// parserOf tells how a field is set by a text; nil: it cannot be.
func parserOf(field any) (kind string, parse func(string) error) {
	switch at := field.(type) {
	case *string:
		return "string", func(text string) error { *at = text; return nil }
	case *bool:
		return "bool", func(text string) (err error) { *at, err = parseBool(text); return err }
	case *int:
		return "int", func(text string) (err error) { *at, err = strconv.Atoi(text); return err }
	case *time.Duration:
		return "duration", func(text string) (err error) { *at, err = time.ParseDuration(text); return err }
	case *[]string:
		return "list", func(text string) error { *at = append(*at, splitList(text)...); return nil }
	case encoding.TextUnmarshaler:
		return "word", func(text string) error { return at.UnmarshalText([]byte(text)) }
	}
	return "", nil
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, errors.New("it has to be true, 1, yes, false, 0 or no")
}

// splitList reads values with commas between; one at the end ends the list.
func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, ","), ",")
}

// addFlag adds a field's flag to a command. Groups of flags that exclude each
// other are noted in exclusive, by the word that they share.
func addFlag(c *cobra.Command, name string, tag reflect.StructTag, field any, exclusive map[string][]string) error {
	value, err := newOption(field, tag)
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	help := tag.Get("help")
	_, required := tag.Lookup("required")
	group := tag.Get("xor")
	if required && group == "" {
		help = strings.TrimSuffix(help, ".") + "; required."
	}
	variables := strings.FieldsFunc(tag.Get("env"), func(r rune) bool { return r == ',' })
	if len(variables) > 0 {
		help = strings.TrimSuffix(help, ".") + " ($" + strings.Join(variables, ", $") + ")."
	}
	flag := c.PersistentFlags().VarPF(value, name, "", help)
	if value.kind == "bool" {
		flag.NoOptDefVal = "true"
	}
	if len(variables) > 0 {
		flag.Annotations = map[string][]string{variableOf: variables}
	}
	switch {
	case group != "" && required:
		exclusive[group+requiredGroup] = append(exclusive[group+requiredGroup], name)
	case group != "":
		exclusive[group] = append(exclusive[group], name)
	case required:
		return c.MarkPersistentFlagRequired(name)
	}
	return nil
}

// readEnvironment sets what the command line has not said, and a variable does.
func readEnvironment(c *cobra.Command) (failed error) {
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || failed != nil {
			return
		}
		for _, variable := range flag.Annotations[variableOf] {
			text, from, err := valueOf(variable)
			if err == nil && from != "" {
				err = flag.Value.Set(text)
			}
			if err != nil {
				failed = fmt.Errorf("--%s: %w (from %s)", flag.Name, err, from)
			}
			if from != "" {
				return // the first one that is set counts
			}
		}
	})
	return failed
}

// valueOf reads a variable, or the file that the variable with _FILE behind it
// names: secrets come in files. from is empty where neither is set.
func valueOf(variable string) (text, from string, err error) {
	text, isSet := os.LookupEnv(variable)
	from = variable + "_FILE"
	path := os.Getenv(from)
	switch {
	case path == "" && isSet:
		return text, variable, nil
	case path == "":
		return "", "", nil
	case text != "":
		return "", from, fmt.Errorf("%s and %s are both set; which one counts?", variable, from)
	}
	content, err := os.ReadFile(path) // #nosec G304 G703 -- the operator, who starts the program, names it
	return strings.TrimSpace(string(content)), from, err
}

// variablesOf lists the variables that any command reads.
func variablesOf(c *cobra.Command) (names []string) {
	c.PersistentFlags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Annotations[variableOf]...) })
	for _, below := range c.Commands() {
		names = append(names, variablesOf(below)...)
	}
	return names
}
