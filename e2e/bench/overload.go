package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
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
		missed++
		if completed.median() >= nearlyAll*rate {
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

// checks judge a round. None reaches its threshold unless all blocks count.
func (r round) checks(goodput, returns threshold) []check {
	const last, refusalTime = 10, 0.1 // seconds
	before, crowd, after := r.before, r.crowd, r.after
	refusal, asked := quantile(crowd.turnedAway, 99), crowd.asked[len(crowd.asked)-last:].sum()/last
	if crowd.turnedAway.TotalCount() == 0 && crowd.perSecond < 0.9*crowd.offered {
		refusal = math.Inf(1) // it keeps visitors waiting instead
	}
	checks := []check{
		{"completed", r.share(), goodput},
		{"p99 of a refusal, of 100 ms", refusal / refusalTime, threshold{atMost: 1}},
		{"memory", float64(crowd.memory) / float64(before.memory), threshold{atMost: 1.5}},
		{"requests to start in its last 10 s", asked / crowd.offered, returns}, // the gateway says when visitors return
		{"completed ten seconds later", after.perSecond / before.perSecond, threshold{atLeast: 0.9}},
	}
	if math.IsNaN(r.share()) {
		for i := range checks {
			checks[i].ratio = math.NaN()
		}
	}
	return checks
}

// row shows a round. Its blocks were logged in full.
func (r round) row(name string, checks []check) row {
	return row{
		name,
		fmt.Sprintf("%.0f journeys/s of %.0f visitors/s, %d MB", r.crowd.perSecond, r.crowd.offered, r.crowd.memory>>20),
		fmt.Sprintf(
			"before: %.0f/s of %.0f/s, %d MB; after: %.0f/s", r.before.perSecond, r.before.offered, r.before.memory>>20,
			r.after.perSecond,
		),
		checks,
	}
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
	return func(bench *harness) []row {
		usual := bench.mostJourneys()
		name := fmt.Sprintf("%.0f times as many visitors as can be served, for a minute, median of %d", times, minutes)
		var visitors *visitors
		var long []round
		for range minutes {
			if visitors != nil {
				visitors.leave()
			}
			visitors = bench.visitors()
			long = append(long, round{visitors.block(usual, calm), visitors.block(times*usual, lasting), visitors.block(usual, calm)})
		}
		few, many := func() *block { return visitors.block(usual, brief) }, func() *block { return visitors.block(times*usual, brief) }
		short := alternate(rounds, few, many)
		visitors.present.Wait()
		fresh := bench.visitors()
		later := alternate(rounds, func() *block { return fresh.block(usual, brief) }, few)
		visitors.present.Wait()
		fresh.present.Wait()
		return []row{crowdRow(name, long, short, later)}
	}
}

// crowdRow judges a crowd of a minute, short ones after it, and what remains of them. The last check compares with a
// gateway that has seen no crowd.
func crowdRow(name string, long, short, later []round) row {
	atLeast, mostReturn := threshold{atLeast: 0.9}, threshold{atMost: 2}
	minute := median(long)
	return minute.row(name, append(minute.checks(atLeast, mostReturn),
		check{fmt.Sprintf("completed in %d short rounds", len(short)), median(short).share(), atLeast},
		check{"completed after all rounds", median(later).share(), atLeast}))
}

// patients sends visitors for some seconds who do what each response says. It returns how many of them had each outcome within a
// minute: completed, the last reason that a visitor was given, or none.
func (v *visitors) patients(perSecond float64, seconds int) map[string]int {
	began, outcomes := time.Now(), map[string]int{}
	var counting sync.Mutex
	var present sync.WaitGroup
	for n := range int(perSecond * float64(seconds)) {
		v.sleep(time.Until(began.Add(time.Duration(float64(n) / perSecond * float64(time.Second)))))
		present.Go(func() {
			outcome := v.patient(int(v.started.Add(1)))
			counting.Lock()
			defer counting.Unlock()
			outcomes[outcome]++
		})
	}
	present.Wait()
	return outcomes
}

const (
	completed = "completed"
	noReason  = "no reason"
)

// patient makes the signup of a visitor who repeats what failed as the signup site does, and gives up after a minute.
func (v *visitors) patient(number int) (outcome string) {
	ctx, leave := context.WithTimeout(v.over, time.Minute)
	defer leave()
	buyer := &frontdesktest.Buyer{Gateway: v.gateway, Upstreams: v.upstreams.URL, HTTP: &v.http}
	buyer.Header = http.Header{"X-Forwarded-For": {callerAddress(number)}}
	outcome = noReason
	noted := func(code string) bool { outcome = code; return true }
	payment, key := "", uuid.NewString()
	for _, step := range []func() error{
		func() error {
			response, err := buyer.Send(ctx, http.MethodPost, v.gateway+"/v1/registrations", key, v.start)
			if err != nil {
				return err
			}
			var started api.Registration
			if err := json.Unmarshal(response.Body, &started); err != nil || started.Token == nil {
				return &frontdesktest.StatusError{Response: response, Request: "start"}
			}
			buyer.ID, buyer.Token, buyer.Cart = started.Id, *started.Token, started.Cart.Revision
			return nil
		},
		func() (err error) { payment, err = buyer.Pay(ctx); return err },
		func() error { return buyer.Confirm(ctx, payment, frontdesktest.ApprovedCard) },
	} {
		if obey(ctx, step, noted) != nil {
			return outcome
		}
	}
	for {
		registration, err := buyer.Read(ctx)
		switch {
		case err == nil && registration.State == api.Completed:
			return completed
		case err == nil && registration.Payment != nil:
			outcome = string(registration.Payment.State)
		}
		if !frontdesktest.Sleep(ctx, longestLook) {
			return outcome
		}
	}
}

// measureSlowClub compares journeys while the club system is slow and fails with those before and after, and counts how many
// visitors who return when asked to are served meanwhile.
func measureSlowClub(h *harness) []row {
	few, visitors := h.mostJourneys()/4, h.visitors()
	club := frontdesktest.NewClient(h, visitors.upstreams.URL)
	before := visitors.block(few, calm)
	setFaults(club, clubsim.Fault{Kind: "error_before", Probability: new(0.2)}, slow(time.Second))
	during := visitors.block(few, trouble)
	outcomes := visitors.patients(few, trouble.counted)
	setFaults(club)
	r := round{before, during, visitors.block(few, calm)}
	visitors.present.Wait()
	slowest := []float64{quantile(r.before.journeys, 99.9), quantile(r.after.journeys, 99.9)}
	all := float64(int(few * float64(trouble.counted)))
	h.Logf("  visitors who return when asked to: %v", outcomes)
	checks := append(r.checks(threshold{}, threshold{}), // what the club system fails, no gateway completes
		check{"completed within a minute by returning when asked to", float64(outcomes[completed]) / all, threshold{atLeast: 0.6}},
		check{"given no reason", float64(outcomes[noReason]) / all, threshold{atMost: 0.01}},
		check{"p99.9 of a journey ten seconds later", slowest[1] / slowest[0], threshold{atMost: 1.5}})
	return []row{r.row("A quarter of the capacity, club system +1 s and 20% errors", checks)}
}
