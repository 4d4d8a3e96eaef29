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

// The plans of blocks. A journey takes a second, up to six in a crowd, and up to twenty in trouble.
var (
	trial   = plan{settling: 2, counted: 5}
	short   = plan{settling: 5, counted: 10}            // its visitors leave with it
	calm    = plan{settling: 10, counted: 20}           // ten seconds after trouble, everything must be as before
	lasting = plan{settling: 30, counted: 30, stay: 30} // visitors return until the calm after it is over
	trouble = plan{settling: 20, counted: 30, stay: 30}
)

// failing is the share of calls to the club system that fail in trouble. No gateway repeats the call that records
// a payment, so no more than the rest of the journeys can be completed.
const failing = 0.2

// capacity returns the most journeys a second that the gateway completes: those at the first rate at which it does
// not complete nearly all. It is measured once.
func (v *visitors) capacity() float64 {
	const first, growth, nearlyAll = 50, 1.25, 0.95
	for rate := float64(first); v.harness.capacity == 0; rate *= growth {
		completed := series{v.block(rate, trial).perSecond, v.block(rate, trial).perSecond, v.block(rate, trial).perSecond}
		if completed.median() < nearlyAll*rate {
			v.harness.capacity = completed.median()
		}
	}
	return v.harness.capacity
}

// round is a crowd, or other trouble, between two blocks of usual visitors.
type round struct{ before, crowd, after *block }

// share compares with the better neighbour, so that a gateway gains nothing by not recovering. It is not a number
// if the load was late.
func (r round) share() float64 {
	if max(r.before.late, r.crowd.late, r.after.late) > mostLate {
		return math.NaN()
	}
	return r.crowd.perSecond / max(r.before.perSecond, r.after.perSecond)
}

// rows judge a round. None reaches its threshold if the load was late.
func (r round) rows(name string, atLeast float64, more ...row) []row {
	const last, refusalTime = 10, 0.1 // seconds
	before, crowd, after := r.before, r.crowd, r.after
	refusal, asked := quantile(crowd.turnedAway, 99), crowd.asked[len(crowd.asked)-last:].sum()/last
	rows := append([]row{
		{name + ": journeys completed", crowd.String(), fmt.Sprintf("before: %s; after: %.0f/s", before, after.perSecond), r.share(), threshold{atLeast: atLeast}},
		{name + ": a refusal, p99", fmt.Sprintf("%.0f ms", 1000*refusal), "100 ms", refusal / refusalTime, threshold{atMost: 1}},
		{name + ": memory", fmt.Sprintf("%d MB", crowd.memory>>20), fmt.Sprintf("before: %d MB", before.memory>>20), float64(crowd.memory) / float64(before.memory), threshold{atMost: 1.5}},
		// At most as many visitors may return as arrive: the gateway says when.
		{name + ": requests to start, in its last 10 s", fmt.Sprintf("%.0f/s", asked), fmt.Sprintf("visitors who arrive: %.0f/s", crowd.offered), asked / crowd.offered, threshold{atMost: 2}},
		{name + ", ten seconds later: journeys completed", after.String(), fmt.Sprintf("before: %.0f/s", before.perSecond), after.perSecond / before.perSecond, threshold{atLeast: 0.9}},
	}, more...)
	if math.IsNaN(r.share()) {
		for i := range rows {
			rows[i].ratio = math.NaN()
		}
	}
	return rows
}

// measureCrowd sends several times as many visitors as can be served: shortly, in rounds, because a neighbour on the
// machine slows all blocks of a round alike; and for a minute, for what only time shows.
func measureCrowd(times float64) func(*harness) []row {
	return func(h *harness) []row {
		v := h.visitors()
		usual, name := v.capacity(), fmt.Sprintf("%.0f times as many visitors", times)
		var all []round
		for before := v.block(usual, short); len(all) < rounds; before = all[len(all)-1].after {
			all = append(all, round{before, v.block(times*usual, short), v.block(usual, short)})
		}
		long := round{v.block(usual, calm), v.block(times*usual, lasting), v.block(usual, calm)}
		v.present.Wait()
		slices.SortFunc(all, func(a, b round) int { return cmp.Compare(a.share(), b.share()) })
		middle := all[rounds/2]
		if math.IsNaN(all[0].share()) {
			middle = all[0] // one round that was not measurable is the first
		}
		return append(middle.rows(fmt.Sprintf("%s, median of %d rounds", name, rounds), 0.9)[:1], long.rows(name+" for a minute", 0.9)...)
	}
}

// measureBrownout compares journeys while the club system is slow and fails with those before and after.
func measureBrownout(h *harness) []row {
	v := h.visitors()
	few, club := v.capacity()/4, frontdesktest.NewClient(h, v.simulator)
	before := v.block(few, calm)
	setFaults(club, clubsim.Fault{Kind: "error_before", Probability: new(failing)}, slow(time.Second))
	during := v.block(few, trouble)
	setFaults(club)
	r := round{before, during, v.block(few, calm)}
	v.present.Wait()
	const name = "A quarter of the capacity, club system +1 s and 20% errors"
	slowest := series{quantile(r.before.journeys, 99.9), quantile(r.after.journeys, 99.9)}
	return r.rows(name, 0.9*(1-failing), row{name + ", ten seconds later: p99.9 of a journey", fmt.Sprintf("%.2f s", slowest[1]), fmt.Sprintf("before: %.2f s", slowest[0]), slowest[1] / slowest[0], threshold{atMost: 1.5}})
}
