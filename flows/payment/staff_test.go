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
	"staff settle the sale between two claims": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		if p = w.Advance(g, p); p.State != flows.Captured {
			w.Errorf("after the refusal the payment is %s", p.State)
		}
		w.PayAtDesk(p)
		w.Clock.Advance(time.Minute)
		return w.Advance(g, p)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale seconds after a claim": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		p = w.Advance(g, p)
		w.PayAtDesk(p)
		w.Clock.Advance(20 * time.Second)
		return w.Advance(g, p)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale before a capture is repeated": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.FailCalls(captureCall, 1)
		w.expectState(g, p, flows.Capturing)
		w.PayAtDesk(p)
		w.Clock.Advance(3 * time.Hour)
		return w.Advance(g, p)
	}, flows.Cancelled, 1, cards.Cancelled},

	"staff settle the sale after a capture whose response is lost": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.FailCalls(captureCall, 1)
		w.expectState(g, p, flows.Capturing)
		w.captureAtProcessor(p)
		w.PayAtDesk(p)
		w.Clock.Advance(3 * time.Hour)
		return w.Advance(g, p)
	}, flows.Refunded, 1, cards.Refunded},

	"staff settle the sale after Redis forgot the capture": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.PayAtDesk(p)
		w.Wipe()
		w.rebuild(g)
		return w.Advance(g, p)
	}, flows.InDoubt, 1, cards.Captured},

	"staff settle the sale after an operator has the payment sent again": {func(w *world, g *gateway) *flows.Payment {
		p := w.Doubtful(g, "error_before")
		w.Clock.Advance(16 * time.Minute)
		w.mustDecide(g, p, payment.SendAgain)
		w.PayAtDesk(p)
		return w.Advance(g, p)
	}, flows.InDoubt, 1, cards.Captured}, // the settlement could be our own, delayed

	"staff settle the sale after Redis forgot an operator's decision, which is not in the metadata": {
		func(w *world, g *gateway) *flows.Payment {
			p := w.Doubtful(g, "error_before")
			w.Clock.Advance(16 * time.Minute)
			w.InjectFault(metadataCall, nil, func() { // whose release it is, the release, and then the decision
				w.InjectFault(metadataCall, nil, func() { w.FailCalls(metadataCall, 6) })
			})
			w.mustDecide(g, p, payment.SendAgain)
			w.PayAtDesk(p)
			w.Wipe()
			w.rebuild(g)
			return w.Advance(g, p)
		},
		flows.InDoubt,
		1,
		cards.Captured,
	},

	"the sale grows between two claims": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		p = w.Advance(g, p)
		w.addArticle(p)
		w.Clock.Advance(time.Minute)
		return w.Advance(g, p)
	}, flows.Refunded, 0, cards.Refunded},

	"the sale is deleted between two claims": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
		p = w.Advance(g, p)
		w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 404, Times: new(20)})
		for range 2 {
			w.Clock.Advance(20 * time.Minute)
			w.expectState(g, p, flows.Captured) // the sale may come back
		}
		w.Clock.Advance(11 * time.Minute)
		return w.Advance(g, p)
	}, flows.Refunded, 0, cards.Refunded},

	"the metadata is tampered with after staff settle the sale": {func(w *world, g *gateway) *flows.Payment {
		p := w.Authorised(g)
		w.captureAtProcessor(p)
		w.Put(g, p.ID, flows.Captured)
		w.PayAtDesk(p)
		w.tamper(p)
		return w.Advance(g, p)
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
func (w *world) expectState(g *gateway, p *flows.Payment, want flows.PaymentState) {
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
		by    func(*world, *flows.Payment)
	}{
		"by staff":        {"error_before", (*world).PayAtDesk},
		"by this payment": {"drop_after", func(*world, *flows.Payment) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			gateway := w.Gateway()
			paid := w.Doubtful(gateway, settle.fault)
			settle.by(w, paid)
			w.Clock.Advance(16 * time.Minute)
			_, err := gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, ada)
			w.expectRefusal(gateway, paid, err, flows.NotDecidable, "The sale has been settled.")
			if held := w.Held(paid); held.Refunded != 0 || held.Metadata["fd_release_1"] != "" {
				t.Errorf("after the refusal the processor holds %+v", held)
			}
			override := ada
			override.Override = true
			must(t, func() (payment.ResolutionResult, error) {
				return gateway.ConfirmNotRecorded(t.Context(), paid.ID, payment.Refund, override)
			})
			if paid = w.Advance(gateway, paid); paid.State != flows.Refunded {
				t.Errorf("%s (%s)", paid.State, paid.Reason)
			}
			if note := w.Held(paid).Metadata["fd_op_1"]; !strings.Contains(note, "confirm-not-recorded-override refund by ada") {
				t.Errorf("the processor's metadata says %q", note)
			}
		})
	}
}

// TestCancelOfASettledSale: the same for a payment without a processor, in doubt or before it was sent. No
// rule takes the staff's settlement for this payment.
func TestCancelOfASettledSale(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(*world, *gateway) *flows.Payment{
		"in doubt": (*world).doubtWithoutProcessor,
		"not sent": func(w *world, g *gateway) *flows.Payment {
			w.Fault(clubsim.Fault{Match: w.settlementCases()[flows.Deferred].request(), Kind: "error_before", Status: 401, Times: new(2)})
			return must(w, func() (*flows.Payment, error) { return w.settles(g, flows.Deferred) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.Gateway(gatewayOptions{Rule: simulatorsRule()})
			paid := bring(w, g)
			w.PayAtDesk(paid)
			for _, pause := range []time.Duration{20 * time.Second, 31 * time.Second, 16 * time.Minute} {
				w.Clock.Advance(pause)
				paid = w.Advance(g, paid)
			}
			if paid.State != flows.InDoubt {
				t.Fatalf("%s (%s)", paid.State, paid.Reason)
			}
			_, err := g.ConfirmNotRecorded(t.Context(), paid.ID, payment.Cancel, ada)
			w.expectRefusal(g, paid, err, flows.NotDecidable, "The sale has been settled.")
			override := ada
			override.Override = true
			must(t, func() (payment.ResolutionResult, error) {
				return g.ConfirmNotRecorded(t.Context(), paid.ID, payment.Cancel, override)
			})
			if paid = w.Stored(g, paid.ID); paid.State != flows.Cancelled || len(w.Lines(paid)) != 1 {
				t.Errorf("%s (%s), and the ledger holds %+v", paid.State, paid.Reason, w.Lines(paid))
			}
		})
	}
}

// TestPaidTwice: the club's staff take money for a sale at the moment when a card payment is recorded. The
// excess settles the contact's other debts, which operators are shown.
func TestPaidTwice(t *testing.T) {
	t.Parallel()
	nothing := func(*world, *flows.Payment) {}
	for name, staff := range map[string]struct {
		before, after func(*world, *flows.Payment) // the payment is recorded
		ledger        int
		away          time.Duration // no gateway runs
		twice         bool
	}{
		"staff do nothing":                {nothing, nothing, 1, 0, false},
		"staff settle the sale before it": {(*world).PayAtDesk, nothing, 2, 0, true},
		"staff settle the sale after it":  {nothing, (*world).PayAtDesk, 2, 0, true},
		"staff sell something else":       {nothing, (*world).sellOnCredit, 1, 0, false},
		"gateways are away for a day":     {nothing, (*world).PayAtDesk, 2, 25 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			gateway := w.Gateway()
			payment := w.Authorised(gateway)
			w.sellOnCredit(payment)
			w.InjectFault("POST /sim/demo/sales/*/payments", func() { staff.before(w, payment) }, func() { staff.after(w, payment) })
			if payment = w.Advance(gateway, payment); payment.State != flows.Recorded {
				t.Fatalf("%s (%s)", payment.State, payment.Reason)
			}
			if lines := w.Lines(payment); len(lines) != staff.ledger {
				t.Fatalf("the ledger holds %+v", lines)
			}
			w.Clock.Advance(time.Minute)
			w.rebuild(gateway)
			w.rebuild(gateway)
			if due := w.due(gateway); len(due) != 1 || due[0] != payment.ID {
				t.Fatalf("two comparisons list %s", due)
			}
			w.Clock.Advance(10*time.Minute + staff.away)
			payment = w.verify(gateway, payment)
			w.expectPaidTwice(gateway, payment, staff.twice)
			if staff.twice {
				w.ForgetKeys("fd:{fd:payments:open}:*") // as if the gateway had died before it listed the payment
				w.rebuild(gateway)
				w.Clock.Advance(2 * time.Hour)
				payment = w.verify(gateway, payment)
				w.expectPaidTwice(gateway, payment, true)
				w.confirmRecorded(gateway, payment)
				w.Clock.Advance(time.Hour)
				w.rebuild(gateway)
				payment = w.verify(gateway, payment)
				w.expectPaidTwice(gateway, payment, false)
			}
		})
	}
}

// compareAgain compares Redis with the processor, and expects the comparison to schedule a step.
func (w *world) compareAgain(g *gateway) {
	w.Helper()
	pending := func() (n int) {
		for _, queue := range must(w, func() ([]background.QueueState, error) { return g.Queue.Queues(w.Context()) }) {
			n += queue.Pending
		}
		return n
	}
	before := pending()
	w.rebuild(g)
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
func (w *world) expectPaidTwice(g *gateway, p *flows.Payment, twice bool) {
	w.Helper()
	if p.State != flows.Recorded || p.PaidTwice != twice {
		w.Errorf("%s (%s), paid twice: %t, want %t", p.State, p.Reason, p.PaidTwice, twice)
	}
	counts := must(w, func() (map[flows.PaymentState]store.StateCount, error) { return g.Counts(w.Context()) })
	if found := counts[flows.PaidTwice].Payments == 1; found != twice {
		w.Errorf("counted are %+v", counts)
	}
	for _, in := range []payment.ListOptions{{}, {State: flows.PaidTwice}} {
		listed := must(w, func() (payment.Page, error) { return g.List(w.Context(), in) })
		if found := len(listed.Items) == 1; found != twice {
			w.Errorf("the list of %+v holds %+v", in, listed.Items)
		}
	}
}

// sellOnCredit sells a payment's buyer another item on credit, as the club's staff can.
func (w *world) sellOnCredit(p *flows.Payment) {
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
