package payment_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// TestChangingRegistrationDelaysNoOther: a registration that changes at each attempt to rebuild its payment does not keep
// the payments of others from being rebuilt.
func TestChangingRegistrationDelaysNoOther(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	wire := frontdesktest.NewMessageProxy(world, frontdesktest.Fault{})
	slow, other := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)}), world.Gateway()
	innocent := world.Authorised(other)
	registration := world.Registered(other)
	hot := "fd:{" + registration.ID + "}:registration"
	priced := world.Redis.Dump(world.Context(), hot).Val()
	if _, err := other.Pay(world.Context(), registration.ID); err != nil {
		t.Fatal(err)
	}
	world.Wipe()
	world.Redis.Restore(world.Context(), hot, 0, priced)
	saves := 0
	wire.OnMessage = func(message []byte) {
		if !bytes.Contains(message, []byte(hot)) || !bytes.Contains(message, []byte("}:payment:1\r\n")) {
			return
		}
		saved, _, err := other.Store.Registration(world.Context(), registration.ID)
		if err == nil {
			err = other.Store.SaveRegistration(world.Context(), saved)
		}
		if saves++; err != nil {
			t.Errorf("not saved: %v", err)
		}
	}
	err := slow.Rebuild(world.Context(), wholeWindow)
	if !world.Knows(innocent) {
		t.Errorf("after %d saves of another registration, the payment is still missing: %v", saves, err)
	}
}

// TestLoserOfARebuild: two gateways rebuild at once. The one that loses the race for the payment that counts does not make
// a later one count that the winner has not stored yet.
func TestLoserOfARebuild(t *testing.T) {
	t.Parallel()
	for at, reached := 1, true; reached && at < 30; at++ {
		t.Run(fmt.Sprintf("the winner sleeps before message %d", at), func(t *testing.T) {
			world := newWorld(t)
			gateway := world.Gateway()
			first := world.Abandoned(gateway)
			second := must(t, func() (*flows.Payment, error) { return gateway.Pay(world.Context(), first.Registration) })
			if second.Generation != 2 {
				t.Fatalf("%+v", second)
			}
			twin := world.Duplicate(first)
			world.Confirm(twin, goodCard)
			world.captureAtProcessor(twin)
			world.Wipe()
			loserWire, winnerWire := frontdesktest.NewMessageProxy(world, frontdesktest.Fault{}),
				frontdesktest.NewMessageProxy(world, frontdesktest.Fault{})
			loser, winner := world.Gateway(
				gatewayOptions{RedisURL: world.RedisOver(loserWire)},
			), world.Gateway(
				gatewayOptions{RedisURL: world.RedisOver(winnerWire)},
			)
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
					go func() { defer close(winnerDone); world.rebuild(winner) }()
					select {
					case <-sleeps:
					case <-winnerDone:
					}
				})
			}
			func() { defer close(loserDone); world.rebuild(loser) }()
			frontdesktest.Receive(t, winnerDone, "the winner's rebuild ends")
			reached = n.Load() >= int32(at)
			r, latest, err := gateway.Store.Registration(world.Context(), first.Registration)
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
	for name, lose := range map[string]func(*testWorld, *flows.Payment){
		"nothing": func(*testWorld, *flows.Payment) {},
		"the open payment": func(w *testWorld, second *flows.Payment) {
			w.Redis.Del(w.Context(), "fd:{"+second.Registration+"}:payment:2")
		},
		"everything": func(w *testWorld, _ *flows.Payment) { w.Wipe() },
	} {
		t.Run("Redis loses "+name, func(t *testing.T) {
			world := newWorld(t)
			gateway := world.Gateway()
			first := world.Abandoned(gateway)
			second := must(t, func() (*flows.Payment, error) { return gateway.Pay(world.Context(), first.Registration) })
			twin := world.Duplicate(first)
			world.Confirm(twin, goodCard)
			world.captureAtProcessor(twin)
			world.Wipe()
			world.rebuild(gateway)
			lose(world, second)
			for range 2 {
				world.rebuild(gateway)
				r, latest, err := gateway.Store.Registration(world.Context(), first.Registration)
				if err != nil || latest == nil || latest.ProcessorID != twin.ProcessorID {
					t.Fatalf("the registration has %+v, the latest payment is %+v, %v", r, latest, err)
				}
				world.settleAll(gateway)
			}
			p := world.Stored(gateway, first.ID)
			if p.State != flows.Recorded || len(world.Lines(p)) != 1 || world.Held(second).State != cards.Cancelled {
				t.Errorf("%s, %d lines, the other is %s", p.State, len(world.Lines(p)), world.Held(second).State)
			}
		})
	}
}

// TestTwoRebuildsAtOnce: gateways that rebuild at the same time restore the payment once.
func TestTwoRebuildsAtOnce(t *testing.T) {
	t.Parallel()
	for range 4 { // the simulator's journal has room for the calls of a few rebuilds
		w := newWorld(t)
		gateways := []*testGateway{w.Gateway(), w.Gateway(), w.Gateway()}
		for range 5 {
			w.rebuildAtOnce(gateways, false)
		}
		w.rebuildAtOnce(gateways, true)
	}
}

func (w *testWorld) rebuildAtOnce(gateways []*testGateway, twins bool) {
	t := w.T
	t.Helper()
	posted := w.Posted()
	payment := w.Authorised(gateways[0])
	all := []*flows.Payment{payment}
	if twins {
		all = append(all, w.Duplicate(payment))
	}
	w.Wipe()
	var group sync.WaitGroup
	for range 4 {
		for _, g := range gateways {
			group.Go(func() {
				if err := g.Rebuild(t.Context(), wholeWindow); err != nil {
					t.Errorf("rebuild: %v", err)
				}
				g.Advance(t.Context(), payment.ID)
			})
		}
	}
	group.Wait()
	w.rebuild(gateways[0])
	w.settleAll(gateways[0])
	if keys := w.Redis.Keys(t.Context(), "fd:{"+payment.Registration+"}:payment:*").Val(); len(keys) != len(all) {
		t.Errorf("Redis holds %v for %d payments", keys, len(all))
	}
	for _, each := range all {
		if held := w.Held(each); held.State != cards.Captured && held.State != cards.Cancelled {
			t.Errorf("a payment is %s", held.State)
		}
	}
	end := w.Stored(gateways[0], payment.ID)
	if n := strings.Count(w.Journal.String(), `msg="payment rebuilt" payment=`+string(payment.ID)+" "); n != 1 || w.Posted() != posted+1 {
		t.Errorf("rebuilt %d times, and %s after %d calls", n, end.State, w.Posted()-posted)
	}
	w.ExpectSound(end)
}

// TestManyPayments rebuilds a thousand payments, then finds nothing to do.
func TestManyPayments(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	const many = 1000
	var group sync.WaitGroup
	for part := range 8 {
		group.Go(func() {
			for i := part; i < many; i += 8 {
				metadata := world.signed("2", uuid.NewString(), i)
				in := cards.NewPayment{Amount: 100, Currency: "EUR", Metadata: metadata}
				if _, err := world.Processor.Create(t.Context(), fmt.Sprint(i), in); err != nil {
					t.Errorf("create: %v", err)
				}
			}
		})
	}
	group.Wait()
	world.rebuild(gateway)
	if n := len(world.open()); n != many {
		t.Errorf("%d of %d are open", n, many)
	}
	logged := strings.Count(world.Journal.String(), "payment rebuilt")
	world.rebuild(gateway)
	if again := strings.Count(world.Journal.String(), "payment rebuilt"); logged != many || again != logged {
		t.Errorf("%d rebuilt, and then %d", logged, again-logged)
	}
}

// signed is a payment's metadata as a gateway of some version signs it.
func (w *testWorld) signed(version, registration string, sale int) map[string]string {
	metadata := map[string]string{
		"fd_version": version, "fd_environment": "test", "fd_registration": registration, "fd_sale": "/demo/sales/" + strconv.Itoa(sale+1000),
		"fd_amount": "100", "fd_currency": "EUR", "fd_club": "/demo/clubs/11", "fd_generation": "1",
		"fd_node": "/demo/network_nodes/3", "fd_sale_state": "building", "fd_cart": strings.Repeat("0", 64),
	}
	text := ""
	for _, key := range []string{
		"fd_version", "fd_environment", "fd_registration", "fd_sale", "fd_amount", "fd_currency",
		"fd_club", "fd_generation", "fd_node", "fd_sale_state", "fd_cart",
	} {
		text += key + "=" + metadata[key] + "\n"
	}
	metadata["fd_mac"] = hex.EncodeToString(newKeyring(w, "one").Sign([]byte(text)))
	return metadata
}
