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
func (w *world) rebuild(g *gateway) {
	w.Helper()
	if err := g.Rebuild(w.Context(), wholeWindow); err != nil {
		w.Fatal(err)
	}
}

// records returns the keys in Redis, except the record of the latest comparison.
func (w *world) records() []string {
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
			w := newWorld(t)
			g := w.Gateway()
			r, token := w.Visited(g)
			p := must(t, func() (*flows.Payment, error) {
				return g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
			})
			w.Confirm(p, goodCard)
			w.Advance(g, p)
			w.Clock.Advance(test.age)
			w.Wipe()
			_, err := g.Registrations.Get(t.Context(), r.ID, token)
			if lists := w.Listed(); (lists > 0) != test.recall || (err == nil) != test.recall {
				t.Errorf("the gateway listed the payments %d times: %v", lists, err)
			}
			w.rebuild(g)
			if _, err := g.Registrations.Get(t.Context(), r.ID, token); err != nil {
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
		bring func(*world, *flows.Payment)
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
			w := newWorld(t)
			g := w.Gateway()
			r, token := w.Visited(g)
			p := must(t, func() (*flows.Payment, error) {
				return g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
			})
			test.bring(w, p)
			w.Wipe()
			w.rebuild(g)
			view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, token) })
			if view.Phase != test.phase || view.Payment.State != test.state || view.Message == "" {
				t.Errorf("%s with a payment that is %s: %q", view.Phase, view.Payment.State, view.Message)
			}
			if retry := view.PaymentView.Retry; retry == "new" && !view.Payment.Live() {
				t.Errorf("the visitor is asked to pay again, and cannot")
			}
			for what, ask := range map[string]func() error{
				"person": func() error { _, err := g.Registrations.PutPerson(t.Context(), r.ID, token, visitor); return err },
				"item":   func() error { _, err := g.Registrations.AddItem(t.Context(), r.ID, token, badge); return err },
				"clear":  func() error { _, err := g.Registrations.ClearItems(t.Context(), r.ID, token); return err },
			} {
				if code := flows.CodeOf(ask()); code != flows.CartFrozen && code != flows.RegistrationClosed {
					t.Errorf("%s: %s", what, code)
				}
			}
			if _, err := g.Registrations.Check(t.Context(), r.ID, token); err != nil {
				t.Errorf("check: %v", err)
			}
			again, err := g.PayWith(t.Context(), r.ID, token, flows.StartPayment{Method: "card"})
			if live := view.Payment.Live(); live && (err != nil || again.ID != p.ID) || !live && flows.CodeOf(err) != flows.RegistrationClosed {
				t.Errorf("asking for the payment: %+v, %v", again, err)
			}
			g.Registrations.Abandon(t.Context(), r.ID, token)
			if n := len(w.HeldAll()); n != 1 {
				t.Errorf("the processor holds %d payments", n)
			}
			if end := w.Settle(g, p); name != "captured, accepted" { // not captured by the gateway
				w.ExpectSound(end)
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
					w := newWorld(t)
					p, dumps, _ := w.live(faults)
					w.restore(p.Registration, dumps[i])
					w.Redis.Del(t.Context(), "fd:payments:open") // as it was before the payment
					g := w.Gateway()
					w.rebuild(g)
					end := w.Settle(g, p)
					if open := w.open(); !end.State.Final() && len(open) != 1 {
						t.Errorf("%s, and the open payments are %v", end.State, open)
					}
					end.ProcessorID = p.ProcessorID
					w.ExpectSound(end)
				})
			}
			t.Run("before the payment", func(t *testing.T) {
				w := newWorld(t)
				g := w.Gateway()
				r := w.Registered(g)
				old := w.dump(r.ID)
				p := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), r.ID) })
				w.Confirm(p, goodCard)
				w.Fault(faults...)
				w.Settle(g, p)
				w.Fault()
				w.restore(r.ID, old)
				w.rebuild(g)
				view := must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), r.ID, holderToken) })
				if view.Payment == nil || view.Payment.ID != p.ID || view.Contact == nil || view.Phase == flows.Open {
					t.Errorf("the holder sees %s, %+v", view.Phase, view.Registration)
				}
				w.ExpectSound(w.Settle(g, p))
				g.Pay(t.Context(), r.ID)
				if n := len(w.HeldAll()); n != 1 {
					t.Errorf("the processor holds %d payments of one sale", n)
				}
			})
		})
	}
}

// open returns the list of open payments.
func (w *world) open() []string {
	return w.Redis.ZRange(context.Background(), "fd:payments:open", 0, -1).Val()
}

// TestRollbackToAnEarlierPayment: Redis shows the cancelled payment, and the processor has the next one.
func TestRollbackToAnEarlierPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first := w.Abandoned(g)
	old := w.dump(first.Registration)
	second := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), first.Registration) })
	w.Confirm(second, goodCard)
	w.restore(first.Registration, old)
	p, err := g.Registrations.PaymentByID(t.Context(), first.Registration, holderToken, second.ID)
	if err != nil || p.ProcessorID != second.ProcessorID {
		t.Errorf("a payment that is newer than Redis: %+v, %v", p, err)
	}
	end := w.Settle(g, second)
	if end.State != flows.Recorded || w.Stored(g, first.ID).State != flows.Cancelled {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
	w.ExpectSound(end)
}

// TestPayAfterARollback: Redis shows the first payment as it was being cancelled, while the second one is
// paid. A visitor who then presses "pay" is not asked to pay again.
func TestPayAfterARollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	first := w.Started(g)
	w.Put(g, first.ID, flows.Cancelling)
	old := w.dump(first.Registration)
	w.Advance(g, first)
	second := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), first.Registration) })
	w.Confirm(second, goodCard)
	if p := w.Advance(g, second); p.State != flows.Recorded {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	w.restore(first.Registration, old)
	p := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), first.Registration) })
	if view := p.View(); view.Retry != "never" || p.ProcessorID != second.ProcessorID && p.ID != second.ID {
		t.Errorf("the buyer sees %s, retry %s, of %s", view.State, view.Retry, p.ID)
	}
	if held := w.HeldAll(); len(held) != 2 || len(w.Lines(p)) != 1 {
		t.Errorf("the processor holds %+v, the ledger %+v", held, w.Lines(p))
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
				w := newWorld(t)
				g := w.Gateway()
				r := w.Registered(g)
				key := "fd:{" + r.ID + "}:registration"
				old := w.Redis.Dump(t.Context(), key).Val()
				p := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), r.ID) })
				w.Confirm(p, goodCard)
				p = w.DoubtAgain(g, p, "drop_after")
				if gone {
					w.Redis.Del(t.Context(), key)
				} else {
					w.Redis.RestoreReplace(t.Context(), key, 0, old)
				}
				window := 3 * time.Hour
				if whole {
					window = 8 * 24 * time.Hour
				}
				if err := g.Rebuild(t.Context(), window); err != nil {
					t.Fatal(err)
				}
				stored, latest, err := g.Store.Registration(t.Context(), r.ID)
				if err != nil || !stored.Rebuilt || latest == nil || latest.ID != p.ID {
					t.Errorf("Redis has %+v, %+v, %v", stored, latest, err)
				}
				if again, err := g.Pay(t.Context(), r.ID); err == nil && again.ID != p.ID || len(w.HeldAll()) != 1 {
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
			w := newWorld(t)
			g := w.Gateway()
			p := w.Authorised(g)
			w.Clock.Advance(time.Second)
			twin := w.Duplicate(p)
			w.Confirm(twin, goodCard)
			both := []*flows.Payment{p, twin}
			for i, journal := range [][]string{test.first, test.second} {
				w.captureAtProcessor(both[i])
				if journal != nil {
					w.note(both[i], journal...)
				}
			}
			w.Put(g, p.ID, flows.Captured, func(next *flows.Payment) {
				if test.first != nil {
					next.Claim, next.AttemptID = 1, "one"
				}
			})
			if test.wipe {
				w.Wipe()
			}
			for range 3 { // everything settles, and another rebuild changes nothing
				w.rebuild(g)
				w.settleAll(g)
			}
			for i, want := range test.refunded {
				if held := w.Held(both[i]); held.Refunded > 0 != want {
					t.Errorf("payment %d is %s, its journal %v", i+1, held.State, held.Metadata)
				}
			}
			if posted := w.Posted(); posted > 1 || posted == 1 && (test.first != nil || test.second != nil) {
				t.Errorf("%d calls to record it", posted)
			}
			if audit := w.Sim.Audit(); !audit.OK {
				t.Errorf("the audit finds %+v", audit)
			}
		})
	}
}

// settleAll advances every open payment as far as possible.
func (w *world) settleAll(g *gateway) {
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
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	twin := w.Duplicate(p)
	w.Advance(g, p)
	w.rebuild(g)
	w.settleAll(g)
	if held := w.Held(twin); held.State != cards.Cancelled {
		t.Errorf("the second payment is %s", held.State)
	}
	w.ExpectSound(w.Stored(g, p.ID))
}

// TestForeignPayments are ignored: Redis has no record of them afterwards. Those that name this organisation and mode
// are listed for operators.
func TestForeignPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Authorised(g)
	signed := w.Held(p).Metadata
	w.cancelAtProcessor(p)
	w.resetProcessor()
	w.Wipe()
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
		"an older version":        func(m map[string]string) { maps.Copy(m, w.signed("1", uuid.NewString(), 1)) },
		"a newer version":         func(m map[string]string) { maps.Copy(m, w.signed("3", uuid.NewString(), 2)) },
	} {
		metadata := maps.Clone(signed)
		change(metadata)
		must(t, func() (cards.Payment, error) {
			return w.Processor.Create(t.Context(), name, cards.NewPayment{Amount: p.Amount, Currency: p.Currency, Metadata: metadata})
		})
	}
	w.rebuild(g)
	w.rebuild(w.Gateway(gatewayOptions{Keys: newKeyring(t, "two")}))
	if keys := w.records(); !slices.Equal(keys, []string{"fd:unverifiable"}) {
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
			w := newWorld(t)
			g := w.Gateway()
			doubt := w.Doubtful(g, "drop_after")
			settled := w.Authorised(g)
			w.Advance(g, settled)
			w.Clock.Advance(age)
			w.Advance(g, w.Authorised(g)) // a recent one
			w.Wipe()
			w.rebuild(g)
			if p := w.Stored(g, doubt.ID); p.State != flows.InDoubt || !slices.Contains(w.open(), string(p.ID)) {
				t.Errorf("%s (%s)", p.State, p.Reason)
			}
			if _, err := g.Store.Payment(t.Context(), settled.ID); !errors.Is(err, flows.ErrNotFound) {
				t.Errorf("what was settled long ago: %v", err)
			}
			last := must(t, func() (store.Comparison, error) { return g.Store.Comparison(t.Context(), "stripe") })
			if !last.Oldest.Equal(w.Held(doubt).CreatedAt.Truncate(time.Millisecond)) || !last.At.Equal(w.Clock.Now().Truncate(time.Millisecond)) {
				t.Errorf("remembered: %+v", last)
			}
			w.Redis.Del(t.Context(), redisKey(doubt), "fd:payments:open")
			if err := g.Rebuild(t.Context(), payment.Everything); err != nil {
				t.Fatal(err)
			}
			w.ExpectSound(w.Settle(g, w.Stored(g, doubt.ID)))
		})
	}
}
