package payment_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/payment"
	"frontdesk/flows/store"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// staffScenarios: during a card payment, the club's staff settle the open sale in the club system's own
// screens. The ledger line is theirs, and the buyer keeps the money or gets it back.
var staffScenarios = map[string]scenario{
	"staff settle the sale between two claims": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		if record = world.Advance(gateway, record); record.State != flows.Captured {
			world.Errorf("after the refusal the payment is %s", record.State)
		}
		world.PayAtDesk(record)
		world.Clock.Advance(time.Minute)
		return world.Advance(gateway, record)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale seconds after a claim": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		p = world.Advance(gateway, p)
		world.PayAtDesk(p)
		world.Clock.Advance(20 * time.Second)
		return world.Advance(gateway, p)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale before a capture is repeated": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.FailCalls(captureCall, 1)
		world.expectState(gateway, p, flows.Capturing)
		world.PayAtDesk(p)
		world.Clock.Advance(3 * time.Hour)
		return world.Advance(gateway, p)
	}, flows.Cancelled, 1, cards.Cancelled},

	"staff settle the sale after a capture whose response is lost": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		world.FailCalls(captureCall, 1)
		world.expectState(gateway, record, flows.Capturing)
		world.captureAtProcessor(record)
		world.PayAtDesk(record)
		world.Clock.Advance(3 * time.Hour)
		return world.Advance(gateway, record)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale after Redis forgot the capture": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.captureAtProcessor(p)
		world.PayAtDesk(p)
		world.Wipe()
		world.rebuild(gateway)
		return world.Advance(gateway, p)
	}, flows.InDoubt, 1, cards.Captured},

	"staff settle the sale after an operator has the payment sent again": {func(w *testWorld, g *testGateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.SendAgain)
		w.PayAtDesk(p)
		return w.Advance(g, p)
	}, flows.InDoubt, 1, cards.Captured}, // the settlement could be our own, delayed

	"staff settle the sale after Redis forgot an operator's decision, which is not in the metadata": {
		func(world *testWorld, gateway *testGateway) *flows.Payment {
			record := world.Doubtful(gateway, "error_before")
			world.Clock.Advance(16 * time.Minute)
			world.InjectFault(metadataCall, nil, func() { // whose release it is, the release, and then the decision
				world.InjectFault(metadataCall, nil, func() { world.FailCalls(metadataCall, 6) })
			})
			world.mustDecide(gateway, record, payment.SendAgain)
			world.PayAtDesk(record)
			world.Wipe()
			world.rebuild(gateway)
			return world.Advance(gateway, record)
		},
		flows.InDoubt,
		1,
		cards.Captured,
	},

	"the sale grows between two claims": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		p = world.Advance(gateway, p)
		world.addArticle(p)
		world.Clock.Advance(time.Minute)
		return world.Advance(gateway, p)
	}, flows.Refunded, 0, cards.Refunded},

	"the sale is deleted between two claims": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		record := world.Authorised(gateway)
		world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		record = world.Advance(gateway, record)
		world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 404, Times: new(20)})
		for range 2 {
			world.Clock.Advance(20 * time.Minute)
			world.expectState(gateway, record, flows.Captured) // the sale may come back
		}
		world.Clock.Advance(11 * time.Minute)
		return world.Advance(gateway, record)
	}, flows.Refunded, 0, cards.Refunded},

	"the metadata is tampered with after staff settle the sale": {func(world *testWorld, gateway *testGateway) *flows.Payment {
		p := world.Authorised(gateway)
		world.captureAtProcessor(p)
		world.Put(gateway, p.ID, flows.Captured)
		world.PayAtDesk(p)
		world.tamper(p)
		return world.Advance(gateway, p)
	}, flows.Blocked, 1, cards.Captured},
}

// TestStaffSettleTheSale runs the staff scenarios. No sale is settled twice.
func TestStaffSettleTheSale(t *testing.T) {
	t.Parallel()
	for name, s := range staffScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.run(newWorld(t))
		})
	}
}

// expectState advances a payment whose step may fail, and compares its state.
func (w *testWorld) expectState(g *testGateway, p *flows.Payment, want flows.PaymentState) {
	w.Helper()
	_, _ = g.Advance(w.Context(), p.ID)
	if got := w.Stored(g, p.ID); got.State != want {
		w.Fatalf("the payment is %s (%s), want %s", got.State, got.Reason, want)
	}
}

// TestRefundOfASettledSale: staff settled the sale of a payment in doubt, or the payment itself did. An
// operator who refunds it must override the refusal, and the processor's metadata keeps that.
func TestRefundOfASettledSale(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]struct {
		fault string
		by    func(*testWorld, *flows.Payment)
	}{
		"by staff":        {"error_before", (*testWorld).PayAtDesk},
		"by this payment": {"drop_after", func(*testWorld, *flows.Payment) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			paid := world.Doubtful(gateway, settle.fault)
			settle.by(world, paid)
			world.Clock.Advance(16 * time.Minute)
			_, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, ada)
			world.expectRefusal(gateway, paid, err, flows.NotDecidable, "The sale has been settled.")
			if held := world.Held(paid); held.Refunded != 0 || held.Metadata["fd_release_1"] != "" {
				t.Errorf("after the refusal the processor holds %+v", held)
			}
			override := ada
			override.Override = true
			must(t, func() (payment.ResolutionResult, error) {
				return gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, override)
			})
			if paid = world.Advance(gateway, paid); paid.State != flows.Refunded {
				t.Errorf("%s (%s)", paid.State, paid.Reason)
			}
			if note := world.Held(paid).Metadata["fd_op_1"]; !strings.Contains(note, "confirm-not-recorded-override refund by ada") {
				t.Errorf("the processor's metadata says %q", note)
			}
		})
	}
}

// TestCancelOfASettledSale: the same for a payment without a processor, in doubt or before it was sent. No
// rule takes the staff's settlement for this payment.
func TestCancelOfASettledSale(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(*testWorld, *testGateway) *flows.Payment{
		"in doubt": (*testWorld).doubtWithoutProcessor,
		"not sent": func(w *testWorld, g *testGateway) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[flows.Deferred].request(), Kind: "error_before", Status: 401, Times: new(2)})
			return must(w, func() (*flows.Payment, error) { return w.settles(g, flows.Deferred) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{Rule: simulatorsRule()})
			paid := bring(world, gateway)
			world.PayAtDesk(paid)
			for _, pause := range []time.Duration{20 * time.Second, 31 * time.Second, 16 * time.Minute} {
				world.Clock.Advance(pause)
				paid = world.Advance(gateway, paid)
			}
			if paid.State != flows.InDoubt {
				t.Fatalf("%s (%s)", paid.State, paid.Reason)
			}
			_, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Cancel, ada)
			world.expectRefusal(gateway, paid, err, flows.NotDecidable, "The sale has been settled.")
			override := ada
			override.Override = true
			must(t, func() (payment.ResolutionResult, error) {
				return gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Cancel, override)
			})
			if paid = world.Stored(gateway, paid.ID); paid.State != flows.Cancelled || len(world.Lines(paid)) != 1 {
				t.Errorf("%s (%s), and the ledger holds %+v", paid.State, paid.Reason, world.Lines(paid))
			}
		})
	}
}

// TestPaidTwice: the club's staff take money for a sale at the moment when a card payment is recorded. The
// excess settles the contact's other debts, which operators are shown.
func TestPaidTwice(t *testing.T) {
	t.Parallel()
	nothing := func(*testWorld, *flows.Payment) {}
	for name, staff := range map[string]struct {
		before, after func(*testWorld, *flows.Payment) // the payment is recorded
		ledger        int
		away          time.Duration // no gateway runs
		twice         bool
	}{
		"staff do nothing":                {nothing, nothing, 1, 0, false},
		"staff settle the sale before it": {(*testWorld).PayAtDesk, nothing, 2, 0, true},
		"staff settle the sale after it":  {nothing, (*testWorld).PayAtDesk, 2, 0, true},
		"staff sell something else":       {nothing, (*testWorld).sellOnCredit, 1, 0, false},
		"gateways are away for a day":     {nothing, (*testWorld).PayAtDesk, 2, 25 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			world.sellOnCredit(payment)
			world.InjectFault("POST /sim/demo/sales/*/payments", func() { staff.before(world, payment) }, func() { staff.after(world, payment) })
			if payment = world.Advance(gateway, payment); payment.State != flows.Recorded {
				t.Fatalf("%s (%s)", payment.State, payment.Reason)
			}
			if lines := world.Lines(payment); len(lines) != staff.ledger {
				t.Fatalf("the ledger holds %+v", lines)
			}
			world.Clock.Advance(time.Minute)
			world.rebuild(gateway)
			world.rebuild(gateway)
			if due := world.due(gateway); len(due) != 1 || due[0] != payment.ID {
				t.Fatalf("two comparisons list %s", due)
			}
			world.Clock.Advance(10*time.Minute + staff.away)
			payment = world.verify(gateway, payment)
			world.expectPaidTwice(gateway, payment, staff.twice)
			if staff.twice {
				world.ForgetKeys("fd:{fd:payments:open}:*") // as if the gateway had died before it listed the payment
				world.rebuild(gateway)
				world.Clock.Advance(2 * time.Hour)
				payment = world.verify(gateway, payment)
				world.expectPaidTwice(gateway, payment, true)
				world.confirmRecorded(gateway, payment)
				world.Clock.Advance(time.Hour)
				world.rebuild(gateway)
				payment = world.verify(gateway, payment)
				world.expectPaidTwice(gateway, payment, false)
			}
		})
	}
}

// compareAgain compares Redis with the processor, and expects the comparison to schedule a step.
func (w *testWorld) compareAgain(gateway *testGateway) {
	w.Helper()
	pending := func() (n int) {
		for _, queue := range must(w, func() ([]background.QueueState, error) { return gateway.Queue.Queues(w.Context()) }) {
			n += queue.Pending
		}
		return n
	}
	before := pending()
	w.rebuild(gateway)
	if after := pending(); after <= before {
		w.Errorf("the comparison asks for no other step: %d after %d", after, before)
	}
}

// TestPaidTwiceLate: staff settle a sale whose POST got no response, and the rule takes that for the payment.
// The POST arrives later: as long as it still may, the debt is not compared.
func TestPaidTwiceLate(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{Rule: simulatorsRule()})
	payment := world.Authorised(gateway)
	world.sellOnCredit(payment)
	payment = world.DoubtAgain(gateway, payment, "error_before")
	world.PayAtDesk(payment)
	world.Clock.Advance(30 * time.Second)
	if payment = world.Advance(gateway, payment); payment.State != flows.Recorded {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	compare := func() {
		world.rebuild(gateway)
		payment = world.verify(gateway, payment)
	}
	world.Clock.Advance(5 * time.Minute)
	compare()
	world.PayAtDesk(payment) // has the effect of the late POST: a second payment of the settled sale
	world.Clock.Advance(10 * time.Minute)
	compare()
	world.expectPaidTwice(gateway, payment, true)
}

// TestUnreadableDebt: an account that cannot be read for six hours may be gone, and is not read for ever.
func TestUnreadableDebt(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Authorised(gateway)
	world.sellOnCredit(payment)
	if payment = world.Advance(gateway, payment); payment.State != flows.Recorded {
		t.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/stats/accounts/contacts/*"}, Kind: "error_before", Status: 404})
	world.Clock.Advance(5 * time.Hour)
	world.verify(gateway, payment)
	world.Clock.Advance(30 * time.Minute)
	if due := world.due(gateway); len(due) != 1 {
		t.Errorf("after five hours, %s are due", due)
	}
	world.Clock.Advance(time.Hour)
	world.verify(gateway, payment)
	world.Clock.Advance(time.Hour)
	if due := world.due(gateway); len(due) != 0 {
		t.Errorf("after six hours, %s are still due", due)
	}
	world.expectPaidTwice(gateway, world.Stored(gateway, payment.ID), false)
}

// expectPaidTwice compares everything that operators see with what happened.
func (w *testWorld) expectPaidTwice(gateway *testGateway, p *flows.Payment, twice bool) {
	w.Helper()
	if p.State != flows.Recorded || p.PaidTwice != twice {
		w.Errorf("%s (%s), paid twice: %t, want %t", p.State, p.Reason, p.PaidTwice, twice)
	}
	counts := must(w, func() (map[flows.PaymentState]store.StateCount, error) { return gateway.Counts(w.Context()) })
	if found := counts[flows.PaidTwice].Payments == 1; found != twice {
		w.Errorf("counted are %+v", counts)
	}
	for _, in := range []payment.ListOptions{{}, {State: flows.PaidTwice}} {
		listed := must(w, func() (payment.Page, error) { return gateway.List(w.Context(), in) })
		if found := len(listed.Items) == 1; found != twice {
			w.Errorf("the list of %+v holds %+v", in, listed.Items)
		}
	}
}

// sellOnCredit sells a payment's buyer another item on credit, as the club's staff can.
func (w *testWorld) sellOnCredit(p *flows.Payment) {
	w.Helper()
	sold := must(w, func() (club.Sale, error) { return w.Club.GetSale(w.Context(), bastille, p.Sale) })
	sale := must(w, func() (club.Sale, error) {
		return w.Club.CreateSale(w.Context(), bastille, club.NewSale{
			Contact:    sold.Contact,
			Club:       sold.Club,
			ClubCode:   sold.ClubCode,
			FamilyName: sold.FamilyName,
			GivenName:  sold.GivenName,
			Number:     sold.Number,
			Address:    sold.Address,
		})
	})
	if err := w.Club.AddArticle(w.Context(), bastille, sale.IRI, club.NewArticle{Offer: "/demo/offers/2501"}); err != nil {
		w.Fatal(err)
	}
	if err := w.Club.PostponeDue(w.Context(), bastille, sale.IRI, w.Clock.Now().AddDate(0, 0, 14).Format(time.DateOnly), nil); err != nil {
		w.Fatal(err)
	}
}
