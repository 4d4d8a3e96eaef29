package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// This file configures the club system's events and their relay, and holds the
// operators' commands about them.

// demoWebhookSecret stands in the path to which the simulator sends its events;
// live mode refuses it.
const demoWebhookSecret = "demo-webhook-secret" // #nosec G101 -- public on purpose

// maxWebhookSecrets: the current one, and the one before it while the club system's
// support changes the address.
const maxWebhookSecrets = 2

// webhookSecret is what can stand in a path as it is; nobody can try out one that has the length.
var webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const minWebhookSecretLength, maxWebhookSecretLength = 16, 128

func (cfg Config) validateWebhooks() (problems []error) {
	if len(cfg.WebhookSecret) > maxWebhookSecrets {
		problems = append(problems, fmt.Errorf("FRONTDESK_WEBHOOK_SECRET: at most %d secrets, the current one and the one before it", maxWebhookSecrets))
	}
	for i, secret := range cfg.WebhookSecret {
		if len(secret) < minWebhookSecretLength || len(secret) > maxWebhookSecretLength || !webhookSecret.MatchString(secret) {
			problems = append(problems, fmt.Errorf("FRONTDESK_WEBHOOK_SECRET: secret %d is not %d to %d letters, digits, hyphens and underscores, such as from: openssl rand -hex 24", i+1, minWebhookSecretLength, maxWebhookSecretLength))
		}
		if secret == demoWebhookSecret && cfg.Mode == "live" {
			problems = append(problems, fmt.Errorf("FRONTDESK_WEBHOOK_SECRET: secret %d is the demo secret, which everybody knows", i+1))
		}
	}
	subscribers, err := cfg.subscribers()
	if err != nil {
		return append(problems, err)
	}
	for _, problem := range cfg.destinations().Check(subscribers) {
		problems = append(problems, fmt.Errorf("FRONTDESK_SUBSCRIBERS: %w", problem))
	}
	return problems
}

// subscribers reads who is told of events.
func (cfg Config) subscribers() (list []flows.Subscriber, err error) {
	if strings.TrimSpace(cfg.Subscribers) == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(cfg.Subscribers)))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&list) != nil || decoder.More() { // the decoder's own words may hold a secret
		return nil, errors.New(`FRONTDESK_SUBSCRIBERS is not a JSON array such as [{"name": "crm", "url": "https://crm.example/hooks", "secret": "whsec_…", "events": ["contact.*"]}]`)
	}
	return list, nil
}

// destinations: outside live mode a developer's own machine is one.
func (cfg Config) destinations() flows.EgressPolicy {
	return flows.EgressPolicy{Loopback: cfg.Mode != "live"}
}

// clubWebhookURL is where the simulator in this process sends its events: the port
// at which the gateway listens.
func (cfg Config) clubWebhookURL(port string) string {
	return "http://127.0.0.1:" + port + "/v1/webhooks/club/" + cfg.WebhookSecret[0]
}

// clubEvents puts the intake of events and their relay together.
func (cfg Config) clubEvents(records *store.Store, queue *flows.Queue, keys *flows.Keyring, registrations *flows.Registrations, log *slog.Logger) (*flows.ClubEvents, *flows.Relay, error) {
	subscribers, err := cfg.subscribers()
	if err != nil {
		return nil, nil, err
	}
	relay := flows.NewRelay(flows.RelayConfig{
		Queue: queue, Keys: keys, Store: records, Client: flows.NewRelayClient(cfg.destinations()), Subscribers: subscribers, Now: time.Now, Log: log,
	})
	return flows.NewClubEvents(flows.ClubEventsConfig{
		Store: records, Queue: queue, Registrations: registrations, Relay: relay,
		ClientToken: cfg.ClubToken, AnyOrganisation: cfg.Mode == "mock", Now: time.Now, Log: log,
	}), relay, nil
}

type webhooksCommand struct {
	OpsAddr string `help:"Where the gateway serves operators." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	JSON    bool   `help:"Print JSON." name:"json"`

	List   listDeliveriesCommand `cmd:"" help:"List the subscribers, and the deliveries to them that failed."`
	Show   showDeliveryCommand   `cmd:"" help:"Show a delivery, with what is delivered."`
	Replay replayCommand         `cmd:"" help:"Deliver once more: one delivery, or all that is dead of a subscriber."`
	Enable enableCommand         `cmd:"" help:"Deliver again to a subscriber that answered 410 (Gone)."`
}

type listDeliveriesCommand struct {
	State string `help:"Only deliveries that are waiting, retrying, dead or delivered."`
}

type showDeliveryCommand struct {
	ID string `arg:"" help:"The delivery."`
}

type replayCommand struct {
	ID       string `arg:"" optional:"" help:"The delivery."`
	Dead     string `help:"A subscriber: all of its dead deliveries." placeholder:"NAME"`
	Operator string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
}

type enableCommand struct {
	Name     string `arg:"" help:"The subscriber."`
	Operator string `help:"Who you are: your login name." env:"USER" default:"${operator}"`
}

// Run lists deliveries.
func (c *listDeliveriesCommand) Run(ctx context.Context, all *webhooksCommand) error {
	return callOps(ctx, all.OpsAddr, all.JSON, http.MethodGet, "/ops/webhooks?state="+url.QueryEscape(c.State), nil, printDeliveries)
}

// Run shows a delivery.
func (c *showDeliveryCommand) Run(ctx context.Context, all *webhooksCommand) error {
	return callOps(ctx, all.OpsAddr, all.JSON, http.MethodGet, "/ops/webhooks/"+url.PathEscape(c.ID), nil, printDelivery)
}

// Run delivers once more.
func (c *replayCommand) Run(ctx context.Context, all *webhooksCommand) error {
	by := map[string]string{"by": c.Operator}
	switch {
	case (c.ID == "") == (c.Dead == ""):
		return errors.New("name either a delivery, or with --dead a subscriber")
	case c.Dead != "":
		return callOps(ctx, all.OpsAddr, all.JSON, http.MethodPost, "/ops/subscribers/"+url.PathEscape(c.Dead)+"/replay", by,
			func(w io.Writer, r flows.Replayed) {
				fmt.Fprintf(w, "%d deliveries to %s go out once more.\n", r.Deliveries, r.Subscriber)
			})
	}
	return callOps(ctx, all.OpsAddr, all.JSON, http.MethodPost, "/ops/webhooks/"+url.PathEscape(c.ID)+"/replay", by, printDelivery)
}

// Run delivers again to a subscriber.
func (c *enableCommand) Run(ctx context.Context, all *webhooksCommand) error {
	return callOps(ctx, all.OpsAddr, all.JSON, http.MethodPost, "/ops/subscribers/"+url.PathEscape(c.Name)+"/enable", map[string]string{"by": c.Operator},
		func(w io.Writer, s flows.Subscription) {
			fmt.Fprintf(w, "%s is delivered to, %d of them waiting.\n", s.Name, s.Waiting)
		})
}

type queueCommand struct {
	OpsAddr string `help:"Where the gateway serves operators." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

// Run prints the queues.
func (c *queueCommand) Run(ctx context.Context) error {
	return callOps(ctx, c.OpsAddr, c.JSON, http.MethodGet, "/ops/queue", nil, printQueues)
}

// callOps calls the gateway's operators' edge, and prints the answer for people or as it is.
func callOps[T any](ctx context.Context, opsAddr string, asJSON bool, method, path string, body any, show func(io.Writer, T)) error {
	answer, err := requestOps(ctx, opsAddr, method, path, body)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = fmt.Fprintf(os.Stdout, "%s\n", answer)
		return err
	}
	var result T
	if err := json.Unmarshal(answer, &result); err != nil {
		return fmt.Errorf("what answers at %s is no Frontdesk, or another version of it", opsAddr)
	}
	show(os.Stdout, result)
	return nil
}

func printDeliveries(w io.Writer, all flows.Deliveries) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(all.Subscribers) == 0 {
		fmt.Fprintln(w, "Nobody subscribes (FRONTDESK_SUBSCRIBERS).")
	} else {
		fmt.Fprintln(table, "SUBSCRIBER\tHOST\tWAITING\tRETRYING\tDEAD\tDELIVERED (1 H)\t")
	}
	for _, s := range all.Subscribers {
		gone := ""
		if s.Gone {
			gone = "gone: nothing is sent until you enable it"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", s.Name, s.Host, s.Waiting, s.Retrying, s.Dead, s.Delivered, gone)
	}
	flush(table)
	if len(all.Items) > 0 {
		fmt.Fprintln(table, "\nDELIVERY\tEVENT\tSTATE\tFAILURES\tNEXT TRY\tLAST ERROR")
	}
	for _, d := range all.Items {
		next := "-"
		if d.Next != nil {
			next = instant(*d.Next)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", d.ID, d.Event, d.State, d.Failures, next, or(d.LastError, "-"))
	}
	flush(table)
	fmt.Fprintf(w, "\nEvents received, by what they are (%d not worked on yet):", all.Pending)
	for _, kind := range slices.Sorted(maps.Keys(all.Received)) {
		fmt.Fprintf(w, " %s %s", kind, all.Received[kind])
	}
	fmt.Fprintln(w)
}

func printDelivery(w io.Writer, d flows.Delivery) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Delivery\t%s\nSubscriber\t%s\nEvent\t%s\nState\t%s, %d failures\nLast error\t%s\nBody\t%s\n",
		d.ID, d.Subscriber, d.Event, d.State, d.Failures, or(d.LastError, "-"), d.Body)
	flush(table)
}

func printQueues(w io.Writer, queues struct{ Items []flows.QueueState }) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "QUEUE\tPENDING\tACTIVE\tSCHEDULED\tRETRY\tARCHIVED\tCOMPLETED\tTODAY\tFAILED\tLATENCY")
	for _, q := range queues.Items {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d ms\n",
			q.Name, q.Pending, q.Active, q.Scheduled, q.Retry, q.Archived, q.Completed, q.Processed, q.Failed, q.LatencyMs)
	}
	flush(table)
}
