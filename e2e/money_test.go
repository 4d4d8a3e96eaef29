package e2e_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// testEnv is an outside world with a Redis and any number of gateways.
type testEnv struct {
	upstreams *frontdesktest.Upstreams
	redis     string
}

func newTestEnv(t *testing.T) testEnv {
	t.Helper()
	return testEnv{frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)}
}

func (s testEnv) gateway(t *testing.T) (*frontdesktest.Process, *frontdesktest.Client) {
	t.Helper()
	process := frontdesktest.NewGateway(t, s.upstreams, s.redis)
	return process, frontdesktest.NewClient(t, process.URL)
}

func (s testEnv) expectOnePayment(t *testing.T, amount int64) {
	t.Helper()
	r := records{Audit: s.upstreams.Sim.Audit()}
	r.Ledger.Items = s.upstreams.Sim.Ledger()
	expectOnePayment(t, r, amount)
}

// fault makes the next recording of a payment fail.
func (s testEnv) fault(t *testing.T, fault clubsim.Fault) {
	t.Helper()
	if err := s.upstreams.Sim.SetFaults([]clubsim.Fault{fault}); err != nil {
		t.Fatal(err)
	}
}

var recording = clubsim.FaultMatch{Method: "POST", Path: "/sales/*/payments"}

func times(n int) *int { return &n }

func TestTwoGatewaysUnderConcurrentPayment(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, one := s.gateway(t)
	_, other := s.gateway(t)
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
	if held := s.upstreams.Cards.Payments(); len(held) != 1 {
		t.Fatalf("the processor holds %d payments", len(held))
	}
	payment := one.Pay(registration.Id)
	for _, c := range []*frontdesktest.Client{one, other} {
		group.Go(func() { c.Confirm(payment, "4242424242424242") })
	}
	group.Wait()
	for range callers {
		for _, c := range []*frontdesktest.Client{one, other} {
			group.Go(func() { c.Registration(registration.Id) })
		}
	}
	group.Wait()
	one.Await(registration.Id, api.Completed)
	other.Await(registration.Id, api.Completed)
	s.expectOnePayment(t, payment.Amount.Amount)
}

func TestGatewayKilledBetweenClaimAndAnswer(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	doomed, c := s.gateway(t)
	registration := c.Register()
	payment := c.Pay(registration.Id)
	hold := s.upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
	c.Confirm(payment, "4242424242424242")
	<-hold.Reached // the club system has booked the payment, and its answer is on the way
	doomed.Kill()
	s.upstreams.Release()

	_, survivor := s.gateway(t)
	survivor.Token = c.Token
	if state := survivor.Registration(registration.Id).Payment.State; state != api.Processing {
		t.Errorf("the payment is %s while its owner may still be alive", state)
	}
	expireLease(t, s.redis, registration.Id)
	doubt := survivor.AwaitPayment(registration.Id, api.InDoubt)
	if doubt.State != api.Attention || doubt.Payment.Retry != api.PaymentRetryNever || len(doubt.Next) != 0 {
		t.Errorf("unexpected doubt: %+v", doubt)
	}
	again := survivor.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key(""))
	again.Into(http.StatusAccepted, nil)
	s.expectOnePayment(t, payment.Amount.Amount)
	if held := s.upstreams.Cards.Payments()[0]; held.Refunded != 0 || held.Captured != payment.Amount.Amount {
		t.Errorf("the processor holds %+v", held)
	}
}

// expireLease lets the time pass after which a silent owner counts as gone.
func expireLease(t *testing.T, redisURL, registration string) {
	t.Helper()
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.HSet(t.Context(), "fd:{"+registration+"}:payment:1", "lease", 0).Err(); err != nil {
		t.Fatal(err)
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestEnv(t)
			_, c := s.gateway(t)
			registration := c.Register()
			payment := c.Pay(registration.Id)
			test.fault.Match, test.fault.Times = recording, times(1)
			s.fault(t, test.fault)
			c.Confirm(payment, "4242424242424242")
			end := c.AwaitPayment(registration.Id, test.payment)
			if faults := s.upstreams.Sim.Faults(); faults[0].Hits != 1 {
				t.Errorf("the fault happened %d times", faults[0].Hits)
			}
			if got := len(s.upstreams.Sim.Ledger()); got != test.ledger {
				t.Errorf("the ledger holds %d payments, want %d", got, test.ledger)
			}
			if held := s.upstreams.Cards.Payments()[0]; held.State != test.money {
				t.Errorf("the processor says %s, want %s", held.State, test.money)
			}
			if test.payment == api.InDoubt {
				c.Do("GET", "/v1/registrations/"+registration.Id+"/payment", nil).Into(http.StatusAccepted, nil)
			}
			if end.Payment.Retry == api.PaymentRetryNew && end.Payment.State != api.Refunded {
				t.Errorf("the buyer is told to pay again: %+v", end.Payment)
			}
		})
	}
}

func TestLostWebhookIsRepairedByPolling(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, c := s.gateway(t)
	registration := c.Register()
	payment := c.Pay(registration.Id)
	c.Do("PUT", s.upstreams.URL+"/sandbox/settings", map[string]string{"webhooks": "drop"}).Into(http.StatusOK, nil)
	c.Confirm(payment, "4242424242424242")
	// Nobody asks for the registration, so only the sweeper can find out.
	frontdesktest.Eventually(t, "recorded by the sweeper", func() bool { return len(s.upstreams.Sim.Ledger()) == 1 })
	c.Await(registration.Id, api.Completed)
	s.expectOnePayment(t, payment.Amount.Amount)
}

func TestDoubledAndReorderedWebhooks(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"duplicate", "reorder"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newTestEnv(t)
			_, c := s.gateway(t)
			c.Do("PUT", s.upstreams.URL+"/sandbox/settings", map[string]string{"webhooks": mode}).Into(http.StatusOK, nil)
			registration := c.Register()
			payment := c.Pay(registration.Id)
			c.Confirm(payment, "4242424242424242")
			c.Await(registration.Id, api.Completed)
			s.expectOnePayment(t, payment.Amount.Amount)
		})
	}
}

func TestClubSystemDownBeforeCapture(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, c := s.gateway(t)
	registration := c.Register()
	payment := c.Pay(registration.Id)
	s.fault(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 503})
	c.Confirm(payment, "4242424242424242")
	cancelled := c.AwaitPayment(registration.Id, api.Cancelled)
	if cancelled.State != api.Open || cancelled.Payment.Retry != api.PaymentRetryNew {
		t.Errorf("unexpected end: %+v", cancelled)
	}
	if held := s.upstreams.Cards.Payments()[0]; held.Captured != 0 || held.State != cards.Cancelled {
		t.Errorf("the buyer was charged: %+v", held)
	}
	if err := s.upstreams.Sim.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	second := c.Pay(registration.Id)
	if second.Id == payment.Id {
		t.Error("the cancelled payment was offered again")
	}
	c.Confirm(second, "4242424242424242")
	c.Await(registration.Id, api.Completed)
	s.expectOnePayment(t, payment.Amount.Amount)
}

func TestCartIsFrozenWhilePaying(t *testing.T) {
	t.Parallel()
	s := newTestEnv(t)
	_, c := s.gateway(t)
	registration := c.Register()
	payment := c.Pay(registration.Id)
	path := "/v1/registrations/" + registration.Id
	item := api.NewItem{OfferId: *registration.Cart.Items[0].OfferId, StartDate: registration.Cart.Items[0].StartDate}
	c.Do("POST", path+"/items", item, frontdesktest.Key("")).Problem(api.CartFrozen)
	c.Do("DELETE", path+"/items", nil).Problem(api.CartFrozen)
	c.Do("PUT", path+"/person", frontdesktest.Person()).Problem(api.CartFrozen)
	c.Do("DELETE", path, nil).Into(http.StatusOK, nil)
	if held := s.upstreams.Cards.Payments()[0]; held.State != cards.Cancelled {
		t.Errorf("the processor says %s after the registration was abandoned", held.State)
	}
	response := c.Do("POST", *payment.Card.RedirectUrl+"/confirm", map[string]string{"card": "4242424242424242"})
	if response.Status != http.StatusConflict || len(s.upstreams.Sim.Ledger()) != 0 {
		t.Errorf("the cancelled payment was confirmed with %d", response.Status)
	}
}
