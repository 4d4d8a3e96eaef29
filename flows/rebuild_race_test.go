package flows_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// TestChangingRegistrationDelaysNoOther: a registration that changes at each attempt to rebuild its payment does not keep
// the payments of others from being rebuilt.
func TestChangingRegistrationDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	slow, other := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)}), w.gateway()
	innocent := w.authorised(other)
	r := w.registered(other)
	hot := "fd:{" + r.ID + "}:registration"
	priced := w.redis.Dump(w.Context(), hot).Val()
	if _, err := other.pay(w.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	w.wipe()
	w.redis.Restore(w.Context(), hot, 0, priced)
	saves := 0
	wire.OnMessage = func(message []byte) {
		if !bytes.Contains(message, []byte(hot)) || !bytes.Contains(message, []byte("}:payment:1\r\n")) {
			return
		}
		saved, _, err := other.store.Registration(w.Context(), r.ID)
		if err == nil {
			err = other.store.SaveRegistration(w.Context(), saved)
		}
		if saves++; err != nil {
			t.Errorf("not saved: %v", err)
		}
	}
	err := slow.Rebuild(w.Context(), wholeWindow)
	if !w.knows(innocent) {
		t.Errorf("after %d saves of another registration, the payment is still missing: %v", saves, err)
	}
}

// TestLoserOfARebuild: two gateways rebuild at once. The one that loses the race for the payment that counts does not make
// a later one count that the winner has not stored yet.
func TestLoserOfARebuild(t *testing.T) {
	t.Parallel()
	for at, reached := 1, true; reached && at < 30; at++ {
		t.Run(fmt.Sprintf("the winner sleeps before message %d", at), func(t *testing.T) {
			w := newWorld(t)
			g := w.gateway()
			first := w.abandoned(g)
			second := must(t, func() (*flows.Payment, error) { return g.pay(w.Context(), first.Registration) })
			if second.Generation != 2 {
				t.Fatalf("%+v", second)
			}
			twin := w.duplicate(first)
			w.confirm(twin, goodCard)
			w.captureAtProcessor(twin)
			w.wipe()
			loserWire, winnerWire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{}), frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
			loser, winner := w.gateway(gatewayOptions{redisURL: w.redisOver(loserWire)}), w.gateway(gatewayOptions{redisURL: w.redisOver(winnerWire)})
			stores := func(message []byte) bool {
				return bytes.Contains(message, []byte("}:registration")) && bytes.Contains(message, []byte("}:payment:1\r\n"))
			}
			sleeps, loserDone, winnerDone := make(chan bool), make(chan bool), make(chan bool)
			var n atomic.Int32
			stored := atomic.Bool{}
			var sleepOnce sync.Once
			winnerWire.OnMessage = func(message []byte) {
				if stores(message) {
					stored.Store(true)
					return
				}
				if stored.Load() && n.Add(1) == int32(at) {
					sleepOnce.Do(func() { close(sleeps) })
					<-loserDone
				}
			}
			var begin sync.Once
			loserWire.OnMessage = func(message []byte) {
				if !stores(message) {
					return
				}
				begin.Do(func() {
					go func() { defer close(winnerDone); w.rebuild(winner) }()
					select {
					case <-sleeps:
					case <-winnerDone:
					}
				})
			}
			w.rebuild(loser)
			close(loserDone)
			<-winnerDone
			reached = n.Load() >= int32(at)
			r, latest, err := g.store.Registration(w.Context(), first.Registration)
			if err != nil || latest == nil || latest.ProcessorID != twin.ProcessorID {
				t.Errorf("the registration has %+v, the latest payment is %+v, %v", r, latest, err)
			}
		})
	}
}

// TestOvertakenPaymentStaysADuplicate: the processor holds an open payment, and an earlier one of the sale whose capture came
// late. Whatever is rebuilt, and however often, the captured one counts.
func TestOvertakenPaymentStaysADuplicate(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*world, *flows.Payment){
		"nothing": func(*world, *flows.Payment) {},
		"the open payment": func(w *world, second *flows.Payment) {
			w.redis.Del(w.Context(), "fd:{"+second.Registration+"}:payment:2")
		},
		"everything": func(w *world, _ *flows.Payment) { w.wipe() },
	} {
		t.Run("Redis loses "+name, func(t *testing.T) {
			w := newWorld(t)
			g := w.gateway()
			first := w.abandoned(g)
			second := must(t, func() (*flows.Payment, error) { return g.pay(w.Context(), first.Registration) })
			twin := w.duplicate(first)
			w.confirm(twin, goodCard)
			w.captureAtProcessor(twin)
			w.wipe()
			w.rebuild(g)
			lose(w, second)
			for range 2 {
				w.rebuild(g)
				if r, latest, err := g.store.Registration(w.Context(), first.Registration); err != nil || latest == nil || latest.ProcessorID != twin.ProcessorID {
					t.Fatalf("the registration has %+v, the latest payment is %+v, %v", r, latest, err)
				}
				w.settleAll(g)
			}
			p := w.stored(g, first.ID)
			if p.State != flows.Recorded || len(w.lines(p)) != 1 || w.held(second).State != cards.Cancelled {
				t.Errorf("%s, %d lines, the other is %s", p.State, len(w.lines(p)), w.held(second).State)
			}
		})
	}
}
