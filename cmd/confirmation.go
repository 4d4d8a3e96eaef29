package cmd

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

func newConfirmationCommand() *cobra.Command {
	client := &opsClient{}
	group := newGroup("confirmation", "Print the confirmations of contracts and see to those that were not mailed, through a running gateway.",
		newShowConfirmation(client),
		&cobra.Command{
			Use: "list", Short: "List the confirmations that were not mailed.", Args: exactArgs(),
			RunE: read(client, "/ops/confirmations", printUnmailed),
		},
		&cobra.Command{
			Use: "send <registration>", Short: "Mail a confirmation now, to the buyer and the guardian.", Args: exactArgs("registration"),
			RunE: write(client, "/ops/confirmations/%s/send", nil, func(w io.Writer, sent registration.SentConfirmation) {
				for _, id := range sent.Mails {
					fmt.Fprintf(w, "Queued: frontdesk mail show %s\n", id)
				}
			}),
		},
		&cobra.Command{
			Use: "done <registration>", Args: exactArgs("registration"),
			Short: "Record that a buyer has the confirmation that was not mailed, such as on paper.",
			RunE: write(client, "/ops/confirmations/%s/done", nil, func(w io.Writer, kept flows.Confirmation) {
				fmt.Fprintf(w, "The confirmation of %s is not listed any more.\n", kept.Registration)
			}),
		},
	)
	addOptions(group.PersistentFlags(), client.options()...)
	return group
}

func newShowConfirmation(client *opsClient) *cobra.Command {
	asPage := false
	command := &cobra.Command{
		Use: "show <registration>", Short: "Print the confirmation of a completed registration, as it was made.", Args: exactArgs("registration"),
		RunE: read(client, "/ops/confirmations/%s", func(w io.Writer, kept flows.Confirmation) {
			text := kept.Text
			if asPage {
				text = kept.HTML
			}
			fmt.Fprint(w, text)
		}),
	}
	command.Flags().BoolVar(&asPage, "html", false, "Print the page, byte by byte as it was mailed.")
	return command
}

var holdReasons = map[flows.HoldReason]string{
	flows.HeldByLimit:     "its mailbox had ten unpaid mails in a day",
	flows.HeldAsLost:      "Redis lost what was ordered",
	flows.WithoutContract: "mailed without the club system's contract",
}

func printUnmailed(w io.Writer, list registration.UnmailedList) {
	if len(list.Items) == 0 {
		fmt.Fprintln(w, "Every confirmation was mailed.")
		return
	}
	table := newTable(w)
	fmt.Fprintln(table, "REGISTRATION\tCONCLUDED\tCLUB\tCONTACT\tADDRESS\tREASON")
	for _, item := range list.Items {
		address := "none entered"
		if item.HasAddress {
			address = "entered"
		}
		switch {
		case item.ClubID == "":
			address = "unknown: sealed by an unknown key"
		case item.Reason == flows.HeldAsLost:
			address = "unknown"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", item.Registration, instant(item.At), cmp.Or(item.ClubID, "-"),
			cmp.Or(item.ContactNumber, "-"), address, cmp.Or(holdReasons[item.Reason], string(item.Reason), "-"))
	}
	flush(table)
}
