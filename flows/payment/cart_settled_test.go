package payment_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// TestSettledAtTheClub: staff take the money in the club system's own screen while the buyer is at the
// processor. The buyer is not charged and not asked again.
func TestSettledAtTheClub(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	payment := world.Started(gateway)
	get := func() flows.View {
		return must(t, func() (flows.View, error) {
			return gateway.Registrations.Get(t.Context(), payment.Registration, holderToken)
		})
	}
	world.PayAtDesk(payment)
	world.Confirm(payment, goodCard)
	if payment = world.Advance(gateway, payment); payment.State != flows.Cancelled || world.Held(payment).Captured != 0 {
		t.Fatalf("the payment is %s (%s)", payment.State, payment.Reason)
	}
	world.ExpectSettledCart(get())
	ctx, id := t.Context(), payment.Registration
	for _, method := range []flows.Method{flows.ByCard, flows.Deferred} {
		due := world.Clock.Now().AddDate(0, 0, 30).Format(time.DateOnly)
		_, err := gateway.PayWith(ctx, id, holderToken, flows.StartPayment{Method: method, DueDate: due})
		if flows.CodeOf(err) != flows.CartInvalid {
			t.Errorf("paid by %s: %v", method, err)
		}
	}
	for name, change := range map[string]func() (flows.View, error){
		"an item": func() (flows.View, error) { return gateway.Registrations.AddItem(ctx, id, holderToken, badge) },
		"clear":   func() (flows.View, error) { return gateway.Registrations.ClearItems(ctx, id, holderToken) },
		"person": func() (flows.View, error) {
			return gateway.Registrations.PutPerson(ctx, id, holderToken, flows.Person{})
		},
	} {
		if _, err := change(); flows.CodeOf(err) != flows.CartInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	world.ExpectSettledCart(get())
	if view, err := gateway.Registrations.Abandon(ctx, id, holderToken); err != nil || view.Phase != flows.Abandoned {
		t.Errorf("abandoned: %s, %v", view.Phase, err)
	}
	if lines := world.Lines(payment); len(lines) != 1 {
		t.Errorf("the ledger holds %+v", lines)
	}
}

// TestSettledAfterTheCapture: staff take the money while a captured payment waits for its next claim or is in
// doubt. The buyer gets the money back and is not asked to pay again.
func TestSettledAfterTheCapture(t *testing.T) {
	t.Parallel()
	override := ada
	override.Override = true
	for name, settle := range map[string]func(*testWorld, *testGateway) *flows.Payment{
		"between two claims": func(world *testWorld, gateway *testGateway) *flows.Payment {
			p := world.Authorised(gateway)
			world.Fault(clubsim.Fault{Match: recording, Kind: "error_before", Status: 401, Times: new(2)})
			p = world.Advance(gateway, p)
			world.PayAtDesk(p)
			world.Clock.Advance(time.Minute)
			return world.Advance(gateway, p)
		},
		"in doubt": func(world *testWorld, gateway *testGateway) *flows.Payment {
			paid := world.Doubtful(gateway, "error_before")
			world.PayAtDesk(paid)
			world.Clock.Advance(16 * time.Minute)
			paid = world.Advance(gateway, paid)
			must(world, func() (payment.ResolutionResult, error) {
				return gateway.ConfirmNotRecorded(world.Context(), paid.ID, payment.Refund, override)
			})
			return world.Advance(gateway, paid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			g := world.Gateway()
			p := settle(world, g)
			if p.State != flows.Refunded {
				t.Fatalf("%s (%s)", p.State, p.Reason)
			}
			world.ExpectSettledCart(must(t, func() (flows.View, error) { return g.Registrations.Get(t.Context(), p.Registration, holderToken) }))
		})
	}
}

// TestSettledAndRebuilt: staff settle the sale of a payment that Redis forgot. The buyer is not charged, or an operator
// decides on their money, and they are not asked to start again.
func TestSettledAndRebuilt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]flows.PaymentState{"before the capture": flows.Cancelled, "after the capture": flows.InDoubt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			payment := world.Authorised(gateway)
			if want == flows.InDoubt {
				world.captureAtProcessor(payment)
			}
			world.PayAtDesk(payment)
			world.Wipe()
			world.rebuild(gateway)
			world.Clock.Advance(time.Minute)
			payment = world.Advance(gateway, payment)
			if view := payment.View(); payment.State != want || view.Message == flows.MessagePaymentCancelledRestart {
				t.Errorf("%s (%s) is shown as %+v", payment.State, payment.Reason, view)
			}
			r, _, err := gateway.Store.Registration(t.Context(), payment.Registration)
			if err != nil {
				t.Fatal(err)
			}
			if step := r.View(payment, world.Clock.Now()).Step(); step != flows.StepWithStaff {
				t.Errorf("the screen is %s", step)
			}
		})
	}
}

// TestSettledBeforeThePayment: the first request that reads the sale finds it settled, and starts nothing.
func TestSettledBeforeThePayment(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*testWorld, *testGateway, *flows.Registration) error{
		"pay": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Pay(w.Context(), r.ID))
		},
		"add": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			_, err := w.AddItem(g, r, badge)
			return err
		},
		"clear": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Registrations.ClearItems(w.Context(), r.ID, holderToken))
		},
		"remove": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Registrations.RemoveItem(w.Context(), r.ID, holderToken, r.Items[0].ID))
		},
		"person": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			return errorOf(g.Registrations.PutPerson(w.Context(), r.ID, holderToken, flows.Person{GivenName: "Grace", FamilyName: "Martin"}))
		},
		"check": func(w *testWorld, g *testGateway, r *flows.Registration) error {
			view, err := g.Registrations.Check(w.Context(), r.ID, holderToken)
			if err == nil && !view.Cart.Valid {
				return &flows.Error{Code: flows.CartInvalid}
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			r := world.Registered(gateway)
			world.PayAtDesk(&flows.Payment{Sale: r.Sale, Amount: quarterPassPrice})
			if err := read(world, gateway, r); flows.CodeOf(err) != flows.CartInvalid {
				t.Errorf("it ended with %v", err)
			}
			world.ExpectSettledCart(must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), r.ID, holderToken) }))
		})
	}
}

// TestSettledMeanwhile: a visitor whose sale another payment has just settled gets that payment. The gateway
// reads it from Redis and does not ask the processor.
func TestSettledMeanwhile(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	slow, quick := world.Gateway(), world.Gateway()
	later := world.settlementCases()[flows.Deferred].start
	for range 2 { // a second comparison with the processor would be refused
		r := world.Registered(quick)
		world.InjectFault("GET /sim/demo/sales/*", func() {
			must(world, func() (*flows.Payment, error) { return quick.PayWith(world.Context(), r.ID, holderToken, later) })
		}, nil)
		p := must(world, func() (*flows.Payment, error) { return slow.PayWith(world.Context(), r.ID, holderToken, later) })
		if p.State != flows.Recorded || world.Listed() != 0 {
			t.Errorf("%s (%s) after %d lists of the processor's payments", p.State, p.Reason, world.Listed())
		}
		world.expectSettled(p)
	}
}

// TestSettledUnseen: if the club system does not report the state of a sale, the sale does not count as
// settled.
func TestSettledUnseen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Mute = true
	gateway := w.Gateway()
	r := w.Registered(gateway)
	cart := must(t, func() (flows.View, error) { return gateway.Registrations.Check(t.Context(), r.ID, holderToken) }).Cart
	if !cart.Valid || len(cart.Problems) != 0 {
		t.Errorf("the cart is %+v", cart)
	}
	if p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), r.ID) }); p.State != flows.Intent {
		t.Errorf("the payment is %s", p.State)
	}
}
