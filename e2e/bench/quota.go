package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// quotaRun is what happens to visitors of two gateways while the club system's API gateway limits the calls.
type quotaRun struct {
	*harness
	gateways        [2]string
	upstreams       string
	http            http.Client
	completed       atomic.Int64
	waited, right   atomic.Int64 // visitors whose first Retry-After has been judged, and those who were admitted within a quarter of it
	failed, refused atomic.Int64 // journeys that failed; calls over a limit
	start           api.StartRegistration
}

// measureQuota lets ten times as many visitors arrive as the limits allow to sign up. Those that have to wait come back after Retry-After.
func measureQuota(lasts time.Duration) func(*harness) []row {
	return func(bench *harness) []row {
		const perMinute, times = 1000, 10
		redis, upstreams := frontdesktest.NewDurableRedis(bench), bench.upstreams()
		run := &quotaRun{harness: bench, upstreams: upstreams.URL, http: http.Client{Timeout: time.Minute}}
		run.start = api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: oneOffOffer}}}
		for i := range run.gateways {
			run.gateways[i] = bench.gateway(upstreams.URL, redis).URL
			bench.fetch(run.gateways[i]+catalogue, nil)
		}
		signupCalls := run.signupCalls()
		limits := clubsim.CallLimits{PerMinute: perMinute, PerSlice: 30, SliceMs: 100}
		frontdesktest.NewClient(bench, upstreams.URL).Control(http.MethodPut, "settings", map[string]any{"callLimits": limits}).
			Into(http.StatusOK, nil)
		affordable := float64(perMinute) / signupCalls / 60 // signups a second
		ctx, stop := context.WithTimeout(bench.Context(), lasts)
		defer stop()
		var present sync.WaitGroup
		present.Go(func() { run.countRefused(ctx) })
		began := time.Now()
		for n := 0; ctx.Err() == nil; n++ {
			present.Go(func() { run.visit(ctx, n) })
			frontdesktest.Sleep(ctx, time.Until(began.Add(time.Duration(float64(n+1)/(times*affordable)*float64(time.Second)))))
		}
		present.Wait()
		signups := affordable * lasts.Seconds()
		name := fmt.Sprintf("%d calls a minute, %d times as many visitors as that allows, for %s", perMinute, times, lasts)
		return []row{{
			name,
			fmt.Sprintf("%d signups of %.0f", run.completed.Load(), signups),
			fmt.Sprintf("%.3g calls of a signup; %d came back after Retry-After; %d failed", signupCalls, run.waited.Load(), run.failed.Load()),
			[]check{
				{"completed, of calls ÷ calls of a signup", float64(run.completed.Load()) / signups, threshold{atLeast: 0.95}},
				{"calls over a limit", float64(run.refused.Load()), threshold{atMost: 0.5}},
				{"admitted within a quarter of Retry-After", float64(run.right.Load()) / float64(max(1, run.waited.Load())), threshold{atLeast: 0.9}},
			},
		}}
	}
}

// signupCalls counts the calls of a signup while there are no limits and no other visitors: until a minute after it, when the
// sale is compared with the payment.
func (q *quotaRun) signupCalls() float64 {
	const signups, afterwards = 5, 75 * time.Second
	club := frontdesktest.NewClient(q, q.upstreams)
	before := len(club.Calls())
	q.concurrently(signups, signups, func(number int) { q.visit(q.Context(), number) })
	q.sleep(afterwards)
	if completed := q.completed.Swap(0); completed != signups {
		q.Fatalf("%d of %d signups were completed without limits", completed, signups)
	}
	return float64(len(club.Calls())-before) / signups
}

// visit makes the signup of one visitor. The first Retry-After is right if the visitor is admitted soon after it.
func (q *quotaRun) visit(ctx context.Context, number int) {
	buyer := &frontdesktest.Buyer{Gateway: q.gateways[number%2], Upstreams: q.upstreams, HTTP: &q.http}
	buyer.Header = http.Header{"X-Forwarded-For": {callerAddress(number)}}
	key, arrived, promised := uuid.NewString(), time.Now(), time.Duration(0)
	judge := func(admitted bool) {
		late := time.Since(arrived) > promised*5/4+time.Second // Retry-After has whole seconds
		if promised > 0 && (admitted || late) {
			q.waited.Add(1)
		}
		if promised > 0 && admitted && !late {
			q.right.Add(1)
		}
	}
	for {
		response, err := buyer.Send(ctx, http.MethodPost, buyer.Gateway+"/v1/registrations", key, q.start)
		if err == nil && response.Code() != string(api.Overloaded) {
			judge(true)
			q.finish(ctx, buyer, response)
			return
		}
		if err == nil && promised == 0 {
			promised = response.RetryAfter()
		}
		if err != nil || !frontdesktest.Sleep(ctx, response.RetryAfter()) {
			judge(false) // the measurement is over
			return
		}
	}
}

// finish pays, and waits until that is recorded.
func (q *quotaRun) finish(ctx context.Context, buyer *frontdesktest.Buyer, started *frontdesktest.Response) {
	var registration api.Registration
	err := json.Unmarshal(started.Body, &registration)
	if err == nil && registration.Token == nil {
		err = fmt.Errorf("status %d: %s", started.Status, started.Body)
	}
	if err == nil {
		buyer.ID, buyer.Token, buyer.Cart = registration.Id, *registration.Token, registration.Cart.Revision
		payment := ""
		err = insist(ctx, func() (err error) { payment, err = buyer.Pay(ctx); return err })
		err = errors.Join(err, insist(ctx, func() error { return buyer.Confirm(ctx, payment, frontdesktest.ApprovedCard) }))
	}
	for err == nil && registration.State != api.Completed && frontdesktest.Sleep(ctx, time.Second) {
		registration, err = buyer.Read(ctx)
	}
	switch {
	case ctx.Err() != nil: // the measurement is over
	case err != nil:
		q.failed.Add(1)
		q.Logf("  %v", err)
	default:
		q.completed.Add(1)
	}
}

// countRefused counts the calls that met a limit, more often than the journal forgets them.
func (q *quotaRun) countRefused(ctx context.Context) {
	last := 0
	for frontdesktest.Sleep(ctx, 5*time.Second) {
		for _, call := range frontdesktest.NewClient(q, q.upstreams).Calls() {
			if call.Number > last && call.Status == http.StatusTooManyRequests {
				q.refused.Add(1)
			}
			last = max(last, call.Number)
		}
	}
}
