package payment_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
)

// wholeWindow is how far back a starting gateway looks.
const wholeWindow = 8 * 24 * time.Hour

// rebuild lets a gateway compare Redis with everything that the processor holds.
func (w *testWorld) rebuild(g *testGateway) {
	w.Helper()
	if err := g.Rebuild(w.Context(), wholeWindow); err != nil {
		w.Fatal(err)
	}
}

// records returns the keys in Redis, except the record of the latest comparison.
func (w *testWorld) records() []string {
	w.Helper()
	keys := must(w, w.Redis.Keys(w.Context(), "fd:*").Result)
	return slices.DeleteFunc(keys, func(key string) bool { return key == "fd:comparison:stripe" || key == "fd:fingerprint" })
}

// TestOldToken: a token causes a read of the processor's list only as long as Redis would have kept the
// registration. At any age it opens what Redis holds.
func TestOldToken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		age    time.Duration
		recall bool
	}{
		"young": {43 * time.Hour, true},
		"old":   {45 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			view, token := world.Visited(gateway)
			p := must(t, func() (*flows.Payment, error) {
				return gateway.PayWith(t.Context(), view.ID, token, flows.StartPayment{Method: "card"})
			})
			world.Confirm(p, goodCard)
			world.Advance(gateway, p)
			world.Clock.Advance(test.age)
			world.Wipe()
			_, err := gateway.Registrations.Get(t.Context(), view.ID, token)
			if lists := world.Listed(); (lists > 0) != test.recall || (err == nil) != test.recall {
				t.Errorf("the gateway listed the payments %d times: %v", lists, err)
			}
			world.rebuild(gateway)
			if _, err := gateway.Registrations.Get(t.Context(), view.ID, token); err != nil {
				t.Errorf("what Redis holds: %v", err)
			}
		})
	}
}

// TestRebuiltRegistration sends every request that a holder can make to a rebuilt registration. None fails,
// and the registration is never paid a second time.
func TestRebuiltRegistration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bring func(*testWorld, *flows.Payment)
		phase flows.RegistrationState
		state flows.PaymentState
	}{
		"waiting":                      {atProcessor["waiting"], flows.Paying, flows.Intent},
		"declined":                     {atProcessor["declined"], flows.Paying, flows.Intent},
		"cancelled":                    {atProcessor["cancelled"], flows.Expired, flows.Cancelled},
		"captured":                     {atProcessor["captured"], flows.Paying, flows.Captured},
		"captured, claimed by another": {atProcessor["captured, claimed by another"], flows.Attention, flows.InDoubt},
		"captured, accepted":           {atProcessor["captured, accepted"], flows.Completed, flows.Recorded},
		"refunded":                     {atProcessor["refunded"], flows.Expired, flows.Refunded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			registration, token := world.Visited(gateway)
			payment := must(t, func() (*flows.Payment, error) {
				return gateway.PayWith(t.Context(), registration.ID, token, flows.StartPayment{Method: "card"})
			})
			test.bring(world, payment)
			world.Wipe()
			world.rebuild(gateway)
			view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), registration.ID, token) })
			if view.Phase != test.phase || view.Payment.State != test.state || view.Message == "" {
				t.Errorf("%s with a payment that is %s: %q", view.Phase, view.Payment.State, view.Message)
			}
			if retry := view.PaymentView.Retry; retry == "new" && !view.Payment.Live() {
				t.Errorf("the visitor is asked to pay again, and cannot")
			}
			for what, ask := range map[string]func() error{
				"person": func() error {
					_, err := gateway.Registrations.PutPerson(t.Context(), registration.ID, token, visitor)
					return err
				},
				"item": func() error {
					_, err := gateway.Registrations.AddItem(t.Context(), registration.ID, token, badge)
					return err
				},
				"clear": func() error {
					_, err := gateway.Registrations.ClearItems(t.Context(), registration.ID, token)
					return err
				},
			} {
				if code := flows.CodeOf(ask()); code != flows.CartFrozen && code != flows.RegistrationClosed {
					t.Errorf("%s: %s", what, code)
				}
			}
			if _, err := gateway.Registrations.Check(t.Context(), registration.ID, token); err != nil {
				t.Errorf("check: %v", err)
			}
			again, err := gateway.PayWith(t.Context(), registration.ID, token, flows.StartPayment{Method: "card"})
			live := view.Payment.Live()
			if live && (err != nil || again.ID != payment.ID) || !live && flows.CodeOf(err) != flows.RegistrationClosed {
				t.Errorf("asking for the payment: %+v, %v", again, err)
			}
			gateway.Registrations.Abandon(t.Context(), registration.ID, token)
			if n := len(world.HeldAll()); n != 1 {
				t.Errorf("the processor holds %d payments", n)
			}
			if end := world.Settle(gateway, payment); name != "captured, accepted" { // not captured by the gateway
				world.ExpectSound(end)
			}
		})
	}
}

// TestRollback returns Redis to each step of a payment, and to the moments before it, then rebuilds. The
// visitor presses the pay button again.
func TestRollback(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, state := range newWorld(t).statesOf(faults) {
				t.Run(fmt.Sprintf("%d %s", i, state), func(t *testing.T) {
					world := newWorld(t)
					payment, dumps, _ := world.live(faults)
					world.restore(payment.Registration, dumps[i])
					world.Redis.Del(t.Context(), "fd:payments:open") // as it was before the payment
					g := world.Gateway()
					world.rebuild(g)
					end := world.Settle(g, payment)
					if open := world.open(); !end.State.Final() && len(open) != 1 {
						t.Errorf("%s, and the open payments are %v", end.State, open)
					}
					end.ProcessorID = payment.ProcessorID
					world.ExpectSound(end)
				})
			}
			t.Run("before the payment", func(t *testing.T) {
				world := newWorld(t)
				gateway := world.Gateway()
				registration := world.Registered(gateway)
				old := world.dump(registration.ID)
				payment := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
				world.Confirm(payment, goodCard)
				world.Fault(faults...)
				world.Settle(gateway, payment)
				world.Fault()
				world.restore(registration.ID, old)
				world.rebuild(gateway)
				view := must(t, func() (flows.View, error) {
					return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
				})
				if view.Payment == nil || view.Payment.ID != payment.ID || view.Contact == nil || view.Phase == flows.Open {
					t.Errorf("the holder sees %s, %+v", view.Phase, view.Registration)
				}
				world.ExpectSound(world.Settle(gateway, payment))
				gateway.Pay(t.Context(), registration.ID)
				if n := len(world.HeldAll()); n != 1 {
					t.Errorf("the processor holds %d payments of one sale", n)
				}
			})
		})
	}
}

// open returns the list of open payments.
func (w *testWorld) open() []string {
	return w.Redis.ZRange(context.Background(), "fd:payments:open", 0, -1).Val()
}

// TestRollbackToAnEarlierPayment: Redis shows the cancelled payment, and the processor has the next one.
func TestRollbackToAnEarlierPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first := world.Abandoned(gateway)
	old := world.dump(first.Registration)
	second := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), first.Registration) })
	world.Confirm(second, goodCard)
	world.restore(first.Registration, old)
	p, err := gateway.Registrations.PaymentByID(t.Context(), first.Registration, holderToken, second.ID)
	if err != nil || p.ProcessorID != second.ProcessorID {
		t.Errorf("a payment that is newer than Redis: %+v, %v", p, err)
	}
	end := world.Settle(gateway, second)
	if end.State != flows.Recorded || world.Stored(gateway, first.ID).State != flows.Cancelled {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
	world.ExpectSound(end)
}

// TestLostWithoutAProcessor: Redis has lost a payment of which no processor knows. A repetition of its request is told to read the
// registration.
func TestLostWithoutAProcessor(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	old := world.dump(registration.ID)
	due := world.Clock.Now().AddDate(0, 0, 30).Format(time.DateOnly)
	payment := must(t, func() (*flows.Payment, error) {
		return gateway.PayWith(t.Context(), registration.ID, holderToken, flows.StartPayment{Method: flows.Deferred, DueDate: due})
	})
	world.restore(registration.ID, old)
	_, err := gateway.Registrations.PaymentByID(t.Context(), registration.ID, holderToken, payment.ID)
	if flows.CodeOf(err) != flows.Conflict {
		t.Errorf("the repetition gets %v", err)
	}
}

// TestPayAfterARollback: Redis shows the first payment as it was being cancelled, while the second one is
// paid. A visitor who then presses "pay" is not asked to pay again.
func TestPayAfterARollback(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	first := world.Started(gateway)
	world.Put(gateway, first.ID, flows.Cancelling)
	old := world.dump(first.Registration)
	world.Advance(gateway, first)
	second := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), first.Registration) })
	world.Confirm(second, goodCard)
	if p := world.Advance(gateway, second); p.State != flows.Recorded {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	world.restore(first.Registration, old)
	p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), first.Registration) })
	if view := p.View(); view.Retry != "never" || p.ProcessorID != second.ProcessorID && p.ID != second.ID {
		t.Errorf("the buyer sees %s, retry %s, of %s", view.State, view.Retry, p.ID)
	}
	if held := world.HeldAll(); len(held) != 2 || len(world.Lines(p)) != 1 {
		t.Errorf("the processor holds %+v, the ledger %+v", held, world.Lines(p))
	}
}

// TestRegistrationBehindItsPayment: Redis has the payment, but an earlier state of the registration or none,
// as a failover between two writes may leave it.
func TestRegistrationBehindItsPayment(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]bool{"of the last eight days": true, "of the last hours": false} {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gone: %t", name, gone), func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				gateway := world.Gateway()
				registration := world.Registered(gateway)
				key := "fd:{" + registration.ID + "}:registration"
				old := world.Redis.Dump(t.Context(), key).Val()
				payment := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
				world.Confirm(payment, goodCard)
				payment = world.DoubtAgain(gateway, payment, "drop_after")
				if gone {
					world.Redis.Del(t.Context(), key)
				} else {
					world.Redis.RestoreReplace(t.Context(), key, 0, old)
				}
				window := 3 * time.Hour
				if whole {
					window = 8 * 24 * time.Hour
				}
				if err := gateway.Rebuild(t.Context(), window); err != nil {
					t.Fatal(err)
				}
				stored, latest, err := gateway.Store.Registration(t.Context(), registration.ID)
				if err != nil || !stored.Rebuilt || latest == nil || latest.ID != payment.ID {
					t.Errorf("Redis has %+v, %+v, %v", stored, latest, err)
				}
				if again, err := gateway.Pay(t.Context(), registration.ID); err == nil && again.ID != payment.ID || len(world.HeldAll()) != 1 {
					t.Errorf("paid again: %+v, %v", again, err)
				}
			})
		}
	}
}

// TestDuplicates: the processor holds two payments of one sale, as can happen after it has forgotten a key.
// One of them counts, the other is refunded, and a payment that may have been recorded is never refunded.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	claimed, accepted := []string{"fd_post_1", "one"}, []string{"fd_post_1", "one", "fd_done_1", "one"}
	released := []string{"fd_post_1", "one", "fd_release_1", "one"}
	for name, test := range map[string]struct {
		first, second []string // their journals
		wipe          bool     // Redis knows neither; otherwise it knows the first
		refunded      [2]bool
	}{
		"neither was claimed":                      {nil, nil, true, [2]bool{false, true}},
		"neither was claimed, and Redis knows one": {nil, nil, false, [2]bool{false, true}},
		"the first was recorded":                   {accepted, nil, true, [2]bool{false, true}},
		"the second was recorded":                  {nil, accepted, true, [2]bool{true, false}},
		"the one that Redis does not know was":     {nil, accepted, false, [2]bool{true, false}},
		"the first is in doubt":                    {claimed, released, true, [2]bool{false, true}},
		"the second is in doubt":                   {released, claimed, false, [2]bool{true, false}},
		"both are in doubt":                        {claimed, claimed, true, [2]bool{false, false}},
		"both were recorded":                       {accepted, accepted, false, [2]bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.Clock.Advance(time.Second)
			twin := world.Duplicate(payment)
			world.Confirm(twin, goodCard)
			both := []*flows.Payment{payment, twin}
			for i, journal := range [][]string{test.first, test.second} {
				world.captureAtProcessor(both[i])
				if journal != nil {
					world.note(both[i], journal...)
				}
			}
			world.Put(gateway, payment.ID, flows.Captured, func(next *flows.Payment) {
				if test.first != nil {
					next.Claim, next.AttemptID = 1, "one"
				}
			})
			if test.wipe {
				world.Wipe()
			}
			for range 3 { // everything settles, and another rebuild changes nothing
				world.rebuild(gateway)
				world.settleAll(gateway)
			}
			for i, want := range test.refunded {
				if held := world.Held(both[i]); held.Refunded > 0 != want {
					t.Errorf("payment %d is %s, its journal %v", i+1, held.State, held.Metadata)
				}
			}
			if posted := world.Posted(); posted > 1 || posted == 1 && (test.first != nil || test.second != nil) {
				t.Errorf("%d calls to record it", posted)
			}
			if audit := world.Sim.Audit(); !audit.OK {
				t.Errorf("the audit finds %+v", audit)
			}
		})
	}
}

// settleAll advances every open payment as far as possible.
func (w *testWorld) settleAll(g *testGateway) {
	w.Helper()
	for range 8 {
		for _, id := range w.open() {
			w.Advance(g, &flows.Payment{ID: flows.PaymentID(id)})
		}
		w.Clock.Advance(90 * time.Second)
	}
}

// TestDuplicateOfALivePayment: once one payment is captured, a second one that still waits for the buyer is
// cancelled, so that it cannot be paid.
func TestDuplicateOfALivePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	twin := world.Duplicate(payment)
	world.Advance(gateway, payment)
	world.rebuild(gateway)
	world.settleAll(gateway)
	if held := world.Held(twin); held.State != cards.Cancelled {
		t.Errorf("the second payment is %s", held.State)
	}
	world.ExpectSound(world.Stored(gateway, payment.ID))
}

// TestForeignPayments are ignored: Redis has no record of them afterwards. Those that name this organisation and mode
// are listed for operators.
func TestForeignPayments(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	signed := world.Held(payment).Metadata
	world.cancelAtProcessor(payment)
	world.resetProcessor()
	world.Wipe()
	for name, change := range map[string]func(map[string]string){
		"no metadata":             func(m map[string]string) { clear(m) },
		"no signature":            func(m map[string]string) { delete(m, "fd_mac") },
		"another signature":       func(m map[string]string) { m["fd_mac"] = strings.Repeat("0", 64) },
		"another registration":    func(m map[string]string) { m["fd_registration"] = uuid.NewString() },
		"another generation":      func(m map[string]string) { m["fd_generation"] = "2" },
		"another amount":          func(m map[string]string) { m["fd_amount"] = "1" },
		"another cart":            func(m map[string]string) { m["fd_cart"] = strings.Repeat("0", 64) },
		"another state of a sale": func(m map[string]string) { m["fd_sale_state"] = "settled" },
		"another environment":     func(m map[string]string) { m["fd_environment"] = "live" },
		"an older version":        func(m map[string]string) { maps.Copy(m, world.signed("1", uuid.NewString(), 1)) },
		"a newer version":         func(m map[string]string) { maps.Copy(m, world.signed("3", uuid.NewString(), 2)) },
	} {
		metadata := maps.Clone(signed)
		change(metadata)
		must(t, func() (cards.Payment, error) {
			return world.Processor.Create(t.Context(), name,
				cards.NewPayment{Amount: payment.Amount, Currency: payment.Currency, Metadata: metadata})
		})
	}
	world.rebuild(gateway)
	world.rebuild(world.Gateway(gatewayOptions{Keys: newKeyring(t, "two")}))
	if keys := world.records(); !slices.Equal(keys, []string{"fd:unverifiable"}) {
		t.Errorf("Redis holds %v", keys)
	}
}

// TestOldDoubt: a doubt older than the window of the hourly comparison is rebuilt, whether Redis lost
// everything or only this payment. Payments that were settled long ago are not.
func TestOldDoubt(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{9 * 24 * time.Hour, 400 * 24 * time.Hour} {
		t.Run(fmt.Sprint(age), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			doubt := world.Doubtful(gateway, "drop_after")
			settled := world.Authorised(gateway)
			world.Advance(gateway, settled)
			world.Clock.Advance(age)
			world.Advance(gateway, world.Authorised(gateway)) // a recent one
			world.Wipe()
			world.rebuild(gateway)
			if p := world.Stored(gateway, doubt.ID); p.State != flows.InDoubt || !slices.Contains(world.open(), string(p.ID)) {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			if _, err := gateway.Store.Payment(t.Context(), settled.ID); !errors.Is(err, flows.ErrNotFound) {
				t.Errorf("what was settled long ago: %v", err)
			}
			last := must(t, func() (store.Comparison, error) { return gateway.Store.Comparison(t.Context(), "stripe") })
			if !last.Oldest.Equal(world.Held(doubt).CreatedAt.Truncate(time.Millisecond)) ||
				!last.At.Equal(world.Clock.Now().Truncate(time.Millisecond)) {
				t.Errorf("remembered: %+v", last)
			}
			world.Redis.Del(t.Context(), redisKey(doubt), "fd:payments:open")
			if err := gateway.Rebuild(t.Context(), payment.Everything); err != nil {
				t.Fatal(err)
			}
			world.ExpectSound(world.Settle(gateway, world.Stored(gateway, doubt.ID)))
		})
	}
}
