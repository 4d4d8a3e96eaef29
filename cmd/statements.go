package cmd

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/flows/statements"
)

func newStatementsCommand() *cobra.Command {
	client := &opsClient{}
	group := newGroup("statements", "Review withdrawals and cancellations, and record what was done about them, through a running gateway.",
		newListStatements(client),
		&cobra.Command{
			Use: "show <id>", Short: "Show a statement with its acknowledgement, and the contracts that it may be about.", Args: exactArgs("id"),
			RunE: read(client, "/ops/statements/%s", printStatement),
		},
		newEndStatement(client),
		&cobra.Command{
			Use: "cancelled <id>", Args: exactArgs("id"),
			Short: "Record that the club system has ended the membership of a cancellation in doubt: look there first.",
			RunE:  write(client, "/ops/statements/%s/cancelled", nil, printStatement),
		},
		&cobra.Command{
			Use: "not-cancelled <id>", Args: exactArgs("id"),
			Short: "Record that the club system has not ended the membership of a cancellation in doubt. Then end it there.",
			RunE:  write(client, "/ops/statements/%s/not-cancelled", nil, printStatement),
		},
		&cobra.Command{
			Use: "note <id> <text>", Short: "Add a note to a statement, in any state.", Args: exactArgs("id", "text"),
			RunE: write(client, "/ops/statements/%s/note",
				func(args []string) map[string]string { return map[string]string{"text": args[1]} }, printStatement),
		},
		newExportStatements(client),
	)
	addOptions(group.PersistentFlags(), client.options()...)
	return group
}

// statementQuery selects statements.
type statementQuery struct {
	kind, since, until string
	all                bool
}

func (q *statementQuery) addFlags(command *cobra.Command) {
	command.Flags().StringVar(&q.kind, "kind", "", "Only withdrawal or cancellation.")
	command.Flags().StringVar(&q.since, "since", "", "Only statements received at this time or later, such as 2030-01-15T18:00:00Z.")
	command.Flags().StringVar(&q.until, "until", "", "Only statements received before this time.")
}

func (q *statementQuery) path() string {
	query := url.Values{"kind": {q.kind}, "all": {strconv.FormatBool(q.all)}, "since": {q.since}, "until": {q.until}}
	return "/ops/statements?" + query.Encode()
}

func newListStatements(client *opsClient) *cobra.Command {
	query := &statementQuery{}
	command := &cobra.Command{
		Use: "list", Short: "List the statements that wait for an operator, the earliest deadline first.", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			return callOps(command.Context(), client, http.MethodGet, query.path(), nil, printStatements)
		},
	}
	query.addFlags(command)
	command.Flags().BoolVar(&query.all, "all", false, "Statements that are done, too; the latest first.")
	return command
}

func newEndStatement(client *opsClient) *cobra.Command {
	reference, end, noEnd := "", "", ""
	command := &cobra.Command{
		Use: "done <id>", Args: exactArgs("id"),
		Short: "Record that the club has acted on a statement. This refunds nothing: do that first, where the club holds the money.",
		RunE: write(client, "/ops/statements/%s/done", func([]string) map[string]string {
			return map[string]string{"reference": reference, "endDate": end, "noEndDate": noEnd}
		}, printStatement),
	}
	command.Flags().StringVar(&reference, "reference", "", "The refund's or the letter's reference at the club; no names.")
	command.Flags().StringVar(&end, "end-date", "", "The day on which the cancelled contract ends, YYYY-MM-DD; the person gets it by mail. "+
		"Another day corrects it later.")
	command.Flags().StringVar(&noEnd, "no-end-date", "", "Why the contract of a cancellation does not end; it becomes a note.")
	return command
}

func newExportStatements(client *opsClient) *cobra.Command {
	query, format := &statementQuery{all: true}, ""
	command := &cobra.Command{
		Use: "export", Short: "Print all received statements as CSV or JSON Lines; they hold personal data.", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			show := printStatementsCSV
			switch format {
			case "jsonl":
				show = printStatementsJSON
			case "csv":
			default:
				return fmt.Errorf("--format: %q must be csv or jsonl", format)
			}
			return callOps(command.Context(), client, http.MethodGet, query.path(), nil, show)
		},
	}
	query.addFlags(command)
	command.Flags().StringVar(&format, "format", "csv", "The form of the output: csv or jsonl.")
	return command
}

func printStatements(w io.Writer, page statements.Page) {
	if len(page.Items) == 0 {
		fmt.Fprintln(w, "No statement waits for an operator.")
		return
	}
	table := newTable(w)
	fmt.Fprintln(table, "REFERENCE\tKIND\tSTATE\tRECEIVED\tDEADLINE\tPERIOD\tAT STAKE\tCLUB\tNAME\tEMAIL")
	for _, item := range page.Items {
		deadline := instant(item.Deadline)
		if item.Overdue {
			deadline += " (overdue)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", item.ID, kindOf(item), stateOf(item), instant(item.ReceivedAt), deadline,
			cmp.Or(item.Period, "-"), atStake(item), cmp.Or(item.ClubID, "-"), cmp.Or(item.Name, "-"), cmp.Or(item.Email, "-"))
	}
	flush(table)
	for _, item := range page.Items {
		warnUnreadable(w, item)
	}
	if page.More {
		fmt.Fprintln(w, "There are more; select a time with --since and --until.")
	}
}

// warnUnreadable says why a statement has no more than its times.
func warnUnreadable(w io.Writer, item statements.Summary) {
	if item.Unreadable != "" {
		fmt.Fprintf(w, "Warning: %s cannot be read here: %s\n", item.ID, item.Unreadable)
	}
}

// kindOf is the kind of a statement, with the type of a cancellation.
func kindOf(item statements.Summary) string {
	if item.Unreadable != "" {
		return "unreadable"
	}
	return strings.TrimSpace(string(item.Kind) + " " + item.Type)
}

// stateOf is the state of a statement that waits, with that of its online cancellation.
func stateOf(item statements.Summary) string {
	if item.Online == nil || item.State == flows.Done {
		return string(item.State)
	}
	return fmt.Sprintf("%s (%s)", item.State, item.Online.State)
}

func atStake(item statements.Summary) string {
	if item.AtStake == nil {
		return "-"
	}
	return flows.Price(item.AtStake.Amount, item.AtStake.Currency)
}

func printStatement(w io.Writer, detail statements.Detail) {
	table := newTable(w)
	defer flush(table)
	if detail.Unreadable != "" {
		fmt.Fprintf(table, "Reference\t%s\nKind\t%s\nState\t%s\nReceived\t%s\n", detail.ID, kindOf(detail.Summary), detail.State,
			instant(detail.ReceivedAt))
		if detail.State == flows.Received {
			fmt.Fprintf(table, "Deadline\t%s\n", instant(detail.Deadline))
		}
		warnUnreadable(table, detail.Summary)
		return
	}
	fmt.Fprintf(table, "Reference\t%s\nKind\t%s\nName\t%s\nEmail\t%s\nClub\t%s\nState\t%s\n"+
		"Received\t%s\nDeadline\t%s\nPeriod\t%s\nAt stake\t%s\nEnds\t%s\n",
		detail.ID, kindOf(detail.Summary), detail.Name, detail.Email, cmp.Or(detail.ClubID, "-"), stateOf(detail.Summary),
		instant(detail.ReceivedAt), instant(detail.Deadline),
		cmp.Or(detail.Period, "-"), atStake(detail.Summary), cmp.Or(detail.EndDate, "-"))
	if done := detail.Outcome; done != nil {
		fmt.Fprintf(table, "Done\t%s by %s: %s\n", instant(done.At), done.Operator, cmp.Or(done.Reference, "-"))
	}
	if detail.Identified {
		fmt.Fprintf(table, "Identified\tcontact %s, by the club's login\n", detail.Contact)
	}
	if online := detail.Online; online != nil {
		fmt.Fprintf(table, "Online\t%s: %s on %s %s\n", online.State, online.Membership, online.EndDate, online.Seen)
	}
	heading(table, "Contracts that it may be about", len(detail.Contracts))
	for _, contract := range detail.Contracts {
		fmt.Fprintf(table, "  %s\t%s\tcontact %s\tclub %s\t%s\tfound by %s\n", contract.Registration, instant(contract.At),
			cmp.Or(contract.ContactNumber, "-"), contract.ClubID, flows.Price(contract.Amount, contract.Currency), contract.By)
		for _, item := range contract.Items {
			fmt.Fprintf(table, "    %s\t%s\t%s\n", item.Name, flows.Price(item.Price.Amount, item.Price.Currency), withdrawalOf(item))
		}
	}
	fmt.Fprintln(table, "\nAcknowledgement")
	for line := range strings.Lines(detail.Text) {
		fmt.Fprint(table, "  "+line)
	}
	fmt.Fprintln(table)
	heading(table, "Notes", len(detail.Notes))
	for _, note := range detail.Notes {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", instant(note.At), note.Operator, note.Text)
	}
	heading(table, "What you can do", len(detail.Commands))
	for _, command := range detail.Commands {
		fmt.Fprintln(table, "  "+command)
	}
	for _, warning := range detail.Warnings {
		fmt.Fprintln(table, "Warning: "+warning)
	}
}

func withdrawalOf(item flows.FoundItem) string {
	switch {
	case !item.Right:
		return "no withdrawal"
	case item.Until.IsZero():
		return "withdrawal until 14 days after the delivery"
	}
	return "withdrawal until the end of " + item.Until.Add(-time.Nanosecond).Format(time.DateOnly) // in the club's time zone, as it was stored
}

func printStatementsCSV(w io.Writer, page statements.Page) {
	table := csv.NewWriter(w)
	_ = table.Write([]string{"id", "kind", "state", "received", "deadline", "overdue", "period", "amount", "currency", "name", "email",
		"contract", "club", "type", "requested_end", "end", "done", "by", "reference", "online", "unreadable"})
	for _, item := range page.Items {
		amount, currency, done := "", "", flows.Outcome{}
		if item.AtStake != nil {
			amount, currency = strconv.FormatInt(item.AtStake.Amount, 10), item.AtStake.Currency
		}
		doneAt, online := "", ""
		if item.Outcome != nil {
			done = *item.Outcome
			doneAt = done.At.Format(time.RFC3339)
		}
		if item.Online != nil {
			online = string(item.Online.State)
		}
		_ = table.Write([]string{item.ID, string(item.Kind), string(item.State), item.ReceivedAt.Format(time.RFC3339),
			item.Deadline.Format(time.RFC3339), strconv.FormatBool(item.Overdue), string(item.Period), amount, currency, cell(item.Name),
			cell(item.Email), cell(item.Contract), item.ClubID, item.Type, item.RequestedEnd, item.EndDate, doneAt, done.Operator,
			cell(done.Reference), online, item.Unreadable})
	}
	table.Flush() // a reader that has closed its end is not an error
}

// cell keeps spreadsheets from executing what a stranger wrote.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

func printStatementsJSON(w io.Writer, page statements.Page) {
	lines := json.NewEncoder(w)
	for _, item := range page.Items {
		_ = lines.Encode(item)
	}
}
