package cmd

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

func newInviteCommand() *cobra.Command {
	client := &opsClient{}
	var contact, club string
	var ttl time.Duration
	command := &cobra.Command{
		Use: "invite",
		Short: "Print a single-use invitation link, with which a contact of the club registers without a login; " +
			"through a running gateway.",
		Args: exactArgs(),
		RunE: write(client, "/ops/invitations", func([]string) map[string]string {
			return map[string]string{"contactId": contact, "clubId": club, "ttl": ttl.String()}
		}, func(w io.Writer, invitation struct{ URL string }) { fmt.Fprintln(w, invitation.URL) }),
	}
	addOptions(command.Flags(), client.options()...)
	command.Flags().StringVar(&contact, "contact", "", "The contact's id at the club system, such as 1001; required.")
	command.Flags().StringVar(&club, "club", "", "The id of the contact's own club, such as 11; required.")
	command.Flags().DurationVar(&ttl, "ttl", 72*time.Hour, "Validity of the link.")
	_, _ = command.MarkFlagRequired("contact"), command.MarkFlagRequired("club") // they fail only for flags that do not exist
	return command
}
