package payment_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/clubsim"
)

// dump is what Redis held of a registration at some moment.
type dump map[string]string

func (w *testWorld) dump(registration string) dump {
	ctx := context.Background() // handlers and loggers call this too, not only the test
	held := dump{}
	for _, key := range must(w, func() ([]string, error) { return w.Redis.Keys(ctx, "fd:{"+registration+"}:*").Result() }) {
		held[key] = must(w, w.Redis.Dump(ctx, key).Result)
	}
	return held
}

// restore makes Redis forget everything since the dump, as a failover or an old backup would.
func (w *testWorld) restore(registration string, old dump) {
	w.Helper()
	ctx := w.Context()
	for key := range w.dump(registration) {
		w.Redis.Del(ctx, key)
	}
	for key, value := range old {
		if err := w.Redis.RestoreReplace(ctx, key, 0, value).Err(); err != nil {
			w.Fatal(err)
		}
	}
}

// outcomes are the ways in which the recording can end before Redis forgets it.
var outcomes = map[string][]clubsim.Fault{
	"accepted":          nil,
	"answer lost":       {{Match: recording, Kind: "drop_after", Times: new(1)}},
	"not applied, 503":  {{Match: recording, Kind: "error_before", Status: 503, Times: new(1)}},
	"refused at first":  {{Match: recording, Kind: "error_before", Status: 401, Times: new(2)}},
	"rejected":          {{Match: recording, Kind: "error_before", Status: 422, Times: new(1)}},
	"rejected, applied": {{Match: recording, Kind: "error_after", Status: 400, Times: new(1)}},
}

// TestRedisForgets lets a payment advance, then restores each of its earlier states in Redis: at once, and
// after the processor has also forgotten its idempotency keys.
func TestRedisForgets(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		for _, later := range []time.Duration{0, 25 * time.Hour} {
			t.Run(fmt.Sprintf("%s, %s later", name, later), func(t *testing.T) {
				t.Parallel()
				states := newWorld(t).statesOf(faults)
				for i, state := range states {
					t.Run(fmt.Sprintf("%d %s", i, state), func(t *testing.T) { newWorld(t).forget(faults, i, later) })
				}
			})
		}
	}
}

// live runs a payment to its end under faults, and returns what Redis held after each step.
func (w *testWorld) live(faults []clubsim.Fault) (payment *flows.Payment, dumps []dump, states []flows.PaymentState) {
	w.Helper()
	gateway := w.Gateway()
	keep := func(registration string, state flows.PaymentState) {
		dumps, states = append(dumps, w.dump(registration)), append(states, state)
	}
	w.Journal.Listen(func(id flows.PaymentID, m move) {
		registration, _ := id.Split()
		keep(registration, m.To)
	})
	r := w.Registered(gateway)
	w.InjectFault(createCall, func() { keep(r.ID, flows.Priced) }, nil)
	payment = must(w, func() (*flows.Payment, error) { return gateway.Pay(w.Context(), r.ID) })
	w.Confirm(payment, goodCard)
	w.Fault(faults...)
	w.Settle(gateway, payment)
	w.Journal.Listen(nil)
	w.Fault()
	return payment, dumps, states
}

func (w *testWorld) statesOf(faults []clubsim.Fault) []flows.PaymentState {
	_, _, states := w.live(faults)
	return states
}

// forget runs a payment, restores Redis to its state after a step, and continues with another gateway.
func (w *testWorld) forget(faults []clubsim.Fault, step int, later time.Duration) {
	payment, dumps, _ := w.live(faults)
	before := w.Held(payment)
	w.Clock.Advance(later)
	w.restore(payment.Registration, dumps[step])
	end := w.Settle(w.Gateway(), payment)
	end.ProcessorID = payment.ProcessorID // even if Redis has forgotten it
	w.ExpectSound(end)
	if after := w.Held(payment); before.State == cards.Refunded && after.State != cards.Refunded {
		w.Errorf("the processor went from %s to %s", before.State, after.State)
	}
	if n := len(w.HeldAll()); n != 1 {
		w.Errorf("the processor holds %d payments of one sale", n)
	}
	if len(w.Lines(payment)) == 1 && w.Held(payment).Refunded > 0 {
		w.Error("the money went back for a payment that is recorded")
	}
}

// TestForgottenRegistration restores the registration to before its payment: a visitor paying again gets the
// same payment.
func TestForgottenRegistration(t *testing.T) {
	t.Parallel()
	for name, faults := range outcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			registration := world.Registered(gateway)
			old := world.dump(registration.ID)
			first := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
			world.Confirm(first, goodCard)
			world.Fault(faults...)
			ended := world.Settle(gateway, first)
			world.Fault()
			world.restore(registration.ID, old)
			second, err := world.Gateway().Pay(t.Context(), registration.ID)
			if err != nil {
				t.Fatal(err)
			}
			if second.ProcessorID != first.ProcessorID {
				t.Errorf("payment %s besides %s", second.ProcessorID, first.ProcessorID)
			}
			end := world.Settle(world.Gateway(), second)
			world.ExpectSound(end)
			if ended.State == flows.Recorded && end.State != flows.Recorded {
				t.Errorf("%s (%s) after it had been recorded", end.State, end.Reason)
			}
		})
	}
}

// TestTwoHistoriesClaim: Redis loses data while a gateway is claiming. A second gateway reads no claim, cannot
// confirm its own, and releases a claim that it never held. That must not count as a release of the first
// gateway's claim.
func TestTwoHistoriesClaim(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults []clubsim.Fault
		// meanwhile runs in Redis before the first gateway continues.
		meanwhile func(w *testWorld, second *testGateway, p *flows.Payment, sending dump)
		end       flows.PaymentState
		posts     int
	}{
		"the second one tries again": {nil, func(w *testWorld, second *testGateway, p *flows.Payment, _ dump) {
			w.Clock.Advance(8 * time.Second) // the first one may still send
			w.Put(second, p.ID, flows.Captured, func(next *flows.Payment) { next.NotBefore = time.Time{} })
			w.Advance(second, p)
		}, flows.Recorded, 1},
		"the first one is refused, and its history is back": {
			[]clubsim.Fault{{Match: recording, Kind: "error_before", Status: 401, Times: new(2)}},
			func(w *testWorld, _ *testGateway, p *flows.Payment, sending dump) { w.restore(p.Registration, sending) },
			flows.InDoubt, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			first, second := world.Gateway(), world.Gateway()
			var captured dump
			world.Journal.Listen(func(id flows.PaymentID, m move) {
				if m.To == flows.Captured && captured == nil {
					registration, _ := id.Split()
					captured = world.dump(registration)
				}
			})
			payment := world.Authorised(first)
			world.Fault(test.faults...)
			world.InjectFault(metadataCall, func() {
				sending, claim := world.dump(payment.Registration), world.Stored(first, payment.ID)
				world.restore(payment.Registration, captured)
				arrives := func() { world.claim(claim) }
				world.Inject(callFault{Call: metadataCall, Before: arrives, Fail: 3})
				world.Advance(second, payment)
				test.meanwhile(world, second, payment, sending)
			}, nil)
			world.Advance(first, payment)
			if journal := world.Held(payment).Metadata; journal["fd_release_1"] == "" || journal["fd_release_1"] == journal["fd_post_1"] {
				t.Fatalf("the second gateway did not release another's claim: %v", journal)
			}
			end := world.Settle(world.Gateway(), payment)
			world.ExpectSound(end)
			if end.State != test.end || world.Posted() != test.posts {
				t.Errorf("%s (%s) after %d calls", end.State, end.Reason, world.Posted())
			}
		})
	}
}

// TestCaptureOfADayAgo: a gateway falls asleep after receiving the capture's response. Meanwhile another
// gateway records the payment, Redis forgets that, and the processor forgets the key of the claim. Only the
// processor's journal stops the first gateway from recording again.
func TestCaptureOfADayAgo(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	sleeper, other := world.Gateway(), world.Gateway()
	payment := world.Authorised(sleeper)
	world.InjectFault(captureCall, nil, func() {
		capturing := world.dump(payment.Registration)
		world.InjectFault(metadataCall, nil, func() { world.FailCalls(metadataCall, 1) }) // the acceptance is not journalled
		if p := world.Advance(other, payment); p.State != flows.Recorded {
			t.Errorf("the other gateway left it %s (%s)", p.State, p.Reason)
		}
		world.restore(payment.Registration, capturing)
		world.Clock.Advance(25 * time.Hour)
	})
	end := world.Advance(sleeper, payment)
	if end.State != flows.InDoubt || world.Posted() != 1 {
		t.Errorf("%s (%s) after %d calls", end.State, end.Reason, world.Posted())
	}
	world.ExpectSound(end)
}

// claim makes a gateway's claim arrive at the processor.
func (w *testWorld) claim(p *flows.Payment) {
	w.Helper()
	key, entry := fmt.Sprintf("claim:%s:%d", p.ProcessorID, p.Claim), map[string]string{fmt.Sprintf("fd_post_%d", p.Claim): p.AttemptID}
	must(w, func() (cards.Payment, error) {
		return w.Processor.UpdateMetadata(w.Context(), key, p.ProcessorID, entry)
	})
}

// TestCapturedInAnotherHistory: captured money is recorded, and not abandoned because the club system is
// briefly silent.
func TestCapturedInAnotherHistory(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]flows.PaymentState{"intent": flows.Intent, "authorised": flows.Authorised} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.captureAtProcessor(payment)
			world.Put(gateway, payment.ID, state)
			world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before"})
			world.Advance(gateway, payment)
			world.Fault()
			if end := world.Settle(gateway, payment); end.State != flows.Recorded {
				t.Errorf("%s (%s)", end.State, end.Reason)
			}
		})
	}
}

// TestGatewaysThatDiffer: during a release, gateways differ in their address and in their current key.
// Whichever calls the processor sends the same request.
func TestGatewaysThatDiffer(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	old := world.Gateway(gatewayOptions{Cards: cards.Config{WebhookURL: "https://old.club.example/v1/webhooks/card"}})
	payment := world.Started(old)
	world.Put(old, payment.ID, flows.Priced, func(next *flows.Payment) { next.ProcessorID = "" })
	released := world.Gateway(
		gatewayOptions{Cards: cards.Config{WebhookURL: "https://club.example/v1/webhooks/card"}, Keys: newKeyring(t, "two", "one")},
	)
	again := world.Advance(released, payment)
	if again.State != flows.Intent || again.ProcessorID != payment.ProcessorID {
		t.Fatalf("%s (%s) with payment %s besides %s", again.State, again.Reason, again.ProcessorID, payment.ProcessorID)
	}
	world.Confirm(payment, goodCard)
	if end := world.Advance(released, payment); end.State != flows.Recorded {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
}

// TestRefundUnderWay: Redis falls back to before the recording while a refund is in progress. The gateway that
// continues finds the refund's claim and records nothing.
func TestRefundUnderWay(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway, other := world.Gateway(), world.Gateway()
	payment := world.Authorised(gateway)
	var before dump
	world.Journal.Listen(func(_ flows.PaymentID, m move) {
		if m.To == flows.Captured && before == nil {
			before = world.dump(payment.Registration)
		}
	})
	world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)})
	world.InjectFault(refundCall, func() {
		world.restore(payment.Registration, before)
		world.FailCalls(getCall, 1)
		world.Advance(other, payment)
		world.Clock.Advance(time.Minute)
		world.Advance(other, payment)
	}, nil)
	world.Advance(gateway, payment)
	if held := world.Held(payment); held.Refunded != quarterPassPrice || len(world.Lines(payment)) != 0 {
		t.Errorf("refunded %d, and the ledger holds %+v", held.Refunded, world.Lines(payment))
	}
}

// TestAcceptanceJournaledLate: the gateway that recorded a payment dies before it writes that to the journal.
// The next comparison writes it, so that the payment is not in doubt once Redis has forgotten it.
func TestAcceptanceJournaledLate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	paid := world.Authorised(gateway)
	world.InjectFault("POST /sim/demo/sales/*/payments", nil, func() { world.FailCalls(metadataCall, 1) })
	if paid = world.Advance(gateway, paid); paid.State != flows.Recorded || world.Held(paid).Metadata["fd_done_1"] != "" {
		t.Fatalf("%s (%s), and the journal holds %v", paid.State, paid.Reason, world.Held(paid).Metadata)
	}
	world.rebuild(gateway)
	world.Clock.Advance(31 * 24 * time.Hour) // a final record is kept for 30 days
	world.Wipe()
	world.rebuild(gateway)
	if now, err := gateway.Store.Payment(t.Context(), paid.ID); err == nil && now.State != flows.Recorded {
		t.Errorf("it came back as %s (%s)", now.State, now.Reason)
	}
	listed := must(t, func() (payment.Page, error) { return gateway.List(t.Context(), payment.ListOptions{}) })
	if len(listed.Items) != 0 {
		t.Errorf("operators are shown %+v", listed.Items)
	}
}

// TestCreatedBefore: Redis fell back, and the processor refuses to create the payment again with other
// parameters. The payment that it already holds continues as agreed.
func TestCreatedBefore(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	registration := world.Registered(g)
	before := world.dump(registration.ID)
	first := must(t, func() (*flows.Payment, error) { return g.Pay(t.Context(), registration.ID) })
	world.restore(registration.ID, before)
	world.Clock.Advance(time.Hour)
	another := world.Gateway(gatewayOptions{Keys: newKeyring(t, "two", "one")}) // its signature is another
	p := must(t, func() (*flows.Payment, error) { return another.Pay(t.Context(), registration.ID) })
	if p.State != flows.Intent || p.ProcessorID != first.ProcessorID || p.ClientSecret != first.ClientSecret {
		t.Fatalf("%s (%s), %s at the processor and not %s", p.State, p.Reason, p.ProcessorID, first.ProcessorID)
	}
	world.Confirm(p, goodCard)
	world.ExpectSound(world.Advance(another, p))
}

// TestTooOldToBeCreated: the processor is down for hours. If the payment was created after all, it continues;
// otherwise it ends, so that the buyer can try again.
func TestTooOldToBeCreated(t *testing.T) {
	t.Parallel()
	for created, want := range map[bool]flows.PaymentState{true: flows.Intent, false: flows.Cancelled} {
		world := newWorld(t)
		gateway := world.Gateway()
		registration := world.Registered(gateway)
		if created {
			var abort func()
			abort = func() { // also the repetition by the client of net/http, which knows the connection
				world.InjectFault(createCall, nil, abort)
				panic(http.ErrAbortHandler)
			}
			world.InjectFault(createCall, nil, abort)
		} else {
			world.FailCalls(createCall, 9)
		}
		if _, err := gateway.Pay(t.Context(), registration.ID); err == nil {
			t.Fatal("the processor answered")
		}
		payment := world.Stored(gateway, flows.NewPaymentID(registration.ID, 1))
		if payment.State != flows.Priced || payment.Schema != flows.PaymentSchema {
			t.Fatalf("%s (%s) of layout %d", payment.State, payment.Reason, payment.Schema)
		}
		world.Clock.Advance(3*time.Hour + time.Minute)
		if payment = world.Advance(gateway, payment); !payment.HasBeen(want) || payment.State == flows.Blocked {
			t.Errorf("created: %t; %s (%s)", created, payment.State, payment.Reason)
		}
	}
}

// TestBlockedIsListed: after Redis fell back and the sale changed, the processor refuses the payment that
// reuses an earlier one's number. If the lists lose that payment too, the comparison with the processor lists
// it again.
func TestBlockedIsListed(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	registration := world.Registered(g)
	before := world.dump(registration.ID)
	if _, err := g.Pay(t.Context(), registration.ID); err != nil {
		t.Fatal(err)
	}
	world.restore(registration.ID, before)
	world.addArticle(&flows.Payment{Sale: registration.Sale})
	another := world.Gateway()
	if _, err := another.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.CartChanged {
		t.Fatal(err)
	}
	paid := must(t, func() (*flows.Payment, error) { return another.Pay(t.Context(), registration.ID) })
	if paid.State != flows.Blocked {
		t.Fatalf("%s (%s)", paid.State, paid.Reason)
	}
	world.Redis.Del(t.Context(), "fd:payments:open", "fd:{fd:payments:open}:states") // as when the earlier payment ends late
	world.rebuild(another)
	listed := must(t, func() (payment.Page, error) { return another.List(t.Context(), payment.ListOptions{}) })
	if !slices.ContainsFunc(listed.Items, func(s payment.Summary) bool { return s.ID == paid.ID }) {
		t.Errorf("the list for operators holds %+v", listed.Items)
	}
}

// TestGivenUpAndCaptured: the buyer gives a card payment up before it exists at the processor. Redis forgets that, the payment is
// created and captured, and then Redis shows again what it had before: cancelled, without the processor's id. The comparison with the
// processor finds the money.
func TestGivenUpAndCaptured(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]flows.PaymentState{
		"accepted":         flows.Recorded,
		"answer lost":      flows.InDoubt,
		"refused at first": flows.Refunded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			registration := world.Registered(gateway)
			world.FailCalls(createCall, 1000)
			if _, err := gateway.Pay(t.Context(), registration.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
				t.Fatalf("started: %v", err)
			}
			before := world.dump(registration.ID)
			if _, err := gateway.Registrations.CancelPayment(t.Context(), registration.ID, holderToken); err != nil {
				t.Fatal(err)
			}
			givenUp := world.dump(registration.ID)
			world.restore(registration.ID, before)
			world.Inject(callFault{})
			payment := world.Advance(gateway, &flows.Payment{ID: flows.NewPaymentID(registration.ID, 1)})
			world.Confirm(payment, goodCard)
			world.Fault(outcomes[name]...)
			payment = world.Advance(gateway, payment)
			world.restore(registration.ID, givenUp)
			if shown := world.Stored(gateway, payment.ID); payment.ProcessorID == "" || shown.State != flows.Cancelled || shown.ProcessorID != "" {
				t.Fatalf("paid as %q, and Redis shows %s %q", payment.ProcessorID, shown.State, shown.ProcessorID)
			}
			world.rebuild(gateway)
			world.settleAll(gateway)
			found := world.paidWith(gateway, payment)
			if found.State != want {
				t.Errorf("%s (%s), want %s", found.State, found.Reason, want)
			}
			world.ExpectSound(found)
		})
	}
}

// paidWith finds the record of a registration that has the processor's payment of another.
func (w *testWorld) paidWith(gateway *testGateway, payment *flows.Payment) *flows.Payment {
	w.Helper()
	for key := range w.dump(payment.Registration) {
		_, number, isPayment := strings.Cut(key, ":payment:")
		generation, err := strconv.Atoi(number)
		if !isPayment || err != nil {
			continue
		}
		if found := w.Stored(gateway, flows.NewPaymentID(payment.Registration, generation)); found.ProcessorID == payment.ProcessorID {
			return found
		}
	}
	w.Fatalf("Redis has no record of %s", payment.ProcessorID)
	return nil
}
