package payment_test

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
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// TestWipe kills a gateway at each message of a payment, and Redis loses all its data. The buyer does nothing
// more, and the payment is restored and ends as it should: nothing is booked twice, and no money is lost.
func TestWipe(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			for _, plan := range []frontdesktest.Fault{{Permanent: true}, {Permanent: true, DropResponse: true}} {
				t.Run(fmt.Sprintf("%s, answer lost %t, %s later", name, plan.DropResponse, later), func(t *testing.T) {
					t.Parallel()
					for plan.Message = 1; ; plan.Message++ {
						broke := false
						t.Run(fmt.Sprint(plan.Message), func(t *testing.T) { broke = newWorld(t).wipeAt(plan, faults, later) })
						if !broke {
							return
						}
					}
				})
			}
		}
	}
}

func (w *testWorld) wipeAt(plan frontdesktest.Fault, faults []clubsim.Fault, later time.Duration) bool {
	wire := frontdesktest.NewMessageProxy(w, plan)
	doomed, survivor := w.Gateway(gatewayOptions{Outside: wire.Forward(w.Address), RedisURL: w.RedisOver(wire)}), w.Gateway()
	r := w.Registered(survivor)
	w.Fault(faults...)
	doomed.Pay(w.Context(), r.ID)
	payment := &flows.Payment{ID: flows.NewPaymentID(r.ID, 1)}
	for _, held := range w.HeldAll() {
		payment.ProcessorID = held.ID
		w.Confirm(payment, goodCard)
	}
	for range 3 { // the rejected, refused and doubtful payments need further steps
		doomed.Advance(w.Context(), payment.ID)
		w.Clock.Advance(time.Minute)
	}
	w.Wipe()
	w.Fault()
	w.Clock.Advance(later)
	w.rebuild(survivor)
	if payment.ProcessorID == "" {
		if keys := w.records(); len(keys) != 0 {
			w.Errorf("Redis holds %v", keys)
		}
		return wire.Triggered()
	}
	before := w.Held(payment)
	end := w.Settle(survivor, payment)
	w.ExpectSound(end)
	if before.State == cards.Captured && end.State != flows.Recorded && end.State != flows.InDoubt && end.State != flows.Refunded {
		w.Errorf("the money was taken, and the payment is %s (%s)", end.State, end.Reason)
	}
	w.rebuild(survivor)
	if again := w.Stored(survivor, payment.ID); again.Version != end.Version {
		w.Errorf("another rebuild made %s of %s", again.State, end.State)
	}
	return wire.Triggered()
}

// TestHolderAfterWipe: after Redis lost both, the holder of a registration's token
// sees its payment, and no other caller does.
func TestHolderAfterWipe(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration, token := world.Visited(gateway)
	other, otherToken := world.Visited(gateway)
	payment := must(t, func() (*flows.Payment, error) {
		return gateway.PayWith(t.Context(), registration.ID, token, flows.StartPayment{Method: "card"})
	})
	world.Confirm(payment, goodCard)
	world.Advance(gateway, payment)
	world.Wipe()
	altered := "A"
	if token[0] == 'A' {
		altered = "B"
	}
	for what, wrong := range map[string]string{
		"none":       "",
		"another's":  otherToken,
		"altered":    altered + token[1:],
		"cut off":    token[:43],
		"longer":     token + "AAAA",
		"not base64": "!" + token[1:],
	} {
		if _, err := gateway.Registrations.Get(t.Context(), registration.ID, wrong); flows.CodeOf(err) != flows.RegistrationNotFound {
			t.Errorf("a token that is %s gets %v", what, err)
		}
	}
	if n := world.Listed(); n != 0 {
		t.Errorf("wrong tokens made the gateway list the payments %d times", n)
	}
	view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), registration.ID, token) })
	if view.Phase != flows.Completed || view.Payment.ID != payment.ID || view.Contact != nil || view.Cart.Total != quarterPassPrice {
		t.Errorf("the holder sees %s, %+v", view.Phase, view.Registration)
	}
	if _, err := gateway.Registrations.Get(t.Context(), registration.ID, otherToken); flows.CodeOf(err) != flows.RegistrationNotFound {
		t.Errorf("another token got %v", err)
	}
	_, err := gateway.Registrations.Get(t.Context(), other.ID, otherToken)
	if flows.CodeOf(err) != flows.StorageUnavailable || world.Listed() != 1 {
		t.Errorf("within a minute of a look: %v after %d lists", err, world.Listed())
	}
	world.Clock.Advance(time.Minute)
	_, err = gateway.Registrations.Get(t.Context(), other.ID, otherToken)
	if flows.CodeOf(err) != flows.RegistrationNotFound || world.Listed() != 2 {
		t.Errorf("what the processor does not know either: %v after %d lists", err, world.Listed())
	}
	world.Advance(gateway, payment)
	world.ExpectSound(world.Stored(gateway, payment.ID))
}

// TestLossInsideARebuild: while a rebuilding gateway sleeps, Redis gets all its data back and loses it again,
// at each pair of the gateway's messages. The next rebuild leaves a registration with its payment, so that its
// holder is not asked to start again.
func TestLossInsideARebuild(t *testing.T) {
	t.Parallel()
	for name, bringBack := range map[string]func(*testWorld, *testGateway, *flows.Payment, dump){
		"rebuilt by another gateway": func(w *testWorld, other *testGateway, _ *flows.Payment, _ dump) { w.rebuild(other) },
		"a replica that is behind":   func(w *testWorld, _ *testGateway, p *flows.Payment, priced dump) { w.restore(p.Registration, priced) },
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
func (w *testWorld) loseInside(back, wiped int, bringBack func(*testWorld, *testGateway, *flows.Payment, dump)) bool {
	payment, dumps, _ := w.live(nil)
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	slow, other := w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)}), w.Gateway()
	w.Wipe()
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
			bringBack(w, other, payment, dumps[0])
		case wiped:
			w.Wipe()
			w.Clock.Advance(25 * time.Hour)
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
	_, latest, err := other.Store.Registration(w.Context(), payment.Registration)
	if err != nil || latest == nil || latest.ID != payment.ID || latest.State != flows.Recorded {
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
			world := newWorld(t)
			wire := frontdesktest.NewMessageProxy(world, frontdesktest.Fault{})
			slow, other := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)}), world.Gateway()
			registration := world.Registered(other)
			priced := world.Redis.Dump(world.Context(), "fd:{"+registration.ID+"}:registration").Val()
			payment := must(t, func() (*flows.Payment, error) { return other.Pay(world.Context(), registration.ID) })
			world.Confirm(payment, goodCard)
			payment = world.DoubtAgain(other, payment, "drop_after")
			world.Wipe()
			world.Redis.Restore(world.Context(), "fd:{"+registration.ID+"}:registration", 0, priced)
			var messages atomic.Int32
			wire.OnMessage = func([]byte) {
				if messages.Add(1) != int32(at) {
					return
				}
				saved, _, err := other.Store.Registration(world.Context(), registration.ID)
				if err == nil {
					err = other.Store.SaveRegistration(world.Context(), saved)
				}
				if err != nil {
					t.Errorf("not saved: %v", err)
				}
			}
			world.rebuild(slow)
			reached = messages.Load() >= int32(at)
			stored, latest, err := other.Store.Registration(world.Context(), registration.ID)
			if err != nil || !stored.Rebuilt || latest == nil || latest.ID != payment.ID {
				t.Errorf("Redis has %+v, %+v, %v", stored, latest, err)
			}
		})
	}
}

// TestLossWithAPricedPayment: Redis lost an earlier payment, and the latest one is not yet at the processor.
func TestLossWithAPricedPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first := world.Abandoned(gateway)
	world.FailCalls(createCall, 1)
	_, _ = gateway.Pay(t.Context(), first.Registration) // fails at the processor
	if second := world.Stored(gateway, flows.NewPaymentID(first.Registration, 2)); second.State != flows.Priced {
		t.Fatalf("%s (%s)", second.State, second.Reason)
	}
	world.Redis.Del(t.Context(), redisKey(first))
	world.rebuild(gateway)
	if p := world.Stored(gateway, first.ID); p.State != flows.Cancelled {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}

// TestOwedRebuildEndsAComparison: a comparison of many payments that rests makes way when everything must be compared.
func TestOwedRebuildEndsAComparison(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	lost := world.Started(gateway)
	for range 100 {
		world.Started(gateway)
	}
	world.Redis.Del(t.Context(), redisKey(lost))
	isLost := func() bool {
		_, err := gateway.Store.Payment(t.Context(), lost.ID)
		return errors.Is(err, flows.ErrNotFound)
	}
	gateway.OweRebuild()
	must(t, func() (bool, error) { return true, gateway.Rebuild(t.Context(), payment.RecentWindow) })
	if !isLost() || !gateway.TakeOwedRebuild() {
		t.Error("the comparison did not make way")
	}
	must(t, func() (bool, error) { return true, gateway.Rebuild(t.Context(), payment.RecentWindow) })
	if isLost() {
		t.Error("the comparison did not find the oldest payment after its rest")
	}
}

// TestDamagedPaymentHidesNoLoss: the frequent comparison finds a lost payment that is older than a registration whose
// latest payment is damaged.
func TestDamagedPaymentHidesNoLoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	lost := world.Started(gateway)
	world.Clock.Advance(time.Second)
	first := world.Abandoned(gateway)
	world.Clock.Advance(time.Minute)
	second := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), first.Registration) })
	world.Redis.HSet(t.Context(), redisKey(second), "state", "priced")
	world.ForgetKeys("fd:{" + lost.Registration + "}*")
	if err := gateway.Rebuild(t.Context(), payment.RecentWindow); err != nil || !world.Knows(lost) {
		t.Errorf("known %t, %v", world.Knows(lost), err)
	}
}

// TestLookupsAfterALoss: Redis lost three carts. Each visitor gets 404 after a comparison that began later than their first
// request, and again within a minute without another comparison.
func TestLookupsAfterALoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first, firstToken := world.Visited(gateway)
	second, secondToken := world.Visited(gateway)
	third, thirdToken := world.Visited(gateway)
	world.Wipe()
	expect := func(view flows.View, token string, code flows.Code, lists int) {
		t.Helper()
		if _, err := gateway.Registrations.Get(t.Context(), view.ID, token); flows.CodeOf(err) != code || world.Listed() != lists {
			t.Errorf("%v after %d lists, not %s after %d", err, world.Listed(), code, lists)
		}
	}
	world.FailCalls(listCall, 1)
	expect(first, firstToken, flows.ProcessorUnavailable, 1)
	expect(first, firstToken, flows.StorageUnavailable, 1)
	world.Clock.Advance(time.Minute)
	expect(first, firstToken, flows.RegistrationNotFound, 2)
	world.Clock.Advance(time.Second)
	expect(second, secondToken, flows.StorageUnavailable, 2)
	expect(first, firstToken, flows.RegistrationNotFound, 2)
	world.Clock.Advance(time.Minute - time.Second)
	expect(first, firstToken, flows.RegistrationNotFound, 3)
	world.Clock.Advance(time.Second)
	expect(second, secondToken, flows.RegistrationNotFound, 3)
	expect(third, thirdToken, flows.StorageUnavailable, 3)
	world.Clock.Advance(time.Hour)
	expect(second, secondToken, flows.RegistrationNotFound, 4)
	expect(third, thirdToken, flows.RegistrationNotFound, 4)
}

// TestLookupFindsALatePayment: Redis loses a payment whose creation is on its way to the processor. Its visitor gets
// 404; a minute later, the payment is found.
func TestLookupFindsALatePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration, token := world.Visited(gateway)
	get := func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), registration.ID, token) }
	world.InjectFault(createCall, func() {
		world.Wipe()
		if _, err := get(); flows.CodeOf(err) != flows.RegistrationNotFound {
			t.Errorf("before the creation: %v", err)
		}
	}, nil)
	if _, err := gateway.PayWith(t.Context(), registration.ID, token, flows.StartPayment{Method: "card"}); err == nil {
		t.Error("the buyer was given a payment that Redis had lost")
	}
	world.Clock.Advance(time.Minute)
	if view := must(t, get); view.Payment == nil || view.Payment.ProcessorID != world.HeldAll()[0].ID {
		t.Errorf("after the creation: %+v", view.Payment)
	}
}

// TestLookupAfterASecondLoss: a registration that a rebuild has restored is looked up again if Redis loses it again at once.
func TestLookupAfterASecondLoss(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	r, token := world.Visited(g)
	get := func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, token) }
	must(t, func() (*flows.Payment, error) {
		return g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
	})
	world.Wipe()
	must(t, get)
	world.Clock.Advance(time.Second)
	world.Wipe()
	if _, err := get(); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("within a minute: %v", err)
	}
	world.Clock.Advance(time.Minute)
	must(t, get)
}

// TestSlowLookup: the worker's rebuild, which has no time limit, answers visitors whose own rebuild failed.
func TestSlowLookup(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	r, token := world.Visited(gateway)
	world.Wipe()
	world.FailCalls(listCall, 1)
	for _, code := range []flows.Code{flows.ProcessorUnavailable, flows.RegistrationNotFound} {
		if _, err := gateway.Registrations.Get(t.Context(), r.ID, token); flows.CodeOf(err) != code {
			t.Errorf("%v, not %s", err, code)
		}
		world.rebuild(gateway)
	}
}

// TestLookupDuringAnother: a visitor who comes while a rebuild runs waits for the next one, because this one may have read
// the list before their payment was on it.
func TestLookupDuringAnother(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	wire := frontdesktest.NewMessageProxy(world, frontdesktest.Fault{})
	var lost atomic.Bool
	reading := make(chan struct{})
	wire.OnMessage = func([]byte) {
		if lost.CompareAndSwap(true, false) {
			close(reading)
		}
	}
	gateway := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)})
	first, firstToken := world.Visited(gateway)
	paid, paidToken := world.Visited(gateway)
	world.ForgetKeys("fd:{" + first.ID + "}*")
	asked := make(chan error, 1)
	world.InjectFault(listCall, nil, func() { // the list is made, and on its way
		world.Clock.Advance(time.Second)
		_, err := gateway.PayWith(t.Context(), paid.ID, paidToken, flows.StartPayment{Method: "card"})
		if err != nil {
			t.Error(err)
		}
		world.Wipe()
		lost.Store(true)
		go func() {
			_, err := gateway.Registrations.Get(t.Context(), paid.ID, paidToken)
			asked <- err
		}()
		<-reading
	})
	if _, err := gateway.Registrations.Get(t.Context(), first.ID, firstToken); flows.CodeOf(err) != flows.RegistrationNotFound {
		t.Errorf("the visitor before the rebuild: %v", err)
	}
	if err := frontdesktest.Receive(t, asked, "the visitor's response"); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the visitor during the rebuild: %v", err)
	}
}
