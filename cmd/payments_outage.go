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

func (o *outage) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.since, "since", "",
		"In place of an id: every payment in doubt since this time or later, such as 2030-01-15T18:00:00Z.")
	c.Flags().StringVar(&o.until, "until", "", "The end of --since: payments in doubt since before this time.")
	c.Flags().BoolVar(&o.yes, "yes", false, "With --since: decide. Without it, the payments are only listed.")
	c.MarkFlagsRequiredTogether("since", "until")
}

func (o *outage) args(c *cobra.Command, args []string) error {
	if o.since == "" {
		return exactArgs("id")(c, args)
	}
	if end, err := time.Parse(time.RFC3339, strings.Replace(o.until, " ", "T", 1)); err == nil && end.After(time.Now()) {
		return errors.New("--until must be in the past, so that no payment joins those that were listed")
	}
	return exactArgs()(c, args)
}

// decide returns the RunE of a decision about one payment, or about those of an outage.
func (o *outage) decide(client *opsClient, path string, body func() map[string]string) func(*cobra.Command, []string) error {
	one := write(client, path, func([]string) map[string]string { return body() }, printDecision)
	return func(c *cobra.Command, args []string) error {
		if o.since == "" {
			return one(c, args)
		}
		return o.decideAll(c, client, path, body())
	}
}

// undecided is a payment on which the gateway did not decide.
type undecided struct {
	ID      flows.PaymentID `json:"id"`
	Problem string          `json:"problem"`
}

// decideAll continues after a failure. Its error says how many payments are left.
func (o *outage) decideAll(c *cobra.Command, client *opsClient, path string, fields map[string]string) error {
	query := url.Values{"state": {string(flows.InDoubt)}, "since": {o.since}, "until": {o.until}}
	response, err := client.request(c.Context(), http.MethodGet, "/ops/payments?"+query.Encode(), nil)
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
	for _, p := range page.Items {
		decided, problem := decideOne(c, client, pathTo(path, []string{string(p.ID)}), fields)
		if problem != nil {
			result.Undecided = append(result.Undecided, undecided{p.ID, problem.Error()})
		} else {
			result.Decided = append(result.Decided, decided)
		}
		switch {
		case client.json:
		case problem != nil:
			fmt.Printf("Payment %s: nothing was decided. %v\n", p.ID, problem)
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

func decideOne(c *cobra.Command, client *opsClient, path string, fields map[string]string) (decided payment.ResolutionResult, err error) {
	response, err := client.request(c.Context(), http.MethodPost, path, fields)
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
