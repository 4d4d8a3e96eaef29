package cmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"frontdesk/flows/background"
)

func newQueueCommand() *cobra.Command {
	client := &opsClient{}
	command := &cobra.Command{
		Use: "queue", Short: "Print the state of the background queues, through a running gateway.", Args: exactArgs(),
		RunE: read(client, "/ops/queue", printQueues),
	}
	addOptions(command.Flags(), client.options()...)
	return command
}

func printQueues(w io.Writer, queues struct{ Items []background.QueueState }) {
	table := newTable(w)
	fmt.Fprintln(table, "QUEUE\tPENDING\tACTIVE\tSCHEDULED\tRETRY\tARCHIVED\tCOMPLETED\tTODAY\tFAILED\tLATENCY")
	for _, q := range queues.Items {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d ms\n",
			q.Name, q.Pending, q.Active, q.Scheduled, q.Retry, q.Archived, q.Completed, q.Processed, q.Failed, q.LatencyMs)
	}
	flush(table)
}
