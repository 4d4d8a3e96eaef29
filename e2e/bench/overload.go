package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

const (
	// patience is how long a visitor waits for the end of a journey, from when it was meant to start.
	patience = 30 * time.Second
	// crowdTime is how long visitors arrive: many times what the queues in the gateway hold.
	crowdTime = 10 * time.Second
)

// arrivals is what became of visitors who arrived at a fixed rate.
type arrivals struct {
	completed  []time.Duration // from the intended start
	turnedAway []time.Duration // how long the refusal took, likewise
	perSecond  float64         // journeys completed in time, from the first arrival to the last
}

// arrive sends visitors at a fixed rate, whether or not the earlier ones were served.
func (b *buyers) arrive(perSecond float64, lasting time.Duration) (a arrivals) {
	var lock sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for n := range int(perSecond * lasting.Seconds()) {
		intended := began.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
		if pause := time.Until(intended); pause > 0 {
			b.sleep(pause)
		}
		all.Go(func() {
			ctx, cancel := context.WithDeadline(b.Context(), intended.Add(patience))
			defer cancel()
			err := b.visit(ctx)
			took := time.Since(intended)
			lock.Lock()
			defer lock.Unlock()
			if refusal, ok := errors.AsType[*frontdesktest.StatusError](err); ok && refusal.Status == http.StatusServiceUnavailable {
				a.turnedAway = append(a.turnedAway, took)
			} else if err == nil {
				a.completed = append(a.completed, took)
				if time.Since(began) <= lasting {
					a.perSecond += 1 / lasting.Seconds()
				}
			}
		})
	}
	all.Wait()
	slices.Sort(a.completed)
	slices.Sort(a.turnedAway)
	return a
}

// visit walks a card journey to its end, or returns the first error.
func (b *buyers) visit(ctx context.Context) error {
	buyer := &frontdesktest.Buyer{Gateway: b.gateway, HTTP: &b.http, Header: http.Header{"X-Forwarded-For": {callerAddress(int(b.started.Add(1)))}}}
	_, err := buyer.Register(ctx, api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: oneOffOffer}}})
	if err != nil {
		return err
	}
	page, err := buyer.Pay(ctx)
	if err != nil {
		return err
	}
	if err := buyer.Confirm(ctx, page, frontdesktest.ApprovedCard); err != nil {
		return err
	}
	for {
		registration, err := buyer.Read(ctx)
		if err != nil || registration.State == api.Completed {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond): // a browser would be notified
		}
	}
}

// quantile is the share q of sorted times; 0 without any.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

// measureOverload compares what the gateway completes for three times as many visitors as it can serve
// with what it completes for as many as it can. Right after the crowd the gateway must
// serve all visitors again.
func measureOverload(h *harness) []row {
	_, _, b := h.cardEnv(frontdesktest.NewDurableRedis(h))
	b.journey() // loads scripts, opens connections
	began := time.Now()
	const journeys, atOnce = 1000, 100 // enough to keep the gateway busy while they wait for their next look
	h.concurrently(journeys, atOnce, func(int) { b.must(b.visit(b.Context())) })
	capacity := journeys / time.Since(began).Seconds()
	at := b.arrive(capacity, crowdTime)
	above := b.arrive(3*capacity, crowdTime)
	after := b.arrive(capacity/4, crowdTime)
	text := func(a arrivals) string {
		return fmt.Sprintf("%.0f/s; p50 %.2f s, p99 %.2f s; %d turned away in p99 %.0f ms", a.perSecond, quantile(a.completed, .5).Seconds(),
			quantile(a.completed, .99).Seconds(), len(a.turnedAway), float64(quantile(a.turnedAway, .99).Microseconds())/1000)
	}
	return []row{
		{"Card journeys at 3 times the capacity, completed in time", text(above), fmt.Sprintf("at the capacity of %.0f/s: %s", capacity, text(at)), above.perSecond / at.perSecond, threshold{atLeast: 0.9}},
		{"The same at a quarter of the capacity, right after", text(after), "as many as arrive", after.perSecond / (capacity / 4), threshold{atLeast: 0.9}},
	}
}
