package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

const (
	// patience is how long a visitor waits for a journey to end, counted from its intended start.
	patience = 30 * time.Second
	// settling is how long a crowd arrives before completed journeys count: until the first ones are
	// completed.
	settling = 2 * time.Second
	// firstLook is the pause before a visitor's first read of the registration. Each later pause is half
	// as long again, as on the signup site, up to longestLook.
	firstLook, longestLook = 500 * time.Millisecond, 5 * time.Second
)

// crowd is the outcome of visitors who arrived at a fixed rate, whether or not earlier ones were
// served. Times count from the intended arrival, so that a late load generator hides none.
type crowd struct {
	offered    float64 // arrivals a second
	lasting    time.Duration
	began      time.Time
	arrived    sync.WaitGroup
	mu         sync.Mutex
	finished   []time.Time             // the ends of completed journeys
	journeys   *hdrhistogram.Histogram // of the completed ones, in µs
	turnedAway *hdrhistogram.Histogram // refusals of visitors who had no registration yet, in µs
	givenUp    map[string]int          // other visitors, by their last refusal
	memory     int64                   // the gateway's peak, in bytes
}

// newHistogram counts up to a minute, with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, time.Minute.Microseconds(), 3)
}

// quantile returns a quantile in seconds.
func quantile(of *hdrhistogram.Histogram, percent float64) float64 {
	return float64(of.ValueAtPercentile(percent)) / 1e6
}

// completed is how many journeys a second were completed while visitors arrived.
func (c *crowd) completed() float64 {
	n := 0
	for _, at := range c.finished {
		if at.After(c.began.Add(settling)) && at.Before(c.began.Add(c.lasting)) {
			n++
		}
	}
	return float64(n) / (c.lasting - settling).Seconds()
}

func (c *crowd) String() string {
	text := fmt.Sprintf("%.0f/s of %.0f/s; p50 %.2f s, p99 %.2f s, p99.9 %.2f s", c.completed(), c.offered, quantile(c.journeys, 50), quantile(c.journeys, 99), quantile(c.journeys, 99.9))
	if n := c.turnedAway.TotalCount(); n > 0 {
		text += fmt.Sprintf("; %d turned away, p99 %.0f ms", n, 1000*quantile(c.turnedAway, 99))
	}
	for _, why := range slices.Sorted(maps.Keys(c.givenUp)) {
		text += fmt.Sprintf("; %d gave up: %s", c.givenUp[why], why)
	}
	return text
}

// arrive sends visitors at a fixed rate, and returns when each of them has left.
func (b *buyers) arrive(g *gateway, perSecond float64, lasting time.Duration) *crowd {
	c := b.startCrowd(g, perSecond, lasting)
	c.arrived.Wait()
	return c
}

// startCrowd sends visitors at a fixed rate, and returns when the last one has arrived.
func (b *buyers) startCrowd(g *gateway, perSecond float64, lasting time.Duration) *crowd {
	c := &crowd{offered: perSecond, lasting: lasting, began: time.Now(), journeys: newHistogram(), turnedAway: newHistogram(), givenUp: map[string]int{}}
	for n := range int(perSecond * lasting.Seconds()) {
		intended := c.began.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))
		if early := time.Until(intended); early > 0 {
			b.sleep(early)
		}
		if n%int(perSecond) == 0 { // once a second
			c.memory = max(c.memory, b.memory(g.Process))
		}
		c.arrived.Go(func() {
			ctx, cancel := context.WithDeadline(b.Context(), intended.Add(patience))
			defer cancel()
			admitted, err := b.visit(ctx)
			c.count(intended, admitted, err)
		})
	}
	return c
}

// count adds a visitor who has left.
func (c *crowd) count(intended time.Time, admitted bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	took := now.Sub(intended).Microseconds() // below the minute that histograms count
	refusal, refused := errors.AsType[*frontdesktest.StatusError](err)
	switch {
	case err == nil:
		_ = c.journeys.RecordValue(took)
		c.finished = append(c.finished, now)
	case refused && !admitted && refusal.Code() == string(api.Overloaded):
		_ = c.turnedAway.RecordValue(took)
	case refused:
		c.givenUp[fmt.Sprint(refusal.Status, " ", refusal.Code())]++
	default:
		c.givenUp["no response in time"]++
	}
}

// visit completes a card journey or returns the last error, and reports whether the visitor had a
// registration. A visitor who has one retries temporary refusals when the gateway says so.
func (b *buyers) visit(ctx context.Context) (admitted bool, err error) {
	buyer := &frontdesktest.Buyer{Gateway: b.gateway, HTTP: &b.http, Header: http.Header{"X-Forwarded-For": {callerAddress(int(b.started.Add(1)))}}}
	_, err = buyer.Register(ctx, api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: oneOffOffer}}})
	if err != nil {
		return false, err
	}
	page := ""
	if err := insist(ctx, func() (err error) { page, err = buyer.Pay(ctx); return err }); err != nil {
		return true, err
	}
	if err := buyer.Confirm(ctx, page, frontdesktest.ApprovedCard); err != nil {
		return true, err
	}
	for look := firstLook; ; look = min(look*3/2, longestLook) {
		var registration api.Registration
		err := insist(ctx, func() (err error) { registration, err = buyer.Read(ctx); return err })
		if err != nil || registration.State == api.Completed {
			return true, err
		}
		if !frontdesktest.Sleep(ctx, look) { // a browser would also be notified
			return true, ctx.Err()
		}
	}
}

// insist retries requests that were refused with a Retry-After, no sooner than it says.
func insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		refusal, refused := errors.AsType[*frontdesktest.StatusError](err)
		if !refused || refusal.RetryAfter() == 0 || !frontdesktest.Sleep(ctx, refusal.RetryAfter()) {
			return err
		}
	}
}
