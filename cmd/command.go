package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// This file makes the command line of a struct, and runs what was asked for. A
// field is a command (tag cmd), an argument (arg), or else a flag; those of an
// embedded struct count as its own. The other tags:
//
//	help      what it does, is or decides
//	name      instead of the field's name in lower case, with hyphens
//	default   its value where nothing is said
//	env       the variables that say it, with commas between, the first one before the others; with _FILE behind it, the file whose text does
//	enum      the values it may have, with commas between
//	required  without it, nothing runs
//	xor       of those with the same word, only one may be given; required: one has to be
//	optional  of an argument: it may be left out
//	placeholder  what stands for a value in the help
//
// No method is looked up by its name, as libraries that read structs do: the linker
// would keep every method of the program for that, and double it.

// exitUsage is the exit code for a command line or a variable that cannot be
// understood, apart from 1, by which doctor and health say that something fails.
const exitUsage = 80

// argument is what a command takes without a flag.
type argument struct {
	name, help string
	optional   bool
	set        func(string) error
}

// shown is the argument in a line of usage.
func (a argument) shown() string {
	if a.optional {
		return "[<" + a.name + ">]"
	}
	return "<" + a.name + ">"
}

// newCommand makes a command of a pointer to its struct. Commands that have no
// further ones below them are run by run.
func newCommand(name, help string, target any, run func(ctx context.Context, chosen any) error) (*cobra.Command, error) {
	c := &cobra.Command{Use: name, Short: help, SilenceErrors: true, SilenceUsage: true}
	c.Flags().SortFlags, c.PersistentFlags().SortFlags = false, false // the struct's order is meant
	arguments, err := readFields(c, reflect.ValueOf(target).Elem(), run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.HasSubCommands() {
		c.Use += " <command>"
		c.RunE = func(c *cobra.Command, args []string) error { return unknownCommand(c, args) }
		return c, nil
	}
	for _, a := range arguments {
		c.Use += " " + a.shown()
		c.Long += fmt.Sprintf("  %s  %s\n", a.shown(), a.help) // the help's own lines about arguments
	}
	c.Args = func(_ *cobra.Command, given []string) error { return setArguments(arguments, given) }
	c.RunE = func(c *cobra.Command, _ []string) error { return run(c.Context(), target) }
	return c, nil
}

// readFields adds the commands and flags of a struct to a command.
func readFields(c *cobra.Command, fields reflect.Value, run func(ctx context.Context, chosen any) error) (arguments []argument, err error) {
	exclusive := map[string][]string{}
	for i := range fields.NumField() {
		field, value := fields.Type().Field(i), fields.Field(i)
		name := field.Tag.Get("name")
		if name == "" {
			name = hyphenated(field.Name)
		}
		help := field.Tag.Get("help")
		_, isCommand := field.Tag.Lookup("cmd")
		_, isArgument := field.Tag.Lookup("arg")
		switch {
		case field.Anonymous:
			var more []argument
			more, err = readFields(c, value, run)
			arguments = append(arguments, more...)
		case isCommand:
			var below *cobra.Command
			if below, err = newCommand(name, help, value.Addr().Interface(), run); err == nil {
				c.AddCommand(below)
			}
		case isArgument:
			_, optional := field.Tag.Lookup("optional")
			var o *option
			if o, err = newOption(value.Addr().Interface(), field.Tag); err == nil {
				arguments = append(arguments, argument{name, help, optional, o.Set})
			}
		default:
			err = addFlag(c, name, field.Tag, value.Addr().Interface(), exclusive)
		}
		if err != nil {
			return nil, err
		}
	}
	for group, names := range exclusive {
		c.MarkFlagsMutuallyExclusive(names...)
		if strings.HasSuffix(group, requiredGroup) {
			c.MarkFlagsOneRequired(names...)
		}
	}
	return arguments, nil
}

var (
	lowerUpper = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	upperWord  = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// hyphenated is a field's name as that of a flag: ClubURL is club-url.
func hyphenated(name string) string {
	return strings.ToLower(upperWord.ReplaceAllString(lowerUpper.ReplaceAllString(name, "$1-$2"), "$1-$2"))
}

func setArguments(arguments []argument, given []string) error {
	if len(given) > len(arguments) {
		return fmt.Errorf("unexpected argument %s", given[len(arguments)])
	}
	for i, a := range arguments {
		switch {
		case i < len(given):
			if err := a.set(given[i]); err != nil {
				return fmt.Errorf("<%s>: %w", a.name, err)
			}
		case !a.optional:
			return fmt.Errorf("<%s> is missing: %s", a.name, a.help)
		}
	}
	return nil
}

// unknownCommand is the error for a group of commands of which none was asked for.
func unknownCommand(c *cobra.Command, args []string) error {
	var known []string
	for _, below := range c.Commands() {
		known = append(known, below.Name())
	}
	if len(args) > 0 {
		return fmt.Errorf("%s %s is no command; there are %s", c.CommandPath(), args[0], strings.Join(known, ", "))
	}
	return fmt.Errorf("%s what? There are %s", c.CommandPath(), strings.Join(known, ", "))
}

// execute reads a command line and runs its command. The code is what the process
// exits with; it is 0 when there is no error.
func execute(ctx context.Context, arguments, environment []string) (code int, err error) {
	var all commands
	ran := false
	root, err := newCommand("frontdesk", "The back end of a fitness club's signup. Started with nothing configured, it is its own mock.", &all,
		func(ctx context.Context, chosen any) error { ran = true; return all.run(ctx, chosen) })
	if err != nil {
		return exitUsage, err
	}
	root.CompletionOptions.DisableDefaultCmd = true // where it runs there seldom is a shell
	cobra.EnableCommandSorting = false              // as for flags
	root.SetHelpFunc(printHelp)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return readEnvironment(c) }
	root.SetArgs(withDefault(arguments))
	warnOfUnknown(os.Stderr, variablesOf(root), environment)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0, nil
	case ran:
		return 1, err
	default:
		return exitUsage, fmt.Errorf("error: %w", err)
	}
}

// withDefault puts in the command that is meant where flags alone are given, or nothing.
func withDefault(arguments []string) []string {
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") && arguments[0] != "-h" && arguments[0] != "--help" {
		return append([]string{"serve"}, arguments...)
	}
	return arguments
}

// run runs a command. Those below another one are told what was said to it.
func (c *commands) run(ctx context.Context, chosen any) error {
	switch chosen := chosen.(type) {
	case interface{ Run() error }:
		return chosen.Run()
	case interface{ Run(context.Context) error }:
		return chosen.Run(ctx)
	case interface {
		Run(context.Context, *paymentsCommand) error
	}:
		return chosen.Run(ctx, &c.Payments)
	case interface {
		Run(context.Context, *webhooksCommand) error
	}:
		return chosen.Run(ctx, &c.Webhooks)
	}
	return errors.New("this command cannot be run")
}
