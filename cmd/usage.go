package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// This file prints the help of commands.

// usageColumns fits the terminals that are as narrow as terminals get.
const usageColumns = 80

// printHelp says what a command does, and what can be said to it.
func printHelp(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", c.UseLine(), wrapped(c.Short, ""))
	if c.Long != "" {
		fmt.Fprintf(w, "\nArguments:\n%s", c.Long)
	}
	c.InitDefaultHelpFlag()
	fmt.Fprintf(w, "\nFlags:\n%s", c.LocalFlags().FlagUsagesWrapped(usageColumns))
	if above := c.InheritedFlags(); above.HasFlags() {
		fmt.Fprintf(w, "\nFlags of %s:\n%s", c.Parent().CommandPath(), above.FlagUsagesWrapped(usageColumns))
	}
	if c.HasSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		printCommands(w, c)
		fmt.Fprintf(w, "\n%q says more about a command.\n", c.Root().Name()+" <command> --help")
	}
}

// printCommands lists the commands below one that can be run, whatever their depth.
func printCommands(w io.Writer, c *cobra.Command) {
	for _, below := range c.Commands() {
		if below.HasSubCommands() {
			printCommands(w, below)
			continue
		}
		line := strings.TrimPrefix(below.UseLine(), c.Root().Name()+" ")
		fmt.Fprintf(w, "  %s\n%s\n", line, wrapped(below.Short, "    "))
	}
}

// wrapped breaks a text between words into lines that fit, each behind the indent.
func wrapped(text, indent string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > usageColumns {
			lines, line = append(lines, strings.TrimRight(line, " ")), indent
		}
		line += word + " "
	}
	return strings.Join(append(lines, strings.TrimRight(line, " ")), "\n")
}
