package journey_test

import (
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/stripe/stripetest"
)

// TestPaymentThroughStripe runs the journey with the real adapter and the real
// library of that processor, before a stateful double of its API.
func TestPaymentThroughStripe(t *testing.T) {
	t.Parallel()
	for name, webhooks := range map[string]stripetest.WebhookMode{"webhook arrives": stripetest.Normal, "webhook lost": stripetest.Drop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := frontdesktest.NewEnv(t)
			processor := stripetest.New(stripetest.Config{})
			t.Cleanup(processor.Close)
			gateway := frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+s.Upstreams.URL+"/sim", "FRONTDESK_REDIS_URL="+s.Redis,
				"FRONTDESK_CARD_PROCESSOR=stripe", "FRONTDESK_STRIPE_URL="+processor.URL, "FRONTDESK_STRIPE_SECRET_KEY="+processor.SecretKey,
				"FRONTDESK_STRIPE_PUBLISHABLE_KEY="+processor.PublishableKey, "FRONTDESK_STRIPE_WEBHOOK_SECRET="+processor.WebhookSecret)
			processor.SetWebhooks(webhooks, gateway.URL+"/v1/webhooks/card")
			c := frontdesktest.NewClient(t, gateway.URL)
			registration := c.Register()
			payment := c.Pay(registration.Id)
			if payment.Card.Processor != "stripe" || payment.Card.ClientSecret == nil || frontdesktest.Value(payment.Card.PublishableKey) != processor.PublishableKey || payment.Card.RedirectUrl != nil {
				t.Fatalf("unexpected card: %+v", payment.Card)
			}
			held := processor.Payments()
			if len(held) != 1 {
				t.Fatalf("the processor holds %d payments", len(held))
			}
			if _, err := processor.Confirm(held[0].ID, "4000000000000002"); err != nil {
				t.Fatal(err)
			}
			c.AwaitPayment(registration.Id, api.Declined)
			if _, err := processor.Confirm(held[0].ID, "4242424242424242"); err != nil {
				t.Fatal(err)
			}
			c.Await(registration.Id, api.Completed)
			s.ExpectOnePayment(t, payment.Amount.Amount)
		})
	}
}
