package main

import (
	"fmt"
	"net/http"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

const (
	// crowdTime is how long a crowd arrives: many times what queues in the gateway could hold.
	crowdTime = 60 * time.Second
	// rampTime is how long each rate is tried. usualTime is how long visitors arrive at capacity before
	// and after each crowd, because a neighbour on the machine slows both sides.
	rampTime, usualTime = 10 * time.Second, 20 * time.Second
	// troubleTime is how long the club system is slow and fails; recoveryTime is how long after that
	// journeys may still be slow.
	troubleTime, recoveryTime = 30 * time.Second, 10 * time.Second
	// refusalTime is the time within which a refusal must arrive.
	refusalTime = 100 * time.Millisecond
)

// overloadEnv runs a gateway with upstreams in a process of their own.
func (h *harness) overloadEnv() (g *gateway, b *buyers, upstreams string) {
	upstreams = h.upstreams()
	g = h.gateway(upstreams, frontdesktest.NewDurableRedis(h))
	h.fetch(g.url+catalogue, nil)
	b = h.buyers(g.url, nil)
	b.http = http.Client{Transport: &bareTransport{idle: map[string][]*bareConnection{}}}
	return g, b, upstreams
}

// capacity returns the most journeys a second that the gateway completes at any arrival rate. The rate
// grows until a quarter more visitors complete no more journeys.
func (b *buyers) capacity(g *gateway) (most float64) {
	const first, growth = 50, 1.25
	b.arrive(g, first, rampTime) // opens connections
	for rate := float64(first); ; rate *= growth {
		completed := b.arrive(g, rate, rampTime).completed()
		if completed < most {
			return most
		}
		most = completed
	}
}

// measureOverload compares the journeys completed at three and at ten times the gateway's capacity with
// those completed at capacity.
func measureOverload(h *harness) []row {
	g, b, _ := h.overloadEnv()
	capacity := b.capacity(g)
	usual := func() *crowd { return b.arrive(g, capacity, usualTime) }
	first := usual()
	rows := []row{{"Card journeys, as many visitors as can be served", first.String(), fmt.Sprintf("the most at any rate: %.0f/s", capacity), first.completed() / capacity, threshold{}}}
	before := first
	for _, times := range []float64{3, 10} {
		crowd := b.arrive(g, times*capacity, crowdTime)
		after := usual()
		around := (before.completed() + after.completed()) / 2
		name := fmt.Sprintf("%.0f times as many visitors", times)
		rows = append(rows,
			row{name + ": journeys completed", crowd.String(), fmt.Sprintf("as many as can be served, before and after: %.0f/s", around), crowd.completed() / around, threshold{atLeast: 0.9}},
			row{name + ": a refusal, p99", fmt.Sprintf("%.0f ms", 1000*quantile(crowd.turnedAway, 99)), "100 ms", quantile(crowd.turnedAway, 99) / refusalTime.Seconds(), threshold{atMost: 1}},
			row{name + ": memory", fmt.Sprintf("%d MB", crowd.memory>>20), fmt.Sprintf("as many as can be served: %d MB", first.memory>>20), float64(crowd.memory) / float64(first.memory), threshold{atMost: 1.5}})
		before = after
	}
	return rows
}

// measureBrownout compares journeys before the club system was slow and failed with journeys ten
// seconds after.
func measureBrownout(h *harness) []row {
	g, b, upstreams := h.overloadEnv()
	few, club := b.capacity(g)/4, frontdesktest.NewClient(h, upstreams)
	before := b.arrive(g, few, usualTime)
	setFaults(club, clubsim.Fault{Kind: "error_before", Probability: new(0.2)}, slow(time.Second))
	during := b.arrive(g, few, troubleTime)
	setFaults(club)
	b.sleep(recoveryTime)
	after := b.arrive(g, few, usualTime)
	return []row{
		{"A quarter of the capacity, club system +1 s and 20% errors", during.String(), "before: " + before.String(), during.completed() / before.completed(), threshold{}},
		{"Ten seconds after that: p99.9 of a journey", after.String(), fmt.Sprintf("before: %.2f s", quantile(before.journeys, 99.9)), quantile(after.journeys, 99.9) / quantile(before.journeys, 99.9), threshold{atMost: 1.5}},
	}
}
