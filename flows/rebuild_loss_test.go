package flows_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// TestLossInsideARebuild: while a gateway rebuilds and sleeps, another one completes a rebuild and Redis
// forgets everything again, at each pair of the first one's messages. The next rebuild leaves a registration
// with its payment, so that its holder is not asked to start again.
func TestLossInsideARebuild(t *testing.T) {
	t.Parallel()
	for rebuilt, reached := 1, true; reached; rebuilt++ {
		reached = false
		for wiped, both := rebuilt+1, true; both; wiped++ {
			t.Run(fmt.Sprintf("rebuilt by another one before message %d, forgotten before %d", rebuilt, wiped), func(t *testing.T) {
				both = newWorld(t).loseInside(rebuilt, wiped)
				reached = reached || both
			})
		}
	}
}

// loseInside returns false if the rebuild ends before the last of the two messages.
func (w *world) loseInside(rebuilt, wiped int) bool {
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	slow, other := w.gateway(gatewayOptions{redisURL: w.redisOver(wire)}), w.gateway()
	p := w.advance(other, w.authorised(other))
	if p.State != flows.Recorded {
		w.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.wipe()
	messages := 0
	wire.OnMessage = func([]byte) {
		switch messages++; messages {
		case rebuilt:
			w.rebuild(other)
		case wiped:
			w.wipe()
			w.clock.Advance(25 * time.Hour)
		}
	}
	_ = slow.Rebuild(w.Context(), wholeWindow) // it may notice the loss, and is then repeated
	if messages < wiped {
		return false
	}
	w.rebuild(other)
	if _, latest, err := other.store.Registration(w.Context(), p.Registration); err != nil || latest == nil || latest.ID != p.ID || latest.State != flows.Recorded {
		w.Errorf("the registration has %+v, %v", latest, err)
	}
	return true
}

// TestLossBesideAPricedPayment: Redis lost an earlier payment, and the latest one is not at the processor yet.
func TestLossBesideAPricedPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	first := w.abandoned(g)
	w.fail("POST", "/sandbox/payments", 1)
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
