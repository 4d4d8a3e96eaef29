package ops_test

import (
	"net/http"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// TestRestartWithEmptyRedis kills the gateway after the money was taken, and starts it on an empty
// Redis. The payment's outcome depends on whether the club system booked it.
func TestRestartWithEmptyRedis(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		until func(*testing.T, frontdesktest.Env, *frontdesktest.Client, api.Payment) // the moment of the power cut
		end   api.PaymentState
	}{
		"the answer was on its way": {func(t *testing.T, s frontdesktest.Env, c *frontdesktest.Client, payment api.Payment) {
			reached := s.Upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
			c.Confirm(payment, "4242424242424242")
			frontdesktest.Receive(t, reached, "the payment is being recorded")
		}, api.InDoubt},
		"the club system refused all requests": {func(t *testing.T, s frontdesktest.Env, c *frontdesktest.Client, payment api.Payment) {
			s.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 401})
			c.Confirm(payment, "4242424242424242")
			frontdesktest.Eventually(t, "a claim is given up", func() bool {
				return s.Upstreams.Cards.Payments()[0].Metadata["fd_release_1"] != ""
			})
		}, api.Recorded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			doomed, client := env.Gateway(t)
			registration := client.Register()
			payment := client.Pay(registration.Id)
			test.until(t, env, client, payment)
			doomed.Kill()
			env.Upstreams.Release()
			if err := env.Upstreams.Sim.SetFaults(nil); err != nil {
				t.Fatal(err)
			}
			if held := env.Upstreams.Cards.Payments()[0]; held.State != cards.Captured {
				t.Fatalf("the processor says %s", held.State)
			}
			env.Redis = frontdesktest.NewRedis(t)
			_, again := env.Gateway(t)
			again.Token = client.Token
			end := again.AwaitPayment(registration.Id, test.end)
			if end.Payment.Id != payment.Id || end.Payment.PayAgain != api.PayAgainNo || len(end.Next) != 0 {
				t.Errorf("the holder sees %+v", end)
			}
			stranger := frontdesktest.NewClient(t, again.URL)
			other := stranger.Register()
			stranger.Do("GET", "/v1/registrations/"+registration.Id, nil).Problem(api.RegistrationNotFound)
			stranger.Registration(other.Id)
			env.ExpectOnePayment(t, payment.Total.Amount)
			if held := env.Upstreams.Cards.Payments(); len(held) != 1 || held[0].Refunded != 0 {
				t.Errorf("the processor holds %+v", held)
			}
		})
	}
}

// TestRedisFlushedWhileRunning empties Redis under a running gateway. The buyer only needs to read
// again.
func TestRedisFlushedWhileRunning(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	frontdesktest.FlushRedis(t, env.Redis)
	if seen := client.Registration(registration.Id); seen.Payment == nil || seen.Payment.Id != payment.Id || seen.State != api.Paying {
		t.Errorf("the holder sees %+v", seen)
	}
	again := client.Pay(registration.Id)
	if again.Id != payment.Id {
		t.Errorf("payment %s next to %s", again.Id, payment.Id)
	}
	client.Confirm(again, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

// TestStripeRebuildAfterRedisLoss rebuilds from that processor's list.
func TestStripeRebuildAfterRedisLoss(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	processor := sandbox.New(sandbox.Config{})
	t.Cleanup(processor.Close)
	doomed, client := env.StripeGateway(t, processor, sandbox.Normal)
	doubtful, waiting := client.Register(), frontdesktest.NewClient(t, doomed.URL)
	other := waiting.Register()
	first, second := client.Pay(doubtful.Id), waiting.Pay(other.Id)
	ids := map[string]string{}
	for _, held := range processor.Payments() {
		ids[held.Metadata["fd_registration"]] = held.ID
	}
	reached := env.Upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
	if _, err := processor.Confirm(ids[doubtful.Id], "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	frontdesktest.Receive(t, reached, "the payment is being recorded")
	doomed.Kill()
	env.Upstreams.Release()

	env.Redis = frontdesktest.NewRedis(t)
	gateway, again := env.StripeGateway(t, processor, sandbox.Normal)
	waitingAgain := frontdesktest.NewClient(t, gateway.URL)
	again.Token, waitingAgain.Token = client.Token, waiting.Token
	if end := again.AwaitPayment(doubtful.Id, api.InDoubt); end.Payment.Id != first.Id {
		t.Errorf("the holder sees %+v", end)
	}
	seen := waitingAgain.Registration(other.Id)
	if seen.Payment == nil || seen.Payment.Id != second.Id ||
		frontdesktest.Value(seen.Payment.Card.ClientSecret) != frontdesktest.Value(second.Card.ClientSecret) {
		t.Fatalf("the holder sees %+v", seen)
	}
	if _, err := processor.Confirm(ids[other.Id], "4242424242424242"); err != nil {
		t.Fatal(err)
	}
	waitingAgain.Await(other.Id, api.Completed)
	if audit := env.Upstreams.Sim.Audit(); !audit.OK || len(env.Upstreams.Sim.Ledger()) != 2 {
		t.Errorf("the audit finds %+v, the ledger %+v", audit, env.Upstreams.Sim.Ledger())
	}
}
