package journey_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// TestPaymentThroughStripe runs the journey with the real adapter and the real library of that
// processor, against a stateful double of its API.
func TestPaymentThroughStripe(t *testing.T) {
	t.Parallel()
	for name, webhooks := range map[string]sandbox.WebhookMode{"webhook arrives": sandbox.Normal, "webhook lost": sandbox.Drop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, processor, _, client := newStripe(t, webhooks)
			registration := client.Register()
			payment := client.Pay(registration.Id)
			page := frontdesktest.Value(payment.Card.RedirectUrl)
			if payment.Card.Processor != "stripe" || payment.Card.ClientSecret == nil ||
				frontdesktest.Value(payment.Card.PublishableKey) != processor.PublishableKey ||
				!strings.Contains(page, "/pay/"+payment.Id+"/") {
				t.Fatalf("unexpected card: %+v", payment.Card)
			}
			held := processor.Payments()
			if len(held) != 1 {
				t.Fatalf("the processor holds %d payments", len(held))
			}
			if _, err := processor.Confirm(held[0].ID, "4000000000000002"); err != nil {
				t.Fatal(err)
			}
			client.AwaitPayment(registration.Id, api.Declined)
			if _, err := processor.Confirm(held[0].ID, "4242424242424242"); err != nil {
				t.Fatal(err)
			}
			client.Await(registration.Id, api.Completed)
			env.ExpectOnePayment(t, payment.Total.Amount)
		})
	}
}

// newStripe starts a gateway with the real adapter, against a double of the processor.
func newStripe(
	t *testing.T, webhooks sandbox.WebhookMode,
) (frontdesktest.Env, *sandbox.Server, *frontdesktest.Process, *frontdesktest.Client) {
	t.Helper()
	s := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	gateway, c := s.StripeGateway(t, processor, webhooks)
	return s, processor, gateway, c
}

// TestOtherMethodAtStripe checks that only cards pay, whatever the processor's dashboard offers.
// Another method's authorisation is cancelled before capture; money that was taken at once is refunded
// when an operator says so.
func TestOtherMethodAtStripe(t *testing.T) {
	t.Parallel()
	env, processor, gateway, client := newStripe(t, sandbox.Normal)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	if _, err := processor.Confirm(processor.Payments()[0].ID, "klarna"); err == nil {
		t.Error("the processor accepts another method than a card")
	}
	if _, err := processor.Confirm(processor.Payments()[0].ID, "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)

	processor.AllowAnyMethod()
	other := client.Register()
	client.Pay(other.Id)
	id := processor.Payments()[0].ID
	if _, err := processor.Confirm(id, "klarna"); err != nil {
		t.Fatal(err)
	}
	client.AwaitPayment(other.Id, api.Cancelled)
	if held, _ := processor.Payment(id); held.Status != "canceled" || held.Captured != 0 || len(env.Upstreams.Sim.Ledger()) != 1 {
		t.Errorf("the processor holds %+v, the ledger %+v", held, env.Upstreams.Sim.Ledger())
	}

	taken := client.Register()
	paid := client.Pay(taken.Id)
	id = processor.Payments()[0].ID
	if _, err := processor.Confirm(id, "ideal"); err != nil {
		t.Fatal(err)
	}
	client.AwaitPayment(taken.Id, api.InDoubt)
	if held, _ := processor.Payment(id); held.Refunded != 0 {
		t.Errorf("without a decision, the processor holds %+v", held)
	}
	client.Do("POST", fmt.Sprintf("http://%s/ops/payments/%s-1/confirm-not-recorded", gateway.OpsAddress(), taken.Id), `{"then":"refund"}`).
		Into(200, nil)
	client.AwaitPayment(taken.Id, api.Refunded)
	if held, _ := processor.Payment(id); held.Refunded != paid.Total.Amount || len(env.Upstreams.Sim.Ledger()) != 1 {
		t.Errorf("the processor holds %+v, the ledger %+v", held, env.Upstreams.Sim.Ledger())
	}
}

// TestCardTestingAtStripe: the processor's script on the buyer's page makes attempts without
// asking the gateway. The fifth one that the bank declines ends the payment.
func TestCardTestingAtStripe(t *testing.T) {
	t.Parallel()
	env, processor, _, client := newStripe(t, sandbox.Normal)
	registration := client.Register()
	client.Pay(registration.Id)
	id := processor.Payments()[0].ID
	for range 5 {
		if _, err := processor.Confirm(id, "4000000000000002"); err != nil {
			t.Fatal(err)
		}
	}
	client.AwaitPayment(registration.Id, api.Cancelled)
	if held, _ := processor.Payment(id); held.Status != "canceled" || held.Charges != 5 || held.Captured != 0 {
		t.Errorf("the processor holds %+v", held)
	}
	if _, err := processor.Confirm(id, "4242424242424242"); err == nil {
		t.Error("the processor accepts a sixth attempt")
	}
	client.RequestPayment(registration.Id, map[string]string{"method": "card"}).Problem(api.MethodNotOffered)
	if ledger := env.Upstreams.Sim.Ledger(); len(ledger) != 0 {
		t.Errorf("the ledger holds %+v", ledger)
	}
}

// TestChallengeAfterDeclinesAtStripe: a script has five cards declined and the bank challenge a sixth, all
// before the gateway reads. The payment ends although its latest attempt was not declined.
func TestChallengeAfterDeclinesAtStripe(t *testing.T) {
	t.Parallel()
	_, processor, _, client := newStripe(t, sandbox.Drop)
	registration := client.Register()
	client.Pay(registration.Id)
	id := processor.Payments()[0].ID
	const declined, challenged = "4000000000000002", "4000002500003155"
	for _, card := range []string{declined, declined, declined, declined, declined, challenged} {
		if _, err := processor.Confirm(id, card); err != nil && card != challenged { // the gateway may read before the sixth
			t.Fatal(err)
		}
	}
	client.AwaitPayment(registration.Id, api.Cancelled)
	if _, err := processor.Approve(id, true); err == nil {
		t.Error("the bank's challenge can still be passed")
	}
	if held, _ := processor.Payment(id); held.Status != "canceled" || held.Captured != 0 {
		t.Errorf("the processor holds %+v", held)
	}
}
