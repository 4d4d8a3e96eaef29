package ops_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// TestRefundThatFails checks that a refund counts once the processor has made it. A refund that is
// refused, or fails at once or days later, is noticed, and an operator can have it made again.
func TestRefundThatFails(t *testing.T) {
	t.Parallel()
	const pending, refused, normal = "pending", "refused", ""
	for name, test := range map[string]struct {
		refunds  string
		webhooks sandbox.WebhookMode
		restart  bool // a comparison finds the failure
	}{
		"refused":                    {refused, sandbox.Normal, false},
		"pending, then failed":       {pending, sandbox.Normal, false},
		"refunded, then failed":      {normal, sandbox.Normal, false},
		"failed while Redis is lost": {pending, sandbox.Drop, true},
		"failed without an event":    {normal, sandbox.Drop, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			gateway, client := env.Gateway(t)
			set := func(refunds string, webhooks sandbox.WebhookMode) {
				client.SetProcessor(sandbox.Settings{Refunds: refunds, Webhooks: webhooks})
			}
			held := func() sandbox.Payment { return env.Upstreams.Cards.Payments()[0] }
			settle := func(succeeded bool) {
				client.AtProcessor(held().ID, "settle-refund", map[string]bool{"succeeded": succeeded}).Into(http.StatusOK, nil)
			}
			set(test.refunds, sandbox.Normal)
			env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 422})
			registration := client.Register()
			card := client.Pay(registration.Id)
			client.Confirm(card, frontdesktest.ApprovedCard)
			switch test.refunds {
			case pending:
				frontdesktest.Eventually(t, "the refund is pending", func() bool { return held().Refunding > 0 })
				for range 3 {
					shown := client.Registration(registration.Id)
					now, message := shown.Payment, shown.Message.Text
					if now.State != api.Processing || now.PayAgain != api.PayAgainNo || strings.Contains(message, "got your money") {
						t.Fatalf("the refund is pending, and the buyer is shown %s, %s: %s", now.State, now.PayAgain, message)
					}
				}
			case normal:
				client.AwaitPayment(registration.Id, api.Refunded)
			}
			set(test.refunds, test.webhooks)
			if test.refunds != refused {
				settle(false)
			}
			if name == "failed while Redis is lost" {
				frontdesktest.FlushRedis(t, env.Redis)
			}
			if test.restart {
				token := client.Token
				gateway, client = env.Gateway(t)
				client.Token = token
			}
			ops := "http://" + gateway.OpsAddress() + "/ops/payments"
			var listed payment.Page
			frontdesktest.Eventually(t, "operators see that it failed", func() bool {
				client.Do("GET", ops, nil).Into(http.StatusOK, &listed)
				return len(listed.Items) == 1 && listed.Items[0].State == flows.Blocked
			})
			shown := client.AwaitPayment(registration.Id, api.InDoubt)
			if shown.Payment.PayAgain != api.PayAgainNo || strings.Contains(shown.Message.Text, "back") {
				t.Errorf("the buyer is shown %s, %s: %s", shown.Payment.State, shown.Payment.PayAgain, shown.Message.Text)
			}
			var detail payment.Detail
			client.Do("GET", ops+"/"+card.Id, nil).Into(http.StatusOK, &detail)
			if !strings.Contains(strings.Join(detail.Commands, "\n"), "confirm-not-recorded "+card.Id+" --refund") {
				t.Errorf("the operator may: %v", detail.Commands)
			}
			set(normal, test.webhooks)
			client.Do("POST", ops+"/"+card.Id+"/confirm-not-recorded", map[string]string{"then": "refund"}).Into(http.StatusOK, nil)
			client.AwaitPayment(registration.Id, api.Refunded)
			if money := held(); money.State != cards.Refunded || money.Refunded != money.Captured || len(env.Upstreams.Sim.Ledger()) != 0 {
				t.Errorf("the processor holds %+v, the ledger %+v", money, env.Upstreams.Sim.Ledger())
			}
		})
	}
}
