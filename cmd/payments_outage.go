package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// outage selects the payments that came into doubt within a time, for one decision about all of them. Each is decided
// on by a request of its own, so that the gateway refuses what it would refuse singly.
type outage struct {
	since, until string
	yes          bool // decide; else only list
}

func (o *outage) addFlags(command *cobra.Command) {
	command.Flags().StringVar(&o.since, "since", "",
		"In place of an id: every payment in doubt since this time or later, such as 2030-01-15T18:00:00Z.")
	command.Flags().StringVar(&o.until, "until", "", "The end of --since: payments in doubt since before this time.")
	command.Flags().BoolVar(&o.yes, "yes", false, "With --since: decide. Without it, the payments are only listed.")
	command.MarkFlagsRequiredTogether("since", "until")
}

func (o *outage) args(command *cobra.Command, args []string) error {
	if o.since == "" {
		return exactArgs("id")(command, args)
	}
	if end, err := time.Parse(time.RFC3339, strings.Replace(o.until, " ", "T", 1)); err == nil && end.After(time.Now()) {
		return errors.New("--until must be in the past, so that no payment joins those that were listed")
	}
	return exactArgs()(command, args)
}

// decide returns the RunE of a decision about one payment, or about those of an outage.
func (o *outage) decide(client *opsClient, path string, body func() map[string]string) runE {
	one := write(client, path, func([]string) map[string]string { return body() }, printDecision)
	return func(command *cobra.Command, args []string) error {
		if o.since == "" {
			return one(command, args)
		}
		return o.decideAll(command, client, path, body())
	}
}

// undecided is a payment on which the gateway did not decide.
type undecided struct {
	ID      flows.PaymentID `json:"id"`
	Problem string          `json:"problem"`
}

// decideAll continues after a failure. Its error says how many payments are left.
func (o *outage) decideAll(command *cobra.Command, client *opsClient, path string, fields map[string]string) error {
	query := url.Values{"state": {string(flows.InDoubt)}, "since": {o.since}, "until": {o.until}}
	response, err := client.request(command.Context(), http.MethodGet, "/ops/payments?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	var page payment.Page
	if json.Unmarshal(response, &page) != nil || page.Items == nil {
		return client.notFrontdesk()
	}
	if !o.yes {
		return o.show(client, response, page)
	}
	var result struct {
		Decided   []payment.ResolutionResult `json:"decided"`
		Undecided []undecided                `json:"undecided"`
	}
	for _, listed := range page.Items {
		decided, problem := decideOne(command, client, pathTo(path, []string{string(listed.ID)}), fields)
		if problem != nil {
			result.Undecided = append(result.Undecided, undecided{listed.ID, problem.Error()})
		} else {
			result.Decided = append(result.Decided, decided)
		}
		switch {
		case client.json:
		case problem != nil:
			fmt.Printf("Payment %s: nothing was decided. %v\n", listed.ID, problem)
		default:
			printDecision(os.Stdout, decided)
		}
	}
	if client.json {
		text, _ := json.Marshal(result) // it was JSON before
		fmt.Printf("%s\n", text)
	}
	switch {
	case len(result.Undecided) > 0:
		return fmt.Errorf("nothing was decided on %d of %d payments", len(result.Undecided), len(page.Items))
	case page.More:
		return errors.New("there are more payments: repeat the command")
	}
	return nil
}

func decideOne(
	command *cobra.Command, client *opsClient, path string, fields map[string]string,
) (decided payment.ResolutionResult, err error) {
	response, err := client.request(command.Context(), http.MethodPost, path, fields)
	if err == nil && (json.Unmarshal(response, &decided) != nil || decided.Payment.ID == "") {
		err = client.notFrontdesk()
	}
	return decided, err
}

// show lists the payments and decides nothing.
func (o *outage) show(client *opsClient, response []byte, page payment.Page) error {
	if client.json {
		_, err := fmt.Printf("%s\n", response)
		return err
	}
	printPayments(os.Stdout, page, string(flows.InDoubt), false)
	if len(page.Items) > 0 {
		fmt.Printf("Nothing was decided. To decide on these %d payments, repeat the command with --yes.\n", len(page.Items))
	}
	return nil
}
