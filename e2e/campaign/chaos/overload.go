package chaos

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// The kinds of trouble of the campaign overload.
const (
	newcomerTurnedAway = "a newcomer turned away"
	clubSlow           = "the club system slow, with errors"
	clubSilent         = "a read of a sale without a response"
	overloadKilled     = "a gateway killed in a crowd"
	overloadFailedOver = "Redis failed over in a crowd"
)

// Violations that only this campaign checks.
const (
	PayerTurnedAway = "a buyer who had begun to pay was turned away for a newcomer"
	ResponseTooLate = "a response came later than any deadline allows"
	TooManyRetries  = "the gateways repeated more calls to the club system than the retry budget allows"
)

const (
	overloadBuyers = 8                      // at once
	overloadCrowd  = 400                    // newcomers at once, several times the places of two gateways; they only start a registration
	overloadPause  = 500 * time.Millisecond // between a newcomer's response and the next newcomer
	overloadPhase  = 5 * time.Second        // of each kind of trouble
	latestResponse = 35 * time.Second       // above four reads of 8 s each in a row, and below the time of a whole request
	retryWindow    = 2 * time.Second        // above the pauses between the attempts of a call
	retryShare     = 0.1                    // the budget
	retryBurst     = 30                     // three full budgets of ten retries: two gateways, one of which restarts
)

// Overload sends more newcomers than can be served while the club system is slow, fails or is silent, a
// gateway is killed and Redis fails over. It must never turn away buyers who have begun to pay.
func Overload() campaign.Campaign {
	return campaign.Campaign{
		Name: "overload",
		Description: "Many more newcomers come than can be served, while the club system is slow, fails or is silent, " +
			"gateways are killed, and Redis fails over.",
		Faults:    []string{newcomerTurnedAway, clubSlow, clubSilent, overloadKilled, overloadFailedOver},
		Mutations: []string{"no-priority", "no-deadline", "no-retry-budget"},
		Long:      campaign.Options{MinFaults: map[string]int{overloadFailedOver: 5, overloadKilled: 5}},
		Drive:     onHarness(redisReplicas, sentinelRedis, overload),
	}
}

func overload(run *run) {
	leave := sync.OnceFunc(run.startCrowd())
	defer leave() // even if a fault cannot be injected
	run.injectUnderLoad(overloadBuyers, 1, run.troubleClub)
	leave()
	frontdesktest.Must(run.scope, run.Upstreams.Sim.SetFaults(nil))
	run.checkResponses()
	run.settleAndCheck()
}

// startCrowd sends newcomers until the returned function is called. Each of them comes once.
func (r *run) startCrowd() (leave func()) {
	ctx, stop := context.WithCancel(r.scope.Context())
	var crowd sync.WaitGroup
	var turnedAway atomic.Int64
	client := &http.Client{Timeout: latestResponse, Transport: &http.Transport{MaxIdleConnsPerHost: overloadCrowd}}
	for i := range overloadCrowd {
		crowd.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				start, _ := r.NewRegistration()
				url := r.Gateways[n%len(r.Gateways)].URL + "/v1/registrations"
				response, err := (&frontdesktest.Buyer{HTTP: client}).Send(ctx, http.MethodPost, url, uuid.NewString(), start)
				if err == nil && response.Code() == string(api.Overloaded) {
					turnedAway.Add(1)
				}
				frontdesktest.Sleep(ctx, overloadPause)
			}
		})
	}
	return func() {
		stop()
		crowd.Wait()
		client.CloseIdleConnections()
		r.record.AddFaults(newcomerTurnedAway, int(turnedAway.Load()))
	}
}

// troubleClub has the club system be slow and silent for a while. In the middle of each, a gateway is killed and
// Redis fails over.
func (r *run) troubleClub(ctx context.Context, round int) {
	slow := []clubsim.Fault{ // most reads of a sale fail, which are calls that may be repeated
		{Match: clubsim.FaultMatch{Method: http.MethodGet, Path: "/sales/*"}, Kind: "error_before", Probability: new(0.8)},
		{Kind: "error_before", Probability: new(0.2)}, {Kind: "delay", DelayMs: 200},
	}
	silent := []clubsim.Fault{{Match: clubsim.FaultMatch{Method: http.MethodGet, Path: "/sales/*"}, Kind: "hang", Probability: new(0.1)}}
	// Silent first: by the time that it is slow, many buyers have a sale to read.
	for _, trouble := range []struct {
		kind   string
		faults []clubsim.Fault
	}{{clubSilent, silent}, {clubSlow, slow}} {
		kind := trouble.kind
		frontdesktest.Must(r.scope, r.Upstreams.Sim.SetFaults(trouble.faults))
		frontdesktest.Sleep(ctx, overloadPhase)
		r.restart(r.RandomGateway(r.random))
		r.record.AddFault(overloadKilled)
		r.failRedisOver(ctx)
		r.record.AddFault(overloadFailedOver)
		rest := overloadPhase
		if kind == clubSilent && round == 0 {
			rest += latestResponse // so that a buyer who waits too long is seen to do so
		}
		frontdesktest.Sleep(ctx, rest)
		if kind == clubSlow {
			r.checkRetries()
		}
		for _, f := range r.Upstreams.Sim.Faults() {
			r.record.AddFaults(kind, f.Hits)
		}
	}
	r.options.Logf("overload: round %d is over", round+1)
}

// checkRetries judges the latest calls to the club system. A read of a sale that follows a failed one, for the
// same request of a visitor, is a retry.
func (r *run) checkRetries() {
	type call struct{ trace, path string }
	failed := map[call]time.Time{}
	calls, retries := 0, 0
	for _, request := range r.Upstreams.Sim.Requests() {
		this := call{request.TraceID, request.Path}
		if at, repeated := failed[this]; repeated && request.At.Sub(at) < retryWindow {
			retries++
		} else {
			calls++
		}
		delete(failed, this)
		if request.Method == http.MethodGet && strings.HasPrefix(request.Path, "/sales/") && request.Status >= http.StatusInternalServerError {
			failed[this] = request.At
		}
	}
	r.options.Logf("overload: %d calls, %d retries", calls, retries)
	if float64(retries) > retryShare*float64(calls)+retryBurst {
		r.record.AddViolations(campaign.Violation{
			Invariant: TooManyRetries,
			Seed:      r.options.Seed,
			Detail:    fmt.Sprintf("%d retries of %d calls", retries, calls),
		})
	}
}

func (r *run) checkResponses() {
	for _, journey := range r.journeys {
		violation := campaign.Violation{Seed: r.options.Seed, Registration: journey.Registration()}
		if journey.TurnedAway > 0 {
			violation.Invariant, violation.Detail = PayerTurnedAway, fmt.Sprintf("%d times", journey.TurnedAway)
			r.record.AddViolations(violation)
		}
		if journey.Slowest > latestResponse {
			violation.Invariant, violation.Detail = ResponseTooLate, journey.Slowest.String()
			r.record.AddViolations(violation)
		}
	}
}
