package cmd

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

func newPaymentsCommand() *cobra.Command {
	client := &opsClient{}
	group := newGroup("payments", "Review the payments that wait for an operator and decide on them, through a running gateway.",
		newListPayments(client),
		&cobra.Command{
			Use: "show <id>", Short: "Show everything known about a payment, and the possible decisions.", Args: exactArgs("id"),
			RunE: read(client, "/ops/payments/%s", printPayment),
		},
		newConfirmRecorded(client),
		newConfirmNotRecorded(client),
		newEndPayment(client),
		&cobra.Command{
			Use:   "note <id> <text>",
			Short: "Add a note to a payment, in any state; no names of customers.",
			Args:  exactArgs("id", "text"),
			RunE: write(client, "/ops/payments/%s/notes",
				func(args []string) map[string]string { return map[string]string{"text": args[1]} },
				func(w io.Writer, note flows.Note) { fmt.Fprintf(w, "Noted at %s.\n", instant(note.At)) }),
		},
		&cobra.Command{
			Use:   "calibrate",
			Short: "Find the evidence that distinguishes recorded payments from others, and use it from now on.",
			Args:  exactArgs(),
			RunE:  write(client, "/ops/payments/calibrate", nil, printCalibration),
		},
	)
	addOptions(group.PersistentFlags(), client.options()...)
	return group
}

func newListPayments(client *opsClient) *cobra.Command {
	state, since, until, all := "", "", "", false
	command := &cobra.Command{
		Use:   "list",
		Short: "List the payments that wait for an operator: in doubt, blocked, unverifiable, or recorded with a finding.",
		Args:  exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			query := url.Values{"state": {state}, "all": {strconv.FormatBool(all)}, "since": {since}, "until": {until}}
			return callOps(command.Context(), client, http.MethodGet, "/ops/payments?"+query.Encode(), nil, func(w io.Writer, page payment.Page) {
				printPayments(w, page, state, all)
			})
		},
	}
	command.Flags().StringVar(&state, "state", "",
		"Only payments in this state, or with this finding, such as in_doubt, recorded_unsettled or unverifiable.")
	command.Flags().BoolVar(&all, "all", false, "Payments in every state.")
	command.Flags().StringVar(&since, "since", "", "Only payments in their state since this time or later, such as 2030-01-15T18:00:00Z.")
	command.Flags().StringVar(&until, "until", "", "Only payments in their state since before this time.")
	return command
}

const reasonHelp = "Reason, in a few words; no names of customers."

func newConfirmRecorded(client *opsClient) *cobra.Command {
	reason := ""
	outage := &outage{}
	command := &cobra.Command{
		Use: "confirm-recorded [<id>]", Args: outage.args,
		Short: "Confirm that the club system holds the payment, once, or that its finding is settled. Check there first.",
		RunE:  outage.decide(client, "/ops/payments/%s/confirm-recorded", func() map[string]string { return map[string]string{"why": reason} }),
	}
	outage.addFlags(command)
	command.Flags().StringVar(&reason, "reason", "", reasonHelp)
	return command
}

func newEndPayment(client *opsClient) *cobra.Command {
	return &cobra.Command{
		Use:   "end <processor-id>",
		Short: "End an unverifiable payment: no configured seal key signed it, or its record cannot be read. Settle it by hand first.",
		Args:  exactArgs("processor-id"),
		RunE: write(client, "/ops/payments/%s/end", nil, func(w io.Writer, d payment.ResolutionResult) {
			fmt.Fprintf(w, "Payment %s: %s. Frontdesk does not touch it any more.\n", d.Payment.ID, d.Payment.Reason)
			for _, warning := range d.Warnings {
				fmt.Fprintln(w, "Warning: "+warning)
			}
		}),
	}
}

func newConfirmNotRecorded(client *opsClient) *cobra.Command {
	reason := ""
	var sendAgain, refund, cancel, override bool
	outage := &outage{}
	command := &cobra.Command{
		Use:   "confirm-not-recorded [<id>]",
		Short: "Confirm that the club system does not hold the payment, and decide what follows. Check there first.",
		Args:  outage.args,
		RunE: outage.decide(client, "/ops/payments/%s/confirm-not-recorded", func() map[string]string {
			then := payment.SendAgain
			switch {
			case refund:
				then = payment.Refund
			case cancel:
				then = payment.Cancel
			}
			fields := map[string]string{"why": reason, "then": string(then)}
			if override {
				fields["override"] = "sale"
			}
			return fields
		}),
	}
	outage.addFlags(command)
	command.Flags().StringVar(&reason, "reason", "", reasonHelp)
	command.Flags().BoolVar(&sendAgain, "send-again", false, "Record it again, under a new claim.")
	command.Flags().BoolVar(&refund, "refund", false, "Refund the buyer; if the money was returned already, only end the payment.")
	command.Flags().BoolVar(&cancel, "cancel", false,
		"Cancel it; for payments without a card processor, and for blocked payments of which the processor holds no money.")
	command.Flags().BoolVar(&override, "override", false,
		"Refund or cancel although the sale is settled, because something else certainly settled it; "+
			"or end a blocked payment as refunded, because the buyer certainly has the money back. Audited.")
	command.MarkFlagsOneRequired("send-again", "refund", "cancel")
	command.MarkFlagsMutuallyExclusive("send-again", "refund", "cancel")
	command.MarkFlagsMutuallyExclusive("send-again", "override")
	command.MarkFlagsMutuallyExclusive("since", "override") // needs a look at each sale
	return command
}
