package cmd

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"frontdesk/flows/erasure"
)

func newEraseCommand() *cobra.Command {
	client := &opsClient{}
	var email, mobile, registration, contact string
	c := &cobra.Command{
		Use: "erase", Short: "Erase a person's data from Redis, and print what was kept and why; through a running gateway.", Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			unread := 0
			person := map[string]string{"email": email, "mobile": mobile, "registration": registration, "contact": contact}
			err := callOps(c.Context(), client, http.MethodPost, "/ops/erasures", person, func(w io.Writer, report erasure.Report) {
				unread = len(report.Unread)
				printErasure(w, report)
			})
			if err == nil && unread > 0 {
				err = fmt.Errorf("not everything could be read: %d entries above; the erasure is not complete", unread)
			}
			return err
		},
	}
	addOptions(c.Flags(), client.options()...)
	c.Flags().StringVar(&email, "email", "", "The person's e-mail address.")
	c.Flags().StringVar(&mobile, "mobile", "", "The person's complete mobile number with its country code, such as +33612345678.")
	c.Flags().StringVar(&registration, "registration", "", "The id of one registration.")
	c.Flags().StringVar(&contact, "contact", "", "The contact's id at the club system, such as 1001.")
	c.Flags().StringVar(&client.world, "world", "", "The person's world in the simulator, such as demo-x; mock mode only.")
	c.MarkFlagsOneRequired("email", "mobile", "registration", "contact")
	c.MarkFlagsMutuallyExclusive("email", "mobile", "registration", "contact")
	return c
}
