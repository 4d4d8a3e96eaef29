package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// minutes is how many crowds of a minute there are: the machine is a third slower in some minutes than in others, without
// that other virtual machines take anything from it.
const minutes = 3

// The plans of blocks. A journey takes a second, up to six in a crowd, and up to twenty in trouble.
var (
	trial   = plan{settling: 2, counted: 5}
	brief   = plan{settling: 5, counted: 10}            // its visitors leave with it
	calm    = plan{settling: 10, counted: 20}           // ten seconds after trouble, everything must be as before
	lasting = plan{settling: 30, counted: 30, stay: 30} // visitors return until the calm after it is over
	trouble = plan{settling: 20, counted: 30, stay: 30}
)

// mostJourneys returns the most journeys a second that a gateway completes. It is measured once.
func (h *harness) mostJourneys() float64 {
	if h.capacity == 0 {
		v := h.visitors()
		h.capacity = v.capacity()
		v.leave()
	}
	return h.capacity
}

// capacity lets the rate grow until not nearly all journeys are completed, twice in a row, because a slow moment of the
// machine is not the gateway's limit.
func (v *visitors) capacity() (most float64) {
	const first, growth, nearlyAll, enough = 50, 1.25, 0.95, 2
	missed := 0
	for rate := float64(first); missed < enough; rate *= growth {
		var completed series
		for range 3 {
			b := v.block(rate, trial)
			if !b.counts() || b.perSecond == 0 {
				v.Fatalf("the capacity cannot be measured: %s", b)
			}
			completed = append(completed, b.perSecond)
		}
		most = max(most, completed.median())
		if missed++; completed.median() >= nearlyAll*rate {
			missed = 0
		}
	}
	return most
}

// round is a crowd, or other trouble, between two blocks of usual visitors.
type round struct{ before, crowd, after *block }

// share compares with the better neighbour, so that a gateway gains nothing by not recovering, but not with more
// than arrived there. It is not a number unless all its blocks count.
func (r round) share() float64 {
	if !r.before.counts() || !r.crowd.counts() || !r.after.counts() {
		return math.NaN()
	}
	return r.crowd.perSecond / min(max(r.before.perSecond, r.after.perSecond), r.before.offered)
}

// rows judge a round. None reaches its threshold unless all blocks count.
func (r round) rows(name string, goodput, returns threshold) []row {
	const last, refusalTime = 10, 0.1 // seconds
	before, crowd, after := r.before, r.crowd, r.after
	refusal, asked := quantile(crowd.turnedAway, 99), crowd.asked[len(crowd.asked)-last:].sum()/last
	if crowd.turnedAway.TotalCount() == 0 && crowd.perSecond < 0.9*crowd.offered {
		refusal = math.Inf(1) // it keeps visitors waiting instead
	}
	rows := []row{
		{name + ": journeys completed", crowd.String(), fmt.Sprintf("before: %s; after: %.0f/s", before, after.perSecond), r.share(), goodput},
		{name + ": a refusal, p99", fmt.Sprintf("%.0f ms", 1000*refusal), "100 ms", refusal / refusalTime, threshold{atMost: 1}},
		{name + ": memory", fmt.Sprintf("%d MB", crowd.memory>>20), fmt.Sprintf("before: %d MB", before.memory>>20), float64(crowd.memory) / float64(before.memory), threshold{atMost: 1.5}},
		// The gateway says when visitors return.
		{name + ": requests to start, in its last 10 s", fmt.Sprintf("%.0f/s", asked), fmt.Sprintf("visitors who arrive: %.0f/s", crowd.offered), asked / crowd.offered, returns},
		{name + ", ten seconds later: journeys completed", after.String(), fmt.Sprintf("before: %.0f/s", before.perSecond), after.perSecond / before.perSecond, threshold{atLeast: 0.9}},
	}
	if math.IsNaN(r.share()) {
		for i := range rows {
			rows[i].ratio = math.NaN()
		}
	}
	return rows
}

// alternate measures blocks, each between two of its neighbours.
func alternate(times int, neighbour, between func() *block) (all []round) {
	for before := neighbour(); len(all) < times; before = all[len(all)-1].after {
		all = append(all, round{before, between(), neighbour()})
	}
	return all
}

// median returns the middle round, or one that does not count if there is any.
func median(of []round) round {
	slices.SortFunc(of, func(a, b round) int { return cmp.Compare(a.share(), b.share()) })
	if math.IsNaN(of[0].share()) {
		return of[0] // they are the first
	}
	return of[len(of)/2]
}

// measureCrowd sends several times as many visitors as can be served: for a minute, for what only time shows, to several
// gateways that have seen no crowd; and shortly, in rounds, because a neighbour on the machine slows all blocks of a
// round alike. Afterwards it compares the last gateway with one that has seen no crowd.
func measureCrowd(times float64) func(*harness) []row {
	return func(h *harness) []row {
		usual, name := h.mostJourneys(), fmt.Sprintf("%.0f times as many visitors", times)
		var v *visitors
		var long []round
		for range minutes {
			if v != nil {
				v.leave()
			}
			v = h.visitors()
			long = append(long, round{v.block(usual, calm), v.block(times*usual, lasting), v.block(usual, calm)})
		}
		few, many := func() *block { return v.block(usual, brief) }, func() *block { return v.block(times*usual, brief) }
		short := alternate(rounds, few, many)
		v.present.Wait()
		fresh := h.visitors()
		later := alternate(rounds, func() *block { return fresh.block(usual, brief) }, few)
		v.present.Wait()
		fresh.present.Wait()
		return crowdRows(name, usual, long, short, later)
	}
}

// crowdRows judge a crowd of a minute, short ones after it, and what remains of them.
func crowdRows(name string, capacity float64, long, short, later []round) []row {
	const atLeast, mostReturn = 0.9, 2
	minute, after := median(long), median(later)
	before := minute.before
	rows := append([]row{{name + ": before them, as many as can be served", before.String(), fmt.Sprintf("the most at any rate: %.0f/s", capacity), before.perSecond / capacity, threshold{}}},
		minute.rows(fmt.Sprintf("%s for a minute, median of %d", name, len(long)), threshold{atLeast: atLeast}, threshold{atMost: mostReturn})...)
	return append(rows,
		median(short).rows(fmt.Sprintf("%s, median of %d rounds", name, len(short)), threshold{atLeast: atLeast}, threshold{})[0],
		row{name + ", after all rounds: journeys completed", after.crowd.String(), fmt.Sprintf("a gateway that has seen no crowd: %.0f/s and %.0f/s", after.before.perSecond, after.after.perSecond), after.share(), threshold{atLeast: atLeast}})
}

// measureBrownout compares journeys while the club system is slow and fails with those before and after.
func measureBrownout(h *harness) []row {
	few, v := h.mostJourneys()/4, h.visitors()
	club := frontdesktest.NewClient(h, v.upstreams.URL)
	before := v.block(few, calm)
	setFaults(club, clubsim.Fault{Kind: "error_before", Probability: new(0.2)}, slow(time.Second))
	during := v.block(few, trouble)
	setFaults(club)
	r := round{before, during, v.block(few, calm)}
	v.present.Wait()
	const name = "A quarter of the capacity, club system +1 s and 20% errors"
	slowest := series{quantile(r.before.journeys, 99.9), quantile(r.after.journeys, 99.9)}
	return append(r.rows(name, threshold{}, threshold{}), // what the club system fails, no gateway completes
		row{name + ", ten seconds later: p99.9 of a journey", fmt.Sprintf("%.2f s", slowest[1]), fmt.Sprintf("before: %.2f s", slowest[0]), slowest[1] / slowest[0], threshold{atMost: 1.5}})
}
