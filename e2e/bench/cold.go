package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

const catalogue = "/v1/clubs/11/products" // the page of products that visitors see first

const (
	upstreamTime = 50 * time.Millisecond // of each call: as between two data centres in one country, with the upstream's work
	coldProducts = 90                    // three pages of the club system, each product with its offers
	ownProducts  = 41                    // that visitors of the website see in club 11 of a new world
	coldReaders  = 1000                  // visitors who request an uncached catalogue at the same moment
)

func measureCold(bench *harness) []row {
	times := make(series, rounds)
	for i := range rounds {
		_, gateways := bench.coldGateways(1)
		began := time.Now()
		bench.fetch(gateways[0].URL+catalogue, nil)
		times[i] = time.Since(began).Seconds()
		bench.End()
	}
	return []row{
		{
			fmt.Sprintf(
				"Catalogue, cold, %d products, every upstream call %s", coldProducts, upstreamTime,
			),
			fmt.Sprintf("%.0f ms, access token included", times.median()*1000),
			"one upstream call",
			judged(times.median()/upstreamTime.Seconds(), threshold{atMost: 8}),
		},
	}
}

// measureColdReaders sends many visitors to three gateways at once. Each gateway may read the catalogue once. Visitors
// who are turned away return when Retry-After says so.
func measureColdReaders(bench *harness) []row {
	club, gateways := bench.coldGateways(3)
	var turnedAway atomic.Int64
	began := time.Now()
	bench.concurrently(coldReaders, coldReaders, func(i int) {
		reader := &frontdesktest.Buyer{HTTP: &client, Header: http.Header{"X-Forwarded-For": {callerAddress(i)}}}
		for {
			response, err := reader.Send(bench.Context(), http.MethodGet, gateways[i%len(gateways)].URL+catalogue, "", nil)
			bench.must(err)
			if response.Status == http.StatusOK {
				return
			}
			if response.RetryAfter() == 0 {
				bench.Fatalf("status %d: %s", response.Status, response.Body)
			}
			turnedAway.Add(1)
			bench.sleep(response.RetryAfter())
		}
	})
	took, calls := time.Since(began), len(club.Calls())
	const oneSet = 1 + 1 + coldProducts/30 + coldProducts // the chain, the club, the pages, the offers of each product
	return []row{{
		fmt.Sprintf("%d cold readers on %d gateways", coldReaders, len(gateways)),
		fmt.Sprintf("%d upstream calls, in %.1f s; %d requests were turned away", calls, took.Seconds(), turnedAway.Load()),
		fmt.Sprintf("one set: %d calls", oneSet), judged(float64(calls)/oneSet, threshold{atMost: float64(len(gateways))}),
	}}
}

// coldGateways runs a slow club system with a long catalogue, and gateways that have read nothing.
func (h *harness) coldGateways(n int) (club *frontdesktest.Client, gateways []*frontdesktest.Process) {
	redis, upstreams := frontdesktest.NewDurableRedis(h), h.upstreams().URL
	for range n {
		gateways = append(gateways, h.gateway(upstreams, redis))
	}
	club = frontdesktest.NewClient(h, upstreams)
	club.Control(http.MethodPut, "settings", map[string]int{"extraProducts": coldProducts - ownProducts}).Into(http.StatusOK, nil)
	setFaults(club, slow(upstreamTime))
	return club, gateways
}

// setFaults makes the club system fail; without faults it works again.
func setFaults(club *frontdesktest.Client, faults ...clubsim.Fault) {
	club.Control(http.MethodPut, "faults", append([]clubsim.Fault{}, faults...)).Into(http.StatusOK, nil)
}

func slow(by time.Duration) clubsim.Fault {
	return clubsim.Fault{Kind: "delay", DelayMs: int(by.Milliseconds())}
}
