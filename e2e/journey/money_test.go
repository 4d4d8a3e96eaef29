package journey_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

func TestTwoGatewaysUnderConcurrentPayment(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, one := env.Gateway(t)
	_, other := env.Gateway(t)
	registration := one.Register()
	other.Token = one.Token

	const callers = 16
	ids := make(chan string, 2*callers)
	var group sync.WaitGroup
	for range callers {
		for _, c := range []*frontdesktest.Client{one, other} {
			group.Go(func() {
				response := c.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key(""))
				var payment api.Payment
				response.Into(http.StatusCreated, &payment)
				ids <- payment.Id
			})
		}
	}
	group.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("payments %s and %s for one registration", first, id)
		}
	}
	if held := env.Upstreams.Cards.Payments(); len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	payment := one.Pay(registration.Id)
	confirmed := make(chan int, 2)
	for _, c := range []*frontdesktest.Client{one, other} {
		group.Go(func() {
			confirmed <- c.EnterCard(payment, frontdesktest.ApprovedCard).Status
		})
	}
	group.Wait()
	close(confirmed)
	// The later of the two may find the payment captured.
	if outcomes := []int{<-confirmed, <-confirmed}; !slices.Contains(outcomes, http.StatusOK) {
		t.Fatalf("the processor responded %v", outcomes)
	}
	for range callers {
		for _, c := range []*frontdesktest.Client{one, other} {
			group.Go(func() { c.Registration(registration.Id) })
		}
	}
	group.Wait()
	one.Await(registration.Id, api.Completed)
	other.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

func TestGatewayKilledBetweenClaimAndAnswer(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	doomed, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	reached := env.Upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
	client.Confirm(payment, "4242424242424242")
	frontdesktest.Receive(t, reached, "the club system has booked the payment, and its response is on the way")
	doomed.Kill()
	env.Upstreams.Release()

	_, survivor := env.Gateway(t)
	survivor.Token = client.Token
	if state := survivor.Registration(registration.Id).Payment.State; state != api.Processing {
		t.Errorf("the payment is %s while its owner may still be alive", state)
	}
	frontdesktest.ExpireLease(t, env.Redis, registration.Id)
	doubt := survivor.AwaitPayment(registration.Id, api.InDoubt)
	if doubt.State != api.Attention || doubt.Payment.PayAgain != api.PayAgainNo || len(doubt.Next) != 0 {
		t.Errorf("unexpected doubt: %+v", doubt)
	}
	again := survivor.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key(""))
	again.Into(http.StatusAccepted, nil)
	env.ExpectOnePayment(t, payment.Total.Amount)
	if held := env.Upstreams.Cards.Payments()[0]; held.Refunded != 0 || held.Captured != payment.Total.Amount {
		t.Errorf("the processor holds %+v", held)
	}
}

func TestRecordingOutcomes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault   clubsim.Fault
		payment api.PaymentState
		ledger  int
		money   cards.State
	}{
		"answer lost":          {clubsim.Fault{Kind: "drop_after"}, api.InDoubt, 1, cards.Captured},
		"error after effect":   {clubsim.Fault{Kind: "error_after", Status: 500}, api.InDoubt, 1, cards.Captured},
		"error before effect":  {clubsim.Fault{Kind: "error_before", Status: 503}, api.InDoubt, 0, cards.Captured},
		"garbage with a 200":   {clubsim.Fault{Kind: "malformed"}, api.Recorded, 1, cards.Captured},
		"rejected":             {clubsim.Fault{Kind: "error_before", Status: 422}, api.Refunded, 0, cards.Refunded},
		"rejected after all":   {clubsim.Fault{Kind: "error_after", Status: 400}, api.InDoubt, 1, cards.Captured},
		"token refused once":   {clubsim.Fault{Kind: "unauthorized_once"}, api.Recorded, 1, cards.Captured},
		"slow":                 {clubsim.Fault{Kind: "delay", DelayMs: 300}, api.Recorded, 1, cards.Captured},
		"too many, not before": {clubsim.Fault{Kind: "too_many"}, api.InDoubt, 0, cards.Captured},
		"limit reached":        {clubsim.Fault{Kind: "too_many", Limit: "spike_arrest", DelayMs: 100}, api.Recorded, 1, cards.Captured},
		"another's page":       {clubsim.Fault{Kind: "foreign_page"}, api.InDoubt, 0, cards.Captured},
		"another's JSON":       {clubsim.Fault{Kind: "foreign_json"}, api.InDoubt, 0, cards.Captured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			_, client := env.Gateway(t)
			registration := client.Register()
			payment := client.Pay(registration.Id)
			test.fault.Match, test.fault.Times = frontdesktest.RecordPayment, frontdesktest.Times(1)
			env.SetFaults(t, test.fault)
			client.Confirm(payment, "4242424242424242")
			end := client.AwaitPayment(registration.Id, test.payment)
			if faults := env.Upstreams.Sim.Faults(); faults[0].Hits != 1 {
				t.Errorf("the fault happened %d times", faults[0].Hits)
			}
			if got := len(env.Upstreams.Sim.Ledger()); got != test.ledger {
				t.Errorf("the ledger holds %d payments, want %d", got, test.ledger)
			}
			if held := env.Upstreams.Cards.Payments()[0]; held.State != test.money {
				t.Errorf("the processor says %s, want %s", held.State, test.money)
			}
			if end.Payment.PayAgain == api.PayAgainNewRequest && end.Payment.State != api.Refunded {
				t.Errorf("the buyer is asked to pay again: %+v", end.Payment)
			}
		})
	}
}

func TestLostWebhookIsRepairedByPolling(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	client.SetProcessor(map[string]string{"webhooks": "drop"})
	client.Confirm(payment, "4242424242424242")
	// No client reads the registration, so only the sweeper can record the payment.
	frontdesktest.Eventually(t, "recorded by the sweeper", func() bool { return len(env.Upstreams.Sim.Ledger()) == 1 })
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

func TestDoubledAndReorderedWebhooks(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"duplicate", "reorder"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			_, c := env.Gateway(t)
			c.SetProcessor(map[string]string{"webhooks": mode})
			registration := c.Register()
			payment := c.Pay(registration.Id)
			c.Confirm(payment, "4242424242424242")
			c.Await(registration.Id, api.Completed)
			env.ExpectOnePayment(t, payment.Total.Amount)
		})
	}
}

func TestClubSystemDownBeforeCapture(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
	client.Confirm(payment, "4242424242424242")
	cancelled := client.AwaitPayment(registration.Id, api.Cancelled)
	if cancelled.State != api.Open || cancelled.Payment.PayAgain != api.PayAgainNewRequest {
		t.Errorf("unexpected end: %+v", cancelled)
	}
	if held := env.Upstreams.Cards.Payments()[0]; held.Captured != 0 || held.State != cards.Cancelled {
		t.Errorf("the buyer was charged: %+v", held)
	}
	if err := env.Upstreams.Sim.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	second := client.Pay(registration.Id)
	if second.Id == payment.Id {
		t.Error("the cancelled payment was offered again")
	}
	client.Confirm(second, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, payment.Total.Amount)
}

func TestCartIsFrozenWhilePaying(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	path := "/v1/registrations/" + registration.Id
	item := api.NewItem{OfferId: *registration.Cart.Items[0].OfferId, StartDate: registration.Cart.Items[0].StartDate}
	client.Do("POST", path+"/items", item, frontdesktest.Key("")).Problem(api.CartFrozen)
	client.Do("DELETE", path+"/items", nil).Problem(api.CartFrozen)
	client.Do("PUT", path+"/person", frontdesktest.Person()).Problem(api.CartFrozen)
	client.Do("DELETE", path, nil).Into(http.StatusOK, nil)
	if held := env.Upstreams.Cards.Payments()[0]; held.State != cards.Cancelled {
		t.Errorf("the processor says %s after the registration was abandoned", held.State)
	}
	response := client.EnterCard(payment, frontdesktest.ApprovedCard)
	if response.Status != http.StatusConflict || len(env.Upstreams.Sim.Ledger()) != 0 {
		t.Errorf("the cancelled payment was confirmed with %d", response.Status)
	}
}

// TestPaidAsSeen checks that a page does not pay for an offer that another device added to the cart
// after the page was shown.
func TestPaidAsSeen(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	seen := client.Register()
	path := "/v1/registrations/" + seen.Id
	var now api.Registration
	client.Do("POST", path+"/items", api.NewItem{OfferId: "2501"}, frontdesktest.Key("")).Into(http.StatusCreated, &now)
	if seen.Cart.Revision == now.Cart.Revision {
		t.Fatalf("both carts have the revision %q", now.Cart.Revision)
	}
	card := func(cart string) any { return map[string]string{"method": "card", "cart": cart} }
	client.RequestPayment(seen.Id, card(seen.Cart.Revision)).Problem(api.CartChanged)
	if held := env.Upstreams.Cards.Payments(); len(held) != 0 {
		t.Fatalf("the processor holds %+v", held)
	}
	if again := client.Registration(seen.Id); again.Cart.Revision != now.Cart.Revision {
		t.Errorf("the revision is %s at one reading and %s at the next", now.Cart.Revision, again.Cart.Revision)
	}
	var payment api.Payment
	client.RequestPayment(seen.Id, card(now.Cart.Revision)).Into(http.StatusCreated, &payment)
	client.RequestPayment(seen.Id, card(seen.Cart.Revision)).Problem(api.CartChanged) // the payment exists now
	client.Confirm(payment, "4242424242424242")
	client.Await(seen.Id, api.Completed)
	env.ExpectOnePayment(t, now.Cart.DueNow.Amount)
}

// TestStepBack cancels a payment at the card page: the cart can change again, and be settled by another
// method.
func TestStepBack(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	client.Do("DELETE", path+"/payment", nil).Into(http.StatusOK, nil) // no payment exists yet
	payment := client.Pay(registration.Id)
	if next := client.Registration(registration.Id).Next; !slices.ContainsFunc(next, func(a api.Action) bool {
		return a.Action == "cancel_payment"
	}) {
		t.Errorf("the way back is not among %+v", next)
	}
	for range 2 { // repeating it changes nothing
		var back api.Registration
		client.Do("DELETE", path+"/payment", nil).Into(http.StatusOK, &back)
		if back.State != api.Open || back.Payment.State != api.Cancelled || back.Cart.Revision != registration.Cart.Revision {
			t.Fatalf("after the step back: %+v", back)
		}
	}
	if held := env.Upstreams.Cards.Payments(); len(held) != 1 || held[0].State != cards.Cancelled {
		t.Errorf("the processor holds %+v", held)
	}
	if late := client.EnterCard(payment, frontdesktest.ApprovedCard); late.Status != http.StatusConflict {
		t.Errorf("the cancelled payment was confirmed with %d", late.Status)
	}
	client.Do("POST", path+"/items", api.NewItem{OfferId: "2501"}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	due := *client.Registration(registration.Id).Next[0].LatestDueDate
	client.RequestPayment(registration.Id, map[string]string{"method": "later", "dueDate": due}).Into(http.StatusCreated, nil)
	ended := client.Await(registration.Id, api.Completed)
	if slices.ContainsFunc(ended.Next, func(a api.Action) bool { return a.Action == "cancel_payment" }) {
		t.Errorf("a settled registration offers %+v", ended.Next)
	}
	client.Do("DELETE", path+"/payment", nil).Problem(api.PaymentUnderWay)
}

// TestStepBackWhilePaying has the buyer confirm the card in one window and step back in another.
func TestStepBackWhilePaying(t *testing.T) {
	t.Parallel()
	for range 4 {
		env := frontdesktest.NewEnv(t)
		_, client := env.Gateway(t)
		registration := client.Register()
		payment := client.Pay(registration.Id)
		var back *frontdesktest.Response
		var group sync.WaitGroup
		group.Go(func() {
			client.EnterCard(payment, frontdesktest.ApprovedCard)
		})
		group.Go(func() { back = client.Do("DELETE", "/v1/registrations/"+registration.Id+"/payment", nil) })
		group.Wait()
		if back.Status == http.StatusOK {
			if held := env.Upstreams.Cards.Payments(); held[0].State != cards.Cancelled || held[0].Captured != 0 ||
				len(env.Upstreams.Sim.Ledger()) != 0 {
				t.Errorf("the processor holds %+v after a step back", held)
			}
			continue
		}
		back.Problem(api.PaymentUnderWay)
		client.Await(registration.Id, api.Completed)
		env.ExpectOnePayment(t, payment.Total.Amount)
	}
}

// decline enters a card that the bank declines, and waits until the gateway shows it.
func decline(c *frontdesktest.Client, payment api.Payment, shown api.PaymentState) api.Registration {
	c.EnterCard(payment, frontdesktest.DeclinedCard)
	registration := payment.Id[:strings.LastIndexByte(payment.Id, '-')]
	return c.AwaitPayment(registration, shown)
}

// TestCardTesting checks that a registration allows five declined attempts, whether or not the
// visitor steps back in between. Then cards are no longer offered, but another method is.
func TestCardTesting(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	first := client.Pay(registration.Id)
	for range 3 {
		decline(client, first, api.Declined)
		client.Pay(registration.Id)
	}
	client.Do("DELETE", path+"/payment", nil).Into(http.StatusOK, nil)
	second := client.Pay(registration.Id)
	if left := frontdesktest.Value(second.Card.AttemptsLeft); left != 2 {
		t.Errorf("after three declines, %d attempts are left", left)
	}
	decline(client, second, api.Declined)
	client.Pay(registration.Id)
	ended := decline(client, second, api.Cancelled)
	if ended.State != api.Open || ended.Step != api.StepReady || slices.Contains(*ended.Next[0].Methods, api.PaymentMethodCard) {
		t.Errorf("after the fifth decline: %+v", ended)
	}
	client.RequestPayment(registration.Id, map[string]string{"method": "card"}).Problem(api.MethodNotOffered)
	for _, held := range env.Upstreams.Cards.Payments() {
		if held.State != cards.Cancelled || held.Captured != 0 {
			t.Errorf("the processor holds %+v", held)
		}
	}
	client.RequestPayment(registration.Id, map[string]string{"method": "later", "dueDate": *ended.Next[0].LatestDueDate}).
		Into(http.StatusCreated, nil)
	client.Await(registration.Id, api.Completed)
}

// TestDeclinesSurviveRedis checks that the processor counts the attempts that Redis lost.
func TestDeclinesSurviveRedis(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	for range 4 {
		decline(client, payment, api.Declined)
		client.Pay(registration.Id)
	}
	frontdesktest.FlushRedis(t, env.Redis)
	client.EnterCard(payment, frontdesktest.DeclinedCard)
	frontdesktest.Eventually(t, "the processor cancels the payment", func() bool {
		return env.Upstreams.Cards.Payments()[0].State == cards.Cancelled
	})
	if held := env.Upstreams.Cards.Payments(); len(held) != 1 || held[0].Captured != 0 {
		t.Errorf("the processor holds %+v", held)
	}
}

// TestStepBackKilled kills a gateway while it cancels the payment, and wipes Redis. Another gateway
// finishes the step back, and nothing is captured.
func TestStepBackKilled(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	proxy := env.Upstreams.Proxy()
	t.Cleanup(proxy.Close)
	doomed, client := env.Gateway(t, "FRONTDESK_SANDBOX_URL="+proxy.URL+"/sandbox")
	registration := client.Register()
	payment := client.Pay(registration.Id)
	path := "/v1/registrations/" + registration.Id + "/payment"
	proxy.Add(&frontdesktest.Breakpoint{Operation: frontdesktest.Cancel, Phase: frontdesktest.BeforeResponse, OnHit: doomed.Kill})
	if _, err := client.Try("DELETE", path, nil); err == nil {
		t.Error("the killed gateway answered")
	}
	_, survivor := env.Gateway(t)
	survivor.Token = client.Token
	var back api.Registration
	survivor.Do("DELETE", path, nil).Into(http.StatusOK, &back)
	if back.Payment.State != api.Cancelled || back.State != api.Open {
		t.Errorf("after the step back: %+v", back)
	}
	if late := client.EnterCard(payment, frontdesktest.ApprovedCard); late.Status != http.StatusConflict {
		t.Errorf("the cancelled payment was confirmed with %d", late.Status)
	}
	frontdesktest.FlushRedis(t, env.Redis)
	survivor.Do("DELETE", path, nil).Into(http.StatusOK, nil)
	if held := env.Upstreams.Cards.Payments(); len(held) != 1 || held[0].State != cards.Cancelled || len(env.Upstreams.Sim.Ledger()) != 0 {
		t.Errorf("the processor holds %+v", held)
	}
}
