package cmd

import "github.com/spf13/cobra"

func newEraseCommand() *cobra.Command {
	client := &opsClient{}
	var email, mobile, registration, contact string
	c := &cobra.Command{
		Use: "erase", Short: "Erase a person's data from Redis, and print what was kept and why; through a running gateway.", Args: exactArgs(),
		RunE: write(client, "/ops/erasures", func([]string) map[string]string {
			return map[string]string{"email": email, "mobile": mobile, "registration": registration, "contact": contact}
		}, printErasure),
	}
	addOptions(c.Flags(), client.options()...)
	c.Flags().StringVar(&email, "email", "", "The person's e-mail address.")
	c.Flags().StringVar(&mobile, "mobile", "", "The person's mobile number.")
	c.Flags().StringVar(&registration, "registration", "", "The id of one registration.")
	c.Flags().StringVar(&contact, "contact", "", "The contact's id at the club system, such as 1001.")
	c.Flags().StringVar(&client.world, "world", "", "The person's world in the simulator, such as demo-x; mock mode only.")
	c.MarkFlagsOneRequired("email", "mobile", "registration", "contact")
	c.MarkFlagsMutuallyExclusive("email", "mobile", "registration", "contact")
	return c
}
