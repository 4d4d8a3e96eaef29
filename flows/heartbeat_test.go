package flows_test

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// forgetKeys removes the matching keys from Redis, and no others.
func (w *world) forgetKeys(patterns ...string) {
	w.Helper()
	for _, pattern := range patterns {
		for _, key := range w.redis.Keys(w.Context(), pattern).Val() {
			w.redis.Del(w.Context(), key)
		}
	}
}

// knows reports whether Redis has a payment.
func (w *world) knows(p *flows.Payment) bool {
	return w.redis.Exists(w.Context(), redisKey(p)).Val() == 1
}

func (w *world) awaitKnown(p *flows.Payment) {
	w.Helper()
	frontdesktest.Eventually(w, "the payment is back", func() bool { return w.knows(p) })
}

func (w *world) awaitLists(n int) {
	w.Helper()
	frontdesktest.Eventually(w, fmt.Sprintf("list %d", n), func() bool { return w.listed() == n })
}

// TestRebuildAtStart: a gateway that starts rebuilds lost payments, even if Redis says that another gateway
// has just run the comparison.
func TestRebuildAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.gateway(), w.gateway()
	w.worker(first)
	w.awaitLists(1)
	p := w.authorised(second)
	w.forgetKeys("fd:{*", "fd:payments:open")
	w.worker(second)
	w.awaitKnown(p)
	w.awaitState(second, p.ID, flows.Recorded) // it is woken when it is rebuilt
	w.expectSound(w.stored(second, p.ID))
}

// TestRebuildWhenRedisForgot: a gateway rebuilds after a sweep finds its last heartbeat missing or older than
// expected.
func TestRebuildWhenRedisForgot(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*world){
		"everything": func(w *world) { w.wipe() },
		"a while": func(w *world) {
			w.forgetKeys("fd:{*", "fd:payments:open")
			heartbeat := w.redis.Keys(w.Context(), "fd:heartbeat:*").Val()[0]
			w.redis.Decr(w.Context(), heartbeat)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			sweeps := w.worker(g)
			for range 3 {
				sweeps <- w.clock.Now()
			}
			p := w.authorised(g)
			forget(w)
			sweeps <- w.clock.Now()
			w.awaitKnown(p)
			w.awaitState(g, p.ID, flows.Recorded) // it is woken when it is rebuilt
			w.expectSound(w.stored(g, p.ID))
		})
	}
}

// TestRebuildAfterAFailedSweep: Redis may come back from an outage with less data.
func TestRebuildAfterAFailedSweep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	sweeps := w.worker(g)
	w.quiet(sweeps)
	p := w.authorised(g)
	w.forgetKeys("fd:{*", "fd:payments:open")
	w.redis.Set(t.Context(), "fd:payments:open", "not a list of payments", 0)
	lists := w.listed()
	sweeps <- w.clock.Now()
	sweeps <- w.clock.Now() // the previous sweep is over
	if w.listed() != lists {
		t.Error("something was rebuilt into a Redis that does not work")
	}
	w.forgetKeys("fd:payments:open")
	sweeps <- w.clock.Now()
	w.awaitKnown(p)
}

// quiet sweeps until nothing is due.
func (w *world) quiet(sweeps chan<- time.Time) {
	w.Helper()
	for before := -1; before != w.listed() || before < 1; { // at start
		before = w.listed()
		sweeps <- w.clock.Now()
		sweeps <- w.clock.Now()
	}
}

// TestRebuildNowAndThen: the periodic comparison finds a loss that no gateway noticed. One of several gateways
// runs it.
func TestRebuildNowAndThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateways := []*gateway{w.gateway(), w.gateway()}
	sweeps := []chan<- time.Time{w.worker(gateways[0]), w.worker(gateways[1])}
	for range 5 {
		for _, sweep := range sweeps {
			sweep <- w.clock.Now()
		}
	}
	w.awaitLists(2) // one per start, which also counts as the periodic one
	p := w.authorised(gateways[0])
	w.forgetKeys("fd:{*", "fd:payments:open")
	for _, sweep := range sweeps {
		sweep <- w.clock.Now()
		sweep <- w.clock.Now()
	}
	if w.knows(p) || w.listed() != 2 {
		t.Errorf("no comparison was due, and the processor was asked %d times", w.listed())
	}
	w.forgetKeys("fd:once:*") // the periods are over
	sweeps[1] <- w.clock.Now()
	w.awaitKnown(p)
}

// TestListFails: the comparison is retried after a minute.
func TestListFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.wipe()
	w.fail(listCall, 1)
	sweeps := w.worker(g)
	w.awaitLists(1)
	frontdesktest.Eventually(t, "the failure is logged", func() bool { return strings.Contains(w.log.String(), "redis not compared") })
	sweeps <- w.clock.Now()
	sweeps <- w.clock.Now()
	if w.listed() != 1 {
		t.Error("a processor that fails is asked again at once")
	}
	w.clock.Advance(time.Minute)
	sweeps <- w.clock.Now()
	w.awaitKnown(p)
}

// TestListIsSlow: payments advance while the processor is slow to list.
func TestListIsSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	p := w.authorised(g)
	w.clock.Advance(time.Minute)
	answer := make(chan struct{})
	w.injectFault(listCall, func() { <-answer }, nil)
	sweeps := w.worker(g)
	w.awaitLists(1)
	w.awaitState(g, p.ID, flows.Recorded)
	sweeps <- w.clock.Now()
	sweeps <- w.clock.Now()
	close(answer)
	w.expectSound(w.stored(g, p.ID))
}

// TestEventOfALostPayment: the processor's event restores the payment. An event without our
// signature has no effect.
func TestEventOfALostPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	sweeps := w.worker(g)
	w.quiet(sweeps)
	lists := w.listed()
	p := w.authorised(g)
	ev := event(p)
	w.forgetKeys("fd:{*", "fd:payments:open")
	if err := g.HandleEvent(t.Context(), ev); err != nil || len(w.open()) != 0 {
		t.Errorf("an unsigned event: %v", err)
	}
	ev.ID, ev.Metadata = uuid.NewString(), w.held(p).Metadata
	w.handle(g, ev)
	w.awaitKnown(p)
	w.awaitState(g, p.ID, flows.Recorded)
	w.expectSound(w.stored(g, p.ID))
	if n := w.listed(); n != lists+1 {
		t.Errorf("%d lists for one event", n-lists)
	}
}

// TestTwoRebuildsAtOnce: gateways that rebuild at the same time restore the payment once.
func TestTwoRebuildsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateways := []*gateway{w.gateway(), w.gateway(), w.gateway()}
	for range 20 {
		w.rebuildAtOnce(gateways, false)
	}
	w.rebuildAtOnce(gateways, true)
}

func (w *world) rebuildAtOnce(gateways []*gateway, twins bool) {
	t := w.T
	t.Helper()
	posted := w.posted()
	p := w.authorised(gateways[0])
	all := []*flows.Payment{p}
	if twins {
		all = append(all, w.duplicate(p))
	}
	w.wipe()
	var group sync.WaitGroup
	for range 4 {
		for _, g := range gateways {
			group.Go(func() {
				if err := g.Rebuild(t.Context(), wholeWindow); err != nil {
					t.Errorf("rebuild: %v", err)
				}
				g.Advance(t.Context(), p.ID)
			})
		}
	}
	group.Wait()
	w.rebuild(gateways[0])
	w.settleAll(gateways[0])
	if keys := w.redis.Keys(t.Context(), "fd:{"+p.Registration+"}:payment:*").Val(); len(keys) != len(all) {
		t.Errorf("Redis holds %v for %d payments", keys, len(all))
	}
	for _, each := range all {
		if held := w.held(each); held.State != cards.Captured && held.State != cards.Cancelled {
			t.Errorf("a payment is %s", held.State)
		}
	}
	end := w.stored(gateways[0], p.ID)
	if n := strings.Count(w.log.String(), `msg="payment rebuilt" payment=`+string(p.ID)+" "); n != 1 || w.posted() != posted+1 {
		t.Errorf("rebuilt %d times, and %s after %d calls", n, end.State, w.posted()-posted)
	}
	w.expectSound(end)
}

// TestManyPayments rebuilds a thousand payments, then finds nothing to do.
func TestManyPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	const many = 1000
	var group sync.WaitGroup
	for part := range 8 {
		group.Go(func() {
			for i := part; i < many; i += 8 {
				metadata := w.signed("2", uuid.NewString(), i)
				if _, err := w.processor.Create(t.Context(), fmt.Sprint(i), cards.NewPayment{Amount: 100, Currency: "EUR", Metadata: metadata}); err != nil {
					t.Errorf("create: %v", err)
				}
			}
		})
	}
	group.Wait()
	w.rebuild(g)
	if n := len(w.open()); n != many {
		t.Errorf("%d of %d are open", n, many)
	}
	logged := strings.Count(w.log.String(), "payment rebuilt")
	w.rebuild(g)
	if again := strings.Count(w.log.String(), "payment rebuilt"); logged != many || again != logged {
		t.Errorf("%d rebuilt, and then %d", logged, again-logged)
	}
}

// signed is a payment's metadata as a gateway of some version signs it.
func (w *world) signed(version, registration string, sale int) map[string]string {
	metadata := map[string]string{
		"fd_version": version, "fd_environment": "test", "fd_registration": registration, "fd_sale": "/demo/sales/" + strconv.Itoa(sale+1000),
		"fd_amount": "100", "fd_currency": "EUR", "fd_club": "/demo/clubs/11", "fd_generation": "1",
		"fd_node": "/demo/network_nodes/3", "fd_sale_state": "building", "fd_cart": strings.Repeat("0", 64),
	}
	text := ""
	for _, key := range []string{"fd_version", "fd_environment", "fd_registration", "fd_sale", "fd_amount", "fd_currency", "fd_club", "fd_generation",
		"fd_node", "fd_sale_state", "fd_cart"} {
		text += key + "=" + metadata[key] + "\n"
	}
	metadata["fd_mac"] = hex.EncodeToString(newKeyring(w, "one").Sign([]byte(text)))
	return metadata
}
