package cmd

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"frontdesk/upstream/mock"
)

// catalogueOption is for the commands that run the simulator.
func catalogueOption(file *mock.CatalogueFile) option {
	return option{
		variable: "FRONTDESK_CATALOGUE",
		value: &value{kind: "file", set: func(path string) error {
			_, err := mock.CatalogueFile{Path: path}.Read()
			file.Path = path
			return inFile(path, err)
		}},
		help: "File with the clubs, the products and the people of the simulated club system, which is read again when it changes " +
			"(docs/how-to/your-own-catalogue.md). In test mode, the one with which the simulator runs.",
		setBy:   "Teams that develop a front end of their own clubs.",
		without: "The demo clubs. frontdesk catalogue export writes them as such a file.",
	}
}

func clubsOption(file *mock.CatalogueFile) option {
	return option{
		flag:    "clubs",
		value:   number(&file.Clubs),
		help:    "Number of clubs: a chain is generated, so that there are so many.",
		setBy:   "Teams that try long lists of clubs.",
		without: "Those of the catalogue.",
	}
}

// inFile names the file of an error, which may have several lines.
func inFile(path string, err error) error {
	if err != nil {
		return fmt.Errorf("%s:\n%w", path, err)
	}
	return nil
}

// clubsOrNumber accepts a number of clubs to generate, or else a text.
func clubsOrNumber(number *int, text *string) *value {
	return &value{kind: "string", set: func(given string) error {
		count, err := strconv.Atoi(given)
		if err != nil {
			*text = given
			return nil
		}
		*number = count
		_, err = mock.CatalogueFile{Clubs: count}.Read()
		return err
	}}
}

func newCatalogueCommand() *cobra.Command {
	var file mock.CatalogueFile
	var output string
	export := &cobra.Command{
		Use:   "export",
		Short: "Write the clubs, products and people of the demo as a file for --catalogue, with a description of its form.",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			catalogue, err := file.Read()
			if err != nil {
				return err
			}
			if output == "" {
				_, err = os.Stdout.Write(catalogue.Source())
				return err
			}
			return os.WriteFile(output, catalogue.Source(), 0o644) // #nosec G306 -- it is no secret
		},
	}
	export.Flags().StringVar(&output, "output", "", "File to write to. Without it: standard output.")
	export.Flags().IntVar(&file.Clubs, "clubs", 0, "Generate a chain, so that there are so many clubs.")
	check := &cobra.Command{
		Use:   "check <file>",
		Short: "Report every mistake in a file for --catalogue, with its line.",
		Args:  exactArgs("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			catalogue, err := mock.CatalogueFile{Path: args[0]}.Read()
			if err != nil {
				return inFile(args[0], err)
			}
			fmt.Printf("%s is right: %d clubs, %d products, %d persons.\n",
				args[0], len(catalogue.Clubs), len(catalogue.Products), len(catalogue.Persons))
			return nil
		},
	}
	return newGroup("catalogue", "Start and check a catalogue of your own for the simulator.", export, check)
}
