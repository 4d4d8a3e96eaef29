package ops_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// TestAnotherMethodTakesTheNumber rolls Redis back to before a card payment, and the sale is settled by
// another method under the same number. The card payment is not lost.
func TestAnotherMethodTakesTheNumber(t *testing.T) {
	t.Parallel()
	refusal := &clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 401}
	outage := &clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 503}
	later := map[string]string{"method": "later", "dueDate": time.Now().AddDate(0, 1, 0).Format(time.DateOnly)}
	desk := map[string]string{"method": "desk", "mean": "cash"}
	for name, test := range map[string]struct {
		fault   *clubsim.Fault // of the recording, before the rollback; nil: the buyer pays after it
		journal map[string]string
		other   map[string]string
		money   cards.State
		state   flows.PaymentState // of the card payment, as operators see it
	}{
		"captured, then deferred":    {refusal, nil, later, cards.Refunded, flows.Refunded},
		"captured, then at the desk": {refusal, nil, desk, cards.Refunded, flows.Refunded},
		"in doubt, then deferred":    {outage, nil, later, cards.Captured, flows.InDoubt},
		"paid after it was deferred": {nil, nil, later, cards.Cancelled, flows.Cancelled},
		"accepted, though it was not there": {
			outage, map[string]string{"fd_done_1": "accepted"}, desk, cards.Captured, flows.Blocked,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			gateway, visitor := env.Gateway(t)
			client := frontdesktest.RedisClient(t, env.Redis)
			registration := visitor.Register()
			key, stored, number := "fd:{"+registration.Id+"}:registration", "fd:{"+registration.Id+"}:payment:1", registration.Id+"-1"
			before, err := client.Dump(t.Context(), key).Result()
			frontdesktest.Must(t, err)
			card := visitor.Pay(registration.Id)
			if test.fault != nil {
				env.SetFaults(t, *test.fault)
				// one that is late would restore the payment before the buyer pays otherwise
				visitor.SetProcessor(map[string]string{"webhooks": "drop"})
				visitor.Confirm(card, "4242424242424242")
				frontdesktest.Eventually(t, "the money is taken, and the attempt over", func() bool {
					return visitor.Registration(registration.Id).Payment.State == api.InDoubt || // no event follows: the holder's reading wakes it
						env.Upstreams.Cards.Payments()[0].Metadata["fd_release_1"] != ""
				})
				frontdesktest.Must(t, gateway.Stop()) // finishes its work on the card payment, which it would restore otherwise
				env.SetFaults(t)
			}
			rollBack(t, client, key, before, stored)
			if test.fault != nil {
				gateway, _ = env.Gateway(t, "FRONTDESK_SANDBOX_URL=http://127.0.0.1:1/sandbox") // cannot find the card payment
				visitor.URL = gateway.URL
			}
			visitor.RequestPayment(registration.Id, test.other, frontdesktest.StaffKey())
			if test.fault == nil {
				visitor.Confirm(card, "4242424242424242") // its event finds it
			} else {
				if test.journal != nil {
					processor := frontdesktest.ProcessorClient(env.Upstreams.URL)
					_, err := processor.UpdateMetadata(t.Context(), "journal", env.Upstreams.Cards.Payments()[0].ID, test.journal)
					frontdesktest.Must(t, err)
				}
				frontdesktest.Must(t, gateway.Stop())
				gateway, _ = env.Gateway(t) // compares at start
			}
			var listed payment.Page
			frontdesktest.Eventually(t, "operators see the card payment", func() bool {
				visitor.Do("GET", "http://"+gateway.OpsAddress()+"/ops/payments?all=true", nil).Into(http.StatusOK, &listed)
				return slices.ContainsFunc(listed.Items, func(p payment.Summary) bool { return p.Method == flows.ByCard && p.State == test.state })
			})
			for _, p := range listed.Items {
				if p.Method != flows.ByCard && (string(p.ID) != number || p.State != flows.Recorded) ||
					p.Method == flows.ByCard && string(p.ID) == number {
					t.Errorf("%s is a %s payment, %s (%s)", p.ID, p.Method, p.State, p.Reason)
				}
			}
			if held := env.Upstreams.Cards.Payments(); len(held) != 1 || held[0].State != test.money {
				t.Errorf("the processor holds %+v", held)
			}
			if ledger := env.Upstreams.Sim.Ledger(); len(ledger) > 1 {
				t.Errorf("the ledger holds %+v", ledger)
			}
		})
	}
}

// rollBack restores the registration from its dump, without the payment and what lists it.
func rollBack(t *testing.T, client *redis.Client, registration, dump, paid string) {
	t.Helper()
	for _, err := range []error{
		client.Del(t.Context(), paid).Err(),
		client.Del(t.Context(), "fd:payments:open").Err(),
		client.RestoreReplace(t.Context(), registration, 0, dump).Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
