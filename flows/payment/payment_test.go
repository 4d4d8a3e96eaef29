package payment_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestPayWhileCharged requests a payment again after its money was taken, while the other systems are down:
// the response never says that the payment failed.
func TestPayWhileCharged(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]func(*testWorld){
		"the club system is down": func(w *testWorld) {
			w.Clock.Advance(2 * time.Minute) // the last reading of the sale has expired
			w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{}, Kind: "error_before"})
		},
		"the processor is down": func(w *testWorld) { w.FailCalls(metadataCall, 100) },
		"the processor cannot be read": func(w *testWorld) {
			w.FailCalls(getCall, 100)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.captureAtProcessor(payment)
			world.Put(gateway, payment.ID, flows.Capturing)
			world.Put(gateway, payment.ID, flows.Captured)
			down(world)
			again, err := gateway.Pay(t.Context(), payment.Registration)
			if err != nil {
				t.Fatalf("the visitor got %v", err)
			}
			world.expectView(again, "processing", "never")
			if _, err := gateway.Registrations.Abandon(t.Context(), payment.Registration, holderToken); flows.CodeOf(err) != flows.PaymentUnderWay {
				t.Errorf("giving it up is answered by %v", err)
			}
		})
	}
}

// TestRedisDiesDuringThePayment: the response shows the last known state.
func TestRedisDiesDuringThePayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
	g := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)})
	payment := world.Authorised(world.Gateway())
	world.InjectFault(captureCall, nil, wire.Cut)
	answer, err := g.Pay(t.Context(), payment.Registration)
	if err != nil {
		t.Fatalf("the money is taken and the visitor got %v", err)
	}
	world.expectView(answer, "processing", "never")
	world.ExpectSound(world.Settle(world.Gateway(), payment))
}

// TestPayBeforeThereIsAnything requests a payment that the processor fails to create: the next request creates
// one, and only one.
func TestPayBeforeThereIsAnything(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	r := world.Registered(gateway)
	world.FailCalls(createCall, 1)
	if _, err := gateway.Pay(t.Context(), r.ID); flows.CodeOf(err) != flows.ProcessorUnavailable {
		t.Errorf("the visitor got %v", err)
	}
	p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), r.ID) })
	world.expectView(p, "requires_action", "never")
	if held := world.HeldAll(); len(held) != 1 || held[0].Amount != quarterPassPrice {
		t.Errorf("the processor holds %+v", held)
	}
}

// TestAbandon abandons a registration in every state of its payment.
func TestAbandon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bring func(*testWorld, *testGateway, *flows.Payment)
		want  flows.Code // empty: it succeeds
		money cards.State
	}{
		"waiting for the buyer": {func(*testWorld, *testGateway, *flows.Payment) {}, "", cards.Cancelled},
		"declined":              {func(w *testWorld, _ *testGateway, p *flows.Payment) { w.Confirm(p, declinedCard) }, "", cards.Cancelled},
		"in doubt": {func(w *testWorld, g *testGateway, p *flows.Payment) {
			w.Confirm(p, goodCard)
			w.captureAtProcessor(p)
			w.Put(g, p.ID, flows.InDoubt)
		}, flows.PaymentUnderWay, cards.Captured},
		"paid meanwhile": {func(w *testWorld, _ *testGateway, p *flows.Payment) { w.Confirm(p, goodCard) },
			flows.PaymentUnderWay, cards.Captured},
		"paid at the last moment": {func(w *testWorld, _ *testGateway, p *flows.Payment) {
			w.InjectFault(cancelCall, func() { w.Confirm(p, goodCard) }, nil)
		}, "", cards.Cancelled},
		"the processor is down": {func(w *testWorld, _ *testGateway, p *flows.Payment) {
			w.FailCalls(cancelCall, 1)
		}, flows.ProcessorUnavailable, cards.RequiresAction},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Started(gateway)
			test.bring(world, gateway, payment)
			view, err := gateway.Registrations.Abandon(t.Context(), payment.Registration, holderToken)
			if test.want == "" && (err != nil || view.Phase != flows.Abandoned) {
				t.Errorf("%+v, %v", view, err)
			}
			if test.want != "" && flows.CodeOf(err) != test.want {
				t.Errorf("answered by %v, want %s", err, test.want)
			}
			if held := world.Held(payment); held.State != test.money {
				t.Errorf("the processor says %s", held.State)
			}
			again, err := gateway.Registrations.Abandon(t.Context(), payment.Registration, holderToken)
			if test.want == "" && (err != nil || again.Phase != flows.Abandoned) {
				t.Errorf("the second time: %+v, %v", again, err)
			}
		})
	}
}

// TestRecordOfANewerVersion: records that a newer Frontdesk wrote are read and never overwritten.
func TestRecordOfANewerVersion(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	newer := world.Put(gateway, payment.ID, flows.Intent, func(next *flows.Payment) { next.Schema = flows.PaymentSchema + 1 })
	world.Confirm(payment, goodCard)
	world.Advance(gateway, payment)
	if _, err := gateway.Registrations.Get(t.Context(), payment.Registration, holderToken); err != nil {
		t.Error(err)
	}
	if _, err := gateway.Registrations.Abandon(t.Context(), payment.Registration, holderToken); err == nil {
		t.Error("it was given up")
	}
	if got := world.Stored(gateway, payment.ID); got.Version != newer.Version || got.State != flows.Intent {
		t.Errorf("version %d in %s became version %d in %s", newer.Version, newer.State, got.Version, got.State)
	}
}

// TestEventDuringAnUpgrade: an older gateway gets an event about a payment that ended, and that a newer one wrote. The processor sends
// the event again, until a gateway that may act on it has it.
func TestEventDuringAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		with   func(w *testWorld, g *testGateway) *flows.Payment
		event  func(*testWorld, *flows.Payment) cards.Event
		listed flows.PaymentState
	}{
		"a dispute": {func(w *testWorld, g *testGateway) *flows.Payment { return w.recordedBy(g, flows.ByCard) },
			(*testWorld).dispute, flows.Contradicted},
		"a refund that fails": {(*testWorld).refunded, (*testWorld).bankReturns, flows.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := end.with(world, gateway)
			world.Clock.Advance(time.Minute)
			newer := world.Put(gateway, payment.ID, payment.State, func(next *flows.Payment) { next.Schema = flows.PaymentSchema + 1 })
			event := end.event(world, payment)
			if err := gateway.HandleEvent(t.Context(), event); flows.CodeOf(err) != flows.StorageUnavailable {
				t.Errorf("the processor is answered with %v", err)
			}
			if got := world.Stored(gateway, payment.ID); got.Version != newer.Version {
				t.Errorf("version %d became version %d", newer.Version, got.Version)
			}
			world.Put(gateway, payment.ID, payment.State, func(next *flows.Payment) { next.Schema = flows.PaymentSchema })
			world.Handle(gateway, event)
			if got := world.Stored(gateway, payment.ID); got.Listing() != end.listed {
				t.Errorf("%s (%s)", got.Listing(), got.Reason)
			}
		})
	}
}

// TestPayerIsForgotten: the payer's details are deleted before the payment is.
func TestPayerIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	p := w.Advance(g, w.Authorised(g))
	if p.State != flows.Recorded || p.Payer != nil {
		t.Errorf("%s, paid by %+v", p.State, p.Payer)
	}
}

// TestPoll takes one step for a returning visitor, and leaves the rest to the queue.
func TestPoll(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	if same := gateway.Glance(t.Context(), payment); same.Version != payment.Version {
		t.Errorf("nothing happened, and it became %+v", same)
	}
	world.Confirm(payment, goodCard)
	if moved := gateway.Glance(t.Context(), payment); moved.State != flows.Authorised {
		t.Errorf("after the buyer paid it is %s", moved.State)
	}
	if latest := gateway.Glance(t.Context(), payment); latest.State != flows.Authorised {
		t.Errorf("a payment that another gateway moved became %s", latest.State)
	}
	captured := world.Put(gateway, payment.ID, flows.Captured)
	same := gateway.Glance(t.Context(), captured)
	if same.State != flows.Captured || world.Stored(gateway, payment.ID).Version != captured.Version {
		t.Errorf("a look moved a captured payment to %s", same.State)
	}
}

// TestPollReadsAnOldDeclineAgain: the buyer has paid with a second card. A gateway with an older processor
// response stores the first card's decline while another one polls for the buyer, who must not see that
// decline.
func TestPollReadsAnOldDeclineAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateway, late := w.Gateway(), w.Gateway()
	payment := w.Authorised(gateway)
	w.InjectFault(getCall, nil, func() {
		w.Put(late, payment.ID, flows.Intent, func(next *flows.Payment) {
			next.DeclineCode, next.Decline, next.Declines = "card_declined", "the first", 1
		})
	})
	if seen := gateway.Glance(t.Context(), payment); seen.State != flows.Authorised {
		t.Errorf("the buyer sees %s, declined: %t", seen.State, seen.Declined())
	}
}

// instantAndUUID reports whether an attempt id is an instant followed by a UUID.
func instantAndUUID(post string) bool {
	instant, id, _ := strings.Cut(post, "-")
	_, err := strconv.ParseInt(instant, 10, 64)
	return err == nil && uuid.Validate(id) == nil
}

// TestPollConcurrently: a returning buyer polls while the processor's event is being handled. Both read that
// the money is reserved, and one of them advances the payment. The other continues from there without a third
// read, because the buyer waits for each call.
func TestPollConcurrently(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	notified, watched := world.Gateway(), world.Gateway()
	payment := world.Authorised(notified)
	world.InjectFault(getCall, nil, func() {
		if seen := watched.Glance(t.Context(), payment); seen.State != flows.Authorised {
			t.Errorf("the buyer sees %s", seen.State)
		}
	})
	before := world.Reads.Load()
	if payment = world.Advance(notified, payment); payment.State != flows.Recorded {
		t.Errorf("the payment is %s (%s)", payment.State, payment.Reason)
	}
	if n := world.Reads.Load() - before; n != 2 { // one read each
		t.Errorf("the processor was asked for the payment %d times", n)
	}
	if lines := world.Lines(payment); len(lines) != 1 {
		t.Errorf("the ledger holds %+v", lines)
	}
}

// TestCaptureShowsTheClaims: the gateway that captured knows that no other can have claimed the recording
// before. As long as that knowledge is fresh, it does not read the claims again.
func TestCaptureShowsTheClaims(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(w *testWorld, p *flows.Payment)
		reads  int32
	}{
		"taken at once": {func(*testWorld, *flows.Payment) {}, 1},
		"taken, and asleep": {func(w *testWorld, _ *flows.Payment) {
			w.InjectFault(captureCall, nil, func() { w.Clock.Advance(11 * time.Second) })
		}, 2},
		"taken by a call whose answer was lost": {func(w *testWorld, p *flows.Payment) {
			must(w, func() (cards.Payment, error) {
				return w.Processor.Capture(w.Context(), "capture:"+p.ProcessorID, p.ProcessorID, p.Amount)
			})
		}, 4}, // also before the sale is read, and before the claim
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			g := world.Gateway()
			payment := world.Authorised(g)
			test.before(world, payment)
			if payment = world.Advance(g, payment); payment.State != flows.Recorded {
				t.Errorf("the payment is %s (%s)", payment.State, payment.Reason)
			}
			if n := world.Reads.Load(); n != test.reads {
				t.Errorf("the processor was asked for the payment %d times", n)
			}
			world.ExpectSound(payment)
		})
	}
}

// TestAgreedAmount: the amount, the payer and the register come from the club system and from no other source.
func TestAgreedAmount(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	payment := world.Advance(g, world.Authorised(g))
	line := world.Lines(payment)[0]
	if line.Amount != quarterPassPrice || line.Mean != "CBWeb" || line.Checkout != "/demo/checkouts/111" ||
		line.ClubID != string(bastille.Club) ||
		line.OnAccount != 0 {
		t.Errorf("the ledger holds %+v", line)
	}
	metadata := world.Held(payment).Metadata
	for _, value := range metadata {
		for _, personal := range []string{"Ada", "Martin", "ada@example.com", "33612345678"} {
			if strings.Contains(value, personal) {
				t.Errorf("the processor got %s", value)
			}
		}
	}
	if metadata["fd_done_1"] != payment.AttemptID || metadata["fd_post_1"] != payment.AttemptID || !instantAndUUID(payment.AttemptID) {
		t.Errorf("the journal is %v", metadata)
	}
}

// TestOwnQueueCancelsNothing: a read that only waited for another call of the gateway does not cancel an
// authorised payment.
func TestOwnQueueCancelsNothing(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway, crowded := world.Gateway(), world.Gateway(gatewayOptions{Limits: club.Limits{MaxAttempts: 1, MaxConcurrency: 1,
		QueueTimeout: time.Nanosecond}})
	payment := world.Started(gateway)
	world.Confirm(payment, goodCard)
	slow := func(path string) clubsim.Fault {
		return clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: path}, Kind: "delay", DelayMs: 3000}
	}
	err := world.Sim.SetFaults([]clubsim.Fault{slow("/sales/*"), slow("/sales/*/check")})
	if err != nil { // both are read at once, with one permit
		t.Fatal(err)
	}
	if _, err := crowded.Advance(t.Context(), payment.ID); flows.CodeOf(err) != flows.ClubSystemUnavailable {
		t.Errorf("it was advanced: %v", err)
	}
	if kept := world.Stored(gateway, payment.ID); kept.State != flows.Authorised {
		t.Errorf("%s (%s)", kept.State, kept.Reason)
	}
	if err := world.Sim.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	if end := world.Settle(gateway, payment); end.State != flows.Recorded {
		t.Errorf("%s (%s)", end.State, end.Reason)
	}
}
