package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// The first measurements, before any optimisation. The thresholds are half of these.
const (
	firstTrips = 54.4 // round trips to Redis in a card journey
	firstCPU   = 47.9 // CPU time of a journey, as a multiple of a request that a bare server forwards
)

const (
	// countedJourneys is how many journeys run one after another; counts are divided by it.
	countedJourneys = 20
	// batch and forwardedBatch are the journeys and the forwarded requests in one round of CPU time: half
	// a second each. All rounds then end before the gateway's first reconciliation of Redis with the
	// processor, 15 seconds after its start.
	batch, forwardedBatch = 150, 4000
)

// countingUpstreams counts the gateway's calls to the upstreams, and delays them. Buyers
// enter their cards at the embedded ones, where nothing is counted or delayed.
type countingUpstreams struct {
	*frontdesktest.Upstreams
	proxy                  *frontdesktest.FaultProxy // the gateway's address of the upstreams
	delay, club, processor atomic.Int64              // nanoseconds of each call; calls
}

func (h *harness) countingUpstreams() *countingUpstreams {
	upstreams := &countingUpstreams{Upstreams: frontdesktest.NewUpstreams(h)}
	upstreams.proxy = upstreams.Proxy()
	h.Cleanup(upstreams.proxy.Close)
	upstreams.proxy.OnRequest = func(r *http.Request, _ []byte) {
		<-time.After(time.Duration(upstreams.delay.Load()))
		if strings.HasPrefix(r.URL.Path, "/sandbox/") {
			upstreams.processor.Add(1)
		} else {
			upstreams.club.Add(1)
		}
	}
	return upstreams
}

// lastCall returns a channel that receives when the gateway has sent its last call for a
// payment: the one that marks in the processor's journal that the club system accepted it.
func (u *countingUpstreams) lastCall(payment string) <-chan struct{} {
	done := make(chan struct{}, 1)
	b := &frontdesktest.Breakpoint{Operation: frontdesktest.AcceptPayment.Of(payment), Phase: frontdesktest.AfterResponse}
	b.OnHit = func() { u.proxy.Remove(b); done <- struct{}{} }
	u.proxy.Add(b)
	return done
}

func (h *harness) cardEnv(redisURL string, environment ...string) (*countingUpstreams, *frontdesktest.Process, *buyers) {
	upstreams := h.countingUpstreams()
	g := h.gateway(upstreams.proxy.URL, redisURL, environment...)
	h.fetch(g.URL+catalogue, nil)
	return upstreams, g, h.buyers(g.URL, upstreams)
}

func countCard(bench *harness) []row {
	redis := bench.redisCounter(frontdesktest.NewDurableRedis(bench))
	upstreams, _, buyers := bench.cardEnv(redis.url)
	buyers.journey() // loads scripts, opens connections
	redis.take()
	const idleTime = time.Second
	bench.sleep(idleTime)
	_, idle := redis.take()
	upstreams.club.Store(0)
	upstreams.processor.Store(0)
	began := time.Now()
	for range countedJourneys {
		buyers.journey()
	}
	took := time.Since(began)
	commands, counted := redis.take()
	club, processor := int(upstreams.club.Load()), int(upstreams.processor.Load())
	each := func(n int) float64 { return float64(n) / countedJourneys }
	trips := each(counted) - each(idle)*took.Seconds()/idleTime.Seconds()
	return []row{{
		"A card journey: calls of the gateway",
		fmt.Sprintf("%.3g to the club system, %.3g to the card processor; %.1f round trips to Redis with %.1f commands, and %d/s when idle",
			each(club), each(processor), trips, each(commands), idle),
		fmt.Sprintf("first measurement: %.1f round trips to Redis", firstTrips), judged(trips/firstTrips, threshold{atMost: 0.5}),
	}}
}

// loadCard compares the CPU time of a journey with that of a request that a bare server forwards.
func loadCard(bench *harness) []row {
	upstreams, gateway, buyers := bench.cardEnv(frontdesktest.NewDurableRedis(bench))
	forwarder := bench.forwarder(upstreams.proxy.URL + "/sandbox/settings")
	var perSecond series
	walk := func() {
		began := time.Now()
		bench.concurrently(batch, buyersAtOnce, func(int) { buyers.journey() })
		perSecond = append(perSecond, batch/time.Since(began).Seconds())
	}
	walk() // opens connections
	perSecond = nil
	forward := func() {
		for range forwardedBatch {
			buyers.get(forwarder.URL + "/")
		}
	}
	all := interleave(bench.cpuOf(gateway.PID(), batch, walk), bench.cpuOf(forwarder.PID(), forwardedBatch, forward))
	journeys, requests := all[0], all[1]
	return []row{
		{
			"A card journey: CPU time of the gateway",
			fmt.Sprintf(
				"%.2f ms: a core has time for %.0f/s, and buyers completed %.0f/s", journeys.median()*1e3, 1/journeys.median(),
				perSecond.median(),
			),
			fmt.Sprintf("a request that bare net/http forwards: %.3f ms", requests.median()*1e3),
			judged(journeys.ratioTo(requests), threshold{atMost: firstCPU / 2}),
		},
	}
}

// cpuOf returns a contender: the CPU time of a process for each of n pieces of work, in seconds.
func (h *harness) cpuOf(pid, n int, work func()) func() float64 {
	return func() float64 {
		before := h.cpu(pid)
		work()
		return (h.cpu(pid) - before) / float64(n)
	}
}

func timeCard(h *harness) []row {
	upstreams, _, buyers := h.cardEnv(frontdesktest.NewDurableRedis(h))
	buyers.journey()
	upstreams.delay.Store(int64(upstreamTime))
	timed := func(work func()) func() float64 {
		return func() float64 {
			began := time.Now()
			work()
			return time.Since(began).Seconds()
		}
	}
	all := interleave(
		timed(func() { buyers.get(upstreams.proxy.URL + "/sandbox/settings") }),
		timed(func() { buyers.register(api.NewItem{OfferId: oneOffOffer}) }),
		func() float64 { return buyers.recording().Seconds() })
	one := fmt.Sprintf("one call: %.1f ms", all[0].median()*1e3)
	shown := func(of series) string { return fmt.Sprintf("%.0f ms", of.median()*1e3) }
	return []row{
		{
			"POST /v1/registrations with person and item, every call 50 ms",
			shown(all[1]),
			one,
			judged(all[1].ratioTo(all[0]), threshold{atMost: 4.3}),
		},
		{
			"From the processor's confirmation to recorded, every call 50 ms",
			shown(all[2]),
			one,
			judged(all[2].ratioTo(all[0]), threshold{atMost: 6.3}),
		},
	}
}

// redisCounter counts commands and round trips between a gateway and its Redis. A round trip is
// everything written before a response is awaited: a pipeline of ten commands is one.
type redisCounter struct {
	url             string
	commands, trips atomic.Int64
}

// respArray begins each command (RESP).
var respArray = regexp.MustCompile(`(?m)^\*\d+\r$`)

func (h *harness) redisCounter(redisURL string) *redisCounter {
	proxy, counter := frontdesktest.NewMessageProxy(h, frontdesktest.Fault{}), &redisCounter{}
	proxy.OnMessage = func(message []byte) {
		counter.trips.Add(1)
		counter.commands.Add(int64(len(respArray.FindAllIndex(message, -1))))
	}
	counter.url = "redis://" + proxy.Forward(strings.TrimPrefix(redisURL, "redis://"))
	return counter
}

// take returns what was counted since the last call.
func (c *redisCounter) take() (commands, trips int) {
	return int(c.commands.Swap(0)), int(c.trips.Swap(0))
}
