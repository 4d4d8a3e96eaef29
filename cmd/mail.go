package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/upstream/mail"
)

func newMailCommand() *cobra.Command {
	client := &opsClient{}
	group := newGroup("mail", "Review mails that wait or failed and send them again, through a running gateway.",
		newListMails(client),
		&cobra.Command{
			Use: "show <id>", Short: "Show a mail with its recipient and its text.", Args: exactArgs("id"),
			RunE: read(client, "/ops/mail/%s", printMail),
		},
		newReplayMail(client),
	)
	addOptions(group.PersistentFlags(), client.options()...)
	return group
}

func newListMails(client *opsClient) *cobra.Command {
	state := ""
	command := &cobra.Command{
		Use: "list", Short: "List the mails that failed, without their recipients.", Args: exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			return callOps(command.Context(), client, http.MethodGet, "/ops/mail?state="+url.QueryEscape(state), nil, printMails)
		},
	}
	command.Flags().StringVar(&state, "state", "", "Only mails in this state: waiting, retrying, dead or delivered.")
	return command
}

func newReplayMail(client *opsClient) *cobra.Command {
	dead := false
	one := write(client, "/ops/mail/%s/replay", nil, printMail)
	all := write(client, "/ops/mail/replay", nil, printMails)
	command := &cobra.Command{
		Use: "replay [<id>]", Short: "Send again: one mail, or all dead ones.", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch {
			case (len(args) == 0) != dead:
				return errors.New("name either a mail, or --dead")
			case dead:
				return all(command, nil)
			}
			return one(command, args)
		},
	}
	command.Flags().BoolVar(&dead, "dead", false, "Send all dead mails again.")
	return command
}

func printMails(w io.Writer, all background.Mails) {
	if all.Server == "" {
		fmt.Fprintln(w, "No mail is sent (FRONTDESK_SMTP_URL).")
	}
	table := newTable(w)
	fmt.Fprintln(table, "SERVER\tWAITING\tRETRYING\tDEAD\tDELIVERED (1 H)\tOLDEST")
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", cmp.Or(all.Server, "-"), all.Waiting, all.Retrying, all.Dead, all.Delivered,
		(time.Duration(all.AgeMs) * time.Millisecond).Round(time.Second))
	heading(table, "MAIL\tSTATE\tWRITTEN\tFAILURES\tNEXT ATTEMPT\tLAST ERROR", len(all.Items))
	for _, mail := range all.Items {
		next := "-"
		if mail.Next != nil {
			next = instant(*mail.Next)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n",
			mail.ID, mail.State, instant(mail.Written), mail.Failures, next, cmp.Or(mail.LastError, "-"))
	}
	flush(table)
}

func printMail(w io.Writer, mail background.QueuedMail) {
	table := newTable(w)
	fmt.Fprintf(table, "Mail\t%s\nState\t%s, %d failures\nLast error\t%s\nWritten\t%s\nTo\t%s\nSubject\t%s\n",
		mail.ID, mail.State, mail.Failures, cmp.Or(mail.LastError, "-"), instant(mail.Written), cmp.Or(mail.To, "-"),
		cmp.Or(mail.Subject, "-"))
	for _, file := range mail.Attachments {
		fmt.Fprintf(table, "Attachment\t%s, %d bytes\n", file.Name, file.Bytes)
	}
	flush(table)
	if mail.Text != "" {
		fmt.Fprintf(w, "\n%s", mail.Text)
	}
}

// newMail returns the client of the mail server; nil without one.
func (cfg Config) newMail() (*mail.Client, error) {
	if cfg.Mail.URL == "" {
		return nil, nil
	}
	cfg.Mail.RequireTLS, cfg.Mail.NameWorld = cfg.Mode == "live", cfg.Mode != "live"
	client, err := mail.New(cfg.Mail)
	if err != nil {
		return nil, fmt.Errorf("cannot be used: %w", err)
	}
	return client, nil
}

// mailRules checks how mails are sent. Mock mode has a mail server of its own unless one is set.
func (cfg Config) mailRules() []rule {
	const server, sender = "FRONTDESK_SMTP_URL", "FRONTDESK_MAIL_FROM"
	isSet := cfg.Mail.URL != ""
	rules := []rule{
		{sender, isSet && cfg.Mail.From == "", "is missing, and FRONTDESK_SMTP_URL needs it: the sender, such as Club <signup@your-club>"},
		{sender, !isSet && cfg.Mail.From != "" && cfg.Mode != "mock", "has no effect alone: set FRONTDESK_SMTP_URL too"},
	}
	if isSet && cfg.Mail.From != "" {
		_, err := cfg.newMail()
		rules = append(rules, eachLine(server+", "+sender, err)...)
	}
	return rules
}

// checkMail connects to the mail server and authenticates. No mail is sent.
func (cfg Config) checkMail(ctx context.Context, peers clients) []flows.Check {
	const part = "mail server"
	if peers.mail == nil {
		verdict, fix := flows.OK, ""
		if cfg.Mode == "live" {
			verdict, fix = flows.Degraded, "set FRONTDESK_SMTP_URL and FRONTDESK_MAIL_FROM, or have another system send what the law requires"
		}
		return finding(part, "", verdict, "none is configured, and no mail is sent", fix)
	}
	if err := peers.mail.Check(ctx); err != nil {
		return finding(part, "", flows.Failed, peers.mail.Server()+": "+err.Error(),
			"check host, port, user and password in FRONTDESK_SMTP_URL; until it works, mails wait")
	}
	return finding(part, "", flows.OK, peers.mail.Server()+" accepts this gateway; no mail was sent", "")
}
