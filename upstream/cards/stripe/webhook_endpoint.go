package stripe

import (
	"context"
	"slices"

	stripego "github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards"
)

// requiredEvents are the events by which a payment is looked at before the next poll.
var requiredEvents = []string{
	"payment_intent.amount_capturable_updated", "payment_intent.canceled", "payment_intent.payment_failed", "payment_intent.succeeded", "charge.refunded",
}

// WebhookEndpoint is where the processor reports the account's events.
type WebhookEndpoint struct {
	URL        string
	Enabled    bool
	APIVersion string   // of the events, such as 2026-03-25.dahlia; empty: the account's own
	Events     []string // that are sent; "*" stands for all
}

// Missing lists the events that are of use and are not sent.
func (w WebhookEndpoint) Missing() (missing []string) {
	for _, event := range requiredEvents {
		if !slices.Contains(w.Events, "*") && !slices.Contains(w.Events, event) {
			missing = append(missing, event)
		}
	}
	return missing
}

// WebhookEndpoints lists the account's endpoints of the key's mode, of which a
// processor has at most 16. A restricted key that may not read them is
// cards.ErrRefused.
func (c *Client) WebhookEndpoints(ctx context.Context) ([]WebhookEndpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, cards.CallTimeout)
	defer cancel()
	params := &stripego.WebhookEndpointListParams{}
	params.Single, params.Limit = true, stripego.Int64(listPage)
	list := c.api.endpoints.List(ctx, params)
	if err := list.Err(); err != nil {
		return nil, toCardsError("webhook endpoints", err)
	}
	var all []WebhookEndpoint
	for _, e := range list.Data() {
		all = append(all, WebhookEndpoint{URL: e.URL, Enabled: e.Status == "enabled", APIVersion: e.APIVersion, Events: e.EnabledEvents})
	}
	return all, nil
}
