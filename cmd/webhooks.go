package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/flows/background"
)

func newWebhooksCommand() *cobra.Command {
	client := &opsClient{}
	group := newGroup("webhooks", "Review events on their way to subscribers and send them again, through a running gateway.",
		newListDeliveries(client),
		&cobra.Command{
			Use: "show <id>", Short: "Show a delivery with its payload.", Args: exactArgs("id"),
			RunE: read(client, "/ops/webhooks/%s", printDelivery),
		},
		newReplay(client),
		&cobra.Command{
			Use: "enable <name>", Short: "Deliver again to a subscriber that returned 410 (Gone).", Args: exactArgs("name"),
			RunE: write(client, "/ops/subscribers/%s/enable", nil, func(w io.Writer, subscriber background.Subscription) {
				fmt.Fprintf(w, "%s is enabled; %d deliveries are waiting.\n", subscriber.Name, subscriber.Waiting)
			}),
		},
	)
	addOptions(group.PersistentFlags(), client.options()...)
	return group
}

func newListDeliveries(client *opsClient) *cobra.Command {
	state := ""
	command := &cobra.Command{
		Use: "list", Short: "List the subscribers, and the deliveries to them that failed.", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			return callOps(command.Context(), client, http.MethodGet, "/ops/webhooks?state="+url.QueryEscape(state), nil, printDeliveries)
		},
	}
	command.Flags().StringVar(&state, "state", "", "Only deliveries in this state: waiting, retrying, dead or delivered.")
	return command
}

func newReplay(client *opsClient) *cobra.Command {
	dead := ""
	one := write(client, "/ops/webhooks/%s/replay", nil, printDelivery)
	all := write(client, "/ops/subscribers/%s/replay", nil, func(w io.Writer, r background.Replayed) {
		fmt.Fprintf(w, "%d deliveries to %s are sent again.\n", r.Deliveries, r.Subscriber)
	})
	command := &cobra.Command{
		Use: "replay [<id>]", Short: "Send again: one delivery, or all dead ones of a subscriber.", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) == (dead == ""):
				return errors.New("name either a delivery, or a subscriber with --dead")
			case dead == "":
				return one(command, args)
			}
			return all(command, []string{dead})
		},
	}
	command.Flags().StringVar(&dead, "dead", "", "The `name` of a subscriber, to send all its dead deliveries again.")
	return command
}

func printDeliveries(w io.Writer, all background.Deliveries) {
	table := newTable(w)
	if len(all.Subscribers) == 0 {
		fmt.Fprintln(w, "There are no subscribers (FRONTDESK_SUBSCRIBERS).")
	} else {
		fmt.Fprintln(table, "SUBSCRIBER\tHOST\tWAITING\tRETRYING\tDEAD\tDELIVERED (1 H)\tOLDEST\t")
	}
	for _, subscriber := range all.Subscribers {
		gone := ""
		if subscriber.Gone {
			gone = "gone: nothing is sent until you enable it"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n",
			subscriber.Name, subscriber.Host, subscriber.Waiting, subscriber.Retrying, subscriber.Dead, subscriber.Delivered,
			(time.Duration(subscriber.AgeMs) * time.Millisecond).Round(time.Second), gone)
	}
	heading(table, "DELIVERY\tEVENT\tSTATE\tFAILURES\tNEXT ATTEMPT\tLAST ERROR", len(all.Items))
	for _, delivery := range all.Items {
		next := "-"
		if delivery.Next != nil {
			next = instant(*delivery.Next)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n",
			delivery.ID, delivery.Event, delivery.State, delivery.Failures, next, cmp.Or(delivery.LastError, "-"))
	}
	flush(table)
	fmt.Fprintf(w, "\nEvents received, by kind (%d not processed yet):", all.Pending)
	for _, kind := range slices.Sorted(maps.Keys(all.Received)) {
		fmt.Fprintf(w, " %s %s", kind, all.Received[kind])
	}
	fmt.Fprintln(w)
}

func printDelivery(w io.Writer, delivery background.Delivery) {
	table := newTable(w)
	fmt.Fprintf(table, "Delivery\t%s\nSubscriber\t%s\nEvent\t%s\nState\t%s, %d failures\nLast error\t%s\nBody\t%s\n",
		delivery.ID, delivery.Subscriber, delivery.Event, delivery.State, delivery.Failures, cmp.Or(delivery.LastError, "-"), delivery.Body)
	flush(table)
}
