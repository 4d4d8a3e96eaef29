package cmd

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"frontdesk/flows/registration"
)

func newEraseCommand() *cobra.Command {
	client := &opsClient{}
	var person registration.ErasureRequest
	command := &cobra.Command{
		Use: "erase", Short: "Erase a person's data from Redis, and print what was kept and why; through a running gateway.", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			unread := 0
			show := func(w io.Writer, report registration.ErasureReport) {
				unread = len(report.Unread)
				printErasure(w, report)
			}
			err := callOps(command.Context(), client, http.MethodPost, "/ops/erasures", person, show)
			if err == nil && unread > 0 {
				err = fmt.Errorf("not everything could be read: %d entries above; the erasure is not complete", unread)
			}
			return err
		},
	}
	addOptions(command.Flags(), client.options()...)
	command.Flags().StringVar(&person.Email, "email", "", "The person's e-mail address.")
	command.Flags().StringVar(&person.Mobile, "mobile", "", "The person's complete mobile number with its country code, such as +33612345678.")
	command.Flags().StringVar(&person.Registration, "registration", "", "The id of one registration.")
	command.Flags().StringVar(&person.Contact, "contact", "", "The contact's id at the club system, such as 1001.")
	command.MarkFlagsOneRequired("email", "mobile", "registration", "contact")
	command.MarkFlagsMutuallyExclusive("email", "mobile", "registration", "contact")
	return command
}
