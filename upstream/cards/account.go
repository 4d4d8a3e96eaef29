package cards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

// Account is whose money a key moves.
type Account struct {
	ID             string // such as acct_…
	Country        string // ISO 3166, two letters
	Currency       string // the account's own, ISO 4217, upper case
	ChargesEnabled bool   // whether it may take live payments; says nothing in test mode
	Live           bool   // the mode of the key
}

// Account reads the account that the key belongs to. A key that is wrong, or restricted and
// without permission to read its account, is ErrRefused.
func (c *Client) Account(ctx context.Context) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	account, err := c.api.account(ctx, &stripe.AccountRetrieveParams{})
	if err != nil {
		return Account{}, toCardsError("account", err)
	}
	return Account{
		ID:             account.ID,
		Country:        account.Country,
		Currency:       strings.ToUpper(string(account.DefaultCurrency)),
		ChargesEnabled: account.ChargesEnabled,
		Live:           c.live,
	}, nil
}

// AccountID returns the id of the account that the key belongs to. The key must pass CheckPermissions.
func (c *Client) AccountID(ctx context.Context) (string, error) {
	return observe(ctx, c, "account", c.accountID)
}

func (c *Client) accountID(ctx context.Context) (string, error) {
	if err := c.CheckPermissions(ctx); err != nil {
		return "", err
	}
	a, err := c.Account(ctx)
	if err == nil && a.ID == "" {
		err = errors.New("stripe: the account has no id")
	}
	return a.ID, err
}

// CheckPermissions returns an error if the key cannot read payments or charges, ErrNoPermission if it may not. Every call on a
// payment shows its charge and refunds, so the processor refuses all of them to such a key, also for money that is reserved.
// It changes nothing at the processor, so a key that may not write passes.
func (c *Client) CheckPermissions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	charges := &stripe.ChargeListParams{}
	charges.Single, charges.Limit = true, stripe.Int64(1)
	if err := permitted("list charges", "charges and refunds", "Charges and Refunds", c.api.listCharges(ctx, charges).Err()); err != nil {
		return err
	}
	payments := &stripe.PaymentIntentListParams{Expand: expandList()}
	payments.Single, payments.Limit, payments.Context = true, stripe.Int64(1), ctx
	return permitted("list", "payments", "PaymentIntents", c.api.listPayments(payments, &rawPage{}))
}

// permitted translates the error of a call that reads objects; nil stays nil. The permission is named as in the dashboard. Only the
// message tells a missing permission from other causes of a 403, such as the caller's address or a closed account: none has a code.
func permitted(verb, objects, permission string, err error) error {
	refusal, ok := errors.AsType[*stripe.Error](err)
	if ok && refusal.HTTPStatusCode == http.StatusForbidden && strings.Contains(refusal.Msg, "required permissions") {
		return fmt.Errorf("stripe: %w %s: give the restricted key the permission to write %s (%s)",
			ErrNoPermission, objects, permission, describe(refusal))
	}
	return toCardsError(verb, err)
}

// RequiredEvents are the types of events that an endpoint must send, each of which causes a payment to be read before the next poll
// (https://docs.stripe.com/api/events/types). Do not change them.
var RequiredEvents = []string{
	"payment_intent.amount_capturable_updated", "payment_intent.canceled", "payment_intent.payment_failed", "payment_intent.succeeded",
	"charge.refunded",
	"refund.updated", "refund.failed", "charge.dispute.created",
}

// WebhookEndpoint is where the processor reports the account's events.
type WebhookEndpoint struct {
	URL        string
	Enabled    bool
	APIVersion string   // of the events, such as 2026-03-25.dahlia; empty: the account's own
	Events     []string // that are sent; "*" means all
}

// Missing lists the required events that are not sent.
func (w WebhookEndpoint) Missing() (missing []string) {
	for _, event := range RequiredEvents {
		if !slices.Contains(w.Events, "*") && !slices.Contains(w.Events, event) {
			missing = append(missing, event)
		}
	}
	return missing
}

// WebhookEndpoints lists the account's endpoints of the key's mode; the processor allows 16.
// A restricted key without permission to read them is ErrRefused.
func (c *Client) WebhookEndpoints(ctx context.Context) (all []WebhookEndpoint, err error) {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	params := &stripe.WebhookEndpointListParams{}
	params.Single, params.Limit = true, stripe.Int64(listPage)
	list := c.api.listEndpoints(ctx, params)
	if err := list.Err(); err != nil {
		return nil, toCardsError("webhook endpoints", err)
	}
	for _, e := range list.Data() {
		all = append(all, WebhookEndpoint{URL: e.URL, Enabled: e.Status == "enabled", APIVersion: e.APIVersion, Events: e.EnabledEvents})
	}
	return all, nil
}
