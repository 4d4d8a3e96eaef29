package cards_test

import (
	"errors"
	"testing"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// TestWebhookEndpoints reads where the processor sends its events, and which events it leaves out.
func TestWebhookEndpoints(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if hooks, err := p.WebhookEndpoints(t.Context()); err != nil || len(hooks) != 0 {
		t.Errorf("none is there, and %+v (%v)", hooks, err)
	}
	const at = "https://signup.club.fr/v1/webhooks/card"
	p.double.SetWebhooks(sandbox.Drop, at)
	hooks, err := p.WebhookEndpoints(t.Context())
	if err != nil || len(hooks) != 1 || hooks[0].URL != at || !hooks[0].Enabled || hooks[0].APIVersion != sandbox.APIVersion || len(hooks[0].Missing()) != 0 {
		t.Errorf("%+v (%v)", hooks, err)
	}
	some := cards.WebhookEndpoint{Events: []string{"payment_intent.succeeded", "payment_intent.canceled",
		"payment_intent.payment_failed", "charge.refunded", "refund.updated", "refund.failed", "charge.dispute.created"}}
	if missing := some.Missing(); len(missing) != 1 || missing[0] != "payment_intent.amount_capturable_updated" {
		t.Errorf("missing: %v", missing)
	}
	stranger := newClient(t, cards.Config{SecretKey: "sk_test_stranger", URL: p.double.URL, Now: p.clock.Now})
	if _, err := stranger.WebhookEndpoints(t.Context()); !errors.Is(err, cards.ErrRefused) {
		t.Errorf("a stranger gets %v", err)
	}
}
