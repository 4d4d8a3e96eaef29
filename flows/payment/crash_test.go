package payment_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// TestEveryMessageBreaks breaks each message of a whole payment, to Redis, to the processor and to the club
// system. Either the request or its response is lost, alone or with the gateway that sent it. Another gateway
// then continues.
func TestEveryMessageBreaks(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]frontdesktest.Fault{
		"the message is lost":                 {},
		"the answer is lost":                  {DropResponse: true},
		"the gateway dies before the message": {Permanent: true},
		"the gateway dies before the answer":  {DropResponse: true, Permanent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends := map[flows.PaymentState]int{}
			breaks := func(name string, plan frontdesktest.Fault) (broke bool) {
				t.Run(name, func(t *testing.T) {
					w := newWorld(t)
					end, wire := w.breakAt(plan)
					broke = wire.Triggered()
					ends[end]++
				})
				return broke
			}
			for plan.Message = 1; breaks(fmt.Sprint(plan.Message), plan); {
				plan.Message++
			}
			// Messages differ in number from one run to the next, as connections do: the one about the money is not left to chance.
			plan.Message, plan.Of = 1, "/payments HTTP"
			if !breaks("recording", plan) {
				t.Error("the recording was not broken")
			}
			t.Logf("the payments ended %v", ends)
			if ends[flows.Recorded] == 0 || ends[flows.InDoubt] == 0 {
				t.Error("the breakages did not reach both sides of the recording")
			}
		})
	}
}

// TestRedisIsAway: at each message of a whole payment, Redis stops responding for longer than its client tries, with
// and without having executed that message. Its caller may leave at that moment as well. No payment is in doubt
// afterwards.
func TestRedisIsAway(t *testing.T) {
	t.Parallel()
	const lost = 8 // messages: the client gives up after three
	for name, test := range map[string]struct {
		plan   frontdesktest.Fault
		leaves bool
	}{
		"the messages are lost":                            {frontdesktest.Fault{Times: lost}, false},
		"the responses are lost":                           {frontdesktest.Fault{Times: lost, DropResponse: true}, false},
		"the responses to a client that has left are lost": {frontdesktest.Fault{Times: lost, DropResponse: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for plan := test.plan; ; {
				plan.Message++
				broke := false
				t.Run(fmt.Sprint(plan.Message), func(t *testing.T) { broke = newWorld(t).redisAwayAt(plan, test.leaves) })
				if !broke {
					break
				}
			}
		})
	}
}

// redisAwayAt advances an authorised payment while Redis is away, and finishes it when Redis is back. It returns
// false if the payment has fewer messages.
func (w *testWorld) redisAwayAt(plan frontdesktest.Fault, leaves bool) bool {
	ctx, leave := context.WithCancel(w.Context())
	defer leave()
	wire := frontdesktest.NewMessageProxy(w, plan)
	var sent atomic.Int32
	wire.OnMessage = func([]byte) {
		if int(sent.Add(1)) == plan.Message && leaves {
			leave()
		}
	}
	cut, direct := w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)}), w.Gateway()
	payment := w.Authorised(direct)
	if _, err := cut.Advance(ctx, payment.ID); err != nil {
		w.Logf("advance: %v", err)
	}
	end := w.Settle(direct, payment)
	if end.State != flows.Recorded || end.HasBeen(flows.InDoubt) || w.Posted() != 1 {
		w.Errorf("%s (%s) after %d calls and %v", end.State, end.Reason, w.Posted(), w.Journal.MovesOf(payment.ID))
	}
	w.ExpectSound(end)
	return wire.Triggered()
}

// breakAt starts a payment with a gateway whose connections break, and finishes it with one whose connections
// work.
func (w *testWorld) breakAt(plan frontdesktest.Fault) (flows.PaymentState, *frontdesktest.MessageProxy) {
	wire := frontdesktest.NewMessageProxy(w, plan)
	doomed := w.Gateway(gatewayOptions{Outside: wire.Forward(w.Address), RedisURL: w.RedisOver(wire)})
	survivor := w.Gateway()
	versions := w.watchVersions(survivor)
	registration := w.Registered(survivor)

	w.ask(doomed, registration.ID)
	payment := w.ask(survivor, registration.ID) // the visitor presses the button again
	if payment.State == flows.Intent {
		w.Confirm(payment, goodCard)
	}
	w.ask(doomed, registration.ID)
	end := w.Settle(survivor, payment)
	if end.State == flows.Cancelled {
		// Nothing was charged, so the visitor tries again.
		payment = w.ask(survivor, registration.ID)
		w.Confirm(payment, goodCard)
		end = w.Settle(survivor, payment)
	}
	w.ExpectSound(end)
	versions.expectGrowth(w)
	return end.State, wire
}

// ask requests the payment as the visitor's browser does, and checks the response: a visitor whose money was
// taken is never sent to pay.
func (w *testWorld) ask(g *testGateway, registration string) *flows.Payment {
	w.Helper()
	payment, err := g.Pay(w.Context(), registration)
	taken := false
	for _, held := range w.HeldAll() {
		taken = taken || held.State == cards.Captured
	}
	switch {
	case err != nil && taken && flows.CodeOf(err) != flows.StorageUnavailable:
		w.Errorf("the money is taken and the visitor got %v", err)
	case err == nil && taken && payment.View().Retry != "never":
		w.Errorf("the money is taken and the visitor sees %+v", payment.View())
	}
	return payment
}

// versions are the versions of each payment, in order.
type versions struct {
	mu   sync.Mutex
	seen map[flows.PaymentID][]int64
}

func (w *testWorld) watchVersions(g *testGateway) *versions {
	v := &versions{seen: map[flows.PaymentID][]int64{}}
	w.Journal.Listen(func(id flows.PaymentID, _ move) {
		stored, err := g.Store.Payment(w.Context(), id)
		if err != nil {
			return
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.seen[id] = append(v.seen[id], stored.Version)
	})
	return v
}

func (v *versions) expectGrowth(world *testWorld) {
	world.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.seen) == 0 {
		world.Error("no payment moved")
	}
	for id, seen := range v.seen {
		for i := 1; i < len(seen); i++ {
			if seen[i] <= seen[i-1] {
				world.Errorf("payment %s had the versions %v", id, seen)
			}
		}
	}
}
