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

func (w *world) wipeAt(plan frontdesktest.Fault, faults []clubsim.Fault, later time.Duration) bool {
	wire := frontdesktest.NewMessageProxy(w, plan)
	doomed, survivor := w.Gateway(gatewayOptions{Outside: wire.Forward(w.Address), RedisURL: w.RedisOver(wire)}), w.Gateway()
	r := w.Registered(survivor)
	w.Fault(faults...)
	doomed.Pay(w.Context(), r.ID)
	p := &flows.Payment{ID: flows.NewPaymentID(r.ID, 1)}
	for _, held := range w.HeldAll() {
		p.ProcessorID = held.ID
		w.Confirm(p, goodCard)
	}
	for range 3 { // the rejected, refused and doubtful payments need further steps
		doomed.Advance(w.Context(), p.ID)
		w.Clock.Advance(time.Minute)
	}
	w.Wipe()
	w.Fault()
	w.Clock.Advance(later)
	w.rebuild(survivor)
	if p.ProcessorID == "" {
		if keys := w.records(); len(keys) != 0 {
			w.Errorf("Redis holds %v", keys)
		}
		return wire.Triggered()
	}
	before := w.Held(p)
	end := w.Settle(survivor, p)
	w.ExpectSound(end)
	if before.State == cards.Captured && end.State != flows.Recorded && end.State != flows.InDoubt && end.State != flows.Refunded {
		w.Errorf("the money was taken, and the payment is %s (%s)", end.State, end.Reason)
	}
	w.rebuild(survivor)
	if again := w.Stored(survivor, p.ID); again.Version != end.Version {
		w.Errorf("another rebuild made %s of %s", again.State, end.State)
	}
	return wire.Triggered()
}

// TestHolderAfterWipe: after Redis lost both, the holder of a registration's token
// sees its payment, and no other caller does.
func TestHolderAfterWipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r, token := w.Visited(g)
	other, otherToken := w.Visited(g)
	p := must(t, func() (*flows.Payment, error) {
		return g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
	})
	w.Confirm(p, goodCard)
	w.Advance(g, p)
	w.Wipe()
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
		if _, err := g.Registrations.Get(t.Context(), r.ID, wrong); flows.CodeOf(err) != flows.RegistrationNotFound {
			t.Errorf("a token that is %s gets %v", what, err)
		}
	}
	if n := w.Listed(); n != 0 {
		t.Errorf("wrong tokens made the gateway list the payments %d times", n)
	}
	view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, token) })
	if view.Phase != flows.Completed || view.Payment.ID != p.ID || view.Contact != nil || view.Cart.Total != quarterPassPrice {
		t.Errorf("the holder sees %s, %+v", view.Phase, view.Registration)
	}
	if _, err := g.Registrations.Get(t.Context(), r.ID, otherToken); flows.CodeOf(err) != flows.RegistrationNotFound {
		t.Errorf("another token got %v", err)
	}
	if _, err := g.Registrations.Get(t.Context(), other.ID, otherToken); flows.CodeOf(err) != flows.StorageUnavailable || w.Listed() != 1 {
		t.Errorf("within a minute of a look: %v after %d lists", err, w.Listed())
	}
	w.Clock.Advance(time.Minute)
	if _, err := g.Registrations.Get(t.Context(), other.ID, otherToken); flows.CodeOf(err) != flows.RegistrationNotFound || w.Listed() != 2 {
		t.Errorf("what the processor does not know either: %v after %d lists", err, w.Listed())
	}
	w.Advance(g, p)
	w.ExpectSound(w.Stored(g, p.ID))
}

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
			bringBack(w, other, p, dumps[0])
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
	_, latest, err := other.Store.Registration(w.Context(), p.Registration)
	if err != nil || latest == nil || latest.ID != p.ID || latest.State != flows.Recorded {
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
			slow, other := w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)}), w.Gateway()
			r := w.Registered(other)
			priced := w.Redis.Dump(w.Context(), "fd:{"+r.ID+"}:registration").Val()
			p := must(t, func() (*flows.Payment, error) { return other.Pay(w.Context(), r.ID) })
			w.Confirm(p, goodCard)
			p = w.DoubtAgain(other, p, "drop_after")
			w.Wipe()
			w.Redis.Restore(w.Context(), "fd:{"+r.ID+"}:registration", 0, priced)
			var messages atomic.Int32
			wire.OnMessage = func([]byte) {
				if messages.Add(1) != int32(at) {
					return
				}
				saved, _, err := other.Store.Registration(w.Context(), r.ID)
				if err == nil {
					err = other.Store.SaveRegistration(w.Context(), saved)
				}
				if err != nil {
					t.Errorf("not saved: %v", err)
				}
			}
			w.rebuild(slow)
			reached = messages.Load() >= int32(at)
			stored, latest, err := other.Store.Registration(w.Context(), r.ID)
			if err != nil || !stored.Rebuilt || latest == nil || latest.ID != p.ID {
				t.Errorf("Redis has %+v, %+v, %v", stored, latest, err)
			}
		})
	}
}

// TestLossWithAPricedPayment: Redis lost an earlier payment, and the latest one is not yet at the processor.
func TestLossWithAPricedPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first := w.Abandoned(g)
	w.FailCalls(createCall, 1)
	_, _ = g.Pay(t.Context(), first.Registration) // fails at the processor
	if second := w.Stored(g, flows.NewPaymentID(first.Registration, 2)); second.State != flows.Priced {
		t.Fatalf("%s (%s)", second.State, second.Reason)
	}
	w.Redis.Del(t.Context(), redisKey(first))
	w.rebuild(g)
	if p := w.Stored(g, first.ID); p.State != flows.Cancelled {
		t.Errorf("%s (%s)", p.State, p.Reason)
	}
}

// TestOwedRebuildEndsAComparison: a comparison of many payments that rests makes way when everything must be compared.
func TestOwedRebuildEndsAComparison(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	lost := w.Started(g)
	for range 100 {
		w.Started(g)
	}
	w.Redis.Del(t.Context(), redisKey(lost))
	isLost := func() bool {
		_, err := g.Store.Payment(t.Context(), lost.ID)
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
	g := w.Gateway()
	lost := w.Started(g)
	w.Clock.Advance(time.Second)
	first := w.Abandoned(g)
	w.Clock.Advance(time.Minute)
	second := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), first.Registration) })
	w.Redis.HSet(t.Context(), redisKey(second), "state", "priced")
	w.ForgetKeys("fd:{" + lost.Registration + "}*")
	if err := g.Rebuild(t.Context(), payment.RecentWindow); err != nil || !w.Knows(lost) {
		t.Errorf("known %t, %v", w.Knows(lost), err)
	}
}

// TestLookupsAfterALoss: Redis lost three carts. Each visitor gets 404 after a comparison that began later than their first
// request, and again within a minute without another comparison.
func TestLookupsAfterALoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first, firstToken := w.Visited(g)
	second, secondToken := w.Visited(g)
	third, thirdToken := w.Visited(g)
	w.Wipe()
	expect := func(view flows.View, token string, code flows.Code, lists int) {
		t.Helper()
		if _, err := g.Registrations.Get(t.Context(), view.ID, token); flows.CodeOf(err) != code || w.Listed() != lists {
			t.Errorf("%v after %d lists, not %s after %d", err, w.Listed(), code, lists)
		}
	}
	w.FailCalls(listCall, 1)
	expect(first, firstToken, flows.ProcessorUnavailable, 1)
	expect(first, firstToken, flows.StorageUnavailable, 1)
	w.Clock.Advance(time.Minute)
	expect(first, firstToken, flows.RegistrationNotFound, 2)
	w.Clock.Advance(time.Second)
	expect(second, secondToken, flows.StorageUnavailable, 2)
	expect(first, firstToken, flows.RegistrationNotFound, 2)
	w.Clock.Advance(time.Minute - time.Second)
	expect(first, firstToken, flows.RegistrationNotFound, 3)
	w.Clock.Advance(time.Second)
	expect(second, secondToken, flows.RegistrationNotFound, 3)
	expect(third, thirdToken, flows.StorageUnavailable, 3)
	w.Clock.Advance(time.Hour)
	expect(second, secondToken, flows.RegistrationNotFound, 4)
	expect(third, thirdToken, flows.RegistrationNotFound, 4)
}

// TestLookupFindsALatePayment: Redis loses a payment whose creation is on its way to the processor. Its visitor gets
// 404; a minute later, the payment is found.
func TestLookupFindsALatePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r, token := w.Visited(g)
	get := func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, token) }
	w.InjectFault(createCall, func() {
		w.Wipe()
		if _, err := get(); flows.CodeOf(err) != flows.RegistrationNotFound {
			t.Errorf("before the creation: %v", err)
		}
	}, nil)
	if _, err := g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"}); err == nil {
		t.Error("the buyer was given a payment that Redis had lost")
	}
	w.Clock.Advance(time.Minute)
	if view := must(t, get); view.Payment == nil || view.Payment.ProcessorID != w.HeldAll()[0].ID {
		t.Errorf("after the creation: %+v", view.Payment)
	}
}

// TestLookupAfterASecondLoss: a registration that a rebuild has restored is looked up again if Redis loses it again at once.
func TestLookupAfterASecondLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r, token := w.Visited(g)
	get := func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, token) }
	must(t, func() (*flows.Payment, error) {
		return g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
	})
	w.Wipe()
	must(t, get)
	w.Clock.Advance(time.Second)
	w.Wipe()
	if _, err := get(); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("within a minute: %v", err)
	}
	w.Clock.Advance(time.Minute)
	must(t, get)
}

// TestSlowLookup: the worker's rebuild, which has no time limit, answers visitors whose own rebuild failed.
func TestSlowLookup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	r, token := w.Visited(g)
	w.Wipe()
	w.FailCalls(listCall, 1)
	for _, code := range []flows.Code{flows.ProcessorUnavailable, flows.RegistrationNotFound} {
		if _, err := g.Registrations.Get(t.Context(), r.ID, token); flows.CodeOf(err) != code {
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
	g := w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)})
	first, firstToken := w.Visited(g)
	paid, paidToken := w.Visited(g)
	w.ForgetKeys("fd:{" + first.ID + "}*")
	asked := make(chan error, 1)
	w.InjectFault(listCall, nil, func() { // the list is made, and on its way
		w.Clock.Advance(time.Second)
		_, err := g.PayWith(t.Context(), paid.ID, paidToken, flows.StartPayment{Method: "card"})
		if err != nil {
			t.Error(err)
		}
		w.Wipe()
		lost.Store(true)
		go func() {
			_, err := g.Registrations.Get(t.Context(), paid.ID, paidToken)
			asked <- err
		}()
		<-reading
	})
	if _, err := g.Registrations.Get(t.Context(), first.ID, firstToken); flows.CodeOf(err) != flows.RegistrationNotFound {
		t.Errorf("the visitor before the rebuild: %v", err)
	}
	if err := <-asked; flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("the visitor during the rebuild: %v", err)
	}
}
