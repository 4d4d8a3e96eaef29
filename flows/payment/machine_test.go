package payment_test

import (
	"maps"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// scenario is a history of one payment with a known end.
type scenario struct {
	live   func(*testWorld, *testGateway) *flows.Payment
	end    flows.PaymentState
	ledger int         // payments that the club system has booked on the sale
	money  cards.State // what the processor reports in the end
}

// scenarios together cover every transition of the state table.
var scenarios = map[string]scenario{
	"a good day": {func(w *testWorld, g *testGateway) *flows.Payment {
		return w.Advance(g, w.Authorised(g))
	}, flows.Recorded, 1, cards.Captured},

	"declined, then the bank asks": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Started(gateway)
		world.Confirm(record, declinedCard)
		world.expectView(world.Advance(gateway, record), "declined", "new")
		world.Confirm(record, bankAsks)
		world.expectView(world.Advance(gateway, record), "requires_action", "never")
		world.answerChallenge(record, true)
		return world.Advance(gateway, record)
	}, flows.Recorded, 1, cards.Captured},

	"the buyer leaves": {(*testWorld).Abandoned, flows.Cancelled, 0, cards.Cancelled},

	"the buyer leaves at the last moment, and pays": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Started(g)
		w.Clock.Advance(31 * time.Minute)
		w.InjectFault(cancelCall, func() { w.Confirm(p, goodCard) }, nil)
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.Cancelled},

	"the club system is down before the capture": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before"})
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.Cancelled},

	"the sale grew before the capture": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.addArticle(p)
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.Cancelled},

	"the sale grew, and Redis forgot the payment": {func(w *testWorld, g *testGateway) *flows.Payment {
		return w.grownAndForgotten(g, w.Authorised(g))
	}, flows.Cancelled, 0, cards.Cancelled},

	"the sale grew after the capture, and Redis forgot the payment": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		return w.grownAndForgotten(g, p)
	}, flows.InDoubt, 0, cards.Captured},

	"the sale was paid at the desk before the capture": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.PayAtDesk(p)
		return w.Advance(g, p)
	}, flows.Cancelled, 1, cards.Cancelled},

	"the authorisation waited too long": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Put(g, p.ID, flows.Authorised)
		w.Clock.Advance(61 * time.Minute)
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.Cancelled},

	"the authorisation lapses before the capture": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.InjectFault(captureCall, func() { w.cancelAtProcessor(p) }, nil)
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.Cancelled},

	"our credentials are refused for a while": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		if record = world.Advance(gateway, record); record.State != flows.Captured {
			world.Errorf("after the refusal the payment is %s", record.State)
		}
		world.Clock.Advance(time.Minute)
		return world.Advance(gateway, record)
	}, flows.Recorded, 1, cards.Captured},

	"our credentials are refused for good": {func(w *testWorld, g *testGateway) *flows.Payment {
		record := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401})
		for range 12 {
			record = w.Advance(g, record)
			w.Clock.Advance(5 * time.Minute)
		}
		return record
	}, flows.Refunded, 0, cards.Refunded},

	"another payment of the sale was recorded": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		world.captureAtProcessor(record)
		twin := world.Duplicate(record)
		world.Confirm(twin, goodCard)
		world.captureAtProcessor(twin)
		world.note(twin, "fd_post_1", postOfTheTest, "fd_done_1", postOfTheTest)
		world.Put(gateway, record.ID, flows.Captured)
		world.rebuild(gateway)
		return world.Advance(gateway, record)
	}, flows.Refunded, 0, cards.Refunded},

	"rejected": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 422, Times: new(1)})
		return w.Advance(g, p)
	}, flows.Refunded, 0, cards.Refunded},

	"the answer is lost": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "drop_after", Times: new(1)})
		return w.Advance(g, p)
	}, flows.InDoubt, 1, cards.Captured},

	"the acceptance was journalled and not stored": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		// While the POST is in progress, another gateway concludes that its sender is gone.
		world.InjectFault("POST /sim/demo/sales/*/payments", func() {
			world.ExpireLease(record)
			if got := world.Advance(world.Gateway(), record); got.State != flows.InDoubt {
				world.Errorf("without its owner the payment is %s", got.State)
			}
		}, nil)
		world.Advance(gateway, record)
		return world.Advance(gateway, record)
	}, flows.Recorded, 1, cards.Captured},

	"another payment stands under the key": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		r := world.Registered(gateway)
		key := "payment:" + r.ID + ":" + string(r.Sale) + ":1"
		other := must(world, func() (cards.Payment, error) {
			return world.Processor.Create(world.Context(), key, cards.NewPayment{Amount: 100, Currency: "EUR"})
		})
		p := must(world, func() (*flows.Payment, error) { return gateway.Pay(world.Context(), r.ID) })
		p.ProcessorID = other.ID
		return p
	}, flows.Blocked, 0, cards.RequiresAction},

	"the metadata is tampered with before the buyer pays": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.tamper(p)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Authorised},

	"the metadata is tampered with before the check": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Put(g, p.ID, flows.Authorised)
		w.tamper(p)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Authorised},

	"refunded by hand while it was being captured": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.refundAtProcessor(p, p.Amount)
		w.Put(g, p.ID, flows.Capturing)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Refunded},

	"refunded by hand before it was recorded": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.InjectFault(captureCall, nil, func() { w.refundAtProcessor(p, p.Amount) })
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Refunded},

	"refunded by hand at the moment of the claim": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.InjectFault(metadataCall, func() { w.refundAtProcessor(p, p.Amount) }, nil)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Refunded},

	"captured by hand while it was being cancelled": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.Put(g, p.ID, flows.Cancelling)
		w.captureAtProcessor(p)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Captured},

	"tampered with when a refund was due": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.Put(g, p.ID, flows.RefundDue)
		w.tamper(p)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Captured},

	"partly refunded by hand while it was being refunded": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.Put(g, p.ID, flows.Refunding)
		w.InjectFault(refundCall, func() { w.refundAtProcessor(p, 1) }, nil)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Captured},

	"in doubt, and an operator has it sent again": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.SendAgain)
		return w.Advance(g, p)
	}, flows.Recorded, 1, cards.Captured},

	"in doubt, and an operator has it refunded": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.Refund)
		return w.Advance(g, p)
	}, flows.Refunded, 0, cards.Refunded},

	"refunded, the bank returns the money, and an operator has it refunded again": {func(
		world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Doubtful(gateway, "error_before")
		world.Clock.Advance(16 * time.Minute)
		world.mustDecide(gateway, record, payment.Refund)
		record = world.Advance(gateway, record)
		world.SettleRefund(record, false)
		if record = world.Advance(gateway, record); record.State != flows.Blocked {
			world.Errorf("after the refund failed the payment is %s (%s)", record.State, record.Reason)
		}
		world.mustDecide(gateway, record, payment.Refund)
		return world.Advance(gateway, record)
	}, flows.Refunded, 0, cards.Refunded},

	"in doubt without a processor, and an operator has it sent again": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.doubtWithoutProcessor(g)
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.SendAgain)
		return w.Advance(g, p)
	}, flows.Recorded, 0, cards.RequiresAction}, // a deferral leaves no payment in the ledger

	"in doubt without a processor, and an operator gives it up": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.doubtWithoutProcessor(g)
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.Cancel)
		return w.Advance(g, p)
	}, flows.Cancelled, 0, cards.RequiresAction},

	"tampered with while it was in doubt": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.Put(g, p.ID, flows.InDoubt)
		w.tamper(p)
		return w.Advance(g, p)
	}, flows.Blocked, 0, cards.Captured},

	"blocked, and recorded by hand": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.tamper(p)
		w.PayAtDesk(w.Advance(g, p))
		w.confirmRecorded(g, p)
		return w.Stored(g, p.ID)
	}, flows.Recorded, 1, cards.Captured},

	"blocked, and refunded by hand": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.tamper(p)
		w.refundAtProcessor(w.Advance(g, p), p.Amount)
		w.mustDecide(g, p, payment.Cancel)
		return w.Stored(g, p.ID)
	}, flows.Refunded, 0, cards.Refunded},

	"cancelled by hand although the processor held the money": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.captureAtProcessor(p)
		world.Put(gateway, p.ID, flows.Cancelled)
		p = world.Advance(gateway, p)
		world.mustDecide(gateway, p, payment.Refund)
		return world.Advance(gateway, p)
	}, flows.Refunded, 0, cards.Refunded},

	"blocked, and cancelled by hand": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.tamper(p)
		world.Advance(gateway, p)
		world.cancelAtProcessor(p)
		world.mustDecide(gateway, p, payment.Cancel)
		return world.Stored(gateway, p.ID)
	}, flows.Cancelled, 0, cards.Cancelled},
}

// TestEveryTransition runs all scenarios. It fails if a transition of the state table never happened, or if
// one outside the table did.
func TestEveryTransition(t *testing.T) {
	t.Parallel()
	seen := make(chan move, 1000)
	t.Run("scenarios", func(t *testing.T) {
		all := maps.Clone(scenarios)
		maps.Copy(all, settlements)
		maps.Copy(all, staffScenarios)
		for name, s := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s.run(w)
				for _, m := range w.Journal.MovesOf("") {
					seen <- m
				}
			})
		}
	})
	close(seen)
	walked := map[move]bool{}
	for m := range seen {
		if m.From != m.To { // a change of the record alone
			walked[m] = true
		}
	}
	for _, from := range flows.PaymentStates {
		for _, to := range flows.PaymentStates {
			if m := (move{From: from, To: to}); from.CanBecome(to) != walked[m] {
				t.Errorf("%s → %s: in the table %t, seen %t", from, to, from.CanBecome(to), walked[m])
			}
		}
	}
}

func (s scenario) run(world *testWorld) {
	g := world.Gateway()
	payment := s.live(world, g)
	if payment.State != s.end {
		world.Errorf("the payment ended %s (%s), not %s", payment.State, payment.Reason, s.end)
	}
	if lines := world.Lines(payment); len(lines) != s.ledger {
		world.Errorf("the ledger holds %+v, want %d payments", lines, s.ledger)
	}
	if n := len(world.HeldAll()); s.money == "" && n != 0 {
		world.Errorf("the processor holds %d payments", n)
	}
	if s.money == "" {
		world.expectSettled(payment)
	} else if got := world.Held(payment).State; got != s.money {
		world.Errorf("the processor says %s, want %s", got, s.money)
	}
	if audit := world.Sim.Audit(); !audit.OK {
		world.Errorf("the audit finds %+v", audit)
	}
	again := world.Advance(world.Gateway(), payment)
	if again.State != payment.State || again.Version != payment.Version {
		world.Errorf("another look made %s of %s", again.State, payment.State)
	}
}

// expectView checks what the buyer sees.
func (w *testWorld) expectView(p *flows.Payment, state, retry string) {
	w.Helper()
	if view := p.View(); view.State != state || view.Retry != retry {
		w.Errorf("the buyer sees %+v, want %s and retry %s", view, state, retry)
	}
}

// addArticle adds an article to the sale, as the club's staff can.
func (w *testWorld) addArticle(p *flows.Payment) {
	w.Helper()
	if err := w.Club.AddArticle(w.Context(), bastille, p.Sale, club.NewArticle{Offer: "/demo/offers/2501"}); err != nil {
		w.Fatal(err)
	}
}

// grownAndForgotten adds an article to the sale of a payment that Redis then loses, and advances the rebuilt payment.
func (w *testWorld) grownAndForgotten(g *testGateway, p *flows.Payment) *flows.Payment {
	w.Helper()
	w.addArticle(p)
	w.Wipe()
	w.rebuild(g)
	return w.Advance(g, p)
}

// TestPaymentEndsWithRegistration: a payment knows how long its registration can be paid, so that its buyer cannot keep trying cards.
func TestPaymentEndsWithRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.Started(w.Gateway())
	if ends := w.Clock.Now().Add(flows.PayableFor); p.EndsAt.After(ends) || p.EndsAt.Before(ends.Add(-time.Hour)) {
		t.Errorf("the payment ends at %s", p.EndsAt)
	}
}
