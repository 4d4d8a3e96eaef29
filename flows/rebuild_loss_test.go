package flows_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
)

// TestLossInsideARebuild: while a rebuilding gateway sleeps, Redis gets all its data back and loses it again,
// at each pair of the gateway's messages. The next rebuild leaves a registration with its payment, so that its
// holder is not asked to start again.
func TestLossInsideARebuild(t *testing.T) {
	t.Parallel()
	for name, bringBack := range map[string]func(*world, *gateway, *flows.Payment, dump){
		"rebuilt by another gateway": func(w *world, other *gateway, _ *flows.Payment, _ dump) { w.rebuild(other) },
		"a replica that is behind":   func(w *world, _ *gateway, p *flows.Payment, priced dump) { w.restore(p.Registration, priced) },
	} {
		for back, reached := 1, true; reached; back++ {
			reached = false
			for wiped, both := back+1, true; both; wiped++ {
				t.Run(fmt.Sprintf("%s before message %d, forgotten before %d", name, back, wiped), func(t *testing.T) {
					both = newWorld(t).loseInside(back, wiped, bringBack)
					reached = reached || both
				})
			}
		}
	}
}

// loseInside returns false if the rebuild ends before the last of the two messages.
func (w *world) loseInside(back, wiped int, bringBack func(*world, *gateway, *flows.Payment, dump)) bool {
	p, dumps, _ := w.live(nil)
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	slow, other := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)}), w.gateway()
	w.wipe()
	var mu sync.Mutex
	messages, over := 0, false
	wire.OnMessage = func([]byte) {
		mu.Lock()
		defer mu.Unlock()
		if over { // a connection is still closing
			return
		}
		switch messages++; messages {
		case back:
			bringBack(w, other, p, dumps[0])
		case wiped:
			w.wipe()
			w.clock.Advance(25 * time.Hour)
		}
	}
	_ = slow.Rebuild(w.Context(), wholeWindow) // it may notice the loss, and is then repeated
	mu.Lock()
	over = true
	mu.Unlock()
	if messages < wiped {
		return false
	}
	w.rebuild(other)
	if _, latest, err := other.store.Registration(w.Context(), p.Registration); err != nil || latest == nil || latest.ID != p.ID || latest.State != flows.Recorded {
		w.Errorf("the registration has %+v, %v", latest, err)
	}
	return true
}

// TestSaveInsideARebuild: Redis has a registration and has lost its payment, and the visitor changes the cart in another tab
// at any message of the rebuild. The payment is there afterwards, once.
func TestSaveInsideARebuild(t *testing.T) {
	t.Parallel()
	for at, reached := 1, true; reached; at++ {
		t.Run(fmt.Sprintf("before message %d", at), func(t *testing.T) {
			w := newWorld(t)
			wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
			slow, other := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)}), w.gateway()
			r := w.registered(other)
			priced := w.redis.Dump(w.Context(), "fd:{"+r.ID+"}:registration").Val()
			p := must(t, func() (*flows.Payment, error) { return other.pay(w.Context(), r.ID) })
			w.confirm(p, goodCard)
			p = w.doubtAgain(other, p, "drop_after")
			w.wipe()
			w.redis.Restore(w.Context(), "fd:{"+r.ID+"}:registration", 0, priced)
			var messages atomic.Int32
			wire.OnMessage = func([]byte) {
				if messages.Add(1) != int32(at) {
					return
				}
				saved, _, err := other.store.Registration(w.Context(), r.ID)
				if err == nil {
					err = other.store.SaveRegistration(w.Context(), saved)
				}
				if err != nil {
					t.Errorf("not saved: %v", err)
				}
			}
			w.rebuild(slow)
			reached = messages.Load() >= int32(at)
			if stored, latest, err := other.store.Registration(w.Context(), r.ID); err != nil || !stored.Rebuilt || latest == nil || latest.ID != p.ID {
				t.Errorf("Redis has %+v, %+v, %v", stored, latest, err)
			}
		})
	}
}

// TestLossWithAPricedPayment: Redis lost an earlier payment, and the latest one is not yet at the processor.
func TestLossWithAPricedPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	first := w.abandoned(g)
	w.fail(createCall, 1)
	_, _ = g.pay(t.Context(), first.Registration) // fails at the processor
	if second := w.stored(g, flows.NewPaymentID(first.Registration, 2)); second.State != flows.Priced {
		t.Fatalf("%s (%s)", second.State, second.Reason)
	}
	w.redis.Del(t.Context(), redisKey(first))
	w.rebuild(g)
	if p := w.stored(g, first.ID); p.State != flows.Cancelled {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}

// TestOwedRebuildEndsAComparison: a comparison of many payments that rests makes way when everything must be compared.
func TestOwedRebuildEndsAComparison(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	lost := w.started(g)
	for range 100 {
		w.started(g)
	}
	w.redis.Del(t.Context(), redisKey(lost))
	isLost := func() bool {
		_, err := g.store.Payment(t.Context(), lost.ID)
		return errors.Is(err, flows.ErrNotFound)
	}
	g.OweRebuild()
	must(t, func() (bool, error) { return true, g.Rebuild(t.Context(), payment.RecentWindow) })
	if !isLost() || !g.TakeOwedRebuild() {
		t.Error("the comparison did not make way")
	}
	must(t, func() (bool, error) { return true, g.Rebuild(t.Context(), payment.RecentWindow) })
	if isLost() {
		t.Error("the comparison did not find the oldest payment after its rest")
	}
}

// TestDamagedPaymentHidesNoLoss: the frequent comparison finds a lost payment that is older than a registration whose
// latest payment is damaged.
func TestDamagedPaymentHidesNoLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	lost := w.started(g)
	w.clock.Advance(time.Second)
	first := w.abandoned(g)
	w.clock.Advance(time.Minute)
	second := must(t, func() (*flows.Payment, error) { return g.pay(t.Context(), first.Registration) })
	w.redis.HSet(t.Context(), redisKey(second), "state", "priced")
	w.forgetKeys("fd:{" + lost.Registration + "}*")
	if err := g.Rebuild(t.Context(), payment.RecentWindow); err != nil || !w.knows(lost) {
		t.Errorf("known %t, %v", w.knows(lost), err)
	}
}

// TestLookupsAfterALoss: Redis lost three carts. Each visitor gets 404 after a comparison that began later than their first
// request, and again within a minute without another comparison.
func TestLookupsAfterALoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	first, firstToken := w.visited(g)
	second, secondToken := w.visited(g)
	third, thirdToken := w.visited(g)
	w.wipe()
	expect := func(view flows.View, token string, code flows.Code, lists int) {
		t.Helper()
		if _, err := g.registrations.Get(t.Context(), view.ID, token); flows.CodeOf(err) != code || w.listed() != lists {
			t.Errorf("%v after %d lists, not %s after %d", err, w.listed(), code, lists)
		}
	}
	w.fail(listCall, 1)
	expect(first, firstToken, flows.ProcessorUnavailable, 1)
	expect(first, firstToken, flows.StorageUnavailable, 1)
	w.clock.Advance(time.Minute)
	expect(first, firstToken, flows.NotFound, 2)
	w.clock.Advance(time.Second)
	expect(second, secondToken, flows.StorageUnavailable, 2)
	expect(first, firstToken, flows.NotFound, 2)
	w.clock.Advance(time.Minute - time.Second)
	expect(first, firstToken, flows.NotFound, 3)
	w.clock.Advance(time.Second)
	expect(second, secondToken, flows.NotFound, 3)
	expect(third, thirdToken, flows.StorageUnavailable, 3)
	w.clock.Advance(time.Hour)
	expect(second, secondToken, flows.NotFound, 4)
	expect(third, thirdToken, flows.NotFound, 4)
}

// TestLookupFindsALatePayment: Redis loses a payment whose creation is on its way to the processor. Its visitor gets
// 404; a minute later, the payment is found.
func TestLookupFindsALatePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r, token := w.visited(g)
	get := func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, token) }
	w.injectFault(createCall, func() {
		w.wipe()
		if _, err := get(); flows.CodeOf(err) != flows.NotFound {
			t.Errorf("before the creation: %v", err)
		}
	}, nil)
	if _, err := g.payWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"}); err == nil {
		t.Error("the buyer was given a payment that Redis had lost")
	}
	w.clock.Advance(time.Minute)
	if view := must(t, get); view.Payment == nil || view.Payment.ProcessorID != w.heldAll()[0].ID {
		t.Errorf("after the creation: %+v", view.Payment)
	}
}

// TestLookupAfterASecondLoss: a registration that a rebuild has restored is looked up again if Redis loses it again at once.
func TestLookupAfterASecondLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r, token := w.visited(g)
	get := func() (flows.View, error) { return g.registrations.Get(t.Context(), r.ID, token) }
	must(t, func() (*flows.Payment, error) {
		return g.payWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
	})
	w.wipe()
	must(t, get)
	w.clock.Advance(time.Second)
	w.wipe()
	if _, err := get(); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("within a minute: %v", err)
	}
	w.clock.Advance(time.Minute)
	must(t, get)
}

// TestSlowLookup: the worker's rebuild, which has no time limit, answers visitors whose own rebuild failed.
func TestSlowLookup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	r, token := w.visited(g)
	w.wipe()
	w.fail(listCall, 1)
	for _, code := range []flows.Code{flows.ProcessorUnavailable, flows.NotFound} {
		if _, err := g.registrations.Get(t.Context(), r.ID, token); flows.CodeOf(err) != code {
			t.Errorf("%v, not %s", err, code)
		}
		w.rebuild(g)
	}
}

// TestLookupDuringAnother: a visitor who comes while a rebuild runs waits for the next one, because this one may have read
// the list before their payment was on it.
func TestLookupDuringAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	var lost atomic.Bool
	reading := make(chan struct{})
	wire.OnMessage = func([]byte) {
		if lost.CompareAndSwap(true, false) {
			close(reading)
		}
	}
	g := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)})
	first, firstToken := w.visited(g)
	paid, paidToken := w.visited(g)
	w.forgetKeys("fd:{" + first.ID + "}*")
	asked := make(chan error, 1)
	w.injectFault(listCall, nil, func() { // the list is made, and on its way
		w.clock.Advance(time.Second)
		_, err := g.payWith(t.Context(), paid.ID, paidToken, flows.StartPayment{Method: "card"})
		if err != nil {
			t.Error(err)
		}
		w.wipe()
		lost.Store(true)
		go func() {
			_, err := g.registrations.Get(t.Context(), paid.ID, paidToken)
			asked <- err
		}()
		<-reading
	})
	if _, err := g.registrations.Get(t.Context(), first.ID, firstToken); flows.CodeOf(err) != flows.NotFound {
		t.Errorf("the visitor before the rebuild: %v", err)
	}
	if err := <-asked; flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the visitor during the rebuild: %v", err)
	}
}
