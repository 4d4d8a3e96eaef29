package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"text/tabwriter"

	"frontdesk/flows"
)

// eraseCommand has a running gateway erase what it holds of a person.
type eraseCommand struct {
	OpsAddr      string `help:"Where the gateway serves operators." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	Email        string `help:"The person's e-mail address." xor:"who" required:""`
	Mobile       string `help:"The person's mobile number." xor:"who" required:""`
	Registration string `help:"The id of one registration." xor:"who" required:""`
	Contact      string `help:"The contact's id at the club system, such as 1001." xor:"who" required:""`
	World        string `help:"The simulator's world that the person is of, such as demo-x; mock mode only."`
	Operator     string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
	JSON         bool   `help:"Print JSON." name:"json"`
}

// Run prints what was erased, what was kept and why, and who else holds data of the person.
func (c *eraseCommand) Run(ctx context.Context) error {
	var headers [][2]string
	if c.World != "" {
		headers = append(headers, [2]string{"X-Frontdesk-World", c.World})
	}
	answer, err := requestOps(ctx, c.OpsAddr, http.MethodPost, "/ops/erasures", map[string]string{
		"email": c.Email, "mobile": c.Mobile, "registration": c.Registration, "contact": c.Contact, "by": c.Operator}, headers...)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = fmt.Fprintf(os.Stdout, "%s\n", answer)
		return err
	}
	var report flows.Erasure
	if json.Unmarshal(answer, &report) != nil || report.Elsewhere == nil {
		return fmt.Errorf("what answers at %s is no Frontdesk, or another version of it", c.OpsAddr)
	}
	printErasure(os.Stdout, report)
	return nil
}

func printErasure(w io.Writer, report flows.Erasure) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(report.Erased) == 0 {
		fmt.Fprintln(table, "Nothing was found that could be erased.")
	}
	for _, item := range report.Erased {
		fmt.Fprintf(table, "Erased\t%s\t%s\n", or(item.Registration, "-"), item.What)
	}
	for _, item := range report.Kept {
		word := "Kept"
		if item.Deferred {
			word = "Deferred"
		}
		fmt.Fprintf(table, "%s\t%s\t%s: %s\n", word, or(item.Registration, "-"), item.What, item.Why)
	}
	for _, who := range report.Elsewhere {
		fmt.Fprintf(table, "Elsewhere\t-\t%s\n", who)
	}
	flush(table)
}
