package payment_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// refunded makes a payment that the club system rejected, so that the buyer got the money back.
func (w *testWorld) refunded(g *testGateway) *flows.Payment {
	w.Helper()
	p := w.Authorised(g)
	w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)})
	if p = w.Advance(g, p); p.State != flows.Refunded {
		w.Fatalf("%s (%s)", p.State, p.Reason)
	}
	return p
}

// bankReturns has the bank return a refund, and returns the processor's event.
func (w *testWorld) bankReturns(p *flows.Payment) cards.Event {
	w.Helper()
	w.SettleRefund(p, false)
	return w.EventOf(p, "refund.failed")
}

// expectRefundedAgain expects a payment that waits for an operator, who then has it refunded.
func (w *testWorld) expectRefundedAgain(gateway *testGateway, id flows.PaymentID) {
	w.Helper()
	paid, err := gateway.Advance(w.Context(), id)
	if err != nil || paid.State != flows.Blocked || w.Held(paid).State != cards.Captured {
		w.Fatalf("after the bank returned the money: %v, %+v", err, paid)
	}
	listed := must(w, func() (payment.Page, error) { return gateway.List(w.Context(), payment.ListOptions{}) })
	if len(listed.Items) != 1 || listed.Items[0].ID != id {
		w.Errorf("operators are shown %+v", listed.Items)
	}
	w.mustDecide(gateway, paid, payment.Refund)
	if paid = w.Advance(gateway, paid); paid.State != flows.Refunded || w.Held(paid).State != cards.Refunded {
		w.Errorf("%s (%s), and %s at the processor", paid.State, paid.Reason, w.Held(paid).State)
	}
}

// TestRefundFailsAfterItsRecordIsGone: a bank returns the money after Redis has forgotten the payment.
func TestRefundFailsAfterItsRecordIsGone(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.refunded(gateway)
	world.rebuild(gateway)
	world.Clock.Advance(40 * 24 * time.Hour)
	world.ForgetKeys("fd:{*}*", "fd:payments:*") // as when their time to live ends
	world.rebuild(gateway)
	world.Handle(gateway, world.bankReturns(payment))
	world.expectRefundedAgain(gateway, payment.ID)
}

// TestRefundFailsWhileTheProcessorIsAway: the event is refused, so that the processor sends it again.
func TestRefundFailsWhileTheProcessorIsAway(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.refunded(gateway)
	ev := world.bankReturns(payment)
	world.FailCalls(getCall, 1)
	if err := gateway.HandleEvent(t.Context(), ev); flows.CodeOf(err) != flows.ProcessorUnavailable {
		t.Errorf("the processor is answered with %v", err)
	}
	world.Handle(gateway, ev)
	if payment = world.Stored(gateway, payment.ID); payment.State != flows.Blocked {
		t.Errorf("%s (%s)", payment.State, payment.Reason)
	}
}

// TestRefundOfADuplicateFails: the event finds the payment by its own id, whatever happened to the one that
// has its number.
func TestRefundOfADuplicateFails(t *testing.T) {
	t.Parallel()
	for name, numbered := range map[string]func(*testWorld, *testGateway, *flows.Payment){
		"the numbered payment is kept": func(*testWorld, *testGateway, *flows.Payment) {},
		"the numbered payment is gone": func(w *testWorld, _ *testGateway, p *flows.Payment) { w.Redis.Del(w.Context(), redisKey(p)) },
		"the numbered payment is created": func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.Put(g, p.ID, flows.Priced, func(next *flows.Payment) { next.ProcessorID = "" })
			w.Redis.Del(w.Context(), "fd:payments:open", "fd:{fd:payments:open}:states")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.Clock.Advance(time.Second)
			twin := world.Duplicate(payment)
			world.Confirm(twin, goodCard)
			world.captureAtProcessor(payment)
			world.captureAtProcessor(twin)
			world.Put(gateway, payment.ID, flows.Captured)
			world.rebuild(gateway)
			world.settleAll(gateway)
			for _, key := range world.Redis.Keys(t.Context(), "fd:{"+payment.Registration+"}:payment:*").Val() {
				if key != redisKey(payment) {
					twin = world.Stored(gateway, flows.PaymentID(payment.Registration+"-"+key[strings.LastIndexByte(key, ':')+1:]))
				}
			}
			if twin.State != flows.Refunded || twin.ID == payment.ID {
				t.Fatalf("%s is %s (%s)", twin.ID, twin.State, twin.Reason)
			}
			numbered(world, gateway, payment)
			world.Handle(gateway, world.bankReturns(twin))
			if now := world.Stored(gateway, twin.ID); now.State != flows.Blocked {
				t.Errorf("after the event it is %s (%s)", now.State, now.Reason)
			}
			world.expectRefundedAgain(gateway, twin.ID)
		})
	}
}
