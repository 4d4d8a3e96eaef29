package journey_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// quotaEnv is a club system behind an API gateway that limits the calls, with two gateways.
type quotaEnv struct {
	frontdesktest.Env
	t        *testing.T
	gateways [2]*frontdesktest.Process
	both     [2]*frontdesktest.Client
}

func newQuotaEnv(t *testing.T, limits clubsim.CallLimits) *quotaEnv {
	t.Helper()
	s := &quotaEnv{Env: frontdesktest.NewEnv(t), t: t}
	s.limit(limits)
	for i := range s.both {
		s.gateways[i], s.both[i] = s.Gateway(t)
	}
	return s
}

func (s *quotaEnv) limit(limits clubsim.CallLimits) {
	s.t.Helper()
	frontdesktest.Must(s.t, s.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.CallLimits = limits }))
}

// expectLogged fails the test unless the gateways have logged a line, a few times for each gateway and operation.
func (s *quotaEnv) expectLogged(line string) {
	s.t.Helper()
	lines := 0
	for _, gateway := range s.gateways {
		lines += strings.Count(gateway.Log(), line)
	}
	if lines == 0 || lines > 10 {
		s.t.Errorf("%d lines %q", lines, line)
	}
}

// expectKept fails the test if a call was refused by a limit.
func (s *quotaEnv) expectKept() {
	s.t.Helper()
	for _, call := range s.Upstreams.Sim.Requests() {
		if call.Status == http.StatusTooManyRequests {
			s.t.Errorf("%s %s met the limit", call.Method, call.Path)
		}
	}
}

// TestMoneyFindsCalls: visitors who check their carts ask for more calls than the limits allow. They have to wait, and
// buyers pay meanwhile: none of their calls is refused, and none waits for the next minute.
func TestMoneyFindsCalls(t *testing.T) {
	t.Parallel()
	env := newQuotaEnv(t, clubsim.CallLimits{PerSlice: 30, SliceMs: 100})
	const buyers, visitors = 4, 8
	var paying [buyers]*frontdesktest.Client
	var registrations [buyers]api.Registration
	for i := range paying {
		buyer := *env.both[i%2]
		paying[i] = &buyer
		registrations[i] = buyer.Register()
	}
	env.limit(clubsim.CallLimits{PerMinute: 300, PerSlice: 30, SliceMs: 100})
	ends := env.Upstreams.Sim.Requests()[0].At.Add(time.Minute) // of the first minute
	var crowd sync.WaitGroup
	var left atomic.Bool
	defer crowd.Wait()
	defer left.Store(true)
	var waiting, wrong atomic.Int64
	visitor := *env.both[0]
	id := visitor.Register().Id
	for i := range visitors {
		visitor := visitor
		visitor.URL = env.both[i%2].URL
		crowd.Go(func() {
			for !left.Load() {
				switch response, err := visitor.Try("POST", "/v1/registrations/"+id+"/check", nil, frontdesktest.Key("")); {
				case err != nil || response.Status == http.StatusOK:
				case response.Code() == string(api.Overloaded) && response.RetryAfter() > 0:
					waiting.Add(1)
				default:
					if wrong.Add(1) < 3 {
						t.Logf("%d %s", response.Status, response.Body)
					}
				}
			}
		})
	}
	frontdesktest.Eventually(t, "visitors have to wait", func() bool { return waiting.Load() > 0 })
	for i, buyer := range paying {
		buyer.Confirm(buyer.Pay(registrations[i].Id), frontdesktest.ApprovedCard)
	}
	for i, buyer := range paying {
		buyer.Await(registrations[i].Id, api.Completed)
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d checks failed in another way", n)
	}
	env.expectLogged("call held back")
	recorded := 0
	for _, call := range env.Upstreams.Sim.Requests() {
		if call.Operation == "createPayment" {
			recorded++
			if call.At.After(ends) {
				t.Errorf("a payment was recorded %s after the first minute", call.At.Sub(ends))
			}
		}
	}
	if recorded != buyers || len(env.Upstreams.Sim.Ledger()) != buyers || !env.Upstreams.Sim.Audit().OK {
		t.Errorf("%d payments were sent, and the ledger is %+v", recorded, env.Upstreams.Sim.Ledger())
	}
	env.expectKept()
}

// TestNewcomersWaitForTheQuota: newcomers for whose signup there are no calls are turned away before the first one, and are admitted
// when they come back after Retry-After.
func TestNewcomersWaitForTheQuota(t *testing.T) {
	t.Parallel()
	env := newQuotaEnv(t, clubsim.CallLimits{PerMinute: 600, SliceMs: 100})
	env.both[0].Register() // a response shows the limits
	env.both[1].Register()
	const newcomers = 12
	var waited atomic.Int64
	var crowd sync.WaitGroup
	for i := range newcomers {
		visitor, key := *env.both[i%2], uuid.NewString()
		crowd.Go(func() {
			for turned := 0; ; turned++ {
				response := visitor.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(key))
				if response.Code() != string(api.Overloaded) {
					response.Into(http.StatusCreated, nil)
					return
				}
				waited.Add(1)
				if turned > 1 {
					t.Errorf("turned away %d times; the last time for %s", turned+1, response.RetryAfter())
				}
				frontdesktest.Sleep(t.Context(), response.RetryAfter())
			}
		})
	}
	crowd.Wait()
	if waited.Load() == 0 {
		t.Error("no newcomer had to wait")
	}
	env.expectLogged("newcomer turned away")
	env.expectKept()
}

// TestLimitAtThePayment: the limits are lowered while the POST of a payment is on its way. The payment waits until the limit ends,
// and is recorded once.
func TestLimitAtThePayment(t *testing.T) {
	t.Parallel()
	env := &quotaEnv{Env: frontdesktest.NewEnv(t), t: t}
	proxy := env.Upstreams.Proxy()
	t.Cleanup(proxy.Close)
	env.limit(clubsim.CallLimits{PerMinute: 600, SliceMs: 100})
	_, client := env.Gateway(t, "FRONTDESK_CLUB_URL="+proxy.URL+"/sim")
	registration := client.Register()
	payment := client.Pay(registration.Id)
	proxy.Add(&frontdesktest.Breakpoint{
		Operation: frontdesktest.PostPayment,
		Phase:     frontdesktest.DuringRequest,
		OnHit:     func() { env.limit(clubsim.CallLimits{PerMinute: 1, SliceMs: 100}) },
	})
	client.Confirm(payment, frontdesktest.ApprovedCard)
	refused := func() (n int) {
		for _, call := range env.Upstreams.Sim.Requests() {
			if call.Operation == "createPayment" && call.Status == http.StatusTooManyRequests {
				n++
			}
		}
		return n
	}
	frontdesktest.Eventually(t, "the payment meets the limit", func() bool { return refused() > 0 })
	env.limit(clubsim.CallLimits{PerMinute: 600, SliceMs: 100})
	client.Await(registration.Id, api.Completed)
	if n := refused(); n != 1 {
		t.Errorf("%d payments were refused", n)
	}
	env.ExpectOnePayment(t, payment.Total.Amount)
}
