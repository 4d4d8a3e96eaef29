package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

const (
	// patience is how long visitors who are turned away return, counted from the intended arrival.
	// journeyTime is how long a journey may last, counted from the request that is not turned away.
	patience, journeyTime = 2 * time.Minute, 30 * time.Second
	// firstLook is the pause before a visitor's first read of the registration. Each later pause is half
	// as long again, as on the signup site, up to longestLook.
	firstLook, longestLook = 500 * time.Millisecond, 5 * time.Second
	// tooLate is how late the load may send a request to start. A block in which more than mostLate of them are
	// later says nothing about the gateway, nor does one from which other virtual machines took more than
	// mostStolen of a core. It is repeated.
	tooLate, mostLate, mostStolen, repeats = 50 * time.Millisecond, 0.01, 0.1, 10
)

// plan is how long visitors arrive at one rate, in seconds.
type plan struct {
	settling, counted int // journeys count after settling
	stay              int // how much longer visitors who were turned away may return
}

// block is the outcome of visitors who arrived as planned, whether or not earlier ones were served. Times
// count from the intended moment, so that a late load generator hides none.
type block struct {
	plan
	offered, perSecond float64 // arrivals, and completed journeys
	late               float64 // the share of requests to start that the load sent too late
	stolen             float64 // how much of a core other virtual machines took
	began              time.Time
	completed, asked   series // in each second: completed journeys, and requests to start
	memory             int    // the gateway's peak, in bytes
	cpu                string // how much of a core each process used

	mu                   sync.Mutex
	journeys, turnedAway *hdrhistogram.Histogram // begun after settling, those given up with journeyTime; refused; in µs
	givenUp              map[string]int          // visitors, by the last refusal
}

// quantile returns a quantile in seconds.
func quantile(of *hdrhistogram.Histogram, percent float64) float64 {
	return float64(of.ValueAtPercentile(percent)) / 1e6
}

func (b *block) at(seconds float64) time.Time {
	return b.began.Add(time.Duration(seconds * float64(time.Second)))
}

func (b *block) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := fmt.Sprintf(
		"%.0f/s of %.0f/s; p50 %.2f s, p99 %.2f s, p99.9 %.2f s", b.perSecond, b.offered, quantile(b.journeys, 50),
		quantile(b.journeys, 99), quantile(b.journeys, 99.9),
	)
	if n := b.turnedAway.TotalCount(); n > 0 {
		text += fmt.Sprintf("; %d refusals, p99 %.0f ms", n, 1000*quantile(b.turnedAway, 99))
	}
	if len(b.givenUp) > 0 {
		text += "; gave up: " + strings.TrimPrefix(fmt.Sprint(b.givenUp), "map")
	}
	return fmt.Sprintf("%s; %s, stolen %.0f%%, %.1f%% of its requests late", text, b.cpu, 100*b.stolen, 100*b.late)
}

// counts reports whether the block says something about the gateway.
func (b *block) counts() bool { return b.late <= mostLate && b.stolen <= mostStolen }

// visitors arrive at a gateway. Each completes a card journey or gives up.
type visitors struct {
	*buyers
	process   *frontdesktest.Process // the gateway
	upstreams *frontdesktest.Process
	pids      []int  // of the gateway, the upstreams, Redis and the load
	start     string // the request to start a registration
	now       atomic.Pointer[block]
	present   sync.WaitGroup

	completed, asked atomic.Int64 // in this second
	visits, late     atomic.Int64 // in this block
	over             context.Context
}

func (h *harness) visitors() *visitors {
	redis := frontdesktest.NewDurableRedis(h, "--auto-aof-rewrite-percentage", "0") // a rewrite would slow one block
	upstreams := h.upstreams()
	gateway := h.gateway(upstreams.URL, redis)
	h.fetch(gateway.URL+catalogue, nil)
	start, err := json.Marshal(
		api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: oneOffOffer}}},
	)
	h.must(err)
	visitors := &visitors{buyers: h.buyers(gateway.URL, nil), process: gateway, upstreams: upstreams, start: string(start)}
	transport := bareTransport{}
	for _, server := range []*frontdesktest.Process{gateway, upstreams} {
		transport[strings.TrimPrefix(server.URL, "http://")] = make(chan *bareConnection, 1000)
	}
	visitors.http = http.Client{Transport: transport}
	h.concurrently(100, 100, func(int) { visitors.get(gateway.URL + catalogue) }) // opens connections, because none is in use yet
	redisPID := int(h.info(frontdesktest.RedisClient(h, redis), "Server", "process_id"))
	visitors.pids = []int{gateway.PID(), upstreams.PID(), redisPID, os.Getpid()}
	percent := debug.SetGCPercent(800) // the load has little garbage, and shares its core
	h.Cleanup(func() { debug.SetGCPercent(percent) })
	var stop context.CancelFunc
	visitors.over, stop = context.WithCancel(h.Context())
	h.Cleanup(stop)
	return visitors
}

// leave waits until all visitors have left, and stops the gateway, which would otherwise keep working for them.
func (v *visitors) leave() {
	v.present.Wait()
	v.must(v.process.Stop())
	v.must(v.upstreams.Stop())
}

// block carries out a plan, and repeats it until it counts.
func (v *visitors) block(perSecond float64, of plan) (block *block) {
	for range 1 + repeats {
		block = v.send(perSecond, of)
		v.Logf("  %s", block)
		if block.counts() {
			break
		}
	}
	return block
}

func (v *visitors) send(perSecond float64, of plan) *block {
	before, minute := v.used(), time.Minute.Microseconds()
	block := &block{
		plan:       of,
		offered:    perSecond,
		began:      time.Now(),
		journeys:   hdrhistogram.New(1, minute, 3),
		turnedAway: hdrhistogram.New(1, minute, 3),
		givenUp:    map[string]int{},
	}
	v.now.Store(block)
	n, last := 0.0, float64(of.settling+of.counted+of.stay)
	for second := range of.settling + of.counted {
		for ; n < perSecond*float64(second+1); n++ {
			intended, number := block.at(n/perSecond), int(v.started.Add(1))
			v.sleep(time.Until(intended))
			v.present.Add(1)
			go v.visit(number, intended, block.at(min(n/perSecond+patience.Seconds(), last)))
		}
		v.sleep(time.Until(block.at(float64(second + 1))))
		block.completed, block.asked = append(block.completed, float64(v.completed.Swap(0))), append(block.asked, float64(v.asked.Swap(0)))
		block.memory = max(block.memory, v.memory(v.process))
	}
	block.perSecond, block.late = block.completed[of.settling:].sum()/float64(of.counted), float64(v.late.Swap(0))/float64(v.visits.Swap(0))
	share := v.used().combine(before, func(after, before float64) float64 { return (after - before) / time.Since(block.began).Seconds() })
	block.cpu = fmt.Sprintf(
		"CPU: gateway %.0f%%, upstreams %.0f%%, Redis %.0f%%, load %.0f%%", 100*share[0], 100*share[1], 100*share[2],
		100*share[3],
	)
	block.stolen = share[4]
	return block
}

// used returns the CPU time of each process, and what other virtual machines took from this one, in seconds.
func (v *visitors) used() (all series) {
	for _, pid := range v.pids {
		all = append(all, v.cpu(pid))
	}
	return append(all, v.stolen())
}

// visit is made by visitors who arrive, and by those who were turned away and return when the gateway says so.
func (v *visitors) visit(number int, intended, leaves time.Time) {
	defer v.present.Done()
	if v.over.Err() != nil { // the measurement has failed
		return
	}
	block := v.now.Load()
	v.visits.Add(1)
	if time.Since(intended) > tooLate {
		v.late.Add(1)
	}
	ctx, cancel := context.WithDeadline(v.over, intended.Add(journeyTime))
	defer cancel()
	sent := intended // the last request to start; earlier ones may have failed at the club system
	err := v.journey(ctx, number, &sent)
	took := time.Since(intended)
	refusal, refused := errors.AsType[*frontdesktest.StatusError](err)
	block.mu.Lock()
	defer block.mu.Unlock()
	if refused && refusal.Code() == string(api.Overloaded) {
		_ = block.turnedAway.RecordValue(time.Since(sent).Microseconds())
		if next := time.Now().Add(refusal.RetryAfter()); next.Before(leaves) {
			v.present.Add(1)
			time.AfterFunc(refusal.RetryAfter(), func() { v.visit(number, next, leaves) })
			return
		}
		block.givenUp["turned away for too long"]++
		return
	}
	switch {
	case refused:
		block.givenUp[fmt.Sprint(refusal.Status, " ", refusal.Code())]++
		took = journeyTime
	case err != nil:
		block.givenUp["no response"]++
		took = journeyTime
	default:
		v.completed.Add(1)
	}
	if !intended.Before(block.at(float64(block.settling))) {
		_ = block.journeys.RecordValue(took.Microseconds())
	}
}

// journey completes a card journey or returns the last error. Only a request to start may be turned away; sent is
// when the last one began.
func (v *visitors) journey(ctx context.Context, number int, sent *time.Time) error {
	buyer := &frontdesktest.Buyer{
		Gateway:   v.gateway,
		Upstreams: v.upstreams.URL,
		HTTP:      &v.http,
		Header:    http.Header{"X-Forwarded-For": {callerAddress(number)}},
	}
	var registration api.Registration
	payment, starts := "", 0
	for _, step := range []func() error{
		func() error {
			v.asked.Add(1)
			starts++
			if starts > 1 {
				*sent = time.Now()
			}
			return buyer.Do(ctx, http.MethodPost, v.gateway+"/v1/registrations", v.start, &registration)
		},
		func() (err error) {
			buyer.ID, buyer.Token, buyer.Cart = registration.Id, *registration.Token, registration.Cart.Revision
			payment, err = buyer.Pay(ctx)
			return err
		},
		func() error { return buyer.Confirm(ctx, payment, frontdesktest.ApprovedCard) },
	} {
		if err := insist(ctx, step); err != nil {
			return err
		}
	}
	for look := firstLook; ; look = min(look*3/2, longestLook) {
		err := insist(ctx, func() (err error) { registration, err = buyer.Read(ctx); return err })
		if err != nil || registration.State == api.Completed {
			return err
		}
		if !frontdesktest.Sleep(ctx, look) { // a browser would also be notified
			return ctx.Err()
		}
	}
}

// insist retries requests that were refused with a Retry-After, no sooner than it says, unless the gateway is
// overloaded.
func insist(ctx context.Context, do func() error) error {
	return obey(ctx, do, func(code string) bool { return code != string(api.Overloaded) })
}

// obey retries requests that were refused with a Retry-After, no sooner than it says, while another try is wanted.
func obey(ctx context.Context, do func() error, again func(code string) bool) error {
	for {
		err := do()
		refusal, refused := errors.AsType[*frontdesktest.StatusError](err)
		if !refused || !again(refusal.Code()) || refusal.RetryAfter() == 0 || !frontdesktest.Sleep(ctx, refusal.RetryAfter()) {
			return err
		}
	}
}
