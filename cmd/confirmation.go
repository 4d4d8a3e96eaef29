package cmd

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"frontdesk/flows"
)

func newConfirmationCommand() *cobra.Command {
	client, asPage := &opsClient{}, false
	command := &cobra.Command{
		Use:   "confirmation <registration>",
		Short: "Print the confirmation of a completed registration's contract, as it was made; through a running gateway.",
		Args:  exactArgs("registration"),
		RunE: func(command *cobra.Command, args []string) error {
			show := func(w io.Writer, kept flows.Confirmation) {
				text := kept.Text
				if asPage {
					text = kept.HTML
				}
				fmt.Fprint(w, text)
			}
			return callOps(command.Context(), client, http.MethodGet, pathTo("/ops/confirmations/%s", args), nil, show)
		},
	}
	addOptions(command.Flags(), client.options()...)
	command.Flags().BoolVar(&asPage, "html", false, "Print the page, byte by byte as it was mailed.")
	command.Flags().StringVar(&client.world, "world", "", "The registration's world in the simulator, such as demo-x; mock mode only.")
	return command
}
