package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"frontdesk/e2e/campaign/rig"
)

// What was measured first, before anything was made faster: the bars are half of it.
const (
	firstTrips = 54.4 // round trips to Redis in a card journey
	firstCPU   = 47.9 // processor time of a journey, in requests that a bare server forwards
)

const (
	// upstreamCall is how long each call of another system takes where rounds are counted:
	// what one takes between two data centres of a country, with the work at its end.
	upstreamCall = 50 * time.Millisecond
	// countedJourneys are walked one after another, so that every round trip is somebody's.
	countedJourneys = 20
	// batch and forwardedBatch are how many journeys, and how many requests that are passed
	// on, are one round of processor time: half a second each, so that all rounds are over before
	// the gateway compares Redis with the processor again, a quarter of a minute after its start.
	batch, forwardedBatch = 150, 4000
)

// measureCard counts what a whole card journey takes.
func measureCard(ctx context.Context, h *harness) (rows []row, err error) {
	for _, part := range []func(context.Context, *harness) ([]row, error){countCard, loadCard, timeCard} {
		found, err := part(ctx, h)
		h.clear()
		if rows = append(rows, found...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// env runs an outside world and a gateway that has its catalogue. Redis is reached over
// the address that through gives for it.
func (h *harness) env(ctx context.Context, through func(*rig.Redis) (string, error), environment ...string) (*countingUpstreams, *gateway, error) {
	redis, err := h.redis()
	if err != nil {
		return nil, nil, err
	}
	url, err := through(redis)
	if err != nil {
		return nil, nil, err
	}
	outside, err := h.countingUpstreams()
	if err != nil {
		return nil, nil, err
	}
	g, err := h.gateway(outside.url, url, environment...)
	if err == nil {
		_, _, err = fetch(ctx, g.url+catalogue, nil)
	}
	return outside, g, err
}

func direct(redis *rig.Redis) (string, error) { return redis.URL(), nil }

// countCard counts calls and round trips.
func countCard(ctx context.Context, h *harness) ([]row, error) {
	var wire *redisCounter
	outside, g, err := h.env(ctx, func(redis *rig.Redis) (_ string, err error) {
		if wire, err = newRedisCounter(strings.TrimPrefix(redis.URL(), "redis://")); err == nil {
			h.started = append(h.started, wire)
		}
		return wire.url(), err
	})
	if err != nil {
		return nil, err
	}
	b := newBuyers(g.url, outside)
	if err := b.whole(ctx); err != nil { // scripts are loaded, connections are made
		return nil, err
	}
	outside.take()
	wire.take()
	const idle = time.Second
	<-time.After(idle)
	beside := wire.take()
	began := time.Now()
	for range countedJourneys {
		if err := b.whole(ctx); err != nil {
			return nil, err
		}
	}
	took, counted, calls := time.Since(began), wire.take(), outside.take()
	each := func(n int) float64 { return float64(n) / countedJourneys }
	trips := each(counted.trips) - each(beside.trips)*took.Seconds()/idle.Seconds()
	return []row{
		{"A card journey: calls of the club system", fmt.Sprintf("%.3g", each(calls["club"])), "", 0, threshold{}},
		{"A card journey: calls of the card processor", fmt.Sprintf("%.3g", each(calls["processor"])), "", 0, threshold{}},
		{"A card journey: round trips to Redis, requests counted", fmt.Sprintf("%.1f, with %.1f commands; %d/s when idle", trips, each(counted.commands), beside.trips),
			fmt.Sprintf("measured first: %.1f", firstTrips), trips / firstTrips, threshold{atMost: 0.5}},
	}, nil
}

// loadCard takes the processor time of a journey, beside that of a request which a bare
// server passes on to another.
func loadCard(ctx context.Context, h *harness) ([]row, error) {
	outside, g, err := h.env(ctx, direct)
	if err != nil {
		return nil, err
	}
	forwarder, at, err := h.reference("forward", outside.url+"/sandbox/settings")
	if err != nil {
		return nil, err
	}
	b := newBuyers(g.url, outside)
	if err := b.crowd(ctx, batch); err != nil {
		return nil, err
	}
	var perSecond series
	all, err := interleave(
		cpuOf(g.Process, batch, func() error {
			began := time.Now()
			defer func() { perSecond = append(perSecond, batch/time.Since(began).Seconds()) }()
			return b.crowd(ctx, batch)
		}),
		cpuOf(forwarder, forwardedBatch, func() error { return forwarded(ctx, at, forwardedBatch) }))
	if err != nil {
		return nil, err
	}
	journeys, requests := all[0], all[1]
	return []row{{"A card journey: processor time of the gateway", fmt.Sprintf("%.2f ms: a core has time for %.0f/s, and %.0f/s were walked", journeys.median()*1e3, 1/journeys.median(), perSecond.median()),
		fmt.Sprintf("a request that bare net/http passes on: %.3f ms", requests.median()*1e3), journeys.ratioTo(requests), threshold{atMost: firstCPU / 2}}}, nil
}

// cpuOf measures the processor time that a process takes for each of n pieces of work.
func cpuOf(p *rig.Process, n int, work func() error) func() (float64, error) {
	return func() (float64, error) {
		before, err := cpu(p)
		if err != nil {
			return 0, err
		}
		if err := work(); err != nil {
			return 0, err
		}
		after, err := cpu(p)
		return (after - before) / float64(n), err
	}
}

// forwarded asks the forwarding server n times.
func forwarded(ctx context.Context, at string, n int) error {
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range n {
		if err := (&journey{buyers: &buyers{http: client}}).ask(ctx, http.MethodGet, at+"/", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// timeCard takes the time of what a buyer waits for, in calls of another system.
func timeCard(ctx context.Context, h *harness) ([]row, error) {
	outside, g, err := h.env(ctx, direct)
	if err != nil {
		return nil, err
	}
	b := newBuyers(g.url, outside)
	if err := b.whole(ctx); err != nil {
		return nil, err
	}
	outside.delay.Store(int64(upstreamCall))
	seconds := func(work func() error) func() (float64, error) {
		return func() (float64, error) {
			began := time.Now()
			err := work()
			return time.Since(began).Seconds(), err
		}
	}
	all, err := interleave(
		seconds(func() error {
			return (&journey{buyers: b}).ask(ctx, http.MethodGet, outside.url+"/sandbox/settings", nil, nil)
		}),
		seconds(func() error { _, err := b.start(ctx); return err }),
		func() (float64, error) { took, err := b.recorded(ctx); return took.Seconds(), err })
	if err != nil {
		return nil, err
	}
	one := fmt.Sprintf("one call: %.1f ms", all[0].median()*1e3)
	shown := func(of series) string { return fmt.Sprintf("%.0f ms", of.median()*1e3) }
	return []row{
		{"POST /v1/registrations with person and item, every call 50 ms", shown(all[1]), one, all[1].ratioTo(all[0]), threshold{atMost: 4.3}},
		{"From the processor's confirmation to recorded, every call 50 ms", shown(all[2]), one, all[2].ratioTo(all[0]), threshold{atMost: 6.3}},
	}, nil
}
